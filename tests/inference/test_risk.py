"""Bounds on linear models trained on synthetic rows, against their risks on the population; and their training."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from counterfoil.features.feature_map import UNIT, FeatureMap
from counterfoil.inference.finding import Unanswerable
from counterfoil.inference.l1_logistic import projected_to_l1, smallest_log_loss
from counterfoil.inference.label_moments import LabelMoments
from counterfoil.inference.linear_risk import risk
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema
from counterfoil.synthesis.table import encode
from noisy_moments import bought_moments, evidence_of, noised, noiseless

SCHEMA = Schema(
    (
        Real("x", -1.0, 1.0, bins=4),
        Categorical("kind", ("p", "q", "r", "s", "t", "u")),
        Boolean("good"),
        Real("z", 0.0, 2.0, bins=4, missing=True),
    )
)
NUMBERS = Schema((Real("x", -1.0, 1.0, bins=4), Boolean("good"), Real("z", 0.0, 2.0, bins=4)))


def table_of(rows, rng, *, missing=True):
    x, z = rng.uniform(-1, 1, rows), rng.uniform(0, 2, rows)
    kind = rng.integers(0, 6, rows)
    good = rng.random(rows) < 1 / (1 + np.exp(-2 * x + (z - 1) - 0.5 * (kind == 2)))
    columns = {"x": x, "kind": np.array(list("pqrstu"))[kind], "good": good}
    return pa.table({**columns, "z": np.where(rng.random(rows) < 0.1 * missing, np.nan, z)})


def design(schema, table, target, positive):
    features = FeatureMap(schema, target, positive)
    codes = encode(schema, table)
    numbers = {name: schema[name].numbers(table.column(name)) for name in features.numbers}
    return features, features.features(codes, numbers) / UNIT, features.labels(codes)


@pytest.mark.parametrize(("target", "positive"), [("good", 1), ("good", 0), ("kind", 2)])
@pytest.mark.parametrize("counted", [False, True])
def test_without_noise_moments_with_a_label_are_those_of_the_rows(target, positive, counted):
    table, rng = table_of(300, np.random.default_rng(0)), np.random.default_rng(1)
    features, points, labels = design(SCHEMA, table, target, positive)
    bought = [bought_moments(SCHEMA, table, 0.0, rng, counted=counted, charge=charge) for charge in (1, 2)]
    moments = LabelMoments.of(evidence_of(SCHEMA, bought, records=None if counted else 300).answers, features)
    np.testing.assert_allclose(moments.labeled, labels @ points / 300, atol=1e-6)
    np.testing.assert_allclose(moments.products, points.T @ points / 300, atol=1e-6)
    assert moments.charges == (1, 2)


@pytest.mark.parametrize(("target", "positive"), [("good", 1), ("kind", 2)])
@pytest.mark.parametrize("noise", ["discrete_gaussian", "discrete_laplace"])
@pytest.mark.parametrize("counted", [False, True])
def test_the_noise_of_all_moments_stays_below_its_bound(target, positive, noise, counted):
    """300 releases at a failure probability of 20%: more than 100 failures have probability below 1e-7."""
    table, rng = table_of(300, np.random.default_rng(0)), np.random.default_rng(1)
    features, points, labels = design(SCHEMA, table, target, positive)
    real, failures, largest = (labels @ points / 300, points.T @ points / 300), 0, 0.0
    exact = bought_moments(SCHEMA, table, 0.0, rng, counted=counted)
    for _ in range(300):
        bought = [noised(noiseless(exact, deviation, noise), rng) for deviation in (4.0, 8.0)]
        moments = LabelMoments.of(evidence_of(SCHEMA, bought, records=None if counted else 300).answers, features)
        bounds = moments.largest_noise(0.2)
        errors = [
            np.abs(one - other).max() for one, other in zip((moments.labeled, moments.products), real, strict=True)
        ]
        failures += errors[0] > bounds[0] or errors[1] > bounds[1]
        largest = max(largest, errors[0] / bounds[0], errors[1] / bounds[1])
    assert failures <= 100
    assert largest > 0.5


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 6), norm=st.floats(0.1, 5))
def test_the_projection_is_the_nearest_point_of_the_ball(seed, size, norm):
    """<v - p, q - p> <= 0 for every vertex q of the ball says so (Kolmogorov's criterion)."""
    vector = np.random.default_rng(seed).normal(size=size) * 3
    nearest = projected_to_l1(vector, norm)
    assert np.abs(nearest).sum() <= norm * (1 + 1e-9)
    away = vector - nearest
    assert norm * np.abs(away).max() - away @ nearest <= 1e-9 * (1 + norm * np.abs(vector).sum())


@pytest.mark.parametrize("norm", [0.5, 2.0, 50.0])
def test_the_smallest_log_loss_is_that_of_another_solver(norm):
    _, points, labels = design(SCHEMA, table_of(400, np.random.default_rng(3)), "good", 1)
    weights, gap = smallest_log_loss(points, labels, norm)
    size = points.shape[1]

    def loss(split):
        return np.logaddexp(0, -labels * (points @ (split[:size] - split[size:]))).mean()

    ball = {"type": "ineq", "fun": lambda split: norm - split.sum()}
    options = {"maxiter": 1000, "ftol": 1e-12}
    other = minimize(loss, np.zeros(2 * size), bounds=[(0, None)] * 2 * size, constraints=ball, options=options)
    mine = np.logaddexp(0, -labels * (points @ weights)).mean()
    assert np.abs(weights).sum() <= norm * (1 + 1e-12)
    assert 0 <= gap <= 1e-5
    assert other.fun - 1e-6 <= mine <= other.fun + gap + 1e-9


@pytest.mark.parametrize("norm", [1.0, 3.0])
@pytest.mark.parametrize(("deviation", "counted"), [(0.0, False), (40.0, False), (40.0, True)])
def test_all_bounds_hold_on_the_population(norm, deviation, counted):
    """In each of 12 releases: the bounds are far from tight, so that a failure is a mistake, not chance."""
    population = table_of(100_000, np.random.default_rng(50))
    _, points, labels = design(SCHEMA, population, "good", 1)
    best, _ = smallest_log_loss(points, labels, norm)
    rng, said = np.random.default_rng(4), 0
    for _ in range(12):
        real, rows = table_of(20_000, rng), table_of(3000, rng)
        bought = bought_moments(SCHEMA, real, deviation, rng, counted=counted)
        found = risk(evidence_of(SCHEMA, [bought], records=None if counted else 20_000, rows=rows), "good", norm=norm)
        _, own, own_labels = design(SCHEMA, rows, "good", 1)
        trained, _ = smallest_log_loss(own, own_labels, norm)
        values = [np.logaddexp(0, -labels * (points @ one)).mean() for one in (trained, best)]
        scores = points @ (trained - best)
        truths = [values[0], values[0] - values[1], np.sqrt(np.mean(scores**2)), np.linalg.norm(trained - best)]
        for one, value in zip(found, truths, strict=True):
            assert one.lower - 1e-4 <= value <= one.upper
        said += found[1].upper < math.log1p(math.exp(norm)) - math.log1p(math.exp(-norm))
    assert said == 12


def test_the_risk_is_told_more_sharply_where_noise_is_small():
    rng = np.random.default_rng(6)
    real, rows = table_of(20_000, rng), table_of(3000, rng)
    halves = []
    for deviation in (0.0, 50.0, 200.0):
        evidence = evidence_of(SCHEMA, [bought_moments(SCHEMA, real, deviation, rng)], records=20_000, rows=rows)
        loss = risk(evidence, "good")[0]
        halves.append((loss.noise, loss.upper - loss.lower))
        assert loss.noise < (loss.upper - loss.lower) / 2
    assert halves == sorted(halves)
    # What the polynomial leaves out on [-1, 1] is at most 6.0e-4, and features are rounded to 4096ths.
    assert halves[0][0] < 6.0e-4 + 1e-4 + 1e-3


def test_curvature_is_certified_where_there_is_one():
    rng = np.random.default_rng(7)
    real, rows = (table_of(size, rng, missing=False).select(["x", "good", "z"]) for size in (200_000, 200_000))
    population = table_of(400_000, np.random.default_rng(51), missing=False).select(["x", "good", "z"])
    evidence = evidence_of(NUMBERS, [bought_moments(NUMBERS, real, 10.0, rng)], records=200_000, rows=rows)
    distance = risk(evidence, "good")[3]
    assert distance.upper < 1
    assert not any("no curvature" in sentence for sentence in distance.basis)
    best, trained = (smallest_log_loss(*design(NUMBERS, one, "good", 1)[1:], 1.0)[0] for one in (population, rows))
    assert np.linalg.norm(best - trained) <= distance.upper


def test_indicators_that_add_up_to_the_constant_leave_no_curvature():
    rng = np.random.default_rng(8)
    evidence = evidence_of(
        SCHEMA, [bought_moments(SCHEMA, table_of(500, rng), 1.0, rng)], records=500, rows=table_of(200, rng)
    )
    distance = risk(evidence, "good", norm=1.5)[3]
    assert distance.upper == 3.0
    assert math.isnan(distance.estimate)
    assert distance.basis[-2:] == (
        "distance of its weights from the best model's: the upper end is what holds for any two models",
        "distance of its weights from the best model's: no curvature is certified",
    )


def test_what_all_bounds_rest_on_is_said_once_and_the_rest_by_name():
    rng = np.random.default_rng(8)
    evidence = evidence_of(
        SCHEMA, [bought_moments(SCHEMA, table_of(500, rng), 1.0, rng)], records=500, rows=table_of(200, rng)
    )
    found = risk(evidence, "good")
    said = [sentence for one in found for sentence in one.basis]
    for one in found:
        for sentence in one.basis:
            shared = said.count(sentence) > 1
            assert shared != any(sentence.startswith(f"{other.about}: ") for other in found)
    assert sum("take" in sentence and "at their word" in sentence for sentence in set(said)) == 1


def test_which_value_counts_as_1_is_the_users_choice():
    rng = np.random.default_rng(9)
    real = table_of(5000, rng)
    evidence = evidence_of(SCHEMA, [bought_moments(SCHEMA, real, 1.0, rng)], records=5000, rows=real)
    one, other = (risk(evidence, "good", value)[0] for value in ("true", "false"))
    assert one.estimate == pytest.approx(other.estimate, abs=1e-3)
    assert "good = false" in other.basis[1]
    assert risk(evidence, "kind", "r")[0].estimate < math.log(2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"target": "goood"}, r"Found 'goood'\. Did you mean 'good'\?"),
        ({"target": "kind"}, r"must have two values .* Column 'kind' has 6"),
        ({"target": "kind", "positive": "w"}, r"`positive` must be a value of 'kind'\. Found 'w'\. Known: p, q"),
        ({"target": "x"}, "Found 'x', which is real"),
        ({"target": "good", "norm": 0.0}, r"`norm` must be positive and finite\. Found 0\.0"),
        ({"target": "good", "level": 95}, "`level` must be a probability"),
    ],
)
def test_what_is_asked_wrongly_is_told(arguments, sentence):
    rng = np.random.default_rng(0)
    real = table_of(50, rng)
    evidence = evidence_of(SCHEMA, [bought_moments(SCHEMA, real, 1.0, rng)], records=50, rows=real)
    with pytest.raises(ValueError, match=sentence):
        risk(evidence, **arguments)


