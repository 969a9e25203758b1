"""Which of day and month comes first in a notation, and the notation in which they are exchanged."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from counterfoil.schema.office_moments import DAY_FORMATS, MOMENT_FORMATS
from counterfoil.schema.raw_cell import DATE_FORMATS

_TWO_FIRST = re.compile(r"%([dm])(.)%([dm])(?=\2%Y)", re.DOTALL)
_KNOWN = frozenset((*DATE_FORMATS, *MOMENT_FORMATS, *DAY_FORMATS.values()))


def exchanged(text_format: str) -> str:
    """The notation with day and month exchanged; empty where no cell is read so."""
    other = _TWO_FIRST.sub(r"%\3\2%\1", text_format, count=1)
    return other if other != text_format and other in _KNOWN else ""


def days_first(text_format: str) -> str:
    """Of a notation and the one with both exchanged, that with the day before the month."""
    return exchanged(text_format) if text_format.startswith("%m") else text_format


def is_doubtful(text_format: str) -> bool:
    """Whether tables have this notation and the one with both exchanged: hardly any has 12.31.2020."""
    return bool(exchanged(text_format)) and "." not in text_format


def as_others_are(formats: Mapping[str, str], hidden: Collection[str]) -> dict[str, str]:
    """The notations of a table's columns: months come first in all that don't show it where others do, and all agree.

    Args:
        formats: by column, with the day first where nothing shows it.
        hidden: the columns of which nothing does.
    """
    shown = [one for name, one in formats.items() if name not in hidden and is_doubtful(one)]
    if not shown or not all(one.startswith("%m") for one in shown):
        return dict(formats)
    return {name: exchanged(one) if name in hidden and is_doubtful(one) else one for name, one in formats.items()}
