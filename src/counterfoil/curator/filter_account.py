"""Accounts whose later questions depend on earlier answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from counterfoil.accounting.charge import Charge
from counterfoil.accounting.event import PrivacyEvent
from counterfoil.accounting.filter import Filter
from counterfoil.curator.account import Account
from counterfoil.noise.known import noise_of
from counterfoil.noise.noise import CountNoise


class FilterAccount(Account):
    """An account whose noise may depend on earlier answers. Made by `Curator.filter`."""

    _rule: Filter
    _reserves: Mapping[str, float] = MappingProxyType({})

    def reserve(self, shares: Mapping[str, float]) -> None:
        """Keeps these shares of the budget back, each until `open_reserve`; `capacity` is then what remains."""
        self._reserves = dict(shares)

    def open_reserve(self, purpose: str = "") -> float:
        """Makes one reserve available; returns it in the filter's unit, rounded down so that it can be divided.

        A reserve is the same whatever was spent before, so that noise which it alone determines is fixed in advance.
        """
        share = self._reserves.get(purpose, 0.0)
        self._reserves = {name: kept for name, kept in self._reserves.items() if name != purpose}
        return self._rule.capacity(self._budget) * share * (1 - 1e-9)

    @property
    def capacity(self) -> float:
        """The budget without what is reserved, in the filter's unit (`rule.unit`), for one query."""
        return self._rule.capacity(self._budget) * (1 - math.fsum(self._reserves.values()))

    @property
    def divisible(self) -> float:
        """The same for several queries: the rounding of their costs is taken off."""
        return self.capacity * (1 - 1e-9)

    @property
    def spent(self) -> float:
        """The costs that were charged so far, in the filter's unit; of a lost answer once it was asked for again."""
        if self._log is None:
            return self._cost(self.events)
        return self._cost_of(range(1, 1 + max(self._answered, default=0)))

    @property
    def lost(self) -> float:
        """The part of `spent` for answers that were lost when an earlier run was killed: so much less is left."""
        if self._log is None:
            return 0.0
        return self._cost_of(sorted({*range(1, 1 + max(self._answered, default=0))} - {*self._answered}))

    def noise(self, cost: float) -> CountNoise:
        """The noise of one query that costs `cost` in the filter's unit, and never more."""
        return noise_of(self._rule.event(cost))

    def _affords(self, records: list[dict[str, Any]]) -> bool:
        if not super()._affords(records):
            return False
        return not self._reserves or self._cost([Charge.from_json(record).event for record in records]) <= self.capacity

    def _cost_of(self, numbers: Iterable[int]) -> float:
        records = self._release.records()
        return self._cost([Charge.from_json(records[number - 1]).event for number in numbers])

    def _cost(self, events: Sequence[PrivacyEvent]) -> float:
        return math.fsum(self._rule.cost(event) for event in events)
