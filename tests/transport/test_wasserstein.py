import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance

from counterfoil.transport import wasserstein


def by_linear_program(costs, mass_a, mass_b):
    n, m = costs.shape
    marginals = np.vstack([np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))])
    return linprog(costs.ravel(), A_eq=marginals, b_eq=np.concatenate([mass_a, mass_b]), method="highs").fun


@pytest.mark.parametrize("p", [1, 2, 3.5])
@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_equals_the_linear_program(p, dimension):
    pytest.importorskip("ot", reason="exact transport needs POT")
    rng = np.random.default_rng([dimension, round(2 * p)])
    a, b = rng.normal(size=(11, dimension)), rng.normal(size=(8, dimension)) + 0.5
    mass_a, mass_b = rng.dirichlet(np.ones(11)), rng.dirichlet(np.ones(8))
    mass_a[2] = 0.0
    expected = by_linear_program(cdist(a, b) ** p, mass_a / mass_a.sum(), mass_b) ** (1 / p)
    assert wasserstein.distance(a, b, weights_a=mass_a, weights_b=mass_b, p=p) == pytest.approx(expected, rel=1e-8)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    a=st.lists(st.integers(-5, 5), min_size=1, max_size=8),
    b=st.lists(st.integers(-5, 5), min_size=1, max_size=8),
    data=st.data(),
)
def test_on_the_line_equals_scipy(a, b, data):
    weights = st.floats(0.01, 1)
    weights_a = data.draw(st.lists(weights, min_size=len(a), max_size=len(a)))
    weights_b = data.draw(st.lists(weights, min_size=len(b), max_size=len(b)))
    expected = wasserstein_distance(a, b, weights_a, weights_b)
    assert wasserstein.distance(a, b, weights_a=weights_a, weights_b=weights_b) == pytest.approx(expected, abs=1e-12)


def test_the_line_needs_no_solver(monkeypatch):
    monkeypatch.setitem(sys.modules, "ot", None)
    assert wasserstein.distance([0.0, 2.0], [1.0, 5.0], p=2) == pytest.approx(np.sqrt((1 + 9) / 2))
    with pytest.raises(ImportError, match=r'pip install "counterfoil\[transport\]"'):
        wasserstein.distance(np.zeros((2, 2)), np.ones((2, 2)))


def test_other_metrics():
    pytest.importorskip("ot", reason="exact transport needs POT")
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    distances = cdist(a, b, "cityblock")
    expected = by_linear_program(distances, np.full(9, 1 / 9), np.full(9, 1 / 9))
    for found in (
        wasserstein.distance(a, b, metric=lambda x, y: cdist(x, y, "cityblock")),
        wasserstein.distance(a, b, metric=lambda x, y: np.abs(x - y).sum()),
        wasserstein.distance(distances, None, metric="precomputed"),
    ):
        assert found == pytest.approx(expected, rel=1e-10)


def test_screening_equals_the_simplex_over_all_moves(monkeypatch):
    pytest.importorskip("ot", reason="exact transport needs POT")
    from counterfoil.transport import partial

    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(500, 2)), rng.normal(size=(400, 2)) * 0.3 + 1
    weights = rng.dirichlet(np.ones(500))
    whole = wasserstein.distance(a, b, weights_a=weights)
    monkeypatch.setattr(wasserstein, "DENSE_COSTS", 0)
    monkeypatch.setattr(partial, "ALL_MOVES", 0)
    monkeypatch.setattr(partial, "COARSE_POINTS", 50)
    assert wasserstein.distance(a, b, weights_a=weights) == pytest.approx(whole, rel=1e-8)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"points_b": [[1.0, 2.0]]}, "same dimension"),
        ({"p": 0.5}, "at least 1"),
        ({"weights_a": [1.0, -1.0]}, "non-negative"),
        ({"weights_a": [0.0, 0.0]}, "not all zero"),
        ({"weights_a": [1.0]}, "one entry per point"),
        ({"points_b": [np.nan, 1.0]}, "finite"),
        ({"metric": "precomputed", "points_a": [[-1.0]]}, "non-negative"),
        ({"metric": "manhattan"}, "euclidean"),
    ],
)
def test_bad_input_is_refused(arguments, says):
    arguments = {"points_a": [0.0, 1.0], "points_b": [1.0, 2.0]} | arguments
    with pytest.raises(ValueError, match=says):
        wasserstein.distance(arguments.pop("points_a"), arguments.pop("points_b"), **arguments)
