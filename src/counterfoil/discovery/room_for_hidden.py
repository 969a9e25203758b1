"""Room between what shows and the bounds, where noise may hide records: a bound that is too wide costs little."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterfoil.schema.scale import MANY_NUMBERS
from counterfoil.schema.value_grid import BASE, CELLS, MAGNITUDES, REACH, WHOLE_PLACES, YEARS, bounds_of

EXCLUDED = 0.5
"""Deviations of noise: a part of the line whose noisy count is less is taken to have no records worth wider cells."""

SMALL = 0.03
"""A share of the records that may lie beyond bounds: where noise hides no more, bounds stay where they show."""

CHEAP = 256
"""Whole numbers: each of so few has a code of its own, and codes that nobody needs are merged by noisy counts."""

_SMALL_CHEAP = 0.01
"""The same above whole numbers that each have a code of their own and become rarer outwards: some codes too many cost
less than a heap at the bound."""

_FALLING = 0.1
"""Of what the last octave within the bounds holds: where what lies beyond is less, numbers end there as if cut off."""

_NEAR, _NEAR_OF_BINS = 0.1, 0.5
"""A lower bound that is at most so large a part of the upper one gives way to 0, where amounts begin: of whole numbers
that each have a code of their own, and of numbers that share bins."""

_UNSEEN, _UNSEEN_OF_BINS = SMALL, 0.1
"""If at least such a share of the numbers may lie below it. Bins become a few times wider by that."""

_OCTAVES = 12

_NEXT_CHEAP, _NEXT = 1.0, 2.0
"""Deviations by which the next place further out must exceed 0, to be taken in: of cheap bounds, and of others."""


@dataclass(frozen=True, eq=False)
class Line:
    """Both answers about where the numbers of a column lie.

    Args:
        edges: of the intervals, ascending.
        counts: float64 [edges - 1], noisy.
        deviation: of the noise of each, one for all or float64 [edges - 1].
        places: float64 [CELLS], the noisy counts at the places of the grid, of the other answer.
        place_deviation: of the noise of each.
        whole: whether all numbers are whole.
    """

    edges: np.ndarray
    counts: np.ndarray
    deviation: float | np.ndarray
    places: np.ndarray
    place_deviation: float
    whole: bool

    def between(self, low: float, high: float) -> tuple[float, float]:
        """About how many numbers lie from one edge, at least 0, to before another, and its standard error.

        The other answer counts whole places. Of a place that lies partly between the edges it says how many numbers
        are there, less those which this one counts in the rest. Both are weighted by their precision.
        """
        first = int(np.searchsorted(self.edges, low, side="right")) - 1
        low = float(self.edges[max(first, 0)])  # where an interval begins
        own, noise = self._sum(low, high)
        possible = self.possible
        covered = [place for place in possible if self.ends(place)[0] < high and low < self.ends(place)[1]]
        if not covered or not noise:
            return own, noise
        # Near zero an interval may reach over several places: they are taken together.
        while self.ends(covered[0])[0] not in self.edges and covered[0] > possible[0]:
            covered.insert(0, possible[possible.index(covered[0]) - 1])
        lowest, highest = self.ends(covered[0])[0], self.ends(covered[-1])[1]
        rests = [self._sum(lowest, low), self._sum(high, highest)]
        other = float(self.places[covered].sum()) - sum(rest for rest, _ in rests)
        other_noise = math.hypot(self.place_deviation * len(covered) ** 0.5, *(error for _, error in rests))
        one, two = noise**-2.0, other_noise**-2.0
        return (one * own + two * other) / (one + two), (one + two) ** -0.5

    @property
    def possible(self) -> list[int]:
        """The places from zero on that hold such numbers."""
        return [int(place) for place in (WHOLE_PLACES if self.whole else range(CELLS)) if place >= REACH]

    def ends(self, place: int) -> tuple[float, float]:
        """The first number at a place from zero on, and the first one beyond; zero reaches up to what is next."""
        return (0.0, 1.0 if self.whole else MAGNITUDES[0]) if place == REACH else bounds_of(place, place)

    def mirrored(self) -> Line:
        """The answers about the numbers of the opposite sign."""
        deviation = self.deviation[::-1] if isinstance(self.deviation, np.ndarray) else self.deviation
        edges = np.array([_mirrored_edge(edge, whole=self.whole) for edge in self.edges[::-1]])
        return Line(edges, self.counts[::-1], deviation, self.places[::-1], self.place_deviation, self.whole)

    def _sum(self, low: float, high: float) -> tuple[float, float]:
        first, last = np.searchsorted(self.edges, [low, high])
        part = slice(first, max(last, first))
        variances = np.broadcast_to(np.square(self.deviation), self.counts.shape)[part]
        return float(self.counts[part].sum()), float(variances.sum()) ** 0.5


def with_room(line: Line, ends: tuple[float, float], coarse: tuple[int, int], records: float) -> tuple[float, float]:
    """Bounds further out, up to those of the places that show, as far as noise may hide records beyond.

    Nothing changes where the noise hides less than `SMALL` of the records, or, above numbers that each have a code of
    their own, less than a tail of counts may hold. Else bounds move outwards from one power of two to the next until
    what lies beyond is excluded, and up to the end of the last place, or down to 0, where each number has a code.
    A lower bound near 0 beside the upper one is 0 where noise hides too much below it to exclude anything. Numbers stay
    years where nothing else shows, and counted from 1. Numbers that are all negative are as their opposites would be,
    and of others either side of zero has room of its own.

    Args:
        line: the answers.
        ends: the lower bound, and the edge above the upper one.
        coarse: the first and the last place that shows.
        records: about how many cells are not missing.
    """
    lower, upper = ends
    if lower < 0:
        return _with_room_below_zero(line, ends, coarse, records)
    if coarse[1] < REACH:
        return ends
    upper = _with_room_above(line, upper, coarse[1], records)
    for corner in _downwards(lower):
        if _is_excluded(line.between(0.0, lower), records, cheap=line.whole and upper <= MANY_NUMBERS):
            break
        lower = math.floor(corner) if line.whole else corner
    if (lower > 1 or not line.whole) and _may_begin_at_zero(line, lower, upper, records):
        lower = 0.0
    if line.whole and YEARS[0] <= ends[0] and ends[1] <= YEARS[1] + 1:
        lower, upper = max(lower, YEARS[0]), min(upper, YEARS[1] + 1)
    return float(lower), float(upper)


def _with_room_below_zero(
    line: Line, ends: tuple[float, float], coarse: tuple[int, int], records: float
) -> tuple[float, float]:
    """The same for numbers of which some are negative: on either side of zero that shows, up to its own last place."""
    lower, upper = (_mirrored_edge(edge, whole=line.whole) for edge in reversed(ends))
    first, last = (2 * REACH - place for place in reversed(coarse))
    if first >= REACH:  # none is positive
        below, above = with_room(line.mirrored(), (max(lower, 0.0), upper), (first, last), records)
        return _mirrored_edge(above, whole=line.whole), _mirrored_edge(below, whole=line.whole)
    reach = _with_room_above(line.mirrored(), upper, last, records)
    return _mirrored_edge(reach, whole=line.whole), _with_room_above(line, ends[1], coarse[1], records)


def _mirrored_edge(edge: float, *, whole: bool) -> float:
    """Where the numbers of the opposite sign end: those from an edge on are those before this one."""
    return float(1 - edge if whole else 0.0 - edge)


def _with_room_above(line: Line, shown: float, last: int, records: float) -> float:
    """The edge above the upper bound, from the one above the greatest number that surely shows."""
    upper, top = shown, _top(line, last, records, shown)
    cheap = line.whole and top <= CHEAP
    for corner in _upwards(shown, top):
        excluded = _is_excluded(line.between(upper, top), records, cheap=cheap)
        if excluded and not (cheap and _falls_slowly(line, upper, shown, top, records)):
            break
        upper = corner
    return upper


def _may_begin_at_zero(line: Line, lower: float, upper: float, records: float) -> bool:
    """Whether a lower bound is near 0 beside the upper one, and many numbers may lie below it."""
    each = line.whole and upper <= MANY_NUMBERS
    if lower > (_NEAR if each else _NEAR_OF_BINS) * upper:
        return False
    count, noise = line.between(0.0, lower)
    return max(count, 0.0) + noise > (_UNSEEN if each else _UNSEEN_OF_BINS) * records


def _top(line: Line, last: int, records: float, shown: float) -> float:
    """The end of the last place that shows, or of the next one, where it is likely that some numbers are there.

    Args:
        line: the answers.
        last: the last place that shows.
        records: about how many cells are not missing.
        shown: the edge above the greatest number that surely shows.
    """
    possible = line.possible
    top = line.ends(last)[1]
    following = possible[possible.index(last) + 1 :][:1]
    if not following or following[0] == CELLS - 1:
        return top
    end = line.ends(following[0])[1]
    count, noise = line.between(top, end)
    if line.whole and end <= BASE:
        return end
    if line.whole and end <= CHEAP:
        return end if count > max(_NEXT_CHEAP * noise, _least_of_tail(line, shown, records)) else top
    return end if count > max(_NEXT * noise, SMALL * records) else top


def _falls_slowly(line: Line, upper: float, shown: float, top: float, records: float) -> bool:
    """Whether numbers, each with a code of its own, may become rarer beyond a bound rather than end there.

    Args:
        line: the answers.
        upper: the bound, the edge above.
        shown: the edge above the greatest number that surely shows.
        top: up to where there may be numbers.
        records: about how many cells are not missing.
    """
    count, noise = line.between(upper, top)
    if upper > shown and count <= noise:
        return False
    return max(count, 0.0) + noise > _least_of_tail(line, upper, records)


def _least_of_tail(line: Line, upper: float, records: float) -> float:
    """How many numbers beyond a bound are worth codes: more where the last octave within it holds more."""
    return max(_FALLING * line.between(upper / 2, upper)[0], _SMALL_CHEAP * records)


def _is_excluded(part: tuple[float, float], records: float, cheap: bool) -> bool:
    """Whether so few numbers are likely in a part that bounds need not reach over it."""
    count, noise = part
    if cheap:
        return max(count, 0.0) + noise <= SMALL * records
    return count <= max(EXCLUDED * noise, SMALL * records)


def _upwards(start: float, stop: float) -> list[float]:
    """Powers of two above `start` and below `stop`, and `stop`."""
    if stop <= start:
        return []
    low = math.floor(math.log2(start)) + 1 if start > 0 else math.ceil(math.log2(stop)) - _OCTAVES
    corners = [2.0**power for power in range(low, math.ceil(math.log2(stop)))]
    return [*(MANY_NUMBERS if corner == 1024.0 else corner for corner in corners), stop]


def _downwards(start: float) -> list[float]:
    """Powers of two below `start`, and 0."""
    if start <= 0:
        return []
    high = math.ceil(math.log2(start)) - 1
    return [*(2.0**power for power in range(high, high - _OCTAVES, -1)), 0.0]
