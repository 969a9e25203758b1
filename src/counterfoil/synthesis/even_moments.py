"""A sentence for the receipt on moments whose cells are of a day or more, so that times of day are made up.

Public: it follows from the schema alone.
"""

from __future__ import annotations

import numpy as np

from counterfoil.schema import Schema
from counterfoil.schema.instant import Datetime
from counterfoil.schema.notation import directives

_DAY = 86_400
_SHORT_DAY = 23 * 3600
"""Where a clock is put forward."""
_HALF_YEAR = 180 * _DAY
_CLOCK = frozenset("HIMScX")
"""Directives that write a time of day."""
_MOST_NAMED = 5


def even_moments(schema: Schema) -> list[str]:
    """One sentence for each kind of cells, and none where all moments are counted by parts of a day.

    Args:
        schema: of the release.
    """
    lost: dict[str, list[str]] = {}
    for column in schema.synthesized:
        if isinstance(column, Datetime) and (parts := _lost(column)):
            lost.setdefault(parts, []).append(column.name)
    return [
        f"Moments of {_listed(names)} are drawn anywhere within cells of a day or more, which are all that was "
        f"counted: their {parts} are made up. Where these matter, a finer `resolution` counts them, or a column of "
        "their own in the table."
        for parts, names in lost.items()
    ]


def _lost(column: Datetime) -> str:
    """What of its moments no cell tells apart."""
    if column.format and not directives(column.format) & _CLOCK:
        return ""
    length = float(np.median(column.spans))
    if length < _SHORT_DAY:
        return ""
    if length < 2 * _SHORT_DAY:
        return "times of day"
    return "times of day and weekdays" if length < _HALF_YEAR else "times of day, weekdays and seasons"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
