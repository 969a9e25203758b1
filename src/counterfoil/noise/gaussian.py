"""Discrete Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfoil.accounting.event import GaussianEvent
from counterfoil.noise.noise import CountNoise, Norm, bounded_sum
from counterfoil.noise.randomness import Randomness

SMOOTHING_VARIANCE = 2.25
"""The variance of discrete Gaussian noise in excess of that of the continuous noise whose event it is charged as.

Formal guarantee: let the exact answer be the integer c and sigma**2 = s**2 + t**2 with t**2 = 2.25. Add continuous
N(0, s**2) noise to c, giving x, then draw the integer y with odds exp(-(y - x)**2 / (2 t**2)). The first step has
exactly the trade-off curve of `GaussianEvent`, the second is post-processing. By Poisson summation, the sum over
integers y of the N(x, t**2) density at y lies in [1 - h, 1 + h] with h = 2.1 exp(-2 pi**2 t**2) < 1.1e-19, for every
x, so that y has probability density(N(c, sigma**2))(y) times a factor in [1/(1 + h), 1/(1 - h)]; and the discrete
Gaussian around c has density(N(c, sigma**2))(y) divided by a sum in the same interval. So the discrete Gaussian is
within a factor exp(a), a = 2.2 h, of a post-processing of the continuous one in each cell, and k cells, queried
adaptively or not, within exp(a k). From P <= e^(a k) P' and Q' <= e^(a k) Q follows that an (epsilon, delta)
guarantee of the post-processed noise is an (epsilon + 2 a k, e^(a k) delta) guarantee of the discrete one:
2 a k < 5e-19 k. `budget.EPSILON_SLACK` and `DELTA_SLACK` hold 1e-9 and a millionth of delta back, enough for
2e9 cells. The zCDP of the discrete Gaussian needs no such allowance (Canonne, Kamath and Steinke 2020, Theorem 14).
"""


@dataclass(frozen=True)
class GaussianNoise(CountNoise):
    """Discrete Gaussian noise on integer answers.

    Args:
        noise_multiplier: the standard deviation of the continuous noise that is charged for, over the l2 sensitivity.
    """

    kind: ClassVar[str] = "discrete_gaussian"
    norm: ClassVar[Norm] = Norm.L2

    noise_multiplier: float

    def event(self) -> GaussianEvent:
        return GaussianEvent(self.noise_multiplier)

    def scale(self, sensitivity: float) -> float:
        """The standard deviation parameter of the noise, in units of the answer."""
        return math.sqrt((self.noise_multiplier * sensitivity) ** 2 + SMOOTHING_VARIANCE)

    def deviation(self, sensitivity: float) -> float:
        """The scale, which bounds the deviation (Canonne, Kamath and Steinke 2020, Corollary 9)."""
        return self.scale(sensitivity)

    def add(self, exact: np.ndarray, sensitivity: float, randomness: Randomness) -> np.ndarray:
        """The int64 array `exact` plus noise, same shape."""
        noise = randomness.discrete_gaussian(self.scale(sensitivity), exact.size)
        return bounded_sum(exact, noise.reshape(exact.shape))

    def event_under(self, sensitivity: float, other_sensitivity: float) -> GaussianEvent:
        """The event of the same answer, had the sensitivity been the other one."""
        return GaussianEvent(self.noise_multiplier * sensitivity / other_sensitivity)
