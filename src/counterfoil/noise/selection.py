"""The exponential mechanism: a private choice among public candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfoil.accounting.event import BoundedRangeEvent
from counterfoil.noise.noise import SelectionNoise
from counterfoil.noise.randomness import Randomness

# Scores are computed in floating point: w (e - p) with an integer error e and a penalty p, both from 0 to 2e9, and a
# weight w at most W, which is at least 1e-100 (`scores` sees to all of it). With u = 2**-53 the difference
# is (e - p)(1 + a) and the product is w (e - p)(1 + a)(1 + b) + c, where abs(a), abs(b) <= u, and c is below 2**-1074
# and not 0 only where the product is subnormal. As abs(e - p) <= 2e9, a score is off by at most
# W 2e9 (2 u + u**2) + 2**-1074, that of a neighbor too: together by less than 8.9e-7 W, and W is at most the
# sensitivity. Weights far below W only make their own scores' errors smaller.
# Where candidates have gains, a score is w (g - c) where that is more, with g = d (1 - q / sqrt(d^2 + q^2)) for
# d = max(min(e, 4e8) - f, 0), and f, q and c from 0 to 4e8. Both differences are off by at most u 4e8, a gain by no
# more than what it is of. The root is right to 2 u of itself, the ratio, at most 1, to 4 u, what is left of 1 to 5 u,
# and the gain, after its product, to 6 u d; the product with w adds u W 4e8. That is 9 u 4e8 W, for two neighbors less
# than 8e-7 W, and the larger of two numbers is off by no more than one of them.
# A millionth covers this and the few roundings, by u each, of the scale itself. Nothing overflows: W is at most 1e100.
_SCORE_ROUNDING = 1 + 1e-6

# Among very many candidates a block of them is chosen first, with odds that are the sum of its candidates' odds, and
# then one within it: the product is the odds of the candidate, and two noisy maxima of a few hundred take the place of
# one of a million. A block's score is T log(sum exp(s / T)) for the scale T, less the largest score of all, in floating
# point. Both that difference and the block's score are at most 4e9 W, so that each is off by less than 4.5e-7 W; the
# 1024 terms of the sum, exponents down to -745 and the logarithm add less than (1024 + 2 * 745 + 10) u T < 3e-13 T. As
# T >= 2 W / epsilon, an error of at most e = 9e-7 W + 3e-13 T in each block's score moves the log odds of a candidate
# by at most 2 e / T, and those of a neighboring table by as much: together by less than 1.8e-6 epsilon + 1.2e-12, which
# is below 2.4e-6 epsilon for epsilon of at least 2e-6. Three millionths more noise cover it. What underflows is less
# than exp(-745) of its block's sum, in which the largest term is 1.
_STEPS_ROUNDING = 1 + 3e-6
_SMALLEST_EPSILON_IN_STEPS = 2e-6
_IN_STEPS_FROM = 50_000
_BLOCK = 1024


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
        """The index chosen among float64[m] `scores`; among very many in two steps, with the same odds."""
        scale = self.scale(sensitivity)
        if len(scores) < _IN_STEPS_FROM or self.epsilon < _SMALLEST_EPSILON_IN_STEPS:
            return randomness.noisy_max(scores, scale)
        scale *= _STEPS_ROUNDING
        starts = np.arange(0, len(scores), _BLOCK)
        block = int(starts[randomness.noisy_max(_log_sums(scores, starts, scale), scale)])
        return block + randomness.noisy_max(scores[block : block + _BLOCK], scale)

    def event_under(self, sensitivity: float, other_sensitivity: float) -> BoundedRangeEvent:
        """The event of the same choice, had the sensitivity been the other one."""
        return BoundedRangeEvent(self.epsilon * other_sensitivity / sensitivity)


def _log_sums(scores: np.ndarray, starts: np.ndarray, scale: float) -> np.ndarray:
    """float64 [blocks]: scale log(sum exp(score / scale)) over the scores from each start, less the largest score."""
    lower = scores - scores.max()
    peaks = np.maximum.reduceat(lower, starts)
    lengths = np.diff([*starts, len(scores)])
    sums = np.add.reduceat(np.exp((lower - np.repeat(peaks, lengths)) / scale), starts)
    return peaks + scale * np.log(sums)
