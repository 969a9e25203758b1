"""The minimax fit against linear programs, and its density against another solver's and against vertices."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import LinearConstraint, linprog, minimize
from scipy.special import rel_entr

from counterfoil.graphical_model.outcome import Status
from counterfoil.reweighting import highs_interior_point, minimax_fit
from counterfoil.reweighting.densest import densest
from counterfoil.reweighting.minimax_fit import fit_minimax
from counterfoil.reweighting.program import WeightProgram

HIGHSPY = importlib.util.find_spec("highspy") is not None
SOLVERS = [
    "interior_point",
    pytest.param("highs", marks=pytest.mark.skipif(not HIGHSPY, reason="highspy (the extra `minimax`) is missing")),
]


def cells(rng: np.random.Generator, points: int) -> np.ndarray:
    """The indicators of all pairs of three columns of 3 codes, [27, points], for random points."""
    codes = rng.integers(0, 3, (points, 3))
    pairs = [codes[:, a] * 3 + codes[:, b] for a, b in ((0, 1), (0, 2), (1, 2))]
    return np.vstack([np.eye(9)[:, pair] for pair in pairs])


def vertex(values: np.ndarray, targets: np.ndarray, units: np.ndarray) -> tuple[np.ndarray, float]:
    """An optimal vertex, by the simplex method: weights and t."""
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
    return found.x[:m], float(found.fun)


@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32), points=st.integers(1, 40), noise=st.sampled_from([0.0, 0.05, 2.0]), scaled=st.booleans()
)
def test_the_largest_error_is_the_linear_programs(solver, seed, points, noise, scaled):
    """Unreached cells, negative targets and targets above 1 among them: `values` has rows of zeros."""
    rng = np.random.default_rng(seed)
    values = cells(rng, points)
    targets = values @ rng.dirichlet(np.ones(points)) + noise * rng.normal(size=len(values))
    units = rng.uniform(0.5, 2.0, len(values)) if scaled else np.ones(len(values))
    program = WeightProgram(sparse.csr_array(values), targets, 0.1, np.full(points, 1 / points))
    fit = fit_minimax(program, units=units, solver=solver)
    _, optimum = vertex(values, targets, units)
    # HiGHS leaves up to 1e-7 of a constraint unmet, which is much where the optimum is 0.
    rounding = (1e-8 if solver == "interior_point" else 1e-6) * (1 + np.abs(targets).max())
    assert fit.outcome.status is Status.CONVERGED or (solver == "highs" and optimum < 1e-3)
    assert fit.bound <= optimum + rounding
    assert optimum - rounding <= fit.distance <= optimum * (1 + 1.2e-3) + rounding
    errors = np.abs(values @ fit.weights - targets) / units
    assert fit.distance == pytest.approx(errors.max(), rel=1e-9)
    assert fit.weights.sum() == pytest.approx(1)
    assert (fit.weights >= 0).all()
    assert (fit.unreached == np.flatnonzero(~values.any(axis=1))).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_vertex_is_never_returned(solver):
    """A target far below 0 sets t; the vertex keeps at most F + 1 points, the fit all of them."""
    rng = np.random.default_rng(0)
    values = cells(rng, 200)
    targets = values @ rng.dirichlet(np.ones(200)) + 0.01 * rng.normal(size=27)
    targets[4] = -0.3
    program = WeightProgram(sparse.csr_array(values), targets, 0.1, np.full(200, 1 / 200))
    fit = fit_minimax(program, solver=solver)
    weights, optimum = vertex(values, targets, np.ones(27))
    assert (weights > 1e-9).sum() <= 27 + 1
    assert (fit.weights > 1e-9).sum() > 100
    assert fit.distance <= optimum * (1 + 1.2e-3)
    assert list(fit.binding[:1]) == [4]
    assert fit.multipliers[0] == pytest.approx(1, abs=1e-3)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(2, 6), st.sampled_from([1e-3, 0.1, 1.0]))
def test_the_density_is_the_nearest_to_the_prior(seed, functions, points, slack):
    """Against a trust-region method on the same convex program."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(functions, points))
    targets = values @ rng.dirichlet(np.ones(points)) + 0.3 * rng.normal(size=functions)
    prior = rng.dirichlet(np.full(points, 3.0)) + 0.01
    program = WeightProgram(values, targets, 1.0, prior / prior.sum())
    inside, optimum = vertex(values, targets, np.ones(functions))
    limits = np.full(functions, optimum * (1 + slack) + 1e-3)
    found = densest(program, limits, inside, tolerance=1e-4, max_evaluations=5000)
    assert (np.abs(values @ found - targets) <= limits * (1 + 1e-9) + 1e-9).all()
    other = minimize(
        lambda w: rel_entr(np.maximum(w, 1e-300), program.prior).sum(),
        np.maximum(inside, 1e-6) / np.maximum(inside, 1e-6).sum(),
        jac=lambda w: np.log(np.maximum(w, 1e-300) / program.prior) + 1,
        bounds=[(1e-12, 1)] * points,
        constraints=[
            LinearConstraint(np.ones(points), 1, 1),
            LinearConstraint(values, targets - limits, targets + limits),
        ],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    feasible = other.success and (np.abs(values @ other.x - targets) <= limits + 1e-7).all()
    if feasible:
        assert rel_entr(found, program.prior).sum() <= other.fun * (1 + 1e-3) + 1e-5


def test_an_ascent_that_is_broken_off_stays_within_the_limits():
    rng = np.random.default_rng(7)
    values = rng.choice([-1.0, 1.0], (30, 20))
    targets = values @ rng.dirichlet(np.ones(20)) + 0.1 * rng.normal(size=30)
    program = WeightProgram(values, targets, 1.0, np.full(20, 1 / 20))
    inside, optimum = vertex(values, targets, np.ones(30))
    limits = np.full(30, optimum * 1.5)
    previous = np.inf
    for evaluations in (1, 10, 30, 100):
        found = densest(program, limits, inside, max_evaluations=evaluations)
        assert (np.abs(values @ found - targets) <= limits * (1 + 1e-12)).all()
        divergence = rel_entr(found, program.prior).sum()
        assert divergence <= min(previous, rel_entr(inside, program.prior).sum()) + 1e-12
        previous = divergence
    assert previous < 0.8 * rel_entr(inside, program.prior).sum()


def test_where_an_unreached_function_decides_the_prior_is_returned():
    """Its error is |b| whatever the weights are; the prior's other errors are smaller."""
    values = np.array([[1.0, 0, 0], [0, 1.0, 1.0], [0, 0, 0]])
    program = WeightProgram(values, [0.4, 0.5, -0.7], 0.1, [0.5, 0.3, 0.2])
    fit = fit_minimax(program)
    assert fit.weights == pytest.approx([0.5, 0.3, 0.2])
    assert fit.distance == fit.bound == pytest.approx(0.7)
    assert list(fit.binding) == list(fit.unreached) == [2]
    assert fit.multipliers == pytest.approx([1.0])


def test_nothing_reached_leaves_the_prior():
    program = WeightProgram(np.zeros((2, 2)), [0.1, 0.4], 0.1, [0.25, 0.75])
    fit = fit_minimax(program)
    assert fit.weights == pytest.approx([0.25, 0.75])
    assert fit.distance == fit.bound == pytest.approx(0.4)
    assert list(fit.unreached) == [0, 1]


def test_targets_that_the_prior_meets_leave_the_prior():
    values = np.eye(3)
    program = WeightProgram(values, [0.2, 0.3, 0.5], 0.1, [0.2, 0.3, 0.5])
    fit = fit_minimax(program)
    assert fit.distance == pytest.approx(0, abs=1e-9)
    assert fit.weights == pytest.approx([0.2, 0.3, 0.5], abs=1e-8)
    assert fit.outcome.status is Status.CONVERGED


def test_binding_functions_are_those_that_decide():
    """Two indicators of one point with targets 0 and 1: halfway between, each with half of the proof."""
    values = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    program = WeightProgram(values, [0.0, 1.0, 0.5], 0.1, [0.5, 0.5])
    fit = fit_minimax(program)
    assert fit.distance == pytest.approx(0.5, rel=2e-3)
    assert set(fit.binding[:2]) == {0, 1}
    assert sorted(fit.multipliers[:2]) == pytest.approx([-0.5, 0.5], abs=0.01)
    assert (np.diff(np.abs(fit.multipliers)) <= 0).all()


def test_without_highspy_the_error_names_the_extra(monkeypatch):
    program = WeightProgram(np.eye(2), [0.1, 0.2], 0.1, [0.5, 0.5])
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(ValueError, match=r'pip install "counterfoil\[minimax\]"'):
        highs_interior_point.highs()
    monkeypatch.setattr(minimax_fit, "DENSE_SIZE", 1)
    with pytest.raises(ValueError, match="needs the package highspy"):
        fit_minimax(program)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slack": 0.0}, "`slack` must be positive and finite. Found 0.0"),
        ({"tolerance": -1.0}, "`tolerance` must be positive and finite. Found -1.0"),
        ({"solver": "simplex"}, "`solver` must be 'interior_point', 'highs' or None. Found 'simplex'"),
        ({"units": [1.0, 0.0]}, "`units` must be positive and finite. Found 0.0"),
    ],
)
def test_a_fit_that_makes_no_sense_is_refused(change, message):
    program = WeightProgram(np.eye(2), [0.1, 0.2], 0.1, [0.5, 0.5])
    with pytest.raises(ValueError, match=message):
        fit_minimax(program, **change)
