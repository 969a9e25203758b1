"""Columns that are the same in all rows of a privacy unit: what `check` says of them, against brute force."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil import Schema
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator import raw_reading
from counterfoil.curator.errors import SourceError
from counterfoil.evaluation import unit_notes
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.schema_report import check_without_privacy

HOSPITAL = """
name = "stays"
[columns.patient]
kind = "identifier"
replace = "sequence"
[columns.sex]
kind = "categorical"
values = ["F", "M"]
missing = true
[columns.born]
kind = "integer"
lower = 1900
upper = 2020
bins = 12
missing = true
[columns.height]
kind = "real"
lower = 0
upper = 250
[columns.days]
kind = "integer"
lower = 0
upper = 30
[columns.ward]
kind = "categorical"
values = ["a"]
"""


def stays(rows: int = 2000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    patient = rng.integers(0, rows // 3, rows)
    of_each = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M", None], rows, p=[0.45, 0.45, 0.1]),
            "born": pd.array(np.where(rng.random(rows) < 0.1, -1, rng.integers(1930, 2000, rows)), "Int64"),
            "height": rng.normal(170, 9, rows),
        }
    ).replace({"born": {-1: pd.NA}})
    table = pd.DataFrame({"patient": patient, "days": rng.integers(0, 31, rows), "ward": "a"})
    return table.join(of_each, on="patient")


def alike(table: pd.DataFrame, unit: object = "patient", schema: str = HOSPITAL) -> list[ColumnNote]:
    report = check_without_privacy(table, Schema.from_toml(schema), privacy_unit=unit)  # type: ignore[arg-type]
    return [note for note in report.notes if note.kind == "unit"]


def test_columns_that_are_the_same_in_all_rows_of_a_unit_are_said_once() -> None:
    table = stays()
    (note,) = alike(table)
    assert (note.column, note.count, note.source) == ("sex", 3, "patient")
    assert "in all rows of each patient, as are born, height" in note.text
    sizes = table["patient"].value_counts()
    assert f"({int((sizes > 1).sum()):,} of {len(sizes):,} have several)" in note.text
    assert "`--max-rows=1`" in note.text


def test_without_a_unit_nothing_is_said_of_it() -> None:
    assert not [
        note for note in check_without_privacy(stays(), Schema.from_toml(HOSPITAL)).notes if note.kind == "unit"
    ]


@pytest.mark.parametrize("unit", [("patient", 3), PrivacyUnit("patient", 2)])
def test_the_unit_may_be_given_as_a_release_takes_it(unit: object) -> None:
    assert alike(stays(), unit) == alike(stays())


@pytest.mark.parametrize("rows", [13, 97, 500])
@pytest.mark.parametrize("column", ["sex", "born", "height"])
def test_one_row_that_is_otherwise_is_enough_in_whichever_batch(
    rows: int, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_reading, "BATCH_ROWS", rows)
    table = stays(600)
    whole = alike(table)
    assert whole[0].count == 3
    places = np.flatnonzero(table["patient"].duplicated())
    place = int(places[len(places) // 2])
    other = {"sex": "F" if table.loc[place, "sex"] == "M" else "M", "born": 1901, "height": 1.5}[column]
    table.loc[place, column] = other
    (note,) = alike(table)
    assert note.count == 2
    assert note.column != column


def test_a_number_of_the_same_bin_is_another_one() -> None:
    table = stays()
    table["born"] = 1950 + np.arange(len(table)) % 2
    (note,) = alike(table)
    assert note.count == 2


def test_rows_without_an_id_are_units_of_their_own() -> None:
    table = stays()
    table["patient"] = table["patient"].astype("Int64")
    table.loc[::7, "patient"] = pd.NA
    table.loc[::7, "height"] = np.arange(len(table.loc[::7]))
    assert alike(table)[0].count == 3


def test_units_with_one_row_say_nothing() -> None:
    assert alike(stays().drop_duplicates("patient")) == []


def test_a_unit_may_be_a_column_of_the_schema_or_of_none() -> None:
    as_numbers = HOSPITAL.replace(
        'kind = "identifier"\nreplace = "sequence"', 'kind = "integer"\nlower = 0\nupper = 999'
    )
    assert alike(stays(), schema=as_numbers)[0].count == 3
    undeclared = HOSPITAL.replace('[columns.patient]\nkind = "identifier"\nreplace = "sequence"\n', "")
    assert alike(stays(), schema=undeclared)[0].count == 3
    with pytest.raises(SourceError, match="has no column 'pateint' to be the privacy unit"):
        alike(stays(), "pateint")


def test_of_too_many_units_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_reading, "BATCH_ROWS", 300)
    monkeypatch.setattr(unit_notes, "MOST_UNITS", 128)
    (note,) = alike(stays())
    assert note.count == 3
    assert "that were looked at have several" in note.text
    assert int(note.text.split(" of ")[2].split()[0]) <= 128


def test_ids_are_one_where_they_are_spelled_alike() -> None:
    table = stays()
    table["patient"] = [str(one) if place % 2 else one for place, one in enumerate(table["patient"])]
    assert alike(table)[0].text == alike(stays())[0].text


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(10, 800), st.integers(1, 300), st.floats(0.01, 0.99))
def test_columns_that_are_independent_have_no_note(seed: int, rows: int, units: int, share: float) -> None:
    """A false alarm has a probability of at most one in a million in each table."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "patient": rng.integers(0, units, rows),
            "sex": np.where(rng.random(rows) < share, "F", "M"),
            "born": np.where(rng.random(rows) < share, 1950, 1960),
            "height": rng.integers(0, 3, rows),
            "days": rng.integers(0, 2, rows) * (rng.random(rows) < share),
            "ward": "a",
        }
    )
    assert alike(table) == []


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([7, 64, 1000]), st.booleans())
def test_what_is_said_is_what_grouping_says(seed: int, batch: int, flip: bool) -> None:
    table = stays(900, seed)
    if flip:
        table.loc[np.random.default_rng(seed).integers(0, 900), "sex"] = "F"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(raw_reading, "BATCH_ROWS", batch)
        (note,) = alike(table)
    same = [
        name for name in ("sex", "born", "height") if (table.groupby("patient")[name].nunique(dropna=False) == 1).all()
    ]
    assert (note.column, note.count) == (same[0], len(same))
