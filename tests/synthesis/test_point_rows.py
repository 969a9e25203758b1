"""Rows from a measure: as many of each point as its weight says, in random order, by blocks that nobody notices."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.geometry.euclidean import Box, point_schema
from counterfoil.geometry.table_space import TableSpace
from counterfoil.schema import Schema
from counterfoil.synthesis import point_rows
from counterfoil.synthesis.point_rows import Placed, draw_rows
from counterfoil.synthesis.resampling import systematic

PLANE = point_schema((0, 0), (1, 1))
BOX = Box.of(PLANE)
RULED = Schema.from_toml("""
[columns.rank]
kind = "integer"
lower = 0
upper = 9

[columns.side]
kind = "categorical"
values = ["left", "right"]

[[rules]]
if = "side == 'left'"
then = "rank <= 4"
""")


def drawer(points: np.ndarray, weights: np.ndarray):
    return lambda n, rng: Placed(systematic(weights, n, rng), points.__getitem__)


def numbers(table: pa.Table) -> np.ndarray:
    return np.stack([table.column(name).to_numpy() for name in table.column_names], axis=1)


@pytest.mark.parametrize("block", [7, 64, 1 << 16])
def test_every_block_size_gives_the_even_draw_in_random_order(block, monkeypatch):
    monkeypatch.setattr(point_rows, "BLOCK_ROWS", block)
    rng = np.random.default_rng(0)
    points, weights = BOX.random(10, rng), np.arange(10.0)
    table = draw_rows(PLANE, BOX, drawer(points, weights), 450, rng)
    drawn = numbers(table)
    which = np.abs(drawn[:, None] - points[None]).sum(axis=2).argmin(axis=1)
    assert np.array_equal(drawn, points[which])
    assert np.bincount(which, minlength=10).tolist() == [10 * i for i in range(10)]
    assert (np.diff(which) < 0).any(), "an even draw comes sorted"
    # The ranks of the first 50 of 450 in random order: their mean deviates from 6.33 by less than six deviations.
    assert abs(which[:50].mean() - which.mean()) < 6 * which.std() / 50**0.5


def test_an_array_of_points_is_drawn_from_as_well():
    rng = np.random.default_rng(1)
    points = BOX.random(300, rng)
    table = draw_rows(PLANE, BOX, lambda n, rng: points[:n], 300, rng)
    assert np.array_equal(np.sort(numbers(table), axis=0), np.sort(points, axis=0))
    assert not np.array_equal(numbers(table), points)


@pytest.mark.parametrize("block", [16, 1 << 16])
def test_rows_that_break_the_rules_are_drawn_again(block, monkeypatch):
    monkeypatch.setattr(point_rows, "BLOCK_ROWS", block)
    rng = np.random.default_rng(2)
    space = TableSpace(RULED)
    points = np.array([[rank / 9, side] for rank in range(10) for side in (0.0, 1.0)])
    table = draw_rows(RULED, space, drawer(points, np.ones(20)), 1000, rng)
    assert table.num_rows == 1000
    pairs = list(zip(*table.to_pydict().values(), strict=True))
    assert all(rank <= 4 for rank, side in pairs if side == "left")
    # 5 of 15 pairs that are allowed are left: 333 of 1000, with deviation below 15.
    assert 240 < sum(side == "left" for _, side in pairs) < 430


def test_rules_that_no_point_meets_leave_no_row(monkeypatch):
    monkeypatch.setattr(point_rows, "_MOST_DRAWN", 10_000)  # at once, in each of the tries
    points = np.array([[1.0, 0.0]])  # rank 9, left
    rows = draw_rows(RULED, TableSpace(RULED), drawer(points, np.ones(1)), 10, np.random.default_rng(3))
    assert rows.num_rows == 0
    assert rows.column_names == ["rank", "side"]


def test_many_rows_take_little_memory_beside_themselves():
    """The rows, two small integers for each of them, and a few blocks; twice the rows would be one copy too many."""
    rng = np.random.default_rng(4)
    points, weights = BOX.random(1000, rng), rng.random(1000)
    draw_rows(PLANE, BOX, drawer(points, weights), 10, rng)
    tracemalloc.start()
    table = draw_rows(PLANE, BOX, drawer(points, weights), 1_000_000, rng)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert table.nbytes == 16_000_000
    assert table.nbytes < peak < 1.6 * table.nbytes


@pytest.mark.parametrize("seed", range(5))
def test_systematic_draws_are_those_of_equal_steps_along_the_cumulative_weights(seed):
    rng = np.random.default_rng(seed)
    weights = rng.random(40) * (rng.random(40) < 0.6) * 10.0 ** rng.integers(-12, 3, 40)
    for n in (1, 7, 1000):
        found = systematic(weights, n, np.random.default_rng(n))
        steps = (np.arange(n) + np.random.default_rng(n).random()) / n
        expected = np.searchsorted(np.cumsum(weights / weights.sum()), steps, side="right")
        assert len(found) == n
        assert np.count_nonzero(found != np.minimum(expected, np.flatnonzero(weights)[-1])) <= (n > 100)
        assert (weights[found] > 0).all()
