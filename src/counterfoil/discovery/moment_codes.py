"""Which classes of cells are moments of a notation, and of days that are written as moments at midnight."""

from __future__ import annotations

from counterfoil.schema import midnight
from counterfoil.schema.office_moments import DAY_FORMATS, EITHER, MOMENT_FORMATS, classes_of, moments_of_days
from counterfoil.schema.raw_cell import CODES, MOMENTS
from counterfoil.schema.zoned_moments import ZONED, ZONED_DAYS

NOTATIONS = ("", ZONED, *MOMENT_FORMATS)
"""Of moments: ISO 8601 first, which has none stated."""

_CLASSES = {"": (("datetime",), ("midnight",)), ZONED: ((ZONED,), (ZONED_DAYS,))}
"""Of moments that no office's format describes: the classes at some time of day, and those at midnight."""
_DAYS = {"": midnight.FORMAT, ZONED: ZONED_DAYS}
"""The format of the days that are written as these moments at midnight."""

EITHER_MOMENTS = tuple(name for name in MOMENTS if name.startswith(EITHER))
"""The classes of moments whose day may be a month."""


def codes_of_moments(text_format: str) -> tuple[list[int], list[int]]:
    """The codes of moments that are written so, those at some time of day and those at midnight; of ISO 8601 for ""."""
    of_times, of_midnights = _CLASSES.get(text_format) or classes_of(text_format)
    return [CODES[name] for name in of_times], [CODES[name] for name in of_midnights]


def days_at_midnight(moments: str) -> str:
    """The format of the days which are written as moments of this format at midnight."""
    return _DAYS[moments] if moments in _DAYS else DAY_FORMATS[moments]


def moments_at_midnight(days: str) -> str | None:
    """The format of the moments at midnight that days of this format are; None where they are no moments."""
    others = {days: moments for moments, days in _DAYS.items()}
    return others[days] if days in others else moments_of_days(days) or None
