"""Columns that are the sum of two others in every record, such as a total and its parts: NOT PRIVATE.

A copy draws all three, and in hardly a row is the total that of its parts. A derived column keeps to it, costs nothing,
and leaves the budget to the parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.schema import Schema
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

MOST_COLUMNS = 60
"""Of numbers: of more, their triples are too many."""
FEWEST = 20
"""Records in which both parts are other than 0, from which on it is no chance that each sum is right."""
_SCREENED = 40
"""Records that all triples are looked at in; few are left for the others."""
_ROUNDING = 1e-9
"""Of the size of a sum."""

Triple = tuple[int, int, int]
"""The two parts and the sum, by their places."""


class SumCounts:
    """Which columns of numbers were the sum of which others so far, batch by batch.

    Records that miss one of the three say nothing. Numbers are those of the table, before they are clamped.
    """

    def __init__(self, schema: Schema):
        names = [column.name for column in schema.synthesized if isinstance(column, Integer | Real)]
        self._names = names if 3 <= len(names) <= MOST_COLUMNS else []
        self._bound = [set(rule.columns) for rule in schema.bound_rules]
        self._seen: dict[Triple, int] | None = None

    def add(self, batch: RawBatch) -> None:
        """Looks at the records of a batch."""
        if not self._names or not batch.rows:
            return
        numbers = numbers_of(batch, self._names)
        if self._seen is None:
            self._seen = dict.fromkeys(_candidates(numbers), 0)
        found = {triple: _records(numbers, triple) for triple in self._seen}
        self._seen = {triple: self._seen[triple] + count for triple, count in found.items() if count >= 0}

    def notes(self) -> Iterator[ColumnNote]:
        """One for each sum that is none by chance, and that no rule names with its parts."""
        for (one, other, total), count in (self._seen or {}).items():
            names = [self._names[place] for place in (one, other, total)]
            if count >= FEWEST and not any(set(names) <= bound for bound in self._bound):
                yield ColumnNote(names[2], "sum", _text(names[0], names[1]), count)


def numbers_of(batch: RawBatch, names: Sequence[str]) -> np.ndarray:
    """float64 [names, records]: numbers of a batch as the table has them; NaN for none."""
    numbers = np.full((len(names), batch.rows), np.nan)
    for place, name in enumerate(names):
        cells = batch.cells.get(name)
        if cells is not None and cells.numbers is not None:
            numbers[place] = np.where(np.isfinite(cells.numbers), cells.numbers, np.nan)
    return numbers


def as_named(name: str) -> str:
    """A column as expressions name it."""
    return name if name.isidentifier() else f"`{name}`"


def _candidates(numbers: np.ndarray) -> list[Triple]:
    """Those that hold in some records: in the ones that have most numbers, of which one has all three."""
    known = np.isfinite(numbers).sum(axis=0)
    few = numbers[:, np.argsort(-known, kind="stable")[:_SCREENED]]
    found = []
    for one in range(len(few)):
        sums = few[one] + few[one + 1 :]
        for total in range(len(few)):
            off = _off(few[one], sums, few[total])
            holds = ~(off > 0).any(axis=1) & np.isfinite(off).any(axis=1)
            found += [(one, one + 1 + int(place), total) for place in np.flatnonzero(holds)]
    return [(one, other, total) for one, other, total in found if total not in (one, other)]


def _records(numbers: np.ndarray, triple: Triple) -> int:
    """How many records speak for it, with two parts that are not 0; -1 where one speaks against it."""
    first, second, total = (numbers[place] for place in triple)
    off = _off(first, first + second, total)
    if (off > 0).any():
        return -1
    return int((np.isfinite(off) & (first != 0) & (second != 0)).sum())


def _off(first: np.ndarray, sums: np.ndarray, total: np.ndarray) -> np.ndarray:
    """How far sums are from a total, beyond what rounding explains; NaN where one of the three is missing."""
    return np.abs(sums - total) - _ROUNDING * (np.abs(sums) + np.abs(first))


def _text(one: str, other: str) -> str:
    return (
        f"in all records it is {one} + {other}, and hardly a row of a copy will keep to it. Where that is what it "
        f'means, make it a derived column with expression = "{as_named(one)} + {as_named(other)}".'
    )
