"""A sentence for the receipt on columns of which rows at a bought bound make up much of the variance.

Numbers beyond a bound count as it. A bound that was bought lies where the noise of the purchase hides what is beyond:
of a long tail perhaps half a percent of the rows, and a third of the mean. Public: it follows from noisy counts alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterfoil.marginals.unreliable import NumberColumn, first_few
from counterfoil.schema import Schema
from counterfoil.schema.bought import Bought
from counterfoil.schema.clamping import clamping_of
from counterfoil.schema.column import Column
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

LEAST_PART = 0.05
"""Of the variance of the clamped numbers: rows at a bound that make up less of it are not named."""
_PILE = 3.0
"""Rows are piled up in the last cell where they lie so many times as dense as in those before it."""
_BEFORE = 3
_FEWEST = 5
"""Numbers of fewer cells end anywhere: of zeros and ones, most may be ones."""


def piled_bounds(schema: Schema, columns: Sequence[NumberColumn]) -> list[str]:
    """What is said of columns with a pile of rows at a bound; nothing where the schema was not bought.

    Numbers of counts and amounts often end at 0, and codes at 1, so that lower bounds are judged only below 0, and
    those of reals at 0 where the purchase may have hidden as many negative numbers.

    Args:
        schema: of the columns.
        columns: those of numbers and of dates.
    """
    if schema.bought is None:
        return []
    return [*_at_bounds(schema, columns), *_at_zero(schema, columns, schema.bought)]


def _at_zero(schema: Schema, columns: Sequence[NumberColumn], bought: Bought) -> list[str]:
    """Of reals from 0 on: what piles up there may be zeros, or numbers below that noise hid from the purchase."""
    if not bought.hides or not bought.rows:
        return []
    most, found = 100 * bought.hides / bought.rows, []
    for one in columns:
        column = schema[one.marginal.clique[0]]
        if not isinstance(column, Real) or column.lower != 0 or len(one.centers) < _FEWEST:
            continue
        if 0.0 in _worded(column):
            continue
        share, part, _ = pile(one, column, int(column.codes_of(np.array([0.0]))[0]), 0.0)
        if part >= LEAST_PART and share <= most:
            found.append(f"{column.name} ({share:.2g}%, {100 * part:.0f}% of the variance)")
    if not found:
        return []
    return [
        f"Rows pile up at 0, the lower bound, in {first_few(found)}. The purchase may have hidden as many negative "
        "numbers, which count as 0: means are too large and deviations too small where a column has some. State a "
        "lower bound that the public knows, or buy with more epsilon."
    ]


def _at_bounds(schema: Schema, columns: Sequence[NumberColumn]) -> list[str]:
    """Of upper bounds, of lower ones below 0, and of both of dates, which have no 0 to begin at.

    Bounds for which a word stands, as 90+ for 90, say so themselves.
    """
    found = []
    for one in columns:
        column = schema[one.marginal.clique[0]]
        clamping = clamping_of(column) if isinstance(column, (Integer, Real, Instant)) else None
        if clamping is None or len(one.centers) < _FEWEST:
            continue
        lowest, highest = clamping.numbers
        ends = ((1, clamping.upper, highest), (0, clamping.lower, min(lowest, 0.0)))
        dated = isinstance(column, Instant)
        found += [
            f"{column.name} ({share:.2g}% at {beside}{bound}, {100 * part:.0f}% of the variance)"
            for end, bound, number in ends
            for share, part, cells in [pile(one, column, clamping.codes[end], None if dated else number)]
            for beside in ["or beside " if cells > 1 or dated else ""]
            if (dated or (number and number not in _worded(column))) and part >= LEAST_PART
        ]
    if not found:
        return []
    return [
        f"Rows at a bound that was bought make up much of the variance of {first_few(found)}. Numbers that lie beyond "
        "count as the bound: real means and deviations are then further out than those of the copy. State bounds that "
        "the public knows, or buy with more epsilon."
    ]


def _worded(column: Column) -> set[float]:
    """The numbers for which words stand."""
    return {number for _, number in column.words} if isinstance(column, (Integer, Real)) else set()


def pile(one: NumberColumn, column: Column, code: int, bound: float | None) -> tuple[float, float, int]:
    """The percentage of the rows in the cell of a bound, their part of the variance, and in how many cells they are;
    0 where they are no pile.

    Of dates the middle of the cell stands for the bound, which is None: it may be a day, or the last one of a year.

    It must stand out by itself, or with the few cells beside it that the noise does not tell from it: cells that were
    counted together have far more noise each than their marginal says.
    """
    counts, runs, spans = one.smoothed.counts, one.runs, column.spans
    run, records = runs.of_cell[code], float(counts.sum())
    together = np.flatnonzero(runs.of_cell == run)
    if spans is None or records <= 0 or not (len(together) <= _BEFORE and runs.stands_out[run]):
        return 0.0, 0.0, 0
    at = float(runs.totals[run])
    inwards = -1 if code else 1
    last = int(together[0 if code else -1])
    before = [place for i in range(1, _BEFORE + 1) if 0 <= (place := last + inwards * i) < len(counts)]
    widths = np.where(spans > 0, spans, spans[spans > 0].mean() if (spans > 0).any() else 1.0)
    if not before or at / widths[together].sum() < _PILE * float((counts[before] / widths[before]).mean()):
        return 0.0, 0.0, 0
    numbers = one.centers.copy()
    if bound is not None:
        numbers[code] = bound
    counted = counts.copy()
    counted[together] = at / len(together)  # smoothing may have taken it for noise: then it would be more than all
    squares = (numbers - float(counted @ numbers) / float(counted.sum())) ** 2
    variance = float(counted @ squares)
    part = float(counted[together] @ squares[together]) / variance if variance > 0 else 0.0
    return 100 * at / records, part, len(together)
