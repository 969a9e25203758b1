"""Weighted points in the plane: no weight is lost, and a map keeps its proportions."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from counterfoil.pictures.point_map import MOST_CIRCLES, point_map, summed_squares
from counterfoil.pictures.svg import render


def test_squares_are_darkest_where_most_weight_is():
    rng = np.random.default_rng(5)
    x, y, weights = rng.normal(size=3000), rng.normal(size=3000), rng.random(3000)
    squares = summed_squares(x, y, weights)
    totals = []
    for one in squares:
        inside = (x >= one["x"]) & (y >= one["y"])
        inside &= (x < one["x2"]) | (one["x2"] == x.max()) & (x <= one["x2"])
        inside &= (y < one["y2"]) | (one["y2"] == y.max()) & (y <= one["y2"])
        totals.append(weights[inside].sum())
    totals = np.array(totals)
    steps = np.array([int(one["step"]) for one in squares])
    assert totals.sum() == pytest.approx(weights.sum())
    assert steps[totals.argmax()] == 5
    for step in range(1, 6):
        chosen = totals[steps == step]
        least, most = 2.0 ** (-1.5 * (6 - step)), 2.0 ** (-1.5 * (5 - step))
        assert (chosen <= totals.max() * most * (1 + 1e-9)).all()
        assert step == 1 or (chosen >= totals.max() * least * (1 - 1e-9)).all()


def test_few_points_are_circles_by_weight_and_those_without_are_left_out():
    chart = point_map(np.arange(4.0), np.arange(4.0), np.array([0.5, 0.3, 0.2, 0.0]), titles=("a", "b"))
    assert len(chart.to_dict()["data"]["values"]) == 3
    assert MOST_CIRCLES > 4


def test_a_map_is_as_high_as_the_land():
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-124, -114, 1000), rng.uniform(32, 42, 1000)
    size = point_map(x, y, np.full(1000, 1e-3), titles=("x", "y"), geographic=True).to_dict()
    expected = np.ptp(y) / (np.ptp(x) * math.cos(math.radians((y.min() + y.max()) / 2)))
    assert size["height"] / size["width"] == pytest.approx(expected, rel=0.01)


def test_a_single_point_is_a_picture():
    picture = render(point_map(np.ones(1), np.ones(1), np.ones(1), titles=("<a>", "b")), title="t", description="d")
    assert "&lt;a&gt;</text>" in picture
    assert re.search("<path", picture)
