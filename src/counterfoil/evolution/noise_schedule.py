"""How the budget of a run is divided over its rounds of votes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.event import ApproximateEvent, PrivacyEvent, PureEvent
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.thresholded_laplace import ThresholdedLaplaceNoise
from counterfoil.theory import private_evolution as theory

COUNT_SHARE = 0.01
"""The share of the budget (mu**2, or epsilon) for the number of records where that is private."""

_ROUNDING = 1 - 1e-9


@dataclass(frozen=True)
class GaussianRounds:
    """Gaussian noise on every candidate's votes; mu**2 is divided over the rounds.

    Args:
        by_theory: whether later rounds get more, by `theory.private_evolution.noise_schedule`; equal shares if
            not.
    """

    by_theory: bool = True

    def count_noise(self, budget: Budget) -> GaussianNoise:
        """The noise of the number of records."""
        return GaussianNoise(1 / math.sqrt(GaussianFilter().capacity(budget) * COUNT_SHARE))

    def noises(self, capacity: float, iterations: int, contraction: float, *, done: int = 0) -> list[GaussianNoise]:
        """One noise for each of the rounds that remain after `done`; their mu**2 add up to `capacity`."""
        shares = [1.0] * iterations
        if self.by_theory:
            # Only ratios matter here, and these depend on the contraction alone.
            sigmas = theory.noise_schedule(1.0, 1e-6, n=1.0, iterations=iterations, contraction=contraction)
            shares = [sigma**-2 for sigma in sigmas]
        left = shares[done:]
        return [GaussianNoise(1 / math.sqrt(capacity * _ROUNDING * share / math.fsum(left))) for share in left]


@dataclass(frozen=True)
class PositiveRounds:
    """Laplace noise on positive votes only, the same in all rounds and fixed in advance.

    Half of delta covers the release of single votes; privacy-loss distributions compose the rest.
    """

    def count_noise(self, budget: Budget) -> LaplaceNoise:
        """The noise of the number of records."""
        return LaplaceNoise(budget.epsilon * COUNT_SHARE)

    def noises(self, budget: Budget, iterations: int, *, count: bool) -> list[ThresholdedLaplaceNoise]:
        """One noise for each round, of the largest epsilon that the budget covers; `count` adds the noisy count's cost.

        Raises:
            ValueError: where delta is 0, or no epsilon is small enough.
        """
        if budget.delta == 0:
            raise ValueError("`delta` must be positive: a vote that is alone can only be hidden with some probability.")
        delta = budget.delta / (2 * iterations)
        first: list[PrivacyEvent] = [PureEvent(budget.epsilon * COUNT_SHARE)] if count else []
        rule = PrivacyLossPlan()

        def affords(epsilon: float) -> bool:
            return rule.affords(budget, [*first, *[ApproximateEvent(epsilon, delta)] * iterations])

        low, high = 2 * delta, budget.epsilon
        if low >= high or not affords(low):
            raise ValueError(
                f"epsilon {budget.epsilon:g} and delta {budget.delta:g} are too small for {iterations} rounds. "
                "Ask for fewer iterations."
            )
        for _ in range(24):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if affords(middle) else (low, middle)
        return [ThresholdedLaplaceNoise(low, delta)] * iterations


def typical(deviations: Sequence[float]) -> float:
    """The deviation of equal rounds that cost as much as these: the root of the harmonic mean of squares."""
    return math.sqrt(len(deviations) / math.fsum(d**-2 for d in deviations))
