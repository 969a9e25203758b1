"""Columns that are the same in all rows of a person, such as the sex of a patient with several stays: NOT PRIVATE.

Rows of a copy are drawn one by one, so that those of one identifier have several sexes. No rule keeps to it; a release
with one row of each person does.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.listing import first_few
from counterfoil.schema import Schema
from counterfoil.schema.placement import PlacedCells

MOST_UNITS = 1 << 20
"""Units of which the first row is remembered; of more, those of a random half are, and so on."""
_NO_CHANCE = 14.0
"""Minus the log of the probability, one in a million, that rows of one unit agree in any column by chance."""
_MOST_NAMED = 6


class UnitCounts:
    """Which columns were the same in all rows of each privacy unit so far, batch by batch.

    Numbers are those of the table, before they are clamped, and categories those of the schema. A row without an id is
    a unit of its own.

    Args:
        schema: the public facts about the table.
        unit: the column whose values are the units, as the table has it.
    """

    def __init__(self, schema: Schema, unit: str):
        self._unit = unit
        self._columns = tuple(column.name for column in schema.synthesized if column.name != unit)
        self._below = np.iinfo(np.int64).max
        self._ids = np.empty(0, dtype=np.int64)
        self._rows = np.empty(0, dtype=np.int64)
        self._first: dict[str, np.ndarray] = {name: np.empty(0, dtype=np.int64) for name in self._columns}

    def add(self, batch: RawBatch) -> None:
        """Compares each row with the first one of its unit; a column that can't be read is compared no more."""
        texts, places = batch.ids
        ids = np.array([hash(text) for text in texts] or [0], dtype=np.int64)[places]
        looked = np.flatnonzero((places >= 0) & (ids < self._below))
        units, first, which = np.unique(ids[looked], return_index=True, return_inverse=True)
        places = np.searchsorted(self._ids, units)
        known = np.zeros(len(units), dtype=bool)
        known[places < len(self._ids)] = self._ids[places[places < len(self._ids)]] == units[places < len(self._ids)]
        left: dict[str, np.ndarray] = {}
        for name, before in self._first.items():
            if name in batch.cells:
                own = _marks(batch.cells[name])[looked]
                begins = own[first]
                if np.array_equal(begins[which], own) and np.array_equal(before[places[known]], begins[known]):
                    left[name] = np.concatenate([before, begins[~known]])
        counts = np.bincount(which, minlength=len(units))
        self._rows[places[known]] += counts[known]
        self._rows = np.concatenate([self._rows, counts[~known]])
        self._keep(np.concatenate([self._ids, units[~known]]), left)

    def _keep(self, ids: np.ndarray, first: dict[str, np.ndarray]) -> None:
        """Keeps units in the order of their ids, and not more than there is room for."""
        order = np.argsort(ids, kind="stable")
        while len(order) > MOST_UNITS:
            order = order[: len(order) // 2]
            self._below = int(ids[order[-1]]) + 1
        self._ids, self._rows = ids[order], self._rows[order]
        self._first = {name: own[order] for name, own in first.items()}

    def notes(self) -> Iterator[ColumnNote]:
        """One for all columns of which it is no chance."""
        found = [name for name in self._columns if name in self._first and self._is_no_chance(self._first[name])]
        if found:
            yield ColumnNote(found[0], "unit", self._text(found[1:]), len(found), source=self._unit)

    def _is_no_chance(self, first: np.ndarray) -> bool:
        """Whether rows of one unit would not agree so often, were they drawn as the first rows of all units are."""
        if not len(first):
            return False
        _, counts = np.unique(first, return_counts=True)
        agree = float(((counts / len(first)) ** 2).sum())
        further = int((self._rows - 1).sum())
        return bool(-further * np.log(agree) > _NO_CHANCE + np.log(len(self._columns)))

    def _text(self, others: list[str]) -> str:
        several, alike = int((self._rows > 1).sum()), ""
        if others:
            alike = f", as {'are' if len(others) > 1 else 'is'} {first_few(others, _MOST_NAMED)}"
        looked = "" if self._below == np.iinfo(np.int64).max else " that were looked at"
        return (
            f"it is the same in all rows of each {self._unit}{alike} ({several:,} of {len(self._rows):,}{looked} have "
            f"several). Rows of a copy are drawn one by one: those of one {self._unit}, which `--unit-sizes` "
            f"makes, do not agree in it, and no rule says that they do. To count each {self._unit} once, make another "
            "release with `--max-rows=1`, which has one row of each. The budgets of the two add up, and nothing links "
            "their rows."
        )


def _marks(cells: PlacedCells) -> np.ndarray:
    """int64 [n]: equal where cells are; missing ones are equal too."""
    if cells.numbers is None:
        return cells.codes.astype(np.int64)
    numbers = np.where(np.isnan(cells.numbers), np.nan, cells.numbers + 0.0)  # one zero, one missing number
    return numbers.view(np.int64)
