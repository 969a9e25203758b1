"""Records of which every column is missing, such as the lines that a spreadsheet leaves below a table: NOT PRIVATE.

They are read as records like any other: a copy has rows for them, and each column more missing cells.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.schema import Schema
from counterfoil.schema.placement import Placement

_FEWEST_COLUMNS = 3
"""Of fewer it may well be that somebody answered none."""


class EmptyRecords:
    """How many records had no value in any column so far, batch by batch."""

    def __init__(self, schema: Schema):
        self._names = [column.name for column in schema.synthesized]
        self._count = self._rows = 0

    def add(self, batch: RawBatch) -> None:
        """Counts the records of a batch; columns that can't be read say nothing."""
        self._rows += batch.rows
        cells = [batch.cells[name] for name in self._names if name in batch.cells]
        empty = np.full(batch.rows, bool(cells))
        for one in cells:
            empty &= one.placements == Placement.MISSING
        self._count += int(empty.sum())

    def notes(self) -> Iterator[ColumnNote]:
        """One for the table, said of its first column."""
        if len(self._names) < _FEWEST_COLUMNS or not 0 < self._count < self._rows:
            return
        one = self._count == 1
        yield ColumnNote(
            self._names[0],
            "empty_records",
            f"in {self._count:,} {'record' if one else 'records'} it is missing, and so are the other "
            f"{len(self._names) - 1:,} columns. Lines that a spreadsheet leaves below a table, of delimiters alone, "
            f"are read as records: if {'it is one' if one else 'they are some'} of these, delete "
            f"{'it' if one else 'them'} from the table.",
            self._count,
        )
