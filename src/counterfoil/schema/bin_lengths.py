"""Bins of moments that are counted from the lower bound: of so many seconds, minutes, hours, days, months or years."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

import numpy as np

from counterfoil.schema.values import seconds_since_epoch
from counterfoil.schema.zone import SECONDS_PER_DAY, instant_seconds

_LENGTH = re.compile(r"([1-9]\d{0,8})(s|min|h|d|mo|y)")
_SECONDS = {"s": 1, "min": 60, "h": 3600, "d": SECONDS_PER_DAY}
_MONTHS = {"mo": 1, "y": 12}
_SHORTEST_MONTH = 28 * SECONDS_PER_DAY


@dataclass(frozen=True)
class BinLength:
    """How long bins are.

    Args:
        seconds: of the clock; 0 for months.
        months: of the calendar; 0 for seconds.
        days: where the length is stated in them; 0 otherwise.
    """

    seconds: int = 0
    months: int = 0
    days: int = 0

    @property
    def least_seconds(self) -> int:
        """Months count as the shortest one, so that no number of bins that follows is too small."""
        return self.seconds or self.months * _SHORTEST_MONTH


def bin_length(text: str) -> BinLength | None:
    """From a count and one of s, min, h, d, mo and y; None for any other text."""
    matched = _LENGTH.fullmatch(text)
    if matched is None:
        return None
    count, unit = int(matched[1]), matched[2]
    if unit in _MONTHS:
        return BinLength(months=count * _MONTHS[unit])
    return BinLength(seconds=count * _SECONDS[unit], days=count if unit == "d" else 0)


def month_starts(months: int, lower: date, upper: date) -> Iterator[date]:
    """The first of every so many months after that of `lower`, up to the end of the year of `upper`.

    Bins begin there; the one before them may be cut short.
    """
    for month in range(lower.year * 12 + lower.month - 1 + months, (upper.year + 1) * 12, months):
        yield date(month // 12, month % 12 + 1, 1)


def day_starts(days: int, lower: datetime, upper: datetime, zone: ZoneInfo) -> np.ndarray:
    """int64 [bins]: the first second of every so many days, counted from 1970-01-01 in UTC.

    Days are the clock's, of 23 or 25 hours where it is changed; days that it skipped have no bin.
    """
    first, last = (seconds_since_epoch(moment) for moment in (lower, upper))
    return np.unique(instant_seconds(np.arange(first, last + 1, days * SECONDS_PER_DAY), zone))


def midnight_of(moment: date) -> datetime:
    """A moment as it is, and the one at which a day begins."""
    return moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day)
