"""Durations as people write them: 90s, 10m, 1h30m, or seconds."""

from __future__ import annotations

import re

_PARTS = re.compile(r"(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?", re.ASCII)
_SECONDS = re.compile(r"\d+(?:\.\d+)?", re.ASCII)


def seconds_of(text: str, option: str = "--time-limit") -> float:
    """The seconds of a duration.

    Args:
        text: hours, minutes and seconds, each of which may be left out; or a number of seconds.
        option: whose value it is.

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
            f"`{option}` must be a duration above zero, such as 90s, 10m or 1h30m, or a number of seconds. "
            f"Found {text!r}."
        )
    return seconds


def duration_of(seconds: float) -> str:
    """A duration in one or two units, as a reader of a progress takes it in.

    Args:
        seconds: at least 0.
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s" if whole < 600 else f"{round(seconds / 60)}m"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"
