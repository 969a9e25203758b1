"""Numbers that lie on a grid, or hold one value often, where the schema draws others: with the line that would say so.

NOT PRIVATE: that all numbers of a column are halves is an exact fact about the records.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from counterfoil.schema.decimal_char import plain_number
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real, digits_for, digits_of
from counterfoil.schema.unit import bare

_FIRSTS = [Fraction(first) for first in ("1", "1.25", "2", "2.5", "5")]
_STEPS = sorted((first * Fraction(10) ** power for power in range(-6, 10) for first in _FIRSTS), reverse=True)
"""The grids that are looked for, coarsest first. Of two that hold all numbers, one is a multiple of the other,
or a third one of both."""

_OF_CLOCKS = (Fraction(60), Fraction(3600), Fraction(86_400))
"""Those of times between two moments that are stored to the minute, the hour, or the day."""

_PLAIN = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)
_ROUNDING = 1e-9
_FEWEST = 20
"""Fewer numbers say nothing about a grid."""
_FEWEST_DISTINCT = 3
"""Of which so many differ from each other and from 0."""
_OFF = 0.1
"""The share of a column's numbers from which on it is noted that drawn ones would lie elsewhere."""
_OFTEN = 0.05
"""The share of a column's numbers from which on one of them is a point that many records hold."""
_FEWEST_OFTEN = 10
_TIMES = 3
"""So many times as often as they would be drawn."""
_KEPT = 1000
"""Counts of single numbers that are kept: they are at most this part of all numbers too small."""
_MOST_POINTS = 8
_SOME = 0.002
"""The share of a column's numbers from which on one of them is a point where several such, a heap each,"""
_MOST_SEVERAL = 32
"""together hold `_OFF` of the numbers more than drawn ones would: whole thousands among amounts."""
_MOST_CODES = 100
"""Whole numbers that may be categories, of which so few hold"""
_NEARLY_ALL = 0.95
"""of a column's numbers,"""
_APART = 10
"""and lie so many steps from each other on average."""


@dataclass(frozen=True)
class GridNote:
    """What the numbers of a column show.

    Args:
        kind: "grid" or "points".
        text: a sentence, without its full stop.
        count: of numbers.
        values: for "points", the numbers with their counts.
    """

    kind: str
    text: str
    count: int
    values: tuple[tuple[str, int], ...] = ()


@dataclass
class _Between:
    """Numbers that lie on a grid, such as that of 0.0002, and not on the next decimal one, of 0.001.

    They alone tell it from the grid of all numbers of as many digits: where measures have three significant digits, a
    single one may have a fourth after the point.

    Args:
        records: how many have such a number.
        distinct: some of the numbers.
    """

    records: int = 0
    distinct: np.ndarray = field(default_factory=lambda: np.empty(0))

    def add(self, step: Fraction, found: np.ndarray, counts: np.ndarray) -> None:
        """Sees different numbers [n] on the grid of `step`, with their counts."""
        between = ~_lie_on(_power_of_ten(step), found)
        self.records += int(counts[between].sum())
        self.distinct = np.union1d(self.distinct, found[between][:_FEWEST_DISTINCT])[:_FEWEST_DISTINCT]

    @property
    def is_no_chance(self) -> bool:
        """Whether they are enough."""
        return self.records >= _FEWEST_OFTEN and len(self.distinct) == _FEWEST_DISTINCT


