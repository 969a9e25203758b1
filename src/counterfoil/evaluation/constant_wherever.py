"""Columns with one value wherever another column has some: no discount of private customers. NOT PRIVATE.

Rows of a copy have others there. A rule on the two columns keeps to it, and costs nothing. Where the column has this
value nowhere else, `skip_notes` says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.code_conditions import constant, is_exact, named_codes, shown
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.equal_wherever import most_frequent
from counterfoil.evaluation.pasted_names import can_be_pasted
from counterfoil.evaluation.skip_notes import MOST_SKIPPED
from counterfoil.evaluation.wherever_counts import Decided, Fact, Signs
from counterfoil.listing import first_few
from counterfoil.schema import Schema
from counterfoil.schema.boolean import Boolean
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.expression import column_text
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

_SAMPLED = 1000
"""Records of a batch, spread over it, that say which number most have."""
_MOST_NUMBERS = 2
"""Of a column: what most records of one batch have, and of another one, in a table that is sorted."""
_MOST_NAMED = 4


@dataclass(frozen=True)
class Value:
    """One value of a column, or missing cells.

    Args:
        column: its name.
        code: of a category, a truth or missing cells; None for a number.
        number: where it is one.
    """

    column: str
    code: int | None = None
    number: float = np.nan

    @property
    def names(self) -> frozenset[str]:
        """The column that it is about."""
        return frozenset((self.column,))


class ConstantValues:
    """Each category of columns of few, each truth, the number that most records have, and missing cells."""

    def __init__(self, schema: Schema):
        self._columns = {column.name: column for column in schema.synthesized if can_be_pasted(column.name)}
        self._values = {name: [*_coded(column)] for name, column in self._columns.items()}

    def facts(self, batch: RawBatch) -> Mapping[Fact, Signs]:
        """Of each value, which records have it and which have another one; missing cells have none."""
        found: dict[Fact, Signs] = {}
        for name, column in self._columns.items():
            if (cells := batch.cells.get(name)) is None:
                continue
            if isinstance(column, Integer | Real) and cells.numbers is not None:
                self._add_number(column, cells.numbers[:: -(-batch.rows // _SAMPLED)])
            for value in self._values[name]:
                own = cells.codes if value.number != value.number else cells.numbers
                assert own is not None
                found[value] = _signs(own, value, column.missing_code)
        return found

    def _add_number(self, column: Integer | Real, numbers: np.ndarray) -> None:
        number, known = most_frequent(numbers), self._values[column.name]
        value = Value(column.name, number=float("nan") if number is None else number)
        if number is None or value in known or sum(one.code is None for one in known) >= _MOST_NUMBERS:
            return
        if _has_a_code(column, number):
            known.append(value)

    def notes(self, found: Sequence[Decided]) -> Iterator[ColumnNote]:
        """One for all columns that have the same value wherever another one has some values."""
        groups: dict[tuple[str, str, str], list[Value]] = {}
        support: dict[Value, int] = {}
        for decided in found:
            value = decided.fact
            assert isinstance(value, Value)
            groups.setdefault((decided.gate, decided.where, self._said(value)), []).append(value)
            support[value] = decided.support
        for (gate, where, said), values in groups.items():
            text = self._text(values, where, said)
            yield ColumnNote(values[0].column, "wherever", text, support[values[0]], gate=gate)

    def is_said(self, decided: Decided) -> bool:
        """Whether `AbsentCounts` does not say it: that a column is missing wherever another one is."""
        value = decided.fact
        assert isinstance(value, Value)
        return not (decided.missing and value.code == self._columns[value.column].missing_code is not None)

    def _said(self, value: Value) -> str:
        """The value, as a sentence has it."""
        column = self._columns[value.column]
        if value.code is None:
            return _number(value.number)
        return "missing" if value.code == column.missing_code else f'"{column.labels[value.code]}"'

    def _text(self, values: Sequence[Value], where: str, said: str) -> str:
        value, column = values[0], self._columns[values[0].column]
        of = column_text(value.column)
        if value.code is not None and value.code == column.missing_code:
            then = f"{of} is missing"
        else:
            then = f"{of} == {_number(value.number) if value.code is None else constant(column, value.code)}"
        others = [one.column for one in values[1:]]
        more = f"; the like is true of {first_few(others, _MOST_NAMED)}" if others else ""
        return (
            f"it is {said} wherever {shown(where)}, and elsewhere not always{more}. Rows of a copy will not all keep "
            f'to it. Where none can be otherwise, add the rule if = "{where}", then = "{then}".'
        )


def _coded(column: Column) -> Iterator[Value]:
    if isinstance(column, Categorical | Boolean) and is_exact(column):
        named = named_codes(column)
        yield from (Value(column.name, code) for code in (named if len(named) <= MOST_SKIPPED else ()))
    if column.missing_code is not None:
        yield Value(column.name, column.missing_code)


def _signs(own: np.ndarray, value: Value, missing: int | None) -> Signs:
    def signs(part: slice) -> np.ndarray:
        cells = own[part]
        if value.code is None:
            return np.where(np.isnan(cells), 0, np.where(cells == value.number, 1, -1)).astype(np.int8)
        known = cells >= 0 if missing is None or value.code == missing else (cells >= 0) & (cells != missing)
        return np.where(known, np.where(cells == value.code, 1, -1), 0).astype(np.int8)

    return signs


def _has_a_code(column: Integer | Real, number: float) -> bool:
    """Whether the number has a code of its own, or will where a rule names it."""
    lows, highs = column.ranges
    alone = bool(((lows == number) & (highs == number)).any())
    return column.bounds[0] <= number <= column.bounds[1] and (alone or column.is_undivided)


def _number(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:.15g}"
