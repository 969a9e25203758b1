"""Stored decimals and narrow reals as the floats that their texts are, which `spelling` writes.

Arrow multiplies decimals by an inexact tenth: 90.6 became 90.60000000000001 there, which lies above a bound of 90.6,
and is no point, edge or word of a schema that says 90.6. One division of whole numbers rounds once, as reading the text
does. Nor is a real of 32 bits that stands for 90.6, which is 90.5999984741 in 64 bits.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from counterfoil.schema.plain_arrays import numpy_of

_EXACT = 2**53
"""Up to here floats hold each whole number."""
_EXACT_SCALE = 22
"""And each power of ten up to this one."""
_POWERS = np.array([10.0**scale for scale in range(_EXACT_SCALE + 1)])
_MOST_PLACES = 16
"""Digits after the point that are tried: reals of 32 bits from a millionth on have no more, smaller ones are rare."""


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


def floats_of_narrow(reals: np.ndarray) -> np.ndarray:
    """float64 [n]: the shortest decimals that are the same real of 16 or 32 bits; whole numbers as they are."""
    with np.errstate(invalid="ignore"):  # a NaN may be one that signals
        found = reals.astype(np.float64)
        fractions = np.isfinite(found) & (found != np.floor(found))
    left = np.flatnonzero(fractions)
    # Those of 16 bits are few: all are looked up by their texts below.
    for power in _POWERS[1 : _MOST_PLACES + 1] if reals.dtype == np.float32 else ():
        shorter = np.rint(found[left] * power) / power
        fits = shorter.astype(np.float32) == reals[left]
        found[left[fits]] = shorter[fits]
        left = left[~fits]
    distinct, places = np.unique(reals[left], return_inverse=True)
    found[left] = np.array([float(str(real)) for real in distinct])[places.reshape(-1)]
    return found
