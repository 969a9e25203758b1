"""Quantiles of sums of normal and Laplace noise, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr

from counterfoil.inference import noise_law
from counterfoil.inference.noise_law import NoiseLaw

LEVELS = (0.5, 0.95, 0.999, 0.999999)


def law(normal: float, *laplace: tuple[float, float]) -> NoiseLaw:
    return NoiseLaw(normal, np.array([scale for scale, _ in laplace]), np.array([times for _, times in laplace]))


@pytest.mark.parametrize("level", LEVELS)
def test_a_normal_law(level):
    assert 2 * ndtr(law(9.0).quantile(level) / 3) - 1 == pytest.approx(level, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scale", [0.01, 1.0, 700.0])
def test_one_laplace_variable(level, scale):
    assert law(0.0, (scale, 1)).quantile(level) == pytest.approx(-scale * math.log(1 - level), rel=1e-4)


@pytest.mark.parametrize("level", LEVELS)
def test_two_laplace_variables(level):
    """P(abs(X + Y) > x) = exp(-x) (2 + x) / 2, however the two are given."""
    exact = brentq(lambda x: math.exp(-x) * (2 + x) / 2 - (1 - level), 0, 100)
    assert law(0.0, (1.0, 2)).quantile(level) == pytest.approx(exact, rel=1e-4)
    assert law(0.0, (1.0, 1), (1.0, 1)).quantile(level) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("deviation", [0.1, 1.0, 5.0])
def test_laplace_and_normal(level, deviation):
    """P(L + N > x) by completing the square, L of scale 1: both tails of L, each times a normal probability."""

    def beyond(x: float) -> float:
        s = deviation
        right = math.exp(s * s / 2 - x) * ndtr(x / s - s) / 2
        left = math.exp(s * s / 2 + x) * ndtr(-x / s - s) / 2
        return 2 * (right - left + ndtr(-x / s)) - (1 - level)

    assert law(deviation**2, (1.0, 1)).quantile(level) == pytest.approx(brentq(beyond, 0, 60), rel=1e-4)


def test_where_it_is_nearly_normal_the_expansion_is_what_the_integral_gives(monkeypatch):
    many = law(3.0, (1.0, 4000), (0.5, 1000))
    by_expansion = [many.quantile(level) for level in LEVELS[:3]]
    monkeypatch.setattr(noise_law, "_NEARLY_NORMAL", 0.0)
    np.testing.assert_allclose(by_expansion, [many.quantile(level) for level in LEVELS[:3]], rtol=1e-5)
    assert by_expansion[2] != pytest.approx(law(many.deviation**2).quantile(0.999), rel=1e-5)


def test_no_noise_has_no_width():
    assert law(0.0).quantile(0.95) == 0.0
    assert law(0.0, (1.0, 1)).plus_normal(2.0).deviation == pytest.approx(2.0)
