"""Cells whose decimal sign is open, against reading the same cells with each sign from the start."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from counterfoil.schema.decimal_char import DECIMAL_CHARS
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.open_numbers import OPEN_CLASSES, OpenCells, as_read, has_comma, has_point
from counterfoil.schema.raw_cell import CLASSES, RawCells

numbers = st.floats(-1e7, 1e7).map(lambda number: f"{number:,.3f}")
swapped = numbers.map(lambda text: text.translate(str.maketrans(",.", ".,")))
spaced = numbers.map(lambda text: text.replace(",", " "))
cells = st.one_of(
    st.text("0123456789,. '-+eE", max_size=10),
    numbers,
    swapped,
    spaced,
    st.sampled_from(["", "NA", "yes", "x", "3/4/2020"]),
)


@settings(max_examples=400, derandomize=True)
@given(st.lists(cells, max_size=5))
@example(["1.234", "1,234", "1 234", "1'234,5", "1'234.5", "-1.500", "0.123", "0,123", "1.0", "1,0", "1e3", "1.5e3"])
@example(["1,5e999", "1.5e999", "inf", "-Infinity", "1.234e2", "12.345.678", "12,345,678", ".5", ",5", "5.", "5,"])
def test_a_sign_that_is_decided_later_reads_as_from_the_start(texts: list[str]) -> None:
    array = pa.array([text.strip() for text in texts], pa.string())
    codes, held = OpenCells("x").encode_with_numbers(array)
    for sign in ("", *DECIMAL_CHARS):
        expected = RawCells("x", sign).encode_with_numbers(array)
        for found, wanted in zip(as_read(codes, held, sign), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("text", "comma", "point"),
    [
        ("1,5", True, False),
        ("1.234,50", True, False),
        ("1.5", False, True),
        ("1.0", False, True),
        ("1'234.5", False, True),
        ("0.123", False, True),
        ("1.234", False, False),
        ("1,234", False, False),
        ("1 234", False, False),
        ("12", False, False),
        ("", False, False),
        ("1,2,3", False, False),
        ("01.02.2020", False, False),
    ],
)
def test_only_what_has_one_reading_speaks_for_a_sign(text: str, comma: bool, point: bool) -> None:
    codes, _ = OpenCells("x").encode_with_numbers(pa.array([text]))
    assert (has_comma(codes)[0], has_point(codes)[0]) == (comma, point)


def test_open_classes_come_after_the_others() -> None:
    assert OpenCells("x").labels == (*CLASSES, *OPEN_CLASSES)
    with pytest.raises(SchemaError, match="its decimal sign is open"):
        OpenCells("x", ",")
