"""Dates that are the same wherever both are there: what `check` says, and that the tables it proposes keep to it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema, synthesize
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.order_notes import FEWEST
from counterfoil.evaluation.schema_report import check_without_privacy

COLUMNS = ("admitted", "last seen", "died")
BOUNDS = 'kind = "date"\nlower = 2000-01-01\nupper = 2029-12-31\nformat = "%d.%m.%Y"\nmissing = true\n'
TABLES = {name: f'[columns."{name}"]\n{BOUNDS}' for name in COLUMNS}


def patients(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    """Of whom two fifths died, on the day when they were last seen."""
    rng = np.random.default_rng(seed)
    admitted = pd.Series(pd.Timestamp("2010-01-01") + pd.to_timedelta(rng.integers(0, 2000, rows), unit="D"))
    seen = admitted + pd.to_timedelta(rng.integers(0, 900, rows), unit="D")
    died = seen.where(np.arange(rows) % 5 < 2)
    days = dict(zip(COLUMNS, (admitted, seen, died), strict=True))
    return pd.DataFrame({name: own.dt.strftime("%d.%m.%Y") for name, own in days.items()})


def same(table: pd.DataFrame, schema: str = "".join(TABLES.values())) -> list[ColumnNote]:
    return [note for note in check_without_privacy(table, Schema.from_toml(schema)).notes if note.kind == "same"]


def test_a_date_that_is_another_one_wherever_it_is_there_is_said_with_tables_that_keep_to_it() -> None:
    (note,) = same(patients())
    assert (note.column, note.source) == ("died", "last seen")
    assert "the same as last seen in all records that have both" in note.text
    schema = Schema.from_toml(TABLES["admitted"] + TABLES["last seen"] + note.toml)
    report = check_without_privacy(patients(), schema)
    assert report.holds
    assert not [one for one in report.notes if one.kind == "same"]
    copy = synthesize(patients(), schema, epsilon=3.0, seed=1).to_pandas()
    there = copy["died"].notna()
    assert 100 < there.sum() < 400
    assert (copy["died"] == copy["last seen"])[there].all()


@pytest.mark.parametrize("way", [1, -1])
def test_the_date_that_fewer_records_have_is_derived_and_those_that_lose_it_are_counted(way: int) -> None:
    table = patients()
    table.loc[:4, "last seen"] = None
    lost = int(table["died"][:5].notna().sum())
    (note,) = same(table[[*COLUMNS][::way]], "".join([*TABLES.values()][::way]))
    assert note.column == "died"
    assert f"which is missing then wherever last seen is ({lost:,} records more)" in note.text


def test_one_record_that_differs_or_few_that_are_alike_are_enough_for_silence() -> None:
    table = patients()
    table.loc[0, "died"] = "01.01.2020"
    assert same(table) == []
    few = patients()
    few.loc[few.index[few["died"].notna()][FEWEST - 1 :], "died"] = None
    assert same(few) == []


def test_one_day_that_most_records_have_says_nothing() -> None:
    table = patients().assign(died="31.12.2020", **{"last seen": "31.12.2020"})
    assert same(table) == []


def test_a_date_that_a_rule_names_is_said_without_tables() -> None:
    rule = '[[rules]]\nrequire = "admitted <= died"\n'
    (note,) = same(patients(), "".join(TABLES.values()) + rule)
    assert note.toml == ""
    assert note.text.endswith("keep to it.")


def test_batches_say_what_the_whole_table_says(monkeypatch: pytest.MonkeyPatch) -> None:
    (whole,) = same(patients())
    monkeypatch.setattr("counterfoil.curator.raw_reading.BATCH_ROWS", 50)
    (note,) = same(patients())
    assert (note.column, note.text, note.toml) == (whole.column, whole.text, whole.toml)


def test_tables_of_moments_with_an_offset_have_the_zone() -> None:
    table = patients()
    for name in COLUMNS:
        days = pd.to_datetime(table[name], format="%d.%m.%Y")
        table[name] = days.dt.strftime("%Y-%m-%dT00:00:00Z")
    tables = {name: own.replace('format = "%d.%m.%Y"', 'zone = "UTC"') for name, own in TABLES.items()}
    (note,) = same(table, "".join(tables.values()))
    schema = Schema.from_toml(tables["admitted"] + tables["last seen"] + note.toml)
    assert check_without_privacy(table, schema).holds


def test_a_table_without_records_has_no_such_dates() -> None:
    assert same(patients().head(0)) == []
