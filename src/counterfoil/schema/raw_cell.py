"""A cell of a column that nobody has described: what it is, by public rules, and the number or the day in it.

Each cell has exactly one of `CLASSES`, which depends on nothing but the cell itself:

* *missing* where it is null, NaN, empty, or one of `MISSING_WORDS`, but not "Na", which is sodium;
* by the storage's own type where that is no text: booleans, numbers, dates, datetimes;
* a text that is true, false, yes, no, t, f, y or n in any case is a boolean, of which "N" has a class of its own:
  tables write it for "no" beside "Y", and for "not applicable" beside numbers;
* a number, of the storage's own or written in digits, is an *integer* where it is whole, however it is written (39.0,
  1e3), of *tenths* where one digit after the point says all of it, of *hundredths* where two do, and else a *real*;
  numbers beyond floating point, like infinities, are *infinite*;
* a text of 2 to 15 digits that begins with 0, as 007 does, is of a class of its own for each number of digits
  (`zero_padding`);
* a text of a year of four digits, a month and a day of one or two is a date, in the orders of `DATE_FORMATS`, where
  there is such a day; one with the year last that has two readings, such as 3/4/2020, is an *ambiguous* date;
* a date in ISO 8601 followed by a time of day without a zone is a datetime, and a *midnight* where the day begins then;
* a text that is a moment as offices write it, 31.01.2020 14:35 or 1/31/2020 2:35 PM, is of a class for its notation
  (`office_moments`);
* a date in ISO 8601 followed by a time of day and an offset from UTC is of one of two classes (`zoned_moments`), by
  whether it is the beginning of a day in UTC;
* a text that is a time of day alone has a class for each of `clock.CLOCK_FORMATS`;
* every other text is a text, and an object that has no text is a *stranger*.

Where units are looked for, a text that is a number with one of `unit.KNOWN` beside it is none of these but of the class
of that number and that unit, of which each pair is a class of its own (`with_unit`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from counterfoil.schema.clock import CLOCK_FORMATS, clock_format
from counterfoil.schema.column import Column
from counterfoil.schema.decimal_char import DECIMAL_CHARS, plain_number
from counterfoil.schema.midnight import are_midnights
from counterfoil.schema.office_moments import OFFICE_CLASSES, office_moment
from counterfoil.schema.plain_arrays import array_of, filled, numpy_of
from counterfoil.schema.spelling import is_duration, is_too_fine
from counterfoil.schema.stored_numbers import floats_of_decimals, floats_of_narrow
from counterfoil.schema.unit import KNOWN, bare, unit_of
from counterfoil.schema.values import NUMBER, Values, distinct_texts, of_each_type
from counterfoil.schema.zero_padding import WIDTHS, padded_class, width_of
from counterfoil.schema.zoned_moments import ZONED, ZONED_DAYS, zoned_moment

MISSING_WORDS = ("?", "na", "n/a", "nan", "null", "#n/a", "<na>", "n.a.", ".", "..", "...", ":", "k.a.", "k. a.")
"""Texts, in lower case, that tables write in any case for a missing value: points are those of SAS, Stata and of
statistical offices, a colon is Eurostat's, and k.A. is German. A dash is none of them: to statistical offices it is a
plain zero, and to laboratories a negative result, as n.d. is."""

_SODIUM = "Na"
"""As it is written: a quarter of a laboratory's results may be of it, and hardly a table writes a missing value so."""

TRUTHS: Mapping[str, float] = {"true": 1, "t": 1, "yes": 1, "y": 1, "false": 0, "f": 0, "no": 0, "n": 0}

NOT_APPLICABLE = "N"
"""As it is written: a truth that may stand for a missing value."""

DATE_FORMATS = tuple(f"{first}{mark}{second}{mark}{third}" for first, second, third, marks in (
    ("%Y", "%m", "%d", "-/."), ("%d", "%m", "%Y", "-/."), ("%m", "%d", "%Y", "-/."),
) for mark in marks)  # fmt: skip
"""As `strftime` writes them; the first is that of ISO 8601."""

