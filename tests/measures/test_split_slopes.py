"""Slopes against densities known in closed form and against counting on the finest grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.partition import Halving
from counterfoil.measures.split_slopes import LeafMeasure
from counterfoil.measures.split_tree import SplitTree


def random_leaves(rng: np.random.Generator, depth: int, dimension: int, floor: float) -> LeafMeasure:
    tree = SplitTree()
    for _ in range(depth):
        which = rng.random(len(tree.codes[-1])) < 0.8
        which[0] = True
        tree.grow(which)
    means = [rng.random(len(c)) for c in tree.codes]
    return LeafMeasure.of(tree, means, dimension, floor=floor)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 3), st.integers(1, 7))
def test_slopes_compare_what_lies_beside_a_cell_and_beside_its_halves(seed, dimension, depth):
    """Neighbors are found by moving a point of each cell by the cell's length, masses by adding finest cells."""
    rng = np.random.default_rng(seed)
    leaves = random_leaves(rng, depth, dimension, floor=0.1)
    finest = depth + 1
    order = Halving(Box(tuple("xyz"[:dimension]), (0.0,) * dimension, (1.0,) * dimension), finest)
    density = np.repeat(leaves.weights / 2.0 ** (finest - leaves.depths), 2 ** (finest - leaves.depths))

    def beside(t, codes, axis, sign):
        there = order.draw(codes, np.full(len(codes), t), rng)
        there[:, axis] += sign * 0.5 ** len(range(axis, t, dimension))
        outside = (there[:, axis] < 0) | (there[:, axis] > 1)
        masses = density.reshape(2**t, -1).sum(axis=1)
        return np.where(outside, np.nan, masses[order.codes(np.clip(there, 0, 1)) >> (finest - t)])

    t = int(rng.integers(0, depth + 1))
    codes, axis = np.arange(2**t), t % dimension
    own = density.reshape(2**t, -1).sum(axis=1)
    before, after = (np.where(np.isnan(m), own, m) for m in (beside(t, codes, axis, sign) for sign in (-1, 1)))
    first, second = (
        sum(
            np.nan_to_num(beside(t + 1, 2 * codes + half, other, sign))
            for other in range(dimension)
            for sign in (-1, 1)
            if other != axis
        )
        for half in (0, 1)
    )
    expected = np.log((after + 0.1) / (before + 0.1)) + np.log((second + 0.1) / (first + 0.1))
    assert leaves.slopes(t, codes) == pytest.approx(expected, abs=1e-9)


def full_tree(depth: int) -> SplitTree:
    tree = SplitTree()
    for _ in range(depth):
        tree.grow(np.ones(len(tree.codes[-1]), dtype=bool))
    return tree


def test_halves_of_a_log_linear_density_are_exact():
    """On a line, where nothing lies across, a quarter of the slope is right."""
    masses = np.diff(np.exp(2 * np.arange(65) / 64))
    line = LeafMeasure.of(full_tree(6), [np.zeros(2**t) for t in range(6)] + [masses], 1, floor=1e-12)
    exact = np.diff(np.exp(2 * np.arange(129) / 128))
    assert line.halved(strength=0.25).weights[2:-2] == pytest.approx(exact[2:-2], rel=1e-9)
    assert line.slopes_of(full_tree(6))[3][1:-1] == pytest.approx(4 * 2 / 16, rel=1e-9)


def test_an_edge_in_the_rows_beside_goes_on():
    """All mass is left of x = 3/8, but for one cell, [1/4, 1/2] x [1/2, 3/4], of which one knows only its mass."""
    cells = Halving(Box(("x", "y"), (0.0, 0.0), (1.0, 1.0)), 5)
    centers = cells.draw(np.arange(32), np.full(32, 5), np.random.default_rng(0))
    masses = np.where(centers[:, 0] < 3 / 8, 1.0, 0.0)
    cell = int(cells.codes(np.array([[0.3, 0.6]]))[0]) >> 1
    masses[2 * cell : 2 * cell + 2] = 0.5
    leaves = LeafMeasure.of(full_tree(5), [np.zeros(2**t) for t in range(5)] + [masses], 2, floor=0.1)
    along = across = np.log(0.1 / 2.1)
    assert leaves.slopes(4, np.array([cell]))[0] == pytest.approx(along + across)


def test_halving_keeps_masses_and_order():
    leaves = random_leaves(np.random.default_rng(0), 6, 2, floor=0.01)
    for strength in (0.0, 1.5):
        halves = leaves.halved(strength=strength)
        assert halves.weights.reshape(-1, 2).sum(axis=1) == pytest.approx(leaves.weights)
        assert (halves.weights >= 0).all()
        assert (np.diff(halves.codes << (8 - halves.depths)) > 0).all()
        assert (halves.codes >> 1).tolist() == np.repeat(leaves.codes, 2).tolist()
        even = np.abs(halves.weights - np.repeat(leaves.weights / 2, 2)).max()
        assert even < 1e-12 if strength == 0 else even > 1e-3
