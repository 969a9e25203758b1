"""Zones: what a clock shows, against pandas and an enumeration of instants; and columns of instants."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.sources.opening import open_source
from counterfoil.geometry.decoding import values
from counterfoil.schema import Boolean, Categorical, Date, Datetime, Schema, SchemaError, UnplacedValue
from counterfoil.schema.arithmetic import Arithmetic
from counterfoil.schema.drafting import draft
from counterfoil.schema.errors import UnreadableType
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.zone import find_zone, instant_seconds, moment_in, wall_seconds, zone_names

EPOCH = datetime(1970, 1, 1)
ZURICH = "Europe/Zurich"
# Half an hour of summer time, a day that was skipped, summer time from midnight, offsets of half hours, none at all.
NAMES = (ZURICH, "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo", "America/St_Johns", "Asia/Kolkata", "UTC")
SECONDS = st.integers(-1_500_000_000, 2_100_000_000)


def shown(instants: np.ndarray, name: str) -> np.ndarray:
    """What pandas says that a clock shows."""
    moments = pd.to_datetime(instants, unit="s", utc=True).tz_convert(name).tz_localize(None)
    return (moments - pd.Timestamp(EPOCH)) // pd.Timedelta(seconds=1)


@given(st.sampled_from(NAMES), st.lists(SECONDS, min_size=1, max_size=30))
def test_a_clock_shows_what_pandas_says(name: str, instants: list[int]) -> None:
    zone = ZoneInfo(name)
    found = wall_seconds(np.array(instants), zone)
    np.testing.assert_array_equal(found, shown(np.array(instants), name))
    np.testing.assert_array_equal(
        found, [seconds(moment_in(instant, zone).replace(tzinfo=None)) for instant in instants]
    )


@given(st.sampled_from(NAMES), SECONDS.map(lambda second: second - second % 900))
@example(ZURICH, 1_585_447_200 + 1800)  # 02:30 on 29 March 2020, which no clock showed
@example(ZURICH, 1_603_591_200 + 1800)  # 02:30 on 25 October 2020, which all showed twice
@example("Pacific/Apia", 1_325_203_200 + 36_000)  # in the day that was skipped
@example("Australia/Lord_Howe", 1_586_051_100)
def test_a_wall_time_is_the_first_instant_that_shows_it(name: str, wall: int) -> None:
    """Offsets are whole quarters of an hour since 1945: all instants from 16 hours before to 16 after are tried."""
    candidates = wall + 900 * np.arange(-64, 65)
    showing = candidates[shown(candidates, name) == wall]
    (found,) = instant_seconds(np.array([wall]), ZoneInfo(name))
    if wall < -780_000_000:  # offsets had seconds: only that the clock shows it
        assert wall_seconds(np.array([found]), ZoneInfo(name)) - wall in (0, 3600)
    elif len(showing):
        assert found == showing.min()
    else:
        before = wall - 86_400 * 2
        assert found == wall - int(shown(np.array([before]), name)[0] - before)
        assert wall_seconds(np.array([found]), ZoneInfo(name)) > wall


def test_instants_beyond_all_calendars_have_the_offset_of_their_end() -> None:
    far = np.array([-(2**61), 2**61])
    walls = wall_seconds(far, ZoneInfo("Asia/Kolkata"))
    assert walls[1] - far[1] == 19_800
    assert walls[0] < 0 < walls[1]


def test_names_are_those_of_the_database() -> None:
    for name in (
        "Europe/Zuric",
        "localtime",
        "posixrules",
        "Factory",
        "../etc/passwd",
        "/etc/localtime",
        "Europe",
        "a\0b",
    ):
        assert find_zone(name) is None, name
    assert find_zone("UTC") == ZoneInfo("UTC")
    assert {*zone_names()} <= available_timezones()
    assert "localtime" not in zone_names()
    with pytest.raises(
        SchemaError, match=r"Column 'd' \(date\): `zone` .* found 'Europe/Zurch'. Did you mean 'Europe/Zur"
    ):
        Date("d", date(2020, 1, 1), date(2020, 2, 1), zone="Europe/Zurch")


def seconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(seconds=1)


MIDNIGHT = datetime(2020, 1, 14, 23, 30, tzinfo=UTC)  # half past midnight of the 15th in Zurich


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([MIDNIGHT], pa.timestamp("us", "UTC")),
        pa.array([MIDNIGHT], pa.timestamp("ns", "America/New_York")).dictionary_encode(),
        pa.chunked_array([pa.array([MIDNIGHT], pa.timestamp("s", ZURICH))]),
        pa.array(["2020-01-14T23:30:00Z"]),
        pa.array(["2020-01-15 00:30:00+01:00"]),
        pa.array(["2020-01-15 00:30"]),
        MixedCells([MIDNIGHT]),
        MixedCells([datetime(2020, 1, 15, 0, 30)]),
        MixedCells(["2020-01-14T18:30:00-05:00"]),
        pl.Series([MIDNIGHT]).to_arrow(),
        pa.Array.from_pandas(pd.Series(pd.to_datetime([MIDNIGHT]))),
    ],
)
def test_half_past_midnight_in_zurich_is_the_15th(cells: pa.Array) -> None:
    day = Date("d", date(2020, 1, 1), date(2020, 1, 31), zone=ZURICH)
    assert day.encode(cells).tolist() == [14]
    hour = Datetime("t", datetime(2020, 1, 15), datetime(2020, 1, 16), "30min", zone=ZURICH)
    assert hour.encode(cells).tolist() == [1]
    assert hour.numbers(cells).tolist() == [seconds(datetime(2020, 1, 14, 23, 30))]


def test_without_a_zone_instants_are_refused_by_their_type_and_texts_are_not_understood() -> None:
    columns = (
        Date("d", date(2020, 1, 1), date(2020, 1, 31), missing=True),
        Datetime("d", datetime(2020, 1, 1), datetime(2020, 1, 31), "1d", missing=True),
    )
    for column in columns:
        for kind in (pa.timestamp("us", "UTC"), pa.dictionary(pa.int32(), pa.timestamp("s", ZURICH))):
            for length in (0, 2):  # by the type alone
                with pytest.raises(UnreadableType, match=r"Column 'd' .*instants with a zone.*Declare `zone`"):
                    column.encode(pa.nulls(length, kind))
        nowhere = column.missing_code
        offset = pa.array(["2020-01-15T00:30:00Z", "2020-01-15T00:30:00+01:00", "2020-01-15T00:30:00"])
        assert column.encode(offset).tolist() == [nowhere, nowhere, 14]
        assert column.encode(MixedCells([MIDNIGHT, date(2020, 1, 15)])).tolist() == [nowhere, 14]
    with pytest.raises(
        UnplacedValue, match=r"Declare `format` where .*, `zone` where they state an offset, or `missing"
    ):
        Date("d", date(2020, 1, 1), date(2020, 1, 31)).encode(pa.array(["2020-01-15T00:30:00Z"]))


def test_days_are_those_of_the_clock_and_hours_those_of_the_world() -> None:
    days = Datetime("t", datetime(2020, 3, 28), datetime(2020, 3, 30, 23, 59, 59), "1d", zone=ZURICH)
    lows, highs = days.ranges
    assert (highs - lows + 1).tolist() == [86_400, 82_800, 86_400]
    hours = Datetime("t", datetime(2020, 10, 25), datetime(2020, 10, 25, 23, 59, 59), "1h", zone=ZURICH)
    assert hours.size == 25
    assert hours.labels[2:4] == (
        "2020-10-25T02:00:00+02:00..2020-10-25T02:59:59+02:00",
        "2020-10-25T02:00:00+01:00..2020-10-25T02:59:59+01:00",
    )
    assert hours.encode(pa.array(["2020-10-25 02:30", "2020-10-25T02:30:00+01:00"])).tolist() == [2, 3]
    skipped = Datetime("t", datetime(2011, 12, 29), datetime(2011, 12, 31, 23, 59, 59), "1d", zone="Pacific/Apia")
    assert skipped.size == 2
    months = Datetime("t", datetime(2020, 1, 1), datetime(2020, 12, 31), "1mo", zone=ZURICH)
    assert [label[:19] for label in months.labels] == [f"2020-{month:02d}-01T00:00:00" for month in range(1, 13)]


@given(st.data())
def test_values_come_back_with_their_zone(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    lower = data.draw(st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1))).replace(microsecond=0)
    upper = lower + timedelta(seconds=data.draw(st.integers(86_400, 86_400 * 40)))
    notation = data.draw(st.sampled_from(["", "%d.%m.%Y %H:%M:%S %z"]))
    column = Datetime("t", lower, upper, data.draw(st.sampled_from(["3h", "1d", "1mo"])), format=notation, zone=name)
    codes = np.repeat(np.arange(column.size), 3)
    decoded = column.decode(codes, np.random.default_rng(0))
    assert decoded.type == pa.timestamp("us", name)
    if not notation:
        np.testing.assert_array_equal(column.encode(decoded), codes)
    again = column.written(decoded)
    np.testing.assert_array_equal(column.encode(again), codes)
    if not notation:
        read = pd.to_datetime(again.to_pandas(), utc=True)
        assert (read == decoded.to_pandas().dt.tz_convert("UTC")).all()


def test_rules_never_compare_instants_with_the_times_of_another_clock() -> None:
    there = Datetime("a", datetime(2020, 1, 1), datetime(2020, 1, 2), "1h", zone=ZURICH)
    here = Datetime("b", datetime(2020, 1, 1), datetime(2020, 1, 2), "1h")
    other = Datetime("b", datetime(2020, 1, 1), datetime(2020, 1, 2), "1h", zone="Asia/Tokyo")
    with pytest.raises(SchemaError, match="columns 'a' and 'b' can't be compared"):
        Schema.from_toml(Schema((there, here)).to_toml() + '\n[[rules]]\nrequire = "a <= b"\n').structural_zeros  # noqa: B018
    text = Schema((there, other)).to_toml() + '\n[[rules]]\nrequire = "a <= b"\n'
    (zeros,) = Schema.from_toml(text).structural_zeros.values()
    # 00:00 on the 1st in Zurich is 08:00 in Tokyo: nothing before can follow it.
    assert zeros[0, :8].all()
    assert not zeros[0, 8:].any()
    by_name = {"a": there, "b": here, "c": replace(other, name="c")}
    assert Arithmetic("a - c", by_name, place="").columns == ("a", "c")
    with pytest.raises(SchemaError, match=r"no arithmetic on `a` \(datetime with a zone\) but the difference"):
        Arithmetic("a - b", by_name, place="")
    assert there.constant("2020-01-01 00:00") == seconds(datetime(2019, 12, 31, 23))


def test_plain_columns_are_as_before() -> None:
    assert Date("d", date(2020, 1, 1), date(2020, 1, 31)).facts() == {
        "lower": date(2020, 1, 1),
        "upper": date(2020, 1, 31),
    }
    assert Datetime("t", datetime(2020, 1, 1), datetime(2020, 1, 2), "1h").arrow_type == pa.timestamp("us")
    zoned = Categorical("c", ("2020-01-14 23:30:00+00:00",))
    assert zoned.encode(pa.array([MIDNIGHT], pa.timestamp("us", ZURICH))).tolist() == [0]


@pytest.mark.parametrize("storage", ["parquet", "duckdb", "pandas", "polars", "csv"])
def test_every_storage_gives_the_same_day(storage: str, tmp_path: Path) -> None:
    table = pa.table({"d": pa.array([MIDNIGHT, None], pa.timestamp("us", "Asia/Tokyo"))})
    source: object = table.to_pandas() if storage == "pandas" else pl.from_arrow(table)
    if storage == "parquet":
        parquet.write_table(table, tmp_path / "t.parquet")
        source = tmp_path / "t.parquet"
    elif storage == "duckdb":
        with duckdb.connect(str(tmp_path / "t.db")) as opened:
            opened.register("given", table)
            opened.execute("CREATE TABLE t AS SELECT * FROM given")
        source = f"{tmp_path / 't.db'}::t"
    elif storage == "csv":
        (tmp_path / "t.csv").write_text('d\n2020-01-15T08:30:00+09:00\n""\n')
        source = tmp_path / "t.csv"
    facts = {"lower": date(2020, 1, 1), "upper": date(2020, 1, 31), "missing": True}
    (block,) = DuckDBEngine(open_source(source), Schema((Date("d", **facts, zone=ZURICH),))).blocks(["d"])
    assert block.codes["d"].tolist() == [14, 31]
    without = DuckDBEngine(open_source(source), Schema((Date("d", **facts),)))
    if storage == "csv":
        (block,) = without.blocks(["d"])
        assert block.codes["d"].tolist() == [31, 31]
        return
    with pytest.raises(UnreadableType, match="Declare `zone`"):
        without.prepare(["d"])
    with pytest.raises(ValueError, match="Declare `zone`"):
        Curator(source, Schema((Date("d", **facts),)), budget=Budget(1.0))


def test_points_are_values_with_their_zone_and_labels() -> None:
    there = Datetime("t", datetime(2020, 1, 15), datetime(2020, 1, 16), "1h", zone=ZURICH, missing=True)
    found = values(there, np.array([seconds(datetime(2020, 1, 14, 23, 30)), np.nan]))
    assert found.type == there.arrow_type
    assert found.to_pylist() == [MIDNIGHT, None]
    for column in (
        Boolean("b", "yes", "no", missing=True),
        Boolean("b", 1, 2, missing=True),
        Boolean("b", missing=True),
    ):
        found = values(column, np.array([0.2, 0.9, np.nan]))
        assert found.type == column.arrow_type
        assert column.encode(found).tolist() == [0, 1, 2]


def test_a_draft_asks_for_the_zone_of_instants() -> None:
    text = draft({"t": pa.timestamp("us", "UTC"), "s": pa.timestamp("us")})
    open_facts = {item.column: item.facts for item in Schema.from_toml(text).confirm}
    assert any("`zone` must be the name of a zone" in fact for fact in open_facts["t"])
    assert not any("`zone`" in fact for fact in open_facts["s"])
