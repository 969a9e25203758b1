"""Distributions of the privacy loss that lie above the true ones whatever rounding does.

Let P and Q be the laws of an output on two neighbors, and L = log dP/dQ under P. Then delta(epsilon) is
E max(0, 1 - e**(epsilon - L)), which rises when a mass or a loss is raised and never falls: masses need not add up
to 1. The losses of independent mechanisms add up. So a finite measure on losses *covers* P and Q if it is obtained
from the law of L by raising masses, by moving them to higher losses, or by the split of the next paragraph. A delta
that is computed from covering measures is never below the true one.

**Split.** max(0, 1 - e**(epsilon - l)) is a convex function of e**-l: on an interval [0, h] it is at most the
interpolation, linear in e**-l, of its values at 0 and h, wherever the interval begins. A mass at t may therefore be
divided between 0 and h, with the share (1 - e**-t) / (1 - e**-h) at h. More at h, and as much less at 0, covers too.
The share is (t / h) psi(h) / psi(t) with psi(x) = x / (1 - e**-x), for which psi >= 1, psi'(0) = 1/2 and, with
y = x / 2, psi'' = (y coth y - 1) / (2 sinh(y)**2), which lies in [0, 1/6] as y coth y - 1 <= y**2 / 3. Hence
psi(h) <= psi(t) + (h - t) psi'(h) and psi'(h) <= 1/2 + h / 6: the share is at most
(t / h) (1 + (h - t) (1/2 + h / 6)), which needs no exponential.

**Rounding.** Every mass is computed from nonnegative numbers by additions, multiplications and divisions alone, in
double precision, where one operation is off by a factor 1 + d, abs(d) <= u = 2**-53. A mass is then below a covering
one by at most a factor (1 - u)**n, where n, called `roundings`, counts the operations on the longest way to it; in
which order a sum was taken doesn't matter. There are no Fourier transforms, whose errors are relative to the largest
mass and not to each. Underflow is off by 2**-1022 at most (flushed to zero) and is paid for in `smallest_epsilon`.
Exponentials of constants come from `decimal`, which rounds them correctly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal

import numpy as np

_UNIT = 2.0**-53
_POINTS = 2**15  # points of a grid: splitting then adds a millionth to the variance of the loss, at each convolution
_CELLS = 128  # cells of the normal law in one standard deviation
_DECIMAL = Context(prec=40, Emin=-(10**6), Emax=10**6)
# A generous allowance for a few roundings: a number that must not be below another is raised by this factor.
_RAISED = 1 + 2.0**-40

LARGEST_LOSS = 1e9
"""A grid has no indices for larger losses; the caller must treat them."""


@dataclass(frozen=True)
class LossAtoms:
    """Masses at single losses.

    Args:
        losses: float64 [n], rising, none below the true loss that it stands for.
        masses: float64 [n], each at least a covering mass times (1 - 2**-53)**roundings.
        infinite: the mass of an infinite loss, with the same allowance.
    """

    losses: np.ndarray
    masses: np.ndarray
    infinite: float
    roundings: int

    @classmethod
    def randomized_response(cls, epsilon: float, count: int) -> LossAtoms:
        """`count` times randomized response: losses (2 j - count) epsilon with binomial masses, j = 0, ..., count.

        The masses are v_j / sum(v) for v_j proportional to C(count, j) e**(j epsilon), of which the largest is set
        to 1; the others follow by ratios (4 roundings each, e**-epsilon included), down from there on both sides.
        """
        shrink = _exponential(-epsilon)
        mode = min(count, math.floor((count + 1) / (1 + shrink)))
        below, above = np.arange(mode, 0.0, -1.0), np.arange(mode, float(count))
        falling = np.cumprod(below / (count - below + 1) * shrink)[::-1]
        rising = np.cumprod((count - above) / ((above + 1) * shrink)) if mode < count else np.empty(0)
        weights = np.concatenate([falling, [1.0], rising])
        losses = (2 * np.arange(count + 1.0) - count) * epsilon
        # Roundings: 4 count in a weight, 5 count in the sum of all, and one in the quotient.
        return cls(_raised(losses), weights / weights.sum(), 0.0, 9 * count + 2)

    @classmethod
    def gaussian(cls, mu: float, tail: float) -> LossAtoms:
        """N(0, 1) against N(mu, 1): the loss is mu (mu / 2 + z) with z standard normal.

        The normal law is divided at z_i = i w, w = 1/128, for abs(i) <= n. By the split above, z_i gets at most
        the integral of the density phi with the hat of half-width w, and of (1/2 + h/6) mu x (w - x) / w at a
        distance x below it, h = mu w. (What the split takes from the lower end is not subtracted.) As phi(z + x) <=
        phi(z) e**(-z x), and cosh(y) <= 1 + y**2 cosh(1) / 2 for y <= 1, the first is at most
        w phi(z) (1 + (z w)**2 / 7), and the second w phi(z) (h/4 + h**2 / 12), both for abs(z) w <= 1. What lies
        beyond z_n becomes infinite, and what lies below z_-n is moved there: each is at most e**(-z_n**2 / 2) / 2.

        phi(z_i) is a product of ratios e**(-w**2 (j + 1/2)), which are products of e**(-w**2): i**2 + 2 i roundings.

        Args:
            tail: about how much mass may become infinite; above 2**-900, so that n w**2 < 1.
        """
        cells, width = math.ceil(_CELLS * math.sqrt(-2 * math.log(tail))), 1 / _CELLS
        ratios = np.full(cells, _exponential(-(width**2)))
        ratios[0] = _exponential(-(width**2) / 2)
        half = 0.3989422804014327 * np.cumprod(np.concatenate([[1.0], np.cumprod(ratios)]))
        z = np.arange(-cells, cells + 1.0) * width
        step = mu * width
        excess = (z * width) ** 2 / 7 + step / 4 + step**2 / 12
        masses = np.concatenate([half[:0:-1], half]) * width * (1 + excess)
        beyond = _exponential(-(z[-1] ** 2) / 2) / 2
        masses[0] += beyond
        return cls(_raised(mu * (mu / 2 + z)), masses, beyond, (cells + 2) ** 2 + 20)

    def trimmed(self, tail: float) -> LossAtoms:
        """The same without its ends of mass at most `tail`: the upper becomes infinite, the lower is moved upwards."""
        first, last, masses, infinite = _trim(self.masses, tail)
        roundings = self.roundings + len(self.masses) + 1
        return LossAtoms(self.losses[first:last], masses, self.infinite + infinite, roundings)

    @property
    def extent(self) -> float:
        """The length of the interval of losses, for the choice of a step; at least a small part of their size."""
        return float(max(self.losses[-1] - self.losses[0], np.abs(self.losses).max() / 32))


@dataclass(frozen=True)
class LossGrid:
    """Masses at the multiples `first`, `first` + 1, ... of `step`, a power of two; the rest as in `LossAtoms`."""

    step: float
    first: int
    masses: np.ndarray
    infinite: float
    roundings: int

    @classmethod
    def of(cls, atoms: LossAtoms, step: float) -> LossGrid:
        """Each atom split between the two multiples of `step` around it."""
        position = atoms.losses / step
        below = np.floor(position)
        share = _upper_share(position - below, step)
        first = int(below[0])
        index = (below - first).astype(np.int64)
        size = int(index[-1]) + 2
        masses = np.bincount(index, atoms.masses * (1 - share), size)
        masses += np.bincount(index + 1, atoms.masses * share, size)
        # Roundings: 1 - share, the product, and a sum of no more terms than twice the atoms.
        return cls(step, first, masses, atoms.infinite, atoms.roundings + 2 * len(index) + 2)

    @property
    def extent(self) -> float:
        return (len(self.masses) - 1) * self.step

    def coarsened(self, step: float) -> LossGrid:
        """On multiples of a larger `step`: odd multiples are split between the even ones, until it is reached."""
        grid = self
        while grid.step < step:
            grid = grid._doubled()
        return grid

    def _doubled(self) -> LossGrid:
        odd = self.first % 2
        masses = np.pad(self.masses, (odd, (odd + len(self.masses)) % 2))
        share = _upper_share(np.array(0.5), 2 * self.step)
        coarse = np.zeros(len(masses) // 2 + 1)
        coarse[:-1] = masses[::2] + masses[1::2] * (1 - share)
        coarse[1:] += masses[1::2] * share
        # Roundings: 1 - share, the product, and two sums.
        return LossGrid(2 * self.step, (self.first - odd) // 2, coarse, self.infinite, self.roundings + 4)

    def convolved(self, other: LossGrid) -> LossGrid:
        """The sum of two independent losses, on the same step, each mass of one times each of the other.

        It is infinite if one of them is: if that of `large` is i, and of `small` k, with probability i + k at most,
        and as the finite masses M of `large` may be more than 1, i + M k is what covers.
        """
        large, small = (self, other) if len(self.masses) >= len(other.masses) else (other, self)
        present = np.flatnonzero(small.masses)
        if 8 * len(present) < len(small.masses):
            masses = np.zeros(len(large.masses) + len(small.masses) - 1)
            for shift in present:
                masses[shift : shift + len(large.masses)] += small.masses[shift] * large.masses
        else:
            masses = np.convolve(large.masses, small.masses)  # which sums directly, too
        infinite = large.infinite + float(large.masses.sum()) * small.infinite
        # Roundings: a product and as many sums; one more sum and the product in `infinite`.
        roundings = large.roundings + small.roundings + len(large.masses) + 2
        return LossGrid(self.step, self.first + other.first, masses, infinite, roundings)

    def trimmed(self, tail: float) -> LossGrid:
        """As `LossAtoms.trimmed`."""
        first, _, masses, infinite = _trim(self.masses, tail)
        roundings = self.roundings + len(self.masses) + 1
        return LossGrid(self.step, self.first + first, masses, self.infinite + infinite, roundings)

    def smallest_epsilon(self, delta: float) -> float:
        """The smallest epsilon >= 0 at `delta`, rounded up; infinite if there is none.

        With T the mass above a multiple e of the step h, and D = delta(e), delta(e - x) = q D + (1 - q) T for
        q = e**-x, 0 <= x <= h. From the largest loss downwards this is done for x = h with q <= 1 - h + h**2 / 2
        and 1 - q <= h - h**2 / 2 + h**3 / 6, until `delta` is exceeded. Then the last x is (delta - D) / (T - D),
        for which q >= 1 - x, so that q D + (1 - q) T <= T - (1 - x) (T - D) = delta.

        Args:
            delta: above 2**-800. 2**-40 of it is held back, for underflow and for the roundings of this function.
        """
        top = self.first + len(self.masses) - 1
        roundings = self.roundings + 10 * max(top, 0) + 2
        assert roundings < 2**50
        # (1 - u)**-n <= 1 + 2 n u for n u <= 1/2.
        target = delta * (1 - 2.0**-40) / (1 + 2 * roundings * _UNIT) - self.infinite
        if target < 0:
            return math.inf
        step = self.step
        keep, add = min(1.0, 1 - step + step * step / 2), min(1.0, step * (1 - step / 2 + step * step / 6))
        masses = self.masses.tolist()
        above = reached = 0.0
        for index in range(top, 0, -1):
            above += masses[index - self.first] if index >= self.first else 0.0
            lower = keep * reached + add * above
            if lower > target:
                back = min((target - reached) / (above - reached) / _RAISED, step) if above > reached else 0.0
                return (index * step - back) * _RAISED
            reached = lower
        return 0.0


def compose(parts: list[LossAtoms], tail: float) -> LossGrid:
    """The sum of independent losses, those with the smallest extent first; each step makes about `tail` infinite.

    The step is doubled as the sum grows, so that small losses are added up on a fine grid.
    """
    trimmed = sorted((part.trimmed(tail) for part in parts), key=lambda part: part.extent)
    total = LossGrid.of(trimmed[0], _step(trimmed[0].extent))
    for part in trimmed[1:]:
        step = max(total.step, _step(total.extent + part.extent))
        total = total.coarsened(step).convolved(LossGrid.of(part, step)).trimmed(tail)
    return total


def _step(extent: float) -> float:
    return 2.0 ** math.ceil(math.log2(extent / _POINTS))


def _exponential(exponent: float) -> float:
    """e**exponent, off by at most one rounding: to 40 digits, and from there to the nearest float."""
    return float(_DECIMAL.exp(Decimal(exponent)))


def _raised(losses: np.ndarray) -> np.ndarray:
    return losses + np.abs(losses) * 2.0**-50


def _upper_share(fraction: np.ndarray, step: float) -> np.ndarray:
    """At least the share of the upper end, for a mass at that `fraction` of an interval of length `step`."""
    return np.minimum(1.0, fraction * (1 + (1 - fraction) * step * (0.5 + step / 6)) * _RAISED)


def _trim(masses: np.ndarray, tail: float) -> tuple[int, int, np.ndarray, float]:
    """(first, last, masses[first:last] with the lower end added to its first entry, the mass of the upper end)."""
    from_below, from_above = np.cumsum(masses), np.cumsum(masses[::-1])
    last = len(masses) - min(int(np.searchsorted(from_above, tail, side="right")), len(masses) - 1)
    first = min(int(np.searchsorted(from_below, tail, side="right")), last - 1)
    kept = masses[first:last].copy()
    if first:
        kept[0] += from_below[first - 1]
    return first, last, kept, float(from_above[len(masses) - last - 1]) if last < len(masses) else 0.0
