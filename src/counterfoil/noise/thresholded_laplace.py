"""Laplace noise for sparse counts: empty cells stay empty and cost nothing, small noisy counts are not released.

Formal guarantee, for integer answers of which one privacy unit changes at most s in l1 norm. Cells that are not
positive are answered 0; a positive count c is answered c + Z if that is at least the threshold H, else 0, with Z
discrete Laplace of scale b = s / epsilon. Let P and Q be the answers of neighbors; cells are independent, so costs
add up over them. A cell that

- is positive in both, with counts that differ by a, gets noise and is then post-processed, which costs (a / b, 0);
- has count c under P and none under Q, is released with probability q(c) = P(c + Z >= H) and looks empty otherwise,
  which costs (0, q(c));
- has none under P and count c under Q, looks empty under P, and under Q with probability 1 - q(c), which costs
  (-log(1 - q(c)), 0).

The a and c add up to at most s. With r = exp(-1 / b), q(c) = r**(H - c) / (1 + r) below the threshold, and q(c) / c
is convex on c > 0, so the second kind adds up to at most delta = max(s q(1), q(s)): sum q(c_i) <= s max q(c) / c. The
third kind adds up to at most the sum of c / b where -log(1 - q(c)) <= c / b, which q(c) <= delta c / s and
2 delta <= min(1, epsilon) imply: -log(1 - q) <= 2 q <= 2 delta c / s <= epsilon c / s = c / b. Altogether
(epsilon, delta), in either direction. Under `replace_one` a unit brings at most s / 2 to new cells, as the other half
of s is what it takes away. The bound s is twice too large there, and delta about twice what it need be, which gives
exactly the threshold that the paper prints.

Source: Gonzalez, Fanti and Ramdas, section 4.2; the idea is older (Vadhan 2017, Theorem 3.5). Rounds compose as
`accounting.event.ApproximateEvent` says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from counterfoil.accounting.event import ApproximateEvent
from counterfoil.noise.noise import CountNoise, Norm, positive_sums
from counterfoil.noise.randomness import Randomness

# Division of a sensitivity by an epsilon, and the powers that give the threshold, round in the last digits.
_ROUNDING = 1 + 1e-9
# Above it thresholds of int64 counts come close to the end of the range, and to where floats skip whole numbers.
_LARGEST_SCALE = 1e12


@dataclass(frozen=True)
class ThresholdedLaplaceNoise(CountNoise):
    """Discrete Laplace noise on the positive ones of integer answers; answers below a threshold become 0.

    Args:
        epsilon: the scale is the l1 sensitivity over epsilon.
        delta: bounds the probability that cells which only one of two neighbors has are released; sets the threshold.

    Raises:
        ValueError: unless both are positive, and `delta` at most half of the smaller of 1 and `epsilon`.
    """

    kind: ClassVar[str] = "positive_discrete_laplace"
    norm: ClassVar[Norm] = Norm.L1

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if 2 * self.delta > min(1.0, self.epsilon):
            raise ValueError(
                f"`delta` must be at most half of `epsilon` and of 1. Found {self.delta!r} and {self.epsilon!r}."
            )

    def event(self) -> ApproximateEvent:
        return ApproximateEvent(self.epsilon, self.delta)

    def scale(self, sensitivity: float) -> float:
        """The scale parameter b of the noise, in units of the answer."""
        return sensitivity * _ROUNDING / self.epsilon

    def threshold(self, sensitivity: float) -> int:
        """H: the smallest noisy count that is released, at least 1."""
        scale = self.scale(sensitivity)
        if scale > _LARGEST_SCALE:
            raise ValueError(f"The scale of this noise must be at most {_LARGEST_SCALE:g}. Found {scale:g}: ask less.")
        threshold = max(1, math.floor(_log_odds(sensitivity, scale, self.delta)))
        while _survival(sensitivity, scale, threshold) > self.delta:
            threshold += 1
        return threshold

    def deviation(self, sensitivity: float) -> float:
        """The bound for the Laplace noise on a count, before the threshold."""
        return math.sqrt(2) * self.scale(sensitivity)

    def add(self, exact: np.ndarray, sensitivity: float, randomness: Randomness) -> np.ndarray:
        """int64, shaped like `exact`: noisy counts of at least the threshold, and zeros."""
        draw = partial(randomness.discrete_laplace, self.scale(sensitivity))
        return positive_sums(exact, draw, self.threshold(sensitivity))

    def event_under(self, sensitivity: float, other_sensitivity: float) -> ApproximateEvent:
        """The event of the same answer, had the sensitivity been the other one.

        Its epsilon is raised to twice its delta where it would be smaller, because the proof needs that.
        """
        scale, threshold = self.scale(sensitivity), self.threshold(sensitivity)
        delta = _survival(other_sensitivity, scale, threshold)
        if delta > 0.5:
            delta = 1 - 1e-12
        return ApproximateEvent(max(self.epsilon * other_sensitivity / sensitivity, 2 * delta), delta)

    def event_within(self, factor: float) -> ApproximateEvent:
        """The event of any answer with this noise, had the sensitivity been at most `factor` >= 1 times larger.

        With s the sensitivity, a whole number, the threshold makes s q(1) and q(s) at most delta. Then factor s q(1) is
        at most factor delta, and as r**-s = exp(epsilon), q(factor s) is at most exp((factor - 1) epsilon) delta where
        factor s stays below the threshold. Where it does not, that bound is at least 1 / (1 + r), which is above 1/2,
        and all bounds above 1/2 are taken as 1.
        """
        growth = max(factor, math.exp(min((factor - 1) * self.epsilon, 700.0)))
        delta = min(growth * self.delta * _ROUNDING, 1.0)
        if delta > 0.5:
            delta = 1 - 1e-12
        return ApproximateEvent(max(self.epsilon * factor, 2 * delta), delta)


def _survival(sensitivity: float, scale: float, threshold: int) -> float:
    """max(s q(1), q(s)), rounded up: bounds the probability that cells which only one neighbor has are released."""
    of_one, of_all = (_released(count, scale, threshold) for count in (1, math.floor(sensitivity)))
    return max(sensitivity * of_one, of_all) * _ROUNDING


def _released(count: int, scale: float, threshold: int) -> float:
    """q(count) = P(count + Z >= threshold); 1 where the count itself reaches the threshold, which is an upper bound."""
    # One exponential: a power of exp(-1 / scale) would multiply its rounding by the exponent.
    return math.exp((count - threshold) / scale) / (1 + math.exp(-1 / scale)) if threshold > count else 1.0


def _log_odds(sensitivity: float, scale: float, delta: float) -> float:
    """The solution H of s q(1) = delta: the threshold is at least that, up to rounding."""
    return 1 + scale * (math.log(sensitivity / delta) - math.log1p(math.exp(-1 / scale))) - 1e-6
