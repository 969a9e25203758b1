"""Which parts of moments no cell tells apart, so that copies make them up: public, it follows from the schema.

Storages and programs keep days as moments at midnight, pandas among them: counted by the day or more, they come back
at all hours.
"""

from __future__ import annotations

import numpy as np

from counterfoil.schema.instant import Datetime
from counterfoil.schema.notation import timed

_DAY = 86_400
_SHORT_DAY = 23 * 3600
"""Where a clock is put forward."""
_HALF_YEAR = 180 * _DAY


def writes_times(column: Datetime) -> bool:
    """Whether its moments come back with times of day, and not in a format that has none."""
    return not column.format or timed(column.format)


def made_up_parts(column: Datetime) -> str:
    """What of its moments is made up, in words; empty where no time of day is, or is written."""
    if not writes_times(column):
        return ""
    length = float(np.median(column.spans))
    if length < _SHORT_DAY:
        return ""
    if length < 2 * _SHORT_DAY:
        return "times of day"
    return "times of day and weekdays" if length < _HALF_YEAR else "times of day, weekdays and seasons"
