"""What rows that are drawn from a release must meet: values that columns have, or an expression as in rules."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from counterfoil.schema import Schema
from counterfoil.schema.asked import condition_on, require_synthesized
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.errors import SchemaError, UnplacedValue, did_you_mean
from counterfoil.schema.expression import Expression, Range, Truth
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.mixed_cells import MixedCells, is_null
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.real import Real
from counterfoil.synthesis.grid_values import grid_values, how_many, values_said

_MOST_MISSING = 8
"""Columns of an expression that may be missing, up to which its codes are narrowed before rows are drawn."""
_MOST_AWAITED = 1000
"""Values of a code, up to which rows are drawn again until the requested ones come."""
_MOST_VALUES = 2**18
"""Of a column on a grid, that are tried before rows are drawn."""


@dataclass(frozen=True, eq=False)
class Condition:
    """What drawn rows must meet.

    Args:
        schema: the public facts.
        codes: for some columns, the codes that rows may have there.
        numbers: for some of these, the numbers that rows must have, by their codes, where a code stands for several.
        expression: a condition on the values of a row; None for none.
    """

    schema: Schema
    codes: Mapping[str, list[int]] = field(default_factory=dict)
    numbers: Mapping[str, Mapping[int, list[float]]] = field(default_factory=dict)
    expression: Expression | None = None

    @staticmethod
    def of(schema: Schema, where: Mapping[str, Any] | str | None) -> Condition:
        """The condition that a user wrote.

        Args:
            schema: the public facts.
            where: an expression as in rules, such as "sex == 'F' and age >= 60"; or for some columns the value that
                they must have, or a list of values of which one; None for no condition. A tuple of two numbers, dates
                or moments is refused, for a range may be meant.

        Raises:
            ValueError: for an unknown column, a value that it can't have, text that is no expression, or such a tuple.
        """
        if where is None:
            return Condition(schema)
        if isinstance(where, str):
            return _of_expression(schema, where)
        for name in where:
            require_synthesized(schema, name, f"`where` must name synthesized columns. Found {name!r}.")
        codes: dict[str, list[int]] = {}
        numbers: dict[str, dict[int, list[float]]] = {}
        for name, value in where.items():
            column = schema[name]
            _require_no_range(column, value)
            placed = [_place(column, one) for one in _listed(value)]
            codes[name] = sorted({code for code, _ in placed})
            exact: dict[int, list[float]] = {}
            for code, number in placed:
                if number is not None and number not in exact.setdefault(code, []):
                    exact[code].append(number)
            if exact:
                numbers[name] = exact
        return Condition(schema, codes, numbers)

    @property
    def is_of_codes(self) -> bool:
        """Whether codes decide it, so that every row of the model's conditional distribution meets it."""
        return self.expression is None and not self.numbers

    def holds(self, table: pa.Table) -> np.ndarray:
        """bool [rows]: which rows of `table` meet the expression; all, where there is none."""
        if self.expression is None:
            return np.ones(table.num_rows, dtype=bool)
        ranges = {}
        for name in self.expression.columns:
            numbers = self.schema[name].positions(table.column(name))
            ranges[name] = Range(numbers, numbers)
        return np.broadcast_to(_surely(self.expression(ranges)), (table.num_rows,))

    def among(self, table: pa.Table) -> np.ndarray:
        """bool [rows]: which rows meet all of the condition by their own values; none is settled."""
        met = self.holds(table).copy()
        for name, codes in self.codes.items():
            met &= np.isin(self.schema[name].encode(table.column(name)), codes)
        return met & self._have(table, self.numbers)

    @cached_property
    def awaited(self) -> frozenset[str]:
        """The columns whose requested numbers are drawn again until they come, and not put in.

        A rule names them: the other values of a row that met it with another number are not like those of rows with
        this one. Where a code stands for many values, no row would come.
        """
        ruled = {name for rule in self.schema.row_rules for name in rule.columns}
        few = (name for name in self.numbers if how_many(self.schema[name], self.codes[name]).max() <= _MOST_AWAITED)
        return frozenset(ruled.intersection(few))

    def came(self, table: pa.Table) -> np.ndarray:
        """bool [rows]: which rows have the requested numbers that are awaited."""
        return self._have(table, self.awaited)

    def _have(self, table: pa.Table, names: Iterable[str]) -> np.ndarray:
        """bool [rows]: which rows have the requested numbers of some columns."""
        met = np.ones(table.num_rows, dtype=bool)
        for name in names:
            found, numbers = self.schema[name].encode(table.column(name)), self.schema[name].numbers(table.column(name))
            for code, wanted in self.numbers[name].items():
                met &= (found != code) | np.isin(numbers, wanted)
        return met

    def thinned(self, table: pa.Table, rng: np.random.Generator) -> np.ndarray:
        """bool [rows]: which rows, drawn by their codes, are kept so that codes are as likely as the requested numbers.

        A code stands for several numbers, all equally likely, of which some are requested: a row has one of those with
        that share of its code's probability. Shares are compared with the largest one.
        """
        kept = np.ones(table.num_rows, dtype=bool)
        for name, exact in self._put_in():
            column, codes = self.schema[name], np.array(self.codes[name])
            requested = np.array([len(exact.get(code, [code])) for code in codes])
            shares = np.zeros(column.size)
            shares[codes] = requested / how_many(column, codes)
            if len(set(shares[codes])) > 1:
                chances = shares[column.encode(table.column(name))] / shares.max()
                kept &= rng.random(table.num_rows) < chances
        return kept

    def settled(self, table: pa.Table, rng: np.random.Generator) -> pa.Table:
        """The table with the requested numbers in columns whose codes stand for several; each is equally likely."""
        for name, exact in self._put_in():
            column, place = self.schema[name], table.column_names.index(name)
            codes = column.encode(table.column(name))
            numbers = column.numbers(table.column(name)) if len(codes) else np.empty(0)
            for code, wanted in exact.items():
                here = codes == code
                numbers[here] = rng.choice(wanted, int(here.sum()))
            table = table.set_column(place, name, _as_values(numbers, table.schema.field(name).type))
        return table

    def _put_in(self) -> Iterator[tuple[str, Mapping[int, list[float]]]]:
        """The columns whose requested numbers are put in, and the numbers by code."""
        return ((name, exact) for name, exact in self.numbers.items() if name not in self.awaited)


