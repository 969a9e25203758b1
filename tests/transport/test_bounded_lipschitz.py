"""The D_BL distance and projection against the linear programs over test functions that define them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from counterfoil.transport import bounded_lipschitz, partial, wasserstein

pytest.importorskip("ot", reason="exact transport needs POT")


def supremum(distances, signed, diameter):
    """sup of f . signed over |f_i| <= diameter and f_i - f_j <= distance_ij: the definition of D_BL."""
    solution = _program(distances, -signed, diameter, extra=0)
    return -solution.fun


def least_distance(distances, signed, diameter):
    """min over the simplex of D_BL(signed, mu) = sup over f of f . signed - max f, by minimax."""
    solution = _program(distances, np.append(-signed, 1.0), diameter, extra=1)
    return -solution.fun


def _program(distances, objective, diameter, extra):
    m = len(distances)
    i, j = np.nonzero(~np.eye(m, dtype=bool))
    rows = np.zeros((len(i) + extra * m, m + extra))
    rows[np.arange(len(i)), i] = 1.0
    rows[np.arange(len(i)), j] = -1.0
    limits = distances[i, j]
    if extra:
        rows[len(i) :, :m] = np.eye(m)
        rows[len(i) :, m] = -1.0
        limits = np.append(limits, np.zeros(m))
    solution = linprog(objective, rows, limits, bounds=[(-diameter, diameter)] * (m + extra), method="highs")
    assert solution.success
    return solution


def check(points, signed, metric="euclidean", diameter=None, distances=None):
    distances = cdist(points, points) if distances is None else distances
    price = distances.max() if diameter is None else diameter
    found = bounded_lipschitz.project(points, signed, metric=metric, diameter=diameter)
    tolerance = 1e-9 * (1 + price) * (1 + np.abs(signed).sum())
    assert found.weights.shape == signed.shape
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1, abs=1e-12)
    assert found.distance == pytest.approx(least_distance(distances, signed, price), abs=tolerance)
    assert found.distance == pytest.approx(supremum(distances, signed - found.weights, price), abs=tolerance)
    assert 0 <= found.gap <= tolerance
    return found


TOTALS = {"above one": 1.7, "one": 1.0, "below one": 0.4, "zero": 0.0, "negative": -0.8}


@pytest.mark.parametrize("dimension", [1, 2, 5])
@pytest.mark.parametrize("total", TOTALS.values(), ids=TOTALS.keys())
@pytest.mark.parametrize("noise", [0.02, 0.5])
def test_projection_equals_the_linear_program(dimension, total, noise):
    rng = np.random.default_rng([dimension, round(10 * total) + 20, round(100 * noise)])
    points = rng.uniform(size=(18, dimension))
    signed = rng.dirichlet(np.ones(18)) + noise * rng.normal(size=18)
    signed[:3] = 0.0
    signed[3:] += (total - signed.sum()) / 15
    check(points, signed)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_projection_of_any_small_signed_measure(data):
    m = data.draw(st.integers(1, 9))
    coordinates = st.integers(0, 3)  # on a grid, so that points and distances tie
    points = np.array(data.draw(st.lists(st.tuples(coordinates, coordinates), min_size=m, max_size=m)), float)
    signed = np.array(data.draw(st.lists(st.sampled_from([-1, -0.5, -0.1, 0, 0.1, 0.5, 1]), min_size=m, max_size=m)))
    diameter = data.draw(st.sampled_from([None, 0.8, 3.0, 10.0]))
    if diameter is None and cdist(points, points).max() == 0:
        diameter = 1.0
    check(points, signed, diameter=diameter)


def test_a_probability_measure_is_its_own_projection():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(40))
    found = bounded_lipschitz.project(rng.normal(size=(40, 2)), weights)
    np.testing.assert_allclose(found.weights, weights, atol=1e-15)
    assert found.distance == pytest.approx(0, abs=1e-14)


def test_all_negative_and_all_zero_measures_become_uniform():
    points = np.array([[0.0], [1.0], [3.0]])
    for signed in (np.array([-1.0, -2.0, -0.5]), np.zeros(3)):
        found = check(points, signed)
        np.testing.assert_allclose(found.weights, np.full(3, 1 / 3))
        assert found.distance == pytest.approx(3 * (1 - signed.sum()))


def test_excess_is_removed_in_proportion():
    found = check(np.array([[0.0], [1.0]]), np.array([3.0, 1.0]))
    np.testing.assert_allclose(found.weights, [0.75, 0.25])
    assert found.distance == pytest.approx(3.0)


def test_the_nearest_mass_covers_and_creation_goes_to_the_dearest():
    # 0.3 is missing at 0 and 0.3 at 10; 0.3 may be created: it goes where covering is dear.
    points = np.array([[0.0], [1.0], [10.0]])
    found = check(points, np.array([-0.3, 1.3, -0.3]))
    np.testing.assert_allclose(found.weights, [0, 1, 0], atol=1e-12)
    assert found.distance == pytest.approx(10 * 0.3 + 1 * 0.3)


def cityblock_matrix(a, b):
    return np.abs(a[:, None] - b[None]).sum(axis=-1)


def cityblock_pair(a, b):
    return float(sum(abs(x - y) for x, y in zip(a, b, strict=True)))


@pytest.mark.parametrize("form", ["matrix", "pair", "precomputed"])
def test_another_metric_in_every_form(form):
    rng = np.random.default_rng(5)
    points, signed = rng.normal(size=(14, 3)), rng.normal(size=14)
    signed += (1.2 - signed.sum()) / 14
    distances = cityblock_matrix(points, points)
    if form == "precomputed":
        check(distances, signed, metric="precomputed", distances=distances)
    else:
        check(points, signed, metric={"matrix": cityblock_matrix, "pair": cityblock_pair}[form], distances=distances)


@pytest.mark.parametrize("seed", range(6))
def test_distance_equals_the_supremum(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(9, 2)), rng.normal(size=(7, 2))
    weights_a, weights_b = rng.normal(size=9), rng.normal(size=7)
    everything = np.concatenate([a, b])
    distances = cdist(everything, everything)
    signed = np.concatenate([weights_a, -weights_b])
    for diameter in (None, 0.5 * distances.max(), 3 * distances.max()):
        expected = supremum(distances, signed, distances.max() if diameter is None else diameter)
        found = bounded_lipschitz.distance(a, weights_a, b, weights_b, diameter=diameter)
        assert found == pytest.approx(expected, rel=1e-9)
    precomputed = bounded_lipschitz.distance(distances, weights_a, None, weights_b, metric="precomputed")
    assert precomputed == pytest.approx(supremum(distances, signed, distances.max()), rel=1e-9)


def test_distance_of_probability_measures_is_wasserstein():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(30, 3)), rng.normal(size=(20, 3))
    weights_a, weights_b = rng.dirichlet(np.ones(30)), rng.dirichlet(np.ones(20))
    expected = wasserstein.distance(a, b, weights_a=weights_a, weights_b=weights_b)
    assert bounded_lipschitz.distance(a, weights_a, b, weights_b) == pytest.approx(expected, rel=1e-10)


def test_distance_of_measures_of_one_sign_is_the_difference_in_mass():
    points = np.array([[0.0], [2.0]])
    assert bounded_lipschitz.distance(points, [1, 1], points, [-1, 0]) == pytest.approx(6.0)


@pytest.mark.parametrize("case", ["near", "far", "repeated", "below one", "thresholded metric"])
def test_screening_meets_the_simplex_over_all_moves(case, monkeypatch):
    rng = np.random.default_rng(11)
    m, metric, diameter = 900, "euclidean", None
    points = rng.normal(size=(m, 2))
    signed = rng.dirichlet(np.full(m, 0.1)) + rng.normal(size=m) * 2 / m
    if case == "far":  # a heavy point must cover a deficit on the other side
        signed += points[:, 0] / m
        signed[np.argmin(points[:, 0])] += 1
    if case == "repeated":  # resampled populations repeat points
        points = points[rng.integers(0, 40, size=m)]
    if case == "below one":
        signed -= 0.4 / m
    if case == "thresholded metric":
        metric, diameter = (lambda a, b: np.minimum(cdist(a, b), 0.3)), 1.0
    whole = bounded_lipschitz.project(points, signed, metric=metric, diameter=diameter)
    monkeypatch.setattr(partial, "ALL_MOVES", 0)
    monkeypatch.setattr(partial, "COARSE_POINTS", 60)
    found = bounded_lipschitz.project(points, signed, metric=metric, diameter=diameter)
    assert found.distance == pytest.approx(whole.distance, rel=1e-8)
    assert found.gap <= 1e-8 * found.distance
    # The weights are as good as the transport they came from.
    achieved = bounded_lipschitz.distance(points, signed, points, found.weights, metric=metric, diameter=diameter)
    assert achieved == pytest.approx(found.distance, rel=1e-6)


def test_a_solver_that_stops_early_says_by_how_much(monkeypatch):
    rng = np.random.default_rng(2)
    points, signed = rng.normal(size=(600, 2)), rng.normal(size=600) / 100
    signed += (1 - signed.sum()) / 600
    exact = bounded_lipschitz.project(points, signed)
    for name, value in {"ALL_MOVES": 0, "COARSE_POINTS": 5, "MOVES_ADDED": 1, "CELL_MOVES": 1, "ROUNDS": 1}.items():
        monkeypatch.setattr(partial, name, value)
    found = bounded_lipschitz.project(points, signed)
    assert found.distance > exact.distance * (1 + 1e-6)
    assert found.distance - found.gap <= exact.distance * (1 + 1e-12)
    with pytest.raises(ArithmeticError, match="only found to lie between"):
        bounded_lipschitz.distance(points, signed, points[:1], np.ones(1))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"points": [[0.0], [np.nan]], "signed_weights": [1, 0]}, "finite"),
        ({"points": [[0.0], [1.0]], "signed_weights": [1, np.inf]}, "finite"),
        ({"points": [[0.0], [1.0]], "signed_weights": [1, 0, 0]}, "one entry per point"),
        ({"points": [[0.0], [1.0]], "signed_weights": [1, 0], "diameter": 0.0}, "positive"),
        ({"points": [[0.0], [1.0]], "signed_weights": [1, 0], "metric": "cosine"}, "euclidean"),
        ({"points": np.ones((2, 3)), "signed_weights": [1, 0], "metric": "precomputed"}, "square"),
        ({"points": np.ones((2, 2)), "signed_weights": [1, 0], "metric": "precomputed"}, "zero from itself"),
        ({"points": [[0, 1], [2, 0]], "signed_weights": [1, 0], "metric": "precomputed"}, "both ways"),
        ({"points": [[0, -1], [-1, 0]], "signed_weights": [2, -1], "metric": "precomputed"}, "not negative"),
        ({"points": np.ones((2, 1)), "signed_weights": [1, 0], "metric": lambda a, b: np.ones(4)}, "."),
        ({"points": np.empty((0, 2)), "signed_weights": []}, "non-empty"),
    ],
)
def test_bad_input_is_refused(arguments, says):
    weights = arguments.pop("signed_weights")
    with pytest.raises((ValueError, TypeError), match=says):
        bounded_lipschitz.project(arguments.pop("points"), weights, **arguments)
