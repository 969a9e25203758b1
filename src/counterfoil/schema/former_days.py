"""What releases of versions before 0.13 meant by a date of which nothing but the bounds is stated: a code for each day.

Public: it follows from schemas alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from counterfoil.schema.calendar_bins import CALENDAR
from counterfoil.schema.instant import Date
from counterfoil.schema.scale import MANY_NUMBERS

if TYPE_CHECKING:
    from counterfoil.schema.schema import Schema


def counted_by_day(schema: Schema) -> Schema:
    """The schema as a version before 0.13 read it: each day of a date had a code where nothing was said."""
    return replace(
        schema, columns=tuple(_by_day(column) if isinstance(column, Date) else column for column in schema.columns)
    )


def _by_day(column: Date) -> Date:
    unsaid = column.resolution == "1d" or CALENDAR.fullmatch(column.resolution)
    if not unsaid or (column.upper - column.lower).days < MANY_NUMBERS:
        return column
    return replace(column, resolution="", points=(), by_the_day=True)


def in_bins_of(schema: Schema, codes: np.ndarray, former: Schema) -> np.ndarray:
    """Codes of days, in the bins that hold these days.

    Args:
        schema: whose bins are asked for.
        codes: int [n, attributes], of `former`.
        former: `counted_by_day` of the schema.
    """
    translated = codes.copy()
    for place, (column, before) in enumerate(zip(schema.synthesized, former.synthesized, strict=True)):
        if isinstance(column, Date) and column != before:
            low, high = column.bounds
            codes_of_days = np.append(column.codes_of(np.arange(low, high + 1)), column.size - 1)  # missing is last
            translated[:, place] = codes_of_days[codes[:, place]]
    return translated
