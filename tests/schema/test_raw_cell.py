"""Cells of which nothing is known: one class each, whatever stands beside them, and one place on the grid."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.schema.errors import SchemaError
from counterfoil.schema.instant import Datetime
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.month_first import month_first
from counterfoil.schema.notation import text_of
from counterfoil.schema.office_moments import (
    DAY_FORMATS,
    MOMENT_FORMATS,
    OFFICE_CLASSES,
    classes_of,
    moments_of_days,
)
from counterfoil.schema.raw_cell import CLASSES, RawCells, cell_of, cells_of, is_missing_word
from counterfoil.schema.schema import Schema
from counterfoil.schema.values import parse_instant
from counterfoil.schema.zoned_moments import ZONED, ZONED_DAYS


@pytest.mark.parametrize(
    ("text", "name", "number"),
    [
        ("", "missing", None),
        ("?", "missing", None),
        ("NA", "missing", None),
        ("<NA>", "missing", None),
        ("none", "text", None),
        ("00:00", "%H:%M", None),
        ("9:05", "%H:%M", None),
        ("23:59:59", "%H:%M:%S", None),
        ("12:30 PM", "%I:%M %p", None),
        ("1:05 am", "%I:%M %p", None),
        ("24:00", "text", None),
        ("0:30 AM", "text", None),
        ("13:30 PM", "text", None),
        ("12:60", "text", None),
        ("12:30:60", "text", None),
        ("12:30:10 PM", "text", None),
        ("12:30PM", "text", None),
        ("12", "integer", 12),
        ("-7", "integer", -7),
        ("39.0", "integer", 39),
        ("1e3", "integer", 1000),
        ("-.5", "tenths", -0.5),
        ("3.10", "tenths", 3.1),
        ("0.25", "hundredths", 0.25),
        ("0.125", "real", 0.125),
        ("1e-3", "real", 0.001),
        ("99999999999.5", "real", 99999999999.5),
        ("1e999", "infinite", None),
        ("-inf", "infinite", None),
        ("9" * 400, "infinite", None),
        ("9" * 5000, "text", None),
        ("0x10", "text", None),
        ("1,000", "text", None),
        ("1_000", "text", None),
        ("Yes", "boolean", 1),
        ("f", "boolean", 0),
        ("N", "N", 0),
        ("n", "boolean", 0),
        ("1970-01-02", "%Y-%m-%d", 1),
        ("1970-1-2", "%Y-%m-%d", 1),
        ("1970/01/02", "%Y/%m/%d", 1),
        ("31.01.1970", "%d.%m.%Y", 30),
        ("01/31/1970", "%m/%d/%Y", 30),
        ("3/4/1970", "ambiguous/", 92),
        ("2020-02-30", "text", None),
        ("31/31/2020", "text", None),
        ("2020-01/02", "text", None),
        ("0000-01-01", "text", None),
        ("12-12-12", "text", None),
        ("2020-2020-12", "text", None),
        ("1970-01-01 00:00", "midnight", 0),
        ("1970-01-01T00:00:01.5", "datetime", 1_500_000),
        ("1970-01-01T00:00:00Z", "%Y-%m-%dT00:00:00%z", 0),
        ("31.1.1970 0:00", "%d.%m.%Y 00:00", 30 * 86_400e6),
        ("31.01.1970 07:05:09", "%d.%m.%Y %H:%M:%S", 30 * 86_400e6 + 25_509e6),
        ("01.02.1970 23:59", "%d.%m.%Y %H:%M", 32 * 86_400e6 - 60e6),
        ("2-1-1970 1:00", "%d-%m-%Y %H:%M", 86_400e6 + 3600e6),
        ("31/1/1970 13:00", "%d/%m/%Y %H:%M", 30 * 86_400e6 + 13 * 3600e6),
        ("1/31/1970 1:00 pm", "%m/%d/%Y %I:%M %p", 30 * 86_400e6 + 13 * 3600e6),
        ("1/31/1970 12:30:00 AM", "%m/%d/%Y %I:%M:%S %p", 30 * 86_400e6 + 1800e6),
        ("01/31/1970 12:00:00 AM", "%m/%d/%Y 12:00:00 AM", 30 * 86_400e6),
        ("2/1/1970 00:00", "ambiguous/ 00:00", 1 * 86_400e6),
        ("2/1/1970 12:00 PM", "ambiguous/ %I:%M %p", 1 * 86_400e6 + 43_200e6),
        ("31.01.1970 1:00 PM", "text", None),
        ("01.31.1970 13:00", "text", None),
        ("30.02.1970 13:00", "text", None),
        ("31/31/1970 13:00", "text", None),
        ("31/1/1970 24:00", "text", None),
        ("31/1/1970 13:00 PM", "text", None),
        ("31/1/1970 0:10 AM", "text", None),
        ("31/1/1970  13:00", "text", None),
        ("31/1-1970 13:00", "text", None),
        ("31/1/70 13:00", "text", None),
        ("1970/1/31 13:00", "text", None),
        ("2020-W01-1", "text", None),
        ("<script>alert(1)</script>", "text", None),
        ("=1+1", "text", None),
        ("\x1b[31m", "text", None),
        ("٣", "text", None),
    ],
)
def test_a_text_has_the_class_that_the_rules_say(text, name, number):
    code, found = cell_of(text)
    assert CLASSES[code] == name
    assert math.isnan(found) if number is None else found == number


@given(st.dates())
def test_every_day_is_read_in_every_order_in_which_it_is_written(day):
    elapsed = (day - date(1970, 1, 1)).days
    for written in (f"{day.year:04}-{day.month}-{day.day}", f"{day.year:04}/{day.month:02}/{day.day:02}"):
        assert CLASSES[cell_of(written)[0]].startswith("%Y")
        assert cell_of(written)[1] == elapsed
    code, found = cell_of(f"{day.day}.{day.month}.{day.year:04}")
    if day.day > 12:
        assert (CLASSES[code], found) == ("%d.%m.%Y", elapsed)
    else:
        assert (CLASSES[code], found) == ("ambiguous.", elapsed)


cells = st.one_of(
    st.none(), st.text(max_size=12), st.floats(), st.integers(), st.booleans(), st.dates(), st.datetimes(),
    st.binary(max_size=4), st.decimals(allow_nan=True), st.from_regex(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"),
)  # fmt: skip


@given(st.lists(cells, max_size=20))
def test_each_cell_has_one_class_that_no_other_cell_changes(values):
    codes, numbers = cells_of(MixedCells(values))
    assert codes.shape == numbers.shape == (len(values),)
    assert (codes < len(CLASSES)).all()
    for value, code, number in zip(values, codes.tolist(), numbers.tolist(), strict=True):
        (alone,), (other,) = cells_of(MixedCells([value]))
        assert alone == code
        assert other == number or (math.isnan(other) and math.isnan(number))
        if CLASSES[code] in ("integer", "tenths", "hundredths", "real"):
            assert math.isfinite(number)
            assert (number == math.floor(number)) == (CLASSES[code] == "integer")


written = st.one_of(
    st.from_regex(r"[+-]?(\d{1,4}(\.\d{0,4})?|\.\d{1,3})([eE][+-]?\d{1,3})?", fullmatch=True),
    st.sampled_from(["", "N", "n", "T", "NA", "?", "inf", "-Infinity", "nan", "1e999", "x" * 1001, "1" * 1001, "1_0"]),
    st.from_regex(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}( \d\d:\d\d)?", fullmatch=True),
    st.text(max_size=6),
)


@given(st.lists(written, max_size=30))
def test_texts_that_are_read_together_are_what_each_is_alone(texts):
    codes, numbers = cells_of(pa.array(texts, pa.string()))
    for text, code, number in zip(texts, codes.tolist(), numbers.tolist(), strict=True):
        expected, value = cell_of(text.strip())
        assert code == expected
        assert number == value or (math.isnan(number) and math.isnan(value))


@pytest.mark.parametrize(
    ("array", "names", "numbers"),
    [
        (pa.array([1, None], pa.int32()), ["integer", "missing"], [1, None]),
        (pa.array([1.0, 1.5, math.inf, math.nan]), ["integer", "tenths", "infinite", "missing"], [1, 1.5, None, None]),
        (pa.array([0.25, 1 / 3, 4.35], pa.float32()), ["hundredths", "real", "hundredths"], None),
        (pa.array([Decimal("1.50")]), ["tenths"], [1.5]),
        (pa.array([True, None]), ["boolean", "missing"], [1, None]),
        (pa.array([date(1970, 1, 3)]), ["%Y-%m-%d"], [2]),
        (pa.array([datetime(1970, 1, 1, 0, 0, 1)], pa.timestamp("ns")), ["datetime"], [1_000_000]),
        (pa.array([datetime(1969, 12, 31, 23, 59, 59)], pa.timestamp("s")), ["datetime"], [-1_000_000]),
        (pa.array(["a", "7", None]).dictionary_encode(), ["text", "integer", "missing"], [None, 7, None]),
        (pa.array([b"12", b"\xff"]), ["integer", "text"], [12, None]),
        (pa.nulls(2), ["missing", "missing"], [None, None]),
    ],
)
def test_cells_of_typed_storages_have_the_classes_of_their_types(array, names, numbers):
    codes, found = cells_of(array)
    assert [CLASSES[code] for code in codes] == names
    if numbers is not None:
        assert [None if math.isnan(number) else number for number in found] == numbers


@given(st.integers(-(10**8), 10**8), st.integers(0, 4), st.booleans())
def test_a_number_has_the_digits_after_the_point_that_it_needs(whole, digits, as_text):
    """Against decimal arithmetic."""
    number = Decimal(whole).scaleb(-digits)
    needed = max(-int(number.normalize().as_tuple().exponent), 0)
    values = pa.array([str(number)] if as_text else [float(number)])
    (code,), _ = cells_of(values)
    assert CLASSES[code] == {0: "integer", 1: "tenths", 2: "hundredths"}.get(needed, "real")


def test_a_type_that_has_no_single_values_is_refused_whatever_its_values():
    for values in ([], [[1]], [None]):
        with pytest.raises(TypeError):
            cells_of(pa.array(values, pa.list_(pa.int64())))


def test_no_file_can_declare_such_a_column_and_no_cell_is_refused():
    schema = Schema((RawCells("a"),))
    with pytest.raises(SchemaError):
        Schema.from_toml(schema.to_toml())
    with pytest.raises(SchemaError, match="leave `missing` out"):
        RawCells("a", missing=True)
    assert RawCells("a").encode(MixedCells([object(), None, "x"])).tolist() == [
        CLASSES.index(name) for name in ("stranger", "missing", "text")
    ]
    assert np.isnan(RawCells("a").numbers(MixedCells(["x"]))).all()


@pytest.mark.parametrize("text", [".", "..", "...", ":", "k.A.", "k. A.", "n.a.", "N.A."])
@pytest.mark.parametrize("sign", ["", ",", "."])
def test_words_of_statistical_offices_mean_missing(text, sign):
    (code,), (number,) = cells_of(pa.array([text]), sign)
    assert (CLASSES[code], np.isnan(number)) == ("missing", True)


@pytest.mark.parametrize("text", ["-", "--", "n.d.", "NC", "+", "...."])
def test_words_that_may_be_results_are_texts(text):
    assert CLASSES[cell_of(text)[0]] == "text"


@pytest.mark.parametrize(("text", "missing"), [("NA", True), ("na", True), ("N/A", True), ("Na", False), ("nA", True)])
def test_sodium_is_no_missing_cell(text, missing):
    assert is_missing_word(text) is missing
    assert CLASSES[cell_of(text)[0]] == ("missing" if missing else "text")


@given(st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)), st.sampled_from(MOMENT_FORMATS), st.booleans())
def test_moments_of_offices_are_read_as_python_reads_them(moment: datetime, notation: str, midnight: bool) -> None:
    """Python's own reading is the oracle; where a day may be a month, the day comes first until all are turned."""
    written = datetime(moment.year, moment.month, moment.day) if midnight else moment
    text = text_of(written, notation)
    read = datetime.strptime(text, notation)
    of_times, of_midnights = classes_of(notation)
    code, number = cell_of(text)
    either = "/" in notation and moment.day <= 12
    classes = of_midnights if read.time() == time() else of_times
    assert CLASSES[code] == classes[int(either)]
    turned = notation.startswith("%m") and either
    found = month_first(np.array([code]), np.array([number]))[0] if turned else number
    assert datetime(1970, 1, 1) + timedelta(microseconds=found) == read
    if read.time() == time():
        assert datetime.strptime(text, DAY_FORMATS[notation]).date() == read.date()
        assert moments_of_days(DAY_FORMATS[notation]) == notation


