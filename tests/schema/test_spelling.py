"""One text for equal values, whatever stores them; another one for others."""

from __future__ import annotations

import enum
import itertools
import re
import sys
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.schema import Categorical
from counterfoil.schema.drafting import draft
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.raw_cell import cells_of
from counterfoil.schema.spelling import has_no_text, spell, spell_decimal, spell_integer
from counterfoil.schema.values import NUMBER, numbers_of, parse_number, texts_of


class Color(str, enum.Enum):  # noqa: UP042 (whose `str` is not its text)
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


SPELLED: dict[str, list[Any]] = {
    "1": [1, 1.0, "1", " 1\n", Decimal("1.00"), Decimal("1E0"), np.int8(1), np.uint64(1), np.float32(1), b"1"],
    "0": [0, 0.0, -0.0, Decimal("-0.0"), Decimal("0E+9"), np.float16(0)],
    "01": ["01"],
    "1.0": ["1.0"],
    "0.1": [0.1, np.float32(0.1), Decimal("0.10"), "0.1"],
    "0.10000000149011612": [float(np.float32(0.1))],
    "0.1" + "0" * 17 + "1": [Decimal("0.1" + "0" * 17 + "1")],
    "0.0000001": [1e-7, Decimal("1E-7"), np.float32(1e-7)],
    "-1500": [Decimal("-1.5E3"), -1500, -1500.0],
    "20230101": [20230101.0, 20230101, "20230101"],
    str(10**23): [10**23, Decimal(10) ** 23],
    str(int(1e23)): [1e23, int(1e23)],
    "1e5000": [10**5000, Decimal("1E5000")],
    "3": [Level.HIGH],
    "red": [Color.RED, "red", np.str_("red"), bytearray(b"red")],
    "inf": [np.inf, Decimal("Infinity"), np.float32("inf")],
    "true": [True, np.bool_(True), "true"],
    "2020-01-31": [date(2020, 1, 31), np.datetime64("2020-01-31"), "2020-01-31"],
    "2020-01-31 00:00:00": [
        datetime(2020, 1, 31), pd.Timestamp("2020-01-31"),
        np.datetime64("2020-01-31", "ns"), np.datetime64("2020-01-31", "s"),
    ],
    "2020-01-31 12:30:00.5": [datetime(2020, 1, 31, 12, 30, 0, 500_000)],
    "2020-01-31 00:00:00.00000001": [pd.Timestamp("2020-01-31 00:00:00.00000001")],
    "2020-01-31 00:00:00+00:00": [
        datetime(2020, 1, 31, tzinfo=UTC), datetime(2020, 1, 31, 2, tzinfo=timezone(timedelta(hours=2))),
        pd.Timestamp("2020-01-31 01:00", tz="Europe/Paris"),
    ],
    "10000-01-01 04:59:59.999999+00:00": [datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))],
    "12:30:00": [time(12, 30), "12:30:00"],
    "12:30:00.25": [time(12, 30, 0, 250_000)],
    "00000000-0000-0000-0000-000000000001": [UUID(int=1)],
    "\ufffd": ["\ufffd", "\ufffd".encode()],
    "\ufffd0xff": [b"\xff", bytearray(b"\xff")],
    "\ufffd0x20ff": [b" \xff"],
    "\ufffd0xfe": [b"\xfe"],
    "\ufffd0xeda080": ["\ud800"],
    "\ufffd0xeda081": ["\ud801"],
    "\ufffd0xedb0806a": ["\udc00j"],
    "\U00010000": ["\ud800\udc00", "\U00010000"],
    "\ufffd0xefbfbd30786666": ["\ufffd0xff", " \ufffd0xff", "\ufffd0xff".encode()],
}  # fmt: skip
MISSING = [
    *(None, float("nan"), np.float32("nan"), Decimal("NaN"), Decimal("sNaN"), pd.NA, pd.NaT, np.datetime64("NaT", "s")),
    *("", " ", b""),
]
STRANGERS = [
    *([1], (1,), {}, object(), 1j, Fraction(1, 2), timedelta(1), time(1, tzinfo=UTC), pd.Period("2020")),
    *(np.timedelta64(1, "s"), np.datetime64("20000-01-01"), np.datetime64("2020", "ps")),
]


def texts(cells: list[Any]) -> list[str | None]:
    found, positions = texts_of(MixedCells(cells))
    return [None if position < 0 else found[position] for position in positions]


@pytest.mark.parametrize("text", SPELLED)
def test_a_value_has_one_text(text: str) -> None:
    for cell in SPELLED[text]:
        assert texts([cell]) == [text], repr(cell)


def test_cells_together_have_the_texts_that_they_have_alone() -> None:
    cells = list(itertools.chain(*SPELLED.values(), MISSING, STRANGERS))
    for order in (cells, cells[::-1]):
        assert texts(order) == [texts([cell])[0] for cell in order]
    assert texts([*MISSING, *STRANGERS]) == [None] * (len(MISSING) + len(STRANGERS))


