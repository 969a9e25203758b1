"""The shapes of tails, against integrals, and where they are tried."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from counterfoil.graphical_model.tail_shapes import AS_IT_BEGINS, LIFTS, TailShapes, are_even
from counterfoil.schema import Schema

SLOPES = 80
SHAPES = TailShapes(slowest=0.05, trend=0.3, lone=False, even=True)


@pytest.mark.parametrize("away", [np.array([0.0, 1.0, 1.5, 4.0, 60.0]), np.array([60.0, 4.0, 1.5, 1.0, 0.25])])
def test_counts_are_the_integrals_of_the_densities(away: np.ndarray):
    counts, _ = SHAPES.tried(away, AS_IT_BEGINS, before=0.0)
    slopes = np.geomspace(0.05, 8.0, SLOPES)
    for place in (0, 17, 40, SLOPES - 1):
        densities = (lambda x, s=slopes[place]: math.exp(-s * x)), (lambda x, s=slopes[place]: (1 + s * x / 2) ** -2)
        for kind, density in enumerate(densities):
            exact = [abs(quad(density, *ends)[0]) for ends in pairwise(away)]
            assert counts[0, kind * SLOPES + place] == pytest.approx(exact, rel=1e-7, abs=1e-12)


def test_a_tail_is_likeliest_to_fall_as_what_lies_beside_it_and_exponentially():
    _, unusual = SHAPES.tried(np.arange(5.0), LIFTS, before=0.5)
    slopes = np.geomspace(0.05, 8.0, SLOPES)
    level, likeliest = np.unravel_index(np.argmin(unusual), unusual.shape)
    assert LIFTS[level] == 0
    assert slopes[likeliest] == pytest.approx(0.3, rel=0.05)
    power = unusual[:, SLOPES:] - unusual[:, :SLOPES]
    assert power == pytest.approx(np.full_like(power, 4.0))  # exp(-2) times as probable


def test_powers_are_tried_where_numbers_are_even_alone():
    uneven = TailShapes(slowest=0.05, trend=0.3, lone=True, even=False)
    counts, unusual = uneven.tried(np.arange(5.0), LIFTS, before=0.5)
    assert counts.shape == (len(LIFTS), SLOPES, 4)
    assert unusual.shape == (len(LIFTS), SLOPES)


@pytest.mark.parametrize("slope", [0.05, 1.0, 4.0])
def test_of_single_numbers_the_slope_says_which_part_of_the_last_the_next_one_is(slope: float):
    steep = TailShapes(slowest=slope, trend=3.0, lone=False, even=False)
    density = 100 * math.exp(-3.0 / 2)  # of the trend, half a cell beyond a count of 100
    counts, _ = steep.tried(np.arange(4.0), AS_IT_BEGINS, before=0.5)
    assert density * counts[0, 0] == pytest.approx(100 * np.exp(-slope * np.arange(1, 4)), rel=slope**2 / 12)
    wider, _ = steep.tried(np.arange(4.0), AS_IT_BEGINS, before=3.0)  # of wide runs, no more than that
    assert wider == pytest.approx(counts)


@pytest.mark.parametrize(
    ("facts", "even"),
    [
        ('kind = "integer"\nlower = 0\nupper = 32', True),
        ('kind = "integer"\nlower = 0\nupper = 900\nbins = 30', True),
        ('kind = "real"\nlower = 0\nupper = 50\nbins = 40', True),
        ('kind = "real"\nlower = 0\nupper = 1e6\nscale = "log"\ndecimals = 2', False),
        ('kind = "integer"\nlower = 0\nupper = 5000000', False),
    ],
)
def test_numbers_are_even_where_bins_do_not_grow_with_them(facts: str, even: bool):
    column = Schema.from_toml(f"[columns.x]\n{facts}\n")["x"]
    assert column.spans is not None
    assert are_even(column.spans, column.centers) is even


def test_what_has_no_sizes_is_even():
    assert are_even(np.array([1.0, 30.0, 365.0]), None)
