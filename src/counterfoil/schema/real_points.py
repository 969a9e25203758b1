"""Which numbers of a column of reals have a code of their own, beside intervals: the bounds, 0, and those of words."""

from __future__ import annotations

import numpy as np

from counterfoil.schema.decimal_grid import DecimalGrid
from counterfoil.schema.number_words import NumberWords, with_numbers


def beside_bounds(
    declared: tuple[float, ...], bounds: tuple[float, float], edges: np.ndarray, grid: DecimalGrid | None
) -> tuple[float, ...]:
    """The declared points, and, where no key says where bins are, the bounds and 0.

    A bound or 0 is none where its cell would hold no other number of so many decimals, nor one with more decimals.

    Args:
        declared: points.
        bounds: of the column.
        edges: float64 [intervals + 1].
        grid: of its decimals; None where it states none.
    """
    lower, upper = bounds
    proposed = [lower, *([0.0] if lower < 0 < upper else []), upper]
    points = [point for point in proposed if point not in declared]
    if grid is None or upper in declared:
        return (*declared, *points)
    following = edges[np.searchsorted(edges, points[:-1], side="right")].tolist()
    last = float(edges[-2])
    kept = [point for point, end in zip(points[:-1], following, strict=True) if end - point > 1.5 * grid.step]
    kept += [point for point in points[-1:] if point - last > (1.5 if last in kept else 0.5) * grid.step]
    first, end = grid.ends
    return (*declared, *(point for point in kept if first <= point <= end))


def with_words(
    points: tuple[float, ...], words: NumberWords, edges: np.ndarray, grid: DecimalGrid | None
) -> tuple[float, ...]:
    """The same points, and the numbers of words; of a bin that holds no other number its code is that of the word.

    Args:
        points: with a code of their own.
        words: of the column.
        edges: float64 [intervals + 1].
        grid: of its decimals; None where it states none.
    """
    for number in with_numbers(points, words)[len(points) :]:
        if grid is None or _others_in_bin(number, points, edges, grid) > 0:
            points = (*points, float(number))
    return points


def _others_in_bin(number: float, points: tuple[float, ...], edges: np.ndarray, grid: DecimalGrid) -> int:
    """How many other numbers of the grid, that are no points, its interval holds; the last one holds both its ends."""
    last = len(edges) - 2
    place = min(int(np.searchsorted(edges, number, side="right")) - 1, last)
    low, high = edges[place : place + 2].tolist()
    return grid.count(low, high, closed=place == last) - sum(low <= point <= high for point in points) - 1
