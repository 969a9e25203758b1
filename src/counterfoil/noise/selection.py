"""The exponential mechanism: a private choice among public candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfoil.accounting.event import BoundedRangeEvent
from counterfoil.noise.noise import SelectionNoise
from counterfoil.noise.randomness import Randomness

# Scores are computed in floating point: w (e - p) with an integer error e and a penalty p, both from 0 to 2e9, and a
# weight w at most W, which is at least 1e-100 (`queries.selection` sees to all of it). With u = 2**-53 the difference
# is (e - p)(1 + a) and the product is w (e - p)(1 + a)(1 + b) + c, where abs(a), abs(b) <= u, and c is below 2**-1074
# and not 0 only where the product is subnormal. As abs(e - p) <= 2e9, a score is off by at most
# W 2e9 (2 u + u**2) + 2**-1074, that of a neighbor too: together by less than 8.9e-7 W, and W is at most the
# sensitivity. Weights far below W only make their own scores' errors smaller. A millionth covers this and the few
# roundings, by u each, of the scale itself. Nothing overflows: W is at most 1e100.
_SCORE_ROUNDING = 1 + 1e-6


@dataclass(frozen=True)
class ExponentialSelection(SelectionNoise):
    """The exponential mechanism: index i with odds exp(epsilon score[i] / (2 sensitivity)).

    Run as noisy max with Gumbel noise of scale 2 sensitivity / epsilon, which has the same law. Scores may rise and
    fall with one record, so that the factor 2 stays; the range of the privacy loss is epsilon (Dong, Durfee and
    Rogers 2020), which is what `BoundedRangeEvent` charges for.

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
