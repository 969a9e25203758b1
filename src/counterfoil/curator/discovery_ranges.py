"""From noisy counts in intervals to the bounds of a column."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from counterfoil.curator.discovery_codes import codes_of, integers_in, reach_of
from counterfoil.curator.discovery_reach import worthwhile
from counterfoil.curator.discovery_support import extended, support
from counterfoil.curator.discovery_votes import Votes, codes_counted
from counterfoil.curator.queries.column_ranges import Intervals
from counterfoil.schema.discovered import Kind
from counterfoil.schema.raw_cell import MICROSECONDS_PER_DAY
from counterfoil.schema.value_grid import CELLS, WHOLE_PLACES, bounds_of, fine_edges, places_of, year_edges

_MOST = 256
_SPACED = 2.0**36
"""Numbers beyond it are not told apart by digits after the point (`raw_cell`)."""
_FEWEST = 16
_PER_RECORD = 0.25
"""Intervals, per record over the deviation of the noise: finer ones would hold little but noise."""
_SINGLES = 4096
_QUIET = 16.0
"""Each of n integers, up to `_SINGLES`, has an interval of its own where the records are so many times the noise of the
sum of n counts: codes show in theirs. Where they are fewer, longer intervals tell more about the bounds."""
_NARROW = 0.1
"""Of what was found: a wider interval next to it is not added for a count that is hardly more than noise."""
_QUIET_AGAIN = 8.0
"""The same where the bounds were found before, and integers are counted for their codes alone."""


@dataclass(frozen=True, eq=False)
class Counted:
    """What was answered about a column.

    Args:
        intervals: where its numbers were counted.
        counts: float64 [intervals], noisy.
        deviation: of the noise of each.
        singles: later counts of integers, one by one, between the bounds and about them.
    """

    intervals: Intervals
    counts: np.ndarray
    deviation: float
    singles: Counted | None = None

    def beside(self, other: Counted) -> Counted:
        """With another answer to the same question, each weighted by its precision, or with one about integers."""
        if other.intervals != self.intervals:
            return replace(self, singles=other if self.singles is None else self.singles.beside(other))
        one, two = self.deviation**-2.0, other.deviation**-2.0
        return replace(
            self, counts=(one * self.counts + two * other.counts) / (one + two), deviation=(one + two) ** -0.5
        )


@dataclass(frozen=True)
class Bounds:
    """Where the numbers of a column lie.

    Args:
        lower, upper: both ends included; None where nothing shows.
        tails: noisy shares of the records that show below and above.
        codes: the integers that hold nearly all records, with their noisy counts, where they are codes.
    """

    lower: float | None = None
    upper: float | None = None
    tails: tuple[float, float] = (0.0, 0.0)
    codes: tuple[tuple[int, int], ...] = ()


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
    lower, upper = bounds_of(*coarse)
    singles = kind == "integer" and upper - lower <= min(_SINGLES, (records / (_QUIET * deviation)) ** 2)
    return Intervals(name, codes, fine_edges(*coarse, cells, whole=kind == "integer", singles=singles))


def again(counted: Counted, kind: Kind, bounds: Bounds, records: float, deviation: float) -> Intervals:
    """Where to count once more: in the same intervals, or integers one by one where that may show codes.

    Args:
        counted: what was answered so far.
        kind: of the column.
        bounds: that follow from it.
        records: about how many cells are not missing.
        deviation: of the noise that a count will have.
    """
    if counted.singles is not None:
        return counted.singles.intervals
    if kind != "integer" or bounds.lower is None or bounds.upper is None or is_single(counted.intervals, bounds):
        return counted.intervals
    beyond = reach_of((bounds.lower, bounds.upper))
    first, last = bounds.lower - beyond, bounds.upper + beyond
    if last - first + 1 > min(_SINGLES, (records / (_QUIET_AGAIN * deviation)) ** 2):
        return counted.intervals
    return Intervals(counted.intervals.column, counted.intervals.codes, tuple(np.arange(first, last + 2).tolist()))


def is_single(intervals: Intervals, bounds: Bounds) -> bool:
    """Whether each integer between the bounds has an interval of its own."""
    assert bounds.lower is not None, "bounds were found"
    assert bounds.upper is not None, "bounds were found"
    return len(integers_in(intervals, (bounds.lower, bounds.upper))[0]) > 0


def bounds_from(counted: Counted, kind: Kind, vote: Votes, records: float, least: float) -> Bounds:
    """From the first to the last interval that shows, further out where the coarse answer shows more.

    Args:
        counted: what was answered about its numbers.
        kind: of the column.
        vote: the noisy places of its cells.
        records: about how many cells are not missing.
        least: how many deviations a sum of counts must exceed (`discovery_support.sure_of`).
    """
    edges, inner, deviation = np.array(counted.intervals.edges), counted.counts[1:-1], counted.deviation
    if kind in ("date", "datetime"):
        if (found := support(inner, deviation, least)) is None:
            return Bounds()
        first, last = extended(inner, found, (0, len(inner) - 1), deviation, records, least)
        return Bounds(float(edges[first]), _greatest(float(edges[last + 1]), 0))
    coarse = vote.coarse_range(kind)
    assert coarse is not None, "intervals were made of coarse bounds"
    first, last = _of_numbers(edges, inner, deviation, records, coarse, kind, least)
    lower, upper = float(edges[first]), float(edges[last + 1])
    if (further := _further(edges, inner, deviation, coarse, kind, least)) != coarse:
        lowest, highest = bounds_of(*further)
        lower = lowest if further[0] < coarse[0] else lower
        upper = highest if further[1] > coarse[1] else upper
        coarse = further
    digits = 0 if kind == "integer" else vote.decimals()
    found_bounds = _bounds(lower, upper, digits, _tails(vote, kind, coarse, records))
    if kind != "integer" or found_bounds.lower is None or found_bounds.upper is None:
        return found_bounds
    ends, one = (found_bounds.lower, found_bounds.upper), counted.singles or counted
    return replace(found_bounds, codes=codes_of(one.intervals, one.counts, one.deviation, ends, vote, records, least))


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
    widths = np.diff(edges)
    narrow = widths <= max(float(edges[moved[1] + 1] - edges[moved[0]]) * _NARROW, 1.0)
    first, last = extended(counts, moved, window, deviation, records, least, narrow)
    (_, bottom), (top, _) = bounds_of(coarse[0], coarse[0]), bounds_of(coarse[1], coarse[1])
    # What shows altogether and in none of the parts is left in all of them.
    return (fine[0] if edges[first] > bottom else first), (fine[1] if edges[last + 1] <= top else last)


def _further(
    edges: np.ndarray, counts: np.ndarray, deviation: float, coarse: tuple[int, int], kind: Kind, least: float
) -> tuple[int, int]:
    """The places of the bounds, further out where this answer surely shows records that are worth their places.

    The noise of the coarse answer may hide them: a small part of a table, far from all others.
    """
    starts, stops = edges[:-1], edges[1:]
    middles = np.where((kind == "integer") & (stops - starts <= 1), starts, starts / 2 + stops / 2)
    places = places_of(middles)
    sums = np.bincount(places, weights=counts, minlength=CELLS)
    noises = deviation * np.sqrt(np.bincount(places, minlength=CELLS))
    found = worthwhile(np.where(sums > least * noises, sums, 0.0))
    return coarse if found is None else (min(coarse[0], found[0]), max(coarse[1], found[1]))


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
