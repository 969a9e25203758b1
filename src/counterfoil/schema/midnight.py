"""Moments at midnight: how databases and programs store days that have no time, as 2024-01-31 00:00:00."""

from __future__ import annotations

import numpy as np

FORMAT = "%Y-%m-%d 00:00:00"
"""As `strftime` writes them."""

MICROSECONDS_PER_DAY = 86_400_000_000


def are_midnights(moments: np.ndarray) -> np.ndarray:
    """bool [n]: which are the beginning of a day; floats hold each of these exactly.

    Args:
        moments: float64 [n], microseconds since 1970-01-01T00:00; NaN is none.
    """
    return np.asarray(moments % MICROSECONDS_PER_DAY == 0)


def days_of(moments: np.ndarray) -> np.ndarray:
    """float64 [n]: the day of each moment, since 1970-01-01.

    Args:
        moments: as for `are_midnights`.
    """
    return np.asarray(np.floor(moments / MICROSECONDS_PER_DAY))
