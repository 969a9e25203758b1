"""From noisy counts of years to the bounds of dates and moments, which reach over what the noise may hide."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterfoil.discovery.room_for_hidden import SMALL
from counterfoil.noise.shown_counts import extended, shown
from counterfoil.schema.discovered import AT_MOST

NEAR = 8
"""Years on either side of what shows that are looked at, at least: else as many as show."""

_FARTHER = 2.0
"""Deviations by which the records of the years beyond these must exceed 0, so that as many again are looked at."""

_SHIFT = 85
"""Years from one grid to the other, 1010101 in binary: of any length, they are a third or two thirds of one off."""


@dataclass(frozen=True, eq=False)
class Years:
    """Noisy counts of years, with whole centuries before and after.

    Args:
        edges: of the intervals, ascending.
        counts: float64 [edges - 1], noisy.
        deviation: of the noise of each.
        least: how many deviations a sum must exceed (`shown_counts.sure_of`).
    """

    edges: np.ndarray
    counts: np.ndarray
    deviation: float
    least: float

    def ends(self, records: float) -> tuple[int, int] | None:
        """The first and the last interval of the bounds; None where nothing shows.

        A century counts where it shows by itself. Sums that begin in one and end in years would reach a thousand years
        back for what the last of these years hold.

        Args:
            records: about how many there are.
        """
        first, stop = self._single
        within = (first, stop - 1)
        single = np.flatnonzero(self.counts > self.least * self.deviation).tolist()
        found = [place for place in single if not first <= place < stop]
        if (years := self._shown()) is not None:
            start, end = extended(self.counts, years, within, self.deviation, records, self.least)
            found += self._with_room(start, end, records)
        return (min(found), max(found)) if found else None

    def beyond(self, ends: tuple[int, int], total: tuple[float, float]) -> float:
        """How many records may lie outside of these intervals: the upper end of a 95% interval.

        Args:
            ends: the first and the last interval of the bounds.
            total: the noisy number of all, of another answer, and the deviation of its noise.
        """
        within = self.counts[ends[0] : ends[1] + 1]
        noise = math.hypot(total[1], self.deviation * len(within) ** 0.5)
        return max(total[0] - float(within.sum()), 0.0) + AT_MOST * noise

    @property
    def _single(self) -> tuple[int, int]:
        """The first interval of one year, and the one after the last."""
        widths = np.diff(self.edges)
        single = np.flatnonzero(widths < 2 * widths.min())
        return int(single[0]), int(single[-1]) + 1

    def _shown(self) -> tuple[int, int] | None:
        """The first and the last year of what shows in sums over dyadic intervals.

        Whether ten years show is luck where such intervals begin at fixed years, so that there are two grids of them,
        and each has half of the probability of a false alarm. Of what shows the narrowest is taken.
        """
        from scipy.special import ndtr, ndtri

        first, stop = self._single
        years, least = self.counts[first:stop], -float(ndtri(ndtr(-self.least) / 2))
        found = [
            (max(start - shift, 0) + first, min(end - shift, len(years)) + first - 1)
            for shift in (0, _SHIFT)
            for start, end, _ in shown(np.concatenate([np.zeros(shift), years]), self.deviation, least)
        ]
        narrow = [one for one in found if not any(one != other and _holds(one, other) for other in found)]
        return (min(start for start, _ in narrow), max(end for _, end in narrow)) if narrow else None

    def _with_room(self, first: int, last: int, records: float) -> tuple[int, int]:
        """Both ends further out, to one, two, four years and so on, until few records are left beyond."""
        start, stop = self._single
        least = max(last - first + 1, NEAR)
        before = self._room(self.counts[start:first][::-1], least, records)
        return first - before, last + self._room(self.counts[last + 1 : stop], least, records)

    def _room(self, outwards: np.ndarray, least: int, records: float) -> int:
        """How many of the next years are taken in: a year too many costs little, and one too few all its records."""
        reach, room = self._reach(outwards, least, records), 0
        while room < reach and outwards[room:reach].sum() > SMALL * records:
            room = min(max(2 * room, 1), reach)
        return room

    def _reach(self, outwards: np.ndarray, least: int, records: float) -> int:
        """How many years are looked at: `least`, and as many again while it is likely that these hold records."""
        reach = min(least, len(outwards))
        while len(further := outwards[reach : 2 * reach]):
            if further.sum() <= max(_FARTHER * self.deviation * len(further) ** 0.5, SMALL * records):
                break
            reach += len(further)
        return reach


def _holds(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[0] and other[1] <= one[1]
