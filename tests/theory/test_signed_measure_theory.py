"""The signed measure mechanism's noise and bounds, and the noise of the measure tree."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.theory import signed_measure
from counterfoil.transport import bounded_lipschitz, wasserstein

REPLACE, ADD = NeighboringRelation.REPLACE_ONE, NeighboringRelation.ADD_OR_REMOVE_ONE


def true_delta(sigma, epsilon, sensitivity):
    mu = sensitivity / sigma
    return norm.cdf(-epsilon / mu + mu / 2) - math.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)


def test_noise_is_calibrated_exactly_and_the_papers_is_not_private():
    found = signed_measure.noise(1, 1e-4).value
    assert found == pytest.approx(4.505, abs=5e-4)
    assert true_delta(found, 1, math.sqrt(2)) <= 1e-4
    assert true_delta(found * 0.9999, 1, math.sqrt(2)) > 1e-4
    printed = math.sqrt(math.log(1 / 1e-4)) / 1
    assert printed == pytest.approx(3.035, abs=5e-4)
    assert true_delta(printed, 1, math.sqrt(2)) == pytest.approx(4.3e-3, abs=5e-5)
    assert found > printed


def test_noise_in_the_other_cases():
    assert signed_measure.noise(1, 1e-4, relation=ADD).value == pytest.approx(
        signed_measure.noise(1, 1e-4).value / 2**0.5
    )
    assert signed_measure.noise(0.5, 0.0).value == 4.0  # two counts move by one
    assert signed_measure.noise(0.5, 0.0, relation=ADD).value == 2.0


def test_number_of_cells_has_no_unit():
    assert signed_measure.n_cells(1000, 1, 1e-4).value == math.ceil(1000 / math.sqrt(math.log(1e4)))
    assert signed_measure.n_cells(1000, 0.5, 0).value == 500
    assert signed_measure.n_cells(1, 0.1, 0).value == 1


def test_theorem_h_1_scales_with_the_diameter():
    arguments = {"cells": 64, "dimension": 2, "n_samples": 500}
    small = signed_measure.theorem_h_1(1000, 1, 1e-4, cell_diameter=0.1, diameter=1.0, **arguments)
    large = signed_measure.theorem_h_1(1000, 1, 1e-4, cell_diameter=0.7, diameter=7.0, **arguments)
    assert large.value == pytest.approx(7 * small.value)
    assert set(small.terms) == {"cells", "noise", "sampling"}


@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_theorem_h_1_bounds_the_mechanism(delta):
    # 15 runs on a grid of 8 x 8 cells; mean against 6 deviations (false alarm below 1e-6).
    pytest.importorskip("ot", reason="exact transport needs POT")
    rng = np.random.default_rng(1)
    n, side = 2000, 8
    data = rng.beta(2, 5, size=(n, 2))
    cells = np.minimum((data * side).astype(int), side - 1)
    centers = (np.array(list(itertools.product(range(side), repeat=2))) + 0.5) / side
    exact = np.bincount(cells[:, 0] * side + cells[:, 1], minlength=side**2)
    scale = signed_measure.noise(1, delta).value
    found = []
    for _ in range(15):
        noise = rng.normal(scale=scale, size=side**2) if delta else rng.laplace(scale=scale, size=side**2)
        projected = bounded_lipschitz.project(centers, (exact + noise) / n, diameter=math.sqrt(2))
        found.append(wasserstein.distance(centers, centers, weights_a=exact, weights_b=projected.weights))
    width = math.sqrt(2) / side
    bound = signed_measure.theorem_h_1(
        n, 1, delta, cells=side**2, cell_diameter=width, dimension=2, diameter=math.sqrt(2)
    )
    assert np.mean(found) - 6 * np.std(found) / math.sqrt(15) <= bound.terms["noise"] < 1


def test_cells_per_side_minimizes_the_bound():
    for dimension, delta in ((1, 0.0), (2, 1e-4), (3, 0.0)):
        best = int(signed_measure.cells_per_side(10**5, 1, delta, dimension=dimension).value)
        width = math.sqrt(dimension)

        def error(k, dimension=dimension, delta=delta, width=width):
            return signed_measure.theorem_h_1(
                10**5, 1, delta, cells=k**dimension, cell_diameter=width / k, dimension=dimension, diameter=width
            ).value

        assert error(best) <= min(error(max(1, best // 2)), error(2 * best))
    # In the plane the best number of cells grows like n, up to logarithms.
    growth = [signed_measure.cells_per_side(n, 1, 0, dimension=2).value ** 2 for n in (10**5, 10**7)]
    assert 20 < growth[1] / growth[0] < 110


def test_rate():
    assert signed_measure.rate(10**4, 1, 0, dimension=4).value == pytest.approx(0.1)
    assert signed_measure.rate(10**4, 1, 0, dimension=1).value == pytest.approx(0.01)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_tree_noise_spends_epsilon_and_is_the_best_split(relation):
    widths = signed_measure.halved_box_diameters([1.0, 0.5], 5)
    plan = signed_measure.tree_plan(1000, 0.7, level_diameters=widths, relation=relation)
    moved, measured = (2, plan.scales[1:]) if relation is REPLACE else (1, plan.scales)
    assert sum(moved / scale for scale in measured) == pytest.approx(0.7)
    assert (plan.scales[0] == 0) == (relation is REPLACE)
    weights = np.array([0.75 * 2 ** (level - 1) * widths[level - 1] for level in range(1, 6)])
    if relation is ADD:
        weights = np.insert(weights, 0, 2 * widths[0])
    assert plan.error.terms["noise"] == pytest.approx(weights @ measured / 1000)

    def error(logits):
        shares = np.exp(logits) / np.exp(logits).sum()
        return weights @ (moved / (0.7 * shares)) / 1000

    best = minimize(error, np.zeros(len(weights)), options={"gtol": 1e-9}).fun
    assert plan.error.terms["noise"] == pytest.approx(best, rel=1e-6)


def consistent_leaves(exact, scales, rng):
    """The tree mechanism on exact leaf counts: noise on every level, children sharing their error evenly."""
    depth = len(scales) - 1
    current = np.array([max(0.0, exact.sum() + (rng.laplace(scale=scales[0]) if scales[0] else 0.0))])
    for level in range(1, depth + 1):
        noisy = exact.reshape(2**level, -1).sum(axis=1) + rng.laplace(scale=scales[level], size=2**level)
        left = np.clip((noisy[::2] - noisy[1::2] + current) / 2, 0, current)
        current = np.stack([left, current - left], axis=1).ravel()
    return current


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("n", [40, 2000])
def test_tree_error_bounds_the_mechanism_on_the_line(relation, n):
    # 200 runs; mean against 6 deviations (false alarm below 1e-6). Records at the middles of 64 cells.
    rng = np.random.default_rng(n)
    middles = (np.arange(64) + 0.5) / 64
    exact = np.bincount(np.minimum((rng.beta(1, 8, size=n) * 64).astype(int), 63), minlength=64)
    plan = signed_measure.tree_plan(
        n, 1.0, level_diameters=signed_measure.halved_box_diameters([1.0], 6), relation=relation
    )
    found = []
    for _ in range(200):
        leaves = consistent_leaves(exact, plan.scales, rng)
        leaves = leaves if leaves.sum() > 0 else np.ones(64)
        found.append(wasserstein.distance(middles, middles, weights_a=exact, weights_b=leaves))
    assert np.mean(found) - 6 * np.std(found) / math.sqrt(200) <= plan.error.terms["noise"]
    assert np.mean(found) > plan.error.terms["noise"] / 30


def test_discrete_noise_moves_no_more_between_children():
    # The 3/4 b of continuous Laplace noise also holds for the discrete one, summed exactly.
    for scale in (0.05, 0.3, 1.0, 4.0, 30.0):
        values = np.arange(-400, 401) if scale > 10 else np.arange(-60, 61)
        weights = np.exp(-np.abs(values) / scale)
        weights /= weights.sum()
        mean = weights @ np.abs(values[:, None] - values) @ weights / 2
        assert mean <= 0.75 * scale


def test_depth_minimizes_the_error():
    widths = signed_measure.halved_box_diameters([1.0, 1.0], 16)
    depth = int(signed_measure.tree_depth(20640, 1.0, level_diameters=widths, relation=REPLACE).value)
    errors = [
        signed_measure.tree_plan(20640, 1.0, level_diameters=widths[: k + 1], relation=REPLACE).error.value
        for k in range(17)
    ]
    assert errors[depth] == min(errors)
    assert 0 < depth < 16


def test_halving_the_longest_side():
    assert signed_measure.halved_box_diameters([4.0, 3.0], 2) == pytest.approx(
        [5.0, math.hypot(2, 3), math.hypot(2, 1.5)]
    )


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: signed_measure.noise(0, 1e-4), "`epsilon`"),
        (lambda: signed_measure.noise(1, 1.0), "`delta`"),
        (lambda: signed_measure.theorem_h_1(9, 1, 0, cells=0, cell_diameter=1, dimension=1, diameter=1), "at least 1"),
        (lambda: signed_measure.tree_plan(9, 1, level_diameters=[1.0, 2.0], relation=ADD), "not grow"),
        (lambda: signed_measure.tree_plan(9, 1, level_diameters=[], relation=ADD), "`level_diameters`"),
        (lambda: signed_measure.halved_box_diameters([1.0, 0.0], 3), "`sides`"),
    ],
)
def test_bad_parameters_are_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
