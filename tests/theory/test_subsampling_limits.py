"""Central limits of sampled Gaussian noise: what they are the limits of, and that they can be below the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import norm

from counterfoil.accounting.curve import gaussian_epsilon
from counterfoil.theory.subsampling_limits import poisson_sampling_limit, uniform_sampling_limit


@given(st.floats(0.05, 4.0), st.floats(1e-3, 1.0), st.integers(1, 10_000))
def test_the_limits_are_second_moments(mu, q, steps):
    x = np.linspace(-12, 14 + 2 * mu, 40_001)
    square = (np.expm1(mu * x - mu * mu / 2)) ** 2 * norm.pdf(x) * (x[1] - x[0])
    poisson, uniform = square.sum(), 2 * square[x > mu / 2].sum()
    scale = q * math.sqrt(steps)
    assert poisson_sampling_limit(1 / mu, q, steps) == pytest.approx(scale * math.sqrt(poisson), rel=1e-6)
    assert uniform_sampling_limit(1 / mu, q, steps) == pytest.approx(scale * math.sqrt(uniform), rel=1e-2)


def attained_epsilon(multiplier: float, width: float) -> float:
    """Less than the epsilon of 500 steps of (1 - q) N(0) + q N(mu) against N(0), q = 0.2, at delta 1e-6.

    A replacement attains it whose batches have the law of batches without the record. Losses are rounded down to
    multiples of `width`.
    """
    mu, q, size = 1 / multiplier, 0.2, 2**19
    x = np.linspace(-12, 12 + mu, 300_001)
    masses = (1 - q) * np.diff(ndtr(x)) + q * np.diff(ndtr(x - mu))
    index = np.floor(np.log1p(q * np.expm1(mu * x[:-1] - mu * mu / 2)) / width).astype(np.int64)
    total = np.fft.irfft(np.fft.rfft(np.bincount(index % size, masses, size)) ** 500, size)
    at = np.arange(size)
    at[at > size // 2] -= size

    def delta_of(epsilon):
        return float((total * np.maximum(0, -np.expm1(np.minimum(epsilon - at * width, 0)))).sum())

    return brentq(lambda epsilon: delta_of(epsilon) - 1e-6, 0.1, 20.0)


@pytest.mark.parametrize(("limit", "width"), [(2.0, 1e-5), (8.0, 5e-5)])
def test_the_limit_of_poisson_sampling_is_below_what_a_replaced_record_attains(limit, width):
    multiplier = brentq(lambda m: gaussian_epsilon(uniform_sampling_limit(m, 0.2, 500), 1e-6) - limit, 1, 60)
    attained = attained_epsilon(multiplier, width)
    claimed = gaussian_epsilon(poisson_sampling_limit(multiplier, 0.2, 500), 1e-6)
    assert 0.9 * attained < claimed < attained < limit


def test_without_sampling_the_limit_of_poisson_sampling_exceeds_the_noise_and_large_ones_are_infinite():
    assert poisson_sampling_limit(100.0, 1.0, 100) == pytest.approx(0.1, rel=1e-4)
    assert uniform_sampling_limit(100.0, 1.0, 100) == pytest.approx(0.1, rel=1e-2)
    assert poisson_sampling_limit(1e-3, 0.1, 3) == uniform_sampling_limit(1e-3, 0.1, 3) == math.inf
    with pytest.raises(ValueError, match="`steps`"):
        uniform_sampling_limit(1.0, 0.1, 0)
    with pytest.raises(ValueError, match="`sampling_probability`"):
        poisson_sampling_limit(1.0, 0.0, 1)
