"""How a cell is understood: one semantics for every storage, so that every engine reads the same value.

* A cell is *missing* when it is null, a floating-point NaN, or text that is empty once surrounding white
  space is stripped. Text is always stripped before it is compared or parsed.
* A *number* may be stored as a number, as a boolean (1 or 0), or as text: an optional sign, digits with an
  optional point, an optional exponent (`39`, `39.0`, `1e3`), `inf`, `nan` (missing), `true`, `false`.
  Thousands separators, underscores and other scripts' digits are not numbers.
* An *instant* may be stored as a date, as a timestamp (with a zone: converted to UTC), or as text in ISO 8601
  (what `datetime.fromisoformat` reads) or in a declared `strptime` format.

Text is understood once per distinct value, numbers as whole arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
TRUTHS: Mapping[str, float] = {"true": 1.0, "false": 0.0}
EPOCH = datetime(1970, 1, 1)
SECONDS_PER_DAY = 86_400
_TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}

Values: TypeAlias = pa.Array | pa.ChunkedArray


def whole(values: Values) -> pa.Array:
    """One contiguous array."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    if pa.types.is_dictionary(values.type):
        values = values.unify_dictionaries()
    return values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)


def strip(texts: pa.Array) -> pa.Array:
    """Texts without surrounding white space (Unicode's)."""
    return pc.utf8_trim_whitespace(texts)


def unique_texts(values: Values) -> tuple[list[str], np.ndarray]:
    """The distinct texts and, for each row, which of them it holds: -1 where the cell is missing.

    Raises TypeError for nested values (lists, structs), which no column kind describes.
    """
    array = whole(values)
    if pa.types.is_nested(array.type):
        raise TypeError(f"Cells must hold single values; found the type {array.type}.")
    if pa.types.is_null(array.type):
        return [], np.full(len(array), -1, dtype=np.int64)
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    if not pa.types.is_dictionary(array.type):
        if pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type):
            array = array.cast(pa.large_string())
        array = array.dictionary_encode()
    texts = strip(array.dictionary.cast(pa.string())).to_pylist()
    present = np.array([bool(text) for text in texts] + [False])
    positions = array.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False).astype(np.int64)
    return [text or "" for text in texts], np.where(present[positions], positions, -1)


def parse_number(text: str, words: Mapping[str, float] = TRUTHS) -> float:
    """The number that a stripped text stands for; NaN when it is none."""
    word = words.get(text.casefold())
    if word is not None:
        return word
    return float(text) if NUMBER.fullmatch(text) else np.nan


def numbers_of(values: Values, words: Mapping[str, float] = TRUTHS) -> np.ndarray:
    """float64 [n]: the number in each cell; NaN where it is missing or is no number."""
    array = whole(values)
    kind = array.type
    if pa.types.is_boolean(kind):
        array, kind = array.cast(pa.uint8()), pa.uint8()
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return array.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy(zero_copy_only=False)
    return _by_text(array, lambda text: parse_number(text, words))


def instants_of(values: Values, unit: int, text_format: str = "") -> np.ndarray:
    """float64 [n]: time since 1970-01-01 in units of `unit` seconds; NaN where missing or not understood.

    Whole units only: a timestamp read as a date (`unit` = 86400) loses its time of day.
    """
    array = whole(values)
    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("s"))
    if pa.types.is_timestamp(array.type):
        ticks = _TICKS_PER_SECOND[array.type.unit] * unit
        raw = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return np.where(array.is_null().to_numpy(zero_copy_only=False), np.nan, (raw // ticks).astype(float))
    return _by_text(array, lambda text: parse_instant(text, unit, text_format))


def parse_instant(text: str, unit: int, text_format: str = "") -> float:
    """Whole units of `unit` seconds since 1970-01-01 for one stripped text; NaN when it is no instant."""
    try:
        moment = datetime.strptime(text, text_format) if text_format else datetime.fromisoformat(text)
        return float(seconds_since_epoch(moment) // unit)
    except (ValueError, OverflowError):
        return np.nan


def seconds_since_epoch(moment: datetime) -> int:
    """Whole seconds since 1970-01-01, in UTC where the moment has a zone."""
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    elapsed = moment - EPOCH
    return elapsed.days * SECONDS_PER_DAY + elapsed.seconds


def _by_text(array: pa.Array, parse: Callable[[str], float]) -> np.ndarray:
    texts, positions = unique_texts(array)
    parsed = np.array([parse(text) for text in texts] + [np.nan])
    return parsed[positions]
