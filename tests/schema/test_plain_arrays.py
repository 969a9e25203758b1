"""Arrays that are made without pandas are those that `pyarrow` makes."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from counterfoil.schema import plain_arrays
from counterfoil.schema.plain_arrays import array_of, filled, numpy_of, scalar_of

WIDTHS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", ">i8"]
KINDS = [
    None,
    pa.string(),
    pa.large_string(),
    pa.bool_(),
    pa.uint8(),
    pa.int32(),
    pa.int64(),
    pa.float64(),
    pa.date32(),
    pa.timestamp("us"),
]
CELLS = (
    st.text(max_size=3) | st.booleans() | st.integers(-(2**65), 2**65) | st.integers(-3, 300) | st.floats() | st.none()
)
LISTS = st.lists(CELLS, max_size=4) | st.lists(st.text(max_size=3) | st.none(), max_size=9)
MOMENTS = (st.dates(), st.datetimes(), st.datetimes(timezones=st.just(UTC)))
LISTS |= st.one_of(*(st.lists(one, max_size=9) for one in (*MOMENTS, st.one_of(*MOMENTS) | st.none())))
LISTS |= st.one_of(*(st.lists(one, max_size=9) for one in (st.booleans(), st.integers(-3, 300), st.floats())))


@st.composite
def numbers(draw: st.DrawFn) -> np.ndarray:
    made = draw(arrays(draw(st.sampled_from(WIDTHS)), st.integers(0, 20)))
    return made[:: draw(st.sampled_from([1, 2, -1]))]


def _outcome(function: Any, *arguments: Any, **named: Any) -> Any:
    try:
        return function(*arguments, **named)
    except Exception as error:
        return type(error), str(error)


def _same(one: Any, other: Any) -> bool:
    if not isinstance(one, pa.Array | pa.Scalar):
        return bool(one == other)
    if one.type != other.type:
        return False
    if isinstance(one, pa.Scalar):
        return one.equals(other) or repr(one.as_py()) == repr(other.as_py())  # NaN is not itself
    one.validate(full=True)
    return one.equals(other) or repr(one.to_pylist()) == repr(other.to_pylist())


@given(numbers(), st.data())
def test_numbers_become_what_pyarrow_makes_of_them(values: np.ndarray, data: st.DataObject) -> None:
    mask = data.draw(st.none() | arrays(bool, len(values)))
    kind = data.draw(st.sampled_from(KINDS))
    made = _outcome(array_of, values, kind, mask=mask)
    assert _same(made, _outcome(pa.array, values, type=kind, mask=mask))


@given(LISTS | LISTS.map(tuple), st.sampled_from(KINDS))
def test_lists_become_what_pyarrow_makes_of_them(values: Any, kind: pa.DataType | None) -> None:
    assert _same(_outcome(array_of, values, kind), _outcome(pa.array, values, type=kind))
    for value in values:
        if kind is not None:
            assert _same(_outcome(scalar_of, value, kind), _outcome(lambda one: pa.array([one], kind)[0], value))


def test_dates_are_made_without_pandas() -> None:
    script = (
        "import sys, datetime, pyarrow as pa; from counterfoil.schema.plain_arrays import array_of;"
        "array_of([datetime.date(2020, 1, 1)], pa.date32());"
        "array_of([datetime.datetime(1820, 1, 1, 3)], pa.timestamp('us')); sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@given(numbers(), st.data())
def test_numpy_is_given_what_pyarrow_gives(values: np.ndarray, data: st.DataObject) -> None:
    array = pa.array(
        values.astype(values.dtype.newbyteorder("=")), mask=data.draw(st.none() | arrays(bool, len(values)))
    )
    array = array[data.draw(st.integers(0, 9)) :][: data.draw(st.integers(0, 20))]
    cut = data.draw(st.integers(0, len(array)))
    for given_array in (array, pa.chunked_array([array]), pa.chunked_array([array[:cut], array[cut:]])):
        made, expected = numpy_of(given_array), given_array.to_numpy(zero_copy_only=False)
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(made, expected)
    with pytest.raises(ValueError, match="read-only"):
        numpy_of(pa.array([1, 2]))[0] = 3


@given(st.lists(st.integers(-9, 9) | st.none(), max_size=9), st.integers(-9, 9))
def test_absent_values_are_filled(values: list[int | None], value: int) -> None:
    array = pa.array(values, pa.int64())
    assert filled(array, value).equals(array.fill_null(value))


def test_others_are_left_to_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_arrays, "_SHORT", 2)
    assert array_of(["a", "b", None], pa.string()).equals(pa.array(["a", "b", None], pa.string()))
    assert numpy_of(pa.array(["a", None])).tolist() == ["a", None]
    assert numpy_of(pa.chunked_array([], pa.int64())).tolist() == []
    with pytest.raises(UnicodeEncodeError):
        array_of(["\ud800"], pa.string())
