"""Schemas made of bought answers are valid, load, and place every value of their kinds."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import date, datetime
from typing import Any
from unicodedata import category

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.discovery.bought_columns import bought_column
from counterfoil.discovery.bought_facts import CAUTION
from counterfoil.discovery.bought_numbers import may_number_rows
from counterfoil.discovery.bought_text import schema_of
from counterfoil.schema import Categorical, Date, Datetime, Identifier, Integer, Real, Schema, midnight
from counterfoil.schema.discovered import Discovered, DiscoveredColumn, Need, count_range
from counterfoil.schema.precautions import by_precaution
from discovered_strategies import BOUGHT, HOSTILE, discoveries

CELLS = pa.array(
    [
        *("", None, "0", "-1", "3.5", "1e400", "-inf", "nan", "2020-01-31", "31.01.2020", "2020-01-31T12:00:00"),
        *("true", "No", "zebra", "9999-12-31", "0001-01-01", "1e-320"),
        *HOSTILE,
    ],
    pa.string(),
)


def answers(**facts: object) -> DiscoveredColumn:
    plain = {"votes": {}, "lower": None, "upper": None, "tails": (0.0, 0.0), "categories": (), "records": 1000}
    rest = {"missing": 0, "edges": (), "deviation": 10.0}
    return DiscoveredColumn(**(plain | rest | facts))  # type: ignore[arg-type]


def document(*columns: DiscoveredColumn, **options: object) -> str:
    return schema_of(Discovered(columns, 0.1, 1e-9, "add_or_remove_one", {}), BOUGHT, **options)  # type: ignore[arg-type]


@settings(max_examples=150, deadline=None)
@given(discoveries(), st.sampled_from(["", "people", 'a"b\n']))
def test_a_bought_schema_is_valid_loads_and_places_every_cell(found: Discovered, name: str) -> None:
    text = schema_of(found, BOUGHT, name=name)
    assert all(one.isprintable() or one == "\n" or category(one) == "Zs" for one in text), (
        "nothing that a terminal could obey"
    )
    schema = Schema.from_toml(text)
    if schema.confirm:  # the noise left nothing: every column is asked for, and none has facts
        assert {one.column for one in schema.confirm} == {column.name for column in found.columns}
        return
    schema = schema.resolved([column.name for column in found.columns])
    described = {column.name for column in schema.columns} | set(schema.ignore)
    assert described == {column.name for column in found.columns}
    assert schema.bought is not None
    assert (schema.name, replace(schema.bought, places=None)) == (name, BOUGHT)
    assert Schema.from_toml(schema.to_toml()) == schema
    rng = np.random.default_rng(0)
    for column in schema.synthesized:
        codes = column.encode(CELLS)  # raises where a cell has no place
        assert len(codes) == len(CELLS)
        back = column.encode(column.written(column.decode(codes, rng)))
        assert (back == codes).all(), "what is drawn is read back"


def test_integers_that_are_codes_are_listed_and_stay_integers():
    facts = {"kind": "integer", "lower": 1.0, "upper": 5001.0, "codes": ((1, 400), (5, 300), (111, 200), (5001, 90))}
    text = document(answers(name="sector", **facts))
    (column,) = Schema.from_toml(text).columns
    assert isinstance(column, Categorical)
    assert (column.values, column.other, column.missing) == ((1, 5, 111, 5001), False, True)
    assert column.arrow_type == pa.int64(), "a text for the rest would make texts of all codes"
    assert "they cover about 99% (94% to 100%), and the rest is read as missing" in text
    codes = column.encode(pa.array([1, 5001, 7, None]))
    assert column.decode(codes, np.random.default_rng(0)).to_pylist() == [1, 5001, None, None]


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        ({"lower": 0}, Integer),
        ({"kind": "integer"}, Integer),
        ({"missing": False}, Integer),
        ({"missing_values": ["5001"]}, Categorical),
    ],
)
def test_what_is_stated_about_a_number_comes_before_codes(stated, kind):
    facts = {"kind": "integer", "lower": 1.0, "upper": 11.0, "codes": ((1, 400), (11, 500), (5001, 90))}
    column = bought_column(answers(name="sector", **facts), stated=stated)
    assert column.facts.get("values", (None,))[0] == ([1, 11] if kind is Categorical else None)
    assert ("lower" in column.facts) == (kind is Integer and "lower" not in stated)


@settings(max_examples=100, deadline=None)
@given(discoveries())
def test_bounds_only_grow(found: Discovered) -> None:
    text = schema_of(found, BOUGHT)
    schema = Schema.from_toml(text)
    columns = {column.name: column for column in found.columns}
    for column in () if schema.confirm else schema.columns:
        given_ = columns[column.name]
        if isinstance(column, Integer):
            assert column.lower <= max(given_.lower, -(2**53))
            assert min(given_.upper, 2**53) <= column.upper
        if isinstance(column, Real):
            assert column.lower <= max(given_.lower, -1e300)
            assert min(given_.upper, 1e300) <= column.upper
        if isinstance(column, Date) and not given_.date_format:
            low, high = ((end - date(1970, 1, 1)).days for end in (column.lower, column.upper))
            assert low <= max(given_.lower, (date(2, 1, 1) - date(1970, 1, 1)).days)
            assert high >= min(given_.upper, (date(9998, 12, 31) - date(1970, 1, 1)).days)


def test_categories_are_exactly_those_that_were_selected_and_the_rest_is_other() -> None:
    frequent = (("no", 700), ("yes", 200))
    text = document(answers(name="c", kind="text", categories=frequent, missing=100))
    column = Schema.from_toml(text)["c"]
    assert isinstance(column, Categorical)
    assert (column.values, column.other, column.missing) == (("no", "yes"), True, True)
    few = document(answers(name="c", kind="text", categories=frequent, missing=20))
    assert "missing = true  # by precaution" in few, "empty cells would be `other`"
    assert column.labels == ("no", "yes", "other", "missing")
    assert "cover about 90%" in text


def test_cells_that_read_otherwise_are_not_called_few_or_none() -> None:
    """Salaries with separators of thousands are texts among amounts, and come back as missing."""
    facts = {"lower": -550.0, "upper": 300.0, "read": (1.0, 0.03), "others": (("texts", 1711),)}
    text = document(answers(name="amount", kind="real", **facts))
    assert "missing = true  # bought: for about 1,711 texts, which read otherwise; few or none are empty" in text
    assert "Others are about 1,711 texts, and are read as missing" in text
    whole = facts | {"others": (("numbers with digits after the point", 40),)}
    assert "\nmissing = true  # by precaution: few or none are seen" in document(
        answers(name="n", kind="integer", **whole)
    )


def test_a_text_that_is_too_various_is_left_out_and_the_reason_is_said() -> None:
    various = answers(name="notes", kind="text", categories=(("ok", 40),))
    named = answers(name="email", kind="text", categories=())
    number = answers(name="n", kind="integer", lower=0.0, upper=16.0)
    text = document(various, named, number)
    schema = Schema.from_toml(text)
    assert schema.ignore == ("notes",)
    said = " ".join(line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#"))
    assert "these a table with `kind`, bounds and `decimal_char`, and take them out of `ignore`" in said
    assert [column for column in schema.columns if isinstance(column, Identifier)] == [Identifier("email", "drop")]
    assert 'notes": its one frequent text covers about 4%' in text
    assert "none of its texts is frequent enough" in text


def test_a_column_of_numbers_that_a_tenth_of_texts_makes_one_of_texts_is_called_so() -> None:
    """It was left out with the words that none of its texts is frequent, whatever its other cells are."""
    votes = {"integer": 100, "real": 600, "date": 0, "datetime": 0, "boolean": 0, "text": 290}
    amount = answers(name="amount", kind="text", categories=(), votes=votes)
    mixed = "from noise, while most of its cells are numbers beside about 290 texts: write all alike in the table"
    other = answers(name="n", kind="integer", lower=0.0, upper=16.0)
    assert mixed in document(other, amount)
    assert "while most" not in document(
        other, answers(name="a", kind="text", categories=(), votes=votes | {"real": 390})
    )


def test_what_reads_as_texts_is_said_where_texts_of_a_file_are_left_out() -> None:
    """Moments such as 31.12.2020 23:59 were left out as rare texts, with no word on how to have them."""
    seen = answers(name="seen", kind="text", categories=())
    also = (
        answers(name="n", kind="integer", lower=0.0, upper=16.0),
        answers(name="ok", kind="text", categories=(("a", 990),)),
    )
    assert "moments that are not written as 2020-01-31 23:59:59" in " ".join(
        document(*also, seen).replace("#", "").split()
    )
    assert "moments that are not" not in document(*also)
    types = {"seen": pa.string(), "n": pa.int64(), "ok": pa.string()}
    assert "moments that are not" not in document(*also, seen, types=types)


def test_where_the_noise_leaves_nothing_every_column_is_asked_for() -> None:
    text = document(answers(name="a", kind="text"), answers(name="b", kind="real"))
    assert [one.column for one in Schema.from_toml(text).confirm] == ["a", "b"]
    assert "Too little can be distinguished from the noise" in text


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(17, 90, (15, 90)), (1990, 2020, (1990, 2020)), (0, 16, (0, 16)), (0, 2**20, (0, 1_100_000)), (3, 3, (3, 3))],
)
def test_whole_numbers_are_rounded_to_what_people_write(low: int, high: int, expected: tuple[int, int]) -> None:
    text = document(answers(name="n", kind="integer", lower=float(low), upper=float(high)))
    column = Schema.from_toml(text)["n"]
    assert isinstance(column, Integer)
    assert (column.lower, column.upper) == expected


def test_dates_are_rounded_to_days_months_or_years() -> None:
    def of(low: date, high: date) -> Date:
        first, last = ((day - date(1970, 1, 1)).days for day in (low, high))
        column = Schema.from_toml(document(answers(name="d", kind="date", lower=first, upper=last)))["d"]
        assert isinstance(column, Date)
        return column

    week = of(date(2020, 3, 2), date(2020, 3, 9))
    assert (week.lower, week.upper, week.resolution) == (date(2020, 3, 2), date(2020, 3, 9), "1d")
    year = of(date(2020, 3, 2), date(2021, 2, 9))
    assert (year.lower, year.upper, year.resolution) == (date(2020, 3, 1), date(2021, 2, 28), "7d")
    decades = of(date(1990, 3, 2), date(2021, 2, 9))
    assert (decades.lower, decades.upper, decades.resolution) == (date(1990, 1, 1), date(2021, 12, 31), "1y")


def test_datetimes_are_in_microseconds_and_those_with_a_zone_get_one() -> None:
    low, high = (int((moment - datetime(1970, 1, 1)).total_seconds()) * 10**6 for moment in _MOMENTS)
    found = answers(name="t", kind="datetime", lower=float(low), upper=float(high))
    column = Schema.from_toml(document(found, types={"t": pa.timestamp("us", "Europe/Zurich")}))["t"]
    assert isinstance(column, Datetime)
    assert (column.lower, column.upper) == (datetime(2020, 1, 31, 9), datetime(2020, 1, 31, 17, 59, 59))
    assert (column.resolution, column.zone) == ("15min", "UTC")


_MOMENTS = (datetime(2020, 1, 31, 9, 15), datetime(2020, 1, 31, 17, 1))


def test_decimals_are_taken_from_the_storage_alone() -> None:
    found = answers(name="x", kind="real", lower=0.001, upper=8.0)
    plain, decimal = (Schema.from_toml(document(found, types=types))["x"] for types in ({}, {"x": pa.decimal128(9, 2)}))
    assert isinstance(plain, Real)
    assert isinstance(decimal, Real)
    assert (plain.decimals, decimal.decimals) == (None, 2)


def test_decimals_that_were_bought_are_in_it_and_values_are_written_so() -> None:
    found = answers(name="x", kind="real", lower=1.5, upper=4.0, decimals=1)
    text = document(found)
    column = Schema.from_toml(text)["x"]
    assert isinstance(column, Real)
    assert (column.decimals, column.lower, column.upper) == (1, 1.4, 4.0)
    assert column.n_bins == 27, "each tenth has a code of its own"
    written = column.decode(np.arange(27), np.random.default_rng(0)).to_pylist()
    assert written == [round(1.4 + i / 10, 1) for i in range(27)]
    whole = Schema.from_toml(document(answers(name="x", kind="real", lower=1.5, upper=4.0, decimals=0)))["x"]
    assert isinstance(whole, Real)
    assert whole.decimals is None
    stored = Schema.from_toml(document(found, types={"x": pa.decimal128(9, 2)}))["x"]
    assert isinstance(stored, Real)
    assert stored.decimals == 2, "what the storage says goes first"
    huge = Schema.from_toml(document(answers(name="x", kind="real", lower=0.0, upper=1e15, decimals=2)))["x"]
    assert isinstance(huge, Real)
    assert huge.decimals is None


def test_a_column_whose_kind_is_a_guess_from_noise_is_left_out() -> None:
    nothing = dict.fromkeys(("integer", "text", "boolean"), 0)
    unknown = answers(name="a", kind="boolean", votes=nothing)
    known = [answers(name=f"n{i}", kind="integer", votes={"integer": 900}, lower=0.0, upper=8.0) for i in range(2)]
    text = document(unknown, *known)
    assert Schema.from_toml(text).ignore == ("a",)
    assert "can't be distinguished from noise" in text


@pytest.mark.parametrize(("rows", "hidden_columns"), [(5000.0, 3), (400.0, 0)])
def test_a_schema_of_noise_is_not_offered(rows: float, hidden_columns: int) -> None:
    """Where most columns are hidden, or what all rows share would be; and what it takes is said."""
    nothing = {"integer": 0}
    found = [answers(name=f"a{i}", kind="integer", votes=nothing) for i in range(hidden_columns)]
    found += [answers(name=f"n{i}", kind="integer", lower=0.0, upper=8.0) for i in range(2)]

    def of(need: Need) -> str:
        return schema_of(Discovered(tuple(found), 0.1, 1e-9, "add_or_remove_one", {}, need), BOUGHT)

    text = of(Need(rows, 100.0, 500.0, 0.7))
    assert {one.column for one in Schema.from_toml(text).confirm} == {column.name for column in found}
    assert "About epsilon 0.7 would show" in " ".join(text.replace("#", " ").split())
    del found[:hidden_columns]
    assert not Schema.from_toml(of(Need(5000.0, 100.0, 500.0))).confirm


def test_the_zone_of_the_storage_is_named_and_bounds_stay_in_utc() -> None:
    found = answers(name="t", kind="datetime", lower=0.0, upper=86_400e6 * 40)
    stored = {zone: document(found, types={"t": pa.timestamp("us", zone)}) for zone in ("Europe/Berlin", "UTC", "x\ny")}
    assert all('zone = "UTC"' in text for text in stored.values())
    assert 'write zone = "Europe/Berlin"' in stored["Europe/Berlin"]
    assert all("write zone" not in stored[zone] for zone in ("UTC", "x\ny"))


def test_times_of_day_of_a_storage_are_none_of_the_texts() -> None:
    number = answers(name="n", kind="integer", lower=0.0, upper=8.0)
    text = document(answers(name="t", kind="text"), number, types={"t": pa.time64("us"), "n": pa.int64()})
    assert 'kind = "datetime"  # the type in storage' in text
    assert "none of its texts" not in text


def test_moments_at_midnight_are_dates_and_need_no_notation() -> None:
    facts = {"lower": 18_000.0, "upper": 19_000.0, "read": (1.0, 0.01)}
    text = document(answers(name="seen", kind="date", date_format=midnight.FORMAT, **facts))
    assert "read so; nearly all at midnight, they come back as dates" in text
    column = Schema.from_toml(text)["seen"]
    assert isinstance(column, Date)
    assert (column.format, column.lower) == ("", date(2019, 4, 1))


def test_tails_that_are_noise_are_not_told() -> None:
    text = document(answers(name="n", kind="integer", lower=0.0, upper=8.0, tails=(0.0, 0.12)))
    assert "lower = 0  # bought, rounded outwards: few or none surely lie below" in text
    assert "upper = 8  # bought, rounded outwards: about 12% lie above" in text


@pytest.mark.parametrize(
    ("facts", "asked"),
    [
        ({"lower": 1.0, "upper": 1000.0}, True),
        ({"lower": 5000.0, "upper": 6000.0}, True),
        ({"lower": 0.0, "upper": 100.0}, False),
        ({"lower": 0.0, "upper": 90_000.0}, False),
        ({"lower": 1.0, "upper": 1000.0, "kind": "real"}, False),
        ({"lower": 1.0, "upper": 1000.0, "codes": ((1, 400), (1000, 600))}, False),
        ({"lower": 1.0, "upper": 1000.0, "records": 0}, False),
        ({"lower": 1.0, "upper": 1000.0, "missing": 800}, False),  # rents, of those who pay one
        ({"name": "tx_id", "lower": 9_960_000.0, "upper": 9_965_000.0}, True),
        ({"name": "tx_id", "lower": 0.0, "upper": 100.0}, False),
    ],
)
def test_what_may_number_the_rows_is_asked_about(facts: dict[str, Any], asked: bool) -> None:
    column = answers(**{"name": "pid", "kind": "integer", "records": 1000, **facts})
    assert may_number_rows(column) == asked
    assert ("where this column numbers the rows" in document(column)) == asked


def test_the_share_that_reads_so_is_of_all_cells_and_the_others_are_named() -> None:
    facts = {"kind": "date", "lower": 0.0, "upper": 8000.0, "read": (0.7, 0.03), "others": (("%d.%m.%Y", 300),)}
    text = document(answers(name="d", votes={"date": 1000}, **facts))
    assert (
        "about 70% (64% to 76%) of the cells that are not missing read so. Others are about 300 %d.%m.%Y, and are "
        "read as missing: write all alike in the table, or state another kind, or their words in `missing_values`"
        in text
    )
    hidden = document(answers(name="d", votes={"date": 1000}, **(facts | {"read": (0.7, 0.6), "others": ()})))
    assert "most cells that can be distinguished from noise read so" in hidden


@pytest.mark.parametrize(("beyond", "said"), [(230.4, "230"), (5000.0, "1,000"), (0.2, "1")])
def test_the_bounds_of_dates_say_how_many_rows_may_lie_beyond(beyond: float, said: str) -> None:
    text = document(answers(name="d", kind="date", lower=0.0, upper=8000.0, beyond=beyond))
    words = f"# bought, rounded outwards: up to {said} rows may lie beyond the two bounds and count as them"
    assert text.count(words) == 2


@pytest.mark.parametrize(("kind", "lower"), [("integer", 5.0), ("real", 0.0)])
def test_a_range_of_one_number_is_asked_about_where_the_noise_leaves_room(kind: str, lower: float) -> None:
    point = {"name": "bonus", "kind": kind, "lower": lower, "upper": lower, "decimals": 2 if kind == "real" else None}
    other = answers(name="n", kind="integer", lower=0.0, upper=8.0)
    text = document(answers(**point, elsewhere=(200.0, 50.0)), other)
    assert [one.column for one in Schema.from_toml(text).confirm] == ["bonus"]
    assert f"confirm = true  # bought: {lower:g} alone shows, and the noise may hide 350 cells" in text
    assert "columns with a line `confirm = true` must be looked at first" in " ".join(text.replace("#", "").split())
    deleted = "\n".join(line for line in text.splitlines() if not line.startswith("confirm"))
    assert Schema.from_toml(deleted)["bonus"].kind == kind
    certain = document(answers(**point, elsewhere=(-5.0, 10.0)), other)
    assert not Schema.from_toml(certain).confirm, "at most 30 of 1,000"
    stated = bought_column(answers(**point, elsewhere=(200.0, 50.0)), stated={"upper": 100})
    assert "confirm" not in stated.facts


def test_where_zero_alone_shows_whole_numbers_have_room_for_rare_ones() -> None:
    """The ones of a rare flag have a code; who must confirm a dozen of such columns one by one shares the raw file."""

    def flag(hidden: float, error: float, **more: Any) -> DiscoveredColumn:
        facts = {"name": "stroke", "kind": "integer", "lower": 0.0, "upper": 0.0} | more
        return answers(**facts, elsewhere=(hidden, error))

    for upper in (0.0, 15.0):
        text = document(flag(200.0, 50.0, upper=upper))
        schema = Schema.from_toml(text)
        assert not schema.confirm
        assert (schema["stroke"].lower, schema["stroke"].upper) == (0, 15)
        said = (
            "by precaution: 0 alone shows, and the noise may hide 350 cells with other numbers; those above count as it"
        )
        assert said in text
    assert Schema.from_toml(document(flag(0.0, 0.3)))["stroke"].upper == 0, "surely none of 1,000"
    fractions = document(flag(200.0, 50.0, others=(("numbers with 1 decimal", 180),)))
    assert [one.column for one in Schema.from_toml(fractions).confirm] == ["stroke"]
    assert Schema.from_toml(document(flag(200.0, 50.0))).confirm == ()
    assert Schema.from_toml(document(flag(200.0, 30.0))).confirm, "surely more than a twentieth hold something else"
    stated = bought_column(flag(200.0, 50.0), stated={"upper": 100})
    assert "upper" not in stated.facts
    assert "confirm" not in stated.facts


def test_missing_cells_show_beyond_the_threshold_of_all_columns_alone() -> None:
    few, more = (
        bought_column(answers(name="n", kind="integer", lower=0.0, upper=8.0, missing=cells, least=4.7))
        for cells in (46, 48)
    )
    assert few.facts["missing"] == (True, CAUTION)
    assert "about 48 cells" in more.facts["missing"][1]


def test_bins_that_were_bought_are_in_it() -> None:
    found = answers(name="n", kind="integer", lower=0.0, upper=64.0, edges=(4.0, 16.0))
    column = Schema.from_toml(document(found))["n"]
    assert isinstance(column, Integer)
    assert column.edges == (0, 4, 16)
    real = Schema.from_toml(document(answers(name="x", kind="real", lower=0.0, upper=64.0, edges=(4.5,))))["x"]
    assert isinstance(real, Real)
    assert real.edges == (0.0, 4.5, 65.0)


def test_booleans_come_back_as_the_words_that_were_seen() -> None:
    words = {"yes": "no", "1": "0", "True": "False"}
    columns = [
        answers(name=f"b{i}", kind="boolean", categories=((true, 500), (false, 400)))
        for i, (true, false) in enumerate(words.items())
    ]
    schema = Schema.from_toml(document(*columns))
    assert [(column.true, column.false) for column in schema.synthesized] == [("yes", "no"), (1, 0), (None, None)]  # type: ignore[union-attr]


def test_each_fact_says_where_it_comes_from_and_no_comment_holds_a_text_of_the_table() -> None:
    found = [answers(name=f"c{i}", kind="text", categories=((text, 900),)) for i, text in enumerate(HOSTILE)]
    text = document(*found, answers(name="n", kind="integer", lower=0.0, upper=8.0, missing=500))
    tomllib.loads(text)
    facts = [line for line in text.splitlines() if " = " in line and not line.startswith(("#", "bought", "ignore"))]
    assert all("  # " in line for line in facts)
    marks = ("bought", "by precaution", "by the bounds", "the type in storage", "stated", "proposed")
    assert all(line.rpartition("  # ")[2].startswith(marks) for line in facts)
    comments = [line.rpartition("  # ")[2] for line in facts]
    assert not any(hostile in comment for hostile in HOSTILE[1:12] for comment in comments)
    assert "missing = true  # bought: about 500 cells (480 to 520)" in text


def test_noise_is_said_as_95_percent_intervals_within_what_is_possible_and_what_they_are_once() -> None:
    found = answers(name="d", kind="date", votes={"date": 1000}, lower=0.0, upper=8000.0, read=(0.89, 0.06), missing=60)
    text = document(found, answers(name="c", categories=(("a", 60),), kind="text", records=100))
    assert "about 89% (77% to 100%) of the cells" in text
    assert "about 60% (37% to 83%)" in text
    assert "about 60 cells (40 to 80)" in text
    assert " ".join(text.replace("#", "").split()).count("95% intervals") == 1
    assert "+-" not in text
    assert count_range(3.0, 5.0) == "0 to 13"


def test_words_that_say_that_a_value_is_missing_are_listed_as_such() -> None:
    found = answers(name="c", kind="text", categories=(("a", 900),), missing=100, missing_words=("?", "NA"))
    column = Schema.from_toml(document(found))["c"]
    assert isinstance(column, Categorical)
    assert (column.missing, column.missing_values) == (True, ("?", "NA"))
    assert column.encode(pa.array(["?", "NA", "", "a", "b"])).tolist() == [2, 2, 2, 0, 1]


def test_numbers_and_truths_write_what_is_missing_as_texts_of_the_table_do() -> None:
    """In a survey "NA" came back as an empty cell wherever numbers stood, and each of 14 questions was warned of."""
    absent = {"missing": 400, "missing_deviation": 5.0}
    contract = answers(
        name="contract", kind="text", categories=(("fixed", 300), ("none", 300)), missing_words=("NA",), **absent
    )
    hours = answers(name="hours", kind="integer", lower=0.0, upper=60.0, **absent)
    kids = answers(name="kids", kind="boolean", categories=(("Yes", 300), ("No", 300)), missing_words=("NA",), **absent)
    full = replace(hours, name="full", missing=0)
    text = document(contract, hours, kids, full)
    schema = Schema.from_toml(text)
    assert {one.name: getattr(one, "missing_values", ()) for one in schema.columns} == {
        "contract": ("NA",),
        "hours": ("NA",),
        "kids": ("NA",),
        "full": ("NA",),
    }
    assert "so other columns of this table write it; delete what does not occur" in text
    assert schema["hours"].written(pa.array([None, 3])).to_pylist() == ["NA", "3"]
    # Where texts disagree missing cells come back as empty ones, and storages with types have no words.
    other = replace(contract, name="other", missing_words=("?",))
    both = Schema.from_toml(document(contract, other, hours))
    assert both["hours"].missing_values == ("", "NA", "?")
    assert both["hours"].written(pa.array([None])).to_pylist() == [None]
    assert (both["contract"].missing_values, both["other"].missing_values) == (("NA", "?"), ("?", "NA"))
    typed = document(contract, hours, types={"hours": pa.int64()})
    assert Schema.from_toml(typed)["hours"].missing_values == ()
    no = replace(contract, missing_words=("N",))
    assert Schema.from_toml(document(no, replace(kids, missing_words=())))["kids"].missing_values == ()


@pytest.mark.parametrize(
    ("texts", "word", "safe"),
    [
        (("f", "m"), "NA", True),
        (("clerk", "cook", "none"), "NA", True),
        (("1", "2"), "?", True),
        (("EU", "AS", "Africa"), "NA", False),
        (("Na", "K", "Cl"), "NA", False),
        (("+", "++"), "?", False),
        (("a", "b"), ".", True),
        (("clerk", "cook"), "null", True),
        (("FR", "DE", "IT"), "NA", False),
    ],
)
def test_words_for_missing_go_to_columns_of_texts_where_they_are_no_likely_category(texts, word, safe) -> None:
    """The category NA of a neighbor was `other`, or its own, beside a column where it was missing."""
    found = answers(name="c", kind="text", categories=(("a", 800), ("b", 100)), missing=100, missing_words=(word,))
    column = answers(name="d", kind="text", categories=tuple((text, 300) for text in texts))
    text = document(found, column)
    made = Schema.from_toml(text)["d"]
    assert made.missing_values == ((word,) if safe else ())
    if safe:
        (code,) = made.encode(pa.array([word])).tolist()
        assert code == made.missing_code
        assert by_precaution(made, Schema.from_toml(text).bought)[code], "nothing shows that it occurs"
        assert "by precaution: so other columns of this table write it; delete what does not occur" in text
    stated = bought_column(replace(column, shared_words=(word,)), stated={"missing": False}).facts
    assert not {"missing", "missing_values"} & set(stated)


def test_texts_of_which_no_word_for_missing_shows_are_empty_where_numbers_are_so() -> None:
    """Of a laboratory 390 empty cells came back as "n/a", which the column had nowhere, and which no text of it was."""
    absent = {"missing": 400, "missing_deviation": 5.0}
    dose = answers(name="dose", kind="text", categories=(("low", 300), ("high", 300)), missing_words=("n/a",), **absent)
    smokes = answers(name="smokes", kind="text", categories=(("yes", 500), ("no", 400)))
    schema = Schema.from_toml(document(dose, smokes))
    assert (schema["dose"].missing_values, schema["smokes"].missing_values) == (("n/a",), ("", "n/a"))
    assert schema["smokes"].written(pa.array([None, "no"])).to_pylist() == [None, "no"]
    region = answers(name="region", kind="text", categories=(("e/u", 500), ("a/s", 400)))
    alike = Schema.from_toml(document(dose, region))["region"]
    assert (alike.missing, alike.missing_values) == (True, ()), "a word that may be a category stands for none"


def test_columns_whose_type_has_no_single_values_are_left_out() -> None:
    text = document(answers(name="n", kind="integer", lower=0.0, upper=8.0), columns=["tags", "n"])
    assert Schema.from_toml(text).ignore == ("tags",)
    assert "no single values" in text


def test_one_frequent_word_of_a_boolean_tells_the_other_and_those_of_other_columns() -> None:
    words = {"a": ("No",), "b": (), "c": ("NO",), "d": ("y",)}
    found = [
        answers(
            name=name,
            kind="boolean",
            votes={"boolean": 900},
            read=(0.9, 0.02),
            categories=tuple((text, 600) for text in texts),
        )
        for name, texts in words.items()
    ]

    def labels(*columns: DiscoveredColumn) -> list[tuple[object, object]]:
        return [(column.true, column.false) for column in Schema.from_toml(document(*columns)).synthesized]  # type: ignore[union-attr]

    assert labels(*found[:2]) == [("Yes", "No"), ("Yes", "No")]
    assert labels(*found[1:]) == [(None, None), ("YES", "NO"), ("y", "n")]
    assert "they come back as true and false" in document(found[1])
    assert "they come back" not in document(found[0])
    lone, pair = document(found[0]), document(replace(found[0], categories=(("No", 600), ("Yes", 300))))
    assert 'true = "Yes"  # proposed: the opposite of its one frequent word, and nothing shows that it occurs' in lone
    assert 'false = "No"  # bought: a frequent one of its words' in lone
    assert "opposite" not in pair


def test_what_is_not_applicable_is_written_as_the_table_writes_it():
    column = answers(name="a", kind="integer", lower=0.0, upper=15.0, missing_words=("N",))
    made = Schema.from_toml(document(column)).columns[0]
    assert (made.missing, made.missing_values) == (True, ("N",))
    stated = bought_column(column, stated={"missing": False}).facts
    assert "missing_values" not in stated
    hidden = answers(name="a", kind="integer", lower=0.0, upper=15.0, missing_words=("7",))
    assert Schema.from_toml(document(hidden)).columns[0].missing_values == (), "a number stands for itself"


def test_where_the_noise_may_hide_codes_that_begin_with_zero_the_schema_asks():
    numbers = {"kind": "integer", "lower": 0.0, "upper": 99_999.0, "zeros_hidden": 100.0}
    text = document(answers(name="zip", **numbers), answers(name="age", **numbers))
    assert text.count("add digits, such as 5, where it is written with leading zeros") == 1
    assert text.index("add digits") < text.index("[columns.age]")
    assert "digits" not in document(answers(name="zip", **numbers), types={"zip": pa.int64()})
    assert "digits" not in document(answers(name="zip", **(numbers | {"zeros_hidden": 5.0}))), "few can be hidden"
    long = numbers | {"zeros_hidden": 5.0, "upper": 1e13}
    assert "add digits" in document(answers(name="account", **long)), "of 16 digits none is looked for"
    assert "add digits" not in document(answers(name="account", **long, digits=14))
    codes = document(answers(name="fips", **numbers, codes=((1, 500), (5, 400))))
    assert 'list its values as texts where they are written with leading zeros ("00123")' in codes
    stated = bought_column(answers(name="zip", **numbers, codes=((1, 500), (5, 400))), stated={"digits": 5})
    assert "zeros" not in stated.facts["kind"][1]
    assert "values" not in stated.facts


@pytest.mark.parametrize(
    ("count", "upper", "kind"), [(450, 39.0, "categorical"), (450, 99.0, "real"), (300, 39.0, "real")]
)
def test_reals_are_categories_where_few_of_them_hold_nearly_all_cells(count, upper, kind):
    """A tenth of the cells hold others; where these lie further out than one found number from the next, listed ones
    would be all that is left."""
    column = answers(
        name="a", kind="real", lower=1.0, upper=upper, decimals=1, votes={"integer": 0, "real": 1000},
        categories=(("20.5", count), ("1.50", 200), ("1.5", count - 200)),
    )  # fmt: skip
    facts = bought_column(column).facts
    assert facts["kind"][0] == kind if kind == "real" else facts["values"][0] == [1.5, 20.5]
    assert Schema.from_toml(document(column)).columns[0].kind == kind


@pytest.mark.parametrize(("count", "kind"), [(70, "categorical"), (20, "real")])
def test_amounts_of_few_are_no_categories_beside_the_zeros_of_many(count, kind):
    column = answers(
        name="a", kind="real", lower=0.0, upper=99.0, decimals=2, votes={"integer": 920, "real": 80},
        categories=(("0", 920), ("50.25", count)), deviation=2.0,
    )  # fmt: skip
    assert Schema.from_toml(document(column)).columns[0].kind == kind


def test_integers_far_apart_are_listed_where_their_texts_were_found():
    zips = (("8001", 600), ("94105", 350))
    votes = {"integer": 1000, "real": 0}
    column = answers(name="zip", kind="integer", lower=0.0, upper=99_999.0, votes=votes, categories=zips, lumps=2)
    facts = bought_column(column).facts
    assert str(facts["values"][0]) == "[8001, 94105]"
    assert "where they are codes" not in facts["kind"][1]
    assert "values" not in bought_column(replace(column, lumps=0)).facts
    assert "values" not in bought_column(replace(column, categories=zips[:1])).facts


@pytest.mark.parametrize(
    ("upper", "decimals", "stated", "step"),
    [
        (9.0, 2, {}, 0.01),
        (80.0, 1, {}, 0.1),
        (20.0, 2, {}, None),
        (9.0, None, {}, None),
        (9.0, 2, {"bins": 10}, None),
        (9.0, 2, {"scale": "log"}, None),
        (9.0, 2, {"lower": 0.005}, None),
    ],
)
def test_each_of_few_decimals_between_the_bounds_has_a_code(upper, decimals, stated, step):
    found = answers(name="price", kind="real", lower=0.5, upper=upper, decimals=decimals, points=HEAPS)
    facts = bought_column(found, stated=stated).facts
    assert facts.get("step", (None,))[0] == step
    if step:
        assert "points" not in facts
        (column,) = Schema.from_toml(document(found)).columns
        prices = np.round(np.arange(0.5, upper, step), decimals)
        drawn = column.decode(column.encode(pa.array(prices)), np.random.default_rng(0)).to_pylist()
        assert drawn == prices.tolist()


ROUNDED = tuple((f"{tenth / 10}", 150) for tenth in range(8, 14))
WHOLE = tuple((f"{number}.0", 93) for number in range(10))
HALVES = tuple((f"{half / 2}", 99) for half in range(2, 12))
APART = (("0.25", 300), ("0.5", 200), ("0.75", 200), ("1.5", 150), ("4.25", 120))


@pytest.mark.parametrize(
    ("found", "kind"), [(ROUNDED, "real"), (WHOLE, "real"), (HALVES, "categorical"), (APART, "categorical")]
)
def test_a_rounded_measure_keeps_its_rare_numbers(found, kind):
    held = sum(count for _, count in found)
    column = answers(
        name="creatinine", kind="real", lower=0.0, upper=5.0, decimals=2 if found is APART else 1,
        votes={"integer": 10, "real": 990}, categories=found, deviation=2.0,
    )  # fmt: skip
    assert held >= 900
    assert Schema.from_toml(document(column)).columns[0].kind == kind


def test_integers_far_apart_that_begin_with_0_are_listed_as_texts():
    votes = {"integer": 1000, "real": 0}
    zips = (("01110", 600), ("94105", 350))
    found = answers(name="zip", kind="integer", lower=0.0, upper=99_999.0, votes=votes, categories=zips, lumps=2)
    (column,) = Schema.from_toml(document(found)).columns
    cells = pa.array(["94105", "01110", "94105"])
    assert column.decode(column.encode(cells), np.random.default_rng(0)).to_pylist() == cells.to_pylist()


HEAPS = ((20.0, 180), (50.0, 180), (100.0, 60))


def test_numbers_that_stand_out_are_points_and_the_comment_says_how_many_hold_them():
    facts = {"name": "gift", "lower": 0.0, "upper": 120.0, "points": HEAPS, "points_deviation": 10.0}
    text = document(answers(kind="real", decimals=2, **facts))
    (column,) = Schema.from_toml(text).columns
    assert column.points == (20.0, 50.0, 100.0)
    assert "points = [20.0, 50.0, 100.0]  # bought: numbers that stand out; about 42% (38% to 46%) of the cells" in text
    assert "All others come back as often as\n# the ones beside them" in text
    numbers = pa.array([20.0, 50.0, 100.0, 20.01])
    drawn = column.decode(column.encode(numbers), np.random.default_rng(0)).to_pylist()
    assert drawn[:3] == [20.0, 50.0, 100.0]
    assert drawn[3] != 20.0
    one = document(answers(kind="real", **(facts | {"points": HEAPS[:1]})))
    assert "points = [20.0]  # bought: numbers that stand out; about 18% (16% to 20%) of the cells hold it" in one


@pytest.mark.parametrize(
    ("facts", "stated", "points"),
    [
        ({"kind": "real", "upper": 120.0}, {}, [20.0, 50.0, 100.0]),
        ({"kind": "real", "upper": 100.0, "decimals": 2}, {}, [20.0, 50.0]),
        ({"kind": "real", "upper": 60.0}, {}, [20.0, 50.0]),
        ({"kind": "real", "upper": 120.0}, {"missing_values": ["50"]}, [20.0, 100.0]),
        ({"kind": "real", "upper": 120.0}, {"scale": "log"}, [20.0, 50.0, 100.0]),
        ({"kind": "real", "upper": 120.0}, {"step": 0.5}, None),
        ({"kind": "real", "upper": 120.0}, {"resolution": 5.0}, None),
        ({"kind": "integer", "upper": 120.0}, {}, None),
        ({"kind": "integer", "upper": 50_000.0}, {}, [20, 50, 100]),
        ({"kind": "integer", "lower": 100.0, "upper": 1_200.0}, {}, None),
    ],
)
def test_points_are_numbers_within_the_bounds_that_would_share_a_code(facts, stated, points):
    found = bought_column(answers(**({"name": "a", "lower": 0.0, "points": HEAPS} | facts)), stated=stated).facts
    assert found.get("points", (None,))[0] == points


def test_where_each_number_has_a_code_nothing_is_said_of_points():
    ages = answers(name="age", kind="integer", lower=0.0, upper=90.0)
    assert "stand out" not in document(ages)
    assert "stand out" in document(ages, answers(name="fare", kind="real", lower=0.0, upper=90.0))
    assert "stand out" in document(answers(name="n", kind="integer", lower=0.0, upper=90_000.0))


def test_numbers_that_lie_at_few_places_may_be_codes_and_do_not_number_the_rows():
    found = answers(name="zip", kind="integer", lower=0.0, upper=999.0, lumps=6)
    said = document(found)
    assert "nearly all lie at 6 places, far apart: where they are codes, list them as the `values`" in said
    assert "numbers the rows" not in said
    assert "numbers the rows" in document(replace(found, lumps=0))


def test_categories_that_may_be_numbers_are_said_to() -> None:
    texts = tuple((f"{number},5", 200) for number in range(4))
    assert "they may be numbers, which are read with their `decimal_char`" in document(
        answers(name="c", kind="text", categories=texts)
    )
    plain = answers(name="c", kind="text", categories=(("a", 400), ("b", 400), ("c", 200)))
    assert "they may be numbers" not in document(plain)


@pytest.mark.parametrize(
    ("sign", "codes", "texts", "kind"),
    [
        ("", (1000, 5000), (), "categorical"),
        (",", (1000, 5000), (), "integer"),
        (",", (1, 900), (), "integer"),
        (",", (1000, 5000), ("1.000", "5.000"), "integer"),
        (",", (1000, 5000), ("1000", "5000"), "categorical"),
        (".", (1, 900), (), "categorical"),
        (".", (1000, 5000), (), "integer"),
        (".", (1000, 5000), ("1000", "5,000"), "integer"),
    ],
)
def test_codes_are_categories_only_where_these_read_what_the_decimal_sign_does(sign, codes, texts, kind):
    column = answers(
        name="a", kind="integer", lower=0.0, upper=9000.0, codes=tuple((code, 500) for code in codes),
        categories=tuple((text, 500) for text in texts), decimal_char=sign,
    )  # fmt: skip
    made = Schema.from_toml((f'decimal_char = "{sign}"\n' if sign else "") + document(column)).columns[0]
    assert made.kind == kind, "1.000 would be 1 as a category, and 1,00 nothing"


@pytest.mark.parametrize(("texts", "kind"), [(("1.000", "5.000"), "integer"), (("1000", "5000"), "categorical")])
def test_few_numbers_are_categories_only_where_these_read_what_the_decimal_sign_does(texts, kind):
    listed = tuple((text, 500) for text in texts)
    found = answers(
        name="a", kind="integer", lower=0.0, upper=9000.0, lumps=2, votes={"integer": 1000, "real": 0},
        categories=listed, decimal_char=",",
    )  # fmt: skip
    assert bought_column(found).facts["kind"][0] == kind