AMBIGUOUS = tuple(f"ambiguous{mark}" for mark in "-/.")
CLASSES = (
    *(
        "missing",
        "boolean",
        NOT_APPLICABLE,
        "integer",
        "tenths",
        "hundredths",
        "real",
        "infinite",
        "datetime",
        "midnight",
        "text",
        "stranger",
    ),
    *DATE_FORMATS,
    *AMBIGUOUS,
    *map(padded_class, WIDTHS),
    *CLOCK_FORMATS,
    *OFFICE_CLASSES,
    ZONED,
    ZONED_DAYS,
)
"""In the order of their codes."""
MOMENTS = ("midnight", "datetime", *OFFICE_CLASSES, ZONED, ZONED_DAYS)
"""The classes of moments, whose numbers are microseconds."""
OPEN_CLASSES = ("comma", "point", "pointed", "spaced", "grouped", "swapped")
"""Those after them, of numbers that not every decimal sign reads alike (`open_numbers`)."""
PER_UNIT = len(CLASSES) + len(OPEN_CLASSES)
"""Codes without a unit; each unit has as many of its own, of which most are of no cell."""
CODES: Mapping[str, int] = {name: code for code, name in enumerate(CLASSES)}
PADDED: Mapping[int, int] = {width: CODES[padded_class(width)] for width in WIDTHS}
"""The codes of whole numbers with leading zeros, by how many digits they have."""

DECIMALS: Mapping[str, int] = {"integer": 0, "tenths": 1, "hundredths": 2}
"""Digits after the point, by class; reals have more."""
_MOST_SPACED: Mapping[str, float] = {"f8": 2.0**36, "f4": 2.0**12, "f2": 0.0}
"""By type of float: from here on numbers are so far apart that many are the nearest one to some hundredth."""

