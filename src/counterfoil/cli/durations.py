"""Durations as people write them, 90s, 10m, 1h30m, or seconds; and as they read them, rounded."""

from __future__ import annotations

import re

_PARTS = re.compile(r"(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?", re.ASCII)
_SECONDS = re.compile(r"\d+(?:\.\d+)?", re.ASCII)


def seconds_of(text: str) -> float:
    """The seconds of `--time-limit`.

    Args:
        text: hours, minutes and seconds, each of which may be left out; or a number of seconds.

    Raises:
        ValueError: for anything else, and for no time at all.
    """
    if _SECONDS.fullmatch(text):
        seconds = float(text)
    elif (found := _PARTS.fullmatch(text)) is not None:
        hours, minutes, rest = (float(part or 0) for part in found.groups())
        seconds = 3600 * hours + 60 * minutes + rest
    else:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(
            "`--time-limit` must be a duration above zero, such as 90s, 10m or 1h30m, or a number of seconds. "
            f"Found {text!r}."
        )
    return seconds


def coarse(seconds: float) -> int:
    """A duration in whole seconds, rounded as coarsely as a reader of a progress wants it.

    To 10 seconds below a minute, then to minutes, to 5 minutes from 10 on, and to half hours from an hour on; 5 for
    less than 10 seconds.

    Args:
        seconds: at least 0.
    """
    for step, limit in ((10, 55), (60, 570), (300, 3450)):
        if seconds < limit:
            return max(int(seconds / step + 0.5) * step, step) if seconds >= 10 else 5
    return int(seconds / 1800 + 0.5) * 1800


def about(rounded: int) -> str:
    """What `coarse` gives, in words."""
    if rounded < 10:
        return "a few seconds"
    for unit, name in ((3600, "hour"), (60, "minute"), (1, "second")):
        if rounded >= unit:
            return f"about {rounded / unit:g} {name}{'' if rounded == unit else 's'}"
    raise AssertionError("a duration of seconds has a unit")
