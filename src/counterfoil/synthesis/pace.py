"""How far a method is, also within its fits, and how long its fits may still take."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from counterfoil.curator.curator import Curator
from counterfoil.graphical_model.fit_watch import FitWatch
from counterfoil.synthesis.progress import Progress
from counterfoil.synthesis.time_limit import TimeLimit

FOR_ROUNDS = 0.5
"""The part of a time limit that is for all fits but the last one, which begins with what all of them found."""

FEWEST_EVALUATIONS = 20
"""Of a fit, however short the limit: a model that has not seen its last measurements would waste what they cost."""

_LEAST_MOVE = 0.005
"""Smaller moves of the progress are not passed on."""


class Pace(FitWatch):
    """The progress of one run of a method, which rises within fits; with a time limit, what ends its fits and rounds.

    Each decision of the clock is kept where the answers are, and a resumed run takes it from there: it then asks what
    the earlier one asked. The clock runs all the same, so that what is left of the limit is what was left.

    Args:
        curator: keeps the decisions.
        progress: called with what is being done and the share of the work that is done.
        limit: of all fits; None for as long as they take.
    """

    def __init__(self, curator: Curator, progress: Progress, limit: TimeLimit | float | None = None) -> None:
        self._curator, self._progress, self.limit = curator, progress, TimeLimit.of(limit)
        self._message, self._told, self._start, self._end = "", 0.0, 0.0, 0.0
        self._goal = self._first_gap = 1.0
        self._used = self._began = 0.0
        self._part = FOR_ROUNDS
        self._kept: int | None = None
        self._rounds_ended = False

    def step(self, message: str, start: float, end: float | None = None) -> None:
        """A step of the method begins; fits within it move the progress from `start` towards `end`.

        Args:
            message: what is being done.
            start: the share of the work that is done before it.
            end: that is done after it; `start` where None.
        """
        self._message, self._start = message, max(start, self._told)
        self._end = max(self._start if end is None else end, self._start)
        self._told = self._start
        self._progress(message, self._start)

    def last_fit(self) -> None:
        """The next fit is the last one, and may use all that is left of the limit."""
        self._part = 1.0

    def ends_rounds(self) -> bool:
        """Whether the part of the limit that is for rounds is used up, so that one more round is the last one."""
        if self.limit is None:
            return False
        ended = self._curator.kept_decision("rounds")
        if ended is None:
            ended = int(self._used >= FOR_ROUNDS * self.limit.seconds)
            self._curator.keep_decision("rounds", ended)
        self._rounds_ended = bool(ended)
        return self._rounds_ended

    def facts(self) -> dict[str, Any]:
        """What the receipt says of the limit among the parameters; nothing where there is none."""
        if self.limit is None:
            return {}
        return {"time_limit": {"seconds": float(self.limit.seconds), "rounds_ended": self._rounds_ended}}

    def warnings(self) -> tuple[str, ...]:
        """A sentence for the receipt where the clock ended the rounds; a fit that it ended has its own."""
        if self.limit is None or not self._rounds_ended:
            return ()
        return (
            f"The time limit of {self.limit.seconds:g} s ended the rounds early: what was left of the budget for "
            "marginals was spent on those of one last round. A longer limit lets later rounds learn from earlier ones.",
        )

    def begins(self, goal: float) -> None:
        """A fit begins: its clock runs until it ends."""
        self._goal, self._first_gap = goal, 0.0
        if self.limit is not None:
            self._kept = self._curator.kept_decision("fit")
            self._began = self.limit.clock()

    def may_go_on(self, evaluations: int, relative_gap: float) -> bool:
        """Whether there is time for another step; tells how far the fit is."""
        self._tell(self._start + (self._end - self._start) * self._closed(relative_gap))
        if self.limit is None:
            return True
        if self._kept is not None:
            return self._kept == 0 or evaluations < self._kept
        left = self._part * self.limit.seconds - self._used - (self.limit.clock() - self._began)
        return left > 0 or evaluations < FEWEST_EVALUATIONS

    def ends(self, evaluations: int, *, stopped: bool) -> None:
        """Counts the time of the fit, and keeps what the clock decided."""
        if self.limit is None:
            return
        self._used += self.limit.clock() - self._began
        if self._kept is None:
            self._curator.keep_decision("fit", evaluations if stopped else 0)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Counts the time of other work that reads no record."""
        if self.limit is None:
            yield
            return
        began = self.limit.clock()
        yield
        self._used += self.limit.clock() - began

    def _closed(self, gap: float) -> float:
        """How much of the way from the first gap to the goal is done: in orders of magnitude, as the gap declines."""
        if not 0 < gap < math.inf:
            return 0.0
        self._first_gap = self._first_gap or gap
        if self._first_gap <= self._goal:
            return 1.0
        return min(max(math.log(self._first_gap / gap) / math.log(self._first_gap / self._goal), 0.0), 1.0)

    def _tell(self, share: float) -> None:
        if share >= self._told + _LEAST_MOVE:
            self._told = share
            self._progress(self._message, self._told)
