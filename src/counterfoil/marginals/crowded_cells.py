"""Sentences for the receipt on columns of numbers, and of dates, of which most lie in one cell between their bounds.

Public: they follow from noisy counts and from the schema. No record is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.smoothing import Smoothed
from counterfoil.marginals.unreliable import first_few
from counterfoil.schema import Schema
from counterfoil.schema.column import Column
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

MOST_IN_ONE_CELL = 0.8
"""The share of a column's numbers in one cell from which on what is drawn within it decides their mean."""

_DEVIATIONS = 4.0
"""A cell that holds no more than so many deviations of its noise is full of nothing but noise."""

_HALF = 0.5
"""Of the smoothed counts: those of cells beside a full one may hold some more noise than it does."""

_SMALLEST = 1e-300
"""The cell beside 0, which has one of its own, begins at the smallest number beyond it."""


def crowded_cells(
    schema: Schema, marginals: Sequence[NoisyMarginal], smoothed: Mapping[str, Smoothed] | None = None
) -> list[str]:
    """What is said of columns whose numbers nearly all share a cell; nothing where there are none.

    Args:
        schema: of the columns.
        marginals: the noisy counts of all columns.
        smoothed: by column, its counts after smoothing. They must say so too: where cells were counted once by
            themselves and then together, each has far more noise than the deviation of its marginal says.
    """
    crowded = [
        (schema[one.clique[0]], *found)
        for one in marginals
        if (found := _fullest(schema[one.clique[0]], one)) is not None
        and _holds_most(found[1], (smoothed or {}).get(one.clique[0]))
    ]
    return [*_of_numbers(list(_crowded(crowded))), *_of_days(list(_crowded_days(crowded)))]


def _holds_most(cell: int, smoothed: Smoothed | None) -> bool:
    """Whether a cell holds half of a column's numbers after smoothing, too."""
    if smoothed is None:
        return True
    records = float(np.maximum(smoothed.counts, 0.0).sum())
    return float(smoothed.counts[cell]) > _HALF * records


def _of_numbers(crowded: Sequence[str]) -> list[str]:
    if not crowded:
        return []
    return [
        f"Most numbers share one of the cells that the bounds are cut into: {first_few(crowded)}. Nothing was measured "
        "of where they lie within it, over which they are spread: means and quantiles may be far off. Where nearly "
        "all hold one value that the public knows, such as a limit, list it in `points`; otherwise closer bounds that "
        "the public knows, or edges within the cell, help."
    ]


def _of_days(crowded: Sequence[str]) -> list[str]:
    if not crowded:
        return []
    return [
        f"Most dates share one bin: {first_few(crowded)}. Nothing was measured of where they lie within it, over which "
        "they are spread evenly. Closer bounds, where the public knows them, a finer `resolution`, or `edges` within "
        "the bin help."
    ]


def lies_in(column: Column, cell: int) -> str:
    """The words for a share of a column of numbers or dates that lies in one of its cells."""
    if isinstance(column, Instant):
        return f"of the dates of {column.name} lie in {column.labels[cell]}"
    low, high = (float(ends[cell]) for ends in column.ranges)
    return f"of the numbers of {column.name} lie from {_short(low)} to {_short(high)}"


def _crowded(crowded: Sequence[tuple[Column, float, int]]) -> Iterable[str]:
    for column, share, cell in crowded:
        if isinstance(column, Integer | Real):
            yield f"{share:.0%} {lies_in(column, cell)}"


def _crowded_days(crowded: Sequence[tuple[Column, float, int]]) -> Iterable[str]:
    for column, share, cell in crowded:
        if isinstance(column, Instant):
            yield f"{share:.0%} {lies_in(column, cell)}"


def _fullest(column: Column, marginal: NoisyMarginal) -> tuple[float, int] | None:
    """The share of the fullest cell, and which it is; None where it holds one number, noise alone, or no such share."""
    if not isinstance(column, Integer | Real | Instant):
        return None
    counts = marginal.counts[: column.n_bins]
    lows, highs = column.ranges
    cell = int(counts.argmax())
    most = float(counts[cell])
    if most <= _DEVIATIONS * marginal.scale:
        return None  # the sum of noise alone may be small, so that one of its cells seems to hold it all
    # Noise of either sign cancels in the sum: without the negative counts, that of a hundred cells would seem rows.
    share = most / max(float(counts.sum()), most, 1.0)
    return (share, cell) if column.n_bins > 1 and share > MOST_IN_ONE_CELL and lows[cell] < highs[cell] else None


def _short(number: float) -> str:
    return f"{number:.6g}" if abs(number) > _SMALLEST else "0"
