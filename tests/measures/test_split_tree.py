"""The posterior of a split tree against enumeration, and against what it promises on data drawn from its model."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, gammaln

from counterfoil.measures import split_tree
from counterfoil.measures.split_tree import SplitTree, evidence, posterior


def log_split(n1, n2, a):
    first, second = np.broadcast_to(a, 2)
    n = n1 + n2
    choices = gammaln(n + 1) - gammaln(n1 + 1) - gammaln(n2 + 1)
    return choices + betaln(n1 + first, n2 + second) - betaln(first, second)


def enumerated(counts, scales, concentrations, most=44):
    """Means of (root, 2 halves, 2 quarters of the first half) and the log density, by summing over all counts.

    The leaves are the two quarters and the second half; the root and the first half were counted too.
    """
    q1, q2, second = np.meshgrid(*[np.arange(most)] * 3, indexing="ij")
    n = (q1 + q2 + second, q1 + q2, second, q1, q2)
    log_density = -sum(abs(c - m) / s for c, m, s in zip(counts, n, scales, strict=True))
    weights = log_density + log_split(n[1], n[2], concentrations[0]) + log_split(q1, q2, concentrations[1])
    chances = np.exp(weights - weights.max())
    return [(chances * m).sum() / chances.sum() for m in n], weights.max() + math.log(chances.sum())


def small_tree(counts, scales) -> SplitTree:
    tree = SplitTree()
    tree.add_counts(np.array(counts[:1], dtype=float), scales[0])
    tree.grow(np.array([True]))
    tree.answers[1].append((np.array([counts[1], np.nan]), scales[1]))
    tree.answers[1].append((np.array([np.nan, counts[2]]), scales[2]))
    tree.grow(np.array([True, False]))
    for place, (count, scale) in enumerate(zip(counts[3:], scales[3:], strict=True)):
        answer = np.full(2, np.nan)
        answer[place] = count
        tree.answers[2].append((answer, scale))
    return tree


@settings(max_examples=20, deadline=None)
@given(
    st.tuples(*[st.integers(-2, 6)] * 5),
    st.tuples(*[st.sampled_from([0.8, 1.0, 1.3])] * 5),
    st.tuples(*[st.sampled_from([0.2, 1.0, 3.0])] * 2),
)
def test_means_and_density_are_those_of_enumeration(counts, scales, concentrations):
    means, evidence = posterior(small_tree(counts, scales), concentrations)
    expected, log_density = enumerated(counts, scales, concentrations)
    assert np.concatenate(means) == pytest.approx(expected, abs=2e-4)
    assert evidence == pytest.approx(log_density, abs=2e-4)


def test_splits_that_the_prior_thinks_nearly_impossible_are_those_of_enumeration():
    """Divided by W, a convolution's smallest entries are among the largest: rounding there would be taken for mass."""
    counts, scales = [20.0, 18.0, 1.0, 19.0, 0.0], [30.0, 8.0, 3.0, 3.0, 3.0]
    means, log_density = posterior(small_tree(counts, scales), [40.0, 40.0])
    expected, expected_density = enumerated(counts, scales, [40.0, 40.0], most=120)
    assert np.concatenate(means) == pytest.approx(expected, abs=2e-3)
    assert log_density == pytest.approx(expected_density, abs=2e-3)


@pytest.mark.parametrize("first", [np.array([0.3, 2.0]), np.array([5.0, 0.7])])
def test_halves_may_have_concentrations_of_their_own(first):
    counts, scales, second = (6, 4, 1, 0, 5), (1.0, 1.3, 0.8, 1.0, 1.3), np.array([2.5, 0.4])
    means, log_density = posterior(small_tree(counts, scales), [first, second])
    expected, expected_density = enumerated(counts, scales, [first, second])
    assert np.concatenate(means) == pytest.approx(expected, abs=2e-4)
    assert log_density == pytest.approx(expected_density, abs=2e-4)


def full_tree(rng, *, depth, n, concentration, scales):
    """A tree of the given depth whose counts are drawn from the model; at depths in `scales` they get noise."""
    tree, counts = SplitTree(), np.array([n])
    truth = [counts]
    for t in range(depth + 1):
        if t in scales:
            tree.add_counts(counts + rng.laplace(0, scales[t], len(counts)), scales[t])
        if t < depth:
            tree.grow(np.ones(len(counts), dtype=bool))
            first = rng.binomial(counts, rng.beta(concentration, concentration, len(counts)))
            counts = np.stack([first, counts - first], axis=1).ravel()
            truth.append(counts)
    return tree, truth


