"""Noises: one parameter from which both the scale and the privacy event follow, so that they can't disagree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from counterfoil.curator.privacy_event import BoundedRangeEvent, GaussianEvent, PrivacyEvent, PureEvent
from counterfoil.curator.randomness import Randomness

SMOOTHING_VARIANCE = 2.25
"""What discrete Gaussian noise has in variance above the continuous noise whose event it is charged as.

Formal guarantee: let the exact answer be the integer c and sigma**2 = s**2 + t**2 with t**2 = 2.25. Add continuous
N(0, s**2) noise to c, giving x, then draw the integer y with odds exp(-(y - x)**2 / (2 t**2)). The first step has
exactly the trade-off curve of `GaussianEvent`, the second is post-processing. By Poisson summation, the sum over
integers y of the N(x, t**2) density at y lies in [1 - h, 1 + h] with h = 2.1 exp(-2 pi**2 t**2) < 1.1e-19, for every
x, so that y has probability density(N(c, sigma**2))(y) times a factor in [1/(1 + h), 1/(1 - h)]; and the discrete
Gaussian around c has density(N(c, sigma**2))(y) divided by a sum in the same interval. So the discrete Gaussian is
within a factor exp(a), a = 2.2 h, of a post-processing of the continuous one in each cell, and k cells, asked
adaptively or not, within exp(a k). From P <= e^(a k) P' and Q' <= e^(a k) Q follows that an (epsilon, delta)
guarantee of the post-processed noise is an (epsilon + 2 a k, e^(a k) delta) guarantee of the discrete one:
2 a k < 5e-19 k. `budget.EPSILON_SLACK` and `DELTA_SLACK` hold 1e-9 and a millionth of delta back, enough for
2e9 cells. The zCDP of the discrete Gaussian needs no such allowance (Canonne, Kamath and Steinke 2020, Theorem 14).
"""

# Scores are computed in floating point: w (e - p) with an integer error e and a penalty p, both from 0 to 2e9, and a
# weight w at most W, which is at least 1e-100 (`queries.selection` sees to all of it). With u = 2**-53 the difference
# is (e - p)(1 + a) and the product is w (e - p)(1 + a)(1 + b) + c, where abs(a), abs(b) <= u, and c is below 2**-1074
# and not 0 only where the product is subnormal. As abs(e - p) <= 2e9, a score is off by at most
# W 2e9 (2 u + u**2) + 2**-1074, that of a neighbor too: together by less than 8.9e-7 W, and W is at most the
# sensitivity. Weights far below W only make their own scores' errors smaller. A millionth covers this and the few
# roundings, by u each, of the scale itself. Nothing overflows: W is at most 1e100.
_SCORE_ROUNDING = 1 + 1e-6

# Dividing a sensitivity by an epsilon, and adding epsilons up to a budget, round in the sixteenth digit.
_SCALE_ROUNDING = 1 + 1e-12


class Noise(Protocol):
    """What is added to an answer, and what that costs whoever asks."""

    kind: ClassVar[str]

    def event(self) -> PrivacyEvent:
        """The privacy event of one answer with this noise, whatever the query's sensitivity."""
        ...

    def event_within(self, factor: float) -> PrivacyEvent:
        """The event of any answer with this noise, had the sensitivity been at most `factor` times larger."""
        ...

    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class GaussianNoise:
    """Discrete Gaussian noise on integer answers.

    Args:
        noise_multiplier: the standard deviation of the continuous noise that is charged for, over the l2 sensitivity.
    """

    kind: ClassVar[str] = "discrete_gaussian"
    noise_multiplier: float

    def __post_init__(self) -> None:
        self.event()  # refuses a parameter that is not positive

    def event(self) -> GaussianEvent:
        return GaussianEvent(self.noise_multiplier)

    def scale(self, l2_sensitivity: float) -> float:
        """The standard deviation parameter of the noise, in units of the answer."""
        return math.sqrt((self.noise_multiplier * l2_sensitivity) ** 2 + SMOOTHING_VARIANCE)

    def add(self, exact: np.ndarray, l2_sensitivity: float, randomness: Randomness) -> np.ndarray:
        """The int64 array `exact` plus noise, same shape."""
        noise = randomness.discrete_gaussian(self.scale(l2_sensitivity), exact.size)
        return exact + noise.reshape(exact.shape)

    def event_under(self, l2_sensitivity: float, other_l2_sensitivity: float) -> GaussianEvent:
        """The event of the same answer, had the sensitivity been the other one."""
        return GaussianEvent(self.noise_multiplier * l2_sensitivity / other_l2_sensitivity)

    def event_within(self, factor: float) -> GaussianEvent:
        return self.event_under(1.0, factor)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "noise_multiplier": self.noise_multiplier}


@dataclass(frozen=True)
class LaplaceNoise:
    """Discrete Laplace noise on integer answers; pure differential privacy.

    Args:
        epsilon: the scale is the l1 sensitivity over epsilon.
    """

    kind: ClassVar[str] = "discrete_laplace"
    epsilon: float

    def __post_init__(self) -> None:
        self.event()

    def event(self) -> PureEvent:
        return PureEvent(self.epsilon)

    def scale(self, l1_sensitivity: float) -> float:
        """The scale parameter of the noise, in units of the answer."""
        return l1_sensitivity * _SCALE_ROUNDING / self.epsilon

    def add(self, exact: np.ndarray, l1_sensitivity: float, randomness: Randomness) -> np.ndarray:
        """The int64 array `exact` plus noise, same shape."""
        noise = randomness.discrete_laplace(self.scale(l1_sensitivity), exact.size)
        return exact + noise.reshape(exact.shape)

    def event_under(self, l1_sensitivity: float, other_l1_sensitivity: float) -> PureEvent:
        """The event of the same answer, had the sensitivity been the other one."""
        return PureEvent(self.epsilon * other_l1_sensitivity / l1_sensitivity)

    def event_within(self, factor: float) -> PureEvent:
        return self.event_under(1.0, factor)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "epsilon": self.epsilon}


@dataclass(frozen=True)
class ExponentialSelection:
    """The exponential mechanism: index i with odds exp(epsilon score[i] / (2 sensitivity)).

    Run as noisy max with Gumbel noise of scale 2 sensitivity / epsilon, which has the same law. Scores may rise and
    fall with one record, so that the factor 2 stays; the range of the privacy loss is epsilon (Dong, Durfee and
    Rogers 2020), which is what `BoundedRangeEvent` bills.

    Args:
        epsilon: the range of the privacy loss.
    """

    kind: ClassVar[str] = "exponential_mechanism"
    epsilon: float

    def __post_init__(self) -> None:
        self.event()

    def event(self) -> BoundedRangeEvent:
        return BoundedRangeEvent(self.epsilon)

    def scale(self, score_sensitivity: float) -> float:
        """The scale parameter of the Gumbel noise, in units of the score."""
        return 2 * score_sensitivity * _SCORE_ROUNDING / self.epsilon

    def choose(self, scores: np.ndarray, score_sensitivity: float, randomness: Randomness) -> int:
        """The index chosen among float64[m] `scores`."""
        return randomness.noisy_max(scores, self.scale(score_sensitivity))

    def event_under(self, score_sensitivity: float, other_score_sensitivity: float) -> BoundedRangeEvent:
        """The event of the same choice, had the sensitivity been the other one."""
        return BoundedRangeEvent(self.epsilon * other_score_sensitivity / score_sensitivity)

    def event_within(self, factor: float) -> BoundedRangeEvent:
        return self.event_under(1.0, factor)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "epsilon": self.epsilon}
