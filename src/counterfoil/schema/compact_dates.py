"""Whole numbers that read as days, such as 20240131: how registers and statistical packages write dates."""

from __future__ import annotations

import re
from datetime import date

import numpy as np

FORMAT = "%Y%m%d"
"""As `strftime` writes them."""

_WITH_POINT = re.compile(r"(\d{8})\.0+", re.ASCII)
_FIRST, _STOP = 1900, 2100
_EPOCH = date(1970, 1, 1).toordinal()


def without_point(text: str) -> str:
    """The day that is written as a number with a zero after the point, as pandas does where others are missing."""
    match = _WITH_POINT.fullmatch(text)
    return text if match is None else match[1]


def are_days(numbers: np.ndarray) -> np.ndarray:
    """bool [n]: which whole numbers read as a day from 1900 to 2099, of a month and a year that have it.

    Args:
        numbers: float64 [n], of which what is not finite reads as none.
    """
    return ~np.isnan(days_of(numbers))


def days_of(numbers: np.ndarray) -> np.ndarray:
    """float64 [n]: the day that each whole number reads as, since 1970-01-01; NaN where it reads as none.

    Args:
        numbers: as for `are_days`.
    """
    result = np.full(len(numbers), np.nan)
    near = np.flatnonzero((numbers >= _FIRST * 10_000) & (numbers < _STOP * 10_000))
    written = numbers[near].astype(np.int64)
    years, months, days = written // 10_000, written // 100 % 100, written % 100
    in_a_year = (months >= 1) & (months <= 12)
    month = (years - 1970) * 12 + np.where(in_a_year, months, 1) - 1
    first, next_one = (
        one.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) for one in (month, month + 1)
    )
    found = in_a_year & (days >= 1) & (days <= next_one - first)
    result[near[found]] = (first + days - 1)[found]
    return result


def year_edges() -> tuple[float, ...]:
    """The first days of the years from 1900 to 2100, as they are written."""
    return tuple(float(year * 10_000 + 101) for year in range(_FIRST, _STOP + 1))


def days_since_1970(year_edge: float) -> float:
    """The first day of a year that is written so, in days since 1970-01-01."""
    return float(date(int(year_edge) // 10_000, 1, 1).toordinal() - _EPOCH)
