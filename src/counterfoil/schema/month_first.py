"""Dates and moments with two readings, such as 3/4/2020: cells are read with the day first, and then turned."""

from __future__ import annotations

import numpy as np

from counterfoil.schema.midnight import MICROSECONDS_PER_DAY, days_of
from counterfoil.schema.office_moments import EITHER
from counterfoil.schema.raw_cell import AMBIGUOUS, CODES, MOMENTS

_DAYS = [CODES[name] for name in AMBIGUOUS]
_MOMENTS = [CODES[name] for name in MOMENTS if name.startswith(EITHER)]


def month_first(codes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """float64 [n]: the numbers of cells, those of dates with two readings with the month before the day.

    Args:
        codes: int [n], of the classes of cells.
        numbers: float64 [n], of such dates days since 1970-01-01, of such moments microseconds, with the day first.
    """
    result = numbers.copy()
    of_days, of_moments = np.isin(codes, _DAYS), np.isin(codes, _MOMENTS)
    result[of_days] = _turned(numbers[of_days])
    days = days_of(numbers[of_moments])
    result[of_moments] += (_turned(days) - days) * MICROSECONDS_PER_DAY
    return result


def _turned(days: np.ndarray) -> np.ndarray:
    """float64 [n]: the days whose month is the day of the month of these, and the other way round."""
    read = days.astype("int64").astype("datetime64[D]")
    years, months = read.astype("datetime64[Y]"), read.astype("datetime64[M]")
    before = (read - months).astype(np.int64)  # of the month, from 0, which is the number of another month
    of_january = years.astype("datetime64[M]").astype(np.int64)
    turned = (of_january + before).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return np.asarray(turned + months.astype(np.int64) % 12, dtype=np.float64)
