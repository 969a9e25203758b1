"""Columns that follow from others of the same row: by an expression, or by a public lookup table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from counterfoil.schema.arithmetic import Arithmetic, round_to
from counterfoil.schema.boolean import Boolean
from counterfoil.schema.column import Column
from counterfoil.schema.derived_instants import INSTANT_RESULTS, instants_at
from counterfoil.schema.derived_notation import DerivedNotation, Label
from counterfoil.schema.errors import SchemaError, did_you_mean
from counterfoil.schema.expression import Expression, Range
from counterfoil.schema.lookup import Entry, Lookup, declared_texts, key_texts, numbers_in, truth_of
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.values import has_two_readings, parse_number

RESULTS: Mapping[str, pa.DataType] = {
    "categorical": pa.string(),
    "boolean": pa.bool_(),
    "integer": pa.int64(),
    "real": pa.float64(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
}
"""What a derived column can hold, and how a table stores it."""


@dataclass(frozen=True)
class Derived:
    """A column that is never read and has no codes: each synthetic row gets the value that its other values imply.

    Either `expression` gives it, an arithmetic one for numbers and dates (`schema.arithmetic`) and a condition in the
    language of rules for booleans, or `lookup` does: a public table with one row for each combination of values of the
    columns `on`, its last entry the result (`schema.lookup` says which row values have). A row is given no value where
    one that an expression depends on is missing, where the lookup table does not have it, and where the result is no
    number and no date. A real result is written with `decimals` digits after the point; without it with as many as
    follow from those of its columns and constants (`Arithmetic.decimals`), where they do.

    Args:
        name: of the column.
        result: the kind of its values, one of `RESULTS`.
        expression: of other columns.
        on: the columns that `lookup` is about.
        lookup: rows of `len(on)` keys and a result.
        decimals: digits after the point of a real; None for those that follow.
        true: the label of true, of a boolean.
        false: that of false.
        format: of a date or datetime.
        zone: whose clock a datetime is shown by, where those that it follows from have zones, and whose days those of a
            date are, where cells of the table state an offset.
        digits: of an integer, leading zeros included.
        decimal_char: the decimal sign of a number in a text, "," or ".", as of columns.

    Raises SchemaError when the facts contradict each other.
    """

    kind: ClassVar[str] = "derived"

    name: str
    result: str
    _: KW_ONLY
    expression: str = ""
    on: tuple[str, ...] = ()
    lookup: tuple[tuple[Entry, ...], ...] = ()
    decimals: int | None = None
    true: Label | None = None
    false: Label | None = None
    format: str = ""
    zone: str = ""
    digits: int = 0
    decimal_char: str = ""

    def __post_init__(self) -> None:
        if self.result not in RESULTS:
            hint = did_you_mean(self.result, RESULTS)
            raise self.mistake(f"`kind` must be one of {', '.join(RESULTS)}; found {self.result!r}.{hint}")
        if bool(self.expression) == bool(self.lookup):
            raise self.mistake("give either `expression`, or `lookup` with `on`")
        if bool(self.on) != bool(self.lookup):
            raise self.mistake("`lookup` and `on` belong together: the table, and the columns that it is about")
        if self.expression and self.result == "categorical":
            raise self.mistake("an expression gives numbers, dates, true or false; for 'categorical' use `lookup`")
        if self.lookup and self.result == "datetime":
            raise self.mistake("a lookup table gives no datetimes; use `expression`")
        if len(set(self.on)) < len(self.on):
            raise self.mistake("`on` names a column twice")
        for position, row in enumerate(self.lookup, 1):
            if len(row) != len(self.on) + 1:
                raise self.mistake(
                    f"each row of `lookup` must have a value for each of {', '.join(self.on)}, and a result; row "
                    f"{position} has {len(row)} entries"
                )
            if not _holds(self.result, row[-1]):
                raise self.mistake(f"the result in row {position} of `lookup` must be {_WORDS[self.result]}")
        self._check_notation()
        repeated = [key for key, count in Counter(key_texts(row[:-1]) for row in self.lookup).items() if count > 1]
        if repeated:
            raise self.mistake(f"`lookup` must have one row for each {', '.join(self.on)}; found two for one of them")

    def _check_notation(self) -> None:
        try:
            self.notation.check(self.name, self.result, tuple(row[-1] for row in self.lookup))
        except SchemaError as error:
            text = str(error)
            raise error if text.startswith("Column ") else self.mistake(text) from None

    @cached_property
    def notation(self) -> DerivedNotation:
        """How its values are written."""
        return DerivedNotation(
            true=self.true,
            false=self.false,
            format=self.format,
            zone=self.zone,
            digits=self.digits,
            decimals=self.decimals,
            decimal_char=self.decimal_char,
        )

    @property
    def is_spelled_plainly(self) -> bool:
        """Whether the text of each value is Arrow's."""
        return self.notation.is_plain

    @property
    def missing_word(self) -> str:
        """How a missing value is written: by an empty cell."""
        return ""

    def written(self, values: pa.Array | pa.ChunkedArray) -> pa.Array:
        """string [n]: values as a CSV file holds them; null where a cell is empty."""
        plain = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        return self.notation.written(plain)

    def mistake(self, problem: str) -> SchemaError:
        """An error about the facts themselves."""
        end = "" if problem.endswith((".", "?")) else "."
        return SchemaError(f"Column {self.name!r} (derived): {problem}{end}")

    def require_known(self, columns: Mapping[str, Column]) -> None:
        """Refuses what depends on anything else than the synthesized columns.

        Raises:
            SchemaError: which names the column.
        """
        for name in self.on:
            if name not in columns:
                hint = did_you_mean(name, columns)
                raise self.mistake(f"`on` must name synthesized columns; found {name!r}.{hint}")
        for place, name in enumerate(self.on):
            self._require_one_reading(place, columns[name])
            self._require_met(place, columns[name])
        if self.expression:
            self._expression(columns)

    def _require_one_reading(self, place: int, column: Column) -> None:
        """Refuses keys that are plain digits to a lookup table, and another number in the notation of the column."""
        sign, unit = getattr(column, "decimal_char", ""), getattr(column, "_unit_sign", "")
        for text in (key.strip() for row in self.lookup if isinstance(key := row[place], str)):
            if text not in column.missing_values and has_two_readings(text, sign, unit):
                raise self.mistake(
                    f"`lookup` must have its keys as plain digits with an optional point; found {text!r}, which is "
                    f"{parse_number(text, {}, sign, unit):.15g} in the notation of {column.name!r}. Where 1.234 is "
                    "meant, write 1.2340"
                )

    def _require_met(self, place: int, column: Column) -> None:
        """Refuses keys that the column never has, such as those of another notation: no row would get a value."""
        lows, highs = column.ranges
        if column.is_ordered and (lows != highs)[: column.n_bins].any():
            return  # any number within its bins may be drawn: see `lookup_gaps`
        found = set(self.table.keys[place])
        if isinstance(column, Boolean) and any(truth_of(column, text) in (0, 1) for text in found):
            return
        listed = set(declared_texts(column))
        if not listed & found and not set(numbers_in(tuple(listed))) & set(numbers_in(tuple(found))):
            raise self.mistake(
                f"`lookup` must have rows for values of {column.name!r}; found none of them among its keys. Write keys "
                "as the column's values are, and dates as 2020-01-31"
            )

    def compute(self, table: pa.Table, columns: Mapping[str, Column], *, stated: bool = True) -> pa.Array:
        """The values [n] that follow from decoded rows; null where there are none.

        Args:
            table: n rows of values.
            columns: the synthesized columns by name.
            stated: whether as a release has them: reals rounded to their decimals, booleans as labels.
        """
        values = self._computed(table, columns, rounded=stated)
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
        return self.notation.stated(values) if stated else values

    @property
    def comparable(self) -> str:
        """What its values may be compared with: only the same word."""
        return f"{self.result} with a zone" if self.zone and self.result == "datetime" else self.result

    def may_be_missing(self, columns: Mapping[str, Column]) -> bool:
        """Whether a row may have no value.

        Args:
            columns: the synthesized columns by name.
        """
        if self.lookup or "/" in self.expression or "%" in self.expression:  # a key that it lacks, a division by 0
            return True
        return any(columns[name].missing for name in self._expression(columns).columns)

    def tried(self, numbers: Mapping[str, np.ndarray], columns: Mapping[str, Column]) -> np.ndarray:
        """float64 [n]: what the expression gives for made up numbers, before it is a value of the kind.

        Args:
            numbers: float64 [n] of each column.
            columns: the synthesized columns by name.

        Raises:
            SchemaError: where the expression is none.
        """
        read = self._expression(columns)
        assert isinstance(read, Arithmetic), "conditions give no numbers"
        return read(numbers)

    def _computed(self, table: pa.Table, columns: Mapping[str, Column], *, rounded: bool) -> pa.Array:
        if self.lookup:
            cells, on = [table.column(name) for name in self.on], [columns[name] for name in self.on]
            return self.table.results(cells, on, RESULTS[self.result])
        expression = self._expression(columns)
        numbers = {name: columns[name].positions(table.column(name)) for name in expression.columns}
        if isinstance(expression, Arithmetic):
            found = expression(numbers)
            digits = expression.decimals if self.decimals is None else self.decimals
            if rounded and self.result == "real" and digits is not None:
                found = round_to(found, digits)
            if self.result in INSTANT_RESULTS:
                return instants_at(found, self.result, self.zone)
            absent = np.isnan(found)
            return array_of(np.where(absent, 0.0, found), mask=absent).cast(RESULTS[self.result])
        truth = expression({name: Range(values, values) for name, values in numbers.items()})
        true, unknown = (np.broadcast_to(part, (table.num_rows,)) for part in (truth.true, truth.unknown))
        return array_of(true, mask=unknown)

    def _expression(self, columns: Mapping[str, Column]) -> Arithmetic | Expression:
        if self.result == "boolean":
            try:
                return Expression(self.expression, columns)
            except SchemaError as error:
                raise self.mistake(str(error)) from None
        instant = self.comparable if self.result in INSTANT_RESULTS else ""
        read = Arithmetic(self.expression, columns, place=f"Column {self.name!r} (derived): ", instant=instant)
        if self.result == "integer" and not read.is_whole:
            raise self.mistake(f'`{self.expression}` may give fractions. Use `round(...)`, or declare kind = "real"')
        return read

    @cached_property
    def table(self) -> Lookup:
        """The lookup table, by its keys."""
        return Lookup(self.lookup)

    def facts(self) -> dict[str, Any]:
        """The facts of this kind, as TOML keys and values."""
        said = {"expression": self.expression} if self.expression else {"on": self.on, "lookup": self.lookup}
        return {"kind": self.result} | said | self.notation.facts


_LARGEST_REAL = 1.7976931348623157e308

_WORDS = {
    "categorical": "a text",
    "boolean": "true or false",
    "integer": "a whole number below 2^63",
    "real": "a finite number",
    "date": "a date, such as 2020-01-31",
    "datetime": "a moment",
}


def _holds(kind: str, entry: Entry) -> bool:
    if kind in ("categorical", "boolean"):
        return isinstance(entry, str if kind == "categorical" else bool)
    if kind == "date":
        return isinstance(entry, date) and not isinstance(entry, datetime)
    if isinstance(entry, bool) or not isinstance(entry, int | float):
        return False
    if kind == "integer":
        return isinstance(entry, int) and abs(entry) < 2**63
    return abs(entry) <= _LARGEST_REAL
