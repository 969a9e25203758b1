"""How long a command will still take, from how fast it was: smoothed, and in coarse words."""

from __future__ import annotations

import math
from collections.abc import Callable

from counterfoil.cli.durations import about, coarse

_SOONEST = 3.0
"""Seconds, before which nothing is estimated."""

_LEAST_SHARE = 0.05
"""Of the work, before which nothing is estimated."""

_STEPS = 10
"""How many steps a pace is taken from, where there were as many."""

_WATCHED = 5.0
"""Seconds for which estimates are watched before one is shown."""

_OFTEN = 0.1
"""Seconds, within which steps are not estimated anew: there may be thousands."""

_MEMORY = (5.0, 0.25)
"""How long estimates count: so many seconds, or this share of the time so far where that is longer."""

_STEADY = 0.3
"""Estimates of the end may stray by this share of what is left, on average, for what is left to be shown."""

_LONGER = 1.75
"""What is shown grows again only where so many times as much is left."""


class TimeLeft:
    """Estimates what is left of a work from its pace since half of its time so far: the first steps may be quick ones.

    Where fewer than ten steps were taken since then, it is the pace of the last ten.

    The moment of the end is estimated at each step, and averaged with weights that fade. What is shown is what is left
    until that moment: first when estimates no longer stray, then ever less, unless much more is left than was shown.

    Args:
        clock: seconds since any moment.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._moves = [(clock(), 0.0)]
        self._first: float | None = None
        self._last = self._end = self._strays = 0.0
        self._shown: int | None = None

    def seen(self, share: float) -> float:
        """Notes how far the work is; returns that, or the furthest that it was.

        Args:
            share: of the work that is done.
        """
        furthest = max(share, self._moves[-1][1])
        if furthest > self._moves[-1][1]:
            now = self._clock()
            self._moves.append((now, furthest))
            if now - self._last >= _OFTEN:
                self._average(now)
        return furthest

    def seconds(self) -> float | None:
        """What is left at the pace of late, before it is smoothed; None where too little was seen."""
        return self._left_at(self._clock())

    def words(self) -> str:
        """What is left, for a reader; empty where too little was seen, or estimates stray."""
        now = self._clock()
        self._average(now)
        left = self._end - now
        if self._first is None or now - self._first < _WATCHED:
            return ""
        if self._shown is None and self._strays > _STEADY * left:
            return ""
        found = coarse(max(left, 0.0))
        if self._shown is None or found < self._shown or left > _LONGER * max(self._shown, _WATCHED):
            self._shown = found
        return f"{about(self._shown)} left"

    def _left_at(self, now: float) -> float | None:
        (begin, _), (_, done) = self._moves[0], self._moves[-1]
        if now - begin < _SOONEST or done < _LEAST_SHARE:
            return None
        half, latest = begin + (now - begin) / 2, max(len(self._moves) - 1 - _STEPS, 0)
        then, share = next(move for move in map(self._moves.__getitem__, range(latest, -1, -1)) if move[0] <= half)
        if share == done:  # it stood still since then, which says nothing of how it goes on
            then, share = begin, 0.0
        return max(1.0 - done, 0.0) * (now - then) / (done - share)

    def _average(self, now: float) -> None:
        """Takes the estimate of now into the averages: of the end, and of how far estimates stray from it."""
        left = self._left_at(now)
        if left is None:
            return
        if self._first is None:
            self._first, self._last, self._end = now, now, now + left
            return
        seconds, share = _MEMORY
        weight = -math.expm1(-(now - self._last) / max(seconds, share * (now - self._moves[0][0])))
        self._strays += weight * (abs(now + left - self._end) - self._strays)
        self._end += weight * (now + left - self._end)
        self._last = now
