"""The types of storages in plain words."""

from __future__ import annotations

import pyarrow as pa
import pytest

from counterfoil.schema.storage_words import storage_words

WORDS = {
    "whole numbers": [pa.int8(), pa.uint64(), pa.dictionary(pa.int8(), pa.int64())],
    "real numbers": [pa.float16(), pa.float64()],
    "decimals with 1 digit after the point": [pa.decimal128(5, 1)],
    "decimals with 2 digits after the point": [pa.decimal128(5, 2), pa.decimal256(60, 2)],
    "texts": [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())],
    "bytes": [pa.binary(), pa.large_binary(), pa.binary(4), pa.binary_view()],
    "truths": [pa.bool_()],
    "dates": [pa.date32(), pa.date64()],
    "dates with times of day": [pa.timestamp("us")],
    "moments in the time zone UTC": [pa.timestamp("ns", "UTC")],
    "moments in the time zone a\\nb": [pa.timestamp("s", "a\nb")],
    "times of day": [pa.time32("s"), pa.time64("ns")],
    "lengths of time": [pa.duration("ns"), pa.month_day_nano_interval()],
    "cells that are all empty": [pa.null()],
    "lists": [pa.list_(pa.string()), pa.large_list(pa.int8()), pa.list_(pa.int8(), 2), pa.list_view(pa.int8())],
    "values of several types": [pa.dense_union([pa.field("a", pa.int8())])],
    "values of a type that is not supported": [pa.struct([]), pa.list_(pa.null())],
    "UUIDs": [pa.uuid()],
    "structures of several values": [pa.struct({"x\n": pa.int8()})],
}


@pytest.mark.parametrize(
    ("words", "kind"), [(words, kind) for words, kinds in WORDS.items() for kind in kinds], ids=str
)
def test_no_name_of_a_type_is_said(words: str, kind: pa.DataType) -> None:
    assert storage_words(kind) == words
