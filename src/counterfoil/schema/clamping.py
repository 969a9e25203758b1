"""What lies beyond the declared bounds of a number or a date, and counts as the bound."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from counterfoil.schema.column import Column
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.notation import DAY_OF_TIMES
from counterfoil.schema.real import Real
from counterfoil.schema.values import seconds_since_epoch


@dataclass(frozen=True)
class Clamping:
    """The bounds to which the values of a column are clamped.

    Args:
        lower, upper: as they are written.
        numbers: the two in the column's unit.
        codes: those of the two.
    """

    lower: str
    upper: str
    numbers: tuple[float, float]
    codes: tuple[int, int]


_DAY = (
    float(seconds_since_epoch(DAY_OF_TIMES)),
    float(seconds_since_epoch(DAY_OF_TIMES + timedelta(days=1, seconds=-1))),
)


def clamping_of(column: Column) -> Clamping | None:
    """The bounds of a number, a date or a datetime; None for a column whose values are never clamped.

    No time of day lies before the first moment of a day, or after its last.
    """
    if not isinstance(column, (Integer, Real, Instant)):
        return None
    if isinstance(column, Instant) and column.is_clock and not column.zone:
        lower, upper = column.bounds
        if lower <= _DAY[0] and _DAY[1] <= upper:
            return None
    lowest, highest = column.codes_of(np.array(column.bounds)).tolist()
    return Clamping(bound_text(column.lower), bound_text(column.upper), column.bounds, (lowest, highest))


def bound_text(bound: object) -> str:
    """A bound as people write it."""
    return f"{bound:.12g}" if isinstance(bound, float) else str(bound)