def test_no_class_of_moments_is_another_one() -> None:
    assert len({*CLASSES}) == len(CLASSES)
    assert moments_of_days("%d.%m.%Y") == moments_of_days("") == ""
    assert {name for notation in MOMENT_FORMATS for names in classes_of(notation) for name in names} == {
        *OFFICE_CLASSES
    }


OFFSETS = st.builds(timezone, st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timedelta(minutes=minutes)))


@given(st.datetimes(), OFFSETS, st.sampled_from("T "), st.sampled_from(["seconds", "minutes", "milliseconds"]))
def test_moments_with_an_offset_are_what_a_column_with_a_zone_reads(
    moment: datetime, offset: timezone, between: str, shown: str
) -> None:
    text = moment.replace(tzinfo=offset).isoformat(between, shown)
    column = Datetime("at", lower=datetime(1, 1, 1), upper=datetime(9999, 12, 31), bins=10, zone="UTC")
    second = parse_instant(text, 1, zone=ZoneInfo("UTC"))
    code, number = cell_of(text)
    if np.isnan(second):  # beyond the calendar in UTC
        assert CLASSES[code] == "text"
        return
    assert CLASSES[code] == (ZONED if number % 86_400_000_000 else ZONED_DAYS)
    assert number // 1_000_000 == second
    assert column.numbers(pa.array([text]))[0] == second
    assert cell_of(text.replace("+00:00", "Z"))[1] == number


@pytest.mark.parametrize(
    "text",
    [
        "2020-01-31Z",
        "2020-02-31T10:00:00Z",
        "2020-01-31T10:00:00ZZ",
        "2020-01-31T10:00:00+25:00",
        "2020-01-31T10:00:00 +01:00",
        "2020-01-31T10:00:00z",
        "20200131T100000Z",
    ],
)
def test_other_texts_are_no_moments_with_an_offset(text: str) -> None:
    assert CLASSES[cell_of(text)[0]] == "text"
