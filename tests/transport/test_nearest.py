"""Nearest neighbors against the definition, evaluated on every pair."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.transport import nearest


def by_definition(points, candidates):
    """The least float64 sum of squared differences, coordinate after coordinate; the first of equals."""
    chosen = []
    for point in points:
        best, which = np.inf, -1
        for index, candidate in enumerate(candidates):
            total = 0.0
            for x, y in zip(point, candidate, strict=True):
                total += (x - y) ** 2
            if total < best:
                best, which = total, index
        chosen.append(which)
    return chosen


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 8, 40])
@pytest.mark.parametrize("offset", [0.0, 10.0, 1e6])
def test_normal_points(dimension, offset):
    rng = np.random.default_rng(dimension)
    points = rng.normal(size=(60, dimension)) + offset
    candidates = rng.normal(size=(90, dimension)) + offset
    assert list(nearest.assign(points, candidates)) == by_definition(points, candidates)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data(), dimension=st.sampled_from([1, 2, 4, 5, 6]))
def test_ties_go_to_the_smallest_index(data, dimension):
    grid = st.lists(st.lists(st.integers(0, 2), min_size=dimension, max_size=dimension), min_size=1, max_size=25)
    scale = data.draw(st.sampled_from([1.0, 0.1, 1e-9, 3e7]))
    points = np.array(data.draw(grid)) * scale
    candidates = np.array(data.draw(grid)) * scale
    assert list(nearest.assign(points, candidates)) == by_definition(points, candidates)


@pytest.mark.parametrize("dimension", [2, 5])
def test_candidates_that_differ_in_the_last_digits(dimension):
    rng = np.random.default_rng(7)
    center = rng.normal(size=dimension)
    candidates = center + rng.integers(-3, 4, size=(200, dimension)) * 2.0**-52
    points = rng.normal(size=(40, dimension)) * 100
    assert list(nearest.assign(points, candidates)) == by_definition(points, candidates)


@pytest.mark.parametrize("dimension", [3, 6])
def test_one_far_candidate_does_not_blur_the_others(dimension):
    rng = np.random.default_rng(8)
    points, candidates = rng.normal(size=(30, dimension)), rng.normal(size=(50, dimension))
    candidates[17] = 1e12
    points[3] = 1e30
    assert list(nearest.assign(points, candidates)) == by_definition(points, candidates)


def test_many_candidates_on_one_sphere():
    # All 36 are equally far from the middle: more ties than the tree is first asked for.
    circle = [(x, y) for x in range(-65, 66) for y in range(-65, 66) if x * x + y * y == 65 * 65]
    candidates = np.array(circle[::-1], dtype=float)
    assert list(nearest.assign(np.zeros((1, 2)), candidates)) == [0]


def test_blocks_of_rows_agree_with_one_block():
    rng = np.random.default_rng(9)
    points, candidates = rng.normal(size=(2500, 6)), rng.normal(size=(40, 6))
    parts = [nearest.assign(part, candidates) for part in np.array_split(points, 7)]
    np.testing.assert_array_equal(nearest.assign(points, candidates), np.concatenate(parts))


def test_other_metrics():
    rng = np.random.default_rng(10)
    points, candidates = rng.integers(0, 3, size=(30, 3)), rng.integers(0, 3, size=(20, 3))
    distances = (points[:, None] != candidates[None]).sum(axis=-1)
    expected = distances.argmin(axis=1)
    matrix = nearest.assign(points, candidates, metric=lambda a, b: (a[:, None] != b[None]).sum(axis=-1))
    pair = nearest.assign(points, candidates, metric=lambda a, b: float((a != b).sum()))
    given_ = nearest.assign(distances, None, metric="precomputed")
    for found in (matrix, pair, given_):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("points", "candidates", "metric", "says"),
    [
        ([[0.0]], [[0.0, 1.0]], "euclidean", "same dimension"),
        ([[np.nan]], [[0.0]], "euclidean", "finite"),
        ([[0.0]], np.empty((0, 1)), "euclidean", "candidates"),
        ([[0.0]], [[0.0]], "cosine", "metric"),
        ([[0.0]], [], lambda a, b: 0.0, "at least one"),
        ([[0.0]], [[1.0]], lambda a, b: np.nan, "NaN"),
        ([[np.nan]], None, "precomputed", "NaN"),
    ],
)
def test_bad_input_is_refused(points, candidates, metric, says):
    with pytest.raises(ValueError, match=says):
        nearest.assign(points, candidates, metric=metric)
