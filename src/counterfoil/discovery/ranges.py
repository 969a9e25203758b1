"""From noisy counts in intervals to the bounds of a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterfoil.curator.queries.column_places import DAYS
from counterfoil.curator.queries.column_ranges import Intervals
from counterfoil.discovery.beyond import beyond_bounds
from counterfoil.discovery.codes import codes_among, codes_of, integers_in, reach_of
from counterfoil.discovery.crowded import FEW, MANY, closed, crowded, opened, opens, seen_alone, singles
from counterfoil.discovery.days import Years
from counterfoil.discovery.lumps import is_narrow, lumps_in
from counterfoil.discovery.moment_codes import moments_at_midnight
from counterfoil.discovery.negatives import negatives_hidden
from counterfoil.discovery.padding import with_end_of_digits
from counterfoil.discovery.points import MOST, Points, integers_standing_out, tried
from counterfoil.discovery.reach_of_bounds import worthwhile
from counterfoil.discovery.room_for_hidden import CHEAP, Line, with_room
from counterfoil.discovery.units import codes_with_unit
from counterfoil.discovery.votes import Votes, codes_counted
from counterfoil.noise.shown_counts import extended, support
from counterfoil.schema import compact_dates, midnight
from counterfoil.schema.discovered import Kind
from counterfoil.schema.integer import EXACT
from counterfoil.schema.raw_cell import CODES, MOMENTS
from counterfoil.schema.scale import MANY_NUMBERS
from counterfoil.schema.value_grid import (
    CELLS,
    MAGNITUDES,
    REACH,
    WHOLE_PLACES,
    bounds_of,
    fine_edges,
    places_of,
    with_years,
    year_edges,
)

_MOMENTS = frozenset(CODES[name] for name in MOMENTS)
_MOST = 256
_SPACED = 2.0**36
"""Numbers beyond it are not distinguished by digits after the point (`raw_cell`)."""
_FEWEST = 16
_PER_RECORD = 0.25
"""Intervals, per record over the deviation of the noise: finer ones would hold little but noise."""
_SINGLES = 4096
_HIDDEN = 0.03
"""A share of the records that the noise of one count hides, from which on integers that each have a code of their own
are no codes: those that do not show would be read as missing."""
_QUIET = 16.0
"""Each of n integers, up to `_SINGLES`, has an interval of its own where the records are so many times the noise of the
sum of n counts: codes show in theirs. Where they are fewer, longer intervals tell more about the bounds."""
_QUIET_AGAIN = 8.0
"""The same where the bounds were found before, and integers are counted for their codes alone."""
_NARROW = 0.1
"""Of what was found: a wider interval next to it is not added for a count that is hardly more than noise."""
_BESIDE = 2.0
"""Deviations of noise by which counts beside a single number must exceed 0, so that bounds are wider than that number.
A range of one number loses all others, and one that is too wide only has codes that nobody needs: noise alone widens
that of one constant column in thirty."""
_BESIDE_EACH = 0.3
"""So many more for each further place, a factor of 16: the further out, the rarer such numbers are."""


@dataclass(frozen=True, eq=False)
class Counted:
    """What was answered about a column.

    Args:
        intervals: where its numbers were counted.
        counts: float64 [size], noisy.
        deviation: of the noise of each.
        singles: later counts of integers, one by one: between the bounds and about them, or of crowded intervals.
    """

    intervals: Intervals
    counts: np.ndarray
    deviation: float
    singles: Counted | None = None

    def points(self, digits: int | None, least: float) -> Points:
        """Its points beside the rest of the line.

        Args:
            digits: after the point, of its numbers; None for more than two.
            least: as for `Points`.
        """
        return Points(self.intervals, self.counts, self.deviation, digits, least)

    @property
    def sums(self) -> int:
        """How many counts bounds may be found from: those of intervals, with their points and without them."""
        return (len(self.intervals.edges) + 1) * (2 if self.intervals.points else 1)

    def with_ends(self, inner: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """float64 [edges + 1] twice: counts between two edges each, with those of what lies beyond the outer ones."""
        ends = self.counts[[0, len(self.intervals.edges)]]
        own = [self.deviation]
        return np.concatenate([ends[:1], inner, ends[1:]]), np.concatenate([own, noise, own])

    def candidates(self, kind: Kind) -> int:
        """How many single numbers may stand out: points, and integers that were counted one by one."""
        alone = singles(self.intervals) if kind == "integer" else 0
        later = 0 if self.singles is None else singles(self.singles.intervals)
        return len(self.intervals.points) + (alone if alone >= MANY_NUMBERS else 0) + later

    def beside(self, other: Counted) -> Counted:
        """With another answer to the same question, each weighted by its precision, or with one about integers."""
        if other.intervals == self.intervals:
            return self._together(other.counts, other.deviation, 1.0)
        both = self
        if opens(other.intervals, self.intervals):
            counts, parts = closed(other.intervals, other.counts, self.intervals)
            both = self._together(counts, other.deviation, parts)
        return replace(both, singles=other if self.singles is None else self.singles.beside(other))

    def _together(self, counts: np.ndarray, deviation: float, parts: float | np.ndarray) -> Counted:
        """With counts each of which is the sum of so many that have noise of their own.

        The deviation is that where a count is no sum. The others have up to that of the first answer: they are of
        intervals that surely hold records, and end no bounds.
        """
        one, two = self.deviation**-2.0, deviation**-2.0 / np.asarray(parts)
        return replace(
            self,
            counts=(one * self.counts + two * counts) / (one + two),
            deviation=(one + deviation**-2.0) ** -0.5,
        )


@dataclass(frozen=True)
class Bounds:
    """Where the numbers of a column lie.

    Args:
        lower, upper: both ends included; None where nothing shows.
        tails: noisy shares of the records that show below and above.
        codes: the integers that hold nearly all records, with their noisy counts, where they are codes.
        held: how many records the only number between the bounds has, with the deviation of the noise; None where
            there are several.
        shown: both ends of what shows, where there is room for what the noise may hide.
        beyond: of dates and moments, how many may lie beyond the bounds; None for numbers.
        points: single numbers that stand out, with their noisy counts.
        points_deviation: of the noise of each of these counts.
        lumps: of integers that are too many to be counted one by one, and of reals, at how many places far apart nearly
            all lie.
        narrow: whether nearly all reals lie in few intervals, so that they may be few numbers (`is_narrow`).
        negatives: where there are none between the bounds, how many noise may hide; None where nobody asks.
        outside: of numbers, how many may lie below the bounds, and how many above, in all.
    """

    lower: float | None = None
    upper: float | None = None
    tails: tuple[float, float] = (0.0, 0.0)
    codes: tuple[tuple[int, int], ...] = ()
    held: tuple[float, float] | None = None
    shown: tuple[float, float] | None = None
    beyond: float | None = None
    points: tuple[tuple[float, int], ...] = ()
    points_deviation: float = 0.0
    lumps: int = 0
    narrow: bool = False
    negatives: float | None = None
    outside: tuple[float, float] | None = None

    @property
    def last_shown(self) -> float | None:
        """The upper end of what shows, without room for what the noise may hide."""
        return self.upper if self.shown is None else self.shown[1]


def intervals_of(
    name: str, kind: Kind, date_format: str, vote: Votes, *, records: float, deviation: float, beside: str = ""
) -> Intervals | None:
    """Where the numbers or days of a column are to be counted; None where no numbers show.

    Args:
        name, kind, date_format: of the column.
        vote: the noisy places of its cells.
        records: about how many cells are not missing.
        deviation: of the noise that a count will have.
        beside: the unit that may stand beside its numbers.
    """
    codes = codes_with_unit(codes_counted(kind, date_format), beside)
    if kind in ("date", "datetime"):
        if date_format == compact_dates.FORMAT:
            return Intervals(name, codes, compact_dates.year_edges())
        unit = 1 if kind == "date" and moments_at_midnight(date_format) is None else midnight.MICROSECONDS_PER_DAY
        return Intervals(name, codes, tuple(edge * unit for edge in year_edges()))
    if (coarse := vote.coarse_range(kind)) is None:
        return None
    cells = int(np.clip(_PER_RECORD * records / deviation, _FEWEST, _MOST))
    lower, upper = bounds_of(*coarse)
    singles = kind == "integer" and upper - lower <= min(_SINGLES, (records / (_QUIET * deviation)) ** 2)
    edges = fine_edges(*coarse, cells, whole=kind == "integer", singles=singles)
    if kind == "integer" and not singles:
        edges = with_end_of_digits(with_years(edges, lower, upper), vote.digits)
    # Each of up to 1,000 whole numbers has a code of its own, and so has zero.
    alone = singles or (kind == "integer" and upper - lower <= MANY_NUMBERS)
    return Intervals(name, codes, edges, () if alone else tried(kind, vote, coarse, records, deviation))


def again(counted: Counted, kind: Kind, bounds: Bounds, records: float, deviation: float, least: float) -> Intervals:
    """Where to count once more: in the same intervals, or integers one by one where that may show codes.

    Where these are too many, those of crowded intervals are counted one by one, for numbers that many records hold.

    Args:
        counted: what was answered so far.
        kind: of the column.
        bounds: that follow from it.
        records: about how many cells are not missing.
        deviation: of the noise that a count will have.
        least: deviations that it must exceed.
    """
    if counted.singles is not None:
        return counted.singles.intervals
    if kind != "integer" or bounds.shown is None or is_single(counted.intervals, bounds.shown):
        return counted.intervals
    beyond = reach_of(bounds.shown)
    first, last = bounds.shown[0] - beyond, bounds.shown[1] + beyond
    if not -EXACT < first <= last < EXACT:  # there integers are not distinguished, and widths may be infinite
        return counted.intervals
    if last - first + 1 > min(_SINGLES, (records / (_QUIET_AGAIN * deviation)) ** 2):
        if bounds.upper is None or bounds.upper < CHEAP:
            return counted.intervals  # each number has a code of its own, and will have
        return opened(counted.intervals, counted.counts, least * deviation, MANY if bounds.lumps else FEW)
    return Intervals(counted.intervals.column, counted.intervals.codes, tuple(np.arange(first, last + 2).tolist()))


def is_single(intervals: Intervals, ends: tuple[float, float]) -> bool:
    """Whether each integer between two ends has an interval of its own."""
    return len(integers_in(intervals, ends)[0]) > 0


@np.errstate(over="ignore")  # what lies between the outermost floats is infinitely wide
def bounds_from(
    counted: Counted, kind: Kind, vote: Votes, records: float, least: float, least_point: float = math.inf
) -> Bounds:
    """From the first to the last interval that shows, further out where the coarse answer shows more.

    Args:
        counted: what was answered about its numbers.
        kind: of the column.
        vote: the noisy places of its cells.
        records: about how many cells are not missing.
        least: how many deviations a sum of counts must exceed (`shown_counts.sure_of`).
        least_point: the same for a single number (`shown_counts.sure_of_points`).
    """
    edges = np.array(counted.intervals.edges)
    if kind in ("date", "datetime"):
        years = Years(edges, counted.counts[1:-1], counted.deviation, least)
        if (ends := years.ends(records)) is None:
            return Bounds()
        beyond = years.beyond(ends, vote.counted(counted.intervals.codes))
        lower, stop = (float(edges[place]) for place in (ends[0], ends[1] + 1))
        if kind == "date":
            lower, stop = (_days(edge, counted.intervals.codes) for edge in (lower, stop))
        return Bounds(lower, _greatest(stop, 0), beyond=beyond)
    coarse = vote.coarse_range(kind)
    assert coarse is not None, "intervals were made of coarse bounds"
    digits = 0 if kind == "integer" else vote.decimals()
    points = counted.points(digits, least_point)
    inner, noise = points.line
    first, last = _of_numbers(edges, inner, noise, records, coarse, kind, least)
    lower, upper, inside = float(edges[first]), float(edges[last + 1]), slice(first, last + 1)
    sums, noises = _by_place(edges, inner, noise, kind)
    further = _further(sums, noises, coarse, least)
    if further == coarse and _is_point(lower, upper, digits):
        further = _beside(sums, noises, coarse, least)
    if further != coarse:
        lowest, highest = bounds_of(*further)
        lower = lowest if further[0] < coarse[0] else lower
        upper = highest if further[1] > coarse[1] else upper
        coarse = further
    tails = _tails(vote, kind, coarse, records)
    shown = _bounds(lower, upper, digits, tails)
    line = Line(edges, inner, noise, *vote.line(kind), kind == "integer")
    roomy = _bounds(*with_room(line, (lower, upper), coarse, records), digits, tails)
    if kind == "integer" and places_of(np.array([10.0**vote.digits - 1]))[0] >= coarse[1]:
        roomy = _within_digits(roomy, line, vote.digits, least)
    assert shown.lower is not None, "intervals show"
    assert shown.upper is not None, "intervals show"
    assert roomy.lower is not None, "there is no less room than what shows"
    assert roomy.upper is not None, "on either side"
    all_counts, all_noise = counted.with_ends(inner, noise)
    within = (roomy.lower, roomy.upper)
    outside = beyond_bounds(edges, all_counts, all_noise, vote, within, whole=kind == "integer")
    roomy = replace(roomy, shown=(shown.lower, shown.upper), outside=outside)
    if within[0] >= 0:
        roomy = replace(roomy, negatives=negatives_hidden(edges, inner, noise, vote, coarse[1]))
    # Of zero alone it is asked whether that is all; around another number there is room now.
    if _is_point(lower, upper, digits) and (lower == 0 or (roomy.lower, roomy.upper) == roomy.shown):
        return replace(roomy, held=(float(inner[inside].sum()), float(np.square(noise[inside]).sum()) ** 0.5))
    roomy = _with_points(roomy, counted, points, whole=kind == "integer")
    seen = (edges[first : last + 2], inner[inside], noise[inside], records, least)
    if kind == "real":
        return replace(roomy, lumps=lumps_in(*seen, whole=False), narrow=is_narrow(*seen[1:]))
    if kind != "integer" or roomy.upper is None or (roomy.upper < CHEAP and counted.deviation > _HIDDEN * records):
        return roomy
    one = counted.singles or counted
    codes = codes_of(one.intervals, one.counts, one.deviation, (shown.lower, shown.upper), vote, records, least)
    lumps = 0 if codes else lumps_in(*seen)
    if lumps and counted.singles is not None:
        found = seen_alone(one.intervals, one.counts, least_point * one.deviation)
        codes = codes_among(found, one.deviation, (shown.lower, shown.upper), vote, records)
        lumps = 0 if codes else lumps
    return replace(roomy, codes=codes, lumps=lumps)


def _within_digits(bounds: Bounds, line: Line, digits: int, least: float) -> Bounds:
    """No further than numbers go that have so many digits, where none with more of them surely shows.

    Where they are counted together with smaller ones, as in places alone, nothing changes.
    """
    beyond = line.edges[:-1] >= 10.0**digits
    greatest = 10.0**digits - 1
    assert bounds.lower is not None, "intervals show"
    assert bounds.upper is not None, "intervals show"
    if not digits or not bounds.lower <= greatest < bounds.upper or greatest + 1 not in line.edges[:-1]:
        return bounds
    counted = support(line.counts[beyond], np.broadcast_to(line.deviation, line.counts.shape)[beyond], least)
    return bounds if counted else replace(bounds, upper=greatest)


def _with_points(bounds: Bounds, counted: Counted, points: Points, *, whole: bool) -> Bounds:
    """With the single numbers that stand out: of those that were tried, or of integers that were counted one by one."""
    assert bounds.shown is not None, "intervals show"
    assert bounds.lower is not None, "and have bounds"
    assert bounds.upper is not None, "on either side"
    if whole and bounds.upper - bounds.lower < MANY_NUMBERS:
        return bounds  # each has a code of its own
    one = counted.singles or counted
    if whole and is_single(one.intervals, bounds.shown):
        values, places = integers_in(one.intervals, bounds.shown)
        found = integers_standing_out(values, one.counts[places], one.deviation, points.least)
        return replace(bounds, points=found, points_deviation=one.deviation)
    frequent, deviation = dict(points.frequent), points.deviation
    if whole and (later := counted.singles) is not None:
        frequent |= dict(crowded(later.intervals, later.counts, later.deviation, points.least))
        deviation = max(deviation, later.deviation)
    most = sorted(sorted(frequent.items(), key=lambda pair: -pair[1])[:MOST])
    return replace(bounds, points=tuple(most), points_deviation=deviation)


def coarse_bounds(kind: Kind, vote: Votes, records: float) -> Bounds:
    """Those that the coarse answer alone leads to, where no finer one was asked."""
    coarse = vote.coarse_range(kind) if kind in ("integer", "real") else None
    if coarse is None:
        return Bounds()
    lower, upper = bounds_of(*coarse)
    digits = 0 if kind == "integer" else vote.decimals()
    # Zero is a place by itself, with the same number at both ends.
    bounds = _bounds(lower, upper + (upper <= 0), digits, _tails(vote, kind, coarse, records))
    assert bounds.lower is not None, "numbers show"
    assert bounds.upper is not None, "and have bounds"
    none = np.zeros(0)
    ends = (bounds.lower, bounds.upper)
    bounds = replace(bounds, outside=beyond_bounds(none, none, none, vote, ends, whole=kind == "integer"))
    held = (float(vote.numbers(kind)[REACH]), vote.deviation) if coarse == (REACH, REACH) else None
    return replace(bounds, held=held)


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


def _days(edge: float, codes: Sequence[int]) -> float:
    """The edge of a year as cells of these classes have it, in days since 1970-01-01."""
    if DAYS in codes:
        return compact_dates.days_since_1970(edge)
    return edge / midnight.MICROSECONDS_PER_DAY if _MOMENTS.intersection(codes) else edge


def _of_numbers(
    edges: np.ndarray,
    counts: np.ndarray,
    deviation: np.ndarray,
    records: float,
    coarse: tuple[int, int],
    kind: Kind,
    least: float,
) -> tuple[int, int]:
    """The first and the last interval that shows, or that is likely, at the places of the bounds or next to them."""
    fine, window = (_positions(edges, len(counts), places) for places in (coarse, _next_places(coarse, kind)))
    inside = slice(window[0], window[1] + 1)
    if (found := support(counts[inside], deviation[inside], least)) is None:
        return fine
    moved = (found[0] + window[0], found[1] + window[0])
    widths = np.diff(edges)
    narrow = widths <= max(float(edges[moved[1] + 1] - edges[moved[0]]) * _NARROW, 1.0)
    # Of counts and amounts nothing is negative: where no negative number surely shows, noise is not enough for one.
    within = (int(np.searchsorted(edges, 0.0)), window[1]) if edges[moved[0]] >= 0 else window
    first, last = extended(counts, moved, within, deviation, records, least, narrow)
    (_, bottom), (top, _) = bounds_of(coarse[0], coarse[0]), bounds_of(coarse[1], coarse[1])
    # What shows altogether and in none of the parts is left in all of them.
    return (fine[0] if edges[first] > bottom else first), (fine[1] if edges[last + 1] <= top else last)


def _by_place(
    edges: np.ndarray, counts: np.ndarray, deviation: np.ndarray, kind: Kind
) -> tuple[np.ndarray, np.ndarray]:
    """float64 [CELLS] each: the sums of the counts at each place of the grid, and the deviations of their noise."""
    starts, stops = edges[:-1], edges[1:]
    # An integer stands at the start of its interval, and zero at that of the one which ends below all magnitudes.
    at_start = ((kind == "integer") & (stops - starts <= 1)) | ((starts == 0) & (stops <= MAGNITUDES[0]))
    places = places_of(np.where(at_start, starts, starts / 2 + stops / 2))
    sums = np.bincount(places, weights=counts, minlength=CELLS)
    return sums, np.sqrt(np.bincount(places, weights=deviation**2, minlength=CELLS))


def _is_point(lower: float, upper: float, digits: int | None) -> bool:
    """Whether there is one number between `lower` and the edge `upper`: of so many digits, or zero alone."""
    if digits is None:
        return lower == 0 and upper <= MAGNITUDES[0]
    bounds = _bounds(lower, upper, digits, (0.0, 0.0))
    return bounds.lower == bounds.upper


def _beside(sums: np.ndarray, noises: np.ndarray, coarse: tuple[int, int], least: float) -> tuple[int, int]:
    """The places of bounds that hold a single number so far, further out as far as noisy counts suggest others.

    Sums over ever more places exceed their noise most where they reach the last place with records. Below zero there
    are rarely others: these must surely show.
    """
    first, last = coarse
    above = _outwards(sums[last + 1 :], noises[last + 1 :], _BESIDE, least)
    before = slice(REACH if first > REACH else 0, first)
    below = _outwards(sums[before][::-1], noises[before][::-1], least if first == REACH else _BESIDE, least)
    return first - below, last + above


def _outwards(sums: np.ndarray, noises: np.ndarray, lowest: float, least: float) -> int:
    """How many places the sum reaches that exceeds its limit most; 0 where none does. Limits grow up to `least`."""
    counted = np.flatnonzero(noises)  # the others hold no interval
    if not len(counted):
        return 0
    deviations = np.cumsum(sums[counted]) / np.sqrt(np.cumsum(noises[counted] ** 2))
    above = deviations - np.minimum(lowest + _BESIDE_EACH * np.arange(len(counted)), least)
    best = int(np.argmax(above))
    return int(counted[best]) + 1 if above[best] > 0 else 0


def _further(sums: np.ndarray, noises: np.ndarray, coarse: tuple[int, int], least: float) -> tuple[int, int]:
    """The places of the bounds, further out where this answer surely shows records that are worth their places.

    The noise of the coarse answer may hide them: a small part of a table, far from all others.
    """
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
