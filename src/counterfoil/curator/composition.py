"""The rules that turn events into one (epsilon, delta), by name.

Privacy-loss distributions are tighter than filters for mixtures but hold only for a *plan*, whose noise is all fixed
before the first answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from counterfoil.curator.budget import Budget
from counterfoil.curator.privacy_event import PrivacyEvent
from counterfoil.curator.privacy_filter import ConcentratedFilter, GaussianFilter, PureFilter
from counterfoil.curator.privacy_loss_plan import PrivacyLossPlan


class Composition(Protocol):
    """A rule that turns events into one (epsilon, delta)."""

    name: ClassVar[str]

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """The smallest epsilon, rounded up, such that all `events` together are (epsilon, delta)-private."""
        ...

    def affords(self, budget: Budget, events: Sequence[PrivacyEvent]) -> bool:
        """Whether `budget` covers all `events` together."""
        ...


class Filter(Composition, Protocol):
    """A composition in which costs add up even where each noise is chosen after the earlier answers."""

    unit: ClassVar[str]

    def capacity(self, budget: Budget) -> float:
        """The largest sum of costs that `budget` admits."""
        ...

    def cost(self, event: PrivacyEvent) -> float:
        """What `event` takes of the capacity."""
        ...


COMPOSITIONS: dict[str, Composition] = {
    rule.name: rule for rule in (GaussianFilter(), ConcentratedFilter(), PureFilter(), PrivacyLossPlan())
}
