"""Numbers that follow from other columns of the same row: `price * quantity`, `round(100 * part / whole)`.

Columns are named as in rules, between backticks where a name is not an identifier. There are `+ - * /`, `//` (rounded
down) and `%` (with the sign of the divisor), parentheses, `min`, `max`, `abs`, and `round` with an optional number of
decimals (a half goes to the even neighbor). A boolean column counts as 0 and 1; of two dates there is the difference
in days, of two datetimes that in seconds, and of either the whole years from one to the other, `years(last, first)`. A
date and a whole number of days make a date, a datetime and a whole number of seconds a datetime. A day that is the
same in all rows stands between quotes: `years("2023-12-31", born)`. Text is parsed with Python's own grammar and only
these nodes are accepted; nothing is ever executed.

What is computed with a missing value is missing, and so is what is no number: a division by zero, an overflow.

Whole numbers stay exact: computing is done with 64-bit floating-point numbers, and an expression whose whole numbers
may reach 2^53, by the declared bounds of its columns, is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

import numpy as np

from counterfoil.schema.column import Column
from counterfoil.schema.errors import SchemaError, did_you_mean
from counterfoil.schema.expression import parse, slip
from counterfoil.schema.values import parse_instant
from counterfoil.schema.whole_years import whole_years
from counterfoil.schema.zone import SECONDS_PER_DAY

LARGEST = 2.0**53
"""Whole numbers below it are exact as floating-point numbers."""

MOST_DECIMALS = 15
"""Digits after the point that `round` may keep, and that sums and products are rounded to."""

RELATIVE = 1e-9
"""Reals that differ by no more than this share of the larger one are equal."""

_FUNCTIONS = ("min", "max", "abs", "round", "years")
_SIGNS: Mapping[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_INSTANTS = ("date", "datetime", "datetime with a zone")
_UNITS_OF_A_DAY: Mapping[str, int] = {"date": 1, "datetime": SECONDS_PER_DAY}
"""Whose years are counted, and in which part of a day they are. With a zone, the day is another one elsewhere."""
_UNIT_WORDS: Mapping[str, str] = {"date": "days", "datetime": "seconds", "datetime with a zone": "seconds"}
_FEWEST_DAYS = 365


@dataclass(frozen=True)
class Term:
    """A part of an expression, with what is known of it before any row is seen.

    Args:
        kind: "integer", "real", "date", "datetime" or "datetime with a zone".
        most: no value is farther from 0; infinite where that is not known.
        least: no value but 0 is nearer to 0.
        values: its values in given rows, NaN where missing.
        decimals: digits after the point that no value exceeds, but for the errors of floating point; None where that is
            not known.
    """

    kind: str
    most: float
    least: float
    values: Callable[[Mapping[str, np.ndarray]], np.ndarray]
    decimals: int | None = None


class Arithmetic:
    """One parsed expression that gives a number, or a date or datetime where these are asked for.

    Raises SchemaError when the text can't be parsed, names an unknown column, computes with what is no number, or gives
    a date where a number is asked for, or the reverse.
    """

    def __init__(self, text: str, columns: Mapping[str, Column], *, place: str, instant: str = ""):
        self.text = text
        self._known = columns
        self._place = place
        self._used: dict[str, None] = {}
        tree, self._quoted = parse(text, self._mistake)
        try:
            self._term = self._read(tree)
            self({name: np.ones(1) for name in columns})  # what is too deep for Python is so before any row is seen
        except RecursionError:
            raise self._mistake("it is nested too deeply.") from None
        if self._term.kind in _INSTANTS and not instant:
            raise self._mistake(
                "it gives a date. Subtract another one, which gives a number, or declare it with that kind."
            )
        if instant and self._term.kind != instant:
            zone = " State its `zone`." if self._term.kind == f"{instant} with a zone" else ""
            raise self._mistake(f"it gives {_gift(self._term.kind)}, not a {instant}.{zone}")
        if not self._used:
            raise self._mistake("it must name a column.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the expression names, in order of appearance."""
        return tuple(self._used)

    @property
    def is_whole(self) -> bool:
        """Whether every value is a whole number."""
        return self._term.kind == "integer"

    @property
    def decimals(self) -> int | None:
        """How many digits after the point values have, where it follows from those of the columns and constants.

        A sum, a difference, a minimum or maximum has as many as the part that has most, and a product as many as its
        parts together. Of a quotient and of the remainder of a division nothing is known.
        """
        return self._term.decimals

    def __call__(self, numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """float64 [n]: the result in each row; NaN where it is missing or no number.

        Args:
            numbers: float64 [n] for each of `columns`, NaN where missing.
        """
        with np.errstate(all="ignore"):
            result = np.asarray(self._term.values(numbers), dtype=float)
        return np.where(np.isfinite(result), result, np.nan) + 0.0  # no negative zeros

    def _mistake(self, problem: str) -> SchemaError:
        return SchemaError(f"{self._place}`{self.text}`: {problem}")

    def _read(self, node: ast.expr) -> Term:
        if isinstance(node, ast.Name):
            return self._column(self._quoted.get(node.id, node.id))
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return self._constant(node.value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self._day(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            inner = self._number(node.operand)
            sign = -1.0 if isinstance(node.op, ast.USub) else 1.0
            return replace(inner, values=lambda rows: sign * inner.values(rows))
        if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
            return self._binary(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self._call(node.func.id, node.args)
        raise self._mistake(f"`{ast.unparse(node)}` is neither a column, a number nor arithmetic.")

    def _column(self, name: str) -> Term:
        if name not in self._known:
            raise self._mistake(f"there is no synthesized column {name!r}.{did_you_mean(name, self._known)}")
        column = self._known[name]
        if column.comparable == "boolean" or column.kind == "integer":
            kind = "integer"
        elif column.comparable in _INSTANTS:
            kind = column.comparable
        elif column.comparable == "number":
            values = getattr(column, "values", (0.5,))
            kind = "integer" if all(isinstance(value, int) for value in values) else "real"
        else:
            raise self._mistake(f"column {name!r} ({column.kind}) has no numbers to compute with.")
        self._used[name] = None
        lows, highs = (ends[~np.isnan(ends)] for ends in column.ranges)
        most = float(np.maximum(np.abs(lows), np.abs(highs)).max(initial=0.0))
        apart = float(lows.min(initial=np.inf)) > 0 or float(highs.max(initial=-np.inf)) < 0
        least = float(np.minimum(np.abs(lows), np.abs(highs)).min(initial=np.inf)) if apart else 0.0
        least = max(least, 1.0) if kind == "integer" else least
        return self._bounded(Term(kind, most, least, lambda rows: rows[name], _decimals_of(column, kind)))

    def _constant(self, value: float) -> Term:
        kind = "integer" if isinstance(value, int) else "real"
        size = abs(float(min(max(value, -(2**60)), 2**60)) if isinstance(value, int) else value)
        least = max(size, 1.0) if kind == "integer" else size  # a quotient by 0 is missing, and so the largest is by 1
        return self._bounded(Term(kind, size, least, lambda rows: np.array(value, dtype=float), _digits((value,))))

    def _day(self, text: str) -> Term:
        days = parse_instant(text, SECONDS_PER_DAY, "%Y-%m-%d")
        if np.isnan(days):
            raise self._mistake(f"the text {text!r} is no date, which is written as '2020-01-31'.")
        return Term("date", abs(days), 1.0, lambda rows: np.array(days))

    def _number(self, node: ast.expr) -> Term:
        term = self._read(node)
        if term.kind in _INSTANTS:
            raise self._mistake(
                f"there is no arithmetic on `{ast.unparse(node)}` ({term.kind}) but the difference, and adding a whole "
                f"number of {_UNIT_WORDS[term.kind]}{slip(self.text) or '.'}"
            )
        return term

    def _binary(self, node: ast.BinOp) -> Term:
        left, right, sign = self._read(node.left), self._read(node.right), _SIGNS[type(node.op)]
        if left.kind in _INSTANTS and left.kind == right.kind and sign == "-":
            most = left.most + right.most
            return self._bounded(Term("integer", most, 1.0, lambda rows: left.values(rows) - right.values(rows), 0))
        if (later := self._later(left, right, sign)) is not None:
            return later
        left, right = self._number(node.left), self._number(node.right)
        if sign in ("/", "//", "%") and right.most == 0:
            raise self._mistake("it divides by 0.")
        whole = left.kind == right.kind == "integer" and sign != "/"
        kind, least = ("integer", 1.0) if whole else ("real", 0.0)
        if sign in ("+", "-"):
            most = left.most + right.most
        elif sign in ("*", "%"):
            most = left.most * right.most if sign == "*" else right.most
        else:
            most = left.most / right.least if right.least else np.inf
            most += 1.0 if sign == "//" and kind == "real" else 0.0
        work = _WORK[sign]
        decimals = _after(sign, left.decimals, right.decimals)
        return self._bounded(
            Term(kind, most, least, lambda rows: work(left.values(rows), right.values(rows)), decimals)
        )

    def _later(self, left: Term, right: Term, sign: str) -> Term | None:
        """A date and a whole number of days, or a datetime and one of seconds; None for other terms."""
        if sign == "+" and right.kind in _INSTANTS:
            left, right = right, left
        if left.kind not in _INSTANTS or right.kind != "integer" or sign not in ("+", "-"):
            return None
        work, most = _WORK[sign], left.most + right.most
        return self._bounded(Term(left.kind, most, 1.0, lambda rows: work(left.values(rows), right.values(rows)), 0))

    def _call(self, name: str, nodes: list[ast.expr]) -> Term:
        if name not in _FUNCTIONS:
            raise self._mistake(f"there is no function `{name}`.{did_you_mean(name, _FUNCTIONS)}")
        if name == "round":
            return self._rounded(nodes)
        if name == "years":
            return self._years(nodes)
        terms = [self._number(node) for node in nodes]
        if len(terms) < (1 if name == "abs" else 2) or (name == "abs" and len(terms) > 1):
            raise self._mistake(f"`{name}` takes {'one number' if name == 'abs' else 'two numbers or more'}.")
        whole = all(term.kind == "integer" for term in terms)
        most, least = max(term.most for term in terms), min(term.least for term in terms)
        work = {"min": np.minimum, "max": np.maximum}.get(name)

        def values(rows: Mapping[str, np.ndarray]) -> np.ndarray:
            parts = [term.values(rows) for term in terms]
            if work is None:
                return np.abs(parts[0])
            result = parts[0]
            for part in parts[1:]:
                result = work(result, part)
            return result

        return Term("integer" if whole else "real", most, least, values, _most(term.decimals for term in terms))

    def _years(self, nodes: list[ast.expr]) -> Term:
        terms = [self._read(node) for node in nodes]
        if len(terms) != 2 or not {term.kind for term in terms} <= set(_UNITS_OF_A_DAY):
            raise self._mistake("`years` takes two dates, the later one first; datetimes count as their days.")
        last, first = terms

        def days(term: Term, rows: Mapping[str, np.ndarray]) -> np.ndarray:
            return np.floor_divide(term.values(rows), _UNITS_OF_A_DAY[term.kind])

        most = sum(term.most / _UNITS_OF_A_DAY[term.kind] for term in terms) / _FEWEST_DAYS + 1
        return Term("integer", most, 1.0, lambda rows: whole_years(days(last, rows), days(first, rows)), 0)

    def _rounded(self, nodes: list[ast.expr]) -> Term:
        if not 1 <= len(nodes) <= 2:
            raise self._mistake("`round` takes a number, and how many decimals to keep.")
        inner = self._number(nodes[0])
        if len(nodes) == 1:
            # What is no exact whole number any more counts as none.
            def whole(rows: Mapping[str, np.ndarray]) -> np.ndarray:
                rounded = np.rint(inner.values(rows))
                return np.where(np.abs(rounded) < LARGEST, rounded, np.nan)

            return Term("integer", min(inner.most + 1.0, LARGEST - 1), 1.0, whole, 0)
        decimals = nodes[1].value if isinstance(nodes[1], ast.Constant) else None
        if type(decimals) is not int or not 0 <= decimals <= MOST_DECIMALS:
            raise self._mistake(f"the decimals of `round` must be a whole number from 0 to {MOST_DECIMALS}.")
        return Term("real", inner.most + 1.0, 0.0, lambda rows: np.round(inner.values(rows), decimals), decimals)

    def _bounded(self, term: Term) -> Term:
        if term.kind != "real" and not term.most < LARGEST:
            raise self._mistake(
                "whole numbers in it may reach 2^53 by the declared bounds, where they would no longer be exact. "
                f"Narrow the bounds{', or multiply by 1.0 for reals' if term.kind == 'integer' else ''}."
            )
        return term


def _gift(kind: str) -> str:
    return f"a {kind}" if kind in _INSTANTS else "a number"


def round_to(numbers: np.ndarray, decimals: int) -> np.ndarray:
    """float64 [n]: the numbers with so many digits after the point; as they are where a float does not tell as many."""
    with np.errstate(invalid="ignore"):
        exact = np.abs(numbers) * 10.0**decimals < LARGEST / 2
    return np.where(exact, np.round(numbers, decimals), numbers) + 0.0  # no negative zeros


def near(one: np.ndarray, other: np.ndarray, apart: float = 0.0) -> np.ndarray:
    """bool [n]: which numbers differ by at most `apart`, beside what floating point makes of them."""
    with np.errstate(invalid="ignore"):
        return np.abs(one - other) <= apart + RELATIVE * np.maximum(np.abs(one), np.abs(other))


def _decimals_of(column: Column, kind: str) -> int | None:
    """The digits after the point of a column's values, as far as its facts say."""
    if kind != "real":
        return 0
    decimals: int | None = getattr(column, "decimals", None)
    if decimals is None and getattr(column, "step", None):
        return _digits((getattr(column, "lower", 0.0), getattr(column, "step", 0.0)))
    if hasattr(column, "values"):
        return _digits(tuple(column.values))
    return decimals


def _digits(numbers: tuple[object, ...]) -> int | None:
    """The most digits after the point of numbers as they are written; None for other values and beyond the limit."""
    try:
        written = [Decimal(str(number)).normalize().as_tuple().exponent for number in numbers]
    except InvalidOperation:
        return None
    return _most(-exponent if isinstance(exponent, int) else None for exponent in (*written, 0))


def _most(decimals: Iterable[int | None]) -> int | None:
    listed = list(decimals)
    known = [digits for digits in listed if digits is not None]
    return max(known) if len(known) == len(listed) and max(known) <= MOST_DECIMALS else None


def _after(sign: str, left: int | None, right: int | None) -> int | None:
    """The decimals of the result of an operation."""
    if sign == "//":
        return 0
    if sign in ("/", "%") or left is None or right is None:
        return None
    return _most([left + right if sign == "*" else max(left, right)])


def _quotient(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.where(right == 0, np.nan, np.floor_divide(left, right))


def _remainder(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.where(right == 0, np.nan, np.mod(left, right))


_WORK: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": _quotient,
    "%": _remainder,
}