def test_typed_storage_has_the_same_texts() -> None:
    for values, expected in [
        (pa.array([1.0, None, np.nan, -0.0, 0.5]), ["1", None, None, "0", "0.5"]),
        (pa.array([0.1, 2.0], pa.float32()), ["0.1", "2"]),
        (pa.array(np.array([0.1, 6e4], np.float16)), ["0.1", "60000"]),
        (pa.array([Decimal("1.50"), Decimal("2.00"), None]), ["1.5", "2", None]),
        (pa.array([Decimal("1500")], pa.decimal128(6, -2)), ["1500"]),
        (pa.array([Decimal("15")], pa.decimal256(60, 0)), ["15"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([b"a", b"\xff", b" \xc3\xa9 ", None]), ["a", "\ufffd0xff", "é", None]),
        (pa.array([b"ab"], pa.binary(2)), ["ab"]),
        (pa.array([b"a"], pa.binary_view()), ["a"]),
        (pa.array([" a "], pa.string_view()), ["a"]),
        (pa.array([b"\0" * 15 + b"\1"], pa.uuid()), [str(UUID(int=1))]),
        *(
            (pa.array([datetime(2020, 1, 31)], pa.timestamp(unit)), ["2020-01-31 00:00:00"])
            for unit in ("s", "ms", "ns")
        ),
        (
            pa.array([0, 10], pa.timestamp("ms", "Asia/Tokyo")),
            ["1970-01-01 00:00:00+00:00", "1970-01-01 00:00:00.01+00:00"],
        ),
        (pa.array([date(2020, 1, 31)], pa.date64()), ["2020-01-31"]),
        *(
            (pa.array([time(12, 30), time(0), None], kind), ["12:30:00", "00:00:00", None])
            for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))
        ),
    ]:
        assert spell(values).to_pylist() == expected, values.type
        assert spell(values.slice(0, 0)).to_pylist() == []


RAW = st.one_of(
    st.binary(max_size=4), st.sampled_from([b"\xff", b"\xef\xbf\xbd", b"\xef\xbf\xbd0xff", b"\xef\xbf\xbd0x", b"\\xff"])
)


@given(st.lists(st.one_of(RAW, st.text(max_size=4), st.text("\ud800\udc00a", max_size=3)), max_size=8))
def test_different_bytes_and_texts_have_different_texts(cells: list[bytes | str]) -> None:
    def meaning(cell: bytes | str) -> bytes | None:
        """UTF-8 without surrounding white space; other bytes as they are."""
        if isinstance(cell, str):
            cell = cell.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
            cell = cell.encode("utf-8", "surrogatepass")
        try:
            return pc.utf8_trim_whitespace(cell.decode()).as_py().encode() or None
        except UnicodeDecodeError:
            return cell

    spelled = texts([*cells])
    for first, second in itertools.product(range(len(cells)), repeat=2):
        assert (spelled[first] == spelled[second]) == (meaning(cells[first]) == meaning(cells[second]))
    blobs = [cell for cell in cells if isinstance(cell, bytes)]
    alone = [text or None for text in spell(pa.array(blobs, pa.binary())).to_pylist()]
    assert alone == [text for cell, text in zip(cells, spelled, strict=True) if isinstance(cell, bytes)]


@given(st.one_of(st.integers(), st.integers(-(10**400), 10**400)))
def test_integers_are_spelled_by_their_digits(number: int) -> None:
    assert spell_integer(number) == str(number) == spell_decimal(Decimal(number)) == texts([number])[0]


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_decimals_keep_their_value_and_lose_their_zeros(number: Decimal) -> None:
    text = spell_decimal(number)
    assert text is not None
    assert Fraction(text) == Fraction(number)
    assert spell_decimal(number * 1) == text or number.as_tuple().digits[28:]
    assert "." not in text or not text.endswith("0")
    assert not text.startswith(("00", "-00"))


@given(st.lists(st.floats(), min_size=1), st.sampled_from([np.float64, np.float32, np.float16]))
def test_reals_read_back_as_the_same_real_without_exponents(numbers: list[float], width: type) -> None:
    with np.errstate(over="ignore"):
        narrow = np.array(numbers).astype(width)
    for number, text in zip(narrow, spell(pa.array(narrow)).to_pylist(), strict=True):
        if np.isnan(number):
            assert text is None
        else:
            assert "e" not in text
            with np.errstate(over="ignore"):
                assert width(text) == number
            if np.isfinite(number) and number == np.floor(number):
                assert int(text) == int(number)


def test_numbers_of_any_size_are_read_whatever_python_allows() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        cells = MixedCells([10**5000, -(10**5000), 10**700 + 1, 5, Decimal("1E+999999999"), Decimal("0.5")])
        assert numbers_of(cells).tolist() == [np.inf, -np.inf, np.inf, 5, np.inf, 0.5]
    finally:
        sys.set_int_max_str_digits(limit)


AMBIGUOUS = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)


