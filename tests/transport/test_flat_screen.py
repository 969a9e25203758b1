"""faiss finds the neighbors that are found without it, to the last tie; what it is not sure of it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.transport import flat_screen, nearest

pytest.importorskip("faiss", reason="faiss is an optional extra: pip install counterfoil[faiss]")


@pytest.fixture
def always(monkeypatch):
    """faiss is used however few points and candidates there are."""
    monkeypatch.setattr(flat_screen, "FEWEST_CANDIDATES", 2)
    monkeypatch.setattr(nearest, "FEWEST_ENTRIES", 1)


def without(points, candidates):
    """By definition: the first of the least float64 sums of squares, coordinate after coordinate."""
    total = np.zeros((len(points), len(candidates)))
    for x, y in zip(points.T, candidates.T, strict=True):
        total += np.square(x[:, None] - y)
    return total.argmin(axis=1)


@pytest.mark.parametrize("dimension", [5, 8, 16, 18])
@pytest.mark.parametrize("offset", [0.0, 10.0, 1e6])
@pytest.mark.usefixtures("always")
def test_normal_points(dimension, offset):
    rng = np.random.default_rng(dimension)
    points = rng.normal(size=(700, dimension)) + offset
    candidates = rng.normal(size=(900, dimension)) + offset
    np.testing.assert_array_equal(nearest.assign(points, candidates), without(points, candidates))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data(), dimension=st.sampled_from([5, 6, 9]), scale=st.sampled_from([1.0, 0.1, 1e-9, 3e7, 1e30]))
def test_ties_go_to_the_smallest_index(data, dimension, scale):
    seed = data.draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, (40, dimension)) * scale
    candidates = rng.integers(0, 3, (60, dimension)) * scale
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(flat_screen, "FEWEST_CANDIDATES", 2)
        patched.setattr(nearest, "FEWEST_ENTRIES", 1)
        np.testing.assert_array_equal(nearest.assign(points, candidates), without(points, candidates))


@pytest.mark.usefixtures("always")
def test_candidates_that_differ_in_the_last_digits_and_points_far_out():
    rng = np.random.default_rng(7)
    candidates = rng.normal(size=6) + rng.integers(-3, 4, size=(300, 6)) * 2.0**-52
    points = rng.normal(size=(60, 6)) * 100
    points[3], points[4] = 1e30, 1e300
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(nearest.assign(points, candidates), without(points, candidates))


@pytest.mark.parametrize("dimension", [5, 12, 18])
def test_whoever_is_called_sure_is_nearest_and_most_are(dimension):
    rng = np.random.default_rng(dimension)
    candidates = rng.uniform(-1, 1, size=(3000, dimension))
    points = rng.uniform(-1, 1, size=(2000, dimension))
    chosen, unsure = flat_screen._Flat(candidates)(points)
    assert unsure.mean() < 0.1
    np.testing.assert_array_equal(chosen[~unsure], without(points, candidates)[~unsure])


def test_a_wrong_guess_is_never_called_sure():
    """The proof does not lean on the guess: with any other, nothing is certain, not even of near ties."""
    rng = np.random.default_rng(1)
    candidates = rng.uniform(-1, 1, size=(512, 6))
    candidates[1::2] = candidates[::2] + rng.normal(size=(256, 6)) * 1e-4
    points = rng.uniform(-1, 1, size=(1000, 6))
    screen = flat_screen._Flat(candidates)
    right = without(points, candidates)

    class Wrong:
        def search(self, asked, k):
            assert len(asked) == len(points)
            return None, (right ^ 1)[:, None]

    screen._guess = Wrong()
    assert screen(points)[1].all()


def test_only_what_it_is_faster_for(monkeypatch):
    rng = np.random.default_rng(2)
    many, few = rng.normal(size=(9000, 6)), rng.normal(size=(100, 6))
    assert flat_screen.flat_screen(many) is not None
    assert flat_screen.flat_screen(few) is None
    assert flat_screen.flat_screen(rng.normal(size=(9000, 25))) is None
    monkeypatch.setattr(flat_screen, "find_spec", lambda name: None)
    assert flat_screen.flat_screen(many) is None
