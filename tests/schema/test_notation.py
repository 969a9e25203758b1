"""Values come back as they went in: labels, words for missing, formats of dates, and facts that would lose them."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import date, datetime, timedelta
from enum import Enum, IntEnum, StrEnum
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.curator.sources.opening import open_source
from counterfoil.schema import (
    Boolean,
    Categorical,
    Column,
    Date,
    Datetime,
    Integer,
    Real,
    Schema,
    SchemaError,
    UnplacedValue,
)
from counterfoil.schema.notation import directives, moment_of, shortened, text_of
from counterfoil.synthesis.table import decode, write_table
from schema_strategies import columns

RNG = np.random.default_rng(0)


@given(columns)
def test_what_is_written_reads_back_as_the_same_code(column: Column) -> None:
    codes = np.repeat(np.arange(column.size), 3)[:600]
    decoded = column.decode(codes, np.random.default_rng(0))
    stated, written = column.stated(decoded), column.written(decoded)
    assert (stated.type, written.type) == (column.arrow_type, pa.string())
    np.testing.assert_array_equal(column.encode(stated), codes)
    np.testing.assert_array_equal(column.encode(written), codes)
    assert column.written(stated).equals(written)
    assert column.written(pa.chunked_array([decoded.slice(0, 1), decoded.slice(1)])).equals(written)
    absent = written.filter(pa.array(codes == column.missing_code)).to_pylist()
    assert {*absent} <= {column.missing_values[0] or None if column.missing_values else None}
    if column.arrow_type == pa.string():
        assert stated.equals(written)
    else:
        assert stated.null_count == len(absent)


@settings(max_examples=30, deadline=None)
@given(st.lists(columns.filter(lambda column: column.size < 2000), min_size=1, max_size=4), st.integers(0, 4))
def test_a_csv_file_of_any_columns_reads_back(drawn: list[Column], rows: int) -> None:
    named = tuple(replace(column, name=f"c{i}") for i, column in enumerate(drawn))
    schema = Schema(named)
    codes = {column.name: RNG.integers(0, column.size, rows) for column in named}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        write_table(decode(schema, codes, np.random.default_rng(1)), path, schema)
        batches = list(open_source(path).batches([column.name for column in named]))
    for column in named:
        found = [column.encode(batch.column(column.name)) for batch in batches]
        np.testing.assert_array_equal(np.concatenate(found) if found else [], codes[column.name])


# Booleans


def test_booleans_come_back_as_their_labels() -> None:
    spoken = Boolean("y", "Yes", "No", missing=True, missing_values=("?",))
    cells = pa.array(["yes", "NO", "Yes", "true", "0", "?", "maybe"])
    assert spoken.encode(cells).tolist() == [1, 0, 1, 1, 0, 2, 2]
    assert spoken.stated(spoken.decode(np.array([0, 1, 2]), RNG)).to_pylist() == ["No", "Yes", "?"]
    assert spoken.labels == ("No", "Yes", "missing")
    assert spoken.encode(pa.array([True, False, None])).tolist() == [1, 0, 2]

    coded = Boolean("y", 1, 2, missing=True)
    assert coded.encode(pa.array([1, 2, 0, 3])).tolist() == [1, 0, 0, 2]
    assert coded.encode(pa.array(["1", "2.0", "02", "3", "no"])).tolist() == [1, 0, 0, 2, 0]
    drawn = coded.decode(np.array([0, 1, 2]), RNG)
    assert (drawn.type, drawn.to_pylist()) == (pa.int64(), [2, 1, None])
    assert Boolean("y", "T", 0).decode(np.array([0, 1]), RNG).to_pylist() == ["0", "T"]
    plain = Boolean("y")
    assert plain.decode(np.array([0, 1]), RNG).to_pylist() == [False, True]
    assert plain.written(plain.decode(np.array([0, 1]), RNG)).to_pylist() == ["false", "true"]
    assert plain.facts() == {}


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"true": "yes"}, "`true` and `false` together"),
        ({"true": "Ja", "false": "ja"}, "must differ.*found 'Ja' and 'ja'"),
        ({"true": 5, "false": "5.0"}, "must differ"),
        ({"true": "no", "false": "off"}, "`true` can't be 'no', which is read as false.*categorical"),
        ({"true": 2, "false": 1}, "`false` can't be 1, which is read as true"),
        ({"true": "0.0", "false": 7}, "`true` can't be '0.0'"),
        ({"true": " on", "false": "off"}, "`true` must be texts without surrounding white space"),
        ({"true": "", "false": "off"}, "not empty"),
        ({"true": True, "false": False}, "`true` must be a text or a whole number"),
        ({"true": 2**60, "false": 3}, "within 2\\^53"),
        ({"true": "on", "false": "-", "missing": True, "missing_values": ("-",)}, "'-' is in `missing_values`"),
        ({"true": "on", "false": "9", "missing": True, "missing_values": ("9.0",)}, "'9.0' is in `missing_values`"),
    ],
)
def test_labels_that_contradict_are_refused(facts: dict[str, object], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Boolean("y", **facts)


def test_labels_in_rules_and_files() -> None:
    text = """
