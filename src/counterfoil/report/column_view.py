"""One column as a report shows it: which bars there are, how high, and how far each may be off."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterfoil.receipt.schema_check import warnings_by_column
from counterfoil.receipt.wording import condition_of
from counterfoil.report.noisy_shares import NoisyShares, noisy_shares
from counterfoil.report.release import ReleaseFacts
from counterfoil.schema.column import Column
from counterfoil.synthesis.bars import Bars, bars_of
from counterfoil.synthesis.point_synthesis import PointSynthesis


@dataclass(frozen=True, eq=False)
class ColumnView:
    """One column of a release.

    Args:
        column: its public facts.
        shares: float64 [codes], of the synthetic rows or of the weighted points.
        noisy: what the receipt says of the real shares; None where it says nothing.
        bars: what is drawn.
        apart: single numbers that have a code of their own among intervals, drawn as a bar of their own.
        off_by: the largest share of the real records that may be in other codes, with probability 95%; None where the
            release bounds nothing.
        changed: what the schema check says that the schema did to its cells.
    """

    column: Column
    shares: np.ndarray
    noisy: NoisyShares | None
    bars: Bars
    apart: Bars | None
    off_by: float | None
    changed: tuple[str, ...] = ()

    @property
    def missing(self) -> float | None:
        """The share of rows without a value; None where the schema declares no missing ones."""
        return None if self.column.missing_code is None else float(self.shares[self.column.missing_code])


def column_views(facts: ReleaseFacts) -> list[ColumnView]:
    """Each synthesized column in the schema's order; none where no schema is known."""
    changed = warnings_by_column(facts.receipt.document)
    synthesized = () if facts.schema is None else facts.schema.synthesized
    return [_view(facts, column, tuple(changed.get(column.name, ()))) for column in synthesized]


def released_shares(facts: ReleaseFacts, column: Column) -> np.ndarray:
    """float64 [codes]: the shares of the synthetic rows, or the weights of the points behind them."""
    if isinstance(facts.kept, PointSynthesis):
        codes = column.encode(facts.kept.support.column(column.name))
        return np.bincount(codes, weights=facts.kept.weights, minlength=column.size)
    return facts.shares[column.name]


def _view(facts: ReleaseFacts, column: Column, changed: tuple[str, ...]) -> ColumnView:
    # Counts are of all records, and say nothing about rows that meet a condition.
    whole = condition_of(facts.receipt.document) is None
    shares, noisy = released_shares(facts, column), noisy_shares(facts.counted, column.name) if whole else None
    bars, apart = bars_of(column, shares, noisy)
    return ColumnView(column, shares, noisy, bars, apart, _off_by(facts, column.name), changed)


def _off_by(facts: ReleaseFacts, name: str) -> float | None:
    if facts.kept is None or isinstance(facts.kept, PointSynthesis):
        return None
    fraction = facts.kept.error_bars.bar((name,), 0.05).fraction
    return None if fraction >= 2 else fraction / 2
