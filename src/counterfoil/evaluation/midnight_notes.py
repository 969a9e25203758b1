"""Moments that are all at midnight, as programs store days, and of which a copy would make up the times of day.

NOT PRIVATE: that no record has a time of day is an exact fact about them.
"""

from __future__ import annotations

import numpy as np

from counterfoil.schema.instant import Datetime
from counterfoil.schema.made_up_times import writes_times
from counterfoil.schema.zone import SECONDS_PER_DAY, find_zone, wall_seconds

_FEWEST = 20
"""Moments: fewer may be at midnight by chance."""


class MidnightCounts:
    """What was seen of a column's times of day so far.

    Args:
        column: the public facts.
    """

    said = 'all its moments are at midnight, and drawn ones would not be: declare kind = "date", with days as bounds'

    def __init__(self, column: Datetime):
        self._zone = find_zone(column.zone) if column.zone else None
        self._all = writes_times(column) and float(column.spans.max()) > 1
        self._seen = 0

    def add(self, numbers: np.ndarray) -> None:
        """Sees seconds since 1970-01-01 [n]."""
        if not self._all:
            return
        seconds = numbers.astype(np.int64)
        clock = seconds if self._zone is None else wall_seconds(seconds, self._zone)
        self._all = not (clock % SECONDS_PER_DAY).any()
        self._seen += len(numbers)

    @property
    def count(self) -> int:
        """How many moments there are where all are at midnight; 0 elsewhere."""
        return self._seen if self._all and self._seen >= _FEWEST else 0
