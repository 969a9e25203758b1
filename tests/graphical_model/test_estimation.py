import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.estimation import _Dual, estimate
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal, combine
from counterfoil.graphical_model.outcome import Status
from marginals.brute_force import cliques_of, domains, marginal_of

DOMAIN = Domain(("a", "b", "c", "d"), (3, 4, 2, 3))


def measure(domain, joint, cliques, *, n, scale, seed):
    rng = np.random.default_rng(seed)
    return [
        NoisyMarginal(c, n * marginal_of(domain, joint, c) + rng.normal(0, scale, domain.shape(c)), scale)
        for c in cliques
    ]


def random_joint(domain, seed, concentration=0.5):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(domain.size(domain.attributes), concentration)).reshape(domain.sizes)


def primal(domain, joint, measurements, *, total, weight, reference=0.0):
    """The objective of the docstring at a full joint distribution, entropy counted from the uniform's."""
    misfit = sum(
        ((total * marginal_of(domain, joint, m.clique) - m.counts) ** 2).sum() / (2 * m.scale**2) for m in measurements
    )
    positive = joint[joint > 0]
    divergence = np.log(joint.size) + (positive * np.log(positive)).sum() - (joint * reference).sum()
    return misfit + weight * divergence


def best_primal(domain, measurements, *, total, weight, reference=0.0):
    """The primal's minimum by a general optimizer over all joint distributions."""

    def objective(logits):
        p = np.exp(logits - logits.max())
        p = np.maximum(p / p.sum(), 1e-200)
        value, slope = 0.0, weight * (np.log(p * p.size) - np.ravel(reference) + 1)
        for m in measurements:
            residual = total * marginal_of(domain, p.reshape(domain.sizes), m.clique) - m.counts
            value += (residual**2).sum() / (2 * m.scale**2)
            names = domain.canonical(m.clique)
            residual = residual.transpose([m.clique.index(name) for name in names])
            shape = [domain[a] if a in names else 1 for a in domain.attributes]
            slope = slope + np.broadcast_to(residual.reshape(shape), domain.sizes).ravel() * total / m.scale**2
        value += weight * (p @ (np.log(p * p.size) - np.ravel(reference)))
        return value, p * (slope - p @ slope)

    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9}
    start = np.broadcast_to(reference, domain.sizes).ravel()  # what is rare there has hardly a slope, nor has it here
    q = np.exp(start - start.max())
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    for _ in range(20):  # it may give up far from the minimum, where a cell that it emptied too soon has no slope left
        p = np.exp(found.x - found.x.max())
        mixed = np.log(0.999 * p / p.sum() + 0.001 * q / q.sum())
        again = minimize(objective, mixed, jac=True, method="L-BFGS-B", options=options)
        if found.fun - again.fun <= 1e-9 * (1 + abs(found.fun)):
            break
        found = again
    return found.fun


@st.composite
def problems(draw):
    domain = draw(domains(attributes=4))
    cliques = [c for c in draw(cliques_of(domain, largest=3)) if c] or [domain.attributes[:1]]
    seed = draw(st.integers(0, 2**32))
    scale = draw(st.sampled_from([1.0, 10.0]))
    measurements = measure(domain, random_joint(domain, seed), cliques, n=200, scale=scale, seed=seed)
    return domain, measurements


@given(problems(), st.sampled_from([0.5, 5.0, 100.0]), st.sampled_from([1e-1, 1e-6]))
@settings(max_examples=40, deadline=None)
def test_the_gap_bounds_the_distance_from_the_best_objective(problem, weight, relative_gap):
    domain, measurements = problem
    fit = estimate(domain, measurements, total=200.0, entropy_weight=weight, relative_gap=relative_gap)
    joint = fit.model.marginal(domain.attributes) / 200.0
    value = primal(domain, joint, measurements, total=200.0, weight=weight)
    best = best_primal(domain, measurements, total=200.0, weight=weight)
    rounding = 1e-6 * (1 + abs(best))
    assert value - fit.outcome.gap <= best + rounding
    assert joint.min() >= 0
    assert joint.sum() == pytest.approx(1.0), "so that its value is none below the least"
    assert value >= best - rounding - 1e-3 * abs(best), "the general optimizer stops up to some 1e-4 above the least"
    assert fit.outcome.status is Status.CONVERGED


