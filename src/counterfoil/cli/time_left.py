"""How long a command will still take, from how fast it was."""

from __future__ import annotations

from collections.abc import Callable

from counterfoil.cli.durations import duration_of

_SOONEST = 3.0
"""Seconds, before which nothing is said."""

_LEAST_SHARE = 0.02
"""Of the work, before which nothing is said."""


class TimeLeft:
    """Estimates what is left of a work from its pace since half of its time so far: the first steps may be quick ones.

    Args:
        clock: seconds since any moment.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._moves = [(clock(), 0.0)]

    def seen(self, share: float) -> float:
        """Notes how far the work is; returns that, or the furthest that it was.

        Args:
            share: of the work that is done.
        """
        furthest = max(share, self._moves[-1][1])
        if furthest > self._moves[-1][1]:
            self._moves.append((self._clock(), furthest))
        return furthest

    def seconds(self) -> float | None:
        """What is left; None where too little was seen to tell."""
        now, (begin, _), (_, done) = self._clock(), self._moves[0], self._moves[-1]
        if now - begin < _SOONEST or done < _LEAST_SHARE:
            return None
        then, share = next(move for move in reversed(self._moves) if move[0] <= begin + (now - begin) / 2)
        if share == done:  # it stood still since then, which says nothing of how it goes on
            then, share = begin, 0.0
        return max(1.0 - done, 0.0) * (now - then) / (done - share)

    def words(self) -> str:
        """What is left, for a reader; empty where too little was seen to tell."""
        seconds = self.seconds()
        return "" if seconds is None else f"{duration_of(seconds)} left"
