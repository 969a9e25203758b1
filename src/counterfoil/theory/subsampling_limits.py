"""Central limits for Gaussian noise on random batches: approximations, which may be below the true cost.

They are here to be compared with. What is promised rests on `counterfoil.accounting.PrivacyLossPlan`, which is never
below the truth.
"""

from __future__ import annotations

import math

from scipy.special import ndtr

from counterfoil.accounting.event import SubsampledGaussianEvent


def uniform_sampling_limit(noise_multiplier: float, sampling_probability: float, steps: int) -> float:
    """About the mu of a run whose batches have a fixed size and are drawn without replacement: NOT a bound.

    q sqrt(2 T (e**(mu**2) Phi(3 mu / 2) + 3 Phi(-mu / 2) - 2)) with mu = 1 / noise_multiplier (Bu, Dong, Long and Su
    2020, Theorem 5, from Dong, Roth and Su 2022). The square is T times the second moment of e**loss - 1 under the
    second law of the covering pair in `counterfoil.accounting.subsampling`, with losses so small that log G is G - 1:
    twice the integral of q**2 (e**y - 1)**2 phi over x > mu/2. Their sum is as good as normal for many steps with
    small q; before that, its upper tail is heavier, and the limit is below the truth.

    Args:
        noise_multiplier: standard deviation of one step's noise, in units of the sensitivity to replacement.
        sampling_probability: q, in (0, 1].
        steps: T.

    Raises:
        ValueError: for a parameter out of its range.
    """
    event = SubsampledGaussianEvent(noise_multiplier, sampling_probability, steps)
    mu = 1 / event.noise_multiplier
    return _root(event, 2 * (_growth(mu) * ndtr(1.5 * mu) + 3 * ndtr(-mu / 2) - 2))


def poisson_sampling_limit(noise_multiplier: float, sampling_probability: float, steps: int) -> float:
    """About the mu of a run in whose batches each record is by itself, under adding or removing one: NOT a bound.

    q sqrt(T (e**(mu**2) - 1)) (Bu, Dong, Long and Su 2020): the square is T times the second moment of e**loss - 1 for
    (1 - q) N(0, 1) + q N(mu, 1) against N(0, 1). It is often quoted for batches of a fixed size too, and is then below
    what a replaced record attains: by 2% of epsilon at 500 steps with q = 0.2, epsilon 8 and delta 1e-6.

    Args:
        noise_multiplier: standard deviation of one step's noise, in units of the sensitivity.
        sampling_probability: q, in (0, 1].
        steps: T.

    Raises:
        ValueError: for a parameter out of its range.
    """
    event = SubsampledGaussianEvent(noise_multiplier, sampling_probability, steps)
    mu = 1 / event.noise_multiplier
    return _root(event, math.expm1(mu * mu) if mu < 26 else math.inf)


def _growth(mu: float) -> float:
    return math.exp(mu * mu) if mu < 26 else math.inf


def _root(event: SubsampledGaussianEvent, square: float) -> float:
    return event.sampling_probability * math.sqrt(event.steps * max(float(square), 0.0))