_DAY = re.compile(r"(\d{4}|\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{1,2})", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?", re.ASCII)
LONGEST = 1000  # longer texts, and none but these, are texts without being read
_EPOCH = date(1970, 1, 1).toordinal()
_EPOCH_MOMENT = datetime(1970, 1, 1)

Cell = tuple[int, float]
_CELL = np.dtype([("code", np.uint16), ("number", np.float64)])
_UNITS: Mapping[str, int] = {unit: (place + 1) * PER_UNIT for place, unit in enumerate(KNOWN)}


def with_unit(code: int, unit: str) -> int:
    """The code of the numbers of a class that have this one of `unit.KNOWN` beside them."""
    return code + _UNITS[unit]


def without_unit(codes: np.ndarray) -> np.ndarray:
    """int64 [n]: the codes of the same numbers without their units."""
    return codes % PER_UNIT


def unit_places(codes: np.ndarray) -> np.ndarray:
    """int64 [n]: which of `unit.KNOWN` stands beside each, -1 where none does."""
    return codes // PER_UNIT - 1


def is_missing_word(text: str) -> bool:
    """Whether a text is one of `MISSING_WORDS`, in any case, and not sodium."""
    return text.casefold() in MISSING_WORDS and text != _SODIUM


def cell_of(text: str) -> Cell:
    """The code of its class, and its number, of a canonical text in plain notation; NaN where it has none.

    Numbers as they are, booleans as 1 and 0, dates as days and datetimes as microseconds since 1970.
    """
    return _cells_of_texts([text], "")[0].item()


def _cells_of_texts(texts: Sequence[str], decimal_char: str, unit: str = "", *, units: bool = False) -> np.ndarray:
    """`_CELL` [n]: what `cell_of` says of each. Numbers are looked at together: there may be as many as rows."""
    digits = [bare(text, unit) for text in texts] if unit else texts  # words and dates have no unit beside them
    cells = np.empty(len(texts), dtype=_CELL)
    cells["code"], cells["number"] = CODES["text"], math.nan
    short = [place for place, text in enumerate(texts) if len(text) <= LONGEST]
    if decimal_char:
        texts_of_numbers = {place: plain for place in short if (plain := plain_number(digits[place], decimal_char))}
    else:
        texts_of_numbers = {place: digits[place] for place in short if NUMBER.fullmatch(digits[place])}
    numeric = [*texts_of_numbers]
    if numeric:
        cells[numeric] = _numbers(pa.array([*map(float, texts_of_numbers.values())], pa.float64()))
    for place in numeric:
        if padded := width_of(texts[place]):
            cells["code"][place] = PADDED[padded]
    if len(numeric) < len(short):
        others = [place for place in short if place not in texts_of_numbers]
        cells[others] = [_word_of(texts[place]) for place in others]
    return _with_units(cells, texts, decimal_char) if units else cells


def _with_units(cells: np.ndarray, texts: Sequence[str], decimal_char: str) -> np.ndarray:
    """The same cells, where texts that are numbers with a unit are of its classes.

    Beside a unit separators of thousands are read where no decimal sign is stated: $1,234 is no list of numbers.
    """
    beside = {
        place: unit
        for place in np.flatnonzero(cells["code"] == CODES["text"]).tolist()
        if len(texts[place]) <= LONGEST and (unit := unit_of(texts[place]))
    }
    if not beside:
        return cells
    numbers = _cells_of_texts([bare(texts[place], unit) for place, unit in beside.items()], decimal_char or ".")
    numbers["code"][np.isin(numbers["code"], [*PADDED.values()])] = CODES["integer"]  # zeros before a unit say nothing
    for (place, unit), cell in zip(beside.items(), numbers, strict=True):
        if cell["code"] in _OF_NUMBERS:
            cells[place] = (with_unit(int(cell["code"]), unit), cell["number"])
    return cells


_OF_NUMBERS = frozenset(CODES[name] for name in ("integer", "tenths", "hundredths", "real"))


@lru_cache(maxsize=65_536)
def _word_of(text: str) -> Cell:
    """What `cell_of` says of a text that is no number."""
    folded = text.casefold()
    if not text or is_missing_word(text):
        return CODES["missing"], math.nan
    if folded in TRUTHS:
        return CODES[text if text == NOT_APPLICABLE else "boolean"], TRUTHS[folded]
    if text[0].isdigit():
        if (dated := _day(text) or _moment(text)) is not None:
            return dated
        if (moment := office_moment(text) or zoned_moment(text)) is not None:
            return CODES[moment[0]], moment[1]
        if written := clock_format(text):
            return CODES[written], math.nan
    return CODES["text"], math.nan


def _day(text: str) -> Cell | None:
    if (match := _DAY.fullmatch(text)) is None or (len(match[1]) == 4) == (len(match[4]) == 4):
        return None
    mark = match[2]
    if len(match[1]) == 4:
        readings = {f"%Y{mark}%m{mark}%d": (match[1], match[3], match[4])}
    else:
        readings = {
            f"%d{mark}%m{mark}%Y": (match[4], match[3], match[1]),
            f"%m{mark}%d{mark}%Y": (match[4], match[1], match[3]),
        }
    days = {name: day for name, parts in readings.items() if (day := _days(*map(int, parts))) is not None}
    if not days:
        return None
    name = next(iter(days)) if len(days) == 1 else f"ambiguous{mark}"
    return CODES[name], float(next(iter(days.values())))


def _days(year: int, month: int, day: int) -> int | None:
    try:
        return date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        return None


def _moment(text: str) -> Cell | None:
    if _MOMENT.fullmatch(text) is None:
        return None
    try:
        elapsed = datetime.fromisoformat(text) - _EPOCH_MOMENT
    except ValueError:
        return None
    number = float((elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds)
    return CODES["datetime" if elapsed.seconds or elapsed.microseconds else "midnight"], number


def cells_of(
    values: Values, decimal_char: str = "", unit: str = "", *, units: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """uint16 [n], the code of each cell's class, and float64 [n], its number; NaN where it has none.

    Args:
        decimal_char: that of texts, as columns of numbers state it; plain notation where empty.
        unit: what may stand beside numbers of texts.
        units: whether texts with one of `unit.KNOWN` have classes of their own.

    Raises ArrowNotImplementedError for a type that has no texts, TypeError for nested values; both for any values.
    """
    stranger = np.array((CODES["stranger"], math.nan), dtype=_CELL)
    cells = of_each_type(values, lambda array: _read(array, decimal_char, unit, units), stranger=stranger, dtype=_CELL)
    return cells["code"].copy(), cells["number"].copy()


def _read(array: pa.Array, decimal_char: str, unit: str, units: bool) -> np.ndarray:
    """`_CELL` [n]: the cells of an array of one plain type."""
    kind = array.type
    if is_duration(kind) or is_too_fine(kind):
        raise pa.ArrowNotImplementedError(f"No texts for the type {kind}.")
    if pa.types.is_boolean(kind):
        return _typed("boolean", array.cast(pa.uint8()).cast(pa.float64()))
    if pa.types.is_float16(kind) or pa.types.is_float32(kind):
        narrow = array.to_numpy(zero_copy_only=False)
        return _numbers(array_of(floats_of_narrow(narrow)), "f2" if pa.types.is_float16(kind) else "f4")
    if pa.types.is_decimal(kind):
        return _numbers(array_of(floats_of_decimals(array)))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _numbers(array.cast(pa.float64(), safe=False))
    if pa.types.is_date(kind):
        return _typed("%Y-%m-%d", array.cast(pa.date32(), safe=False).cast(pa.int32()).cast(pa.float64()))
    if pa.types.is_timestamp(kind):
        ticks = numpy_of(array.cast(pa.int64()).cast(pa.float64(), safe=False))
        per_tick = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}[kind.unit]
        cells = _typed("datetime", pa.array(np.floor(ticks * per_tick), from_pandas=True))
        if kind.tz is None:  # an instant is a midnight in some zone alone
            cells["code"][are_midnights(cells["number"])] = CODES["midnight"]
        return cells
    texts, positions = distinct_texts(array)
    missing = np.array([(CODES["missing"], math.nan)], dtype=_CELL)
    return np.concatenate([_cells_of_texts(texts, decimal_char, unit, units=units), missing])[positions]


def _numbers(values: pa.Array, float_type: str = "f8") -> np.ndarray:
    cells = _typed("real", values)
    finite = cells["code"] == CODES["real"]
    cells["code"][finite] = number_codes(cells["number"][finite], float_type)
    return cells


def number_codes(numbers: np.ndarray, float_type: str = "f8") -> np.ndarray:
    """uint8 [n]: the classes of finite numbers of a type of float, by the digits after the point that they need."""
    codes = np.full(len(numbers), CODES["real"], dtype=np.uint8)
    near = np.abs(numbers) < _MOST_SPACED[float_type]
    for name, places in (("hundredths", 100.0), ("tenths", 10.0)):
        # The float nearest to a whole number of hundredths, as reading its digits gives it.
        rounded = np.rint(numbers[near] * places) / places
        codes[np.flatnonzero(near)[rounded == numbers[near]]] = CODES[name]
    codes[numbers == np.floor(numbers)] = CODES["integer"]
    return codes


def _typed(name: str, values: pa.Array) -> np.ndarray:
    numbers = numpy_of(filled(values, math.nan))
    cells = np.empty(len(numbers), dtype=_CELL)
    cells["code"] = CODES[name]
    cells["code"][np.isnan(numbers)] = CODES["missing"]
    cells["code"][np.isinf(numbers)] = CODES["infinite"]
    cells["number"] = np.where(np.isfinite(numbers), numbers, math.nan)
    return cells


@dataclass(frozen=True)
class RawCells(Column):
    """A column of which only the name is known: the code of a cell is that of its class. No cell is refused.

    It is for reading tables that have no schema yet; a TOML file can't declare it, and nothing is synthesized of it.

    Args:
        decimal_char: that of texts; plain notation where empty.
        unit: what may stand beside the numbers of texts.
        units: whether nobody stated one, and texts with one of `unit.KNOWN` have classes of their own.
    """

    kind: ClassVar[str] = "raw"

    decimal_char: str = ""
    unit: str = ""
    units: bool = False

    @property
    def n_bins(self) -> int:
        return len(self._labels())

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.string()

    @property
    def comparable(self) -> str:
        return "nothing"

    @property
    def expected(self) -> str:
        return "a single value"

    def _check(self) -> None:
        if self.missing:
            raise self.mistake("missing cells have a class of their own; leave `missing` out")
        if self.decimal_char not in ("", *DECIMAL_CHARS):
            raise self.mistake(f"`decimal_char` must be a comma or a point; found {self.decimal_char!r}")
        if self.unit and self.units:
            raise self.mistake(f"its unit is stated; found {self.unit!r}, and others looked for")

    def _cells(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        """int64 [n], the code of each cell's class, and float64 [n], its number."""
        codes, numbers = cells_of(values, self.decimal_char, self.unit, units=self.units)
        return codes.astype(np.int64), numbers

    def _codes(self, values: Values) -> np.ndarray:
        return self._cells(values)[0]

    def numbers(self, values: Values) -> np.ndarray:
        return self._cells(values)[1]

    def encode_with_numbers(self, values: Values) -> tuple[np.ndarray, np.ndarray]:
        codes, numbers = self._cells(values)
        return self._as_codes(codes), numbers

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        return array_of(self._labels(), pa.string()).take(array_of(codes))

    def _labels(self) -> list[str]:
        return [*CLASSES, *(OPEN_CLASSES if self.units else ()), *self._labels_of_units]

    @property
    def _labels_of_units(self) -> list[str]:
        units = KNOWN if self.units else ()
        return [f"{name} {unit}" for unit in units for name in (*CLASSES, *OPEN_CLASSES)]

    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        ranks = np.arange(self.n_bins, dtype=float)
        return ranks, ranks

    def constant(self, value: object) -> float:
        raise self.mistake("no rule can be about a column that is not described")

    def facts(self) -> dict[str, Any]:
        given = {"decimal_char": self.decimal_char, "unit": self.unit, "units": self.units}
        return {key: fact for key, fact in given.items() if fact}
