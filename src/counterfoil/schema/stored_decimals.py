"""Stored decimals as the floats that their texts are.

Arrow multiplies by an inexact tenth: 90.6 became 90.60000000000001 there, which lies above a bound of 90.6, and is no
point, edge or word of a schema that says 90.6. One division of whole numbers rounds once, as reading the text does.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from counterfoil.schema.plain_arrays import numpy_of

_EXACT = 2**53
"""Up to here floats hold each whole number."""
_EXACT_SCALE = 22
"""And each power of ten up to this one."""


def floats_of_decimals(decimals: pa.Array) -> np.ndarray:
    """float64 [n]: the float nearest to each decimal; NaN where it is null."""
    scale = decimals.type.scale
    if decimals.type.bit_width <= 128 and 0 <= scale <= _EXACT_SCALE:
        units, narrow = _units(decimals)
        if narrow:
            return np.where(numpy_of(decimals.is_null()), np.nan, units / 10.0**scale)
    return np.array([np.nan if one is None else float(one) for one in decimals.to_pylist()], dtype=np.float64)


def _units(decimals: pa.Array) -> tuple[np.ndarray, bool]:
    """int64 [n]: the digits without their point, 0 where null; and whether floats hold each of them."""
    wide = decimals.cast(pa.decimal128(38, decimals.type.scale))
    _, cells = wide.buffers()
    halves = np.frombuffer(cells or b"", dtype="<i8").reshape(-1, 2)[wide.offset : wide.offset + len(wide)]
    low, high = np.where(numpy_of(wide.is_null())[:, np.newaxis], 0, halves).T
    narrow = (high == low >> 63) & (low <= _EXACT) & (low >= -_EXACT)
    return low, bool(narrow.all())
