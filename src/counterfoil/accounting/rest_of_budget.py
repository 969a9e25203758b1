"""What earlier answers left of a budget that was fixed before them: one guarantee for those answers and all later ones.

A schema may be bought with a share of a budget, and one release may spend the rest. The noise of the purchase was all
planned before its first answer, so that what it takes of the budget is a public number: the sum of its mu**2, and the
sum of the deltas of its thresholds, by which a text that one record alone has may be released.

Formal guarantee: let the budget (epsilon, delta) be fixed before the first answer of the purchase. Each of its answers
is a mixture: with probability d_i, by a coin of its own, anything is released, and otherwise it is mu_i-Gaussian
(`ApproximateGaussianEvent`). Let D bound the sum of the d_i, and let the answers of the release be chosen after those
of the purchase, and have costs whose sum with that of the mu_i**2 never exceeds m**2, where a mu of m is
(epsilon, delta - D)-private. One more coin, thrown at the end, makes the probability that any coin fails exactly D,
whatever was asked. Given that none fails, all answers together are m-Gaussian, however the later ones depend on the
earlier ones (`filter`); call the two laws of what is seen then G and G', and those of the whole P and P'. For a set E,

    P(E) <= (1 - D) G(E) + D <= (1 - D) (e**epsilon G'(E) + delta - D) + D <= e**epsilon P'(E) + delta,

because P'(E) is at least (1 - D) G'(E), and (1 - D) (delta - D) + D is at most delta. It needs that the budget does not
depend on what the purchase answered: the guarantee of a filter is for a bound that is fixed in advance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from counterfoil.accounting.budget import DELTA_SLACK, EPSILON_SLACK, Budget
from counterfoil.accounting.curve import gaussian_epsilon, largest_mu
from counterfoil.accounting.event import ApproximateGaussianEvent, GaussianEvent, PrivacyEvent
from counterfoil.accounting.filter import NEVER_MORE, Filter, GaussianFilter, usable_budget

_MARK = "gaussian-after"
_EVENTS: Mapping[str, type[GaussianEvent] | type[ApproximateGaussianEvent]] = {
    "discrete_gaussian": GaussianEvent,
    "open_domain_gaussian": ApproximateGaussianEvent,
}
"""Of the noises of purchases, whose parameters are those of their events."""
_PARAMETERS = {"discrete_gaussian": ("noise_multiplier",), "open_domain_gaussian": ("noise_multiplier", "delta")}


@dataclass(frozen=True)
class RestOfBudget(Filter):
    """mu**2 adds up, to that of the answers before; the guarantee is that of all of them together.

    Its capacity is what those answers left, so that a release which spends it is within the whole budget.

    Args:
        mu_squared: the sum of the mu**2 of the answers before; positive.
        threshold_delta: the sum of the deltas of their thresholds, in [0, 1).

    Raises:
        ValueError: for other numbers.
    """

    mu_squared: float
    threshold_delta: float
    unit: ClassVar[str] = GaussianFilter.unit

    def __post_init__(self) -> None:
        if not 0 < self.mu_squared < math.inf:
            raise ValueError(f"`mu_squared` must be positive and finite. Found {self.mu_squared!r}.")
        if not 0 <= self.threshold_delta < 1:
            raise ValueError(f"`threshold_delta` must be at least 0 and below 1. Found {self.threshold_delta!r}.")

    @staticmethod
    def after(plan: Sequence[PrivacyEvent]) -> RestOfBudget:
        """What is left after answers whose noise was all planned, whether or not each was asked.

        Args:
            plan: Gaussian events, and approximate ones.

        Raises:
            ValueError: for events of another kind, or none.
        """
        costs, thresholds = list[float](), list[float]()
        for event in plan:
            if not isinstance(event, GaussianEvent | ApproximateGaussianEvent):
                raise ValueError(f"The answers before must have Gaussian noise. Found an event of kind {event.kind!r}.")
            costs.append(event.noise_multiplier**-2.0)
            thresholds.append(event.delta if isinstance(event, ApproximateGaussianEvent) else 0.0)
        return RestOfBudget(math.fsum(costs) * NEVER_MORE, math.fsum(thresholds) * NEVER_MORE)

    @staticmethod
    def planned(plan: Sequence[Mapping[str, Any]]) -> RestOfBudget:
        """What is left after the noises of a plan, as a ledger has them in JSON.

        Raises:
            ValueError: for noise of another kind, or none.
        """
        events = list[PrivacyEvent]()
        for noise in plan:
            parameters = {key: float(value) for key, value in noise.items() if key != "kind"}
            if noise.get("kind") not in _EVENTS or set(parameters) != set(_PARAMETERS[noise["kind"]]):
                raise ValueError(f"The answers before must have Gaussian noise. Found {dict(noise)}.")
            events.append(_EVENTS[noise["kind"]](**parameters))
        return RestOfBudget.after(events)

    @staticmethod
    def named(name: str) -> RestOfBudget:
        """The rule of that name.

        Raises:
            ValueError: for any other name.
        """
        mark, *figures = str(name).split("_")
        if mark == _MARK and len(figures) == 2:
            rule = RestOfBudget(*map(float, figures))
            if rule.name == name:
                return rule
        raise ValueError(f"Such a rule is called like '{_MARK}_0.002_3e-10'. Found {name!r}.")

    @property
    def name(self) -> str:
        return f"{_MARK}_{self.mu_squared!r}_{self.threshold_delta!r}"

    def capacity(self, budget: Budget) -> float:
        usable = usable_budget(budget, GaussianFilter.name)
        if usable.delta <= self.threshold_delta:
            raise ValueError(
                f"The answers before leave nothing of delta {budget.delta:g}: their thresholds took "
                f"{self.threshold_delta:g}."
            )
        mu = largest_mu(Budget.unrestricted(usable.epsilon, usable.delta - self.threshold_delta))
        left = mu * mu - self.mu_squared
        if left <= 0:
            raise ValueError(
                f"The answers before leave nothing of epsilon {budget.epsilon:g}: they were bought with all of it."
            )
        return left * (1 - 1e-12)

    def cost(self, event: PrivacyEvent) -> float:
        return event.mu * event.mu

    def event(self, cost: float) -> GaussianEvent:
        return GaussianFilter().event(cost)

    def epsilon_of(self, cost: float, delta: float) -> float:
        """Of the answers before and of later ones that cost `cost`, together."""
        left = delta * (1 - DELTA_SLACK) - self.threshold_delta
        if not (left > 0 and delta < 1 and math.isfinite(cost)):
            return math.inf
        return gaussian_epsilon(math.sqrt(self.mu_squared + cost), left) + EPSILON_SLACK

    def epsilon_within(self, budget: Budget, factor: float) -> float:
        """Infinite, unless the factor is 1: what thresholds let pass under other neighbors does not follow from it."""
        return self.epsilon_of(self.capacity(budget), self.delta(budget)) if factor == 1 else math.inf
