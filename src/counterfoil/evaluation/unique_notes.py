"""Columns of whole numbers that are another one in every record, as row names and case numbers are: NOT PRIVATE.

A copy draws them as any other number, pairs others with them, and spends a part of the budget on that.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.schema import Schema
from counterfoil.schema.integer import Integer

MOST_RECORDS = 1_000_000
"""Of a larger table nothing is said: all numbers are kept."""
NO_CHANCE = 20.0
"""Pairs of equal numbers that as many drawn from their range would have, from which on it is no chance that none is."""


class UniqueCounts:
    """Which columns of whole numbers held no number twice so far, batch by batch. Missing cells say nothing."""

    def __init__(self, schema: Schema):
        self._seen = {column.name: np.empty(0) for column in schema.synthesized if isinstance(column, Integer)}

    def add(self, batch: RawBatch) -> None:
        """Looks at the records of a batch."""
        kept = {}
        for name, seen in self._seen.items():
            cells = batch.cells.get(name)
            if cells is None or cells.numbers is None:
                continue
            both = np.concatenate([seen, cells.numbers[np.isfinite(cells.numbers)]])
            if len(both) <= MOST_RECORDS and len(np.unique(both)) == len(both):
                kept[name] = both
        self._seen = kept

    def notes(self) -> Iterator[ColumnNote]:
        """One for each column that holds no number twice, by no chance."""
        for name, seen in self._seen.items():
            count = len(seen)
            if count and count * (count - 1) / (2 * (np.ptp(seen) + 1)) >= NO_CHANCE:
                yield ColumnNote(name, "unique", _TEXT, count)


_TEXT = (
    "no two records have the same number. Where it numbers or names the records, it says nothing about them, and a "
    'copy spends budget on it: declare kind = "identifier" (with replace = "sequence" rows are numbered anew).'
)
