"""Slopes against densities known in closed form and against counting on the finest grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.evolution.euclidean import Box
from counterfoil.evolution.partition import Halving
from counterfoil.evolution.split_slopes import LeafMeasure
from counterfoil.evolution.split_tree import SplitTree


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
def test_slopes_compare_the_cells_on_either_side(seed, dimension, depth):
    rng = np.random.default_rng(seed)
    leaves = random_leaves(rng, depth, dimension, floor=0.1)
    order = Halving(Box(tuple("xyz"[:dimension]), (0.0,) * dimension, (1.0,) * dimension), depth)
    density = np.repeat(leaves.weights / 2.0 ** (depth - leaves.depths), 2 ** (depth - leaves.depths))
    t = int(rng.integers(0, depth + 1))
    codes = np.arange(2**t)
    masses = density.reshape(2**t, -1).sum(axis=1)
    # A point of each cell, moved by the cell's length along the side that is halved next.
    inside = order.draw(codes, np.full(len(codes), t), rng)
    axis = t % dimension
    step = np.zeros(dimension)
    step[axis] = 0.5 ** (t // dimension)
    logs = []
    for move in (step, -step):
        there = inside + move
        outside = (there[:, axis] < 0) | (there[:, axis] > 1)
        neighbors = np.where(outside, codes, order.codes(there) >> (depth - t))
        logs.append(np.log(masses[neighbors] + 0.1))
    assert leaves.slopes(np.full(len(codes), t), codes) == pytest.approx((logs[0] - logs[1]) / 4, abs=1e-9)


def test_halves_of_a_log_linear_density_are_exact():
    tree = SplitTree()
    for _ in range(6):
        tree.grow(np.ones(len(tree.codes[-1]), dtype=bool))
    tree.tell(np.zeros(64), 1.0)
    masses = np.diff(np.exp(2 * np.arange(65) / 64))
    leaves = LeafMeasure.of(tree, [np.zeros(2**t) for t in range(6)] + [masses], 1, floor=1e-12)
    halves = leaves.halved(strength=1.0)
    exact = np.diff(np.exp(2 * np.arange(129) / 128))
    assert halves.weights[2:-2] == pytest.approx(exact[2:-2], rel=1e-9)
    assert halves.weights.sum() == pytest.approx(masses.sum())
    assert leaves.slopes_of(tree)[3][1:-1] == pytest.approx(2 / 16, rel=1e-9)


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
