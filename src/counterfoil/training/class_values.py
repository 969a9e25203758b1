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
    """[codes]: the value that each code of a column stands for, in the column's own type; labels where it has none."""
    if column.missing:
        return np.array(column.labels)
    if isinstance(column, Boolean):
        return np.array(column.values_of(np.array([False, True])).to_pylist())
    if isinstance(column, Categorical) and column.arrow_type != pa.string():
        return np.array(column.values)
    if isinstance(column, NumberColumn):
        lows, highs = column.ranges
        if np.array_equal(lows, highs):
            return lows.astype(np.int64) if isinstance(column, Integer) else lows
    return np.array(column.labels)