class GridCounts:
    """What was seen of a column's numbers so far, as far as grids and points need it.

    Args:
        column: the public facts.
    """

    def __init__(self, column: Integer | Real):
        self.column = column
        steps = [step for step in _STEPS if isinstance(column, Real) or step.denominator == 1]
        of_clocks = _OF_CLOCKS if isinstance(column, Integer) and column.between else ()
        self._left = sorted([*steps, *of_clocks], reverse=True)
        self._written: set[int] = set()
        self._between = {step: _Between() for step in self._left if step != _power_of_ten(step)}
        self._distinct = np.empty(0)
        self._seen = 0
        self._numbers, self._counts = np.empty(0), np.empty(0, dtype=np.int64)
        self._in_cells = np.zeros(column.n_bins, dtype=np.int64)

    def add(self, numbers: np.ndarray) -> None:
        """Sees numbers [n] within the bounds."""
        if not len(numbers):
            return
        found, counts = np.unique(numbers, return_counts=True)
        self._seen += len(numbers)
        self._in_cells += np.bincount(self.column.codes_of(numbers), minlength=len(self._in_cells))
        self._left = [step for step in self._left if _holds(step, found)]
        for step in self._left:
            if step in self._between:
                self._between[step].add(step, found, counts)
        self._distinct = np.union1d(self._distinct, found[found != 0][:_FEWEST_DISTINCT])[:_FEWEST_DISTINCT]
        self._count(found, counts)

    def read(self, texts: Iterable[str]) -> None:
        """Sees texts of cells, of which some were numbers before they were read."""
        sign = self.column.decimal_char
        numbers = [bare(text, self.column.unit) for text in texts]
        pointed = [plain_number(text, sign) for text in numbers] if sign else numbers
        plain = (text for text in pointed if _PLAIN.fullmatch(text))
        self._written |= {len(text.partition(".")[2]) for text in plain}

    @property
    def _notation(self) -> int:
        """With how many digits after the point all texts are written; 0 where they differ or there are none."""
        return next(iter(self._written)) if len(self._written) == 1 else 0

    def _count(self, found: np.ndarray, counts: np.ndarray) -> None:
        """Adds to the counts of single numbers, and keeps the largest (Misra and Gries 1982)."""
        numbers = np.union1d(self._numbers, found)
        totals = np.zeros(len(numbers), dtype=np.int64)
        totals[np.searchsorted(numbers, self._numbers)] += self._counts
        totals[np.searchsorted(numbers, found)] += counts
        if len(totals) > _KEPT:
            totals -= np.partition(totals, len(totals) - _KEPT - 1)[len(totals) - _KEPT - 1]
        self._numbers, self._counts = numbers[totals > 0], totals[totals > 0]

    def notes(self) -> Iterator[GridNote]:
        """A grid that drawn numbers would leave, and points that many records hold and few drawn ones would."""
        proposed: Integer | Real = self.column
        if (step := self._grid()) is not None:
            line, proposed = _line(self.column, step, self._notation)
            yield GridNote("grid", f"all its numbers {_said(step)}, and many drawn ones would not: {line}", self._seen)
        elif (step := self._finer()) is not None:
            line, proposed = _line(self.column, step, self._notation)
            fewer = f"its numbers {_said(step)}, and many drawn ones would have fewer: {line}"
            yield GridNote("grid", fewer, self._seen)
        elif self._loses_zeros():
            digits = f"{self._notation} digit{'s' if self._notation > 1 else ''} after the point"
            zeros = f"all its numbers are written with {digits}, and drawn ones would not be"
            yield GridNote("grid", f"{zeros}: write `decimals = {self._notation}`", self._seen)
        often = [(number, count) for number, count in self._often() if not _has_code(proposed, number)]
        if codes := self._codes(proposed):
            yield self._points(codes, coded=True)
        elif sum(count for _, count in often) >= max(_OFTEN * self._seen, 1):
            yield self._points(often, coded=isinstance(proposed, Integer) and proposed.digits > 0)

    def _coarsest(self) -> Fraction | None:
        """The coarsest grid that holds all numbers by no chance; None where there is none."""
        if self._seen < _FEWEST or len(self._distinct) < _FEWEST_DISTINCT:
            return None
        return next(
            (step for step in self._left if step not in self._between or self._between[step].is_no_chance), None
        )

    def _grid(self) -> Fraction | None:
        """The coarsest grid of all numbers, where drawn ones would lie beside it."""
        if (step := self._coarsest()) is None:
            return None
        drawn, which = _spacings(self.column)
        off = np.array([(one / step).denominator > 1 for one in drawn])[which]
        lows, highs = (ends[: self.column.n_bins] for ends in self.column.ranges)
        return step if self._in_cells[off & (lows < highs)].sum() >= _OFF * self._seen else None

    def _finer(self) -> Fraction | None:
        """The digits of all numbers, where many drawn ones would have fewer, as those of wide cells do."""
        plain = isinstance(self.column, Real) and not (self.column.step or self.column.decimals is not None)
        if not plain or (step := self._coarsest()) is None:
            return None
        drawn, which = _spacings(self.column)
        coarser = np.array([one > step for one in drawn])[which]
        lows, highs = (ends[: self.column.n_bins] for ends in self.column.ranges)
        many = self._in_cells[coarser & (lows < highs)].sum() >= _OFF * self._seen
        return step if many and step < 1 and _is_decimal(step) else None

    def _loses_zeros(self) -> bool:
        """Whether a step is declared, and all texts have digits that its numbers are written without."""
        column = self.column
        stepped = isinstance(column, Real) and column.step and column.decimals is None
        return (
            bool(stepped) and self._seen >= _FEWEST and self._notation >= max(1, digits_of(column.lower, column.step))
        )

    def _often(self) -> Iterator[tuple[float, int]]:
        """Numbers that many records hold, far more than would be drawn, the most frequent first."""
        least = max(_SOME * self._seen, _FEWEST_OFTEN)
        expected = [(number, count, self._drawn(number)) for number, count in self._most_frequent(_MOST_SEVERAL)]
        heaps = [one for one in expected if one[1] >= least and one[1] > _TIMES * one[2]]
        several = [(number, count) for number, count, _ in heaps if not _has_code(self.column, number)]
        single = [(number, count) for number, count in several[:_MOST_POINTS] if count >= _OFTEN * self._seen]
        hidden = sum(count - drawn for number, count, drawn in heaps if not _has_code(self.column, number))
        yield from single if single or hidden < _OFF * self._seen else several

    def _most_frequent(self, most: int) -> list[tuple[float, int]]:
        """Up to so many numbers with their counts, the most frequent first."""
        places = np.argsort(-self._counts, kind="stable")[:most]
        return [*zip(self._numbers[places].tolist(), self._counts[places].tolist(), strict=True)]

    def _drawn(self, number: float) -> float:
        """How often a number would be drawn, about."""
        code = int(self.column.codes_of(np.array([number]))[0])
        return float(self._in_cells[code]) / _values(self.column, code)

    def _codes(self, proposed: Integer | Real) -> list[tuple[float, int]]:
        """Whole numbers that share bins, where few numbers, far between, hold nearly all records, as codes do."""
        if not isinstance(proposed, Integer):
            return []
        held = [(number, count) for number, count in self._most_frequent(_MOST_CODES) if count >= _FEWEST_OFTEN]
        if not held or sum(count for _, count in held) < _NEARLY_ALL * self._seen:
            return []
        numbers = [number for number, _ in held]
        if max(numbers) - min(numbers) < _APART * len(held) * proposed.step:
            return []  # one that has few values, such as how many children there are
        hidden = [(number, count) for number, count in held if not _has_code(proposed, number)]
        hidden = [(number, count) for number, count in hidden if count > _TIMES * self._drawn(number)]
        return hidden if sum(count for _, count in hidden) >= _OFTEN * self._seen else []

    def _points(self, often: list[tuple[float, int]], *, coded: bool) -> GridNote:
        """The note on such numbers.

        Args:
            often: the numbers with their counts.
            coded: whether they may be codes, which are no amounts.
        """
        column, count = self.column, sum(count for _, count in often)
        numbers = [number for number, _ in often]
        share = f"{100 * count / self._seen:.3g}% of its numbers are"
        shared = "shares a bin" if len(numbers) == 1 else "share bins"
        if all(number in (0.0, *column.bounds) for number in numbers):  # no others are public
            exactly = " or ".join(_text(column, number) for number in numbers)
            points = ", ".join(_text(column, number) for number in sorted({*column.points, *numbers}))
            text = f"{share} exactly {exactly}, which {shared} with others: write `points = [{points}]`"
        else:
            which = "one number" if len(numbers) == 1 else f"one of {len(numbers)} numbers"
            listed = "list what the public knows to be frequent in `points` (--show-values names them)"
            if coded:
                listed = f'where they are codes, declare kind = "categorical" with their `values`; otherwise {listed}'
            text = f"{share} {which} that {shared} with others: {listed}"
        return GridNote("points", text, count, tuple((_text(column, number, 15), count) for number, count in often))


