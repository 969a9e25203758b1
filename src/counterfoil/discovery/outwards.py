"""Bounds rounded outwards to numbers that people write: nothing within them is lost, and no digit is left of a grid.

The step is a 1, 2 or 5 times a power of ten, at most a tenth of the span: at most a tenth is added on either side.
"""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from fractions import Fraction

from counterfoil.schema.zone import EPOCH, SECONDS_PER_DAY

LARGEST = 1e300
"""Reals beyond it are clamped to it: differences stay finite."""

_NARROWEST = 1e-9
"""Of the larger bound: a narrower span has no hundred different floating-point numbers to cut it at."""
_TINIEST = 1e-250
_EXACT = 2**53
_FEWEST_STEPS = 10
_FIRST_YEAR, _LAST_YEAR = 2, 9998
"""A year is left at both ends of the calendar, so that every zone has the first and the last day."""
_FAR = 10**9
"""Days, beyond any calendar."""


def reals(lower: float, upper: float, decimals: int | None = None) -> tuple[float, float]:
    """Bounds of a real column, the first below the second.

    Args:
        lower: at most `upper`; may be infinite.
        upper: may be infinite.
        decimals: how many digits after the point the bounds may have; any where None.
    """
    most = LARGEST if decimals is None else _EXACT / 10.0**decimals / 2
    low, high = (min(max(bound, -most), most) for bound in (lower, upper))
    least = max(max(abs(low), abs(high)) * _NARROWEST, _TINIEST)
    if high - low < least:
        low, high = low - least, high + least
    step = _step(Fraction(high) - Fraction(low))
    if decimals is not None:
        step = max(step, Fraction(1, 10**decimals))
    low, high = float(math.floor(Fraction(low) / step) * step), float(math.ceil(Fraction(high) / step) * step)
    return low + 0.0, high + 0.0  # no negative zeros


def integers(lower: float, upper: float) -> tuple[int, int]:
    """Bounds of a column of whole numbers, the first at most the second, both within 2^53.

    Args:
        lower: at most `upper`; may be infinite.
        upper: may be infinite.
    """
    low, high = (min(max(bound, -_EXACT), _EXACT) for bound in (lower, upper))
    step = max(_step(Fraction(high) - Fraction(low)), Fraction(1))
    first, last = (int(math.floor(Fraction(low) / step) * step), int(math.ceil(Fraction(high) / step) * step))
    return max(first, -_EXACT), min(last, _EXACT)


def days(lower: float, upper: float, *, short_years: bool = False) -> tuple[date, date]:
    """Bounds of a column of dates: whole years, months or days, by how far apart they are.

    Args:
        lower: days since 1970-01-01, at most `upper`; may be infinite.
        upper: days since 1970-01-01; may be infinite.
        short_years: whether years are written in two digits, which mean 1969 to 2068.
    """
    low, high = _day(_floor(lower), short_years), _day(-_floor(-upper), short_years)
    if high - low >= timedelta(days=5 * 365):
        return low.replace(month=1, day=1), high.replace(month=12, day=31)
    if high - low >= timedelta(days=180):
        following = (high.replace(day=28) + timedelta(days=4)).replace(day=1)
        return low.replace(day=1), following - timedelta(days=1)
    return low, high


def moments(lower: float, upper: float, *, short_years: bool = False) -> tuple[datetime, datetime]:
    """Bounds of a column of datetimes: whole hours within one day, else whole days, months or years as `days` has them.

    Args:
        lower: seconds since 1970-01-01, at most `upper`; may be infinite.
        upper: seconds since 1970-01-01; may be infinite.
        short_years: as for `days`.
    """
    first, last = _floor(lower / SECONDS_PER_DAY), _floor(upper / SECONDS_PER_DAY)
    if first != last or abs(first) == _FAR:
        low, high = days(first, last, short_years=short_years)
        return datetime(low.year, low.month, low.day), datetime(high.year, high.month, high.day, 23, 59, 59)
    day = _day(first, short_years)
    begin = datetime(day.year, day.month, day.day)
    hours = [int(second % SECONDS_PER_DAY) // 3600 if math.isfinite(second) else 0 for second in (lower, upper)]
    return begin + timedelta(hours=hours[0]), begin + timedelta(hours=hours[1], minutes=59, seconds=59)


def resolution_of(lower: date, upper: date, *, most: int = 100) -> str:
    """The finest usual resolution that cuts the time between two bounds into at most about `most` bins.

    Args:
        lower: a date, or a datetime.
        upper: the same, not before `lower`.
        most: bins.
    """
    seconds = (upper - lower).total_seconds() + (1 if isinstance(lower, datetime) else SECONDS_PER_DAY)
    for name, length in _LENGTHS.items():
        if (length >= SECONDS_PER_DAY or isinstance(lower, datetime)) and seconds <= most * length:
            return name
    return "100y"


_LENGTHS = {
    "1s": 1,
    "1min": 60,
    "15min": 900,
    "1h": 3600,
    "6h": 21_600,
    "1d": SECONDS_PER_DAY,
    "7d": 7 * SECONDS_PER_DAY,
    "1mo": 30.4 * SECONDS_PER_DAY,
    "3mo": 91.3 * SECONDS_PER_DAY,
    "1y": 365.25 * SECONDS_PER_DAY,
    "5y": 5 * 365.25 * SECONDS_PER_DAY,
    "20y": 20 * 365.25 * SECONDS_PER_DAY,
}
"""Seconds, those of months and years on average."""


def _step(span: Fraction) -> Fraction:
    """The largest of 1, 2, 5 times a power of ten that goes into the span ten times; 1 for no span."""
    if span <= 0:
        return Fraction(1)
    most = span / _FEWEST_STEPS
    power = Fraction(10) ** math.floor(_log10(most))
    while power > most:
        power /= 10
    while power * 10 <= most:
        power *= 10
    return max(factor * power for factor in (1, 2, 5) if factor * power <= most)


def _log10(number: Fraction) -> float:
    """Good to an integer or so, also where no float holds the number."""
    return math.log10(number.numerator) - math.log10(number.denominator)


def _floor(number: float) -> int:
    """The whole number below; beyond all calendars, one that is."""
    return math.floor(min(max(number, -_FAR), _FAR))


def _day(number: int, short_years: bool) -> date:
    first, last = (1969, 2068) if short_years else (_FIRST_YEAR, _LAST_YEAR)
    low, high = ((end - EPOCH.date()).days for end in (date(first, 1, 1), date(last, 12, 31)))
    return EPOCH.date() + timedelta(days=min(max(number, low), high))
