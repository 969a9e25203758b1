"""Moments that say how far their clock is from UTC, such as 2020-01-31T14:35:00Z and 2020-01-31 15:35:00.123+01:00.

So programs write what they exchange. Each names an instant, and is counted as it is in UTC, whatever offset it states;
one that is the beginning of a day there is of a class of its own, which no time of day is left open in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

ZONED = "%Y-%m-%dT%H:%M:%S%z"
"""The class, and the notation that stands for all of them: ISO 8601, which a column with a `zone` reads."""
ZONED_DAYS = "%Y-%m-%dT00:00:00%z"
"""Of days that are written as such moments: their beginning in UTC."""
IN_WORDS: Mapping[str, str] = {
    ZONED: "moments with an offset from UTC",
    ZONED_DAYS: "midnights with an offset from UTC",
}
"""The classes as a purchase names them, where they are among other cells."""

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def zoned_moment(text: str) -> tuple[str, float] | None:
    """The class of a text and its microseconds since 1970-01-01T00:00 UTC; None where it is no such moment."""
    if _MOMENT.fullmatch(text) is None:
        return None
    try:
        elapsed = datetime.fromisoformat(text).astimezone(UTC) - _EPOCH
    except (ValueError, OverflowError):  # no such day, or one beyond the calendar in UTC
        return None
    number = float((elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds)
    return (ZONED if elapsed.seconds or elapsed.microseconds else ZONED_DAYS), number
