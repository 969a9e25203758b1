"""A public grid on a numeric column, on which Wasserstein distances are integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterfoil.schema.column import Column
from counterfoil.schema.integer import Integer

MOST_POINTS = 4097
"""At most so many points, which snap a number by no more than an 8192nd of the length of its column."""


@dataclass(frozen=True)
class SnapGrid:
    """Equally spaced points from `lower` to `upper`.

    Args:
        column: whose numbers are snapped.
        lower, upper: the column's bounds, lower < upper.
        points: how many points, at least 2.
    """

    column: str
    lower: float
    upper: float
    points: int

    @staticmethod
    def of(column: Column) -> SnapGrid | None:
        """The grid of an ordered column, with all of its values where they are few; None for one value or no order."""
        if not column.is_ordered:
            return None
        lows, highs = column.ranges
        lower, upper = float(np.nanmin(lows)), float(np.nanmax(highs))
        if not lower < upper:
            return None
        points = MOST_POINTS
        if isinstance(column, Integer) and (column.upper - column.lower) // column.step < MOST_POINTS:
            points = (column.upper - column.lower) // column.step + 1
        return SnapGrid(column.name, lower, upper, points)

    def snap(self, numbers: np.ndarray) -> np.ndarray:
        """int64 [n]: the index of the nearest point; the last one for NaN. Each number is snapped by itself."""
        steps = np.rint((numbers - self.lower) * ((self.points - 1) / (self.upper - self.lower)))
        return np.where(np.isnan(steps), self.points - 1, np.clip(steps, 0, self.points - 1)).astype(np.int64)
