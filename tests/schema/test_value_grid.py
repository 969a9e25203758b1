"""The public grid: every finite number has one place, and the finer intervals lie within the coarse ones."""

from __future__ import annotations

import math
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.schema.value_grid import (
    CELLS,
    REACH,
    WHOLE_PLACES,
    bounds_of,
    fine_edges,
    places_of,
    with_years,
    year_edges,
)

finite = st.floats(allow_nan=False, allow_infinity=False)


def place_of(number: float) -> int:
    return int(places_of(np.array([number]))[0])


@given(finite)
def test_every_finite_number_has_exactly_one_place_and_its_negative_the_mirrored_one(number):
    place = place_of(number)
    assert 0 <= place < CELLS
    lower, upper = bounds_of(place, place)
    assert lower <= number <= upper
    inside = [other for other in range(CELLS) if _holds(other, number)]
    assert inside == [place]
    assert place_of(-number) == 2 * REACH - place


def _holds(place: int, number: float) -> bool:
    """By the bounds: those nearer to zero belong to a place, except zero itself, and those further out do not."""
    if place == REACH:
        return number == 0
    lower, upper = bounds_of(place, place)
    near, far = sorted((abs(lower), abs(upper)))
    magnitude = abs(number)
    right = (number > 0) == (place > REACH) and number != 0
    return right and near <= magnitude and (magnitude < far or far == sys.float_info.max)


def test_the_ends_of_the_floats_have_places():
    tiny, huge = 5e-324, sys.float_info.max
    assert [place_of(x) for x in (-huge, -tiny, -0.0, 0.0, tiny, huge)] == [
        0,
        REACH - 1,
        REACH,
        REACH,
        REACH + 1,
        CELLS - 1,
    ]


@given(st.integers(-(10**20), 10**20))
def test_whole_numbers_lie_at_places_of_whole_numbers(number):
    assert place_of(float(number)) in WHOLE_PLACES


@given(st.integers(0, CELLS - 1), st.integers(0, CELLS - 1), st.integers(1, 256), st.booleans())
def test_fine_edges_ascend_and_hold_all_numbers_of_their_places(one, other, cells, whole):
    first, last = sorted((one, other))
    if whole:
        first, last = (int(WHOLE_PLACES[np.abs(WHOLE_PLACES - place).argmin()]) for place in (first, last))
    edges = np.array(fine_edges(first, last, cells, whole=whole))
    lower, upper = bounds_of(first, last)
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
    assert edges[0] <= lower <= upper <= edges[-1]
    assert len(edges) <= 2 * cells + 2 * CELLS + 80
    if whole:
        assert (edges == np.floor(edges)).all()
        assert upper < edges[-1] or upper == sys.float_info.max


def test_a_few_whole_numbers_have_an_interval_each():
    place = place_of(5.0)
    edges = fine_edges(place, place, 64, whole=True)
    assert set(range(1, 17)) <= set(edges)


def test_years_of_living_memory_have_an_interval_each():
    edges = year_edges()
    assert (np.diff(edges) > 0).all()
    assert {365, 366} == {later - day for day, later in pairwise(edges) if -25_567 <= day < 47_482}
    assert math.isclose(edges[0], -719_162)


@pytest.mark.parametrize("cells", [1, 8, 60, 256])
def test_years_have_intervals_of_decades_at_least(cells):
    place = place_of(1995.0)
    plain = fine_edges(place, place, cells, whole=True)
    edges = np.array(with_years(plain, *bounds_of(place, place)))
    assert (np.diff(edges) > 0).all()
    assert (edges == np.floor(edges)).all()
    assert (edges[0], edges[-1]) == (plain[0], plain[-1])
    years = edges[(edges >= 1900) & (edges <= 2100)]
    assert (years[0], years[-1], np.diff(years).max()) == (1900, 2100, 10)
    assert set(plain) - set(edges) <= set(range(1900, 2101))


def test_where_other_numbers_show_too_years_are_not_looked_for():
    for first, last in ((2.0, 1995.0), (1995.0, 70_000.0), (-1995.0, -1995.0), (300.0, 70_000.0)):
        places = place_of(first), place_of(last)
        plain = fine_edges(*places, 8, whole=True)
        assert with_years(plain, *bounds_of(*places)) == plain


def test_intervals_finer_than_decades_stay():
    place = place_of(1995.0)
    singles = fine_edges(place, place, 8, whole=True, singles=True)
    assert with_years(singles, *bounds_of(place, place)) == singles
