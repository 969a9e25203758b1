"""Gaussian noise on values that nobody listed: what one unit alone has is told as rarely as charged, by exact sums."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.curve import gaussian_delta
from counterfoil.accounting.event import ApproximateGaussianEvent, GaussianEvent, event_from_json
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.noise.known import noise_from_json
from counterfoil.noise.randomness import SeededRandomness, SystemRandomness
from counterfoil.noise.thresholded_gaussian import ThresholdedGaussianNoise, released_alone


def survival(count: int, scale: float, threshold: int) -> float:
    """P(count + Z >= threshold), summed over the whole law of the discrete Gaussian."""
    reach = math.ceil(40 * scale) + abs(threshold) + abs(count) + 5
    support = np.arange(-reach, reach + 1)
    odds = np.exp(-0.5 * (support / scale) ** 2)
    return float(odds[support >= threshold - count].sum() / odds.sum())


def partitions(total: int, largest: int | None = None) -> list[tuple[int, ...]]:
    """All ways to write `total` as a sum of positive whole numbers."""
    if total == 0:
        return [()]
    return [
        (first, *rest)
        for first in range(min(total, largest or total), 0, -1)
        for rest in partitions(total - first, first)
    ]


def worst_of_a_unit(rows: int, columns: int, scale: float, threshold: int) -> float:
    """The exact probability that something is told which a unit alone has, at worst over all that its rows may hold."""
    told = {count: survival(count, scale, threshold) for count in range(1, rows + 1)}
    of_a_column = max(1 - math.prod(1 - told[c] for c in ways) for ways in partitions(rows))
    return 1 - (1 - of_a_column) ** columns


@pytest.mark.parametrize(("rows", "columns"), [*itertools.product((1, 2, 3, 5), (1, 2, 7, 40))])
@pytest.mark.parametrize(("multiplier", "delta"), [(0.4, 1e-2), (3.0, 1e-3), (12.0, 1e-6), (20.0, 0.2)])
def test_what_a_unit_alone_has_is_told_no_more_often_than_charged(rows, columns, multiplier, delta):
    noise, sensitivity = ThresholdedGaussianNoise(multiplier, delta), rows * math.sqrt(columns)
    scale, threshold = noise.scale(sensitivity), noise.threshold(sensitivity)
    assert worst_of_a_unit(rows, columns, scale, threshold) <= delta
    # With less noise, what one unit of several rows may hold is worse; thresholds within the scale are not proved.
    if rows == 1 and multiplier >= 3 and threshold - 2 > scale:
        assert worst_of_a_unit(rows, columns, scale, threshold - 1) > delta, "a threshold lower by 1 overspends"


@pytest.mark.parametrize("columns", [1, 3, 15])
def test_a_twin_that_adds_the_delta_of_one_value_alone_is_caught(columns):
    """As thresholded releases do that ask for the number of values which a record changes, and not for all at once."""
    noise = ThresholdedGaussianNoise(10.0, 1e-6)
    scale = noise.scale(math.sqrt(columns))
    twin = next(h for h in itertools.count(math.ceil(scale)) if survival(1, scale, h) <= 1e-6)
    told = worst_of_a_unit(1, columns, scale, twin)
    assert (told > 1e-6) == (columns > 1)
    assert worst_of_a_unit(1, columns, scale, noise.threshold(math.sqrt(columns))) <= 1e-6


def test_a_twin_that_forgets_that_a_unit_has_several_rows_is_caught():
    noise = ThresholdedGaussianNoise(2.0, 1e-6)
    scale = noise.scale(5.0)
    twin = next(h for h in itertools.count(math.ceil(scale)) if survival(1, scale, h) <= 1e-6)
    assert worst_of_a_unit(5, 1, scale, twin) > 1e-6 >= worst_of_a_unit(5, 1, scale, noise.threshold(5.0))


@given(st.floats(1.5, 60.0), st.integers(1, 60), st.integers(1, 400))
def test_the_sum_is_the_exact_one_rounded_up(scale, columns, above):
    """The bound on all units whose counts have squares that add up to s**2 = `columns`, against each whole count."""
    most = math.isqrt(columns)
    threshold = math.ceil(scale) + most + above
    costs = [-math.log1p(-survival(c, scale, threshold)) / c**2 for c in range(1, most + 1)]
    exact = -math.expm1(-columns * max(costs))
    found = released_alone(math.sqrt(columns), scale, threshold)
    assert found >= exact * (1 - 1e-9)
    if most <= 2 and threshold - most > scale:  # between the ends, what is added is bounded by an integral
        assert found <= exact * (1 + 1e-6) or exact < 1e-250


def test_thresholds_are_near_those_of_the_normal_law_where_the_scale_is_large():
    """P(N(0, 1) >= 6.0) is 9.9e-10."""
    noise = ThresholdedGaussianNoise(1e5, 9.9e-10)
    assert noise.threshold(1.0) == pytest.approx(6.0 * noise.scale(1.0), rel=2e-3)


def test_empty_cells_stay_empty_and_told_ones_reach_the_threshold():
    noise = ThresholdedGaussianNoise(3.0, 1e-3)
    exact = np.array([0, 0, 1, 5, 40, 1000] * 200).reshape(6, -1)
    answer = noise.add(exact, 1.0, SeededRandomness(1))
    assert answer.shape == exact.shape
    assert answer.dtype == np.int64
    assert not answer[exact == 0].any()
    assert answer[answer > 0].min() >= noise.threshold(1.0)
    assert np.abs(answer[exact == 1000] - 1000).max() < 30


@pytest.mark.parametrize("randomness", [SeededRandomness(3), SystemRandomness()], ids=["seed", "system"])
def test_audit_one_record_alone_is_told_as_rarely_as_charged(randomness):
    """Clopper-Pearson at confidence 1 - 1e-6 on 4000 records with three values each; a twin without threshold tells."""
    noise = ThresholdedGaussianNoise(4.0, 0.05)
    records = np.ones((4000, 3), dtype=np.int64)
    told = int((noise.add(records, math.sqrt(3), randomness) > 0).any(axis=1).sum())
    assert binomtest(told, 4000).proportion_ci(1 - 2e-6).low <= noise.delta
    drawn = randomness.discrete_gaussian(noise.scale(math.sqrt(3)) / 2, records.size).reshape(records.shape)
    twin = int((records + drawn > noise.threshold(math.sqrt(3)) // 2).any(axis=1).sum())
    halved = int((records + drawn > noise.threshold(math.sqrt(3)) // 3).any(axis=1).sum())
    assert binomtest(halved, 4000).proportion_ci(1 - 2e-6).low > noise.delta
    assert twin > 0


# The event


def test_an_approximate_gaussian_event_is_for_plans_only_and_round_trips():
    event = ApproximateGaussianEvent(30.0, 1e-7)
    assert event_from_json(event.to_json()) == event
    assert noise_from_json(ThresholdedGaussianNoise(30.0, 1e-7).to_json()).event() == event
    for name in ("gaussian", "zcdp", "pure"):
        assert not COMPOSITIONS[name].affords(Budget(1e3, 0.5), [event])
    with pytest.raises(ValueError, match="below 1"):
        ApproximateGaussianEvent(1.0, 1.0)


@given(st.floats(2.0, 50.0), st.floats(2.0, 50.0), st.floats(1e-9, 1e-6), st.floats(1e-9, 1e-6))
def test_plans_compose_the_gaussian_parts_as_one_and_the_deltas_as_one_event(one, other, first, second):
    """The exact delta of the product at the epsilon that is found: that of one Gaussian, beside what reveals all."""
    target = 1e-5
    events = [ApproximateGaussianEvent(one, first), GaussianEvent(other), ApproximateGaussianEvent(other, second)]
    epsilon = PrivacyLossPlan().epsilon(events, target)
    mu, reveal = math.sqrt(1 / one**2 + 2 / other**2), first + second - first * second

    def exact(at: float) -> float:
        return reveal + (1 - reveal) * gaussian_delta(at, mu)

    assert exact(epsilon) <= target
    assert exact(epsilon * 0.999) > target * 0.999
    assert PrivacyLossPlan().epsilon(events, reveal * 0.99) == math.inf


def test_under_the_other_relation_delta_grows_as_the_sensitivity_does():
    noise = ThresholdedGaussianNoise(10.0, 1e-6)
    here, there = math.sqrt(7), math.sqrt(14)
    other = noise.event_under(here, there)
    assert other.noise_multiplier == pytest.approx(10.0 / math.sqrt(2))
    assert 1 - (1 - survival(1, noise.scale(here), noise.threshold(here))) ** 14 <= other.delta <= 2.1e-6
    assert noise.event_under(there, here).delta <= noise.delta
    assert noise.event_within(1.0) == noise.event()
    assert noise.event_within(1.5).delta > 0.999, "nothing is promised of counts beyond the threshold's margin"


@pytest.mark.parametrize(("multiplier", "delta"), [(0.0, 0.1), (1.0, 0.0), (1.0, 1.0), (math.nan, 0.1)])
def test_parameters_outside_the_proof_are_refused(multiplier, delta):
    with pytest.raises(ValueError, match="must be"):
        ThresholdedGaussianNoise(multiplier, delta)


def test_a_sensitivity_beyond_the_proof_is_refused():
    with pytest.raises(ValueError, match="keep fewer rows"):
        ThresholdedGaussianNoise(1.0, 0.1).threshold(2e6)
