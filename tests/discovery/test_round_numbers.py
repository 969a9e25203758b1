"""Numbers that people like: public, at the place that was asked, and no more than may be tried."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.discovery.round_numbers import round_numbers
from counterfoil.schema.value_grid import CELLS, REACH, places_of

PLACES = st.integers(0, CELLS - 1)


def place_of(number: float) -> int:
    return int(places_of(np.array([number]))[0])


@given(PLACES, st.integers(0, 200), st.sampled_from([None, 0, 1, 2]))
def test_they_lie_at_the_place_and_are_no_more_than_asked(place, most, digits):
    numbers = round_numbers(place, most, digits)
    assert len(numbers) <= most
    assert list(numbers) == sorted(set(numbers))
    assert (places_of(np.array(numbers, dtype=float)) == place).all()
    if digits is not None:
        assert [round(number, digits) for number in numbers] == list(numbers)


@given(PLACES, st.integers(0, 200), st.integers(0, 200), st.sampled_from([None, 0, 1, 2]))
def test_more_room_leaves_none_out_and_both_sides_of_zero_are_alike(place, few, more, digits):
    assert set(round_numbers(place, few, digits)) <= set(round_numbers(place, few + more, digits))
    mirrored = round_numbers(2 * REACH - place, few, digits)
    assert sorted(-number for number in mirrored) == list(round_numbers(place, few, digits))


@pytest.mark.parametrize(
    ("near", "most", "digits", "some"),
    [
        (100.0, 6, 2, (20, 50, 99, 100, 200)),
        (100.0, 60, 2, (20, 25, 50, 75, 99, 100, 105, 250)),
        (30_000.0, 80, 0, (5000, 9999, 11_000, 29_000, 65_000)),
        (0.2, 60, None, (0.1, 0.25, 0.5, 0.75)),
        (0.2, 60, 1, (0.1, 0.2, 0.9)),
        (-100.0, 60, 0, (-250, -99, -20)),
    ],
)
def test_the_roundest_come_first(near, most, digits, some):
    assert set(some) <= set(round_numbers(place_of(near), most, digits))


@pytest.mark.parametrize("number", [0.0, 1e-9, 2.0**54, -1e300])
def test_zero_and_the_ends_of_the_grid_have_none(number):
    assert round_numbers(place_of(number), 200, None) == ()


def test_they_are_the_floats_that_their_digits_are_read_as():
    tenths = round_numbers(place_of(0.3), 20, 1)
    assert tenths == tuple(float(f"0.{digit}") for digit in range(1, 10))
