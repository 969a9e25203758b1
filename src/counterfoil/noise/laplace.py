"""Discrete Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfoil.accounting.event import PureEvent
from counterfoil.noise.noise import CountNoise, Norm, bounded_sum
from counterfoil.noise.randomness import Randomness

# Dividing a sensitivity by an epsilon, and adding epsilons up to a budget, round in the sixteenth digit.
_SCALE_ROUNDING = 1 + 1e-12


@dataclass(frozen=True)
class LaplaceNoise(CountNoise):
    """Discrete Laplace noise on integer answers; pure differential privacy.

    Args:
        epsilon: the scale is the l1 sensitivity over epsilon.
    """

    kind: ClassVar[str] = "discrete_laplace"
    norm: ClassVar[Norm] = Norm.L1

    epsilon: float

    def event(self) -> PureEvent:
        return PureEvent(self.epsilon)

    def scale(self, sensitivity: float) -> float:
        """The scale parameter of the noise, in units of the answer."""
        return sensitivity * _SCALE_ROUNDING / self.epsilon

    def deviation(self, sensitivity: float) -> float:
        """sqrt(2) times the scale b: the variance is 1 / (cosh(1 / b) - 1), at most 2 b**2."""
        return math.sqrt(2) * self.scale(sensitivity)

    def add(self, exact: np.ndarray, sensitivity: float, randomness: Randomness) -> np.ndarray:
        """The int64 array `exact` plus noise, same shape."""
        noise = randomness.discrete_laplace(self.scale(sensitivity), exact.size)
        return bounded_sum(exact, noise.reshape(exact.shape))

    def event_under(self, sensitivity: float, other_sensitivity: float) -> PureEvent:
        """The event of the same answer, had the sensitivity been the other one."""
        return PureEvent(self.epsilon * other_sensitivity / sensitivity)
