"""Whole years between days, as an age is counted: by birthdays, and not by 365.25 days."""

from __future__ import annotations

import numpy as np

_DAYS_OF_A_MONTH = 31


def whole_years(last: np.ndarray, first: np.ndarray) -> np.ndarray:
    """float64 [n]: the anniversaries of `first` up to `last`, both included; NaN where either is.

    Who was born on 29 February is a year older on 1 March in other years. Where `last` is the earlier one the number is
    negative, rounded down: a day before the birth it is -1.

    Args:
        last, first: float64 [n] or one number, whole days since 1970-01-01.
    """
    last, first = np.broadcast_arrays(last, first)
    known = ~(np.isnan(last) | np.isnan(first))
    (year, day), (year_of_first, day_of_first) = (_in_year(np.where(known, days, 0.0)) for days in (last, first))
    return np.where(known, year - year_of_first - (day < day_of_first), np.nan)


def _in_year(days: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int64 [n] each: the year, and the place of the day in it, which rises from day to day."""
    dates = days.astype(np.int64).astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    day = (dates - months).astype(np.int64)
    months_since_1970 = months.astype(np.int64)
    return months_since_1970 // 12, months_since_1970 % 12 * _DAYS_OF_A_MONTH + day
