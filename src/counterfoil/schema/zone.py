"""Time zones: from the clock on a wall to instants and back.

Instants are whole seconds since 1970-01-01T00:00 UTC; wall seconds are those of a clock in the zone, counted from
1970-01-01T00:00 on it. Where a clock is put back, an hour is shown twice: a wall time in it means the first of the two
instants. Where it is put forward, an hour is never shown: a wall time in it is read with the offset from before, and so
means the instant that the clock shows as one hour later. Both are what Python does for `fold = 0` (PEP 495).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import numpy as np

EPOCH = datetime(1970, 1, 1)
SECONDS_PER_DAY = 86_400
_MACHINES_OWN = ("localtime", "posixrules", "Factory")
"""Names that mean another zone on another machine, or none."""

_FIRST, _LAST = ((moment - EPOCH).days * SECONDS_PER_DAY for moment in (datetime(2, 1, 1), datetime(9999, 1, 1)))


def find_zone(name: str) -> ZoneInfo | None:
    """The zone of the IANA database, of the system's copy or else of the package `tzdata`; None for an unknown name."""
    try:
        return None if name in _MACHINES_OWN else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def zone_names() -> list[str]:
    """All names that a zone may have."""
    return sorted(available_timezones() - {*_MACHINES_OWN})


def wall_seconds(instants: np.ndarray, zone: ZoneInfo) -> np.ndarray:
    """int64 [n]: what a clock in the zone shows at instants, int64 [n]."""
    return instants + _each(instants, lambda moment: moment.replace(tzinfo=UTC).astimezone(zone))


def instant_seconds(walls: np.ndarray, zone: ZoneInfo) -> np.ndarray:
    """int64 [n]: the instants at which a clock in the zone shows int64 [n]."""
    return walls - _each(walls, lambda moment: moment.replace(tzinfo=zone))


def moment_in(instant: int, zone: ZoneInfo) -> datetime:
    """An instant as a datetime with its zone."""
    return (EPOCH + timedelta(seconds=instant)).replace(tzinfo=UTC).astimezone(zone)


def _each(seconds: np.ndarray, zoned: Callable[[datetime], datetime]) -> np.ndarray:
    """int64 [n]: the offset from UTC, in seconds, at each of `seconds`; far from all calendars, that at their ends."""
    distinct, places = np.unique(np.clip(seconds, _FIRST, _LAST), return_inverse=True)
    offsets = [_offset(zoned(EPOCH + timedelta(seconds=second))) for second in distinct.tolist()]
    return np.array(offsets, dtype=np.int64)[places.reshape(-1)]


def _offset(moment: datetime) -> int:
    offset = moment.utcoffset()
    assert offset is not None
    return offset.days * SECONDS_PER_DAY + offset.seconds
