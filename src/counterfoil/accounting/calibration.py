"""How much noise, or how many steps, a budget allows for a run on random batches. Public figures alone enter."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve import largest_mu
from counterfoil.accounting.event import SubsampledGaussianEvent
from counterfoil.accounting.filter import usable_budget
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.accounting.roots import brentq
from counterfoil.accounting.self_composition import MOST_STEPS

_TOLERANCE = 1e-4  # of the logarithm of what is sought


@functools.lru_cache(maxsize=256)
def subsampled_noise_multiplier(epsilon: float, delta: float, sampling_probability: float, steps: int) -> float:
    """The smallest noise multiplier, rounded up by 1e-4 of it at most, with which a plan affords a run.

    `PrivacyLossPlan` covers `SubsampledGaussianEvent` with it at (epsilon, delta), as it was asked.

    Args:
        epsilon: of the whole run; positive.
        delta: of the whole run, in (0, 1).
        sampling_probability: the largest share of a public group that a batch has, in (0, 1].
        steps: a whole number, at least 1.

    Raises:
        ValueError: for a parameter out of its range.
    """
    budget = Budget(epsilon, delta)
    enough = 1 / largest_mu(usable_budget(budget, PrivacyLossPlan.name)) * (1 + 1e-9)
    enough *= math.sqrt(SubsampledGaussianEvent(enough, sampling_probability, steps).steps)

    @functools.cache
    def excess(log_mu: float) -> float:
        return _excess(SubsampledGaussianEvent(math.exp(-log_mu), sampling_probability, steps), budget)

    log_mu = -math.log(enough)  # what is enough without any sampling is enough with it
    if excess(log_mu) >= 0:
        return enough
    root = _root(excess, log_mu, max(1.0, -math.log(sampling_probability)))
    while excess(root) > 0:
        root -= _TOLERANCE / 4
    return math.exp(-root)


@functools.lru_cache(maxsize=256)
def largest_steps(epsilon: float, delta: float, noise_multiplier: float, sampling_probability: float) -> int:
    """The largest number of steps, rounded down by 1e-4 of it at most, that a plan affords: 0 if not even one.

    No more than 2**30 are considered.

    Args:
        epsilon: of the whole run; positive.
        delta: of the whole run, in (0, 1).
        noise_multiplier: standard deviation of one step's noise, in units of the sensitivity.
        sampling_probability: as for `subsampled_noise_multiplier`.

    Raises:
        ValueError: for a parameter out of its range.
    """
    budget = Budget(epsilon, delta)
    usable_budget(budget, PrivacyLossPlan.name)

    @functools.cache
    def excess(steps: int) -> float:
        return _excess(SubsampledGaussianEvent(noise_multiplier, sampling_probability, steps), budget)

    if excess(1) > 0:
        return 0
    if excess(MOST_STEPS) <= 0:
        return MOST_STEPS
    steps = round(math.exp(_root(lambda log_steps: excess(min(round(math.exp(log_steps)), MOST_STEPS)), 0.0, 2.0)))
    while excess(steps) > 0:
        steps -= math.ceil(steps * _TOLERANCE / 4)
    while steps * _TOLERANCE < 1 and excess(steps + 1) <= 0:
        steps += 1
    return steps


def _excess(event: SubsampledGaussianEvent, budget: Budget) -> float:
    """The logarithm of what the event costs, over what is allowed: within limits, of which secants make good use."""
    ratio = PrivacyLossPlan().epsilon([event], budget.delta) / budget.epsilon
    return math.log(min(max(ratio, 1e-2), 1e2))


def _root(excess: Callable[[float], float], low: float, step: float) -> float:
    """About where a rising function, at most 0 at `low`, becomes positive; in steps that double until it is."""
    high = low + step
    while excess(high) <= 0:
        low, high, step = high, high + 2 * step, 2 * step
    return float(brentq(excess, low, high, xtol=_TOLERANCE / 4)) if excess(low) < 0 else low
