"""Columns of numbers that come in one order in every record, such as a part and its total: NOT PRIVATE.

Dates that a table counts as days are numbers too, and so are a lower and an upper end. Ages are below salaries
whatever a copy does; said are orders that rows would break whose columns had nothing to do with each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.pasted_names import pasted
from counterfoil.evaluation.sum_notes import MOST_COLUMNS, numbers_of
from counterfoil.schema import Schema
from counterfoil.schema.expression import column_text
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real
from counterfoil.schema.toml_text import toml_value

LEAST_BROKEN = 0.05
"""Of the rows, were the two columns unrelated: an order that fewer would break is that of their ranges."""
FEWEST = 20
"""Records that would break an order by chance, from which on it is no chance that none does; and that are not equal."""
_SCREENED = 1000
"""Records that all pairs are compared in first: few are left for the others. They also say what unrelated rows do."""


class NumberOrderCounts:
    """Which columns of numbers were never above which others so far, batch by batch.

    Records that miss one of the two say nothing. Numbers are those of the table, before they are clamped.
    """

    def __init__(self, schema: Schema):
        names = pasted(column.name for column in schema.synthesized if isinstance(column, Integer | Real))
        self._names = names if 2 <= len(names) <= MOST_COLUMNS else []
        self._bound = [set(rule.columns) for rule in schema.bound_rules]
        self._unrelated: dict[tuple[int, int], float] | None = None
        self._counts: dict[tuple[int, int], np.ndarray] = {}

    def add(self, batch: RawBatch) -> None:
        """Compares the records of a batch."""
        if not self._names or not batch.rows:
            return
        numbers = numbers_of(batch, self._names)
        if self._unrelated is None:
            few = numbers[:, :: max(1, batch.rows // _SCREENED)]
            self._unrelated = _broken_unless_related(few)
            self._counts = {pair: np.zeros(2, dtype=np.int64) for pair in self._unrelated}
            self._counts = {pair: counts for pair, counts in self._counts.items() if _compared(few, pair) is not None}
        for pair, counts in [*self._counts.items()]:
            if (found := _compared(numbers, pair)) is None:
                del self._counts[pair]
            else:
                counts += found

    def notes(self) -> Iterator[ColumnNote]:
        """One for each two columns in one order, between which no third one says it, and that no rule names."""
        found = {pair for pair in self._counts if self._is_no_chance(pair)}
        for first, last in sorted(found, key=lambda pair: pair[::-1]):
            if any((first, other) in found and (other, last) in found for other in range(len(self._names))):
                continue
            one, other = self._names[first], self._names[last]
            if not any({one, other} <= bound for bound in self._bound):
                yield ColumnNote(other, "order", _text(one, other), int(self._counts[first, last][1]), source=one)

    def _is_no_chance(self, pair: tuple[int, int]) -> bool:
        assert self._unrelated is not None, "records were compared"
        known, apart = self._counts[pair].tolist()
        return self._unrelated[pair] * known >= FEWEST and apart >= FEWEST


def _broken_unless_related(numbers: np.ndarray) -> dict[tuple[int, int], float]:
    """Which share of rows would have the first column above the second, were the two unrelated, where it is large.

    Of records that have both numbers: an income of 0 where no hours are worked is below none of them.
    """
    known, found = np.isfinite(numbers), {}
    for first, last in itertools.permutations(range(len(numbers)), 2):
        both = known[first] & known[last]
        if both.any():
            others = np.sort(numbers[last, both])
            above = float(np.searchsorted(others, numbers[first, both], side="left").mean()) / len(others)
            if above >= LEAST_BROKEN:
                found[first, last] = above
    return found


def _compared(numbers: np.ndarray, pair: tuple[int, int]) -> tuple[int, int] | None:
    """How many records have both numbers, and different ones; None where the first is above the second in one."""
    first, last = (numbers[place] for place in pair)
    if (first > last).any():
        return None
    return int((first <= last).sum()), int((first < last).sum())


def _text(first: str, last: str) -> str:
    order = f"{column_text(first)} <= {column_text(last)}"
    return (
        f"in no record is it below {first}, and noise knows no order: many rows of a copy will break it. Where none "
        f'can be, as no total below its part, add the rule require = "{order}", or, '
        f"where it matters how far they lie apart, count `between = {toml_value([first, last])}` in its place."
    )
