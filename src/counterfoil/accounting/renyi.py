"""Renyi divergences of events at a whole order, rounded up: what a `RenyiFilter` adds up."""

from __future__ import annotations

import functools
import math
from decimal import Decimal, localcontext

from counterfoil.accounting.event import (
    BoundedRangeEvent,
    GaussianEvent,
    PrivacyEvent,
    PureEvent,
    SubsampledGaussianEvent,
)
from counterfoil.accounting.subsampling import gaussian_nodes

_RAISED = 1 + 1e-12
_DIGITS = 60
_BEYOND = 12  # standard deviations beyond the peak of what is integrated
_FARTHEST = 200.0


def renyi_divergence(event: PrivacyEvent, order: int) -> float:
    """At least the Renyi divergence of `event`, either way round, between any two neighbors; infinite where unknown.

    Args:
        order: a whole number, at least 2.
    """
    if isinstance(event, SubsampledGaussianEvent):
        mu = 1 / event.noise_multiplier
        whole = order * mu * mu / 2  # of noise whose batches are known
        if event.sampling_probability == 1 or not order * mu + _BEYOND <= _FARTHEST:
            return event.steps * whole * _RAISED
        return event.steps * min(whole, _of_one_step(mu, event.sampling_probability, order)) * _RAISED
    if isinstance(event, PureEvent):
        return _of_response(event.epsilon, order) * _RAISED
    if isinstance(event, (GaussianEvent, BoundedRangeEvent)):
        # No divergence is above the largest loss.
        return min(order * event.rho, event.pure_epsilon) * _RAISED
    return math.inf


def _of_response(epsilon: float, order: int) -> float:
    """Randomized response, the worst pure mechanism: log(cosh((a - 1/2) e) / cosh(e / 2)) / (a - 1), at most e.

    With p = e**e / (1 + e**e), p**a (1 - p)**(1 - a) + (1 - p)**a p**(1 - a) is that ratio. As a logarithm it is at
    most a e**2 / 2 (Bun and Steinke 2016, Proposition 1.4), which stands for it where it loses its digits.
    """
    if epsilon < 1e-4:
        return order * epsilon * epsilon / 2
    divergence = (_log_cosh((order - 0.5) * epsilon) - _log_cosh(epsilon / 2)) / (order - 1)
    return min(epsilon, divergence * (1 + 1e-9))


def _log_cosh(x: float) -> float:
    return x + math.log1p(math.exp(-2 * x)) - math.log(2) if x > 1 else math.log1p(2 * math.sinh(x / 2) ** 2)


@functools.lru_cache(maxsize=4096)
def _of_one_step(mu: float, sampling_probability: float, order: int) -> float:
    """The divergence of the covering pair of `counterfoil.accounting.subsampling`, which is at least a step's.

    Formal guarantee: a Renyi divergence of order a > 1 rises with its hockey sticks, as x**a is convex. Over the
    density of the second law, the pair's integral of (dP/dQ)**a is that of G**a phi + G**(1 - a) phi over x > mu/2,
    and what is at loss 0. Masses that are split between x_i so that e**y keeps its mean, as `gaussian_nodes` does,
    make both larger, because G is linear in e**y and both powers are convex in G. Beyond the last x_i, log G rises by
    mu at most for each unit of x, so that the integral of G**a phi is at most
    G_n**a phi(x_n) / (x_n - a mu), and G**(1 - a) falls.
    """
    cells = 2 ** math.ceil(math.log2(64 * (order * mu + _BEYOND)))  # few different ones, as they are kept
    nodes = gaussian_nodes(mu, cells)
    with localcontext(prec=_DIGITS):
        share = Decimal(sampling_probability)
        total = (1 - share) * nodes.central
        for weight, power in zip(nodes.weights, nodes.growth, strict=True):
            factor = 1 + share * (power - 1)
            raised = factor ** (order - 1)
            total += weight * (factor * raised + 1 / raised)
        total += nodes.last_density * factor * raised / (nodes.end - order * nodes.mu) + nodes.beyond
        return float((total * (1 + Decimal("1e-40"))).ln()) / (order - 1) * (1 + 2.0**-50)
