"""Partitions: cells nest, hold their draws, and cover the box."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.partition import Grid, Halving, Intervals

BOX = Box(("a", "b", "c"), (-1.0, 3.0, 0.0), (2.0, 3.5, 1.0))
seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_cells_of_a_grid_nest_and_hold_their_draws(seed):
    rng = np.random.default_rng(seed)
    coarse, fine = Grid(BOX, (4, 2, 1)), Grid(BOX, (8, 8, 3))
    points = BOX.random(40, rng)
    parents = np.unravel_index(fine.assign(points), fine.shape) // np.array([[2], [4], [3]])
    assert np.array_equal(np.ravel_multi_index(tuple(parents), coarse.shape), coarse.assign(points))
    cells = rng.integers(0, fine.size, 40)
    assert np.array_equal(fine.assign(fine.draw(cells, rng)), cells)
    assert np.array_equal(fine.assign(fine.centers(cells)), cells)
    assert fine.assign(np.array([[9.0, 9.0, 9.0], [-9.0, -9.0, -9.0]])).tolist() == [fine.size - 1, 0]


@given(seeds, st.integers(0, 20), st.integers(0, 20))
def test_a_halving_order_nests_and_holds_its_draws(seed, depth, less):
    rng = np.random.default_rng(seed)
    coarse, fine = Halving(BOX, max(0, depth - less)), Halving(BOX, depth)
    points = BOX.random(40, rng)
    assert np.array_equal(fine.codes(points) >> (fine.depth - coarse.depth), coarse.codes(points))
    depths = rng.integers(0, depth + 1, 40)
    codes = np.array([rng.integers(0, 2**d) for d in depths])
    assert np.array_equal(fine.codes(fine.draw(codes, depths, rng)) >> (depth - depths), codes)


def test_a_halving_order_cuts_the_sides_in_turn():
    order = Halving(BOX, 4)
    low, high = np.array(BOX.lower), np.array(BOX.upper)
    for axis in range(3):
        corner = low + np.where(np.arange(3) == axis, 0.6, 0.1) * (high - low)
        assert order.codes(corner[None])[0] == 1 << (3 - axis)


def test_intervals_are_counted_by_where_they_start():
    order = Halving(Box(("x",), (0.0,), (1.0,)), 3)
    cells = Intervals(order, np.array([0, 1, 4]))
    assert cells.assign(np.array([[0.0], [0.12], [0.13], [0.49], [0.5], [1.0], [7.0]])).tolist() == [
        0,
        0,
        1,
        1,
        2,
        2,
        2,
    ]
    for starts in ([], [1, 2], [0, 0], [0, 2, 1]):
        with pytest.raises(ValueError, match="increase from 0"):
            Intervals(order, np.array(starts))


def test_shapes_and_depths_are_checked():
    with pytest.raises(ValueError, match="at least one cell"):
        Grid(BOX, (2, 0, 2))
    with pytest.raises(ValueError, match="at least one cell"):
        Grid(BOX, (2, 2))
    with pytest.raises(ValueError, match="from 0 to 62"):
        Halving(BOX, 63)
