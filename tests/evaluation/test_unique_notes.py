"""Columns of whole numbers that no two records share: what `check` says of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation import unique_notes
from counterfoil.evaluation.schema_report import check_without_privacy


def unique(table: pd.DataFrame) -> dict[str, int]:
    """By column, of how many records it is said."""
    columns = "".join(
        f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = 9000000\nmissing = true\n' for name in table
    )
    notes = check_without_privacy(table, Schema.from_toml(f'name = "t"\n{columns}')).notes
    return {note.column: note.count for note in notes if note.kind == "unique"}


def records(rows: int = 1500) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"row": np.arange(1, rows + 1), "age": rng.integers(0, 90, rows)})


def test_row_names_are_unique_and_ages_are_not():
    assert unique(records()) == {"row": 1500}


def test_case_numbers_in_any_order_are_too():
    table = records().sample(frac=1, random_state=0)
    table["row"] = 3 * table["row"] + 1000
    assert unique(table) == {"row": 1500}


@pytest.mark.parametrize("place", [1, 1499])
def test_one_number_twice_is_enough(place):
    table = records()
    table.loc[place, "row"] = 1
    assert unique(table) == {}


def test_numbers_that_differ_by_chance_are_not_named():
    table = pd.DataFrame({"cents": np.random.default_rng(1).choice(9_000_000, 1500, replace=False)})
    assert unique(table) == {}


def test_missing_cells_say_nothing():
    table = records()
    table["row"] = table["row"].astype("Int64")
    table.loc[:99, "row"] = pd.NA
    table["none"] = pd.array([pd.NA] * len(table), dtype="Int64")
    assert unique(table) == {"row": 1400}


def test_of_larger_tables_nothing_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(unique_notes, "MOST_RECORDS", 1499)
    assert unique(records()) == {}
