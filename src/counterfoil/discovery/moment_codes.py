"""Which classes of cells are moments of a notation, and of days that are written as moments at midnight."""

from __future__ import annotations

from counterfoil.schema import midnight
from counterfoil.schema.office_moments import DAY_FORMATS, EITHER, MOMENT_FORMATS, classes_of, moments_of_days
from counterfoil.schema.raw_cell import CODES, MOMENTS

NOTATIONS = ("", *MOMENT_FORMATS)
"""Of moments: ISO 8601 first, which has none stated."""

EITHER_MOMENTS = tuple(name for name in MOMENTS if name.startswith(EITHER))
"""The classes of moments whose day may be a month."""


def codes_of_moments(text_format: str) -> tuple[list[int], list[int]]:
    """The codes of moments that are written so, those at some time of day and those at midnight; of ISO 8601 for ""."""
    of_times, of_midnights = classes_of(text_format) if text_format else (("datetime",), ("midnight",))
    return [CODES[name] for name in of_times], [CODES[name] for name in of_midnights]


def days_at_midnight(moments: str) -> str:
    """The format of the days which are written as moments of this format at midnight."""
    return DAY_FORMATS[moments] if moments else midnight.FORMAT


def moments_at_midnight(days: str) -> str | None:
    """The format of the moments at midnight that days of this format are; None where they are no moments."""
    return "" if days == midnight.FORMAT else moments_of_days(days) or None
