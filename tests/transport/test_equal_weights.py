"""Transport between points of equal weights, against SciPy and against the general formula."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from counterfoil.transport import equal_weights, sliced, wasserstein

POINTS = st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=30).map(np.array)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(POINTS, POINTS)
def test_it_is_scipys_distance(a: np.ndarray, b: np.ndarray) -> None:
    expected = pytest.approx(wasserstein_distance(a, b), rel=1e-9, abs=1e-9)
    before = a.copy(), b.copy()
    assert equal_weights.line_costs(a, b, p=1) == expected
    assert wasserstein.distance(a, b) == expected
    assert all(np.array_equal(*pair) for pair in zip(before, (a, b), strict=True)), "the points stay as they were"


@pytest.mark.parametrize("p", [1, 2, 3.5])
@pytest.mark.parametrize("sizes", [(7, 7), (7, 5), (6, 3), (9000, 5001), (1, 4)])
def test_repeated_points_give_the_same_costs(p: float, sizes: tuple[int, int]) -> None:
    """n points m times and m points n times are coupled one by one in order."""
    rng = np.random.default_rng(sizes)
    a, b = rng.normal(size=sizes[0]), rng.normal(1, 2, size=sizes[1])
    if sizes[0] > 1000:
        weights = [np.full(size, 1 / size) for size in sizes]
        expected = wasserstein.line_costs(a, b, *weights, p=p)
    else:
        gaps = np.repeat(np.sort(a), sizes[1]) - np.repeat(np.sort(b), sizes[0])
        expected = float((np.abs(gaps) ** p).mean())
    assert equal_weights.line_costs(a, b, p=p) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("p", [1, 2])
def test_sliced_distances_do_not_depend_on_whether_equal_weights_are_given(p: float) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(40, 3)), rng.normal(0.5, 1, size=(25, 3))
    given_weights = {"weights_a": np.ones(40), "weights_b": np.ones(25)}
    found = [sliced.distance(a, b, rng=np.random.default_rng(4), p=p, **more) for more in ({}, given_weights)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)