def test_what_was_never_measured_is_refused():
    rng = np.random.default_rng(0)
    real = table_of(50, rng)
    first = bought_moments(SCHEMA, real, 1.0, rng, order=1)
    with pytest.raises(Unanswerable, match="products of features with 'good' were never measured"):
        risk(evidence_of(SCHEMA, [first], records=50, rows=real), "good")
    second = bought_moments(SCHEMA, real, 1.0, rng)
    with pytest.raises(Unanswerable, match="has no rows"):
        risk(evidence_of(SCHEMA, [second], records=50, rows=real.slice(0, 0)), "good")
    with pytest.raises(Unanswerable, match="of no records"):
        risk(evidence_of(SCHEMA, [second], records=0, rows=real), "good")


def test_a_whole_number_of_two_values_is_a_target_too():
    rng = np.random.default_rng(0)
    schema = Schema((Real("x", -1.0, 1.0, bins=4), Integer("again", 0, 1)))
    x = rng.uniform(-1, 1, 2000)
    table = pa.table({"x": x, "again": (rng.random(2000) < (x + 1) / 2).astype(int)})
    found = risk(evidence_of(schema, [bought_moments(schema, table, 1.0, rng)], records=2000, rows=table), "again")
    _, points, labels = design(schema, table, "again", 1)
    weights, _ = smallest_log_loss(points, labels, 1.0)
    assert found[0].estimate == pytest.approx(np.logaddexp(0, -labels * (points @ weights)).mean(), abs=2e-3)
