"""Moments with an offset from UTC are bought: as the instants that they name, or as days where all begin one in UTC."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from counterfoil import Budget, buy_schema
from counterfoil.curator.queries.column_places import PLACES
from counterfoil.discovery.bought_columns import bought_column
from counterfoil.discovery.discover import discover
from counterfoil.discovery.votes import Votes
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.schema.discovered import DiscoveredColumn
from counterfoil.schema.raw_cell import CODES
from counterfoil.schema.zoned_moments import ZONED, ZONED_DAYS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ROWS = 4000
FIRST, YEARS = datetime(2015, 1, 1, tzinfo=UTC), 4
WRITTEN: dict[str, Callable[[datetime], str]] = {
    "utc": lambda one: f"{one:%Y-%m-%dT%H:%M:%S}Z",
    "thousandths": lambda one: f"{one:%Y-%m-%dT%H:%M:%S}.123Z",
    "zurich": lambda one: one.astimezone(ZoneInfo("Europe/Zurich")).isoformat(),
    "pandas": lambda one: str(pd.Timestamp(one).tz_convert("America/St_Johns")),
    "day": lambda one: f"{one:%Y-%m-%d}T00:00:00.000Z",
}


def table(path: Path, names: list[str]) -> Path:
    columns = {}
    for seed, name in enumerate(names):
        seconds = np.random.default_rng(seed).integers(0, YEARS * 365 * 86_400, ROWS).tolist()
        columns[name] = [WRITTEN[name](FIRST + timedelta(seconds=one)) for one in seconds]
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def test_instants_and_their_years_are_found_whatever_offset_they_state(tmp_path: Path) -> None:
    """Each count of 4,000 cells is more than fifty deviations of its noise; the seed is fixed."""
    discovered, curator = discover(table(tmp_path / "t.csv", list(WRITTEN)), budget=Budget(2.0, 1e-9), seed=0)
    curator.close()
    for column in discovered.columns:
        kind, notation = ("date", ZONED_DAYS) if column.name == "day" else ("datetime", ZONED)
        assert (column.kind, column.date_format) == (kind, notation)
        assert column.others == ()
        unit = timedelta(days=1) if kind == "date" else timedelta(microseconds=1)
        first, last = (datetime(1970, 1, 1, tzinfo=UTC) + one * unit for one in (column.lower, column.upper))
        assert first <= FIRST + timedelta(days=200)
        assert last >= FIRST + timedelta(days=(YEARS - 1) * 365 + 165)


def test_a_bought_schema_reads_them(tmp_path: Path) -> None:
    """At this budget the noise of a count is below one record."""
    path = table(tmp_path / "t.csv", ["zurich", "day"])
    schema, _ = buy_schema(path, epsilon=100.0)
    cells = pd.read_csv(path)
    for name, kind in (("zurich", "datetime"), ("day", "date")):
        column = schema[name]
        assert (column.kind, column.zone, column.format) == (kind, "UTC", "")
        text = cells[name][0]
        seconds = datetime.fromisoformat(text).timestamp()
        number = column.numbers(pa.array([text]))[0]
        assert number == (seconds if kind == "datetime" else seconds / 86_400)


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("day", {"kind": "date", "format": "%Y-%m-%dT00:00:00.000Z"}),
        ("utc", {"kind": "date", "format": "%Y-%m-%dT%H:%M:%S%z", "zone": "Europe/Zurich"}),
        ("utc", {"kind": "datetime", "format": "%Y-%m-%dT%H:%M:%SZ"}),
    ],
)
def test_bounds_of_a_stated_format_are_bought(tmp_path: Path, name: str, facts: dict[str, str]) -> None:
    lines = "".join(f'{key} = "{fact}"\n' for key, fact in facts.items())
    (tmp_path / "stated.toml").write_text(f"[columns.{name}]\n{lines}")
    schema, _ = buy_schema(table(tmp_path / "t.csv", [name]), epsilon=20.0, stated=tmp_path / "stated.toml")
    column = schema[name]
    assert (column.kind, column.format) == (facts["kind"], facts["format"])
    assert column.lower.year in (2014, 2015)
    assert column.upper.year in (2018, 2019)


@pytest.mark.parametrize(
    ("cells", "kind", "notation"),
    [
        ({ZONED: 1000}, "datetime", ZONED),
        ({ZONED: 600, "datetime": 400}, "datetime", ZONED),
        ({ZONED: 400, "datetime": 600}, "datetime", ""),
        ({ZONED_DAYS: 1000}, "date", ZONED_DAYS),
        ({ZONED: 200, ZONED_DAYS: 800}, "datetime", ZONED),
        ({"midnight": 1000}, "date", "%Y-%m-%d 00:00:00"),
    ],
)
def test_what_a_column_is(cells: dict[str, int], kind: str, notation: str) -> None:
    found = votes(cells).with_midnights()
    assert found.kind() == kind
    assert (found.date_format() if kind == "date" else found.moment_format()) == notation


def test_of_a_column_without_a_zone_those_with_an_offset_are_named() -> None:
    found = votes({"datetime": 900, ZONED: 100})
    assert found.others("datetime", "") == (("moments with an offset from UTC", 100),)
    assert found.others("datetime", ZONED) == (), "with a zone, it reads both"


def test_where_fewer_have_an_offset_it_is_said_what_reads_them() -> None:
    """Of 1,900 moments without one and 1,000 with one, these would be missing."""
    others = votes({"datetime": 1900, ZONED: 1000}).others("datetime", "")
    ends = [datetime(year, 1, 1, tzinfo=UTC).timestamp() * 1e6 for year in (2015, 2019)]
    column = DiscoveredColumn(
        "at", "datetime", {}, *ends, (0.0, 0.0), (), 2900, 0, (), 5.0, read=(0.66, 0.01), others=others
    )
    why = bought_column(column).facts["kind"][1]
    assert "about 1,000 moments with an offset from UTC, and are read as missing" in why
    assert 'zone = "UTC" reads those with an offset too' in why
    plain = bought_column(replace(column, others=(("texts", 1000),))).facts["kind"][1]
    assert "zone" not in plain


@pytest.mark.parametrize(("zone", "wider"), [("UTC", 0), ("Europe/Zurich", 1), ("Pacific/Kiritimati", 1)])
def test_bounds_leave_room_for_the_clock_of_a_zone_that_is_stated(zone: str, wider: int) -> None:
    """Days in UTC from 2020-03-05 to 2020-03-25, of which clocks elsewhere show others."""
    days = [(datetime(2020, 3, day) - datetime(1970, 1, 1)).days for day in (5, 25)]
    column = DiscoveredColumn("day", "date", {}, *days, (0.0, 0.0), (), 100, 0, (), 5.0, date_format=ZONED_DAYS)
    bought = bought_column(column, stated={"zone": zone})
    assert "zone" not in bought.facts
    lower, upper = (bought.facts[key][0].toordinal() - datetime(1970, 1, 1).toordinal() for key in ("lower", "upper"))
    assert lower <= days[0] - wider
    assert upper >= days[1] + wider


def votes(cells: dict[str, int]) -> Votes:
    counts = np.zeros(PLACES)
    for name, count in cells.items():
        counts[CODES[name]] = count
    return Votes(counts, 5.0, 4.0)


def test_days_in_short_order_are_bought_as_a_length_and_come_back(tmp_path: Path) -> None:
    """At this budget the noise of a count is below one record."""
    rng = np.random.default_rng(3)
    admitted = pd.Timestamp(2015, 1, 1) + pd.to_timedelta(rng.integers(0, 1400, ROWS), unit="D")
    stays = {"admitted": admitted, "left": admitted + pd.to_timedelta(rng.integers(0, 12, ROWS), unit="D")}
    table = pd.DataFrame({name: own.strftime("%Y-%m-%dT00:00:00Z") for name, own in stays.items()})
    table.to_csv(tmp_path / "t.csv", index=False)
    schema, _ = buy_schema(tmp_path / "t.csv", epsilon=100.0)
    assert schema["admitted_to_left"].between == ("admitted", "left")
    (derived,) = schema.derived
    assert (derived.name, derived.result, derived.zone) == ("left", "date", "UTC")
    assert not any("14:35" in line for line in schema.to_toml().splitlines())
    report = check_without_privacy(tmp_path / "t.csv", schema)
    assert all(fact.count == 0 for fact in report.facts)


def test_days_that_begin_in_another_zone_are_bought_where_they_are_stated(tmp_path: Path) -> None:
    """At this budget the noise of a count is below one record; in UTC they begin on the day before."""
    days = pd.Timestamp(2015, 1, 1) + pd.to_timedelta(np.random.default_rng(4).integers(0, 1400, ROWS), unit="D")
    pd.DataFrame({"day": days.strftime("%Y-%m-%dT00:00:00+01:00")}).to_csv(tmp_path / "t.csv", index=False)
    stated = '[columns.day]\nkind = "date"\nzone = "Africa/Lagos"\n'
    (tmp_path / "stated.toml").write_text(stated)
    schema, _ = buy_schema(tmp_path / "t.csv", epsilon=100.0, stated=tmp_path / "stated.toml")
    day = schema["day"]
    assert day.zone == "Africa/Lagos"
    assert day.lower <= days.min().date()
    assert day.upper >= days.max().date()
    report = check_without_privacy(tmp_path / "t.csv", schema)
    assert report.holds