def _holds(step: Fraction, numbers: np.ndarray) -> bool:
    """Whether all numbers are multiples of the step, but for roundings."""
    most = float(np.abs(numbers).max()) / float(step)
    return bool(most * _ROUNDING < 0.1 and _lie_on(step, numbers).all())


def _lie_on(step: Fraction, numbers: np.ndarray) -> np.ndarray:
    """bool [n]: which numbers are multiples of the step, but for roundings."""
    multiples = numbers / float(step)
    return np.asarray(np.abs(multiples - np.rint(multiples)) <= _ROUNDING * np.abs(multiples))


def _spacings(column: Integer | Real) -> tuple[list[Fraction], np.ndarray]:
    """Steps, and for each bin int64 [bins] which of them the numbers that are drawn within it are multiples of."""
    if isinstance(column, Integer):
        return [Fraction(column.step)], np.zeros(column.n_bins, dtype=np.int64)
    if column.step or column.decimals is not None:
        step = Fraction(str(column.step)) if column.step else Fraction(1, 10 ** (column.decimals or 0))
        return [step], np.zeros(column.n_bins, dtype=np.int64)
    lows, highs = (ends[: column.n_bins] for ends in column.ranges)
    digits, which = np.unique(digits_for(highs - lows), return_inverse=True)
    return [Fraction(1, 10**count) for count in digits.tolist()], which


