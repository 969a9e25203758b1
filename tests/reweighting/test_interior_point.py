"""The interior point against the simplex method, and certificates against densities and multipliers of any kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from counterfoil.reweighting.interior_point import largest_error, lower_bound, solve


def simplex(values: np.ndarray, targets: np.ndarray, units: np.ndarray) -> float:
    """The smallest largest error, by HiGHS's simplex method."""
    m = values.shape[1]
    found = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.block([[values, -units[:, None]], [-values, -units[:, None]]]),
        b_ub=np.concatenate([targets, -targets]),
        A_eq=np.append(np.ones(m), 0.0)[None, :],
        b_eq=[1.0],
        method="highs-ds",
    )
    assert found.status == 0
    return float(found.fun)


def random_case(rng: np.random.Generator, functions: int, points: int, spread: float):
    """Signs, indicators or real values; some rows alike or constant, some points alike; targets up to far outside."""
    kind = rng.integers(3)
    values = [
        rng.choice([-1.0, 1.0], (functions, points)),
        rng.integers(0, 2, (functions, points)).astype(float),
        rng.normal(size=(functions, points)),
    ][kind]
    values[rng.integers(functions)] = values[rng.integers(functions)]
    values[:, rng.integers(points)] = values[:, rng.integers(points)]
    targets = values @ rng.dirichlet(np.ones(points)) + spread * rng.normal(size=functions)
    return values, targets, rng.uniform(0.2, 2.0, functions)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 25),
    st.integers(1, 25),
    st.sampled_from([0.0, 0.02, 0.5, 5.0]),
    st.booleans(),
)
@example(0, 1, 1, 5.0, False)
@example(0, 25, 1, 0.0, True)
def test_it_finds_the_simplex_methods_optimum(seed, functions, points, spread, is_sparse):
    rng = np.random.default_rng(seed)
    values, targets, units = random_case(rng, functions, points, spread)
    given_values = sparse.csc_array(values) if is_sparse else values
    found = solve(given_values, targets, units, np.full(points, 1 / points), tolerance=1e-6)
    optimum = simplex(values, targets, units)
    assert found.converged
    assert found.steps < 60
    rounding = 1e-8 * (1 + np.abs(targets / units).max())
    assert found.bound <= optimum + rounding
    assert optimum - rounding <= found.distance <= optimum * (1 + 2e-6) + rounding
    assert found.weights.sum() == pytest.approx(1)
    assert (found.weights >= 0).all()
    assert found.distance == pytest.approx(largest_error(values, targets, units, found.weights), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 10), st.integers(1, 10))
def test_any_multipliers_bound_any_density(seed, functions, points):
    """Weak duality, with no solver between."""
    rng = np.random.default_rng(seed)
    values, targets, units = random_case(rng, functions, points, 1.0)
    bound, unit = lower_bound(values, targets, units, rng.normal(size=functions))
    assert units @ np.abs(unit) == pytest.approx(1)
    for weights in rng.dirichlet(np.full(points, 0.3), size=50):
        assert bound <= largest_error(values, targets, units, weights) + 1e-12


def test_its_multipliers_prove_its_bound():
    rng = np.random.default_rng(3)
    values, targets, units = random_case(rng, 40, 15, 0.3)
    found = solve(values, targets, units, np.full(15, 1 / 15))
    bound, unit = lower_bound(values, targets, units, found.multipliers)
    assert bound == pytest.approx(found.bound, rel=1e-9)
    assert unit == pytest.approx(found.multipliers)


def test_one_function_is_met_halfway():
    """Values 0 and 1, target 3: all weight goes to 1 and t = 2 / c."""
    found = solve(np.array([[0.0, 1.0]]), np.array([3.0]), np.array([4.0]), np.array([0.5, 0.5]))
    assert found.distance == pytest.approx(0.5, rel=1e-3)
    assert found.weights[1] == pytest.approx(1, abs=1e-3)
    assert found.multipliers == pytest.approx([-0.25])


def test_it_stays_inside_a_degenerate_face():
    """One target of -1 sets t = 1, with room for nearly every density: none of the points is left out."""
    rng = np.random.default_rng(0)
    values = np.vstack([np.eye(1, 50, 0), rng.integers(0, 2, (5, 50))])
    targets = np.append(-1.0, rng.random(5))
    found = solve(values, targets, np.ones(6), np.full(50, 1 / 50))
    assert found.distance == pytest.approx(1.0, rel=1e-3)
    assert (found.weights > 1e-6).sum() > 6 + 1


def test_too_few_steps_still_return_what_is_certified():
    rng = np.random.default_rng(1)
    values, targets, units = random_case(rng, 30, 30, 0.1)
    found = solve(values, targets, units, np.full(30, 1 / 30), max_steps=2)
    optimum = simplex(values, targets, units)
    assert not found.converged
    assert found.steps == 2
    assert found.bound <= optimum <= found.distance
