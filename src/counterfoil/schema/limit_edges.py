"""Where the words of a column divide its bins: a laboratory that writes <0.6 has no results from 0.1 to 0.5.

A bin that reaches over a limit would be spread evenly on both of its sides, and copies would have results that no
record has. With an end at the limit the counts decide, also where several laboratories have limits of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterfoil.schema.decimal_grid import DecimalGrid
from counterfoil.schema.limit import limit_of
from counterfoil.schema.number_words import NumberWords


def divided_at_limits(
    edges: Sequence[float],
    points: Sequence[float],
    words: NumberWords,
    grid: DecimalGrid | None,
    *,
    decimal_char: str,
    unit: str,
) -> list[float]:
    """The same edges, and those limits between them on either side of which a bin has numbers without a code.

    Args:
        edges: of bins, increasing, from the lower to the upper bound.
        points: that the column declares.
        words: of the column.
        grid: of its decimals; None where it states none.
        decimal_char, unit: of the column.
    """
    divided = list(edges)
    own = np.unique([edges[0], 0.0, edges[-1], *points, *(number for _, number in words)])
    for word, _ in words:
        if (limit := limit_of(word, decimal_char, unit)) is None:
            continue
        # Above >200 lies the next number; where no digits are stated there is none.
        number = limit.number + (grid.step if limit.strict and grid is not None else 0.0)
        number = number if grid is None else float(grid.nearest(np.array([number]))[0])
        place = int(np.searchsorted(divided, number, side="left"))
        if not 0 < place < len(divided) or divided[place] == number:
            continue
        low, high = divided[place - 1 : place + 1]
        last = place == len(divided) - 1
        if grid is None or (_others(grid, own, low, number) and _others(grid, own, number, high, closed=last)):
            divided.insert(place, number)
    return divided


def _others(grid: DecimalGrid, own: np.ndarray, low: float, high: float, *, closed: bool = False) -> bool:
    """Whether a bin holds a number that has no code of its own: without one its bin would stay empty."""
    held = (low <= own) & ((own <= high) if closed else (own < high))
    return grid.count(low, high, closed=closed) > int(held.sum())
