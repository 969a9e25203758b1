"""Gaussian noise on random batches: one step of a run, as a pair of distributions that covers it.

A step draws n'_j of the n_j records of each public group j without replacement, and adds Gaussian noise to a statistic
of the batch. Let mu be its l2 sensitivity to the replacement of one record of the batch, divided by the noise's
standard deviation, and q = max n'_j / n_j. H_a(P, Q) denotes the hockey stick, the integral of max(0, dP - a dQ).

Formal guarantee: for two tables that differ in one record, with P and Q the laws of the step's output,
H_a(P, Q) <= h(a) = q g(1 + (a - 1) / q) for a >= 1, where g(e**x) = Phi(-x/mu + mu/2) - e**x Phi(-x/mu - mu/2) is the
hockey stick of N(mu, 1) and N(0, 1), and h(a) = 1 - a + a h(1/a) for a < 1.

*Proof.* Fix the batches of the other groups, which are drawn independently, and let the record x be in a group of n
records, n' of which are drawn; write q for n'/n at first. Without x the batch is n' of the other n - 1 records: call
the output's law M0. With x it is x and n' - 1 of them: call the law M1, and M1' when the replacement x' takes the place
of x. So P = (1 - q) M0 + q M1 and Q = (1 - q) M0 + q M1'. With A = 1 + (a - 1) / q and b = a / A,
P - a Q = q (M1 - A ((1 - b) M0 + b M1')), because q A (1 - b) = q A - q a = (a - 1) (1 - q), and as the hockey stick is
convex in its second argument, H_a(P, Q) <= q ((1 - b) H_A(M1, M0) + b H_A(M1, M1')) (Balle, Barthe and Gaboardi 2018,
Theorem 2). Both hockey sticks are at most g(A) by their joint convexity: M1 and M1' are mixtures over the same n' - 1
other records, given which the two batches differ in one; and a batch of M0 is n' - 1 records with the same law and one
more, drawn from those that are left, in the place of x. Last, q g(1 + (a - 1) / q) rises with q: its derivative is
g(A) - (A - 1) g'(A) and g falls, so that the largest n'_j / n_j stands for the group of x, which nobody needs to know.
For a < 1, H_a(P, Q) = 1 - a + a H_{1/a}(Q, P) for any P and Q, and the roles of x and x' are symmetric. QED

**The covering pair.** h is convex, falls from h(0) = 1 and is at least max(0, 1 - a): it is the hockey stick of a pair
(Zhu, Dong and Wang 2022, Proposition 8), which for each step, given the outputs before it, has hockey sticks that are
no smaller, and of which the T-fold product therefore has hockey sticks that are no smaller for the whole run (their
Theorem 10). -h'(a) is the probability of a loss above log a under the second law, and h(a) - a h'(a) under the first.
With y = mu x - mu**2 / 2 and G = 1 - q + q e**y, where 1 + (G - 1) / q = e**y, this gives, for a = G > 1,
Phi(-x) and (1 - q) Phi(-x) + q Phi(mu - x). So under the first law

- the loss is log G with density (1 - q) phi(x) + q phi(x - mu) = G phi(x), for x > mu/2;
- it is -log G with density phi(x), for x > mu/2, by the symmetry of h;
- it is 0 with what remains, (1 - q) (1 - 2 Phi(-mu/2)).

h(a) = 1 - a + a h(1/a) says that the two laws can change places, so that one direction stands for both. For q = 1 the
pair is N(mu, 1) and N(0, 1). For T = 1 and a >= 1 it is attained, by an x' whose batches have the output's law M0.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np

from counterfoil.accounting.curve_bounds import central_mass
from counterfoil.accounting.privacy_loss import LossAtoms

LARGEST_MU = 40.0
"""For more, with any chance to be drawn, a step tells nearly all; the caller must treat it."""

_SMALLEST_MU = 1e-10
_SMALLEST_PROBABILITY = 1e-12
_CELLS = 64  # cells in one standard deviation: they add 1/24,000 to the variance of a loss
_DIGITS = 60
_TERMS = 10
_RADIUS = Decimal(1) / 4


def subsampled_step(mu: float, sampling_probability: float, tail: float) -> LossAtoms:
    """Masses that cover one step: those of the module's pair, split between neighboring losses.

    The normal law is divided at x_i = mu/2 + i w, w = 1/64. The part of N(0, 1) in a cell is split between its ends so
    that e**y keeps its mean, which leaves a discrete pair that covers N(mu, 1) and N(0, 1), hence has hockey sticks
    above g, and makes h larger: with W_i the mass at x_i and G_i = 1 - q + q e**(i mu w), the masses of the covering
    pair are G_i W_i at log G_i and W_i at -log G_i. What lies beyond the last x_i becomes infinite, or is moved up.

    Args:
        mu: at most `LARGEST_MU`; small ones are raised to 1e-10.
        sampling_probability: in (0, 1]; small ones are raised to 1e-12, as it may always be larger.
        tail: about how much mass may become infinite; above 2**-900.
    """
    q = max(sampling_probability, _SMALLEST_PROBABILITY)
    last = max(mu + _quantile(tail / q), _quantile(tail)) - mu / 2
    nodes = gaussian_nodes(mu, max(math.ceil(last * _CELLS), 1))
    with localcontext(prec=_DIGITS):
        share = Decimal(q)
        factors = [1 + share * (power - 1) for power in nodes.growth]
        above = np.array([float(factor.ln()) for factor in factors[1:]])
        falling = [*nodes.weights[:-1], nodes.weights[-1] + nodes.beyond]
        rising = [factor * weight for factor, weight in zip(factors, nodes.weights, strict=True)]
        middle = (1 - share) * nodes.central + rising[0] + falling[0]
        infinite = float((1 - share) * nodes.beyond + share * _beyond(nodes.end - nodes.mu))
    masses = np.array([float(mass) for mass in (*falling[:0:-1], middle, *rising[1:])])
    losses = np.concatenate([-above[::-1], [0.0], above])
    # Roundings: of a decimal to a float, and one that stands for those of the decimals.
    return LossAtoms(losses + np.abs(losses) * 2.0**-50, masses, infinite, 2)


@dataclass(frozen=True)
class GaussianNodes:
    """A discrete pair that covers the part of N(0, 1) and N(mu, 1) with x > mu/2: masses at x_i = mu/2 + i w.

    Args:
        mu: that of the pair, at least 1e-10.
        weights: at least the mass of N(0, 1) that falls to each x_i.
        growth: e**y_i = e**(i mu w).
        central: at least the mass of N(0, 1) within mu/2 of 0.
        end: the last x_i.
        beyond: at least the mass of N(0, 1) beyond it.
        last_density: that of N(0, 1) there.
    """

    mu: Decimal
    weights: tuple[Decimal, ...]
    growth: tuple[Decimal, ...]
    central: Decimal
    end: Decimal
    beyond: Decimal
    last_density: Decimal


@functools.lru_cache(maxsize=64)
def gaussian_nodes(mu: float, cells: int) -> GaussianNodes:
    """The nodes of so many cells of w = 1/64, for `mu` or 1e-10 if that is larger.

    With A and B the masses of N(0, 1) and N(mu, 1) in a cell from x_i to x_i + w, whose ends have ratios e and f, the
    upper end gets (B - e A) / (f - e) and the lower (f A - B) / (f - e), which keeps the masses under both laws. A is
    taken below its bounds where it is subtracted, and above elsewhere, and so is B.
    """
    with localcontext(prec=_DIGITS):
        center, width = Decimal(max(mu, _SMALLEST_MU)), Decimal(1) / _CELLS
        step, half = (center * width).exp(), (center * width / 2).exp()
        middle = center / 2 + width / 2
        density, ratio, shrink = _density(middle), (-middle * width - width * width / 2).exp(), (-width * width).exp()
        weights, growth, power = [Decimal(0)], [Decimal(1)], Decimal(1)
        for _ in range(cells):
            low, high = _cell(middle, density)
            other_low, other_high = _cell(middle - center, density * power * half)
            following = power * step
            weights[-1] += (following * high - other_low) / (following - power)
            weights.append((other_high - power * low) / (following - power))
            density, ratio, middle, power = density * ratio, ratio * shrink, middle + width, following
            growth.append(power)
        end = center / 2 + cells * width
        central = central_mass(center / 2)
        return GaussianNodes(center, tuple(weights), tuple(growth), central, end, _beyond(end), _density(end))


def _cell(middle: Decimal, density: Decimal) -> tuple[Decimal, Decimal]:
    """Below and above the mass of N(0, 1) within r = w/2 of `middle` = m, where its density is `density`.

    phi(m + s) = phi(m) (1 - He_1(m) s + He_2(m) s**2 / 2 - ...), of which the even terms remain:
    phi(m) 2 r (1 + He_2(m) r**2 / 3! + He_4(m) r**4 / 5! + ...). As e**(-m s - s**2 / 2) is at most
    e**(abs(m) R + R**2 / 2) on the circle of radius R = 1/4, abs(He_k(m)) / k! is at most that divided by R**k
    (Cauchy), and what is left after n terms at most e**(abs(m) R + R**2 / 2) (r / R)**(2 n), for r / R = 1/32.
    """
    radius = Decimal(1) / (2 * _CELLS)
    before, current, scale = Decimal(1), middle, Decimal(1)
    total = Decimal(1)
    for k in range(2, 2 * _TERMS, 2):
        before = middle * current - (k - 1) * before  # He_k
        current = middle * before - k * current  # He_{k+1}
        scale *= radius * radius / (k * (k + 1))
        total += before * scale
    left = _largest(math.ceil(abs(middle))) * (radius / _RADIUS) ** (2 * _TERMS) + Decimal("1e-50")
    whole = 2 * radius * density
    return whole * (total - left), whole * (total + left)


@functools.cache
def _largest(distance: int) -> Decimal:
    with localcontext(prec=_DIGITS):
        return (distance * _RADIUS + _RADIUS * _RADIUS / 2).exp()


def _density(x: Decimal) -> Decimal:
    return Decimal("0.398942280401432677939946059934381868475858631164934657665926") * (-x * x / 2).exp()


def _beyond(x: Decimal) -> Decimal:
    """At least Phi(-x): e**(-x**2 / 2) / 2 for x >= 0."""
    return (-x * x / 2).exp() / 2 if x >= 0 else Decimal(1)


def _quantile(tail: float) -> float:
    return math.sqrt(-2 * math.log(tail)) if tail < 1 else 0.0
