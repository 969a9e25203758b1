"""The canonical text of a value: the one spelling by which categories, and the ids of privacy units, are told apart.

The text is a function of the value and its type alone, and equal numbers have equal texts whatever stores them:

* whole numbers as their digits, also where they are stored as reals or decimals (`1.0` is "1", `-0.0` is "0");
* other reals as the shortest decimals that read back as the same real of that width, never with an exponent
  (`1e-7` is "0.0000001"); infinities as "inf" and "-inf"; NaN has none, like null;
* decimals without trailing zeros (`1.50` is "1.5"); only numbers longer than a thousand digits have an exponent;
* booleans as "true" and "false", dates in ISO 8601, datetimes as "2020-01-31 23:59:59" with the fraction of a second
  only where there is one, those with a zone in UTC and followed by "+00:00";
* times of day as "12:30:00", with the fraction of a second only where there is one;
* bytes as the UTF-8 text that they are, or else as U+FFFD, "0x" and their hexadecimal digits, so that different bytes
  have different texts; text that would look like this is written by its own bytes;
* other text as it stands. Surrounding white space is stripped.

Durations have no text: their digits would be nanoseconds to one storage and
microseconds to another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.schema.plain_arrays import array_of, numpy_of, scalar_of

LONGEST = 1000  # characters of a number that is written without an exponent
_MOST_DIGITS: Mapping[int, int] = {32: 9, 64: 18, 128: 38, 256: 76}
"""Of decimals by their width in bits: Arrow writes none that has more digits behind the point."""
BYTES = "\ufffd0x"  # what the texts of bytes that are no UTF-8 begin with


_TIME = re.compile(r"(\d\d:\d\d:\d\d)(?:\.(\d*?)0*)?", re.ASCII)


def time_in(text: str) -> str | None:
    """A time of day with any number of digits of a second as `spell` writes it; None for another text.

    A schema may list `12:30:00.000000`, as Arrow does.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    whole, fraction = found.groups()
    return f"{whole}.{fraction}" if fraction else str(whole)


def strip(texts: pa.Array) -> pa.Array:
    """Texts without surrounding white space (Unicode's)."""
    return pc.utf8_trim_whitespace(texts)


def spell(values: pa.Array) -> pa.Array:
    """large_string [n]: the canonical text of each value; null for null and NaN. The empty text counts as missing too.

    Raises ArrowNotImplementedError for a type that has no texts, TypeError for nested values; both for any values.
    """
    kind = values.type
    if isinstance(kind, pa.BaseExtensionType):
        return _spell_extension(values)
    if pa.types.is_nested(kind):
        raise TypeError(f"Cells must hold single values; found the type {kind}.")
    if has_no_text(kind):
        raise pa.ArrowNotImplementedError(f"No texts for the type {kind}.")
    if pa.types.is_floating(kind):
        return _spell_reals(values)
    if pa.types.is_decimal(kind) and kind.scale != 0:
        return _texts([None if number is None else spell_decimal(number) for number in values.to_pylist()])
    if pa.types.is_timestamp(kind):
        return _spell_timestamps(values)
    if pa.types.is_time(kind):
        return _without_empty_fraction(values.cast(pa.string()).cast(pa.large_string()))
    if _is_binary(kind):
        return _spell_bytes(values)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _spell_texts(values.cast(pa.large_string()))
    return values.cast(pa.string()).cast(pa.large_string())


def spell_integer(number: int) -> str:
    """Digits of a whole number of any size: beyond some thousands, Python itself refuses to write them."""
    return str(number) if abs(number) < 2**1024 else spell_decimal(Decimal(number)) or ""


def spell_decimal(number: Decimal) -> str | None:
    """Digits of a decimal; None for NaN."""
    if number.is_nan():
        return None
    sign = "-" if number.is_signed() else ""
    if number.is_infinite():
        return f"{sign}inf"
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, digits)).lstrip("0")
    shortest = written.rstrip("0")
    if not shortest:
        return "0"
    exponent += len(written) - len(shortest)
    if max(len(shortest) + exponent, len(shortest), -exponent) > LONGEST:
        return f"{sign}{shortest}e{exponent}"
    if exponent >= 0:
        return f"{sign}{shortest}{'0' * exponent}"
    padded = shortest.rjust(1 - exponent, "0")
    return f"{sign}{padded[:exponent]}.{padded[exponent:]}"


