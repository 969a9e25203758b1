"""Whole numbers that all read as days, such as 20240131: of a copy's numbers between them most are none.

NOT PRIVATE: how the records are written is an exact fact about them.
"""

from __future__ import annotations

import numpy as np

from counterfoil.schema.compact_dates import are_days

_FEWEST = 20
"""Of fewer numbers it may be chance that each reads as a day."""


class DayCounts:
    """What was seen of a column's whole numbers so far."""

    def __init__(self) -> None:
        self._days = self._others = 0

    def add(self, numbers: np.ndarray) -> None:
        """Sees numbers, none of them missing."""
        days = int(are_days(numbers).sum())
        self._days, self._others = self._days + days, self._others + len(numbers) - days

    @property
    def count(self) -> int:
        """Of numbers that read as days; 0 where another one does not."""
        return self._days if self._days >= _FEWEST and not self._others else 0

    @property
    def said(self) -> str:
        """What to declare, and what a copy holds else."""
        return (
            "each of its numbers reads as a day, as 20240131 does, and a copy would hold many that read as none: "
            'declare kind = "date" with format = "%Y%m%d" and two days as bounds'
        )
