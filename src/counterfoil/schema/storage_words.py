"""What a storage's type holds, in plain words: the names that Arrow gives to types are those of programmers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow as pa
from pyarrow import types

from counterfoil.inert import inert
from counterfoil.listing import first_few
from counterfoil.schema.spelling import is_duration


def storage_words(kind: pa.DataType) -> str:
    """What cells of the type are, in the plural; never the names of a structure's fields, which the file gives.

    Of a time zone's name, which the file gives too, only harmless characters.
    """
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return storage_words(kind.value_type)
    if types.is_decimal(kind):
        return f"decimals with {kind.scale} digit{'s' * (kind.scale != 1)} after the point"
    if types.is_timestamp(kind):
        return "dates with times of day" if kind.tz is None else f"moments in the time zone {inert(kind.tz)}"
    if kind in _OF_NO_TYPE:
        return "values of a type that is not supported"
    if isinstance(kind, pa.BaseExtensionType):
        return _OF_EXTENSIONS.get(kind.extension_name, "values of a library's own type")
    return next((words for belongs, words in _WORDS if belongs(kind)), "values of another type")


def is_ordered_category(kind: pa.DataType | None) -> bool:
    """Whether the type is one of categories with an order, such as pandas' `ordered=True` or polars' `Enum`."""
    return kind is not None and types.is_dictionary(kind) and bool(kind.ordered)


def stored_as_nothing(kinds: Iterable[pa.DataType]) -> str:
    """What is said of columns that nothing can be made of, because of their types."""
    words = list(dict.fromkeys(map(storage_words, kinds))) or ["what has no single values"]
    return f"stored as {' and '.join(words)}, of which nothing can be synthesized"


def hidden_moments(kinds: Mapping[str, pa.DataType]) -> str:
    """Why nothing may show of columns of moments, at any budget; empty where none of these is one.

    SQLite takes any text and any number into a column of the type `timestamp`.
    """
    moments = [name for name, kind in kinds.items() if types.is_timestamp(kind) and kind.tz is None]
    if not moments:
        return ""
    return (
        f" No budget helps where the cells of {first_few(moments, _MOST_NAMED)} are numbers, such as seconds since "
        '1970, as SQLite may hold them: state kind = "integer" and bounds.'
    )


_MOST_NAMED = 4
_OF_NO_TYPE = (pa.list_(pa.null()), pa.struct([]))
"""What sources declare where Arrow has no type."""

_WORDS = (
    (is_duration, "lengths of time"),
    (types.is_boolean, "truths"),
    (types.is_integer, "whole numbers"),
    (types.is_floating, "real numbers"),
    (types.is_date, "dates"),
    (types.is_time, "times of day"),
    (lambda kind: types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind), "texts"),
    (lambda kind: "binary" in str(kind), "bytes"),
    (types.is_null, "cells that are all empty"),
    (types.is_map, "lists of keys with values"),
    (types.is_struct, "structures of several values"),
    (types.is_union, "values of several types"),
    (types.is_nested, "lists"),
)
_OF_EXTENSIONS = {"arrow.uuid": "UUIDs", "arrow.bool8": "truths", "arrow.json": "texts"}
