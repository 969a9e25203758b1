"""Records that repeat the names of the columns, as tables have them that were put together of several: NOT PRIVATE.

Each cell of such a record is of another column's kind, so that every column says of it what to do about values, and
none that it is no record.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.schema import Schema
from counterfoil.schema.placement import Placement

_FEWEST_COLUMNS = 2
"""A single column may well have its name as a value."""
_AS_NAMES = (Placement.UNREADABLE, Placement.OTHER, Placement.MISSING)
"""How names are placed: hardly one is a number, a date or a category, and some are words for missing."""


class RepeatedNames:
    """How many records repeated the names of all columns so far, batch by batch."""

    def __init__(self, schema: Schema):
        self._names = [column.name for column in schema.synthesized if column.name not in schema.between]
        self._count = 0

    def add(self, batch: RawBatch) -> None:
        """Counts the records of a batch; columns that can't be read say nothing."""
        names = [name for name in self._names if name in batch.cells and batch.holds_texts(name)]
        if len(names) < _FEWEST_COLUMNS:
            return
        rows = np.arange(batch.rows)
        for name in names:
            rows = rows[np.isin(batch.cells[name].placements[rows], _AS_NAMES)]
        for name in names:
            if len(rows):
                rows = rows[np.array([text.strip() == name.strip() for text in batch.texts(name, rows)])]
        self._count += len(rows)

    def notes(self) -> Iterator[ColumnNote]:
        """One for the table, said of its first column."""
        if not self._count:
            return
        one = self._count == 1
        yield ColumnNote(
            self._names[0],
            "repeated_names",
            f"in {self._count:,} {'record' if one else 'records'} it holds its own name, and so do the other columns "
            f"that are read. Lines of names are read as records where a table was put together of several: delete "
            f"{'it' if one else 'them'} from the table.",
            self._count,
        )
