"""Functions of a record with declared ranges: shares of records that meet a condition, columns, and a user's own."""

from __future__ import annotations

import math
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.brought import BroughtFailed
from counterfoil.features.function_family import FunctionFamily, require_few
from counterfoil.inert import inert
from counterfoil.schema import Schema
from counterfoil.schema.column import Column
from counterfoil.schema.errors import SchemaError, did_you_mean
from counterfoil.schema.expression import Expression, Range

if TYPE_CHECKING:
    from scipy import sparse

UNIT = 2**20
"""The whole number that stands for the upper end of a function's range; its lower end is 0."""

_LEAST_WIDTH = 1e-100
"""Of a range: the width of a step of its whole numbers is a number too."""

_NUMBERS_AT_ONCE = 1 << 22

_ROWS = 4096
"""Rows that functions see at once: as many as they are tried on."""

Values = Mapping[str, np.ndarray]
Own = tuple[str, Callable[[Values], np.ndarray], float, float]
"""A user's function: its name, the function itself, and its declared range."""


@dataclass(frozen=True)
class BoundedFunction(ABC):
    """A function of a record with values from `lower` to `upper`.

    Raises:
        ValueError: unless `lower` is below `upper`, both finite.
    """

    name: str
    lower: float
    upper: float

    def __post_init__(self) -> None:
        if type(self.name) is not str or not self.name or inert(self.name) != self.name:
            raise ValueError(f"A function needs a name of printable text. Found {self.name!r}.")
        ends = [_number(end) for end in (self.lower, self.upper)]
        if not _LEAST_WIDTH < ends[1] - ends[0] < math.inf:
            raise ValueError(
                f"The range of the function {self.name!r} must be two finite numbers, the lower one first and not "
                f"closer than {_LEAST_WIDTH}. Found {shown(self.lower)} and {shown(self.upper)}."
            )
        object.__setattr__(self, "lower", ends[0])
        object.__setattr__(self, "upper", ends[1])

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...] | None:
        """The columns that it reads; None for all."""

    @abstractmethod
    def of(self, columns: Mapping[str, Column], codes: Values, numbers: Values, rows: int) -> np.ndarray:
        """float64 [rows]: its value on each row, by that row alone; out of range where it leaves it."""


@dataclass(frozen=True)
class Share(BoundedFunction):
    """1 where a record meets a condition of the language of rules, else 0. A condition on a missing value is not met.

    Args:
        expression: the condition.
    """

    expression: str = ""
    read: tuple[str, ...] = ()

    @staticmethod
    def of_records(schema: Schema, expression: str, name: str = "") -> Share:
        """The share of records with `expression`.

        Raises:
            SchemaError: for a text that is no condition on the schema's columns.
        """
        known = {column.name: column for column in schema.synthesized}
        parsed = Expression(expression, known)
        return Share(name or expression, 0.0, 1.0, expression, parsed.columns)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.read

    def of(self, columns: Mapping[str, Column], codes: Values, numbers: Values, rows: int) -> np.ndarray:
        ranges = {}
        for name in self.read:
            # A plain category is compared by its place in the list, which is what its range holds.
            place = numbers[name] if columns[name].is_ordered else columns[name].ranges[0][codes[name]]
            ranges[name] = Range(place, place)
        return np.broadcast_to(Expression(self.expression, columns)(ranges).true, (rows,)).astype(np.float64)


@dataclass(frozen=True)
class Value(BoundedFunction):
    """The number in an ordered column, within a range; where it is missing, the lower end.

    Args:
        column: the column.
    """

    column: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def of(self, columns: Mapping[str, Column], codes: Values, numbers: Values, rows: int) -> np.ndarray:
        return numbers[self.column]


@dataclass(frozen=True)
class OwnFunction(BoundedFunction):
    """A function that a user brought, and vouches for: its value on a row may depend on nothing but that row.

    It is called with a mapping from each column to its values: float64 numbers of ordered columns (NaN where missing),
    and labels of the others, as the schema has them. It returns one number a row.

    Args:
        function: the function.
    """

    function: Callable[[Values], np.ndarray] = len  # type: ignore[assignment]

    @property
    def columns(self) -> None:
        return None

    def of(self, columns: Mapping[str, Column], codes: Values, numbers: Values, rows: int) -> np.ndarray:
        given = {
            name: numbers[name].copy() if column.is_ordered else np.array(column.labels, dtype=object)[codes[name]]
            for name, column in columns.items()
        }
        try:
            values = np.asarray(self.function(given))
        except Exception as error:  # a user's code may raise anything, and say in it what a record holds
            raise BroughtFailed(f"The function {self.name!r} failed: {type(error).__name__}.") from None
        if values.shape != (rows,) or values.dtype.kind not in "buif":
            raise BroughtFailed(f"The function {self.name!r} must return one number for each row.")
        return values.astype(np.float64)


