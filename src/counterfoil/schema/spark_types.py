"""The types of Spark in Arrow, and which types of a Parquet file hold the values that Spark reads from it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

MOMENTS = pa.timestamp("us", "UTC")
"""What is wanted of moments that are the same all over the world."""

_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
}
"""Types that Arrow knows and Spark does not, each with the one in which Spark reads the same values."""


def arrow_type(kind: Any) -> pa.DataType:
    """The Arrow type in which executors get cells of a Spark type; a structure for what Arrow has no type for."""
    from pyspark.sql.pandas.types import to_arrow_type

    if kind.typeName() == "timestamp":
        return MOMENTS
    try:
        return to_arrow_type(kind)
    except Exception:  # which error it is differs between versions
        return pa.struct([])


def is_read_alike(stored: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether Arrow reads in the one type the values that Spark reads in the other.

    Moments in nanoseconds are not: Spark refuses them.
    """
    if pa.types.is_dictionary(stored):
        stored = stored.value_type
        return wanted == pa.string() and _WIDER.get(stored, stored) == wanted
    if pa.types.is_timestamp(stored) and pa.types.is_timestamp(wanted):
        return stored.unit in ("ms", "us") and (stored.tz is None) == (wanted.tz is None)
    return is_plain(wanted) and _WIDER.get(stored, stored) == wanted


def is_plain(kind: pa.DataType) -> bool:
    """Whether it is a type of single values that Spark and Arrow both have."""
    is_number = pa.types.is_integer(kind) or kind in (pa.float32(), pa.float64()) or pa.types.is_decimal128(kind)
    is_moment = kind == pa.date32() or pa.types.is_timestamp(kind)
    return is_number or is_moment or kind in (pa.bool_(), pa.string(), pa.binary())
