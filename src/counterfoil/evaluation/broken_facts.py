"""Facts that a schema states of every record, and the records of which they are false: NOT PRIVATE.

A synthesizer makes no row that breaks them. Where real records do, it rewrites these, and its copy lacks them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.schema import Schema
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.expression import Expression, Range, Truth
from counterfoil.schema.placement import PlacedCells, Placement
from counterfoil.schema.rules import Rule, Zeros, impossible_cells

FIRST_BROKEN = 5

Breaks = Callable[[Mapping[str, PlacedCells]], np.ndarray]


@dataclass(frozen=True)
class BrokenFact:
    """A fact, and the records that speak against it.

    Args:
        kind: "rule", "zeros" or "derived".
        fact: what is stated.
        count: how many records break it.
        rows: the first of them, from 0 or as `renumbered`.
        problem: why it could not be checked; empty where it could.
    """

    kind: str
    fact: str
    count: int
    rows: tuple[int, ...]
    problem: str = ""

    @property
    def holds(self) -> bool:
        """Whether it is true of each record."""
        return not self.count and not self.problem

    def renumbered(self, numbers: Mapping[int, int]) -> BrokenFact:
        """The same with other numbers of rows."""
        rows = tuple(numbers[row] for row in self.rows)
        return BrokenFact(self.kind, self.fact, self.count, rows, self.problem)


class FactCount:
    """One fact, and the records that were found to break it so far."""

    def __init__(self, kind: str, fact: str):
        self.kind = kind
        self.fact = fact
        self._count = 0
        self._rows: list[int] = []
        self._problem = ""

    def add(self, broken: np.ndarray, first_row: int) -> None:
        """Counts bool [n], of which the first is row `first_row` of the table."""
        where = np.flatnonzero(broken)
        self._count += len(where)
        self._rows += (first_row + where[: FIRST_BROKEN - len(self._rows)]).tolist()

    def fail(self, problem: str) -> None:
        """Notes that the fact can't be checked."""
        self._problem = problem

    @property
    def found(self) -> BrokenFact:
        """What was found."""
        return BrokenFact(self.kind, self.fact, self._count, tuple(self._rows), self._problem)


class BrokenFacts:
    """Counts the records that break each rule and each list of zeros, batch by batch.

    Values count as they stand, before they are clamped. As for a synthesizer, a rule is broken where it is false, and
    not where a missing value, or one that is not understood, leaves it open.
    """

    def __init__(self, schema: Schema):
        columns = {column.name: column for column in schema.synthesized}
        stated = [(FactCount("rule", rule.text), *_rule(rule, columns)) for rule in schema.rules]
        stated += [(FactCount("zeros", _text(zeros)), *_zeros(zeros, columns)) for zeros in schema.zeros]
        self._stated = stated

    def add(self, batch: RawBatch) -> None:
        """Counts the records of a batch."""
        for count, about, breaks in self._stated:
            unread = [name for name in about if name not in batch.cells]
            if unread:
                count.fail(f"Not checked: column {unread[0]!r} can't be read.")
            else:
                count.add(breaks(batch.cells), batch.first_row)

    @property
    def found(self) -> tuple[BrokenFact, ...]:
        """All facts in the schema's order, those that hold too."""
        return tuple(count.found for count, _, _ in self._stated)


def _text(zeros: Zeros) -> str:
    return f"zeros of {' and '.join(zeros.columns)}"


def _rule(rule: Rule, columns: Mapping[str, Column]) -> tuple[Sequence[str], Breaks]:
    expressions = [Expression(text, columns) for text in (rule.condition, rule.then) if text]
    names = tuple(dict.fromkeys(name for expression in expressions for name in expression.columns))

    def breaks(cells: Mapping[str, PlacedCells]) -> np.ndarray:
        numbers = {name: _positions(columns[name], cells[name]) for name in names}
        truths = [expression({name: Range(each, each) for name, each in numbers.items()}) for expression in expressions]
        truth: Truth = ~truths[0] | truths[1] if rule.condition else truths[0]
        return np.broadcast_to(truth.false, len(cells[names[0]].codes))

    return names, breaks


def _positions(column: Column, cells: PlacedCells) -> np.ndarray:
    """float64 [n]: the number by which rules compare each cell, before it is clamped; NaN where it has none."""
    if isinstance(column, Categorical):
        scale = np.append(column.ranges[0][: column.n_bins], np.nan)
        return np.asarray(scale[np.where(cells.codes < 0, column.n_bins, cells.codes)])
    assert cells.numbers is not None, "all other columns lie on a line"
    return cells.numbers


def _zeros(zeros: Zeros, columns: Mapping[str, Column]) -> tuple[Sequence[str], Breaks]:
    names, impossible = impossible_cells(zeros, columns)

    def breaks(cells: Mapping[str, PlacedCells]) -> np.ndarray:
        # A value that is listed has a code of its own, which only clamped values share.
        declared = np.all([cells[name].placements == Placement.DECLARED for name in names], axis=0)
        codes = tuple(np.where(declared, cells[name].codes, 0) for name in names)
        return np.asarray(declared & impossible[codes])

    return names, breaks