@given(st.one_of(st.text("+-.0123456789eE infINFtyxX٣", max_size=12), st.from_regex(AMBIGUOUS), st.text(max_size=5)))
def test_what_a_number_looks_like(text: str) -> None:
    assert (NUMBER.fullmatch(text) is None) == (AMBIGUOUS.fullmatch(text) is None)


@pytest.mark.parametrize("text", ["1" * 200_000, "1" * 200_000 + "." + "1" * 200_000, "1e" + "1" * 200_000])
def test_a_cell_of_many_digits_is_read_in_one_pass(text: str) -> None:
    """With a pattern that can match in two ways it takes minutes."""
    assert np.isnan(parse_number(f"{text}x"))
    assert parse_number(text) == float(text)


@pytest.mark.parametrize(("width", "size"), [(pa.int8(), 128), (pa.uint8(), 256), (pa.int16(), 2**15)])
def test_a_dictionary_may_use_all_its_integers(width: pa.DataType, size: int) -> None:
    entries = [str(i) for i in range(size)]
    values = pa.DictionaryArray.from_arrays(pa.array([*range(size), None], width), entries)
    found, positions = texts_of(values)
    assert [found[position] for position in positions[:-1]] == entries
    assert positions[-1] == -1
    np.testing.assert_array_equal(numbers_of(values), [*range(size), np.nan])


def test_a_dictionary_means_what_its_values_do() -> None:
    entries = pa.array([1.0, np.nan, None, 1e10, 0.0])
    rows = pa.DictionaryArray.from_arrays(pa.array([3, 0, None, 1, 2, 4]), entries)
    found, positions = texts_of(rows)
    assert [found[i] if i >= 0 else None for i in positions] == ["10000000000", "1", None, None, None, "0"]
    np.testing.assert_array_equal(numbers_of(rows), [1e10, 1, np.nan, np.nan, np.nan, 0])


@pytest.mark.parametrize("listed", ["12:30:00", "12:30:00.000000", "12:30:00.0"])
@pytest.mark.parametrize("kind", [pa.time32("s"), pa.time64("us"), pa.time64("ns"), pa.string()])
def test_times_of_day_are_understood_however_a_schema_spells_them(listed: str, kind: pa.DataType) -> None:
    """Schemas that listed what Arrow writes would have counted all of them as `other`."""
    moments = pa.array([45_000, 45_001], pa.int32()).cast(pa.time32("s")).cast(kind)
    column = Categorical("t", (listed, "08:00:00.250"), other=True)
    assert column.encode(moments).tolist() == [0, 2]
    assert column.encode(pa.array(["08:00:00.25", "8:00:00.25", "12:30:00.5"])).tolist() == [1, 2, 2]
    assert column.decode(np.array([0]), np.random.default_rng(0)).to_pylist() == [listed]
    absent = Categorical("t", ("08:00:00",), missing=True, missing_values=(listed,))
    assert absent.encode(moments[:1]).tolist() == [absent.encode(pa.array([""]))[0]]


def test_a_time_that_is_listed_in_two_spellings_is_two_categories() -> None:
    column = Categorical("t", ("12:30:00.0", "12:30:00", "12:30:00.000"), other=True)
    assert column.encode(pa.array(["12:30:00.0", "12:30:00", "12:30:00.000", "12:30:00.00"])).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "cells",
    [
        pd.Series(pd.period_range("2020-01", periods=3, freq="M")),
        pd.Series(pd.cut([1, 5, 9], 3)),
        pd.Series(pd.Categorical(pd.to_timedelta([1, 2], unit="D"))),
    ],
)
def test_a_draft_says_what_is_refused_when_it_is_read(cells: pd.Series) -> None:
    """The bins of `pandas.cut` were drafted as categories, and a purchase of any other column was refused for them."""
    kept = pa.array(cells)
    assert has_no_text(kept.type)
    with pytest.raises((pa.ArrowException, TypeError)):
        cells_of(kept)
    assert "of which nothing can be synthesized" in draft({"part": kept.type})


def test_extensions_of_arrow_have_texts() -> None:
    assert not has_no_text(pa.uuid())
    assert not has_no_text(pa.dictionary(pa.int8(), pa.string()))


@pytest.mark.parametrize("wide", [pa.decimal128, pa.decimal256])
def test_decimals_that_arrow_writes_none_of_are_refused_by_their_type(wide: Any) -> None:
    """A purchase ended with an error of Python's, after it was charged, where a cell of such a column was not empty."""
    digits = 38 if wide is pa.decimal128 else 76
    for scale, refused in ((digits, False), (digits + 1, True)):
        kind = wide(digits, scale)
        assert has_no_text(kind) is refused
        for cell in (None, Decimal(5).scaleb(-scale)):
            cells = pa.array(
                [None if cell is None else b"\5".ljust(kind.byte_width, b"\0")], pa.binary(kind.byte_width)
            )
            cells = cells.view(kind)
            if refused:
                for read in (spell, numbers_of, cells_of):
                    with pytest.raises(pa.ArrowNotImplementedError, match="No texts for the type"):
                        read(cells)
            else:
                assert spell(cells).to_pylist() == [None if cell is None else spell_decimal(cell)]
