"""How a cell is understood: one semantics for every storage, so that every engine reads the same value.

What a cell means is a function of its own type and value: the type of its column where the storage has types, its
own where it has none. Nothing is ever inferred from several cells.

* A cell is *missing* when it is null, a NaN, or text that is empty once surrounding white space is stripped.
* Its *text* is the canonical one of `spelling`. Text is always stripped before it is compared or parsed.
* A *number* may be stored as a number, as a boolean (1 or 0), or as text: an optional sign, digits with an
  optional point, an optional exponent (`39`, `39.0`, `1e3`), `inf`, `nan` (missing), `true`, `false`.
  Infinities and numbers beyond the range of floating point lie beyond every bound.
  Underscores and other scripts' digits are not numbers, nor are durations; decimal commas and separators of thousands
  are where the column declares its decimal sign (`decimal_char`), and so are signs such as % where it declares them
  (`unit`).
* An *instant* may be stored as a date, as a timestamp, or as text or digits in ISO 8601 (what `datetime.fromisoformat`
  reads) or in a declared format (`notation`). With a declared zone, what states an offset is converted to that zone,
  and what states none is what a clock there shows; where none is declared, what states an offset is not understood.
  A time of day is one of 1900-01-01, as Python reads it, where the declared format has no directive of a date.

Text is understood once per distinct value, numbers as whole arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeAlias
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
from numpy.typing import DTypeLike

from counterfoil.schema import compact_dates
from counterfoil.schema.decimal_char import plain_number
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.notation import DAY_OF_TIMES, dated, directives, moment_of
from counterfoil.schema.plain_arrays import filled, numpy_of
from counterfoil.schema.spelling import is_duration, is_too_fine, spell
from counterfoil.schema.stored_numbers import floats_of_decimals, floats_of_narrow
from counterfoil.schema.unit import bare
from counterfoil.schema.zone import EPOCH, SECONDS_PER_DAY, instant_seconds, wall_seconds

# No text may match in more than one way: one long cell would take time in the square of its length.
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
TRUTHS: Mapping[str, float] = {"true": 1.0, "false": 0.0}
_TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

Values: TypeAlias = pa.Array | pa.ChunkedArray | MixedCells


def of_each_type(
    values: Values,
    understand: Callable[[pa.Array], np.ndarray],
    *,
    stranger: float | np.ndarray,
    dtype: DTypeLike = np.float64,
) -> np.ndarray:
    """[n]: what `understand` makes of each cell, given arrays of one plain type, cells of equal types together.

    Formal guarantee: if `understand` maps an array value by value, the result is a function of each cell's type and
    value alone. A cell of a dictionary means what its value means by itself.

    Args:
        stranger: for objects of a type that no kind of column describes.
    """
    if isinstance(values, MixedCells):
        result: np.ndarray = np.full(len(values), stranger, dtype=dtype)
        for positions, array in values.groups:
            result[positions] = of_each_type(array, understand, stranger=stranger, dtype=dtype)
        return result
    if isinstance(values, pa.ChunkedArray):
        if not pa.types.is_dictionary(values.type):
            return of_each_type(values.combine_chunks(), understand, stranger=stranger, dtype=dtype)
        # Chunk by chunk: Arrow can't join all dictionaries, such as those with nulls.
        parts = [of_each_type(chunk, understand, stranger=stranger, dtype=dtype) for chunk in values.chunks]
        return np.concatenate([np.empty(0, dtype=dtype), *parts])
    if not pa.types.is_dictionary(values.type):
        return understand(values).astype(dtype, copy=False)
    null = understand(pa.nulls(1))
    entries = of_each_type(values.dictionary, understand, stranger=stranger, dtype=dtype)
    indices = _places(values)
    return np.append(entries, null).astype(dtype, copy=False)[indices]


def _places(values: pa.DictionaryArray) -> np.ndarray:
    """int64 [n]: which entry of the dictionary each cell is; one past the last where it is null."""
    # The dictionary's own integers may be too narrow for one more.
    return numpy_of(filled(values.indices.cast(pa.int64()), len(values.dictionary)))


def distinct_texts(array: pa.Array) -> tuple[list[str], np.ndarray]:
    """Canonical texts and, for each row of an array of a plain type, which of them it holds: -1 where it is missing.

    Raises TypeError for nested values (lists, structs), which no column kind describes.
    """
    if pa.types.is_nested(array.type):
        raise TypeError(f"Cells must hold single values; found the type {array.type}.")
    if pa.types.is_null(array.type):
        return [], np.full(len(array), -1, dtype=np.int64)
    if isinstance(array.type, pa.BaseExtensionType) or pa.types.is_float16(array.type):  # have no dictionaries in Arrow
        texts, positions = spell(array).to_pylist(), np.arange(len(array))
    else:
        encoded = array.dictionary_encode()
        texts = spell(encoded.dictionary).to_pylist()
        positions = _places(encoded)
    present = np.array([bool(text) for text in texts] + [False])
    return [text or "" for text in texts], np.where(present[positions], positions, -1)


def texts_of(values: Values) -> tuple[list[str], np.ndarray]:
    """Canonical texts and, for each cell, which of them it holds: -1 where it is missing or an object without any.

    Raises TypeError for nested values (lists, structs), which no column kind describes.
    """
    texts: list[str] = []

    def number(array: pa.Array) -> np.ndarray:
        distinct, positions = distinct_texts(array)
        first = len(texts)
        texts.extend(distinct)
        return np.where(positions < 0, -1, first + positions)

    return texts, of_each_type(values, number, stranger=-1, dtype=np.int64)


def parse_number(text: str, words: Mapping[str, float] = TRUTHS, decimal_char: str = "", unit: str = "") -> float:
    """The number that a stripped text stands for; NaN when it is none."""
    word = words.get(text.casefold())
    if word is not None:
        return word
    text = bare(text, unit)
    if decimal_char:
        text = plain_number(text, decimal_char)
    return float(text) if NUMBER.fullmatch(text) else np.nan


def has_two_readings(text: str, decimal_char: str, unit: str = "") -> bool:
    """Whether a stripped text is a number with this decimal sign and unit, and not the same one in plain digits."""
    number = parse_number(text, {}, decimal_char, unit)
    return not np.isnan(number) and number != parse_number(text, {})


def numbers_of(
    values: Values, words: Mapping[str, float] = TRUTHS, decimal_char: str = "", unit: str = ""
) -> np.ndarray:
    """float64 [n]: the number in each cell; NaN where it is missing or is no number."""
    return of_each_type(values, lambda array: _numbers(array, words, decimal_char, unit), stranger=np.nan)


def _numbers(array: pa.Array, words: Mapping[str, float], decimal_char: str, unit: str) -> np.ndarray:
    kind = array.type
    if is_duration(kind):  # as whole numbers they would be nanoseconds, which nobody means
        raise pa.ArrowNotImplementedError("Durations are no numbers.")
    if is_too_fine(kind):  # their texts may be asked for where cells are empty, and can't be had
        raise pa.ArrowNotImplementedError(f"No texts for the type {kind}.")
    if pa.types.is_boolean(kind):
        array, kind = array.cast(pa.uint8()), pa.uint8()
    if pa.types.is_float16(kind):
        return floats_of_narrow(array.to_numpy(zero_copy_only=False))
    if pa.types.is_float32(kind):
        return floats_of_narrow(numpy_of(array))
    if pa.types.is_decimal(kind):
        return floats_of_decimals(array)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return numpy_of(filled(array.cast(pa.float64(), safe=False), np.nan))
    return _by_text(array, lambda text: parse_number(text, words, decimal_char, unit))


def instants_of(values: Values, unit: int, text_format: str = "", zone: ZoneInfo | None = None) -> np.ndarray:
    """float64 [n]: time since 1970-01-01 in units of `unit` seconds; NaN where missing or not understood.

    Whole units only: a timestamp read as a date (`unit` = 86400) loses its time of day. Days are those of the calendar
    in the zone. Seconds are those since 1970-01-01T00:00 UTC where there is a zone, else of the table's own clock.
    """
    return of_each_type(values, lambda array: _instants(array, unit, text_format, zone), stranger=np.nan)


def _instants(array: pa.Array, unit: int, text_format: str, zone: ZoneInfo | None) -> np.ndarray:
    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("s" if pa.types.is_date32(array.type) else "ms"))
    if pa.types.is_time(array.type) and unit == 1 and directives(text_format) and not dated(text_format):
        return _times_of_day(array, zone)
    if not pa.types.is_timestamp(array.type):
        return _by_text(array, lambda text: parse_instant(text, unit, text_format, zone))
    if array.type.tz is not None and zone is None:
        return np.full(len(array), np.nan)
    raw = numpy_of(filled(array.cast(pa.int64()), 0))
    seconds = raw // _TICKS_PER_SECOND[array.type.unit]
    if zone is not None and (array.type.tz is not None) == (unit == SECONDS_PER_DAY):
        # Days are those on the wall, seconds those of all the world; the cells are what the column doesn't count.
        seconds = (wall_seconds if unit == SECONDS_PER_DAY else instant_seconds)(seconds, zone)
    return np.where(numpy_of(array.is_null()), np.nan, (seconds // unit).astype(float))


def _times_of_day(array: pa.Array, zone: ZoneInfo | None) -> np.ndarray:
    """Seconds since 1970-01-01T00:00 of times of day, which are those of 1900-01-01; a fraction is left out."""
    whole = pa.int32() if pa.types.is_time32(array.type) else pa.int64()
    raw = numpy_of(filled(array.cast(whole), 0)).astype(np.int64)
    seconds = raw // _TICKS_PER_SECOND[array.type.unit] + seconds_since_epoch(DAY_OF_TIMES)
    if zone is not None:
        seconds = instant_seconds(seconds, zone)
    return np.where(numpy_of(array.is_null()), np.nan, seconds.astype(float))


def parse_instant(text: str, unit: int, text_format: str = "", zone: ZoneInfo | None = None) -> float:
    """Whole units of `unit` seconds since 1970-01-01 for one stripped text, as `instants_of`; NaN when it is none."""
    if text_format == compact_dates.FORMAT:
        text = compact_dates.without_point(text)
    try:
        moment = moment_of(text, text_format, zoned=zone is not None)
        if moment.tzinfo is not None and zone is None:
            return np.nan
        return float(seconds_since_epoch(moment, unit, zone) // unit)
    except (ValueError, OverflowError):
        return np.nan


def seconds_since_epoch(moment: datetime, unit: int = 1, zone: ZoneInfo | None = None) -> int:
    """Whole seconds since 1970-01-01: on the clock of the zone where `unit` is a day, else as `instants_of` counts."""
    if zone is not None and unit == SECONDS_PER_DAY and moment.tzinfo is not None:
        moment = moment.astimezone(zone).replace(tzinfo=None)
    elif zone is not None and unit != SECONDS_PER_DAY:
        # Datetimes of one zone are subtracted as their clocks show them, so first to UTC.
        moment = (moment.replace(tzinfo=zone) if moment.tzinfo is None else moment).astimezone(UTC).replace(tzinfo=None)
    elapsed = moment - EPOCH
    return elapsed.days * SECONDS_PER_DAY + elapsed.seconds


def _by_text(array: pa.Array, parse: Callable[[str], float]) -> np.ndarray:
    texts, positions = distinct_texts(array)
    parsed = np.array([parse(text) for text in texts] + [np.nan])
    return parsed[positions]
