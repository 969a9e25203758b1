"""Single numbers that many records hold exactly: which are tried, and which of them stand out of their neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.curator.queries.column_ranges import Intervals
from counterfoil.discovery.round_numbers import round_numbers
from counterfoil.discovery.votes import Votes
from counterfoil.schema.discovered import Kind
from counterfoil.schema.value_grid import CELLS, places_of

TRIED = 128
"""Numbers of a column, at most."""

_PER_HIDDEN = 1.5
"""Numbers of a place of the grid, per number that could stand out if they shared all of its records. Those that noise
would hide anyway are not tried: the noise of each may add to that of the interval around it."""

_MOST_OF_THEM = 0.5
"""A part of a column's numbers: where one place has more, one number may be most of them, and as many are tried as the
column may have. A limit of detection was 45, in 94% of the cells, and the 29 roundest from 16 to 256 had no 45."""

MOST = 32
"""Numbers of a column that get a code of their own, those that hold most."""

_DIGITS = 3
"""After the point, of reals that have more than two: they have at least so many."""

_FAR = 1e290
_ROUNDED = 6
"""Digits to which edges in units of the last digit are rounded, so that 0.3 begins with three tenths."""

_ABOUT = 16
"""A number is compared with at least so many beside it."""

_DENSER = 2.0
"""How many times denser than in the interval around it smooth numbers may lie at one of them."""

_TOGETHER = 1.0
"""Deviations of noise by which the points of a place that do not stand out must exceed what lies beside them, so that
they count among the records there: many rounded numbers may each be hidden."""

_RARE = 0.1
"""A part of the numbers of an interval, from which on its points are never left out of it."""


def tried(kind: Kind, vote: Votes, coarse: tuple[int, int], records: float, deviation: float) -> tuple[float, ...]:
    """The numbers of a column that are counted by themselves, ascending: public ones, as many as may stand out.

    Args:
        kind: of the column.
        vote: the noisy places of its cells.
        coarse: the first and the last place of its bounds.
        records: about how many cells are not missing.
        deviation: of the noise that a count will have.
    """
    masses, hidden = vote.numbers(kind), max(vote.least * deviation, 1.0)
    digits = 0 if kind == "integer" else vote.decimals()
    share = 1 / max(records, float(masses.sum()))
    found: list[float] = []
    for place in range(coarse[0], coarse[1] + 1):
        part = share * masses[place]
        most = TRIED * part if part > _MOST_OF_THEM else min(TRIED * part, _PER_HIDDEN / hidden * masses[place])
        found += round_numbers(place, int(most), digits)
    return tuple(sorted(found))


@dataclass(frozen=True, eq=False)
class Points:
    """The noisy counts of single numbers beside those of the intervals around them.

    Args:
        intervals: of a column of numbers, with its points.
        counts: float64 [size], noisy.
        deviation: of the noise of each.
        digits: after the point, of the numbers; None for more than two.
        least: deviations by which a point must exceed the others (`shown_counts.sure_of_points`).
    """

    intervals: Intervals
    counts: np.ndarray
    deviation: float
    digits: int | None
    least: float

    @property
    def frequent(self) -> tuple[tuple[float, int], ...]:
        """Those that surely more records hold than lie, number for number, around them; with counts."""
        stands = np.flatnonzero(self._stands)
        return _most_frequent([(self.intervals.points[place], round(self._own[place])) for place in stands])

    @property
    def line(self) -> tuple[np.ndarray, np.ndarray]:
        """float64 [edges - 1] twice: about how many records lie between two edges, and the deviation of the noise.

        Points that seem to hold no more than others are left out where they are few of the numbers there: they would
        add more noise than records.
        """
        used, own = self._used, self._own
        sums = self._rest + np.bincount(self._inside[used], weights=own[used], minlength=len(self._rest))
        noises = 1 + np.bincount(self._inside[used], minlength=len(self._rest))
        return sums, self.deviation * np.sqrt(noises)

    @property
    def _rest(self) -> np.ndarray:
        """float64 [edges - 1]: what lies between two edges beside the points."""
        return self.counts[1 : len(self.intervals.edges)]

    @property
    def _own(self) -> np.ndarray:
        """float64 [points]."""
        return self.counts[len(self.intervals.edges) + 1 :]

    @cached_property
    def _inside(self) -> np.ndarray:
        """int64 [points]: the interval that each point is in."""
        edges, points = np.array(self.intervals.edges), np.array(self.intervals.points)
        return np.searchsorted(edges, points, side="right") - 1

    @cached_property
    def _numbers(self) -> np.ndarray:
        """float64 [edges - 1]: how many numbers may lie in each interval beside the points."""
        units = 10.0 ** (_DIGITS if self.digits is None else self.digits)
        edges = np.clip(self.intervals.edges, -_FAR, _FAR) * units
        numbers = np.diff(np.ceil(np.round(edges, _ROUNDED)))
        return np.asarray(numbers - np.bincount(self._inside, minlength=len(numbers)))

    @cached_property
    def _beside(self) -> tuple[np.ndarray, np.ndarray]:
        """float64 [points] twice: how many records one number holds beside each point, and the variance of that.

        Of the interval that a point is in and of those on either side the densest counts: one of them may lie beyond
        all records.
        """
        sides = np.array([self._densest(place) for place in self._inside.tolist()]).reshape(-1, 2)
        return sides[:, 0], sides[:, 1]

    def _densest(self, place: int) -> tuple[float, float]:
        whole = self._numbers[place] >= _ABOUT
        parts = [self._window(place - whole, -1), self._window(place + whole, 1)]
        return max([*parts, self._window(place, 1)] if whole else parts)

    def _window(self, place: int, step: int) -> tuple[float, float]:
        """How many records one number holds, and the variance of that: in so many intervals from a place on, in one
        direction, as have `_ABOUT` numbers, or in all that there are."""
        numbers, records, intervals = 0.0, 0.0, 0
        while numbers < _ABOUT and 0 <= place < len(self._rest):
            numbers, records = numbers + self._numbers[place], records + self._rest[place]
            intervals, place = intervals + 1, place + step
        share = 1 / max(numbers, 1.0)
        return max(share * records, 0.0), (share * self.deviation) ** 2 * intervals

    @cached_property
    def _stands(self) -> np.ndarray:
        """bool [points]: which stand out; what lies densely does so by chance, as Poisson's law has it."""
        densities, variances = self._beside
        return _exceed(self._own, densities, self.deviation**2 + _DENSER**2 * variances, self.least)

    @property
    def _used(self) -> np.ndarray:
        """bool [points]: which count among the records of their interval."""
        densities, variances = self._beside
        hidden, places = ~self._stands, places_of(np.array(self.intervals.points))
        excess = np.bincount(places, weights=(self._own - densities) * hidden, minlength=CELLS)
        noises = np.bincount(places, weights=(self.deviation**2 + variances) * hidden, minlength=CELLS)
        together = excess > _TOGETHER * np.sqrt(noises)
        many = np.bincount(self._inside, minlength=len(self._rest)) > _RARE * self._numbers
        return np.asarray(self._stands | together[places] | many[self._inside])


