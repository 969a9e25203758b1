"""The likelihood fit against brute force, other solvers, and what its docstring proves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog, minimize
from scipy.special import log_softmax, rel_entr

from counterfoil.graphical_model.outcome import Status
from counterfoil.reweighting.likelihood_fit import default_weight, fit_likelihood
from counterfoil.reweighting.program import WeightProgram


def random_program(rng: np.random.Generator, functions: int, points: int, *, noise: str) -> WeightProgram:
    """Indicators or signed values, some functions unreached, targets that may be negative or above 1, equal points."""
    values = rng.integers(0, 2, (functions, points)).astype(float)
    if rng.random() < 0.5:
        values *= rng.normal(size=(functions, 1))
    values[rng.random(functions) < 0.2] = 0.0
    values[:, rng.integers(points)] = values[:, rng.integers(points)]
    targets = values @ rng.dirichlet(np.ones(points)) + rng.normal(size=functions) * rng.choice([0.01, 0.3, 3.0])
    prior = rng.dirichlet(np.full(points, 2.0)) + 1e-3
    laplace = {"gaussian": np.zeros(functions), "laplace": np.ones(functions), "both": rng.integers(0, 2, functions)}
    return WeightProgram(
        sparse.csr_array(values) if rng.random() < 0.5 else values,
        targets,
        rng.uniform(0.05, 0.5, functions),
        prior / prior.sum(),
        laplace=laplace[noise].astype(bool),
    )


def objective(program: WeightProgram, weights: np.ndarray, weight: float) -> float:
    """The misfit and the divergence, written out."""
    values = program.values.toarray() if sparse.issparse(program.values) else program.values
    deviations = (values @ weights - program.targets) / program.scales
    misfit = np.where(program.laplace, np.abs(deviations), deviations**2 / 2).sum()
    return float(misfit + weight * rel_entr(weights, program.prior).sum())


def smallest_objective(program: WeightProgram, weight: float) -> float:
    """By sequential quadratic programming: over w, and errors e with |(A w - b) / s| <= e where noise is Laplace."""
    values = program.values.toarray() if sparse.issparse(program.values) else program.values
    m, absolute = program.n_points, np.flatnonzero(program.laplace)
    scaled, targets = values / program.scales[:, None], program.targets / program.scales
    rest = ~program.laplace

    def value(x):
        misfit = ((scaled[rest] @ x[:m] - targets[rest]) ** 2).sum() / 2 + x[m:].sum()
        return misfit + weight * rel_entr(x[:m], program.prior).sum()

    def slope(x):
        of_w = scaled[rest].T @ (scaled[rest] @ x[:m] - targets[rest])
        of_w += weight * (np.log(x[:m] / program.prior) + 1)
        return np.concatenate([of_w, np.ones(len(absolute))])

    a, b, unit = scaled[absolute], targets[absolute], np.eye(len(absolute))
    above = np.vstack([np.hstack([a, unit]), np.hstack([-a, unit])])
    floor = np.concatenate([b, -b])
    constraints = [
        {"type": "eq", "fun": lambda x: x[:m].sum() - 1, "jac": lambda x: np.r_[np.ones(m), np.zeros(len(absolute))]},
    ]
    if len(absolute):
        constraints.append({"type": "ineq", "fun": lambda x: above @ x - floor, "jac": lambda x: above})
    start = np.concatenate([program.prior, np.abs(a @ program.prior - b) + 0.1])
    bounds = [(1e-12, 1)] * m + [(0, None)] * len(absolute)
    found = minimize(
        value,
        start,
        jac=slope,
        bounds=bounds,
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-13},
    )
    weights = found.x[:m] / found.x[:m].sum()
    return objective(program, weights, weight)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 8),
    st.integers(1, 7),
    st.sampled_from(["gaussian", "laplace", "both"]),
    st.sampled_from([0.3, 3.0, 30.0]),
)
@example(0, 1, 1, "laplace", 0.3)
def test_no_other_solver_finds_a_better_density(seed, functions, points, noise, weight):
    """The smallest objective, found otherwise, lies between dual and primal; the primal is the objective."""
    program = random_program(np.random.default_rng(seed), functions, points, noise=noise)
    fit = fit_likelihood(program, weight=weight, tolerance=1e-6)
    assert fit.outcome.status is Status.CONVERGED
    assert fit.weights.sum() == pytest.approx(1)
    assert (fit.weights >= 0).all()
    assert fit.primal == pytest.approx(objective(program, fit.weights, weight), rel=1e-9)
    assert abs(fit.primal - fit.dual - fit.outcome.gap) <= 1e-12 * fit.primal
    assert 0 <= fit.outcome.gap <= 1e-6 * weight
    other = smallest_objective(program, weight)
    # The other solver's densities are feasible: they are never below the bound, and it gets near.
    assert other >= fit.dual - 1e-9 * abs(fit.dual)
    assert fit.primal <= other + 1e-6 * weight + 1e-9 * other


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["gaussian", "laplace", "both"]), st.integers(1, 10))
def test_the_gap_bounds_how_far_the_best_density_is(seed, noise, evaluations):
    """A fit that was broken off: both of its distances from the best density are within its gap."""
    program = random_program(np.random.default_rng(seed), 12, 9, noise=noise)
    rough = fit_likelihood(program, weight=2.0, max_evaluations=evaluations)
    best = fit_likelihood(program, weight=2.0, tolerance=1e-11)
    assert rough.dual <= best.primal + 1e-9
    # Logarithms of weights, some of which underflow, from the multipliers.
    logs = [log_softmax(np.log(program.prior) - program.scores(fit.multipliers) / 2.0) for fit in (rough, best)]
    divergence = 2.0 * float(rough.weights @ (logs[0] - logs[1]))
    moved = (program.averages(rough.weights - best.weights) / program.scales)[~program.laplace]
    assert (moved**2).sum() / 2 + divergence <= rough.outcome.gap + 1e-5


def test_a_density_on_every_grid_point_of_two_binary_columns():
    """Brute force over a simplex of 4 cells, in steps of 1 / 60."""
    rng = np.random.default_rng(5)
    values = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 0]], dtype=float)
    steps = 60
    a, b, c = np.meshgrid(*[np.arange(steps + 1)] * 3, indexing="ij")
    grid = np.stack([a, b, c, steps - a - b - c], axis=-1).reshape(-1, 4)
    grid = grid[grid[:, 3] >= 0] / steps
    for noise in (False, True):
        program = WeightProgram(values, rng.normal(0.4, 0.3, 5), 0.2, [0.4, 0.3, 0.2, 0.1], laplace=noise)
        fit = fit_likelihood(program, weight=0.5, tolerance=1e-8)
        tried = [objective(program, w, 0.5) for w in grid]
        assert fit.dual <= min(tried) <= fit.primal + 0.1
        assert np.abs(grid[int(np.argmin(tried))] - fit.weights).max() <= 1.5 / steps


def test_laplace_noise_with_little_entropy_is_a_linear_program():
    """As the weight goes to 0, the objective goes to the smallest sum of absolute deviations."""
    rng = np.random.default_rng(2)
    values, scales = rng.normal(size=(12, 8)), rng.uniform(0.1, 1, 12)
    targets = values @ rng.dirichlet(np.ones(8)) + rng.laplace(size=12) * scales
    program = WeightProgram(values, targets, scales, np.full(8, 1 / 8), laplace=True)
    scaled, unit = values / scales[:, None], np.eye(12)
    found = linprog(
        np.concatenate([np.zeros(8), np.ones(12)]),
        A_ub=np.block([[scaled, -unit], [-scaled, -unit]]),
        b_ub=np.concatenate([targets / scales, -targets / scales]),
        A_eq=np.concatenate([np.ones(8), np.zeros(12)])[None, :],
        b_eq=[1.0],
    )
    fit = fit_likelihood(program, weight=1e-3, tolerance=1e-3)
    assert found.fun <= fit.primal <= found.fun + 1e-3 * np.log(8) + 1e-6 + 1e-9


def test_functions_that_no_point_reaches_only_add_a_constant():
    rng = np.random.default_rng(0)
    values, targets = rng.integers(0, 2, (6, 9)).astype(float), rng.normal(size=6)
    laplace = np.array([False, True, False, True, False, True])
    prior = np.full(9, 1 / 9)
    alone = fit_likelihood(WeightProgram(values, targets, 0.3, prior, laplace=laplace), weight=2.0, tolerance=1e-9)
    wider = WeightProgram(
        np.vstack([values, np.zeros((2, 9))]),
        np.append(targets, [-0.6, 0.9]),
        0.3,
        prior,
        laplace=np.append(laplace, [False, True]),
    )
    fit = fit_likelihood(wider, weight=2.0, tolerance=1e-9)
    assert fit.weights == pytest.approx(alone.weights, abs=1e-12)
    assert fit.primal == pytest.approx(alone.primal + 2.0 + 3.0)
    assert fit.dual == pytest.approx(alone.dual + 2.0 + 3.0)
    assert fit.multipliers[6:] == pytest.approx([0.6 / 0.09, -1 / 0.3])


@pytest.mark.parametrize("laplace", [False, True])
def test_nothing_reached_leaves_the_prior(laplace):
    program = WeightProgram(np.zeros((2, 3)), [0.5, -1.0], [0.5, 0.5], [0.2, 0.3, 0.5], laplace=laplace)
    fit = fit_likelihood(program)
    assert fit.weights == pytest.approx([0.2, 0.3, 0.5])
    assert fit.primal == fit.dual == pytest.approx(1 + 2 if laplace else 0.5 + 2)
    assert fit.outcome.status is Status.CONVERGED


def test_splitting_a_point_splits_its_weight():
    """A point that stands twice with half the prior each gets half the weight each."""
    rng = np.random.default_rng(3)
    values, targets = rng.normal(size=(5, 4)), rng.normal(size=5)
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    merged = fit_likelihood(WeightProgram(values, targets, 0.4, prior), weight=1.0, tolerance=1e-10)
    twice = WeightProgram(values[:, [0, 0, 1, 2, 3]], targets, 0.4, [0.2, 0.2, 0.3, 0.2, 0.1])
    split = fit_likelihood(twice, weight=1.0, tolerance=1e-10)
    assert split.weights[:2] == pytest.approx(merged.weights[0] / 2, abs=1e-5)
    assert split.weights[2:] == pytest.approx(merged.weights[1:], abs=1e-5)


def test_the_multipliers_give_the_weights():
    program = random_program(np.random.default_rng(9), 7, 6, noise="both")
    fit = fit_likelihood(program, weight=1.5)
    weights = program.prior * np.exp(-program.scores(fit.multipliers) / 1.5)
    assert fit.weights == pytest.approx(weights / weights.sum(), rel=1e-9)
    again = fit_likelihood(program, weight=1.5, start=fit.multipliers)
    assert again.outcome.evaluations <= 2


def test_an_exhausted_fit_says_so_and_stays_certified():
    program = random_program(np.random.default_rng(4), 8, 7, noise="laplace")
    fit = fit_likelihood(program, weight=0.01, max_evaluations=3)
    assert fit.outcome.status is Status.EVALUATIONS
    assert fit.outcome.gap > 0.01 * 1e-4
    assert fit.dual <= smallest_objective(program, 0.01) + 1e-9


def test_the_default_weight_follows_from_what_noise_could_fit():
    """sqrt(V / 2 kappa): here two indicators of variance 1/4 and deviations 1 and 1/2."""
    values = np.array([[1.0, 1, 0, 0], [1.0, 0, 1, 0], [1, 1, 1, 1]])
    program = WeightProgram(values, np.zeros(3), [1.0, 0.5, 0.01], np.full(4, 0.25))
    information = 0.25 / 1.0**2 + 0.25 / 0.5**2
    assert default_weight(program) == pytest.approx(np.sqrt(information / 2))
    assert default_weight(program, divergence=4.0) == pytest.approx(np.sqrt(information / 8))
    assert fit_likelihood(program).weight == default_weight(program)
    # Where noise is small, no more than the functions that tell points apart can be lost to it.
    precise = WeightProgram(values, np.zeros(3), [0.1, 0.05, 0.01], np.full(4, 0.25))
    assert default_weight(precise, divergence=3.0) == pytest.approx(2 / 12)


def test_the_default_weight_keeps_its_bound_and_beats_weights_far_from_it():
    """The mean of the squared error in deviations, over 100 noises, is below what `default_weight` proves.

    It is 0.38 of sqrt(2 kappa V) here, with a standard error of 0.006; with a thirtieth of the weight it is 0.64, with
    thirty times 0.51. Means of 100 are so near to normal that each comparison's false-alarm probability is below 1e-12.
    """
    rng = np.random.default_rng(1)
    points, functions, scale = 200, 150, 0.05
    values = sparse.csr_array((rng.random((functions, points)) < 0.1).astype(float))
    prior = np.full(points, 1 / points)
    truth = rng.dirichlet(np.full(points, 0.5))
    kappa = float(rel_entr(truth, prior).sum())
    exact = values @ truth
    noises = scale * rng.normal(size=(100, functions))

    def mean_error(factor: float) -> float:
        errors = []
        for noise in noises:
            program = WeightProgram(values, exact + noise, scale, prior)
            fit = fit_likelihood(program, weight=factor * default_weight(program, divergence=kappa), tolerance=1e-3)
            errors.append(((program.averages(fit.weights) - exact) ** 2).sum() / scale**2)
        return float(np.mean(errors))

    weight = default_weight(WeightProgram(values, exact, scale, prior), divergence=kappa)
    powers = ((values.toarray() - (values @ prior)[:, None]) ** 2).sum(axis=0) / scale**2
    bound = weight * (kappa + np.log(prior @ np.exp(powers / (2 * weight**2))))
    assert bound == pytest.approx(np.sqrt(2 * kappa * (prior @ powers)), rel=0.05)
    error = mean_error(1.0)
    assert error <= bound
    assert error < mean_error(1 / 30) / 1.4
    assert error < mean_error(30.0) / 1.2


@pytest.mark.parametrize("share", [0.01, 0.25, 1.0])
def test_few_functions_lose_no_more_than_their_noise(share):
    """|u|^2 <= z^T u + weight * kappa - ..., hence |u|^2 <= |z|^2 + 2 weight * kappa, in every one of 50 noises.

    Small weights come near it: 0.97, 0.62 and 0.32 of the bound on average, with standard errors below 0.022. Half the
    noise's squares in place of all would fail for the smallest weight.
    """
    rng = np.random.default_rng(4)
    functions, scale = 6, 0.002
    values, prior = rng.normal(size=(functions, 60)), np.full(60, 1 / 60)
    truth = rng.dirichlet(np.full(60, 0.5))
    kappa = float(rel_entr(truth, prior).sum())
    weight = share * functions / kappa
    used = []
    for noise in rng.normal(size=(50, functions)):
        program = WeightProgram(values, values @ truth + scale * noise, scale, prior)
        fit = fit_likelihood(program, weight=weight, tolerance=1e-7)
        lost = float(((program.averages(fit.weights) - values @ truth) ** 2).sum()) / scale**2
        # A fit that is off by its gap has an error that is off by no more than sqrt(2 gap) in deviations.
        bound = float(noise @ noise) + 2 * weight * kappa
        assert lost <= (np.sqrt(bound) + np.sqrt(2 * fit.outcome.gap)) ** 2
        used.append(lost / bound)
    assert np.mean(used) > {0.01: 0.9, 0.25: 0.45, 1.0: 0.2}[share]


def test_the_weight_of_few_functions_is_taken_where_its_error_is_less():
    """Means over 40 noises of the squared error, in deviations, on both sides of the switch.

    The bounds cross at sqrt(2 kappa V) = 1.5 F, where the first one is still loose: its weight loses 0.41 F there and
    the other one 0.68 F; at 200 F they lose 1.16 F and 1.01 F. Paired over the noises, what is asserted holds by 15 and
    by 6 standard errors: false-alarm probabilities are below 2e-9 by the normal approximation.
    """
    rng = np.random.default_rng(1)
    functions, values = 20, (rng.random((20, 200)) < 0.3).astype(float)
    prior, truth = np.full(200, 1 / 200), rng.dirichlet(np.full(200, 0.5))
    kappa = float(rel_entr(truth, prior).sum())
    variances = ((values - (values @ prior)[:, None]) ** 2) @ prior

    def losses(ratio: float) -> tuple[float, float, bool]:
        """Of the weights for many and for few, and whether the rule takes the second, at sqrt(2 kappa V) = ratio F."""
        scale = float(np.sqrt(2 * kappa * variances.sum())) / (ratio * functions)
        many, few = np.sqrt(variances.sum() / (2 * kappa)) / scale, functions / (4 * kappa)
        found = np.zeros(2)
        for noise in np.random.default_rng(2).normal(size=(40, functions)):
            program = WeightProgram(values, values @ truth + scale * noise, scale, prior)
            for i, weight in enumerate((many, few)):
                fit = fit_likelihood(program, weight=weight, tolerance=1e-3)
                found[i] += ((program.averages(fit.weights) - values @ truth) ** 2).sum() / scale**2 / 40
        return float(found[0]), float(found[1]), default_weight(program, divergence=kappa) == pytest.approx(few)

    many, few, taken = losses(1.6)
    assert not taken
    assert many < few / 1.3
    many, few, taken = losses(200.0)
    assert taken
    assert few < many


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"targets": [0.1]}, r"`targets` must have shape \(2,\)"),
        ({"prior": [0.5, 0.5]}, r"`prior` must have shape \(3,\)"),
        ({"prior": [0.5, 0.4, 0.2]}, "`prior` must sum to 1. Found 1.1"),
        ({"prior": [0.5, 0.5, 0.0]}, "`prior` must be positive. Found 0.0"),
        ({"scales": [0.1, 0.0]}, "`scales` must be positive. Found 0.0"),
        ({"targets": [0.1, np.nan]}, "`targets` must be finite"),
        ({"values": np.full((2, 3), np.inf)}, "`values` must be finite"),
        ({"values": np.zeros((0, 3))}, "`values` must have one row for each function"),
    ],
)
def test_a_program_that_makes_no_sense_is_refused(change, message):
    given_fields = {"values": np.ones((2, 3)), "targets": [0.1, 0.2], "scales": 0.1, "prior": [0.5, 0.3, 0.2]}
    with pytest.raises(ValueError, match=message):
        WeightProgram(**(given_fields | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": 0.0}, "`weight` must be positive and finite. Found 0.0"),
        ({"tolerance": np.nan}, "`tolerance` must be positive and finite. Found nan"),
        ({"max_evaluations": 0}, "`max_evaluations` must be at least 1. Found 0"),
        ({"start": np.zeros(5)}, r"`start` must have shape \(2,\)"),
    ],
)
def test_a_fit_that_makes_no_sense_is_refused(change, message):
    program = WeightProgram(np.eye(2), [0.1, 0.2], 0.1, [0.5, 0.5])
    with pytest.raises(ValueError, match=message):
        fit_likelihood(program, **change)


def test_a_default_weight_needs_a_divergence():
    program = WeightProgram(np.eye(2), [0.1, 0.2], 0.1, [0.5, 0.5])
    with pytest.raises(ValueError, match=r"`divergence` must be a positive finite number of nats\. Found 0"):
        default_weight(program, divergence=0)
