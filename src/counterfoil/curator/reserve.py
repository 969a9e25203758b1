"""Shares of the budget that are kept back for queries after a synthesizer's own."""

from __future__ import annotations

import math
from dataclasses import dataclass

from counterfoil.accounting.filter import ConcentratedFilter, Filter, GaussianFilter
from counterfoil.accounting.replacement import ANY_QUESTION, COUNTS_WITH_GAUSSIAN_NOISE


@dataclass(frozen=True)
class Reserve:
    """A share that is kept for one purpose.

    Args:
        share: of the budget.
        counts: whether nothing but numbers of records in disjoint cells will be asked.
    """

    share: float
    counts: bool

    @classmethod
    def of(cls, share: float, *, counts: bool) -> Reserve:
        """A reserve of a share that a user stated.

        Raises:
            ValueError: unless it lies between 0 and 1.
        """
        if not 0 < share < 1:
            raise ValueError(f"The share of the budget that is reserved must lie between 0 and 1. Found {share!r}.")
        return cls(float(share), counts)

    def replacement_factor(self, rule: Filter) -> float:
        """The largest factor of the queries that will be asked (see `accounting.replacement`).

        Of counts with Gaussian noise it is the square root of 2; the noise follows from the rule.
        """
        gaussian = isinstance(rule, (GaussianFilter, ConcentratedFilter))
        return COUNTS_WITH_GAUSSIAN_NOISE if self.counts and gaussian else ANY_QUESTION


class Reserves:
    """What one release keeps back, by purpose."""

    def __init__(self) -> None:
        self._kept: dict[str, Reserve] = {}

    def keep(self, reserve: Reserve, purpose: str) -> None:
        """Keeps a share for a purpose, in place of the one that was kept for it.

        Raises:
            ValueError: unless all shares are together below 1.
        """
        others = math.fsum(kept.share for name, kept in self._kept.items() if name != purpose)
        if not others + reserve.share < 1:
            raise ValueError(
                f"The shares of the budget that are reserved must together be below 1. Found {reserve.share:g} beside "
                f"{others:g}: reserve less."
            )
        self._kept[purpose] = reserve

    @property
    def share(self) -> float:
        """Of the budget, for all purposes together."""
        return math.fsum(kept.share for kept in self._kept.values())

    @property
    def shares(self) -> dict[str, float]:
        """Of the budget, by purpose."""
        return {purpose: kept.share for purpose, kept in self._kept.items()}

    def replacement_factor(self, rule: Filter, own: float) -> float:
        """The largest factor of a method's queries, which have at most `own`, and of those that follow them."""
        return max((own, *(kept.replacement_factor(rule) for kept in self._kept.values())))
