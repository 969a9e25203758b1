"""A sentence for the receipt on long tails whose last cells, up to a bought bound, were counted as one.

Numbers beyond a bound count as it. Where noise joins the cell of the bound to many before it, nothing tells whether the
rows there lie at the bound, and beyond it in the table, or are spread before it, as they are drawn. Of costs whose
largest percent makes a third of the mean, copies had two thirds of the mean and no row at the bound. Public: it follows
from noisy counts alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterfoil.marginals.piled_bounds import LEAST_PART, pile
from counterfoil.marginals.unreliable import NumberColumn, first_few
from counterfoil.schema import Schema
from counterfoil.schema.clamping import clamping_of
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

_FEW = 10.0
"""The percentage of the rows, of which no more are a tail."""
_MUCH = 1 / 3
"""Of the variance: a tail that makes up less of it is not named."""


def merged_bounds(schema: Schema, columns: Sequence[NumberColumn]) -> list[str]:
    """What is said of columns with such a tail; nothing where the schema was not bought.

    Args:
        schema: of the columns.
        columns: those of numbers and of dates.
    """
    found = [said for one in columns if schema.bought is not None and (said := _tail(schema, one))]
    if not found:
        return []
    return [
        f"Few rows, counted as one up to a bound that was bought, make up much of the variance of {first_few(found)}. "
        "Nothing was measured of how many lie at the bound, as which all numbers beyond it count, and they are spread "
        "before it: the mean of the table may be far larger than that of the copy. State bounds that the public knows, "
        "or buy with more epsilon."
    ]


def _tail(schema: Schema, one: NumberColumn) -> str:
    """The column, and what its last run of cells makes up; empty where it is no such tail."""
    column = schema[one.marginal.clique[0]]
    if not isinstance(column, Integer | Real) or column.words:
        return ""
    clamping = clamping_of(column)
    if clamping is None:
        return ""
    runs = one.runs
    run = runs.of_cell[clamping.codes[1]]
    together = np.flatnonzero(runs.of_cell == run)
    counts, records = one.smoothed.counts, float(one.smoothed.counts.sum())
    if len(together) == 1 or not runs.stands_out[run] or records <= 0:
        return ""
    if pile(one, column, clamping.codes[1], clamping.numbers[1])[1] >= LEAST_PART:
        return ""  # `piled_bounds` says it
    squares = (one.centers - float(counts @ one.centers) / records) ** 2
    variance = float(counts @ squares)
    part = float(counts[together] @ squares[together]) / variance if variance > 0 else 0.0
    share = 100 * float(runs.totals[run]) / records
    if share > _FEW or part < _MUCH:
        return ""
    return f"{column.name} ({share:.2g}% up to {clamping.upper}, {100 * part:.0f}% of the variance)"
