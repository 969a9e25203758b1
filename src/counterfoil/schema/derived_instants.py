"""Dates and datetimes that an expression gives: from units since 1970-01-01 to what a table stores, and back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from counterfoil.schema.office_moments import DAY_FORMATS, MOMENT_FORMATS
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.raw_cell import DATE_FORMATS
from counterfoil.schema.zone import SECONDS_PER_DAY

INSTANT_RESULTS: Mapping[str, int] = {"date": SECONDS_PER_DAY, "datetime": 1}
"""The unit of each kind of result, in seconds."""
FORMATS: Mapping[str, tuple[str, ...]] = {
    "date": (*DATE_FORMATS, *DAY_FORMATS.values()),
    "datetime": (
        *(f"{day} {clock}" for day in DATE_FORMATS for clock in ("%H:%M:%S", "%H:%M")),
        *(one for one in MOMENT_FORMATS if "%p" in one),
    ),
}
"""Notations that tables are likely to have."""
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31, in days since 1970-01-01: beyond them there is no notation."""
_TICKS = 1_000_000


def instants_at(numbers: np.ndarray, kind: str, zone: str = "") -> pa.Array:
    """date32 or timestamp[us] [n]: whole units since 1970-01-01; null for NaN, and for years beyond 1 to 9999."""
    units = SECONDS_PER_DAY // INSTANT_RESULTS[kind]
    with np.errstate(invalid="ignore"):
        absent = ~((numbers >= _FIRST_DAY * units) & (numbers < (_LAST_DAY + 1) * units))
    whole = np.where(absent, 0, numbers).astype(np.int64)
    if kind == "date":
        return array_of(whole.astype(np.int32), mask=absent).cast(pa.date32())
    return array_of(whole * _TICKS, mask=absent).cast(pa.timestamp("us", zone or None))


def units_of(values: pa.Array) -> pa.Array:
    """int64 [n]: the same units of stored values; null for null."""
    if pa.types.is_date32(values.type):
        return values.cast(pa.int32()).cast(pa.int64())
    return values.cast(pa.timestamp("s", values.type.tz), safe=False).cast(pa.int64())
