"""From the noisy places of a column's cells to its kind and its coarse range."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from counterfoil.curator.queries.column_places import DAYS, GRIDS
from counterfoil.discovery.day_order import days_first, exchanged
from counterfoil.discovery.moment_codes import (
    EITHER_MOMENTS,
    NOTATIONS,
    codes_of_moments,
    days_at_midnight,
    moments_at_midnight,
)
from counterfoil.discovery.reach_of_bounds import worthwhile
from counterfoil.noise.shown_counts import best_score, masses
from counterfoil.schema import compact_dates, midnight
from counterfoil.schema.clock import CLOCK_FORMATS
from counterfoil.schema.discovered import Kind
from counterfoil.schema.office_moments import (
    EITHER,
    MIDNIGHTS,
)
from counterfoil.schema.raw_cell import (
    AMBIGUOUS,
    CLASSES,
    CODES,
    DATE_FORMATS,
    DECIMALS,
    MOMENTS,
    NOT_APPLICABLE,
    PADDED,
)
from counterfoil.schema.value_grid import CELLS, WHOLE_PLACES, places_of
from counterfoil.schema.zoned_moments import IN_WORDS, ZONED, ZONED_DAYS

_ISO = DATE_FORMATS[0]
FEW_TEXTS = 0.1
"""A share of texts among the cells that are not missing, from which on the column is one of texts: categories may be
numbers as well, but texts among numbers would be lost."""

_REALS = 0.02
"""A share of numbers that are not whole, from which on a column is one of reals, where they surely are no noise."""

_SURELY = 5.0
"""Deviations of noise; a column of whole numbers that was taken for one of reals would lose what they are."""

_NEARLY_ALL = 0.9
"""A share of the numbers that read as days, from which on they are dates: of numbers up to 21 million in no order a
thousandth do, and of years with a number behind them a tenth. And of the moments that are at midnight."""

_OF_DAYS = int(places_of(np.array([20_000_101.0]))[0])
"""The place on the grid of all integers that read as days."""

_LONGER = 0.05
"""A share of numbers that may have more digits after the point than is said of all."""

NUMBERS = (*(CODES[name] for name in GRIDS), *PADDED.values())
_PADDED = frozenset(PADDED.values())
_BROKEN = tuple(name for name in GRIDS if name != "integer")
_WORDS: Mapping[str, str] = {
    "boolean": "true or false",
    NOT_APPLICABLE: f'the text "{NOT_APPLICABLE}"',
    "integer": "whole numbers",
    "tenths": "numbers with tenths",
    "hundredths": "numbers with hundredths",
    "real": "numbers with more digits",
    "infinite": "infinities",
    "datetime": "moments",
    "midnight": "moments at midnight",
    **IN_WORDS,
    "text": "texts",
    "stranger": "objects",
} | {
    f"ambiguous{mark}": f"%d{mark}%m{mark}%Y or %m{mark}%d{mark}%Y" for mark in "-/."
} | {
    f"{EITHER} {clock}": f"%d/%m/%Y {clock} or %m/%d/%Y {clock}" for clock in (*MIDNIGHTS, *MIDNIGHTS.values())
}  # fmt: skip
"""How cells of a class read; those of dates as their notation, which is the name of the class."""

_CLOCKS = [CODES[name] for name in CLOCK_FORMATS]
_UNCOUNTED = np.isin(np.arange(len(CLASSES)), [code for code in NUMBERS if code != DAYS])
_EVERYWHERE = np.ones(CELLS, dtype=bool)
_WHOLE = np.isin(np.arange(CELLS), WHOLE_PLACES)
_POSSIBLE = np.concatenate([~_UNCOUNTED, _WHOLE, *[_EVERYWHERE for _ in _BROKEN]])
"""bool [PLACES]: where a cell can be; the others hold nothing but noise."""


@dataclass(frozen=True, eq=False)
class Votes:
    """The noisy places of one column's cells.

    Args:
        counts: float64 [PLACES], as `ColumnPlaces` orders them.
        deviation: of the noise of each.
        least: how many deviations a sum must exceed (`shown_counts.sure`).
        absent: the classes of missing cells.
        units: float64 [UNIT_PLACES], the places of numbers with units beside them; None where none are looked for, or
            where they were taken for what they are (`units.read_with_unit`).
        padded: float64 [PADDED_PLACES], the places of numbers with leading zeros; None where they were taken for what
            they are (`padding.read_with_padding`).
        digits: how many digits numbers with leading zeros have; 0 where none show, or where they vary.
        zeros_vary: whether numbers with leading zeros show that no number of digits describes.
        unpadded: whether numbers surely show that have fewer digits and no leading zeros, as 7 beside 007.
        days: whether integers that read as days are dates.
        midnights: whether moments at midnight are.
        clock: how times of day are written where nearly all cells are some, one of `CLOCK_FORMATS`.
        clocks: the noisy number of cells that are written so.
        unplaced: the noisy number of numbers with leading zeros that hide and so have no place in `counts`, and how
            many counts it sums up.
    """

    counts: np.ndarray
    deviation: float
    least: float
    absent: tuple[str, ...] = ("missing",)
    units: np.ndarray | None = None
    padded: np.ndarray | None = None
    digits: int = 0
    zeros_vary: bool = False
    unpadded: bool = False
    days: bool = False
    midnights: bool = False
    clock: str = ""
    clocks: int = 0
    unplaced: tuple[float, int] = (0.0, 0)

    def with_days(self, *, may_be_dates: bool) -> Votes:
        """The same, with integers that read as days for what they are: dates, or numbers at their place of the grid.

        They are dates where nearly all numbers are such. What noise may be alone is left out.
        """
        count, others = float(self.counts[DAYS]), float(sum(self._mass(name) for name in GRIDS))
        surely = count > self.least * self.deviation
        if may_be_dates and surely and count >= _NEARLY_ALL * (count + others):
            return replace(self, days=True)
        counts = self.counts.copy()
        counts[DAYS] = 0.0
        if surely:
            counts[len(CLASSES) + GRIDS.index("integer") * CELLS + _OF_DAYS] += count
        return replace(self, counts=counts)

    def with_midnights(self) -> Votes:
        """The same, with moments at midnight for the dates that they are where nearly all moments are such."""
        others, midnights = codes_of_moments(self.moment_format())
        count = float(self.counts[midnights].sum())
        surely = count > self.least * self.deviation * len(midnights) ** 0.5
        return replace(self, midnights=surely and count >= _NEARLY_ALL * (count + max(self.counts[others].sum(), 0.0)))

    def with_clocks(self) -> Votes:
        """The same, with times of day for the texts that they are. What noise may be alone is left out.

        A column is one of times of day where nearly all cells of which it shows what they are have one notation. Beside
        the noisy number of records, which has the noise of all places, full columns would be none.
        """
        shown = {name: self.of(name) for name in CLOCK_FORMATS if self._shows(name)}
        counts = self.counts.copy()
        counts[_CLOCKS] = 0.0
        counts[CODES["text"]] += sum(shown.values())
        most = max(shown, key=lambda name: shown[name], default="")
        texts = replace(self, counts=counts)
        if not most or shown[most] < _NEARLY_ALL * sum(texts.masses().values()):
            return texts
        return replace(texts, clock=most, clocks=shown[most])

    def beside(self, other: Votes) -> Votes:
        """Both answers to the same question as one, each weighted by its precision."""
        one, two = self.deviation**-2.0, other.deviation**-2.0
        counts = (one * self.counts + two * other.counts) / (one + two)
        units = None
        if self.units is not None and other.units is not None:
            units = (one * self.units + two * other.units) / (one + two)
        padded = None
        if self.padded is not None and other.padded is not None:
            padded = (one * self.padded + two * other.padded) / (one + two)
        return Votes(counts, (one + two) ** -0.5, self.least, self.absent, units, padded)

    @property
    def missing(self) -> int:
        """The noisy number of missing cells."""
        return sum(map(self.of, self.absent))

    @property
    def missing_deviation(self) -> float:
        """Of its noise."""
        return self.deviation * len(self.absent) ** 0.5

    @property
    def missing_words(self) -> tuple[str, ...]:
        """How missing cells of a column without texts read, beside empty ones; these come first where they are more."""
        if NOT_APPLICABLE not in self.absent:
            return ()
        empty = self._shows("missing") and self.of("missing") > self.of(NOT_APPLICABLE)
        return ("", NOT_APPLICABLE) if empty else (NOT_APPLICABLE,)

    def where_not_applicable(self) -> Votes:
        """The same of a column whose cells that read `NOT_APPLICABLE` are missing."""
        return replace(self, absent=("missing", NOT_APPLICABLE))

    @property
    def hidden_truths(self) -> bool:
        """Whether `NOT_APPLICABLE` shows and no other word for true or false does."""
        return self._shows(NOT_APPLICABLE) and not self._shows("boolean")

    @property
    def total(self) -> int:
        """The noisy number of records, but for numbers with leading zeros that hide."""
        return round(float(self.counts[_POSSIBLE].sum()))

    @property
    def total_deviation(self) -> float:
        """Of its noise."""
        return self.deviation * float(_POSSIBLE.sum()) ** 0.5

    @property
    def everything(self) -> tuple[float, float]:
        """The noisy number of records, those that hide with the others, and the deviation of its noise."""
        hidden, places = self.unplaced
        return self.total + hidden, self.deviation * float(_POSSIBLE.sum() + places) ** 0.5

    def kind(self) -> Kind:
        """What most cells are; the best guess where nothing shows above the noise."""
        masses = self.masses()
        total = sum(masses.values())
        if total == 0:
            return max(self._scores().items(), key=lambda one: one[1])[0]
        if masses["text"] >= FEW_TEXTS * total:
            return "text"
        numbers = masses["integer"] + masses["real"]
        others: tuple[Kind, ...] = ("boolean", "date", "datetime")
        best = max(others, key=lambda kind: masses[kind])
        # One word of two says less than any number: beside numbers it stands for what is missing.
        beside_numbers = best == "boolean" and self.hidden_truths and numbers > 0
        if masses[best] > numbers and not beside_numbers:
            # Beside texts, and without any other word for a truth, it is one of them: N beside J, for nein and ja.
            return "text" if best == "boolean" and self.hidden_truths and masses["text"] > 0 else best
        return self.number_kind()

    def number_kind(self) -> Kind:
        """Whether the numbers of a column are whole."""
        whole, broken = self._mass("integer"), self._broken
        return "real" if broken > max(_REALS * (whole + broken), _SURELY * self.deviation) or not whole else "integer"

    def decimals(self) -> int | None:
        """How many digits after the point say nearly all numbers that have any; None for more than two.

        Whole numbers say nothing of it: where most fees are 0.00, the few that are not have cents.
        """
        parts = {name: self._mass(name) for name in _BROKEN}
        broken = sum(parts.values())
        for name, digits in DECIMALS.items():
            longer = sum(mass for other, mass in parts.items() if DECIMALS.get(other, 9) > digits)
            if name in parts and broken and longer <= _LONGER * broken:
                return digits
        return None

    @property
    def nearly_whole(self) -> bool:
        """Whether few numbers have digits after the point."""
        return self._broken <= _LONGER * (self._mass("integer") + self._broken)

    def masses(self) -> dict[Kind, float]:
        """By kind, about how many cells there are; 0 where none show."""
        kinds: tuple[Kind, ...] = get_args(Kind)
        return {kind: self._broken if kind == "real" else self._mass(kind) for kind in kinds}

    def date_format(self) -> str:
        """How most dates are written, as `strftime`; empty for ISO 8601. Days come first where that can't be told."""
        if self.days:
            return compact_dates.FORMAT
        found = self.moment_format()
        # Moments with an offset are read as their days, whatever the time: midnights in another zone are none in UTC.
        moments = found if self.midnights or found == ZONED else ""
        best = max((*DATE_FORMATS, days_at_midnight(moments)), key=self._written)
        return "" if best == _ISO else self._in_order("date", best)

    def moment_format(self) -> str:
        """How most moments are written, as `strptime` reads them; empty for ISO 8601, and where no other shows."""
        best = max(NOTATIONS, key=self._moments)
        return self._in_order("datetime", best) if self._moments(best) > self.least * self.deviation else ""

    def hides_order(self, kind: Kind, date_format: str) -> bool:
        """Whether no cell surely shows which of day and month comes first, among such as have two readings."""
        if not (other := exchanged(date_format)):
            return False
        one, two = set(codes_counted(kind, date_format)), set(codes_counted(kind, other))
        either, own, others = (self.counted(sorted(codes)) for codes in (one & two, one - two, two - one))
        noise = math.hypot(own[1], others[1])
        return either[0] > self.least * either[1] and abs(own[0] - others[0]) <= self.least * noise

    def _in_order(self, kind: Kind, date_format: str) -> str:
        """The format, with the day first where nothing shows which comes first: noise alone would say it."""
        return days_first(date_format) if self.hides_order(kind, date_format) else date_format

    def _moments(self, text_format: str) -> float:
        """The noisy number of moments that are written so; days come first where that can't be told."""
        counted = float(sum(self.counts[codes].sum() for codes in codes_of_moments(text_format)))
        return counted + (0.5 if text_format.startswith("%d") else 0.0)

    def share_read(
        self, kind: Kind, date_format: str, records: float, error: float, *, whole: bool = True
    ) -> tuple[float, float]:
        """Which share of the cells that are not missing a column of this kind reads, and its standard error.

        The places of these cells are summed up, or those of all others where they are fewer: noise grows with them.

        Args:
            kind, date_format: of the column.
            records: about how many cells are not missing, at least 1.
            error: the deviation of the noise of that.
            whole: whether each cell has a place here, and none is a number with another unit.
        """
        read = _places_read(kind, date_format)
        rest = _POSSIBLE & ~read
        rest[[CODES[name] for name in self.absent]] = False
        direct = not whole or int(read.sum()) <= int(rest.sum())
        places = read if direct else rest
        share = min(max(float(self.counts[places].sum()) / records, 0.0), 1.0)
        noise = math.hypot(self.deviation * math.sqrt(int(places.sum())), share * error) / records
        return share if direct else 1 - share, noise

    def others(self, kind: Kind, date_format: str) -> tuple[tuple[str, int], ...]:
        """How the cells read that a column of this kind does not read, as far as they surely show, and how many."""
        read = _classes_read(kind, date_format) | _read_besides(kind, date_format)
        others = [name for name, code in CODES.items() if name not in {*read, *self.absent} and code not in _PADDED]
        counts = {name: self._mass(name) if name in GRIDS else float(self.of(name)) for name in others}
        if kind == "boolean":  # 1 and 0 are truths
            whole = masses(self.grid("integer"), self.deviation, self.least)
            counts["integer"] = float(whole[~np.isin(WHOLE_PLACES, places_of(np.array([0.0, 1.0])))].sum())
        shown = {name: count for name, count in counts.items() if count > self.least * self.deviation}
        for either in (*(f"ambiguous{mark}" for mark in "-/."), *EITHER_MOMENTS):
            mark, clock = either[len("ambiguous")], either[len("ambiguous/") :]
            both = (f"%d{mark}%m{mark}%Y{clock}", f"%m{mark}%d{mark}%Y{clock}")
            likely = max(both, key=lambda name: shown.get(name, 0.0))
            if likely in shown:  # those with two readings are of it as well
                shown[likely] += shown.pop(either, 0.0)
        return tuple((_WORDS.get(name, name), round(count)) for name, count in shown.items())

    def coarse_range(self, kind: Kind) -> tuple[int, int] | None:
        """Between which places of the grid bounds are worth their codes; None where no numbers show."""
        return worthwhile(self.numbers(kind))

    def tails(self, kind: Kind, first: int, last: int) -> tuple[float, float]:
        """About how many numbers show at the places below the first and above the last one."""
        numbers = self.numbers(kind)
        return float(numbers[:first].sum()), float(numbers[last + 1 :].sum())

    def numbers(self, kind: Kind) -> np.ndarray:
        """float64 [CELLS]: about how many numbers are at each place, 0 where none show.

        Whole numbers and such of few digits may be among reals: the grids of the classes that show are added up.
        """
        names = ("integer",) if kind == "integer" else tuple(name for name in GRIDS if self._mass(name))
        result = np.zeros(CELLS)
        if names == ("integer",):
            result[WHOLE_PLACES] = masses(self.grid("integer"), self.deviation, self.least)
        elif names:
            together = np.sum([self._whole_grid(name) for name in names], axis=0)
            result = masses(together, self.deviation * len(names) ** 0.5, self.least)
            # What shows in one grid may be hidden by the noise of all.
            each = np.sum([masses(self._whole_grid(name), self.deviation, self.least) for name in names], axis=0)
            result = np.where(result > 0, result, each)
        return result

    def line(self, kind: Kind) -> tuple[np.ndarray, float]:
        """float64 [CELLS], the noisy numbers at each place of the grid, with the deviation of the noise of each."""
        names = ("integer",) if kind == "integer" else tuple(name for name in GRIDS if self._mass(name)) or ("real",)
        together = np.sum([self._whole_grid(name) for name in names], axis=0)
        return together, self.deviation * len(names) ** 0.5

    def numbers_between(self, first: int, last: int) -> tuple[float, float]:
        """The noisy number of cells with a number at some places of the grid, and the deviation of its noise."""
        part = slice(first, last + 1)
        whole = self._whole_grid("integer")[part][_WHOLE[part]]
        counts = np.concatenate([whole, *[self._whole_grid(name)[part] for name in _BROKEN]])
        return float(counts.sum()), self.deviation * len(counts) ** 0.5

    def places(self, name: str) -> np.ndarray:
        """float64 [CELLS]: the noisy counts of a class of numbers, place by place."""
        return self._whole_grid(name)

    def grid(self, name: str) -> np.ndarray:
        """float64 [n]: the counts of a class of numbers along the line, of integers at the places that hold any."""
        counts = self._whole_grid(name)
        return counts[WHOLE_PLACES] if name == "integer" else counts

    def _whole_grid(self, name: str) -> np.ndarray:
        start = len(CLASSES) + GRIDS.index(name) * CELLS
        return self.counts[start : start + CELLS]

    @property
    def _broken(self) -> float:
        return float(sum(masses(self.grid(name), self.deviation, self.least).sum() for name in _BROKEN))

    def _mass(self, kind: str) -> float:
        """About how many cells of a kind, or of a class of numbers, there are where they show."""
        counts = self.grid(kind) if kind in GRIDS else self._counts_for(kind)
        return float(masses(counts, self.deviation, self.least).sum())

    def of(self, name: str) -> int:
        """The noisy number of cells of a class without numbers."""
        return int(self.counts[CODES[name]])

    def counted(self, codes: Sequence[int]) -> tuple[float, float]:
        """The noisy number of cells of some classes without numbers, and the deviation of its noise."""
        return float(self.counts[list(codes)].sum()), self.deviation * len(codes) ** 0.5

    def _shows(self, name: str) -> bool:
        return self.of(name) > self.least * self.deviation

    def _counts_for(self, kind: str) -> np.ndarray:
        """float64 [n]: the counts that speak for a kind; of reals those with any digits."""
        if kind == "integer":
            return self.grid(kind)
        if kind == "real":
            return np.concatenate([self.grid(name) for name in _BROKEN])
        if kind == "boolean":
            return np.array([self.of("boolean"), self.of(NOT_APPLICABLE)])
        midnights = codes_of_moments(self.moment_format())[1] if self.midnights else []
        if kind == "datetime":
            return self.counts[[code for code in map(CODES.__getitem__, MOMENTS) if code not in midnights]]
        if kind != "date":
            return np.array([self.of(kind)])
        dates = [CODES[name] for name in (*DATE_FORMATS, *AMBIGUOUS)]
        return self.counts[[*[DAYS] * self.days, *midnights, *dates]]

    def _written(self, date_format: str) -> float:
        if (moments := moments_at_midnight(date_format)) is not None:
            return self._moments(moments)
        mark = date_format[2]
        sure, either = self.of(date_format), 0 if date_format.startswith("%Y") else self.of(f"ambiguous{mark}")
        return sure + max(either, 0) + (0.5 if date_format.startswith("%d") else 0.0)

    def _scores(self) -> dict[Kind, float]:
        kinds: tuple[Kind, ...] = get_args(Kind)
        return {kind: best_score(self._counts_for(kind), self.deviation) for kind in kinds}


