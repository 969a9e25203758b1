"""A share of the budget that is kept back for queries after a synthesizer's own."""

from __future__ import annotations

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

    def replacement_factor(self, rule: Filter) -> float:
        """The largest factor of the queries that will be asked (see `accounting.replacement`).

        Of counts with Gaussian noise it is the square root of 2; the noise follows from the rule.
        """
        gaussian = isinstance(rule, (GaussianFilter, ConcentratedFilter))
        return COUNTS_WITH_GAUSSIAN_NOISE if self.counts and gaussian else ANY_QUESTION
