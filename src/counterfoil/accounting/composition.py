"""The rules that turn events into one (epsilon, delta), by name.

Privacy-loss distributions are tighter than filters for mixtures but hold only for a *plan*, whose noise is all fixed
before the first answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.event import PrivacyEvent
from counterfoil.accounting.filter import ConcentratedFilter, GaussianFilter, PureFilter
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.accounting.renyi_filter import RenyiFilter
from counterfoil.accounting.repeated import repeated_named
from counterfoil.accounting.rest_of_budget import RestOfBudget


class Composition(Protocol):
    """A rule that turns events into one (epsilon, delta). A `Filter` is one that holds for adaptive noise too."""

    @property
    def name(self) -> str:
        """The name that receipts and ledgers write."""
        ...

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """The smallest epsilon, rounded up, such that all `events` together are (epsilon, delta)-private."""
        ...

    def affords(self, budget: Budget, events: Sequence[PrivacyEvent]) -> bool:
        """Whether `budget` covers all `events` together."""
        ...

    def delta(self, budget: Budget) -> float:
        """The delta at which the rule states its guarantee for `budget`."""
        ...


class _Rules(dict[str, Composition]):
    """The rules by name: those without parameters are listed; others are made from the numbers in their name."""

    def __missing__(self, name: str) -> Composition:
        for named in (RenyiFilter.named, repeated_named, RestOfBudget.named):
            try:
                return named(name)
            except ValueError:
                continue
        raise KeyError(name)


COMPOSITIONS: dict[str, Composition] = _Rules(
    {rule.name: rule for rule in (GaussianFilter(), ConcentratedFilter(), PureFilter(), PrivacyLossPlan())}
)
