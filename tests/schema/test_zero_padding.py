"""Whole numbers with leading zeros: which class each cell has, and which number."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.schema.raw_cell import CLASSES, CODES, cell_of, cells_of, unit_places, without_unit
from counterfoil.schema.zero_padding import WIDTHS, padded_class, width_of


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("007", "3 digits"),
        ("00", "2 digits"),
        ("0", "integer"),
        ("10", "integer"),
        ("-07", "integer"),
        ("+07", "integer"),
        ("07.0", "integer"),
        ("07.5", "tenths"),
        ("0" * 15, "15 digits"),
        ("0" * 16, "integer"),
        ("٠٧", "text"),
        ("0x7", "text"),
    ],
)
def test_a_text_that_begins_with_zero_has_the_class_of_its_digits(text: str, name: str) -> None:
    assert CLASSES[cell_of(text)[0]] == name


@given(st.integers(0, 10**13), st.sampled_from(WIDTHS), st.sampled_from(["", ",", "."]))
def test_the_number_is_the_same_with_zeros_and_with_any_decimal_sign(number: int, width: int, sign: str) -> None:
    text = str(number).zfill(width)
    (code,), (found,) = (one.tolist() for one in cells_of(pa.array([text]), sign))
    padded = len(str(number)) < width
    assert found == number
    assert width_of(text) == (width if padded else 0)
    assert CLASSES[code] == (padded_class(width) if padded else "integer")


def test_zeros_before_a_unit_say_nothing() -> None:
    (code,), (number,) = cells_of(pa.array(["05 kg"]), units=True)
    assert (without_unit(code), number, unit_places(code.astype(int)) >= 0) == (CODES["integer"], 5, True)
    (code,), (number,) = cells_of(pa.array(["05 kg"]), unit="kg")
    assert (code, number) == (CODES["integer"], 5)


def test_numbers_of_a_storage_have_no_zeros() -> None:
    codes, _ = cells_of(pa.array([7, 70]))
    assert codes.tolist() == [CODES["integer"]] * 2