@settings(max_examples=30, deadline=None)
@given(problems(), st.integers(0, 2**32))
def test_a_reference_is_what_the_entropy_draws_to(problem, seed):
    domain, measurements = problem
    rng = np.random.default_rng(seed)
    clique = tuple(rng.permutation(domain.attributes)[:2].tolist())
    table = -rng.exponential(2.0, domain.shape(clique)) * (rng.random(domain.shape(clique)) < 0.5)
    names = domain.canonical(clique)
    shape = [domain[a] if a in names else 1 for a in domain.attributes]
    whole = np.broadcast_to(table.transpose([clique.index(a) for a in names]).reshape(shape), domain.sizes)
    arguments = {"total": 200.0, "entropy_weight": 5.0, "relative_gap": 1e-6}
    found = estimate(domain, measurements, reference={clique: table}, **arguments)
    joint = found.model.marginal(domain.attributes) / 200.0
    best = best_primal(domain, combine(domain, measurements), total=200.0, weight=5.0, reference=whole)
    reached = primal(domain, joint, combine(domain, measurements), total=200.0, weight=5.0, reference=whole)
    assert best - 1e-3 * (1 + abs(best)) <= reached <= best + found.outcome.gap + 1e-6 * (1 + abs(best))
    again = estimate(domain, measurements, reference={clique: table}, warm_start=found.model, **arguments)
    assert again.outcome.evaluations == 1


@pytest.mark.parametrize("table", [np.full((3, 4), 0.1), np.full((3, 4), -np.inf), np.zeros((4, 3))])
def test_a_reference_that_is_none_is_refused(table):
    with pytest.raises(ValueError, match="reference of"):
        estimate(DOMAIN, [NoisyMarginal(("a",), np.ones(3), 1.0)], reference={("a", "b"): table})


def point_whose_gradient_is_the_derivative(dual, rng):
    """Random interactions and the dual there, whose gradient is compared with differences."""
    x = dual.interactions

    def centered():
        vector = rng.normal(0, 0.5, x.starts[-1])
        return x.of_potentials({part: x.table(vector, i) for i, part in enumerate(x.subsets)})

    psi, direction = centered(), centered()
    point = dual(psi)
    slope = (dual(psi + 1e-5 * direction).value - dual(psi - 1e-5 * direction).value) / 2e-5
    assert slope == pytest.approx(point.gradient @ direction, rel=1e-5, abs=1e-7)
    return psi, point


