"""Noise on positive counts: its exact law against what it is charged as, cell by cell and end to end."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.event import ApproximateEvent, GaussianEvent, event_from_json
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.noise.randomness import SeededRandomness, SystemRandomness
from counterfoil.noise.thresholded_laplace import ThresholdedLaplaceNoise


def law(count: int, scale: float, threshold: int, *, tell_zeros: bool = False) -> dict[int, float]:
    """The exact law of one answered cell; 0 stands for a cell that looks empty."""
    if count <= 0 and not tell_zeros:
        return {0: 1.0}
    ratio = math.exp(-1 / scale)
    reach = math.ceil(40 * scale) + 5
    told = {c: (1 - ratio) / (1 + ratio) * ratio ** abs(c - count) for c in range(threshold, count + threshold + reach)}
    return {0: 1 - sum(told.values()), **told}


def hockey_stick(cells_p: list[dict[int, float]], cells_q: list[dict[int, float]], epsilon: float) -> float:
    """The exact delta at `epsilon` for independent cells, over all joint answers."""
    joint = []
    for cells in (cells_p, cells_q):
        axes = [
            np.array([cell.get(a, 0.0) for a in sorted({*p, *q})])
            for cell, p, q in zip(cells, cells_p, cells_q, strict=True)
        ]
        joint.append(functools.reduce(np.multiply.outer, axes))
    return float(np.maximum(joint[0] - math.exp(epsilon) * joint[1], 0.0).sum())


def neighbors(sensitivity: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Pairs of small counts in two cells within l1 distance `sensitivity`."""
    counts = list(itertools.product(range(-1, 5), repeat=2))
    return [(p, q) for p in counts for q in counts if 0 < abs(p[0] - q[0]) + abs(p[1] - q[1]) <= sensitivity]


@pytest.mark.parametrize("sensitivity", [1, 2, 3])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.05), (3.0, 0.01), (0.5, 0.1)])
def test_every_pair_of_neighbors_is_within_the_charge(sensitivity, epsilon, delta):
    noise = ThresholdedLaplaceNoise(epsilon, delta)
    scale, threshold = noise.scale(sensitivity), noise.threshold(sensitivity)
    laws = {c: law(c, scale, threshold) for c in range(-1, 5)}
    worst = max(hockey_stick([laws[c] for c in p], [laws[c] for c in q], epsilon) for p, q in neighbors(sensitivity))
    assert worst <= delta * (1 + 1e-9)
    if sensitivity == 1:
        lower = law(1, scale, threshold - 1)
        assert hockey_stick([lower], [law(0, scale, threshold)], epsilon) > delta, "a threshold lower by 1 overspends"


def test_a_twin_that_tells_zero_counts_is_caught():
    noise = ThresholdedLaplaceNoise(1.0, 0.01)
    scale, threshold = noise.scale(1), 1
    broken = hockey_stick([law(1, scale, threshold)], [law(0, scale, threshold)], 1.0)
    assert broken > 0.5, "without the threshold a record alone in its cell shows"


def test_the_threshold_under_replacement_is_the_papers():
    """H = 2 log(1 / delta) / epsilon + 1 in records: a cell of one record is told with probability delta / 2."""
    for epsilon, delta in [(1.0, 1e-4), (0.5, 1e-6), (1.3, 1e-9)]:
        found = ThresholdedLaplaceNoise(epsilon, delta).threshold(2)
        paper = 2 * math.log(1 / delta) / epsilon + 1
        assert paper - 1 <= found <= paper + 2


