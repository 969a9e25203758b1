"""From the numbers and codes of points to the values of columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.schema import Boolean, Date, Datetime, Integer, Real, Schema
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.rules import rows_that_hold

MOST_TRIES = 50


def steps(column: NumberColumn) -> int:
    """How many equal steps lead from the column's lower to its upper bound; 0 where every value between is possible."""
    low, high = column.bounds
    if isinstance(column, Integer):
        return (column.upper - column.lower) // column.step
    if isinstance(column, Real):
        return 0 if column.grid is None else column.grid.last
    return round(high - low)


def values(column: NumberColumn, numbers: np.ndarray) -> pa.Array:
    """The column's values [n] nearest to `numbers` [n] (days for dates, seconds for times); null for NaN."""
    low, high = column.bounds
    absent = np.isnan(numbers)
    clipped = np.clip(np.where(absent, low, numbers), low, high)
    if isinstance(column, Real):
        return pa.array(column.rounded(clipped), mask=absent)
    width = column.step if isinstance(column, Integer) else 1
    whole = (low + width * np.rint((clipped - low) / width)).astype(np.int64)
    if isinstance(column, Boolean):
        return pc.if_else(pa.array(absent), None, column.values_of(whole == 1))
    if isinstance(column, Date):
        return pa.array(whole.astype(np.int32), mask=absent).cast(pa.date32())
    if isinstance(column, Datetime):
        return pa.array(whole * 1_000_000, mask=absent).cast(column.arrow_type)
    return pa.array(whole, mask=absent)


def allowed(schema: Schema, table: pa.Table) -> np.ndarray:
    """bool [n]: which rows meet the schema's rules and structural zeros."""
    good = rows_that_hold(schema.row_rules, table)
    for clique, impossible in schema.structural_zeros.items():
        good &= ~impossible[tuple(schema[name].encode(table.column(name)) for name in clique)]
    return good