@dataclass(frozen=True)
class Functions(FunctionFamily):
    """Functions of a record, each mapped from its range to whole numbers from 0 to UNIT, rounded to the nearest.

    With `counted`, the first function is the constant 1. Values beyond a range are moved to its nearest end record by
    record, and what is no number to the lower end.

    Formal guarantee: a record adds a whole number from 0 to UNIT to each of the k sums, and with `counted` UNIT to one
    more. Adding or removing it moves them by at most UNIT (k + counted) in l1 and UNIT sqrt(k + counted) in l2.
    Replacing it moves each of the k by at most UNIT, and the count not at all: UNIT k and UNIT sqrt(k). Attained where
    some record has all functions at their upper ends and, for replacing, another all at their lower ends.

    Args:
        schema: the public facts.
        functions: at least one, with distinct names.
        counted: whether the number of records is asked for too, as it must be where it is not public.

    Raises:
        ValueError: for no functions, too many, or two of one name.
    """

    kind: ClassVar[str] = "functions"

    schema: Schema
    functions: tuple[BoundedFunction, ...]
    counted: bool

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        super().check()
        if not isinstance(self.functions, tuple) or not all(isinstance(f, BoundedFunction) for f in self.functions):
            raise ValueError("`functions` must be a tuple of functions with ranges: make them with `Functions.of`.")
        require_few(len(self.functions))
        names = [function.name for function in self.functions]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"Functions must have distinct names. Found {twice!r} twice.")
        known = {column.name: column for column in self.schema.synthesized}
        for function in self.functions:
            for name in function.columns or ():
                if name not in known or (isinstance(function, Value) and not known[name].is_ordered):
                    raise ValueError(
                        f"The function {function.name!r} reads {name!r}, which is no such column of the schema."
                        f"{did_you_mean(name, known)}"
                    )

    @classmethod
    def of(cls, schema: Schema, functions: Sequence[Own | BoundedFunction], *, counted: bool) -> Functions:
        """A family of functions given as `(name, function, lower, upper)`, or made by this module.

        Raises:
            ValueError: for anything else.
        """
        return cls(schema, tuple(map(_bounded, functions)), counted)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return (*(["1"] if self.counted else []), *(function.name for function in self.functions))

    @cached_property
    def _read(self) -> tuple[Column, ...]:
        named: set[str] = set()
        for function in self.functions:
            named |= {column.name for column in self.schema.synthesized} if function.columns is None else set()
            named |= set(function.columns or ())
        return tuple(column for column in self.schema.synthesized if column.name in named)

    @property
    def together(self) -> tuple[tuple[str, ...], ...]:
        every = tuple(column.name for column in self.schema.synthesized)
        return tuple(every if one.columns is None else tuple(one.columns) for one in self.functions)

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(column.name for column in self._read if not column.is_ordered)

    @property
    def numbers(self) -> tuple[str, ...]:
        return tuple(column.name for column in self._read if column.is_ordered)

    @property
    def offsets(self) -> np.ndarray:
        return np.array([*([0.0] if self.counted else []), *(function.lower for function in self.functions)])

    @property
    def slopes(self) -> np.ndarray:
        widths = [*([1.0] if self.counted else []), *(one.upper - one.lower for one in self.functions)]
        return np.array(widths) / UNIT

    def matrix(self, rows: int, codes: Values, numbers: Values) -> sparse.csr_array:
        from scipy import sparse

        parts = [sparse.csr_array(part) for part in self._parts(rows, codes, numbers)]
        return sparse.hstack(parts, format="csr")

    def sums(self, rows: int, codes: Values, numbers: Values) -> np.ndarray:
        total = np.zeros(self.counted + len(self.functions), dtype=np.int64)
        for part in self._parts(rows, codes, numbers):
            total += part.sum(axis=1).astype(np.int64)
        return total

    def numbers_given(self, rows: int, codes: Values, numbers: Values) -> np.ndarray:
        given = super().numbers_given(rows, codes, numbers)
        columns = {column.name: column for column in self.schema.synthesized}
        for row, function in enumerate(self.functions, int(self.counted)):
            if isinstance(function, OwnFunction):
                given[row] = np.count_nonzero(~np.isnan(function.of(columns, codes, numbers, rows)))
        return given

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return float(UNIT * self._moved(relation))

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return UNIT * math.sqrt(self._moved(relation))

    def _moved(self, relation: NeighboringRelation) -> int:
        """How many sums a record moves."""
        return len(self.functions) + (self.counted and relation is NeighboringRelation.ADD_OR_REMOVE_ONE)

    def describe(self) -> dict[str, Any]:
        described: dict[str, Any] = {
            "family": self.kind,
            "counted": self.counted,
            "functions": len(self.functions),
            "unit": UNIT,
        }
        return described

    def listed(self) -> list[dict[str, Any]]:
        """Each function with its range, for receipts."""
        return [_described(function) for function in self.functions]

    def _parts(self, rows: int, codes: Values, numbers: Values) -> Iterator[np.ndarray]:
        """The whole numbers [K, some rows] of a few rows at a time; at least once, for no rows too."""
        step = max(min(_ROWS, _NUMBERS_AT_ONCE // (1 + len(self.functions))), 1)
        for start in range(0, max(rows, 1), step):
            part = slice(start, min(start + step, rows))
            of_codes, of_numbers = ({name: of[part] for name, of in given.items()} for given in (codes, numbers))
            yield self._whole(part.stop - part.start, of_codes, of_numbers)

    def _whole(self, rows: int, codes: Values, numbers: Values) -> np.ndarray:
        """float64 [K, rows]: whole numbers from 0 to UNIT. Only arithmetic on single numbers is done here."""
        columns = {column.name: column for column in self.schema.synthesized}
        whole = np.full((self.counted + len(self.functions), rows), float(UNIT))
        for row, function in enumerate(self.functions, int(self.counted)):
            share = (function.of(columns, codes, numbers, rows) - function.lower) * (
                1 / (function.upper - function.lower)
            )
            inside = np.where(np.isnan(share), 0.0, np.clip(share, 0.0, 1.0))
            whole[row] = np.rint(inside * UNIT)
        return whole


def _number(end: object) -> float:
    """The end of a range as a float; NaN for what is none."""
    try:
        return float(end) if isinstance(end, (int, float)) and not isinstance(end, bool) else math.nan
    except OverflowError:
        return math.inf


def shown(value: object) -> str:
    """What was found, cut short: an integer may have thousands of digits, which Python does not print."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**30:
        return "an integer of many digits"
    return repr(value)[:80]


def _bounded(given: Any) -> BoundedFunction:
    if isinstance(given, BoundedFunction):
        return given
    if not (isinstance(given, (tuple, list)) and len(given) == 4 and isinstance(given[0], str) and callable(given[1])):
        raise ValueError(
            "A function of your own is given as (name, function, lower, upper). "
            f"Found {type(given).__name__}: name it, and declare its range."
        )
    name, function, lower, upper = given
    return OwnFunction(name, lower, upper, function)


def _described(function: BoundedFunction) -> dict[str, Any]:
    described: dict[str, Any] = {"name": function.name, "lower": function.lower, "upper": function.upper}
    if isinstance(function, Share):
        described["where"] = function.expression
    if isinstance(function, Value):
        described["column"] = function.column
    return described


def functions_of_toml(path: str | Path, schema: Schema) -> tuple[BoundedFunction, ...]:
    """Reads `[[functions]]` tables: each with an optional `name`, and either `where`, a condition whose share of the
    records is asked, or `column`, an ordered column, with the range `lower` and `upper` (its bounds where left out).

    Raises:
        ValueError: for a file that can't be read or says something else, naming the entry.
    """
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"The functions {str(path)!r} can't be read as TOML: {error}.") from error
    entries = document.get("functions")
    if not isinstance(entries, list) or not entries or set(document) != {"functions"}:
        raise ValueError(f"The functions {str(path)!r} must be [[functions]] tables, at least one, and nothing else.")
    functions = []
    for number, entry in enumerate(entries, 1):
        try:
            functions.append(function_of(entry, schema))
        except (ValueError, TypeError, SchemaError) as error:
            raise ValueError(f"Function {number} of {str(path)!r}: {error}") from None
    return tuple(functions)


def function_of(entry: Any, schema: Schema) -> BoundedFunction:
    """The function that a TOML table, or a receipt, describes.

    Raises:
        ValueError: for an unknown key or column.
        SchemaError: for a condition that is none.
    """
    known = {"name", "where", "column", "lower", "upper"}
    unknown = sorted(set(entry) - known) if isinstance(entry, Mapping) else []
    if unknown:
        raise ValueError(f"it has an unknown key {unknown[0]!r}.{did_you_mean(unknown[0], sorted(known))}")
    if not isinstance(entry, Mapping) or ("where" in entry) == ("column" in entry):
        raise ValueError("it must have either `where` or `column`.")
    name = entry.get("name", entry.get("where", entry.get("column")))
    if not isinstance(name, str) or not name:
        raise ValueError("its `name` must be a text.")
    if "where" in entry:
        return Share.of_records(schema, str(entry["where"]), name)
    columns = {column.name: column for column in schema.synthesized if column.is_ordered}
    if entry["column"] not in columns:
        raise ValueError(
            f"`column` must be an ordered column. Found {entry['column']!r}."
            f"{did_you_mean(str(entry['column']), columns)}"
        )
    lows, highs = columns[entry["column"]].ranges
    lower, upper = entry.get("lower", float(np.nanmin(lows))), entry.get("upper", float(np.nanmax(highs)))
    return Value(name, lower, upper, entry["column"])
