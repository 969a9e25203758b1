"""Exactly, by the laws of the noise: how often the bounds on a number that is at least 0 hold."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from counterfoil.accounting.upper_end import most_by_gaussian, most_by_laplace
from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.error_bars import ErrorBars, FormerNoisyBound, NoisyBound
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.receipt.noisy_measure import NoisyMeasure

BOUNDS = {GaussianNoise.kind: most_by_gaussian, LaplaceNoise.kind: most_by_laplace}
TABLE = 600
"""What no distance of two tables of 300 records exceeds."""


def law_of(kind, scale):
    """The values of discrete noise, and their probabilities."""
    values = np.arange(-math.ceil(40 * scale), math.ceil(40 * scale) + 1)
    weights = np.exp(-(values**2) / (2 * scale**2)) if kind == GaussianNoise.kind else np.exp(-np.abs(values) / scale)
    kept = weights > 1e-15
    return values[kept], weights[kept] / weights.sum()


@pytest.mark.parametrize("kind", BOUNDS)
@pytest.mark.parametrize("scale", [1.5, 11.0, 150.0])
@pytest.mark.parametrize("beta", [0.7, 0.05, 1e-6])
def test_each_holds_with_the_stated_probability_whatever_the_number(kind, scale, beta):
    noise, chances = law_of(kind, scale)
    for number in (0, 1, 7, 150, 1000):
        bounds = np.array([BOUNDS[kind](float(number + z), scale, beta) for z in noise])
        assert chances[bounds < number].sum() <= beta


@pytest.mark.parametrize("scale", [150.0, 300.0, 600.0, 1500.0])
def test_those_that_say_something_hold_too_where_the_noise_is_as_large_as_the_table(scale):
    """Half of the largest distance; with the one-sided bound, 7% to 66% of those that say something fail."""
    noise, chances = law_of(GaussianNoise.kind, scale)
    number, failed = TABLE // 2, {}
    for kind in (FormerNoisyBound, NoisyBound):
        bounds = np.array([kind(float(number + z), scale, 0.0).records(0.04) for z in noise])
        says = bounds < TABLE
        failed[kind] = chances[bounds < number].sum() / max(chances[says].sum(), 1e-9)
    assert failed[NoisyBound] <= 0.04 < 0.065 < failed[FormerNoisyBound]


def test_far_above_the_noise_it_is_the_one_sided_bound_and_below_it_never_vanishes():
    assert most_by_gaussian(200.0, 5.0, 0.05) == pytest.approx(201 + 5 * norm.ppf(0.95))
    assert most_by_laplace(200.0, 5.0, 0.05) == pytest.approx(200 + 5 * math.log(20))
    for most in BOUNDS.values():
        ends = [most(answer, 5.0, 0.05) for answer in (-50.0, -10.0, 0.0, 10.0, 50.0)]
        assert ends == sorted(ends)
        assert ends[0] > 1


@pytest.mark.parametrize("kind", BOUNDS)
def test_certificates_rest_on_them(kind):
    drowned = NoisyMeasure("label_moment_gap", "a", -2000, 1000.0, kind, 1.0, 0.0, 300.0, 0.0)
    assert drowned.at_most(0.05 / 3) > 300
    assert drowned.formerly_at_most(0.05 / 3) < drowned.at_most(0.05 / 3)


def test_error_bars_of_earlier_versions_can_be_compared():
    domain = Domain(("a",), (2,))
    bars = ErrorBars(domain, {("a",): (NoisyBound(-100.0, 50.0, 1.0),)}, 300.0, 300.0, 0.0)
    assert bars.bar(["a"], 0.05).records > bars.former.bar(["a"], 0.05).records == 1.0
    assert bars.former.bar(["a"], 0.05).source == bars.bar(["a"], 0.05).source
