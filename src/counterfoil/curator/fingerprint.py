"""A hash of everything public that a query or a method holds: what was asked, to the last bit.

Receipts describe a query in few words: how many points there are, and not where they lie. Whether an answer that was
kept is the answer to this query takes all of it.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cached_property
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeGuard

import numpy as np

from counterfoil.schema.schema import Schema

_WRITTEN = (bool, int, complex, range, Decimal, Fraction, date, datetime, time, timedelta, PurePath, np.dtype)


def fingerprint(value: object) -> str:
    """The SHA-256, in hexadecimal, of the types and contents of `value` and all that it holds.

    Equal contents have equal fingerprints in every process; what is only remembered for speed (a `cached_property`) is
    left out.

    Raises:
        ValueError: for what has no contents that could be told, such as a function made on the spot or an open file.
    """
    digest = hashlib.sha256()
    for part in _parts(value, ()):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def _parts(value: object, above: tuple[int, ...]) -> Iterator[bytes | memoryview]:
    kind = type(value)
    yield f"{kind.__module__}.{kind.__qualname__}".encode()
    if value is None:
        return
    if isinstance(value, Enum):
        yield value.name.encode()
    elif isinstance(value, float):
        yield struct.pack("<d", value)
    elif isinstance(value, str):
        yield value.encode("utf-8", "surrogatepass")
    elif isinstance(value, bytes):
        yield value
    elif isinstance(value, _WRITTEN):
        yield str(value).encode()
    elif isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
        yield f"{value.dtype.str} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif kind is tuple and _are_names(value):
        yield repr(value).encode("utf-8", "surrogatepass")
    elif kind is tuple and _are_arrays(value):
        yield repr([array.shape for array in value]).encode()
        yield from (value[0].dtype.str.encode(), np.concatenate([array.ravel() for array in value]).tobytes())
    else:
        if id(value) in above:
            raise ValueError(f"What a query or a method holds must not hold itself. Found such a {kind.__name__}.")
        items = list(_held(value))
        yield str(len(items)).encode()
        for item in items:
            yield from _parts(item, (*above, id(value)))


def _are_names(value: object) -> bool:
    """Whether it is a tuple of texts, whole numbers, or tuples of these, such as many thousand cliques.

    `repr` tells everything about such a tuple, and in a fraction of the time.
    """
    assert isinstance(value, tuple)
    return all(
        type(item) is str or type(item) is int or (type(item) is tuple and all(type(name) is str for name in item))
        for item in value
    )


def _are_arrays(value: object) -> TypeGuard[tuple[np.ndarray, ...]]:
    """Whether it is a tuple of arrays of numbers of one kind, such as the estimates of many thousand marginals."""
    assert isinstance(value, tuple)
    if not value or type(value[0]) is not np.ndarray or value[0].dtype.hasobject:
        return False
    dtype = value[0].dtype
    return all(type(item) is np.ndarray and item.dtype == dtype for item in value)


def _held(value: object) -> Iterator[object]:
    """What `value` is made of, in an order that is the same in every process."""
    if isinstance(value, (list, tuple)):
        yield from value
    elif isinstance(value, (set, frozenset)):
        yield from sorted(map(fingerprint, value))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from (key, item)
    elif isinstance(value, np.ndarray):
        yield from (value.shape, *value.ravel().tolist())
    elif isinstance(value, (FunctionType, BuiltinFunctionType, type)):
        yield _name_of(value)
    elif isinstance(value, Schema):
        yield value.to_toml()  # which states all of it; the rest was computed from it
    elif is_dataclass(value):
        for field in fields(value):
            yield from (field.name, getattr(value, field.name, None))
    elif hasattr(value, "__dict__"):
        for name, item in sorted(vars(value).items()):
            if not isinstance(getattr(type(value), name, None), cached_property):
                yield from (name, item)
    else:
        raise ValueError(
            f"Answers are kept for what a query or a method holds of plain data. Found a {type(value).__qualname__} of "
            f"{type(value).__module__}: leave out `keep`, or hold data instead."
        )


def _name_of(function: Any) -> str:
    if "<" in function.__qualname__ or getattr(function, "__closure__", None):
        raise ValueError(
            "Answers are kept for functions that have a name in a module. Found one that was made on the spot, "
            f"{function.__qualname__}: define it in a module, or leave out `keep`."
        )
    return f"{function.__module__}.{function.__qualname__}"