def integers_standing_out(
    values: np.ndarray, counts: np.ndarray, deviation: float, least: float
) -> tuple[tuple[float, int], ...]:
    """The same of integers that were counted one by one: each is compared with the median of its neighbors.

    Args:
        values: float64 [n], following one another.
        counts: float64 [n], noisy.
        deviation, least: as for `Points`.
    """
    if len(values) <= _ABOUT:
        return ()
    reach = _ABOUT // 2
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(counts, reach, mode="reflect"), 2 * reach + 1)
    beside = np.maximum(np.median(np.delete(windows, reach, axis=1), axis=1), 0.0)
    noise = deviation**2 * (1 + _DENSER**2 * _OF_MEDIAN / (2 * reach))
    stands = _exceed(counts, beside, np.full(len(values), noise), least) & (values != 0)
    return _most_frequent([(float(values[place]), round(counts[place])) for place in np.flatnonzero(stands)])


_OF_MEDIAN = np.pi / 2
"""The variance of a median of many normal numbers over that of their mean."""


def _exceed(counts: np.ndarray, beside: np.ndarray, variances: np.ndarray, least: float) -> np.ndarray:
    """bool [n]: which counts surely exceed what may be expected from numbers beside them."""
    expected = _DENSER * beside
    return np.asarray(counts - expected > least * np.sqrt(variances + expected))


def _most_frequent(found: list[tuple[float, int]]) -> tuple[tuple[float, int], ...]:
    return tuple(sorted(sorted(found, key=lambda one: -one[1])[:MOST]))
