"""Whether the whole numbers of a column are written with leading zeros, and with how many digits: a rule for places.

Each number of digits has a line of places of its own. What shows there are numbers as any others, once it is known how
they are written. Codes such as the regions 01 to 26 have as many digits each, and `digits` of a column of integers
keeps them. Telephone numbers do not: only as texts do they keep their zeros.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterfoil.curator.queries.column_places import GRIDS, PADDED_LINE
from counterfoil.discovery.votes import FEW_TEXTS, Votes
from counterfoil.noise.shown_counts import masses
from counterfoil.schema.raw_cell import CLASSES, CODES
from counterfoil.schema.value_grid import CELLS, places_of
from counterfoil.schema.zero_padding import WIDTHS

_AS_MANY_DIGITS = 0.95
"""A share of the numbers with leading zeros that have as many digits, from which on all count as having so many."""

_SHORTER = 0.5
"""As many others as this share of the numbers with leading zeros may be written shorter without any: 7 beside 007."""

_GRID = len(CLASSES) + GRIDS.index("integer") * CELLS


def read_with_padding(vote: Votes, *, may_be_texts: bool) -> Votes:
    """The same, with numbers with leading zeros for the numbers that they are, and with how many digits they have.

    Where no one number of digits describes them, and they are not few, they are texts. What may be noise is left out.

    Args:
        vote: with the places of numbers with leading zeros.
        may_be_texts: whether nobody stated that the column is one of numbers.
    """
    if vote.padded is None:
        return vote
    lines = {width: line for width, line in _shown(vote).items() if line.any()}
    held = {width: float(line.sum()) for width, line in lines.items()}
    whole = sum(held.values())
    counted, places = _counted(vote)
    plain = replace(vote, padded=None, unplaced=(counted - whole, places))
    if not lines:
        return plain
    counts = vote.counts.astype(float)
    width = max(held, key=lambda one: held[one])
    shorter = _shorter(plain, width)
    vary = held[width] < _AS_MANY_DIGITS * whole or shorter > _SHORTER * whole
    numbers = plain.masses()
    if vary and may_be_texts and whole >= FEW_TEXTS * (whole + numbers["integer"] + numbers["real"]):
        counts[CODES["text"]] += whole
        return replace(plain, counts=counts)
    for line in lines.values():
        counts[_GRID + PADDED_LINE] += line
    if vary:
        return replace(plain, counts=counts, zeros_vary=True)
    return replace(plain, counts=counts, digits=width, unpadded=shorter > 0)


def with_end_of_digits(edges: tuple[float, ...], digits: int) -> tuple[float, ...]:
    """The same intervals of whole numbers, one of which begins behind the greatest number of so many digits.

    So those with more digits are counted apart: 10000 beside 0001 to 9999. Without digits nothing changes.
    """
    end = 10.0**digits
    return tuple(sorted({*edges, end})) if digits and edges[0] < end < edges[-1] else edges


def _counted(vote: Votes) -> tuple[float, int]:
    """The noisy number of all numbers with leading zeros, shown or not, and how many counts it sums up."""
    assert vote.padded is not None, "their places were asked for"
    possible = np.concatenate([_last_place(width) >= PADDED_LINE for width in WIDTHS])
    return float(vote.padded[possible].sum()), int(possible.sum())


def _shown(vote: Votes) -> dict[int, np.ndarray]:
    """By number of digits, about how many numbers with leading zeros are at each of `PADDED_LINE`: float64 [n]."""
    assert vote.padded is not None, "their places were asked for"
    result = {}
    for width, line in zip(WIDTHS, vote.padded.reshape(len(WIDTHS), -1), strict=True):
        possible = _last_place(width) >= PADDED_LINE
        result[width] = np.zeros(len(line))
        result[width][possible] = masses(line[possible], vote.deviation, vote.least)
    return result


def _last_place(width: int) -> int:
    """Of the greatest number with so many digits that begins with 0."""
    return int(places_of(np.array([10.0 ** (width - 1) - 1]))[0])


def _shorter(vote: Votes, width: int) -> float:
    """About how many whole numbers without leading zeros surely have fewer digits, as far as they show."""
    line = vote.places("integer")[PADDED_LINE]
    return float(masses(line[_last_place(width) > PADDED_LINE], vote.deviation, vote.least).sum())
