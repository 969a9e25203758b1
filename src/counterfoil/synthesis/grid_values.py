"""The values that numbers on a grid can have: with them a condition is judged more closely than by bins."""

from __future__ import annotations

import numpy as np

from counterfoil.schema.column import Column
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real, digits_for

_EXACT = 2.0**50
"""Steps from 0 up to which floats tell the values of a grid apart."""


def grid_values(column: Column, codes: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray] | None:
    """All values of some bins of a column, and the code of each.

    Args:
        column: the public facts.
        codes: int64 [k], of bins.
        most: how many values are listed at most.

    Returns:
        float64 [n] and int64 [n]; None for a column without a grid, and for more values.
    """
    step = _step_of(column)
    if not (step and len(codes)):
        return None
    lows, highs = (ends[codes] for ends in column.ranges)
    counts = np.rint((highs - lows) / step) + 1
    if counts.sum() > most or max(np.abs(lows).max(), np.abs(highs).max()) > _EXACT * step:
        return None
    counts = counts.astype(np.int64)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    values = np.repeat(lows, counts) + step * within
    if isinstance(column, Real):
        values = column.rounded(np.minimum(values, np.repeat(highs, counts)))
    # Bounds beside a grid of decimals are values too.
    return np.concatenate([values, lows, highs]), np.concatenate([np.repeat(codes, counts), codes, codes])


def how_many(column: Column, codes: np.ndarray | list[int]) -> np.ndarray:
    """float64 [k]: of how many values each of the codes of a column stands for; 1 where it is missing or a category.

    Of a column without a grid they are as many as are drawn of the narrowest bin, and more of others by their widths.
    """
    widths = np.nan_to_num(np.subtract(*(ends[codes] for ends in reversed(column.ranges))))
    wide = widths[widths > 0]
    if not len(wide):
        return np.ones(len(codes))
    step = 1.0 if isinstance(column, Instant) else _step_of(column)
    if step:
        return np.rint(widths / step) + 1
    return np.where(widths > 0, np.maximum(widths * 10.0 ** int(digits_for(wide).max()), 1.0), 1.0)


def values_said(column: Column) -> str:
    """A sentence on the values of a column, after a space; empty for categories, which are listed elsewhere."""
    if not isinstance(column, Integer | Real | Instant):
        return ""
    step = _step_of(column)
    which = "are whole, from" if step == 1 else f"are every {step:.15g} from" if step else "go from"
    lower, upper = (f"{end:.15g}" if isinstance(end, float) else str(end) for end in (column.lower, column.upper))
    return f" Its values {which} {lower} to {upper}."


def _step_of(column: Column) -> float:
    """Between two values; 0 where there is no grid."""
    if isinstance(column, Integer):
        return float(column.step)
    if not isinstance(column, Real) or not column.is_on_a_grid:
        return 0.0
    return float(column.step or 10.0 ** -(column.decimals or 0))
