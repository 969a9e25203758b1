"""Texts that a cell's storage holds otherwise than they count: with white space around them, or with nothing else.

`values` strips what stands around a text, and takes what is empty then for missing.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.schema.plain_arrays import filled, numpy_of
from counterfoil.schema.spelling import strip
from counterfoil.schema.values import Values, of_each_type


class WhiteSpace(IntEnum):
    """What stripping does to a cell."""

    NOTHING = 0
    STRIPPED = 1
    EMPTY = 2  # no text is left, though it is no null


def white_space_of(values: Values) -> np.ndarray:
    """int64 [n]: the `WhiteSpace` of each cell; nothing where it is null or no text."""
    return of_each_type(values, _of_texts, stranger=WhiteSpace.NOTHING, dtype=np.int64)


def _of_texts(array: pa.Array) -> np.ndarray:
    kind = array.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return np.zeros(len(array), dtype=np.int64)
    texts = array.cast(pa.large_string())
    stripped = strip(texts)
    changed = numpy_of(filled(pc.not_equal(texts, stripped), False))
    empty = numpy_of(filled(pc.equal(stripped, ""), False))
    return np.where(empty, WhiteSpace.EMPTY, np.where(changed, WhiteSpace.STRIPPED, WhiteSpace.NOTHING))
