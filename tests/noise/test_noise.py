"""Noise and its price: the exact divergence of what is added never exceeds what is charged."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from counterfoil.accounting.event import BoundedRangeEvent, GaussianEvent, PureEvent
from counterfoil.noise.gaussian import SMOOTHING_VARIANCE, GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.noise.selection import ExponentialSelection

multipliers = st.floats(0.1, 1e4)
sensitivities = st.sampled_from([1.0, math.sqrt(2), 2.0, math.sqrt(91), 7.5])


def discrete_gaussian(scale: float) -> np.ndarray:
    radius = math.ceil(14 * scale) + 14
    x = np.arange(-radius, radius + 1)
    weights = np.exp(-(x**2) / (2 * scale**2))
    return weights / weights.sum()


def exact_delta(scale: float, shift: int, cells: int, epsilon: float) -> float:
    """The hockey-stick divergence at `epsilon` when each of `cells` counts moves by `shift`.

    The privacy loss depends on the sum of the cells' noise alone, so that one convolution a cell gives its exact law.
    """
    law = discrete_gaussian(scale)
    total = law
    for _ in range(cells - 1):
        total = np.convolve(total, law)
    x = np.arange(len(total)) - len(total) // 2
    loss = (2 * x * shift + cells * shift**2) / (2 * scale**2)
    return float((total * -np.expm1(np.minimum(epsilon - loss, 0.0))).sum())


def charged_delta(epsilon: float, mu: float) -> float:
    return float(norm.cdf(-epsilon / mu + mu / 2) - math.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2))


def worst_ratio(scale: float, shift: int, cells: int, mu: float) -> float:
    """Exact over charged delta, at its largest over epsilons where the charge is between 1e-9 and 1."""
    losses = [epsilon for epsilon in np.linspace(0, mu**2 / 2 + 6 * mu, 300) if charged_delta(epsilon, mu) > 1e-9]
    return max(exact_delta(scale, shift, cells, epsilon) / charged_delta(epsilon, mu) for epsilon in losses)


@pytest.mark.parametrize("multiplier", [0.2, 0.5, 1.0, 3.0, 20.0])
@pytest.mark.parametrize(("shift", "cells"), [(1, 1), (1, 2), (2, 1), (1, 5), (2, 3)])
def test_discrete_gaussian_noise_is_within_the_curve_it_is_charged_as(multiplier, shift, cells):
    sensitivity = shift * math.sqrt(cells)
    noise = GaussianNoise(multiplier)
    assert worst_ratio(noise.scale(sensitivity), shift, cells, noise.event().mu) <= 1 + 1e-6


def test_without_smoothing_the_charge_would_be_too_small():
    """Why SMOOTHING_VARIANCE is there: discrete Gaussian noise of the continuous scale is not mu-Gaussian private."""
    assert worst_ratio(0.5, 1, 1, 2.0) > 1.1
    assert worst_ratio(1.0, 1, 1, 1.0) > 1.1


def test_the_sum_of_densities_is_as_flat_as_the_proof_says():
    with mpmath.workdps(60):
        variance = mpmath.mpf(SMOOTHING_VARIANCE)
        for shift in (0, 0.125, 0.25, 0.5):
            total = mpmath.fsum(mpmath.npdf(y, shift, mpmath.sqrt(variance)) for y in range(-40, 41))
            assert abs(total - 1) < mpmath.mpf("1.1e-19")


@given(multipliers, sensitivities)
def test_gaussian_noise_keeps_what_it_charges(multiplier, sensitivity):
    noise = GaussianNoise(multiplier)
    assert noise.event() == GaussianEvent(multiplier)
    smoothed = noise.scale(sensitivity) ** 2 - (multiplier * sensitivity) ** 2
    assert smoothed == pytest.approx(SMOOTHING_VARIANCE, rel=1e-6, abs=1e-14 * (multiplier * sensitivity) ** 2)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("sensitivity", [1, 2, 7])
def test_discrete_laplace_noise_has_the_loss_it_charges(epsilon, sensitivity):
    """P(x) over P(x - sensitivity) is exp(sensitivity / scale) at its largest: at most exp(epsilon), and nearly it."""
    noise = LaplaceNoise(epsilon)
    assert noise.event() == PureEvent(epsilon)
    with mpmath.workdps(30):
        loss = mpmath.mpf(sensitivity) / mpmath.mpf(noise.scale(sensitivity))
        assert loss < mpmath.mpf(epsilon)
        assert loss > mpmath.mpf(epsilon) * (1 - mpmath.mpf("2e-12"))


def test_ten_tenths_of_an_epsilon_add_up_to_less_than_one():
    """Binary tenths exceed a tenth; the scale's allowance covers it, so that the exact total is below 1."""
    with mpmath.workdps(40):
        assert 10 * mpmath.mpf(0.1) > 1
        assert 10 / mpmath.mpf(LaplaceNoise(0.1).scale(1.0)) < 1


@given(st.floats(1e-3, 10.0), st.sampled_from([1.0, 2.0, 6.5]))
def test_selection_noise_is_twice_the_sensitivity_over_epsilon(epsilon, sensitivity):
    noise = ExponentialSelection(epsilon)
    assert noise.event() == BoundedRangeEvent(epsilon)
    assert 2 * sensitivity / epsilon < noise.scale(sensitivity) < 2.00001 * sensitivity / epsilon


@given(multipliers, st.floats(1e-3, 10.0), st.sampled_from([(1.0, 2.0), (2.0, 1.0), (math.sqrt(3), math.sqrt(6))]))
def test_the_same_answer_under_the_other_relation(multiplier, epsilon, pair):
    """What is in the release, the noise's scale, stays; only what it hides changes."""
    one, other = pair
    gaussian, laplace, selection = GaussianNoise(multiplier), LaplaceNoise(epsilon), ExponentialSelection(epsilon)
    equivalent = gaussian.event_under(one, other)
    assert GaussianNoise(equivalent.noise_multiplier).scale(other) == pytest.approx(gaussian.scale(one))
    assert LaplaceNoise(laplace.event_under(one, other).epsilon).scale(other) == pytest.approx(laplace.scale(one))
    again = ExponentialSelection(selection.event_under(one, other).epsilon)
    assert again.scale(other) == pytest.approx(selection.scale(one))


def test_noise_is_added_in_the_shape_of_the_answer():
    exact = np.arange(12, dtype=np.int64).reshape(3, 4) * 1_000_000
    for noise in (GaussianNoise(3.0), LaplaceNoise(0.5)):
        before = exact.copy()
        answer = noise.add(exact, 1.0, SeededRandomness(1))
        assert answer.shape == exact.shape
        assert answer.dtype == np.int64
        assert np.array_equal(exact, before), "the exact answer is not changed in place"
        assert 0 < np.abs(answer - exact).max() < 1000


@pytest.mark.parametrize("kind", [GaussianNoise, LaplaceNoise, ExponentialSelection])
@pytest.mark.parametrize("parameter", [0, -1.0, math.nan, math.inf])
def test_a_noise_needs_a_positive_parameter(kind, parameter):
    with pytest.raises(ValueError, match="must be positive and finite"):
        kind(parameter)
