"""Moments as offices write them are bought: their notation, their bounds, and days where all are at midnight."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from counterfoil import Budget, buy_schema
from counterfoil.curator.queries.column_places import PLACES
from counterfoil.discovery.discover import discover
from counterfoil.discovery.votes import Votes
from counterfoil.schema.notation import text_of
from counterfoil.schema.office_moments import DAY_FORMATS, MOMENT_FORMATS
from counterfoil.schema.raw_cell import CODES

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
ROWS = 4000


def moments(seed: int) -> list[datetime]:
    rng = np.random.default_rng(seed)
    return [datetime(2015, 1, 1) + timedelta(minutes=int(one)) for one in rng.integers(0, 4 * 365 * 1440, ROWS)]


def table(path: Path, written: dict[str, Callable[[datetime], str]]) -> Path:
    columns = {name: [write(one) for one in moments(seed)] for seed, (name, write) in enumerate(written.items())}
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("few", [MOMENT_FORMATS[:6], MOMENT_FORMATS[6:]])
def test_the_notation_and_the_years_are_found(tmp_path: Path, few: tuple[str, ...]) -> None:
    """Each count of 4,000 cells is more than fifty deviations of its noise; seeds are fixed."""
    path = table(tmp_path / "t.csv", {name: lambda one, name=name: text_of(one, name) for name in few})
    discovered, curator = discover(path, budget=Budget(2.0, 1e-9), seed=0)
    curator.close()
    for column in discovered.columns:
        assert (column.kind, column.date_format) == ("datetime", column.name)
        first, last = (datetime(1970, 1, 1) + timedelta(microseconds=one) for one in (column.lower, column.upper))
        assert first <= datetime(2015, 6, 1)
        assert last >= datetime(2018, 6, 1)


def test_moments_at_midnight_are_days_that_are_written_so(tmp_path: Path) -> None:
    few = list(DAY_FORMATS.values())[::3]
    path = table(tmp_path / "t.csv", {name: lambda one, name=name: text_of(one, name) for name in few})
    discovered, curator = discover(path, budget=Budget(2.0, 1e-9), seed=0)
    curator.close()
    for column in discovered.columns:
        assert (column.kind, column.date_format) == ("date", column.name)
        assert -1 <= column.lower / 365.25 - 45 <= 0.5


def test_a_bought_schema_reads_and_writes_them(tmp_path: Path) -> None:
    written = {
        "seen": lambda one: f"{one.day}.{one.month}.{one.year} {one.hour}:{one.minute:02d}",
        "day": lambda one: f"{one:%m/%d/%Y} 12:00:00 AM",
    }
    schema, _ = buy_schema(table(tmp_path / "t.csv", written), epsilon=20.0)
    seen, day = schema.columns
    assert (seen.kind, seen.format) == ("datetime", "%d.%m.%Y %H:%M")
    assert (day.kind, day.format) == ("date", "%m/%d/%Y 12:00:00 AM")
    assert day.rewritten("01/31/2016 12:00:00 AM") == "01/31/2016 12:00:00 AM"


@pytest.mark.parametrize(
    ("cells", "kind", "notation"),
    [
        ({"ambiguous/ %H:%M": 400, "%m/%d/%Y %H:%M": 600}, "datetime", "%m/%d/%Y %H:%M"),
        ({"ambiguous/ %H:%M": 1000}, "datetime", "%d/%m/%Y %H:%M"),
        ({"ambiguous/ 00:00": 400, "%m/%d/%Y 00:00": 600}, "date", "%m/%d/%Y 00:00"),
        ({"%m/%d/%Y 00:00": 200, "%m/%d/%Y %H:%M": 800}, "datetime", "%m/%d/%Y %H:%M"),
        ({"%d.%m.%Y %H:%M": 30, "datetime": 970}, "datetime", ""),
        ({"%d.%m.%Y": 1000}, "date", "%d.%m.%Y"),
        ({"midnight": 1000}, "date", "%Y-%m-%d 00:00:00"),
    ],
)
def test_what_a_column_is(cells: dict[str, int], kind: str, notation: str) -> None:
    found = votes(cells).with_midnights()
    assert found.kind() == kind
    assert (found.date_format() if kind == "date" else found.moment_format()) == notation


def test_others_are_named_with_what_may_be_either() -> None:
    found = votes({"datetime": 900, "%m/%d/%Y %H:%M": 60, "ambiguous/ %H:%M": 40})
    assert found.others("datetime", "") == (("%m/%d/%Y %H:%M", 100),)


def test_moments_that_a_format_of_midnights_does_not_read_are_named(tmp_path: Path) -> None:
    def written(one: datetime) -> str:
        return f"{one:%d.%m.%Y %H:%M:%S}" if one.day == 9 else f"{one:%d.%m.%Y} 00:00:00"

    path = table(tmp_path / "t.csv", {"day": written})
    lost = int((~pd.read_csv(path)["day"].str.endswith(" 00:00:00")).sum())
    discovered, curator = discover(path, budget=Budget(20.0, 1e-9), seed=0)
    curator.close()
    (day,) = discovered.columns
    assert (day.kind, day.date_format) == ("date", "%d.%m.%Y 00:00:00")
    assert day.read is not None
    assert day.read[0] == pytest.approx(1 - lost / ROWS, abs=0.02)
    assert dict(day.others) == {"%d.%m.%Y %H:%M:%S": pytest.approx(lost, abs=30)}


def votes(cells: dict[str, int]) -> Votes:
    counts = np.zeros(PLACES)
    for name, count in cells.items():
        counts[CODES[name]] = count
    return Votes(counts, 5.0, 4.0)
