"""A stored decimal or narrow real is the float that its text is, so that every storage has the same numbers."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import counterfoil
from counterfoil.schema.raw_cell import cells_of
from counterfoil.schema.spelling import spell
from counterfoil.schema.stored_numbers import floats_of_decimals
from counterfoil.schema.values import numbers_of

TYPES = (
    pa.decimal32(9, 3),
    pa.decimal64(18, 2),
    pa.decimal128(18, 1),
    pa.decimal128(38, 25),
    pa.decimal128(20, 0),
    pa.decimal128(12, -3),
    pa.decimal256(76, 5),
)


@st.composite
def decimals(draw: st.DrawFn) -> pa.Array:
    kind = draw(st.sampled_from(TYPES))
    most = 10**kind.precision - 1
    units = st.integers(-most, most) | st.integers(-(10**6), 10**6) | st.sampled_from([2**53 + 1, 2**63 - 1, 2**64])
    cells = draw(st.lists(st.none() | units.filter(lambda one: abs(one) <= most), max_size=8))
    # Not `scaleb`, which would round to the 28 digits of Python's default context.
    written = [None if one is None else Decimal(f"{one}e{-kind.scale}") for one in cells]
    array = pa.array(written, kind)
    return array.slice(draw(st.integers(0, len(array))))


@given(decimals())
def test_a_decimal_is_the_float_that_its_text_is(array: pa.Array) -> None:
    texts = [None if one is None else str(one) for one in array.to_pylist()]
    expected = np.array([np.nan if text is None else float(text) for text in texts])
    np.testing.assert_array_equal(floats_of_decimals(array), expected)
    np.testing.assert_array_equal(numbers_of(array), expected)
    np.testing.assert_array_equal(cells_of(array)[1], expected)


@pytest.mark.parametrize("width", [16, 32])
@given(data=st.data())
def test_a_narrow_real_is_the_float_that_its_text_is(width: int, data: st.DataObject) -> None:
    quarters = st.integers(-(2**24), 2**24).map(lambda units: units / 4)
    tenths = st.integers(-(10**6), 10**6).map(lambda units: units / 10)
    drawn = data.draw(st.lists(st.floats(width=width) | quarters | tenths, max_size=9))
    with np.errstate(over="ignore"):
        reals = np.array(drawn, dtype=f"float{width}")
    array = pa.array(reals, from_pandas=False)
    expected = np.array([np.nan if text is None else float(text) for text in spell(array).to_pylist()])
    np.testing.assert_array_equal(numbers_of(array), expected)
    np.testing.assert_array_equal(numbers_of(array).astype(reals.dtype), reals)


def test_whole_numbers_of_32_bits_are_as_they_are() -> None:
    array = pa.array([123456792.0, 16777216.0, None, -0.0], pa.float32())
    np.testing.assert_array_equal(numbers_of(array), [123456792.0, 16777216.0, np.nan, 0.0])


SCHEMA = """
[columns.dose]
kind = "real"
lower = 0.3
upper = 90.6
edges = [0.3, 50, 90.6]
points = [1.2]

[[rules]]
require = "dose == 0.3 or dose == 1.2 or dose == 90.6"
"""


@pytest.mark.parametrize("kind", [pa.decimal128(5, 1), pa.decimal128(38, 25), pa.float32(), pa.float64()], ids=str)
def test_bounds_points_and_rules_hold_in_every_type_of_numbers(tmp_path: Path, kind: pa.DataType) -> None:
    written = [Decimal("0.3"), Decimal("1.2"), Decimal("90.6")] * 10
    cells = written if pa.types.is_decimal(kind) else [float(one) for one in written]
    pq.write_table(pa.table({"dose": pa.array(cells, kind)}), tmp_path / "doses.parquet")
    (tmp_path / "doses.toml").write_text(SCHEMA)
    said = str(counterfoil.check_without_privacy(tmp_path / "doses.parquet", tmp_path / "doses.toml"))
    assert "the upper bound" not in said
    assert "broken by" not in said
    assert "rules name 0.3, 90.6," in said  # as they share bins, where 1.2 does not
