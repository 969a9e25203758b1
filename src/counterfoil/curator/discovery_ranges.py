"""From noisy counts in intervals to the bounds of a column."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterfoil.curator.discovery_support import extended, support
from counterfoil.curator.discovery_votes import Votes, codes_counted
from counterfoil.curator.queries.column_ranges import Intervals
from counterfoil.schema.discovered import Kind
from counterfoil.schema.raw_cell import MICROSECONDS_PER_DAY
from counterfoil.schema.value_grid import CELLS, WHOLE_PLACES, bounds_of, fine_edges, year_edges

_MOST = 256
_SPACED = 2.0**36
"""Numbers beyond it are not told apart by digits after the point (`raw_cell`)."""
_FEWEST = 16
_PER_RECORD = 0.25
"""Intervals, per record over the deviation of the noise: finer ones would hold little but noise."""


@dataclass(frozen=True)
class Bounds:
    """Where the numbers of a column lie.

    Args:
        lower, upper: both ends included; None where nothing shows.
        tails: noisy shares of the records that show below and above.
    """

    lower: float | None = None
    upper: float | None = None
    tails: tuple[float, float] = (0.0, 0.0)


def intervals_of(
    name: str, kind: Kind, date_format: str, vote: Votes, *, records: float, deviation: float
) -> Intervals | None:
    """Where the numbers or days of a column are to be counted; None where no numbers show.

    Args:
        name, kind, date_format: of the column.
        vote: the noisy places of its cells.
        records: about how many cells are not missing.
        deviation: of the noise that a count will have.
    """
    codes = codes_counted(kind, date_format)
    if kind in ("date", "datetime"):
        unit = 1 if kind == "date" else MICROSECONDS_PER_DAY
        return Intervals(name, codes, tuple(edge * unit for edge in year_edges()))
    if (coarse := vote.coarse_range(kind)) is None:
        return None
    cells = int(np.clip(_PER_RECORD * records / deviation, _FEWEST, _MOST))
    return Intervals(name, codes, fine_edges(*coarse, cells, whole=kind == "integer"))


def bounds_from(
    intervals: Intervals, counts: np.ndarray, deviation: float, kind: Kind, vote: Votes, records: float
) -> Bounds:
    """From the first to the last interval that shows, further out where the coarse answer shows more.

    Args:
        intervals: where numbers were counted.
        counts: int64 [intervals], noisy.
        deviation: of the noise of each.
        kind: of the column.
        vote: the noisy places of its cells.
        records: about how many cells are not missing.
    """
    edges, inner = np.array(intervals.edges), counts[1:-1]
    if kind in ("date", "datetime"):
        if (found := support(inner, deviation, vote.least)) is None:
            return Bounds()
        first, last = extended(inner, found, (0, len(inner) - 1), deviation, records, vote.least)
        return Bounds(float(edges[first]), _greatest(float(edges[last + 1]), 0))
    coarse = vote.coarse_range(kind)
    assert coarse is not None, "intervals were made of coarse bounds"
    first, last = _of_numbers(edges, inner, deviation, records, coarse, kind, vote.least)
    digits = 0 if kind == "integer" else vote.decimals()
    return _bounds(float(edges[first]), float(edges[last + 1]), digits, _tails(vote, kind, coarse, records))


def coarse_bounds(kind: Kind, vote: Votes, records: float) -> Bounds:
    """Those that the coarse answer alone leads to, where no finer one was asked."""
    coarse = vote.coarse_range(kind) if kind in ("integer", "real") else None
    if coarse is None:
        return Bounds()
    lower, upper = bounds_of(*coarse)
    digits = 0 if kind == "integer" else vote.decimals()
    # Zero is a place by itself, with the same number at both ends.
    return _bounds(lower, upper + (upper <= 0), digits, _tails(vote, kind, coarse, records))


def _bounds(lower: float, edge: float, digits: int | None, tails: tuple[float, float]) -> Bounds:
    """From `lower` to the greatest number below `edge`, both of so many digits after the point; any where None."""
    if digits is None or max(abs(lower), abs(edge)) > _SPACED:
        return Bounds(lower, edge, tails)
    least, greatest = math.ceil(round(lower * 10**digits, 6)) / 10**digits, _greatest(edge, digits)
    return Bounds(least + 0.0, max(least, greatest) + 0.0, tails)


def _greatest(edge: float, digits: int) -> float:
    """The greatest number of so many digits below an edge."""
    return float((math.ceil(round(edge * 10**digits, 6)) - 1) / 10**digits)


def _tails(vote: Votes, kind: Kind, coarse: tuple[int, int], records: float) -> tuple[float, float]:
    """Shares of the records that show beyond the places of the bounds.

    Sums over all intervals beyond would be sums of their noise: that of 40 empty ones of a table of 300 rows is, at
    epsilon 1, about 300 records.
    """
    below, above = (min(number / records, 1.0) for number in vote.tails(kind, *coarse))
    return below, above


def _of_numbers(
    edges: np.ndarray,
    counts: np.ndarray,
    deviation: float,
    records: float,
    coarse: tuple[int, int],
    kind: Kind,
    least: float,
) -> tuple[int, int]:
    """The first and the last interval that shows, or that is likely, at the places of the bounds or next to them."""
    fine, window = (_positions(edges, len(counts), places) for places in (coarse, _next_places(coarse, kind)))
    if (found := support(counts[window[0] : window[1] + 1], deviation, least)) is None:
        return fine
    moved = (found[0] + window[0], found[1] + window[0])
    first, last = extended(counts, moved, window, deviation, records, least)
    (_, bottom), (top, _) = bounds_of(coarse[0], coarse[0]), bounds_of(coarse[1], coarse[1])
    # What shows altogether and in none of the parts is left in all of them.
    return (fine[0] if edges[first] > bottom else first), (fine[1] if edges[last + 1] <= top else last)


def _positions(edges: np.ndarray, size: int, places: tuple[int, int]) -> tuple[int, int]:
    """The first and the last of `size` intervals that lie at the places of the grid."""
    lower, upper = bounds_of(*places)
    first = int(np.searchsorted(edges, lower))
    return first, max(min(int(np.searchsorted(edges, upper)), size) - 1, first, 0)


def _next_places(coarse: tuple[int, int], kind: Kind) -> tuple[int, int]:
    """The places of the bounds and the next one on either side that holds numbers of the kind."""
    possible = WHOLE_PLACES if kind == "integer" else np.arange(CELLS)
    first, last = np.searchsorted(possible, coarse)
    return int(possible[max(first - 1, 0)]), int(possible[min(last + 1, len(possible) - 1)])