@given(st.floats(0.05, 5), st.floats(1e-12, 0.02), st.integers(1, 20))
def test_the_threshold_is_the_smallest_that_is_safe(epsilon, delta, sensitivity):
    noise = ThresholdedLaplaceNoise(epsilon, delta)
    scale, threshold = noise.scale(sensitivity), noise.threshold(sensitivity)
    ratio = math.exp(-1 / scale)
    told = [ratio ** (threshold - c) / (1 + ratio) for c in range(1, sensitivity + 1)]
    assert threshold > sensitivity
    assert max(sensitivity * q / c for c, q in enumerate(told, 1)) <= delta
    for partition in ([1] * sensitivity, [sensitivity], [2] * (sensitivity // 2)):
        assert sum(told[c - 1] for c in partition) <= delta
    assert max(sensitivity * told[0], told[-1]) > delta * ratio * (1 - 1e-6), "one lower would not do"


@given(st.floats(0.1, 3), st.floats(1e-9, 0.04), st.sampled_from([(1, 2), (2, 1), (4, 8)]))
def test_the_event_under_the_other_relation_covers_its_own_cells(epsilon, delta, sensitivities):
    here, there = sensitivities
    noise = ThresholdedLaplaceNoise(epsilon, delta)
    other = noise.event_under(here, there)
    scale, threshold = noise.scale(here), noise.threshold(here)
    assert other.epsilon >= there / scale
    p, q = law(there, scale, threshold), law(0, scale, threshold)
    assert hockey_stick([p], [q], other.epsilon) <= other.delta * (1 + 1e-9)
    assert hockey_stick([q], [p], other.epsilon) <= other.delta * (1 + 1e-9)


def test_empty_cells_stay_empty_and_told_ones_reach_the_threshold():
    noise = ThresholdedLaplaceNoise(1.0, 1e-3)
    exact = np.array([0, 0, 1, 5, 40, 1000] * 200).reshape(6, -1)
    answer = noise.add(exact, 1.0, SeededRandomness(1))
    assert answer.shape == exact.shape
    assert answer.dtype == np.int64
    assert not answer[exact == 0].any()
    assert answer[answer > 0].min() >= noise.threshold(1.0)
    assert np.abs(answer[exact == 1000] - 1000).max() < 60


@pytest.mark.parametrize("randomness", [SeededRandomness(3), SystemRandomness()], ids=["seed", "system"])
def test_audit_one_record_alone_is_told_as_rarely_as_charged(randomness):
    """Clopper-Pearson at confidence 1 - 1e-6 on 2000 cells of one record; delta is 0.05, its broken twin tells half."""
    noise = ThresholdedLaplaceNoise(1.0, 0.05)
    cells = np.ones(2000, dtype=np.int64)
    told = int((noise.add(cells, 1.0, randomness) > 0).sum())
    assert binomtest(told, 2000).proportion_ci(1 - 2e-6).low <= noise.delta
    halved = ThresholdedLaplaceNoise(2.0, 0.05)  # charged as epsilon 1 with half its noise and no threshold
    twin = int((cells + randomness.discrete_laplace(halved.scale(1.0), 2000) > 0).sum())
    assert binomtest(twin, 2000).proportion_ci(1 - 2e-6).low > noise.delta


# The event


def optimal_delta(epsilon: float, delta: float, count: int, at: float) -> float:
    """Kairouz, Oh and Viswanath 2015: the exact delta of `count` worst (epsilon, delta) mechanisms at epsilon `at`."""
    above = math.exp(epsilon) / (1 + math.exp(epsilon))
    finite = 0.0
    for k in range(count + 1):
        loss = (2 * k - count) * epsilon
        weight = math.comb(count, k) * above**k * (1 - above) ** (count - k)
        finite += weight * max(0.0, -math.expm1(at - loss))
    return 1 - (1 - delta) ** count * (1 - finite)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.02, 0.5), st.floats(1e-8, 1e-5), st.integers(1, 30))
def test_approximate_events_compose_to_the_optimum_rounded_up(epsilon, delta, count):
    target = 2e-4 + 2 * count * delta
    found = PrivacyLossPlan().epsilon([ApproximateEvent(epsilon, delta)] * count, target)
    assert optimal_delta(epsilon, delta, count, found) <= target * (1 + 1e-9)
    slack = 2e-4 * count + 1e-4  # losses are rounded up to multiples of 1e-4
    assert found <= slack or optimal_delta(epsilon, delta, count, found - slack) >= target * (1 - 1e-3)


def test_an_approximate_event_is_for_plans_only_and_round_trips():
    event = ApproximateEvent(0.3, 1e-6)
    assert event_from_json(event.to_json()) == event
    budget = Budget(1e3, 0.5)
    for name in ("gaussian", "zcdp", "pure"):
        assert not COMPOSITIONS[name].affords(budget, [event])
    assert PrivacyLossPlan().affords(Budget(0.3002, 1.01e-6), [event])
    assert not PrivacyLossPlan().affords(Budget(0.31, 0.99e-6), [event])
    mixed = PrivacyLossPlan().epsilon([event, GaussianEvent(20.0)], 1e-4)
    assert mixed > GaussianFilter().epsilon([GaussianEvent(20.0)], 1e-4)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.1), (1.0, 0.0), (1.0, 0.6), (0.1, 0.06), (math.nan, 0.1)])
def test_parameters_outside_the_proof_are_refused(epsilon, delta):
    with pytest.raises(ValueError, match="must be"):
        ThresholdedLaplaceNoise(epsilon, delta)