@given(problems(), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_the_gradient_is_the_derivative_and_the_gap_is_primal_minus_dual(problem, seed):
    domain, measurements = problem
    measured = combine(domain, measurements)
    dual = _Dual(domain, measured, {}, total=200.0, entropy_weight=7.0, ordered={}, shrinks=False)
    psi, point = point_whose_gradient_is_the_derivative(dual, np.random.default_rng(seed))
    model = GraphicalModel(domain, dual.potentials(psi), 200.0)
    joint = model.marginal(domain.attributes) / 200.0
    # The misfit to the inconsistent part of the marginals is the same for every distribution.
    constant = primal(domain, joint, measured, total=200.0, weight=7.0) / 7.0 - point.objective
    at_uniform = dual(np.zeros_like(psi))
    uniform = np.full(domain.sizes, 1.0 / domain.size(domain.attributes))
    expected = primal(domain, uniform, measured, total=200.0, weight=7.0) / 7.0 - at_uniform.objective
    assert constant == pytest.approx(expected, rel=1e-6, abs=1e-6)
    log_domain = np.log(np.array(domain.sizes, dtype=float)).sum()
    assert point.gap == pytest.approx(point.objective + point.value - log_domain, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_gap_is_primal_minus_dual_where_smooth_directions_are_believed_more(seed):
    domain = Domain(("a", "b", "c"), (12, 9, 6))
    cliques = [("a", "b"), ("a", "c"), ("b",)]
    measured = combine(domain, measure(domain, random_joint(domain, seed), cliques, n=200, scale=3.0, seed=seed))
    ordered = {"a": 11, "b": 9}
    dual = _Dual(domain, measured, {}, total=200.0, entropy_weight=7.0, ordered=ordered, shrinks=True)
    assert len(dual.ridge.smooth) == 2, "of both pairs"
    _, point = point_whose_gradient_is_the_derivative(dual, np.random.default_rng(seed))
    log_domain = np.log(np.array(domain.sizes, dtype=float)).sum()
    assert point.gap == pytest.approx(point.objective + point.value - log_domain, rel=1e-9)
    arguments = {"total": 200.0, "entropy_weight": 7.0, "shrinks": True, "ordered": ordered}
    found = estimate(domain, measured, relative_gap=1e-6, **arguments)
    assert found.outcome.status is Status.CONVERGED
    assert estimate(domain, measured, warm_start=found.model, **arguments).outcome.evaluations == 1


def test_marginals_are_as_close_to_the_best_ones_as_the_gap_says():
    joint = random_joint(DOMAIN, 1)
    measurements = measure(DOMAIN, joint, [("a", "b"), ("b", "c"), ("c", "d", "a")], n=500, scale=5.0, seed=1)
    rough = estimate(DOMAIN, measurements, total=500.0, entropy_weight=5.0, relative_gap=0.3)
    exact = estimate(DOMAIN, measurements, total=500.0, entropy_weight=5.0, relative_gap=1e-9)
    assert rough.outcome.evaluations < exact.outcome.evaluations
    distance = sum(
        ((rough.model.marginal(m.clique) - exact.model.marginal(m.clique)) ** 2).sum() / (2 * m.scale**2)
        for m in measurements
    )
    assert 0 < distance <= rough.outcome.gap


def test_plentiful_data_is_recovered():
    rng = np.random.default_rng(4)
    cliques = [("a", "b"), ("b", "c"), ("c", "d")]
    truth = GraphicalModel(DOMAIN, {c: rng.normal(size=DOMAIN.shape(c)) for c in cliques}, 1.0)
    joint = truth.marginal(DOMAIN.attributes)
    measurements = measure(DOMAIN, joint, cliques, n=1e6, scale=1.0, seed=2)
    fit = estimate(DOMAIN, measurements, relative_gap=1e-6)
    assert fit.model.total == pytest.approx(1e6, abs=10)
    np.testing.assert_allclose(fit.model.marginal(DOMAIN.attributes) / 1e6, joint, atol=2e-5)


def test_a_warm_start_from_the_answer_is_already_there():
    joint = random_joint(DOMAIN, 5)
    measurements = measure(DOMAIN, joint, [("a", "b"), ("b", "c", "d")], n=500, scale=5.0, seed=3)
    first = estimate(DOMAIN, measurements, total=500.0, relative_gap=1e-5)
    again = estimate(DOMAIN, measurements, total=500.0, relative_gap=1e-4, warm_start=first.model)
    assert first.outcome.evaluations > 1
    assert again.outcome.evaluations == 1
    more = [*measurements, *measure(DOMAIN, joint, [("a", "d")], n=500, scale=5.0, seed=4)]
    warm = estimate(DOMAIN, more, total=500.0, relative_gap=1e-4, warm_start=first.model)
    cold = estimate(DOMAIN, more, total=500.0, relative_gap=1e-4)
    assert warm.outcome.evaluations < cold.outcome.evaluations
    np.testing.assert_allclose(warm.model.marginal(("a", "d")), cold.model.marginal(("a", "d")), atol=1.0)


def test_splitting_a_measurement_in_two_changes_nothing():
    joint = random_joint(DOMAIN, 6)
    (one,) = measure(DOMAIN, joint, [("a", "b")], n=300, scale=2.0, seed=5)
    rng = np.random.default_rng(0)
    shift = rng.normal(size=one.counts.shape)
    halves = [NoisyMarginal(one.clique, one.counts + sign * shift, 2.0 * np.sqrt(2)) for sign in (1, -1)]
    whole = estimate(DOMAIN, [one], relative_gap=1e-10)
    split = estimate(DOMAIN, halves, relative_gap=1e-10)
    np.testing.assert_allclose(whole.model.marginal(("a", "b")), split.model.marginal(("a", "b")), atol=1e-3)


@pytest.mark.parametrize("zeros_clique", [("a", "b"), ("b", "a"), ("a", "d")])
def test_structural_zeros_are_kept_and_the_rest_still_fits(zeros_clique):
    joint = random_joint(DOMAIN, 7)
    zeros = np.zeros(DOMAIN.shape(zeros_clique), dtype=bool)
    zeros[0, :2] = zeros[2, 1] = True
    allowed = np.zeros(DOMAIN.sizes, dtype=bool)
    names = DOMAIN.canonical(zeros_clique)
    oriented = zeros.transpose([zeros_clique.index(name) for name in names])
    allowed |= ~oriented.reshape([DOMAIN[a] if a in names else 1 for a in DOMAIN.attributes])
    joint = joint * allowed / (joint * allowed).sum()
    measurements = measure(DOMAIN, joint, [("a", "b"), ("b", "c"), ("a", "d")], n=1e5, scale=10.0, seed=6)
    fit = estimate(
        DOMAIN, measurements, total=1e5, structural_zeros={zeros_clique: zeros}, entropy_weight=1.0, relative_gap=1e-4
    )
    table = fit.model.marginal(zeros_clique)
    assert (table[zeros] == 0.0).all()
    for m in measurements:
        error = np.abs(fit.model.marginal(m.clique) - 1e5 * marginal_of(DOMAIN, joint, m.clique))
        # Every cell within 8 standard deviations of the noise: false alarm below 1e-12.
        assert error.max() < 80.0
    value = primal(DOMAIN, fit.model.marginal(DOMAIN.attributes) / 1e5, measurements, total=1e5, weight=1.0)
    lower = value - fit.outcome.gap
    feasible = primal(DOMAIN, joint, measurements, total=1e5, weight=1.0)
    assert lower <= feasible


def test_an_impossible_domain_is_refused():
    marginal = NoisyMarginal(("a",), np.ones(3), 1.0)
    with pytest.raises(ValueError, match="positive probability"):
        estimate(DOMAIN, [marginal], structural_zeros={("a",): np.ones(3, dtype=bool)})


def test_strong_evidence_and_a_weak_entropy_stay_finite():
    joint = random_joint(DOMAIN, 8, concentration=0.02)
    cliques = list(itertools.combinations(DOMAIN.attributes, 2))
    measurements = measure(DOMAIN, joint, cliques, n=1e5, scale=1.0, seed=7)
    fit = estimate(DOMAIN, measurements, entropy_weight=0.1, relative_gap=1e-2, max_evaluations=300)
    for m in measurements:
        table = fit.model.marginal(m.clique)
        assert np.isfinite(table).all()
        assert np.abs(table - m.counts).sum() < 0.02 * 1e5


def test_the_limit_of_evaluations_is_kept_and_said():
    joint = random_joint(DOMAIN, 9)
    measurements = measure(DOMAIN, joint, [("a", "b"), ("c", "d"), ("b", "c")], n=500, scale=1.0, seed=8)
    fit = estimate(DOMAIN, measurements, relative_gap=1e-12, max_evaluations=5)
    assert fit.outcome.status is Status.EVALUATIONS
    assert "max_evaluations" in fit.outcome.status.value
    assert fit.outcome.evaluations == 5
    assert fit.outcome.gap > 0


def test_precision_beyond_floats_ends_with_a_reason():
    joint = random_joint(DOMAIN, 10)
    measurements = measure(DOMAIN, joint, [("a", "b"), ("b", "c")], n=500, scale=1.0, seed=9)
    fit = estimate(DOMAIN, measurements, relative_gap=1e-40, max_evaluations=2000)
    assert fit.outcome.status is Status.PRECISION
    assert fit.outcome.relative_gap < 1e-8


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"entropy_weight": 0.0}, "`entropy_weight` must be positive"),
        ({"relative_gap": float("nan")}, "`relative_gap` must be positive"),
        ({"max_evaluations": 0}, "`max_evaluations` must be at least 1"),
        ({"total": -5.0}, "`total` must be a positive finite number"),
        ({"measurements": []}, "needs a noisy marginal"),
        ({"structural_zeros": {("a",): np.zeros(2, dtype=bool)}}, r"booleans of shape \(3,\)"),
        ({"structural_zeros": {("a",): np.zeros(3)}}, "Found float64"),
    ],
)
def test_bad_arguments_are_refused(changes, message):
    arguments = {"measurements": [NoisyMarginal(("a",), np.ones(3), 1.0)]} | changes
    measurements = arguments.pop("measurements")
    with pytest.raises(ValueError, match=message):
        estimate(DOMAIN, measurements, **arguments)


def test_a_negative_noisy_total_counts_as_one_record():
    fit = estimate(DOMAIN, [NoisyMarginal(("a",), np.full(3, -4.0), 5.0)])
    assert fit.model.total == 1.0
