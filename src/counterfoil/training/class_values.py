"""What the classes of a target are called in Python: the values that a table has, to be compared with it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from counterfoil.schema.boolean import Boolean
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.integer import Integer
from counterfoil.schema.number import NumberColumn


def values_of(column: Column) -> np.ndarray:
    """[codes]: the value that each code of a column stands for, in the column's own type; labels where it has none.

    A missing value is None, or the word that texts have for it, as in a table (`Column.missing_word`).
    """
    values = _values(column)
    if not column.missing:
        return values
    spelled = values.dtype.kind == "U"
    return np.append(values.astype(object), [(spelled and column.missing_word) or None])


def _values(column: Column) -> np.ndarray:
    """[n_bins]: those of all codes but the one for missing values."""
    if isinstance(column, Boolean):
        return np.array(column.values_of(np.array([False, True])).to_pylist())
    if isinstance(column, Categorical) and column.arrow_type != pa.string():
        return np.array(column.values)
    if isinstance(column, NumberColumn):
        lows, highs = (bounds[: column.n_bins] for bounds in column.ranges)
        if np.array_equal(lows, highs):
            return lows.astype(np.int64) if isinstance(column, Integer) else lows
    return np.array(column.labels[: column.n_bins])
