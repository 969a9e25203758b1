"""A filter for those who sample batches and adapt: Renyi divergences at one order add up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve import certified
from counterfoil.accounting.curve_bounds import concentrated_delta_bound
from counterfoil.accounting.event import GaussianEvent, PrivacyEvent
from counterfoil.accounting.filter import NEVER_MORE, Filter, usable_budget, with_slack
from counterfoil.accounting.renyi import renyi_divergence

LARGEST_ORDER = 1024
_ORDERS = (*range(2, 12), 13, 15, 18, 22, 26, 32, 40, 50, 64, 80, 100, 128, 180, 256, 512, 1024)


@dataclass(frozen=True)
class RenyiFilter(Filter):
    """Renyi divergences at one order add up, also where noise and sampling are chosen after earlier answers.

    Formal guarantee: for mechanisms chosen adaptively, the sum of their Renyi divergences at an order a, fixed before
    the first answer, bounds that of all together where it is bounded in advance (Feldman and Zrnic 2021),
    and a divergence R at the order a is (epsilon, delta)-private with
    delta = e**((a - 1) (R - epsilon)) (1 - 1/a)**a / (a - 1) (Canonne, Kamath and Steinke 2020, Proposition 12).

    Args:
        order: a whole number from 2 to 1024, which must not depend on the records; `for_run` chooses a good one.

    Raises:
        ValueError: for another order.
    """

    order: int
    unit: ClassVar[str] = "renyi_divergence"

    def __post_init__(self) -> None:
        if isinstance(self.order, bool) or not isinstance(self.order, int) or not 2 <= self.order <= LARGEST_ORDER:
            raise ValueError(f"`order` must be a whole number from 2 to {LARGEST_ORDER}. Found {self.order!r}.")

    @property
    def name(self) -> str:
        return f"renyi-{self.order}"

    @staticmethod
    def named(name: str) -> RenyiFilter:
        """The filter of that name.

        Raises:
            ValueError: for any other name.
        """
        start, _, order = str(name).partition("-")
        if start != "renyi" or not (order.isascii() and order.isdigit()) or str(int(order)) != order:
            raise ValueError(f"A Renyi filter is called 'renyi-' and its order, as in 'renyi-8'. Found {name!r}.")
        return RenyiFilter(int(order))

    @staticmethod
    def for_run(events: Sequence[PrivacyEvent], delta: float) -> RenyiFilter:
        """The filter with about the least epsilon for a run with `events`, which are what one expects to spend.

        Args:
            events: as planned; other ones may be asked of the filter later.
            delta: in (0, 1).

        Raises:
            ValueError: for events that no order covers.
        """
        best, least, worse = RenyiFilter(_ORDERS[0]), math.inf, 0
        for order in _ORDERS:
            rule = RenyiFilter(order)
            epsilon = rule.epsilon(events, delta)
            if epsilon < least:
                best, least, worse = rule, epsilon, 0
            elif least < math.inf:
                worse += 1
                if worse == 2:
                    break
        if least == math.inf:
            raise ValueError(f"`events` must be covered by a Renyi filter with `delta`. Found {[*events]} and {delta}.")
        return best

    def capacity(self, budget: Budget) -> float:
        within = usable_budget(budget, self.name)
        capacity = within.epsilon - self._conversion(within.delta)
        if not capacity > 0:
            raise ValueError(
                f"`order` must be larger for epsilon {budget.epsilon} at delta {budget.delta}. Found {self.order}: "
                "choose one by `RenyiFilter.for_run`."
            )
        return certified(capacity * (1 - 1e-9), -1e-9, lambda cost: self._delta(within.epsilon, cost), within.delta)

    def cost(self, event: PrivacyEvent) -> float:
        return renyi_divergence(event, self.order)

    def event(self, cost: float) -> GaussianEvent:
        return GaussianEvent(math.sqrt(self.order / (2 * cost)) * NEVER_MORE)

    def epsilon_of(self, cost: float, delta: float) -> float:
        return with_slack(self._epsilon_of, cost, delta)

    def epsilon_within(self, budget: Budget, factor: float) -> float:
        """Infinite for a factor above 1: with sampling, a divergence can grow with any power of a sensitivity."""
        if factor > 1:
            return math.inf
        return self.epsilon_of(self.capacity(budget), self.delta(budget))

    def _epsilon_of(self, cost: float, delta: float) -> float:
        epsilon = max(cost + self._conversion(delta), 1e-15)
        return certified(epsilon * (1 + 1e-12), 1e-11, lambda at: self._delta(at, cost), delta)

    def _conversion(self, delta: float) -> float:
        """What `delta` adds to a divergence, which may be less than nothing."""
        excess = self.order - 1
        return (self.order * math.log1p(-1 / self.order) - math.log(excess) - math.log(delta)) / excess

    def _delta(self, epsilon: float, cost: float) -> Decimal:
        return concentrated_delta_bound(epsilon, cost / self.order * (1 + 1e-15), self.order - 1)