def _as_values(numbers: np.ndarray, kind: pa.DataType) -> pa.Array:
    """Numbers of a column (days, seconds, or as they are) as values of its type; null where NaN."""
    absent = np.isnan(numbers)
    whole = np.where(absent, 0, numbers)
    if pa.types.is_floating(kind):
        return array_of(whole, kind, mask=absent)
    if pa.types.is_date(kind):
        return array_of(whole.astype(np.int32), mask=absent).cast(pa.date32()).cast(kind)
    if pa.types.is_timestamp(kind):
        return array_of(whole.astype(np.int64), mask=absent).cast(pa.timestamp("s")).cast(kind)
    return array_of(whole.astype(np.int64), kind, mask=absent)


def _listed(value: Any) -> Iterable[Any]:
    """The values of which one is meant: those of a list, a set, an array or a column of a frame, or the one value."""
    several = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    return value if several and getattr(value, "ndim", 1) != 0 else [value]


def _require_no_range(column: Column, value: Any) -> None:
    """Refuses a pair that may be meant as two values, and as all between them.

    Raises:
        ValueError: naming how either is written.
    """
    on_a_line = column.comparable == "number" or isinstance(column, Instant)
    if not (on_a_line and isinstance(value, tuple) and len(value) == 2):
        return
    if any(number is None or np.isnan(number) for number in (_number(column, one) for one in value)):
        return
    low, high = (_text_of(column, one) for one in value)
    name = column.name if column.name.isidentifier() else f"`{column.name}`"
    between = f"{name} >= {low} and {name} <= {high}"
    raise ValueError(
        f"`where`: two values of column {column.name!r} must be a list. Found the tuple {value!r}, which may mean a "
        f'range: write [{low}, {high}] for one of two values, or where="{between}" for all between them.'
    )


def _text_of(column: Column, value: Any) -> str:
    """A value as expressions have it: dates and moments are texts in quotes."""
    plain = value.item() if isinstance(value, np.generic) else value
    return repr(str(plain) if isinstance(column, Instant) else plain)


def _place(column: Column, value: Any) -> tuple[int, float | None]:
    """The code of a value, and the number that rows must have, where the code stands for several.

    Raises:
        ValueError: for a value that the column can't have; clamping or `other` would change the request in silence.
    """
    try:
        code = int(column.encode(MixedCells([value]))[0])
    except (UnplacedValue, TypeError, pa.ArrowException):
        raise _impossible(column, value) from None
    if code == column.missing_code:
        if not _means_missing(column, value):
            raise _impossible(column, value)
        return code, None
    if isinstance(column, Categorical):
        if column.labels[code] == column.other_label and str(value) != column.other_label:
            raise _impossible(column, value)
        return code, None
    low, high = (float(ends[code]) for ends in column.ranges)
    number = _number(column, value)
    if number is None or not low <= number <= high or column.positions(MixedCells([value]))[0] != number:
        raise _impossible(column, value)
    if isinstance(column, Integer) and (number - column.lower) % column.step:
        raise _impossible(column, value)
    if isinstance(column, Real) and column.rounded(np.array([number]))[0] != number:
        raise _impossible(column, value)
    return code, None if low == high else number


