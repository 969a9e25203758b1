"""Texts that are times of day alone, and how they are written."""

from __future__ import annotations

import re

CLOCK_FORMATS = ("%H:%M", "%H:%M:%S", "%I:%M %p")
"""As `strptime` reads them: hours may have one digit."""

_CLOCK = re.compile(r"(\d{1,2}):[0-5]\d(?:(?P<seconds>:[0-5]\d)|(?P<half> [AP]M))?", re.ASCII | re.IGNORECASE)


def clock_format(text: str) -> str:
    """The one of `CLOCK_FORMATS` that a text is in; empty where it is no time of day, as 24:00 is none."""
    if (match := _CLOCK.fullmatch(text)) is None:
        return ""
    plain, seconds, half = CLOCK_FORMATS
    first, last = (1, 12) if match["half"] else (0, 23)
    if not first <= int(match[1]) <= last:
        return ""
    return half if match["half"] else seconds if match["seconds"] else plain
