"""Gaussian noise on the counts of values that nobody listed: rare values are not released, so that none shows alone.

Formal guarantee, for integer answers of which one privacy unit changes at most s in l2 norm. Only cells with a positive
count exist. Such a cell, of count c, is answered c + Z if that is at least the threshold H, else 0, which looks as if
it did not exist; Z is discrete Gaussian. Take neighbors D and D'. Noise is independent from cell to cell, so the answer
of D is two independent parts: of the cells that exist in both tables, and of those that exist in D alone.

- In the first part counts differ by at most s in l2 norm, and what is done after the noise is post-processing: the part
  costs a Gaussian event, of `noise_multiplier` times s.
- In the second part the counts c_i >= 1 are changes themselves, as D' has 0 there, so that the sum of c_i**2 is at
  most s**2. With q(c) = P(c + Z >= H), any of these cells is released with probability 1 - prod(1 - q(c_i)). Write
  f(c) = -log(1 - q(c)). Then sum f(c_i) <= s**2 max f(c) / c**2, the maximum taken over the whole numbers c from 1 to
  s, and the probability is at most delta = 1 - exp(-s**2 max f(c) / c**2).

Where none is released, which is drawn independently of the first part, the answer of D is that of its first part;
likewise for D'. So each answer is a mixture as `accounting.event.ApproximateGaussianEvent` says, in either direction:
reveal everything with probability delta in both, and make up what is released more rarely. One row that brings a new
value in each of m columns has s**2 = m, c_i = 1, and delta is exactly 1 - (1 - q(1))**m: the bound is attained. Under
`replace_one` s**2 is twice as large and the new values as many, as the other half of s**2 is what is taken away:
delta is about twice what it need be, which raises the threshold by less than 2% of its value.

q(c) is summed term by term, up to `_TERMS`, and what remains is bounded by an integral: where the density
exp(-x**2 / (2 sigma**2)) is convex, beyond sigma, each term is at most its integral over the unit around it. The sum
of all terms is at least sigma sqrt(2 pi), by Poisson summation.

The idea is that of stability-based histograms (Korolova, Kenthapadi, Mishra and Ntoulas 2009; Vadhan 2017, Theorem
3.5); Gaussian noise makes the cost of m columns grow as sqrt(m). Libraries that add the delta of one value for a record
with several under-report it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from counterfoil.accounting.event import ApproximateGaussianEvent
from counterfoil.noise.gaussian import SMOOTHING_VARIANCE
from counterfoil.noise.noise import CountNoise, Norm, positive_sums
from counterfoil.noise.randomness import Randomness

_ROUNDING = 1 + 1e-9
_TERMS = 4096
_LARGEST_SCALE = 1e12
_LARGEST_SENSITIVITY = 1e6
CERTAIN = 1 - 1e-12
"""Deltas above it are written as this."""


@dataclass(frozen=True)
class ThresholdedGaussianNoise(CountNoise):
    """Discrete Gaussian noise on the positive ones of integer answers; answers below a threshold become 0.

    Args:
        noise_multiplier: the standard deviation of the continuous noise that is charged for, over the l2 sensitivity.
        delta: bounds the probability that a value which only one of two neighbors has is released; sets the threshold.

    Raises:
        ValueError: unless both are positive, and `delta` below 1.
    """

    kind: ClassVar[str] = "positive_discrete_gaussian"
    norm: ClassVar[Norm] = Norm.L2

    noise_multiplier: float
    delta: float

    def event(self) -> ApproximateGaussianEvent:
        return ApproximateGaussianEvent(self.noise_multiplier, self.delta)

    def scale(self, sensitivity: float) -> float:
        """The standard deviation parameter of the noise, in units of the answer."""
        return math.sqrt((self.noise_multiplier * sensitivity) ** 2 + SMOOTHING_VARIANCE)

    def threshold(self, sensitivity: float) -> int:
        """H: the smallest noisy count that is released, at least 1.

        Raises:
            ValueError: for a sensitivity or a scale beyond what is proved.
        """
        return least_threshold(sensitivity, self.scale(sensitivity), self.delta)

    def deviation(self, sensitivity: float) -> float:
        """The scale, which bounds the deviation of the noise on a count, before the threshold."""
        return self.scale(sensitivity)

    def add(self, exact: np.ndarray, sensitivity: float, randomness: Randomness) -> np.ndarray:
        """int64, shaped like `exact`: noisy counts of at least the threshold, and zeros."""
        draw = partial(randomness.discrete_gaussian, self.scale(sensitivity))
        return positive_sums(exact, draw, self.threshold(sensitivity))

    def event_under(self, sensitivity: float, other_sensitivity: float) -> ApproximateGaussianEvent:
        """The event of the same answer, had the sensitivity been the other one."""
        delta = released_alone(other_sensitivity, self.scale(sensitivity), self.threshold(sensitivity))
        return ApproximateGaussianEvent(
            self.noise_multiplier * sensitivity / other_sensitivity, min(max(delta, 1e-300), CERTAIN)
        )

    def event_within(self, factor: float) -> ApproximateGaussianEvent:
        """The event of any answer with this noise, had the sensitivity s been at most `factor` >= 1 times larger.

        How far the threshold lies above a count depends on s. With factor s >= 2 a new cell may have counts beyond
        the threshold's margin, of which nothing is known here; so everything is taken as revealed.
        """
        if factor == 1:
            return self.event()
        return ApproximateGaussianEvent(self.noise_multiplier / factor, CERTAIN)


def least_threshold(sensitivity: float, scale: float, delta: float, least: int = 1) -> int:
    """H: the smallest threshold at which `released_alone` is at most `delta`, at least 1.

    Args:
        sensitivity, scale, least: as for `released_alone`.
        delta: positive.

    Raises:
        ValueError: for a sensitivity or a scale beyond what is proved.
    """
    if scale > _LARGEST_SCALE or sensitivity > _LARGEST_SENSITIVITY:
        raise ValueError(
            f"The scale of this noise must be at most {_LARGEST_SCALE:g}, and what a unit changes at most "
            f"{_LARGEST_SENSITIVITY:g}. Found {scale:g} and {sensitivity:g}: keep fewer rows of each unit."
        )
    below, enough = 0, 1
    while released_alone(sensitivity, scale, enough, least) > delta:
        below, enough = enough, 2 * enough
    while enough - below > 1:
        middle = (below + enough) // 2
        if released_alone(sensitivity, scale, middle, least) > delta:
            below = middle
        else:
            enough = middle
    return enough


def released_alone(sensitivity: float, scale: float, threshold: int, least: int = 1) -> float:
    """delta, rounded up: bounds the probability that a value which only one of two neighbors has is released.

    Args:
        sensitivity: s, at least 1.
        scale: of the noise, in records.
        threshold: the smallest noisy count that is released.
        least: what a unit brings at least to a value that it alone has.
    """
    most = max(math.floor(sensitivity * _ROUNDING), least)
    if threshold - most <= scale:
        return 1.0
    # The ends, one of which is the worst wherever it matters, are summed; between them the integral is bound enough.
    worst = max(-math.log1p(-min(_survival(threshold - c, scale), CERTAIN)) / c**2 for c in {least, most})
    between = np.arange(least + 1, most)
    if len(between):
        bounds = np.minimum(np.exp(_log_tail((threshold - between - 0.5) / scale)) * _ROUNDING, CERTAIN)
        worst = max(worst, float((-np.log1p(-bounds) / between**2.0).max()))
    return -math.expm1(-(max(sensitivity, float(least)) ** 2) * worst * _ROUNDING)


def _survival(least: int, scale: float) -> float:
    """P(Z >= least) for discrete Gaussian Z, rounded up; `least` is above the scale."""
    terms = np.arange(least, least + _TERMS, dtype=float)
    summed = math.fsum(np.exp(-0.5 * (terms / scale) ** 2).tolist()) / (scale * math.sqrt(2 * math.pi))
    return (summed + math.exp(_log_tail(np.array((least + _TERMS - 0.5) / scale)))) * _ROUNDING


def _log_tail(deviations: np.ndarray) -> np.ndarray:
    """log P(N(0, 1) >= deviations)."""
    from scipy.special import log_ndtr

    return np.asarray(log_ndtr(-deviations))
