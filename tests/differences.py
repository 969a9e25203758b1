"""Where two objects are not the same, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa


def differences(one: Any, other: Any, where: str = "", seen: dict | None = None) -> Iterator[str]:
    """Every place where two objects are not the same to the last bit, whatever can be reached from them.

    The time of day at which something was created is left out.
    """
    seen = {} if seen is None else seen
    if one is other or (id(one), id(other)) in seen:
        return
    seen[id(one), id(other)] = one, other  # kept, so that ids are not used again
    if type(one) is not type(other):
        yield f"{where}: {type(one).__name__} and {type(other).__name__}"
    elif isinstance(one, np.ndarray):
        if one.dtype != other.dtype or one.shape != other.shape or one.tobytes() != other.tobytes():
            yield f"{where}: another array"
    elif isinstance(one, pa.Table):
        if one.schema != other.schema or not one.equals(other):
            yield f"{where}: another table"
    elif isinstance(one, (str, bytes, int, float, complex, type(None), pa.DataType)):
        if not (one == other or one != one):
            yield f"{where}: {one!r} and {other!r}"
    elif isinstance(one, Mapping):
        if list(one) != list(other):
            yield f"{where}: keys {list(one)} and {list(other)}"
        else:
            for key in one:
                if key != "created":
                    yield from differences(one[key], other[key], f"{where}.{key}", seen)
    elif isinstance(one, (list, tuple, set, frozenset)):
        first, second = (sorted(x, key=repr) if isinstance(x, (set, frozenset)) else x for x in (one, other))
        if len(first) != len(second):
            yield f"{where}: {len(first)} and {len(second)} items"
        for index, pair in enumerate(zip(first, second, strict=False)):
            yield from differences(*pair, f"{where}[{index}]", seen)
    else:
        names = [*getattr(one, "__dict__", {}), *getattr(type(one), "__slots__", ())]
        assert names, f"{where}: nothing is known of {type(one)}"
        for name in names:
            yield from differences(getattr(one, name), getattr(other, name), f"{where}.{name}", seen)
