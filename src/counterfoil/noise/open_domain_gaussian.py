"""Gaussian noise whose place in a plan is fixed before it is known which cells it will be asked about.

Formal guarantee, for integer answers of which one privacy unit changes at most s in l2 norm, in either of two uses.

- On cells that are listed beforehand, the noise is that of `noise.gaussian` on each, which costs a Gaussian event of
  `noise_multiplier` times s. An approximate event with the same multiplier costs more: one that reveals everything with
  probability delta can be post-processed to the answer.
- On cells that nobody listed, the answer is that of `noise.thresholded_gaussian`, with one fact more: whoever brings a
  new cell brings at least `PARTS` to it, as queries whose answers are parts of records promise. In the second part of
  the proof there the counts c_i are at least `PARTS`, so that the maximum of f(c) / c**2 is taken over the whole
  numbers from `PARTS` to s. One row that brings s / sqrt(k) to each of k new cells has any of them released with
  probability 1 - (1 - q(s / sqrt(k)))**k: for the worst k the bound is attained, up to the rounding of parts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from counterfoil.accounting.event import ApproximateGaussianEvent
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.noise import CountNoise, Norm, positive_sums
from counterfoil.noise.randomness import Randomness
from counterfoil.noise.thresholded_gaussian import CERTAIN, least_threshold, released_alone

PARTS = 100
"""Of which one record is made where cells are not listed; it brings at least as many to each of its cells."""


@dataclass(frozen=True)
class OpenDomainGaussianNoise(CountNoise):
    """Discrete Gaussian noise on listed cells, or on the positive ones of others, of which few are released.

    Args:
        noise_multiplier: the standard deviation of the continuous noise that is charged for, over the l2 sensitivity.
        delta: bounds the probability that a cell which only one of two neighbors has is released; sets the threshold.

    Raises:
        ValueError: unless both are positive, and `delta` below 1.
    """

    kind: ClassVar[str] = "open_domain_gaussian"
    norm: ClassVar[Norm] = Norm.L2

    noise_multiplier: float
    delta: float

    def event(self) -> ApproximateGaussianEvent:
        return ApproximateGaussianEvent(self.noise_multiplier, self.delta)

    def scale(self, sensitivity: float) -> float:
        """The standard deviation parameter of the noise, in units of the answer."""
        return GaussianNoise(self.noise_multiplier).scale(sensitivity)

    def deviation(self, sensitivity: float) -> float:
        """The scale, which bounds the deviation of the noise, before any threshold."""
        return self.scale(sensitivity)

    def threshold(self, sensitivity: float) -> int:
        """H: the smallest noisy sum of a cell that nobody listed which is released, in parts.

        Raises:
            ValueError: for a sensitivity below `PARTS`, whose answers are none of parts, or one beyond what is proved.
        """
        if sensitivity < PARTS:
            raise ValueError(
                f"Sums of parts change by at least {PARTS} for a record. Found {sensitivity:g}: ask for counts of "
                "listed cells, or for texts in parts."
            )
        return least_threshold(sensitivity, self.scale(sensitivity), self.delta, PARTS)

    def add(self, exact: np.ndarray, sensitivity: float, randomness: Randomness) -> np.ndarray:
        """int64, shaped like `exact`, whose cells were listed: all of them with noise."""
        return GaussianNoise(self.noise_multiplier).add(exact, sensitivity, randomness)

    def add_to_unlisted(self, exact: np.ndarray, sensitivity: float, randomness: Randomness) -> np.ndarray:
        """int64, shaped like `exact`, as of `positive_sums`."""
        draw = partial(randomness.discrete_gaussian, self.scale(sensitivity))
        return positive_sums(exact, draw, self.threshold(sensitivity))

    def event_under(self, sensitivity: float, other_sensitivity: float) -> ApproximateGaussianEvent:
        """The event of the same answer, had the sensitivity been the other one.

        Below `PARTS` cells were listed, and no threshold depends on the sensitivity; above, some may not have been.
        """
        delta = self.delta
        if sensitivity >= PARTS:
            scale, threshold = self.scale(sensitivity), self.threshold(sensitivity)
            delta = min(max(released_alone(other_sensitivity, scale, threshold, PARTS), 1e-300), CERTAIN)
        return ApproximateGaussianEvent(self.noise_multiplier * sensitivity / other_sensitivity, delta)

    def event_within(self, factor: float) -> ApproximateGaussianEvent:
        """The event of any answer with this noise, had the sensitivity been at most `factor` >= 1 times larger.

        As for `ThresholdedGaussianNoise`: of thresholds for other sensitivities nothing is known here.
        """
        if factor == 1:
            return self.event()
        return ApproximateGaussianEvent(self.noise_multiplier / factor, CERTAIN)


def parts_of_a_cell(cells: int, of: int) -> int:
    """The whole number of parts that a record brings to each of its cells, at least `PARTS`.

    Formal guarantee: with k = `cells` of them, k times its square is at most PARTS**2 times m = `of`, for
    floor(PARTS sqrt(m / k))**2 <= PARTS**2 m / k; and it is at least PARTS, as k <= m.

    Args:
        cells: how many cells the record has, from 1 to `of`.
        of: how many it can have.
    """
    return math.isqrt(PARTS * PARTS * of // cells)
