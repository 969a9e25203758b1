"""Bins of days that follow the calendar: weeks from Mondays, months, quarters from January, years, tens of years.

Everything follows from the bounds, which are public.
"""

from __future__ import annotations

import re
from datetime import date

import numpy as np

CALENDAR = re.compile(r"calendar ([1-9]\d{0,3}(?=d|y)|[12346](?=mo))(d|mo|y)")
"""A resolution that is aligned to the calendar, in place of counted from `lower`; months are parts of a year."""

_MOST = 125
"""Bins between the bounds, hardly more than a hundred, as of numbers."""
_STEPS = ("14d", "1mo", "2mo", "3mo", "6mo", "1y", "2y", "5y", "10y")
_MONTHS = {"mo": 1, "y": 12}
_DAYS_OF_A_MONTH = 365.25 / 12
_WEEK, _MONDAY = 7, 4  # days, and the first Monday since 1970-01-01


def calendar_resolution(lower: date, upper: date) -> str:
    """The finest resolution of the calendar that makes about a hundred bins; empty where none is so coarse."""
    days = (upper - lower).days + 1
    for step in _STEPS:
        if days <= _MOST * _length(f"calendar {step}"):
            return f"calendar {step}"
    return ""


def calendar_starts(resolution: str, lower: date, upper: date) -> np.ndarray:
    """int64 [bins]: the first day of each bin, counted from 1970-01-01; the first bin may be cut short.

    Weeks begin on Mondays, and two and more of them with the first Monday after `lower`; other numbers of days begin
    with `lower`. Months are counted from a January: of a year that their number of years divides, where they make
    whole years.

    Args:
        resolution: such as "calendar 3mo".
        lower: the first day.
        upper: the last day.
    """
    count, unit = _parts(resolution)
    low, high = _number(lower), _number(upper)
    if unit == "d":
        first = low + (_MONDAY - low) % _WEEK if count % _WEEK == 0 else low
        return np.unique(np.append(low, np.arange(first, high + 1, count)))
    months, first = count * _MONTHS[unit], lower.year * 12 + lower.month - 1
    begins = np.arange(first - first % months + months, upper.year * 12 + upper.month, months)
    since_1970 = (begins - 1970 * 12).astype("datetime64[M]")
    return np.append(low, since_1970.astype("datetime64[D]").astype(np.int64))


def bins_at_most(resolution: str, lower: date, upper: date) -> int:
    """How many bins there are at most, before any is made."""
    return int(((upper - lower).days + 1) / _length(resolution)) + 2


def _length(resolution: str) -> float:
    """About how many days a bin has."""
    count, unit = _parts(resolution)
    return count if unit == "d" else count * _MONTHS[unit] * _DAYS_OF_A_MONTH


def _parts(resolution: str) -> tuple[int, str]:
    matched = CALENDAR.fullmatch(resolution)
    assert matched is not None, "it was checked before"
    return int(matched[1]), matched[2]


def _number(day: date) -> int:
    return day.toordinal() - date(1970, 1, 1).toordinal()