[columns.y]
kind = "boolean"
true = "Y"
false = "N"

[columns.n]
kind = "integer"
lower = 0
upper = 1

[[rules]]
if = "y == 'Y'"
then = "n == 1"
"""
    schema = Schema.from_toml(text)
    assert schema.structural_zeros["y", "n"].tolist() == [[False, False], [True, False]]
    assert Schema.from_toml(schema.to_toml()) == schema
    with pytest.raises(SchemaError, match="it is compared with 'J'; expected Y or N"):
        schema["y"].constant("J")
    with pytest.raises(SchemaError, match=r"`true` must be a text or a whole number, such as"):
        Schema.from_toml('[columns.y]\nkind = "boolean"\ntrue = true\nfalse = false\n')


# Missing words


def test_the_first_word_is_written_and_the_empty_text_is_one() -> None:
    written = {}
    for words in ((), ("?",), ("?", "NA"), ("", "?")):
        column = Integer("n", 0, 9, missing=True, missing_values=words)
        assert column.encode(pa.array(["?" if "?" in words else "", "", "3"])).tolist() == [10, 10, 3]
        assert column.stated(pa.array([3, None])).to_pylist() == [3, None]
        written[words] = column.written(pa.array([3, None])).to_pylist()
        texts = Categorical("c", ("a",), missing=True, missing_values=words)
        assert texts.stated(pa.array(["a", None])).to_pylist() == ["a", (words[0] if words else None) or None]
    assert written == {(): ["3", None], ("?",): ["3", "?"], ("?", "NA"): ["3", "?"], ("", "?"): ["3", None]}
    with pytest.raises(SchemaError, match="`values` must be texts without surrounding white space, and not empty"):
        Categorical("c", ("a", ""))


# Dates


def test_dates_are_written_as_they_are_read() -> None:
    column = Date("d", date(2010, 1, 1), date(2010, 12, 31), format="%d.%m.%Y", missing=True, missing_values=("-",))
    decoded = column.decode(np.array([364, 0, 365]), RNG)
    assert decoded.to_pylist() == [date(2010, 12, 31), date(2010, 1, 1), None]
    assert column.written(decoded).to_pylist() == ["31.12.2010", "01.01.2010", "-"]
    moment = Datetime("t", datetime(2010, 1, 1), datetime(2010, 1, 1), "1s", format="%d.%m.%y %H:%M:%S")
    assert moment.written(moment.decode(np.array([0]), RNG)).to_pylist() == ["01.01.10 00:00:00"]
    plain = Datetime("t", datetime(2010, 1, 1), datetime(2010, 1, 1), "1s")
    assert plain.written(plain.decode(np.array([0]), RNG)).to_pylist() == ["2010-01-01 00:00:00"]
    old = Date("d", date(33, 4, 3), date(33, 4, 3), format="%d/%m/%Y")
    assert old.written(old.decode(np.array([0]), RNG)).to_pylist() == ["03/04/0033"]


@pytest.mark.filterwarnings("ignore:Parsing dates involving a day of month:DeprecationWarning")  # the oracle does
@pytest.mark.parametrize(
    ("notation", "resolution", "tells_apart"),
    [
        ("%d.%m.%Y", "1d", True),
        ("%Y%m%d", "1d", True),
        ("%Y-%j", "1d", True),
        ("100%% %d %B %Y", "1d", True),
        ("%d.%m.%Y %H:%M", "1d", True),
        ("%m.%Y", "1mo", True),
        ("%Y", "1y", True),
        ("%m.%Y", "1d", False),
        ("%d.%m", "1d", False),
        ("%d.%m.%y", "1d", False),  # 1960 is written as 60, which is read as 2060
        ("%Y", "1mo", False),
    ],
)
def test_formats_that_lose_what_the_codes_tell_are_refused(notation: str, resolution: str, tells_apart: bool) -> None:
    """Checked against every day: `tells_apart` is what writing and reading all of them finds."""
    lower, upper = date(1960, 1, 1), date(1990, 12, 31)
    free = Date("d", lower, upper, resolution)
    days = [lower + timedelta(days=i) for i in range((upper - lower).days + 1)]

    def read(text: str) -> date:
        try:
            return min(max(datetime.strptime(text, notation).date(), lower), upper)
        except ValueError:  # 29 February of no year
            return lower

    again = [read(day.strftime(notation)) for day in days]
    assert tells_apart == (free.encode(pa.array(days)) == free.encode(pa.array(again))).all()
    if tells_apart:
        Date("d", lower, upper, resolution, format=notation)
        return
    with pytest.raises(SchemaError, match=r"must tell all values apart: 19|can be read and written"):
        Date("d", lower, upper, resolution, format=notation)


@pytest.mark.parametrize(
    ("notation", "message"),
    [
        ("%Y-%m-%d %I:%M", "must tell all values apart"),  # the clock of twelve hours
        ("%Y-%m-%d", "must tell all values apart"),
        ("%Q", "can be read and written"),
        ("%-S.%-j.%Y", "can be read and written"),
        ("%Y%-m%-d %H:%M", "must tell all values apart|can be read and written"),
        ("dd.mm.yyyy", "must tell all values apart"),
        ("%Y-%m-%dT%H:%M%z", "has an offset \\(%z\\), so `zone` must say"),
    ],
)
def test_formats_of_times_that_lose_or_can_not_be_read_are_refused(notation: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Datetime("t", datetime(2020, 1, 1), datetime(2020, 3, 1), "1h", format=notation)


# Categories


def test_numbers_keep_their_notation_and_texts_stay_texts() -> None:
    for values, kind, written in (
        (("01", "02"), pa.string(), ["01", "02"]),
        ((1, 2), pa.int64(), ["1", "2"]),
        ((1.0, 2.5), pa.float64(), ["1.0", "2.5"]),
        ((1, 2.5), pa.float64(), ["1", "2.5"]),
        ((1, "b"), pa.string(), ["1", "b"]),
    ):
        column = Categorical("c", values, missing=True)
        decoded = column.decode(np.array([0, 1, 2]), RNG)
        assert decoded.type == kind
        assert column.written(decoded).to_pylist() == [*written, None]


def test_members_of_enumerations_are_what_they_hold() -> None:
    class Text(str, Enum):  # noqa: UP042 - whose `str` is "Text.A"
        A = "a"

    class Newer(StrEnum):
        B = "b"

    class Whole(IntEnum):
        ONE = 1

    column = Categorical("c", (Text.A, Newer.B))
    assert [(type(value), value) for value in column.values] == [(str, "a"), (str, "b")]
    assert column.encode(pa.array(["a", "b"])).tolist() == [0, 1]
    assert Schema.from_toml(Schema((column,)).to_toml()) == Schema((column,))
    numbers = Categorical("c", (Whole.ONE, np.int64(2), np.float32(0.1)))
    assert [(type(value), value) for value in numbers.values] == [(int, 1), (int, 2), (float, 0.1)]
    assert Schema.from_toml(Schema((numbers,)).to_toml()) == Schema((numbers,))


# Advice


@pytest.mark.parametrize("key", ["bins = 0", "bins = -1", "resolution = 0", "resolution = -0.5", "edges = []"])
def test_nothing_is_not_written_as_zero_for_reals(key: str) -> None:
    facts = '[columns.n]\nkind = "real"\nlower = 0\nupper = 9\n'
    with pytest.raises(SchemaError, match=f"`{key.split()[0]}` must be .*; found .*Leave it out"):
        Schema.from_toml(facts + key)
    with pytest.raises(SchemaError, match=f"`{key.split()[0]}` must be"):
        Schema.from_toml(facts + key + ("\nbins = 3" if "bins" not in key else "\nresolution = 1"))


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("integer", "bins = 0"),
        ("integer", "step = 0"),
        ("integer", "edges = []"),
        ("date", "bins = 0"),
        ("date", 'resolution = ""'),
        ("date", "edges = []"),
        ("date", 'format = ""'),
        ("date", 'zone = ""'),
    ],
)
def test_nothing_is_not_written_as_zero(kind: str, key: str) -> None:
    bounds = "lower = 2020-01-01\nupper = 2020-02-01\n" if kind == "date" else "lower = 0\nupper = 9\n"
    with pytest.raises(SchemaError, match="Leave it out"):
        Schema.from_toml(f'[columns.n]\nkind = "{kind}"\n{bounds}{key}\n')


def test_a_value_without_a_place_is_answered_with_what_would_give_it_one() -> None:
    dates = Date("d", date(2020, 1, 1), date(2020, 12, 31))
    with pytest.raises(UnplacedValue) as caught:
        dates.encode(pa.array(["31.12.2020"]))
    said = str(caught.value)
    assert 0 < said.index("`format`") < said.index("`missing = true`")
    assert "31.12.2020" not in said
    german = Date("d", date(2020, 1, 1), date(2020, 12, 31), format="%d.%m.%Y")
    with pytest.raises(
        UnplacedValue,
        match=r"Declare another `format` where dates are not written as '%d.%m.%Y' says, `zone` where they",
    ):
        german.encode(pa.array(["12/31/2020"]))
    for cell in ("1,5", "1,000", "1.000,00"):
        for column in (Real("x", 0, 2000, bins=4), Integer("x", 0, 2000, bins=4)):
            with pytest.raises(
                UnplacedValue, match=r"decimal_char. lets decimal commas and separators of thousands be read"
            ) as caught:
                column.encode(pa.array([cell]))
            assert cell not in str(caught.value)
    with pytest.raises(UnplacedValue, match=r"not true or false.*Declare `true` and `false` \(its two labels\), or"):
        Boolean("b").encode(pa.array(["J"]))
    with pytest.raises(UnplacedValue, match=r"not J or N.*Declare `missing = true` for"):
        Boolean("b", "J", "N").encode(pa.array(["x"]))


def test_too_many_categories_and_bytes_are_answered_in_their_own_words() -> None:
    with pytest.raises(SchemaError, match=r"found 1,000,001. List the common categories and declare `other = true`"):
        Categorical("c", tuple(range(1_000_001)))
    with pytest.raises(SchemaError, match=r"bytes that are no text can't be listed"):
        Categorical("c", ("\ufffd0xff",))


def test_infinities_lie_beyond_every_bound() -> None:
    column = Real("x", 0, 1, bins=2)
    cells = pa.array(["inf", "-Infinity", "1e999", "-1e999"])
    assert column.encode(cells).tolist() == [1, 0, 1, 0]
    assert column.numbers(cells).tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("zone", ["", "Asia/Kathmandu", "America/New_York"])
@pytest.mark.parametrize(
    "column",
    [
        Datetime("t", datetime(2024, 1, 1), datetime(2024, 12, 31), resolution="1d", format="%Y-%m-%d %H:%M"),
        Datetime("t", datetime(2024, 1, 1), datetime(2024, 12, 31), resolution="1d", format="%d.%m.%Y %H h"),
        Datetime("t", datetime(2024, 1, 1), datetime(2024, 12, 31), resolution="1mo", format="%d.%m.%Y"),
        Date("t", date(2024, 1, 1), date(2024, 12, 31), resolution="1mo", format="%m/%Y"),
    ],
)
def test_values_state_no_more_than_their_notation_can(column: Datetime | Date, zone: str) -> None:
    column = replace(column, zone=zone)
    codes = np.repeat(np.arange(column.size), 20)
    values = column.decode(codes, np.random.default_rng(0))
    written = column.written(values)
    again = column.positions(written)
    moments = [column._moment(int(number)) for number in again]
    twice = [isinstance(one, datetime) and one.utcoffset() != one.replace(fold=1).utcoffset() for one in moments]
    once = ~np.array(twice)  # not in an hour that a clock shows twice
    np.testing.assert_array_equal(column.positions(values)[once], again[once])
    np.testing.assert_array_equal(column.encode(values), codes)


def test_seconds_are_drawn_where_the_notation_has_them_or_there_is_none() -> None:
    column = Datetime("t", datetime(2024, 1, 1), datetime(2024, 1, 2), bins=2)
    for text_format in ("", "%Y-%m-%d %H:%M:%S", "%c"):
        drawn = replace(column, format=text_format).decode(np.zeros(50, int), np.random.default_rng(0))
        assert any(one.second for one in drawn.to_pylist())


def test_all_declared_decimals_are_written() -> None:
    column = Real("w", 0, 1000, bins=5, decimals=2, missing=True)
    values = pa.array([649.9, 0.0, 1000.0, 3.14, 1.005, None])
    assert column.written(values).to_pylist() == ["649.90", "0.00", "1000.00", "3.14", "1.005", None]
    assert replace(column, decimals=0).written(values).to_pylist()[:3] == ["649.9", "0", "1000"]
    assert replace(column, decimals=None).written(values).to_pylist()[0] == "649.9"


# Days, months and hours of one digit


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2199, 12, 31)).map(lambda moment: moment.replace(second=0)),
    st.sampled_from(["%-d.%-m.%Y %-H:%M", "%-m/%-d/%Y %-I:%M %p", "%Y-%m-%-d %H:%M", "%-d.%m.%Y %-H:%M"]),
)
def test_moments_are_written_without_leading_zeros(moment: datetime, notation: str) -> None:
    text = of_three_centuries(notation).rewritten(text_of(moment, notation))
    hour = moment.hour % 12 or 12 if "%p" in notation else moment.hour
    fields = {"d": moment.day, "m": moment.month, "H": hour, "I": hour}
    expected = notation
    for name, number in fields.items():
        expected = expected.replace(f"%-{name}", str(number)).replace(f"%{name}", f"{number:02d}")
    expected = expected.replace("%Y", f"{moment.year:04d}").replace("%M", f"{moment.minute:02d}")
    assert text == expected.replace("%p", "AM" if moment.hour < 12 else "PM")
    padded = text_of(moment, notation.replace("%-", "%"))
    assert moment_of(text, notation) == moment_of(padded, notation) == moment.replace(microsecond=0)


@cache
def of_three_centuries(notation: str) -> Datetime:
    return Datetime("t", datetime(1900, 1, 1), datetime(2199, 12, 31), "1mo", format=notation)


def test_the_formats_without_some_zeros() -> None:
    assert shortened("%d.%m.%Y") == ("%-d.%-m.%Y", "%-d.%m.%Y", "%d.%-m.%Y")
    assert shortened("%-d %H:%M") == ("%-d %-H:%M",)
    assert shortened("%Y %%d") == ()
    assert directives("%-d.%m %%-H") == {"d", "m", "%"}


@pytest.mark.parametrize(
    "column",
    [Date("at", date(1700, 1, 1), date(2030, 1, 1)), Datetime("at", datetime(1700, 1, 1), datetime(2030, 1, 1), "1y")],
)
def test_milliseconds_since_1970_are_no_moments(column: Date | Datetime) -> None:
    """Python reads 1730010120000 as midnight of 1730-01-01: the 2 is its sign between the day and the hour."""
    for stored in (pa.array([1730010120000, 1729987200000]), pa.array(["1730010120000", "17300101200"])):
        assert np.isnan(column.parsed(stored)).all()
    assert not np.isnan(column.parsed(pa.array([20240131]))).any()
