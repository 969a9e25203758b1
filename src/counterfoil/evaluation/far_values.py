"""Values beyond a bound that may stand for none, such as 9999-12-31, 1900-01-01, 999 or -1.

NOT PRIVATE: how many cells hold them is an exact fact about the records. Which they are is never said here.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.placement import PlacedCells, Placement
from counterfoil.schema.real import Real

_KEPT = 1000
"""Values that are counted one by one: those seen first."""
_SHARE_OF_KNOWN = 0.1
"""Of the cells beyond a bound: with fewer, a value that others have used for none may well be one of many."""
_SHARE_OF_FAR = 0.5
"""The same, of a value that is known for nothing but lies far out."""
_YEARS = (1, 1753, 1970)
"""That begin the calendars of machines; centuries do, and their last years end them."""


class FarValues:
    """What lies beyond the bounds of a column, as far as it tells whether it stands for none.

    Args:
        column: the public facts.
    """

    def __init__(self, column: Integer | Real | Instant):
        self._column = column
        self._counts: dict[Placement, int] = {Placement.BELOW: 0, Placement.ABOVE: 0}
        self._values: dict[Placement, Counter[float]] = {way: Counter() for way in self._counts}

    def add(self, cells: PlacedCells) -> None:
        """Sees the cells of a batch."""
        assert cells.numbers is not None, "the column lies on a line"
        for way, seen in self._values.items():
            beyond = cells.numbers[cells.placements == way]
            self._counts[way] += len(beyond)
            for value, count in zip(*(one.tolist() for one in np.unique(beyond, return_counts=True)), strict=True):
                if value in seen or len(seen) < _KEPT:
                    seen[value] += count

    def placeholders(self, way: Placement) -> tuple[int, int]:
        """How many cells beyond a bound hold a value that may stand for none, and how many such values there are."""
        total = self._counts.get(way, 0)
        found = [
            count
            for value, count in self._values.get(way, Counter()).items()
            if (self._is_known(value) and count >= _SHARE_OF_KNOWN * total)
            or (self._is_far(value) and count >= max(2, _SHARE_OF_FAR * total))
        ]
        return sum(found), len(found)

    def _is_far(self, value: float) -> bool:
        """Whether it lies farther beyond a bound than the bounds are apart."""
        low, high = self._column.bounds
        return max(low - value, value - high) > high - low

    def _is_known(self, value: float) -> bool:
        """Whether many tables have used it for none."""
        if isinstance(self._column, Instant):
            return _is_end_of_calendar(self._column.day_of(value))
        text = f"{abs(value):.15g}"
        digits = text.replace(".", "")
        alike = {*digits} in ({"7"}, {"8"}, {"9"}) and len(digits) > len(text) - len(digits) + 1
        return alike or value in (-1, -7, -8, -9)


def _is_end_of_calendar(day: int) -> bool:
    """Whether a day since 1970-01-01 begins or ends a century, or begins the calendar of a machine."""
    days = np.array([day - 1, day, day + 1], dtype="datetime64[D]")
    before, year, after = (days.astype("datetime64[Y]").astype(int) + 1970).tolist()
    begins, ends = year != before, year != after
    return (begins and (year in _YEARS or year % 100 == 0)) or (ends and year % 100 == 99)
