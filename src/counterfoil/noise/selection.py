"""The exponential mechanism: a private choice among public candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfoil.accounting.event import BoundedRangeEvent
from counterfoil.noise.noise import SelectionNoise
from counterfoil.noise.randomness import Randomness

# Scores are computed in floating point from exact integers: the difference to a penalty and its product
# with a weight round by one part in 2**53 each, for each of two neighbors. A millionth covers errors up to 2e9.
_SCORE_ROUNDING = 1 + 1e-6


@dataclass(frozen=True)
class ExponentialSelection(SelectionNoise):
    """The exponential mechanism: index i with odds exp(epsilon score[i] / (2 sensitivity)).

    Run as noisy max with Gumbel noise of scale 2 sensitivity / epsilon, which has the same law. Scores may rise and
    fall with one record, so that the factor 2 stays; the range of the privacy loss is epsilon (Dong, Durfee and
    Rogers 2020), which is what `BoundedRangeEvent` bills.

    Args:
        epsilon: the range of the privacy loss.
    """

    kind: ClassVar[str] = "exponential_mechanism"
    epsilon: float

    def event(self) -> BoundedRangeEvent:
        return BoundedRangeEvent(self.epsilon)

    def scale(self, sensitivity: float) -> float:
        """The scale parameter of the Gumbel noise, in units of the score."""
        return 2 * sensitivity * _SCORE_ROUNDING / self.epsilon

    def choose(self, scores: np.ndarray, sensitivity: float, randomness: Randomness) -> int:
        """The index chosen among float64[m] `scores`."""
        return randomness.noisy_max(scores, self.scale(sensitivity))

    def event_under(self, sensitivity: float, other_sensitivity: float) -> BoundedRangeEvent:
        """The event of the same choice, had the sensitivity been the other one."""
        return BoundedRangeEvent(self.epsilon * other_sensitivity / sensitivity)