def test_means_are_consistent_and_beat_the_noisy_counts():
    rng = np.random.default_rng(0)
    tree, truth = full_tree(rng, depth=7, n=2000, concentration=0.5, scales={0: 20.0, 3: 6.0, 7: 3.0})
    means, _ = posterior(tree, [0.5] * 7)
    for upper, lower in itertools.pairwise(means):
        assert lower.reshape(-1, 2).sum(axis=1) == pytest.approx(upper, abs=1e-6 * 2000)
    assert min(m.min() for m in means) >= 0
    noisy_error = np.abs(tree.answers[7][0][0] - truth[7]).mean()
    assert np.abs(means[7] - truth[7]).mean() < 0.7 * noisy_error
    for t in (1, 3, 5):
        summed = tree.answers[7][0][0].reshape(2**t, -1).sum(axis=1)
        assert np.abs(means[t] - truth[t]).mean() < np.abs(summed - truth[t]).mean()


def test_the_density_prefers_the_concentration_of_the_data():
    """Over 8 trees of 256 leaves the log density at the truth is tens above that far from it: no false alarm."""
    rng = np.random.default_rng(1)
    for true in (0.25, 4.0):
        gaps = []
        for _ in range(8):
            tree, _ = full_tree(rng, depth=8, n=3000, concentration=true, scales={0: 10.0, 8: 1.0})
            gaps.append(posterior(tree, [true] * 8)[1] - posterior(tree, [1.0 / true] * 8)[1])
        assert min(gaps) > 20


def test_means_stay_consistent_where_points_lie_in_few_cells_and_the_prior_is_even():
    """In 1 of 16 cells, and asked about at three depths: a concentration far from the truth costs likelihood only."""
    rng = np.random.default_rng(2)
    truth = np.zeros((16, 64))
    truth[5] = rng.poisson(40, 64)
    tree = SplitTree()
    for depth, scale in ((0, 200.0), (4, 12.0), (10, 3.0)):
        while tree.depth < depth:
            tree.grow(np.ones(len(tree.codes[-1]), dtype=bool))
        exact_counts = truth.reshape(2**depth, -1).sum(axis=1)
        tree.add_counts(exact_counts + rng.laplace(0, scale, 2**depth), scale)
    means, _ = posterior(tree, [10.0] * 10)
    for upper, lower in itertools.pairwise(means):
        assert lower.reshape(-1, 2).sum(axis=1) == pytest.approx(upper, abs=1e-6 * 2560)
    assert abs(means[4][5] - 2560) < 120
    assert evidence(tree, [10.0] * 10) < evidence(tree, [0.2] * 4 + [10.0] * 6) - 20


def test_transforms_stand_in_for_sums_of_products(monkeypatch):
    tree, _ = full_tree(np.random.default_rng(3), depth=5, n=500, concentration=1.0, scales={0: 20.0, 2: 6.0, 5: 3.0})
    sums = posterior(tree, [1.0] * 5)
    monkeypatch.setattr(split_tree, "_MOST_PRODUCTS", 0)
    transforms = posterior(tree, [1.0] * 5)
    assert np.concatenate(transforms[0]) == pytest.approx(np.concatenate(sums[0]), rel=1e-6)
    assert transforms[1] == pytest.approx(sums[1], abs=1e-6)
    assert evidence(tree, [40.0] * 5) < transforms[1]


def test_a_lone_root_and_answers_far_apart_are_no_special_cases():
    tree = SplitTree()
    tree.add_counts(np.array([-50.0]), 1.0)
    means, _ = posterior(tree, [])
    assert 0 <= means[0][0] < 1
    tree = SplitTree()
    tree.add_counts(np.array([1000.0]), 1.0)
    tree.grow(np.array([True]))
    tree.add_counts(np.array([10.0, 20.0]), 2.0)
    means, evidence = posterior(tree, [1.0])
    assert math.isfinite(evidence)
    assert 30 < means[1].sum() < 120
    assert 30 < means[0][0] < 120


def test_leaves_come_in_the_order_of_the_box():
    tree = small_tree([5, 3, 2, 1, 2], [1.0] * 5)
    depths, codes, places = tree.leaves()
    assert depths.tolist() == [2, 2, 1]
    assert codes.tolist() == [0, 1, 1]
    assert places.tolist() == [0, 1, 1]
