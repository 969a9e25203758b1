"""Orders and zones that a storage has and a schema does not: copies lose them, which is said."""

from __future__ import annotations

import tomllib
import warnings
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from counterfoil import check_without_privacy, draft_schema, synthesize
from counterfoil.curator.stored_orders import orders_lost
from counterfoil.fidelity.schema_check import SchemaWarning
from counterfoil.schema import Schema

GRADES = ["low", "medium", "high"]
FACTS = '[columns.grade]\nkind = "categorical"\nvalues = ["low", "medium", "high"]\n{}'
ORDERED = FACTS.format("ordered = true\n")


def visits(*, ordered: bool = True) -> pd.DataFrame:
    return pd.DataFrame({"grade": pd.Categorical(GRADES * 40, categories=GRADES, ordered=ordered)})


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "parquet"])
def test_an_order_that_copies_lose_is_said(kind: str, tmp_path: Path) -> None:
    """`severity >= "medium"` was another question of a copy, whose texts compare by the alphabet: high came first."""
    frame, path = visits(), tmp_path / "visits.parquet"
    frame.to_parquet(path)
    source = {
        "pandas": frame,
        "polars": pl.DataFrame({"grade": pl.Series(GRADES * 40, dtype=pl.Enum(GRADES))}),
        "pyarrow": pa.Table.from_pandas(frame),
        "parquet": path,
    }[kind]
    with pytest.warns(SchemaWarning, match=r"grade is stored as ordered categories, .* `ordered = true`") as said:
        synthesize(source, FACTS.format(""), epsilon=1.0, method="independent", seed=1)
    assert said[0].filename == __file__
    notes = [note for note in check_without_privacy(source, FACTS.format("")).notes if note.kind == "stored"]
    assert [note.column for note in notes] == ["grade"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", SchemaWarning)
        made = synthesize(source, ORDERED, epsilon=1.0, method="independent", seed=1)
    assert made.to_pandas()["grade"].dtype.ordered
    assert not check_without_privacy(source, ORDERED).notes


def test_nothing_is_said_of_categories_without_an_order_or_of_numbers_and_files_of_text(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    visits().to_csv(path, index=False)
    assert not orders_lost(path, Schema.from_toml(FACTS.format("")))
    assert not orders_lost("spark+parquet:///nowhere/visits.parquet", Schema.from_toml(FACTS.format("")))
    assert not orders_lost(visits(ordered=False), Schema.from_toml(FACTS.format("")))
    scores = pd.DataFrame({"grade": pd.Categorical([1, 2, 3] * 9, ordered=True)})
    assert not orders_lost(scores, Schema.from_toml('[columns.grade]\nkind = "categorical"\nvalues = [1, 2, 3]\n'))


def test_a_draft_says_the_order_that_the_storage_has() -> None:
    drafted = draft_schema(visits())
    assert tomllib.loads(drafted)["columns"]["grade"]["ordered"] is True
    assert "from least to greatest" in drafted.split("[columns.grade]")[1]
    assert "ordered" not in tomllib.loads(draft_schema(visits(ordered=False)))["columns"]["grade"]


@pytest.mark.parametrize(
    ("stored", "zone", "said"),
    [("Europe/Berlin", "UTC", True), ("Europe/Berlin", "Europe/Berlin", False), ("UTC", "UTC", False)],
)
def test_check_names_moments_that_come_back_by_other_clocks(stored: str, zone: str, said: bool) -> None:
    """What is bought is in UTC: a copy's admissions were at other hours of the day than the table's, without a word."""
    moments = pd.DataFrame({"seen": pd.date_range("2020-01-01", periods=90, freq="7h", tz=stored)})
    bounds = "lower = 2019-12-01T00:00:00\nupper = 2020-12-31T23:59:59\n"
    facts = f'[columns.seen]\nkind = "datetime"\nzone = "{zone}"\n{bounds}resolution = "1d"\n'
    notes = [note.text for note in check_without_privacy(moments, facts).notes if note.kind == "stored"]
    assert ['zone = "Europe/Berlin"' in note for note in notes] == [True] * said
