"""Arrow's arrays of NumPy's numbers and of short lists, and NumPy's of Arrow's numbers, without pandas.

`pyarrow` imports pandas, where it is installed, with the first list or array of NumPy that it is given, to see whether
these are pandas' own, and with the first array of NumPy that it makes: .3 CPU seconds of each command.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

_SHORT = 10_000
"""Texts of a list beyond which `pyarrow` is so much faster than Python that importing pandas pays."""
_WHOLE = [f"{sign}{bits}" for sign in ("int", "uint") for bits in (8, 16, 32, 64)]
_KINDS = {np.dtype(name): pa.from_numpy_dtype(name) for name in ("bool", *_WHOLE, "float32", "float64")}
_WIDTHS = {kind: width for width, kind in _KINDS.items()}
_OFFSETS = {pa.string(): np.int32, pa.large_string(): np.int64}
_PYTHONS = {pa.bool_(): bool, pa.float64(): float} | {pa.from_numpy_dtype(name): int for name in _WHOLE}
"""Whose lists become the same numbers in NumPy as in Arrow."""
_EPOCH, _STEP = datetime(1970, 1, 1), timedelta(microseconds=1)


def array_of(values: Any, kind: pa.DataType | None = None, *, mask: np.ndarray | None = None) -> pa.Array:
    """What `pa.array` makes of the same arguments, where True in `mask` stands for no value."""
    made = _numbers(values, kind, mask) if type(values) is np.ndarray else None
    if type(values) in (list, tuple) and mask is None and len(values) <= _SHORT:
        made = _listed(values, kind)
    return pa.array(values, type=kind, mask=mask) if made is None else made


def scalar_of(value: Any, kind: pa.DataType) -> pa.Scalar:
    """What `pa.scalar` makes of the same arguments."""
    return array_of([value], kind)[0]


def filled(values: pa.Array | pa.ChunkedArray, value: Any) -> Any:
    """The values, of which absent ones become `value`."""
    return values.fill_null(scalar_of(value, values.type))


def numpy_of(values: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """What `to_numpy` makes of the values; where it need not copy them, the array can't be written to."""
    array = values
    if isinstance(values, pa.ChunkedArray):
        array = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    made = _seen_by_numpy(array) if isinstance(array, pa.Array) else None
    return values.to_numpy(zero_copy_only=False) if made is None else made


def _seen_by_numpy(array: pa.Array) -> np.ndarray | None:
    width = _WIDTHS.get(array.type)
    if width is None or (array.null_count and width.kind == "b"):
        return None
    _, cells = array.buffers()
    if width.kind == "b":
        bits = np.unpackbits(np.frombuffer(cells or b"", dtype=np.uint8), bitorder="little")
        return bits[array.offset : array.offset + len(array)].astype(bool)
    seen = np.frombuffer(cells or b"", dtype=width)[array.offset : array.offset + len(array)]
    if not array.null_count:
        seen.setflags(write=False)
        return seen
    found = seen.astype(width if width.kind == "f" else np.float64)
    found[_seen_by_numpy(array.is_null())] = np.nan
    return found


def _numbers(values: np.ndarray, kind: pa.DataType | None, mask: np.ndarray | None) -> pa.Array | None:
    own = _KINDS.get(values.dtype)
    if own is None or kind not in (None, own) or values.ndim != 1:
        return None
    valid = None
    if mask is not None:
        if type(mask) is not np.ndarray or mask.dtype != bool or mask.shape != values.shape:
            return None
        valid = _bits(~mask)
    cells = _bits(values) if values.dtype == bool else pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(own, len(values), [valid, cells])


def _bits(truths: np.ndarray) -> pa.Buffer:
    return pa.py_buffer(np.packbits(truths, bitorder="little"))


def _listed(values: Sequence[Any], kind: pa.DataType | None) -> pa.Array | None:
    if kind is None and values and all(type(value) is str for value in values):
        return _texts(values, pa.string())
    if kind in _OFFSETS and all(value is None or type(value) is str for value in values):
        return _texts(values, kind)
    if kind == pa.date32() and all(type(value) is date for value in values):
        days = np.array([value.toordinal() - _EPOCH.toordinal() for value in values], dtype=np.int32)
        return _of_numbers(days, kind)
    if kind == pa.timestamp("us") and all(type(value) is datetime and value.tzinfo is None for value in values):
        return _of_numbers(np.array([(value - _EPOCH) // _STEP for value in values], dtype=np.int64), kind)
    one = _PYTHONS.get(kind)
    if kind is None or one is None or not all(type(value) is one for value in values):
        return None
    try:
        return _numbers(np.array(values, dtype=kind.to_pandas_dtype()), kind, None)
    except OverflowError:  # which is said as `pyarrow` says it
        return None


def _of_numbers(numbers: np.ndarray, kind: pa.DataType) -> pa.Array:
    """Days or microseconds since 1970 as the moments that they are."""
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])


def _texts(texts: Sequence[str | None], kind: pa.DataType) -> pa.Array | None:
    raw = [b"" if text is None else text.encode() for text in texts]
    ends = [0, *accumulate(map(len, raw))]
    if ends[-1] >= 2**31:
        return None
    valid = _bits(np.array([text is not None for text in texts])) if None in texts else None
    offsets = pa.py_buffer(np.array(ends, dtype=_OFFSETS[kind]))
    return pa.Array.from_buffers(kind, len(raw), [valid, offsets, pa.py_buffer(b"".join(raw))])