def _classes_read(kind: Kind, date_format: str) -> frozenset[str]:
    """The classes of cells that a column of this kind reads; any is a text, and of dates one notation."""
    if kind == "text":
        return frozenset(CLASSES)
    if kind == "boolean":
        return frozenset(("boolean", NOT_APPLICABLE))
    if kind in ("integer", "real"):
        return frozenset(GRIDS if kind == "real" else ("integer",))  # those with leading zeros were put there
    if date_format == compact_dates.FORMAT:
        return frozenset()  # of integers those alone that read as days, which have a place of their own
    return frozenset(CLASSES[code] for code in codes_counted(kind, date_format))


def _read_besides(kind: Kind, date_format: str) -> frozenset[str]:
    """The classes of other cells that it reads: in ISO 8601, the days of moments, and days as their first moments."""
    plain = kind in ("date", "datetime") and date_format in ("", midnight.FORMAT, ZONED, ZONED_DAYS)
    return frozenset(("datetime", "midnight", _ISO)) if plain else frozenset()


def _places_read(kind: Kind, date_format: str) -> np.ndarray:
    """bool [PLACES]: where the cells are that say that a column is of this kind, as far as a cell can be there."""
    # Words such as F and yes are texts beside others, though they may be truths elsewhere.
    classes = ("text", "boolean", NOT_APPLICABLE) if kind == "text" else _classes_read(kind, date_format)
    read = np.zeros(len(_POSSIBLE), dtype=bool)
    read[DAYS] = date_format == compact_dates.FORMAT
    for name in classes:
        if name in GRIDS:
            start = len(CLASSES) + GRIDS.index(name) * CELLS
            read[start : start + CELLS] = True
        else:
            read[CODES[name]] = True
    return read & _POSSIBLE


def codes_counted(kind: Kind, date_format: str) -> tuple[int, ...]:
    """The classes of cells that are numbers or days of a column of this kind, written so."""
    if kind == "date":
        written = date_format or _ISO
        if written == compact_dates.FORMAT:
            return (DAYS,)
        if (moments := moments_at_midnight(written)) is not None:
            of_times, midnights = codes_of_moments(moments)
            # In ISO 8601 a moment is read as its day; 00:00 in a format reads no other time.
            return tuple((*of_times, *midnights) if moments in ("", ZONED) else midnights)
        either = () if written.startswith("%Y") else (CODES[f"ambiguous{written[2]}"],)
        return (CODES[written], *either)
    if kind == "datetime":
        return tuple(code for codes in codes_of_moments(date_format) for code in codes)
    return NUMBERS