def _spell_texts(texts: pa.Array) -> pa.Array:
    bare = strip(texts)
    if not pc.any(pc.starts_with(bare, BYTES)).as_py():
        return bare
    # No two values may share a text, not even bytes and a text that was made to look like theirs.
    return _texts([_digits(text.encode()) if text and text.startswith(BYTES) else text for text in bare.to_pylist()])


def _spell_bytes(values: pa.Array) -> pa.Array:
    read = [None if raw is None else _decoded(raw) for raw in values.to_pylist()]
    texts = _spell_texts(_texts([text if isinstance(text, str) else None for text in read]))
    return pc.coalesce(texts, _texts([_digits(raw) if isinstance(raw, bytes) else None for raw in read]))


def _decoded(raw: bytes) -> str | bytes:
    """The UTF-8 text that the bytes most likely are; the bytes themselves where they are none."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _digits(raw: bytes) -> str:
    return f"{BYTES}{raw.hex()}"


def _spell_reals(values: pa.Array) -> pa.Array:
    numbers = numpy_of(values)
    doubles = numbers.astype(np.float64)
    small = (np.abs(doubles) < 2.0**62) & (doubles == np.floor(doubles))
    whole = array_of(np.where(small, doubles, 0).astype(np.int64), mask=~small).cast(pa.large_string())
    rest = ~small & ~np.isnan(doubles)
    if not rest.any():
        return whole
    texts = np.full(len(doubles), None, dtype=object)
    texts[rest] = [_spell_real(number) for number in numbers[rest]]
    return pc.coalesce(whole, _texts(texts.tolist()))


def _spell_real(number: np.floating) -> str:
    """A real that is not a small whole number, in the digits of its own width."""
    if np.isinf(number):
        return "inf" if number > 0 else "-inf"
    if number == np.floor(number):
        return str(int(number))
    return np.format_float_positional(number, unique=True, trim="-")


def _spell_timestamps(values: pa.Array) -> pa.Array:
    kind = values.type
    moments = values.cast(pa.int64()).cast(pa.timestamp(kind.unit))  # a moment with a zone is stored in UTC
    texts = _without_empty_fraction(moments.cast(pa.string()).cast(pa.large_string()))
    if kind.tz is None:
        return texts
    return pc.binary_join_element_wise(texts, *(scalar_of(text, pa.large_string()) for text in ("+00:00", "")))


def _without_empty_fraction(texts: pa.Array) -> pa.Array:
    """Moments that end with a fraction of a second, as many digits as it needs."""
    return pc.replace_substring_regex(texts, r"(\.\d*[1-9])0+$|\.0+$", r"\1")


_EXTENSIONS = ("arrow.uuid", "arrow.bool8", "arrow.json")
"""Arrow's own extensions of single values."""


def _spell_extension(values: pa.Array) -> pa.Array:
    """Arrow's own extensions of single values; what a library adds (periods, intervals) means more than its storage."""
    name = values.type.extension_name
    if name == "arrow.uuid":
        return _texts([None if uuid is None else str(uuid) for uuid in values.to_pylist()])
    if name == "arrow.bool8":
        return spell(values.storage.cast(pa.bool_()))
    if name == "arrow.json":
        return spell(values.storage)
    raise pa.ArrowNotImplementedError(f"No texts for the type {values.type}.")


def _texts(texts: list[str | None]) -> pa.Array:
    return array_of(texts, pa.large_string())


def is_duration(kind: pa.DataType) -> bool:
    """Whether values are lengths of time, elapsed or of the calendar."""
    return pa.types.is_duration(kind) or pa.types.is_interval(kind)


def has_no_text(kind: pa.DataType) -> bool:
    """Whether no cell of the type has a single value, or a text: nested types, lengths of time, too fine decimals.

    Nor have what a library adds, such as the periods of pandas and the intervals of `pandas.cut`.
    """
    if pa.types.is_dictionary(kind):
        return has_no_text(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return kind.extension_name not in _EXTENSIONS
    return bool(pa.types.is_nested(kind)) or is_duration(kind) or is_too_fine(kind)


def is_too_fine(kind: pa.DataType) -> bool:
    """Whether values are decimals with more digits behind the point than Arrow writes."""
    return bool(pa.types.is_decimal(kind) and kind.scale > _MOST_DIGITS[kind.bit_width])


def _is_binary(kind: pa.DataType) -> bool:
    return (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    )
