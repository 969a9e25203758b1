"""What releases of versions before 0.13 meant by columns of which nothing but the bounds is stated.

Each day of a date had a code, and numbers that rules name shared theirs with others. Public: it follows from schemas
alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from counterfoil.schema.calendar_bins import CALENDAR
from counterfoil.schema.instant import Date
from counterfoil.schema.integer import Integer
from counterfoil.schema.named_values import named_values
from counterfoil.schema.real import Real
from counterfoil.schema.scale import MANY_NUMBERS

if TYPE_CHECKING:
    from counterfoil.schema.column import Column
    from counterfoil.schema.derived import Derived
    from counterfoil.schema.identifier import Identifier
    from counterfoil.schema.schema import Schema


def in_former_bins(schema: Schema) -> Schema:
    """The schema as a version before 0.13 read it, as far as that can be told from it.

    Whether a user declared a point that rules name, too, can't: then it counts as none.
    """
    named = {(one.column, one.number) for one in named_values(schema.columns, schema.rules, schema.zeros)}
    columns: list[Column | Identifier | Derived] = []
    for column in schema.columns:
        if isinstance(column, Date):
            columns.append(_by_day(column))
        elif isinstance(column, Integer):
            columns.append(replace(column, points=()))
        elif isinstance(column, Real):
            left = tuple(point for point in column.points if (column.name, point) not in named)
            columns.append(replace(column, points=left) if column.is_undivided else column)
        else:
            columns.append(column)
    return replace(schema, columns=tuple(columns), as_released=True)


def _by_day(column: Date) -> Date:
    unsaid = column.resolution == "1d" or CALENDAR.fullmatch(column.resolution)
    if not unsaid or (column.upper - column.lower).days < MANY_NUMBERS:
        return column
    return replace(column, resolution="", points=(), by_the_day=True)


def in_bins_of(schema: Schema, codes: np.ndarray, former: Schema, rng: np.random.Generator) -> np.ndarray:
    """Codes [n, attributes] of `former`, in the bins of `schema` that hold values which are drawn for them.

    Args:
        schema: whose bins are asked for.
        codes: int [n, attributes], of `former`.
        former: `in_former_bins` of the schema.
        rng: public randomness.
    """
    translated = codes.copy()
    for place, (column, before) in enumerate(zip(schema.synthesized, former.synthesized, strict=True)):
        if column != before:
            translated[:, place] = column.encode(before.decode(codes[:, place], rng))
    return translated