def _values(column: Integer | Real, code: int) -> int:
    """How many different numbers are drawn for a code, or one less."""
    low, high = (float(ends[code]) for ends in column.ranges)
    steps, which = _spacings(column)
    return 1 + math.floor((high - low) / float(steps[int(which[code])]))


def _digits(step: Fraction) -> int:
    """After the point."""
    return max(0, -math.floor(math.log10(step) + _ROUNDING))


def _power_of_ten(step: Fraction) -> Fraction:
    """The next one that is not less."""
    return Fraction(10) ** math.ceil(math.log10(step) - _ROUNDING)


def _is_decimal(step: Fraction) -> bool:
    """Whether the grid is that of all numbers of so many digits after the point."""
    return step == Fraction(1, 10 ** _digits(step))


def _said(step: Fraction) -> str:
    """What numbers on the grid are, as the rest of a sentence about them."""
    if not _is_decimal(step):
        return f"are multiples of {float(step):g}"
    digits = _digits(step)
    return f"have at most {digits} digit{'s' if digits > 1 else ''} after the point" if digits else "are whole"


def _line(column: Integer | Real, step: Fraction, written: int) -> tuple[str, Integer | Real]:
    """What to write, and the column with it; the bounds are moved outwards to the grid.

    Args:
        column: the public facts.
        step: of the grid.
        written: with how many digits after the point all texts are written; 0 where nothing is known of that.
    """
    facts: dict[str, Any] = {"step": int(step) if isinstance(column, Integer) else float(step)}
    if isinstance(column, Real):
        digits = digits_of(float(step))
        if _is_decimal(step) and written <= digits:
            made = _replaced(column, decimals=digits, step=0.0)
            if made is not None:
                return f"write `decimals = {digits}`", made
        notation = written or column.decimals
        facts["decimals"] = None if notation is None else max(notation, digits)
    return _stepped(column, step, facts)


def _stepped(column: Integer | Real, step: Fraction, facts: dict[str, Any]) -> tuple[str, Integer | Real]:
    """What to write so that the column has these facts, and the column with them."""
    own = ("bins", "resolution", "edges", "points")
    gone = [key for key in own if getattr(column, key, None)]
    for left_out in ([], gone):
        without = {key: type(getattr(column, key))() for key in left_out}
        for outwards in (True, False):
            changed = facts | _ends(column, step, outwards=outwards)
            made = _replaced(column, **changed, **without)
            if made is not None:
                return _written(column, changed, left_out), made
    return _written(column, facts | _ends(column, step, outwards=True), gone), column


def _ends(column: Integer | Real, step: Fraction, *, outwards: bool) -> dict[str, int | float]:
    """The bounds, moved to multiples of the step."""
    low, high = Fraction(str(column.lower)) / step, Fraction(str(column.upper)) / step
    ends = (math.floor(low), math.ceil(high)) if outwards else (math.ceil(low), math.floor(high))
    number = int if isinstance(column, Integer) else float
    return {"lower": number(step * ends[0]), "upper": number(step * ends[1])}


def _written(column: Integer | Real, facts: dict[str, Any], gone: list[str]) -> str:
    """The lines that change facts of a column, as an imperative."""
    texts = {"step": f"{facts['step']:g}", "decimals": str(facts.get("decimals"))}
    texts |= {key: f"{facts[key]:.16g}" for key in ("lower", "upper")}
    changed = [f"`{key} = {texts[key]}`" for key in facts if facts[key] != getattr(column, key)]
    keys = " and ".join(f"`{key}`" for key in gone)
    return f"write {' and '.join(changed)}{f' in place of {keys}' if gone else ''}"


def _replaced(column: Integer | Real, **facts: Any) -> Integer | Real | None:
    """The column with other facts; None where they contradict each other."""
    try:
        return replace(column, **facts)
    except SchemaError:
        return None


def _text(column: Integer | Real, number: float, digits: int = 6) -> str:
    """A number of the column as schemas have it: whole, or with so many digits."""
    return str(int(number)) if isinstance(column, Integer) else f"{number:.{digits}g}"


def _has_code(column: Integer | Real, number: float) -> bool:
    """Whether no other number has the code of this one."""
    return _values(column, int(column.codes_of(np.array([number]))[0])) == 1
