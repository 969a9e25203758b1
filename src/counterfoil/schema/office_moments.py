"""Moments as the programs of offices write them, such as 31.01.2020 14:35 and 1/31/2020 2:35 PM: classes of cells.

Days come first where points or dashes are between, and first or second between slashes; hours are those of a day,
beside slashes also those of half a day. A moment at midnight is of a class of its own, whose name is a format of days:
in %d.%m.%Y 00:00 no time is left open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

EITHER = "ambiguous/"
"""Of a day that may be a month, and a month that may be a day."""
_DAYS: Mapping[str, str] = {"%d.%m.%Y": ".", "%d-%m-%Y": "-", "%d/%m/%Y": "/", "%m/%d/%Y": "/"}
MIDNIGHTS: Mapping[str, str] = {
    "%H:%M": "00:00",
    "%H:%M:%S": "00:00:00",
    "%I:%M %p": "12:00 AM",
    "%I:%M:%S %p": "12:00:00 AM",
}
"""How each clock shows the beginning of a day."""
_WRITTEN = tuple((day, clock) for day, mark in _DAYS.items() for clock in MIDNIGHTS if mark == "/" or "%H" in clock)
MOMENT_FORMATS = tuple(f"{day} {clock}" for day, clock in _WRITTEN)
"""Of moments, as `strptime` reads them; of days before months where that can't be told."""
DAY_FORMATS: Mapping[str, str] = {f"{day} {clock}": f"{day} {MIDNIGHTS[clock]}" for day, clock in _WRITTEN}
"""By format of moments, that of the days which are written as moments at midnight."""
OFFICE_CLASSES = (
    *MOMENT_FORMATS,
    *DAY_FORMATS.values(),
    *(f"{EITHER} {clock}" for clock in MIDNIGHTS),
    *(f"{EITHER} {midnight}" for midnight in MIDNIGHTS.values()),
)

_MOMENT = re.compile(
    r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}) (\d{1,2}):([0-5]\d)(?P<seconds>:[0-5]\d)?(?: (?P<half>[AP])M)?",
    re.ASCII | re.IGNORECASE,
)
_EPOCH = datetime(1970, 1, 1)


def classes_of(moments: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The classes of a format of moments: those at some time of day, and those at midnight; each with what may be."""
    day, _, clock = moments.partition(" ")
    either = _DAYS[day] == "/"
    return (
        (moments, *([f"{EITHER} {clock}"] if either else [])),
        (DAY_FORMATS[moments], *([f"{EITHER} {MIDNIGHTS[clock]}"] if either else [])),
    )


def moments_of_days(days: str) -> str:
    """The format of moments whose days at midnight are written so; empty for any other format."""
    return next((moments for moments, written in DAY_FORMATS.items() if written == days), "")


def office_moment(text: str) -> tuple[str, float] | None:
    """The class of a text and its microseconds since 1970-01-01, days first in what may be either; None where it has
    none of these notations, or there is no such moment."""
    if (match := _MOMENT.fullmatch(text)) is None:
        return None
    first, mark, second, year, hour, minute = (match[place] for place in range(1, 7))
    clock = ("%I:%M" if match["half"] else "%H:%M") + (":%S" if match["seconds"] else "")
    clock += " %p" if match["half"] else ""
    at = _hour(int(hour), match["half"] or "")
    if at is None or (match["half"] and mark != "/"):
        return None
    moment = at, int(minute), int((match["seconds"] or ":0")[1:])
    readings = {f"%d{mark}%m{mark}%Y": _moment(int(year), int(second), int(first), *moment)}
    if mark == "/":
        readings["%m/%d/%Y"] = _moment(int(year), int(first), int(second), *moment)
    found = {day: number for day, number in readings.items() if number is not None}
    if not found:
        return None
    day, number = next(iter(found.items()))
    return f"{day if len(found) == 1 else EITHER} {clock if any(moment) else MIDNIGHTS[clock]}", number


def _hour(shown: int, half: str) -> int | None:
    """The hour of the day that a clock shows; None where none does."""
    if not half:
        return shown if shown <= 23 else None
    return shown % 12 + 12 * (half in "Pp") if 1 <= shown <= 12 else None


def _moment(year: int, month: int, day: int, hour: int, minute: int, second: int) -> float | None:
    try:
        elapsed = datetime(year, month, day, hour, minute, second) - _EPOCH
    except ValueError:
        return None
    return float((elapsed.days * 86_400 + elapsed.seconds) * 1_000_000)
