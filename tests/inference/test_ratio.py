"""Intervals of ratios: against their definition on a grid, and against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from counterfoil.inference.linear_answer import LinearAnswer, Source
from counterfoil.inference.ratio import Ratio, require_level
from noisy_tables import GAUSSIAN, LAPLACE

EPSILON = 1e-4


def ratio_of(
    top: float, below: float, of_top: float, of_below: float, kind: str = GAUSSIAN, spread: float | None = None
) -> Ratio:
    """With noise of two sources: one in `top` alone, one in both."""
    own, both = Source(1, (0,), kind, 1.0), Source(2, (0,), kind, 1.0)
    numerator = LinearAnswer(top, {own: np.array(of_top), both: np.array(of_below / 2)})
    return Ratio(numerator, LinearAnswer(below, {both: np.array(of_below)}), spread)


def holds(ratio: Ratio, theta: float, level: float, *, noise: bool, sampling: bool) -> bool:
    """Whether theta is in the set by its definition: abs(D) is at most the quantile of D's law."""
    below = ratio.below.value
    law = (ratio.top - ratio.below * theta if noise else LinearAnswer(0.0, {})).law
    spread = theta * (1 - theta) if ratio.spread is None else ratio.spread
    law = law.plus_normal(below * spread if sampling else 0.0)
    return abs(min(max(ratio.top.value, 0), below) - theta * below) <= law.quantile(level)


def require_definition(ratio: Ratio, level: float, *, noise: bool = True, sampling: bool = True) -> None:
    """Fails unless the interval is the set: all of it, and nothing right beyond its ends or farther."""
    found = ratio.interval(level, noise=noise, sampling=sampling)
    assert 0 <= found.lower <= found.estimate <= found.upper <= 1
    lower, upper = found.lower + EPSILON, found.upper - EPSILON
    inside = np.linspace(lower, upper, 7) if lower <= upper else np.array([])
    beyond = [*np.linspace(0, found.lower - EPSILON, 4), *np.linspace(found.upper + EPSILON, 1, 4)]
    outside = [theta for theta in beyond if 0 <= theta <= 1 and not found.lower <= theta <= found.upper]
    assert all(holds(ratio, theta, level, noise=noise, sampling=sampling) for theta in inside)
    assert not any(holds(ratio, theta, level, noise=noise, sampling=sampling) for theta in outside)


class NormalRatio(Ratio):
    """Takes Laplace noise for normal noise: what the definition must refuse."""

    @staticmethod
    def like(ratio: Ratio) -> NormalRatio:
        return NormalRatio(ratio.top, ratio.below, ratio.spread)

    def _critical(self, level, theta, *, noise, sampling):
        return -float(ndtri((1 - level) / 2))


@given(
    st.floats(-50, 450),
    st.floats(0.5, 20),
    st.floats(0, 20),
    st.sampled_from([0.5, 0.95, 0.999]),
    st.sampled_from([None, 0.0, 0.1]),
    st.sampled_from([(True, True), (True, False), (False, True)]),
)
@settings(max_examples=60, deadline=None)
def test_the_interval_is_the_set_of_its_definition(top, of_top, of_below, level, spread, counted):
    ratio = ratio_of(top, 400.0, of_top, of_below, spread=spread)
    noise, sampling = counted
    require_definition(ratio, level, noise=noise, sampling=sampling)


@pytest.mark.parametrize("top", [0.0, 3.0, 60.0, 200.0, 399.0])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_laplace_noise_counts_by_its_own_law(top, level):
    require_definition(ratio_of(top, 400.0, 9.0, 4.0, LAPLACE), level)
    with pytest.raises(AssertionError):
        require_definition(NormalRatio.like(ratio_of(top, 400.0, 9.0, 4.0, LAPLACE)), level)


@pytest.mark.parametrize(("top", "below"), [(0, 50), (1, 50), (25, 50), (3, 10_000)])
def test_without_noise_it_is_wilsons_interval(top, below):
    z, share = float(ndtri(0.975)), top / below
    middle = (share + z * z / (2 * below)) / (1 + z * z / below)
    half = z / (1 + z * z / below) * math.sqrt(share * (1 - share) / below + z * z / (4 * below**2))
    found = Ratio(LinearAnswer(float(top), {}), LinearAnswer(float(below), {})).interval(0.95)
    assert (found.lower, found.upper) == pytest.approx((middle - half, middle + half), abs=1e-12)


def test_without_sampling_it_is_fiellers_set():
    """The ends are where D is exactly q of its deviations from 0."""
    ratio = ratio_of(120.0, 400.0, 15.0, 30.0)
    found = ratio.interval(0.95, sampling=False)
    for end in (found.lower, found.upper):
        part = ratio.top - ratio.below * end
        assert abs(part.value) == pytest.approx(float(ndtri(0.975)) * math.sqrt(part.covariance(part)))
    assert found.lower < 0.3 < found.upper


@pytest.mark.parametrize("below", [-40.0, 0.0, 10.0, 58.0])
def test_a_denominator_that_may_be_none_tells_nothing(below):
    found = ratio_of(5.0, below, 1.0, 30.0).interval(0.95)
    assert (found.lower, found.upper) == (0.0, 1.0)
    assert ratio_of(5.0, 60.0, 1.0, 30.0).interval(0.95).upper < 1


def test_a_numerator_out_of_range_leaves_a_width():
    for top in (-80.0, 480.0):
        found = ratio_of(top, 400.0, 15.0, 0.0).interval(0.95)
        assert found.upper - found.lower > 1.9 * 15 / 400
        assert found.estimate == float(top > 0)


@pytest.mark.parametrize("level", [0, 1, -0.1, 95, math.nan, True, "0.95"])
def test_levels_that_are_refused(level):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        require_level(level)
