"""Privacy filters: rules that add up costs even where each noise is chosen after the earlier answers.

Sums of rho hold for mechanisms chosen adaptively by Feldman and Zrnic 2021 (arXiv 2008.11193), of squares of mu by
Smith and Thakurta 2022 (arXiv 2210.17520) and Koskela, Tobaben and Honkela 2022 (arXiv 2209.15596), of pure epsilons by
Rogers, Roth, Ullman and Vadhan 2016.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

from counterfoil.accounting.budget import DELTA_SLACK, EPSILON_SLACK, Budget
from counterfoil.accounting.curve import concentrated_epsilon, gaussian_epsilon, largest_mu, largest_rho
from counterfoil.accounting.event import GaussianEvent, PrivacyEvent, PureEvent

# A root and a quotient round in the sixteenth digit.
NEVER_MORE = 1 + 1e-12


class Filter(ABC):
    """A composition in which costs add up even where each noise is chosen after the earlier answers.

    Attributes:
        unit: the unit of its costs.
        growth: costs grow with this power of a sensitivity.
    """

    unit: ClassVar[str]
    growth: ClassVar[int] = 2

    @property
    @abstractmethod
    def name(self) -> str:
        """The name that receipts and ledgers write."""

    @abstractmethod
    def capacity(self, budget: Budget) -> float:
        """The largest sum of costs that `budget` admits.

        Raises:
            ValueError: for a budget under which the rule promises nothing.
        """

    @abstractmethod
    def cost(self, event: PrivacyEvent) -> float:
        """What `event` takes of the capacity; infinite where the rule does not cover its kind."""

    @abstractmethod
    def event(self, cost: float) -> PrivacyEvent:
        """The event of noise on counts that costs `cost`, and never more, whatever the rounding."""

    @abstractmethod
    def epsilon_of(self, cost: float, delta: float) -> float:
        """The smallest epsilon, rounded up, such that costs whose sum is `cost` are (epsilon, delta)-private."""

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """The smallest epsilon, rounded up, such that all `events` together are (epsilon, delta)-private."""
        return self.epsilon_of(math.fsum(self.cost(event) for event in events), delta)

    def epsilon_within(self, budget: Budget, factor: float) -> float:
        """The epsilon of the whole capacity, had every sensitivity been `factor` times larger."""
        return self.epsilon_of(self.capacity(budget) * factor**self.growth, self.delta(budget))

    def affords(self, budget: Budget, events: Sequence[PrivacyEvent]) -> bool:
        """Whether `budget` covers all `events` together: their costs, summed exactly, against the capacity."""
        return math.fsum(self.cost(event) for event in events) <= self.capacity(budget)

    def divisible(self, budget: Budget) -> float:
        """The capacity that may be divided into parts which are spent one by one: their rounding is taken off."""
        return self.capacity(budget) * (1 - 1e-9)

    def delta(self, budget: Budget) -> float:
        """The delta at which the rule states its guarantee for `budget`."""
        return budget.delta


class GaussianFilter(Filter):
    """mu**2 adds up; the sum has the exact trade-off curve of one Gaussian mechanism."""

    name: ClassVar[str] = "gaussian"
    unit: ClassVar[str] = "mu_squared"

    def capacity(self, budget: Budget) -> float:
        mu = largest_mu(usable_budget(budget, self.name))
        return mu * mu

    def cost(self, event: PrivacyEvent) -> float:
        return event.mu * event.mu

    def event(self, cost: float) -> GaussianEvent:
        return GaussianEvent(1 / math.sqrt(cost) * NEVER_MORE)

    def epsilon_of(self, cost: float, delta: float) -> float:
        return with_slack(gaussian_epsilon, math.sqrt(cost), delta)


class ConcentratedFilter(Filter):
    """rho adds up; the sum is converted by Canonne, Kamath and Steinke 2020, Proposition 12."""

    name: ClassVar[str] = "zcdp"
    unit: ClassVar[str] = "rho"

    def capacity(self, budget: Budget) -> float:
        return largest_rho(usable_budget(budget, self.name))

    def cost(self, event: PrivacyEvent) -> float:
        return event.rho

    def event(self, cost: float) -> GaussianEvent:
        return GaussianEvent(1 / math.sqrt(2 * cost) * NEVER_MORE)

    def epsilon_of(self, cost: float, delta: float) -> float:
        return with_slack(concentrated_epsilon, cost, delta)


class PureFilter(Filter):
    """Epsilons add up; delta stays 0."""

    name: ClassVar[str] = "pure"
    unit: ClassVar[str] = "epsilon"
    growth: ClassVar[int] = 1

    def capacity(self, budget: Budget) -> float:
        return budget.epsilon

    def cost(self, event: PrivacyEvent) -> float:
        return event.pure_epsilon

    def event(self, cost: float) -> PureEvent:
        return PureEvent(cost)

    def delta(self, budget: Budget) -> float:
        return 0.0

    def epsilon_of(self, cost: float, delta: float) -> float:
        return cost


def usable_budget(budget: Budget, rule: str) -> Budget:
    """What is left of `budget` without its slack.

    Raises:
        ValueError: if that is nothing.
    """
    if budget.delta == 0:
        raise ValueError(
            f"`delta` must be positive for noise composed as {rule!r}. Found 0: give a delta, such as 1e-9, "
            "or choose a method with pure privacy."
        )
    if budget.epsilon <= 2 * EPSILON_SLACK:
        raise ValueError(f"`epsilon` must be above {2 * EPSILON_SLACK}. Found {budget.epsilon}.")
    return Budget.unrestricted(budget.epsilon - EPSILON_SLACK, budget.delta * (1 - DELTA_SLACK))


def with_slack(epsilon_of: Callable[[float, float], float], cost: float, delta: float) -> float:
    """The epsilon of `cost` at `delta`, with the slack; infinite where nothing is promised."""
    if cost == 0:
        return 0.0
    if not (0 < delta < 1 and math.isfinite(cost)):
        return math.inf
    return epsilon_of(cost, delta * (1 - DELTA_SLACK)) + EPSILON_SLACK
