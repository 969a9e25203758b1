"""Histograms of nearest neighbors and of grid cells: exact answers, and sensitivities over all neighbors."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block
from counterfoil.curator.queries.nearest import NearestNeighborHistogram
from counterfoil.curator.queries.partition import PartitionCounts
from counterfoil.geometry.euclidean import Ball, Box
from counterfoil.geometry.partition import Grid, Halving, Intervals

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
PLANE = Box(("x", "y"), (0.0, 0.0), (2.0, 2.0))


class Points:
    """Records that answer from points [n, d] in blocks of two."""

    def __init__(self, points, dimension=2):
        self.points = np.asarray(points, dtype=float).reshape(-1, dimension)

    def fold(self, partial, columns, numbers=()):
        assert tuple(columns) == ()
        blocks = [self.points[i : i + 2] for i in range(0, len(self.points), 2)] or [self.points]
        return sum(partial(Block(len(b), {}, dict(zip(numbers, b.T, strict=True)))) for b in blocks)


QUERIES = {
    "nearest": NearestNeighborHistogram(PLANE, np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [1.0, 1.0]])),
    "grid": PartitionCounts(Grid(PLANE, (2, 3))),
    "intervals": PartitionCounts(Intervals(Halving(PLANE, 4), np.array([0, 3, 8, 12]))),
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_sensitivities_hold_for_all_neighbors_and_are_attained(query):
    places = list(itertools.product([0.0, 1.0, 1.9], repeat=2))
    added, replaced = [], []
    for base in [(), ((0.0, 1.0),), ((0.0, 0.0), (1.9, 1.9))]:
        before = query.exact(Points(base))
        answers = [query.exact(Points((*base, place))) for place in places]
        added += [answer - before for answer in answers]
        replaced += [one - other for one in answers for other in answers]
    for relation, changes in ((ADD, added), (REPLACE, replaced)):
        assert max(np.abs(change).sum() for change in changes) == query.l1_sensitivity(relation)
        assert max(np.linalg.norm(change) for change in changes) == pytest.approx(query.l2_sensitivity(relation))
    assert query.l2_sensitivity(REPLACE) == pytest.approx(math.sqrt(2))


def test_ties_go_to_the_smallest_index():
    query = NearestNeighborHistogram(PLANE, np.array([[2.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1.0, 2.0]]))
    assert query.exact(Points([(1.0, 1.0), (0.0, 1.0), (0.5, 1.5)])).tolist() == [1, 2, 0, 0]


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(0, 30), st.sampled_from([1, 2, 6]))
def test_the_histogram_is_brute_force(seed, n_candidates, n, dimension):
    rng = np.random.default_rng(seed)
    names = tuple(f"x{i}" for i in range(dimension))
    space = Ball(names, radius=1.0)
    candidates = rng.integers(-2, 3, (n_candidates, dimension)) / 4
    points = rng.integers(-4, 5, (n, dimension)) / 4  # many ties, and points outside of the ball
    squares = ((space.project(points)[:, None, :] - candidates[None]) ** 2).sum(axis=2)
    expected = np.bincount(squares.argmin(axis=1), minlength=n_candidates)
    found = NearestNeighborHistogram(space, candidates).exact(Points(points, dimension))
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("candidates", [np.zeros((0, 2)), np.zeros(2), np.array([[np.nan, 0.0]])])
def test_candidates_must_be_finite_points(candidates):
    with pytest.raises(ValueError, match="`candidates` must be finite points"):
        NearestNeighborHistogram(PLANE, candidates)
