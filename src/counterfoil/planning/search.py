"""The smallest epsilon that keeps a bound in rehearsal: bisection over log epsilon, with the same noise at each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from counterfoil.planning.public_table import World
from counterfoil.planning.rehearsal import Rehearsal
from counterfoil.planning.spread import Spread
from counterfoil.planning.want import Answer, Want, own_epsilon

SMALLEST, LARGEST = 0.01, 100.0
WIDTH = 1.05
"""The search ends when its bracket is so narrow, as a ratio."""

_LADDER = (1.0, 10.0, LARGEST, 0.1, SMALLEST)


@dataclass
class Search:
    """One bound in one world; asks for rehearsals at one epsilon after another.

    Each rehearsal has the same records and the same seed at every epsilon, so that what changes between two epsilons is
    mostly the epsilon.

    Args:
        want: the bound.
        world: where the records come from.
        tried: the rehearsals at each epsilon so far.
    """

    want: Want
    world: World
    tried: dict[float, list[Rehearsal]] = field(default_factory=dict)

    def add(self, rehearsals: Iterable[Rehearsal]) -> None:
        """Takes those of its own world."""
        for rehearsal in rehearsals:
            if rehearsal.world is self.world:
                self.tried.setdefault(rehearsal.epsilon, []).append(rehearsal)

    def met(self, epsilon: float) -> bool:
        """Whether the mean over rehearsals keeps the bound; one without a figure fails it."""
        figures = [self.want.figure(rehearsal) for rehearsal in self.tried[epsilon]]
        return self.want.met(math.fsum(figures) / len(figures))

    def bracket(self) -> tuple[float | None, float | None]:
        """The largest epsilon that fails below the smallest from which on all that were tried keep the bound."""
        failing = [epsilon for epsilon in self.tried if not self.met(epsilon)]
        low = max(failing, default=None)
        high = min((epsilon for epsilon in self.tried if low is None or epsilon > low), default=None)
        return low, high

    def next_epsilon(self) -> float | None:
        """Where to rehearse next; None when the answer is known."""
        low, high = self.bracket()
        if low is not None and high is not None:
            return None if high / low <= WIDTH else math.sqrt(low * high)
        if low is None and high is None:
            return 1.0
        if low is None:
            assert high is not None
            return max((step for step in _LADDER if step < high), default=None)
        return min((step for step in _LADDER if step > low), default=None)

    def answer(self) -> Answer:
        """What was found; `next_epsilon` has returned None."""
        low, high = self.bracket()
        at = high if high is not None else max(self.tried)
        runs = sorted({rehearsal.run for rehearsal in self.tried[at]})
        own = [own_epsilon(self.want, self._figures(run)) for run in runs]
        known = [epsilon for epsilon in own if epsilon is not None]
        return Answer(
            want=self.want,
            world=self.world,
            epsilon=high,
            already=high is not None and low is None,
            figure=Spread.of(self.want.figure(rehearsal) for rehearsal in self.tried[at]),
            least=min(known, default=None),
            most=max(known) if len(known) == len(own) else None,
        )

    def _figures(self, run: int) -> list[tuple[float, float]]:
        """(epsilon, figure) of one rehearsal, by rising epsilon."""
        return [
            (epsilon, self.want.figure(rehearsal))
            for epsilon, rehearsals in sorted(self.tried.items())
            for rehearsal in rehearsals
            if rehearsal.run == run
        ]