def _number(column: Column, value: Any) -> float | None:
    """The number of a value as it stands, not clamped; None where it has none."""
    if isinstance(value, str) and isinstance(column, Integer | Real):
        return column._parse_text(value.strip())
    if column.comparable == "boolean":
        return float(column.positions(MixedCells([value]))[0])
    if isinstance(value, datetime.date):
        value = value.isoformat()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        value = float(value)
    try:
        return column.constant(value)
    except (SchemaError, TypeError, ValueError):
        return None


def _means_missing(column: Column, value: Any) -> bool:
    if is_null(value) or (isinstance(value, float) and np.isnan(value)):
        return True
    return column.is_missing_word(value.isoformat() if isinstance(value, datetime.date) else value)


def _impossible(column: Column, value: Any) -> ValueError:
    """The sentence for a value that the column can't have. It is the user's, and no record's."""
    if not column.is_ordered or column.comparable == "boolean":
        return ValueError(
            f"`where`: column {column.name!r} has no value {value!r}.{did_you_mean(str(value), column.labels)}"
        )
    first, last = column.labels[0], column.labels[column.n_bins - 1]
    return ValueError(
        f"`where`: column {column.name!r} must be {column.expected} within its bounds (its codes go from {first} to "
        f"{last}). Found {value!r}.{values_said(column)}"
    )


def _of_expression(schema: Schema, text: str) -> Condition:
    expression = condition_on(schema, text, "`where`")
    codes = {}
    for name in expression.columns:
        possible = np.flatnonzero(_possible(schema, expression, name))
        if not len(possible):
            raise ValueError(f"`where`: no value of column {name!r} can meet {text!r}.{values_said(schema[name])}")
        if len(possible) < schema.domain[name]:
            codes[name] = possible.tolist()
    return Condition(schema, codes, expression=expression)


def _possible(schema: Schema, expression: Expression, name: str) -> np.ndarray:
    """bool [codes of the column]: with which of them the expression can hold, whatever the other columns are.

    Of a column on a grid, the values of the bins that are left are tried, where they are few.
    """
    column = schema[name]
    absent = [other for other in expression.columns if other != name and schema[other].missing]
    if len(absent) > _MOST_MISSING:
        return np.ones(schema.domain[name], dtype=bool)
    possible = _can_hold(schema, expression, name, absent, Range(*column.ranges))
    left = np.flatnonzero(possible[: column.n_bins])
    found = grid_values(column, left, _MOST_VALUES >> len(absent))
    if found is not None:
        values, codes = found
        met = _can_hold(schema, expression, name, absent, Range(values, values))
        possible[left] = np.isin(left, codes[met])
    return possible


def _can_hold(schema: Schema, expression: Expression, name: str, absent: list[str], numbers: Range) -> np.ndarray:
    """bool [n]: with which of `numbers` [n] of a column the expression can hold.

    The others are anywhere between their bounds, or missing: an axis of two for each of `absent`, which may be.
    """
    size, axes = len(numbers.low), len(absent) + 1
    own = (size, *itertools.repeat(1, axes - 1))
    ranges = {name: Range(numbers.low.reshape(own), numbers.high.reshape(own))}
    for other in (other for other in expression.columns if other != name):
        lows, highs = schema[other].ranges
        low, high = np.nanmin(lows), np.nanmax(highs)
        shape = [1] * axes
        if other in absent:
            shape[1 + absent.index(other)] = 2
            ends = np.array([low, np.nan]), np.array([high, np.nan])
        else:
            ends = np.array([low]), np.array([high])
        ranges[other] = Range(*(end.reshape(shape) for end in ends))
    truth = np.broadcast_to(expression(ranges).true, (size, *itertools.repeat(2, axes - 1)) if absent else own)
    return np.asarray(truth.reshape(size, -1).any(axis=1))


def _surely(truth: Truth) -> np.ndarray:
    """Where single values make it true: what is compared with a missing value is not."""
    return truth.true & ~truth.false & ~truth.unknown
