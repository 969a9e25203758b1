"""Columns that are missing in the same records, or wherever another one is: what `check` says of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation import absent_notes
from counterfoil.evaluation.schema_report import check_without_privacy


def absences(table: pd.DataFrame, more: str = "") -> dict[str, tuple[str, int]]:
    """By the column it is said of, the sentence, and of how many columns."""
    columns = "".join(f'[columns."{name}"]\nkind = "integer"\nlower = 0\nupper = 9\nmissing = true\n' for name in table)
    report = check_without_privacy(table, Schema.from_toml(f'name = "t"\n{columns}{more}'))
    return {note.column: (note.text, note.count) for note in report.notes if note.kind == "missing"}


def visits(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    """Two measures at three visits, the last visit of each person, and a column that is missing by chance."""
    rng = np.random.default_rng(seed)
    last = rng.integers(1, 7, rows)
    table = pd.DataFrame(
        rng.integers(0, 10, (rows, 7)).astype(float), columns=["a1", "b1", "a2", "b2", "a3", "b3", "c"]
    )
    for visit in (1, 2, 3):
        table.loc[last < visit, [f"a{visit}", f"b{visit}"]] = np.nan
    table.loc[rng.random(rows) < 0.3, "c"] = np.nan
    return table


RULES = "".join(
    f'[[rules]]\nif = "{one} is missing"\nthen = "{other} is missing"\n'
    for one, other in (("a2", "b2"), ("b2", "a2"), ("a3", "b3"), ("b3", "a3"), ("a2", "a3"))
)


def test_columns_of_a_visit_and_of_later_visits_are_told_with_the_rules():
    found = absences(visits())
    assert list(found) == ["b2", "a3"]
    same, later = found["b2"], found["a3"]
    assert same[1] == 2
    assert same[0].startswith("it is missing in the same records as a2; the like is true of 1 other column.")
    assert 'if = "a2 is missing", then = "b2 is missing", and the other way round' in same[0]
    assert later == (
        "it is missing wherever a2 is. Rows of a copy will not keep to it. Where a form or a visit says so, add rules: "
        'if = "a2 is missing", then = "a3 is missing".',
        1,
    )


def test_the_rules_that_are_advised_end_the_notes():
    assert absences(visits(), RULES) == {}


@pytest.mark.parametrize("place", [0, 599])
def test_one_record_that_has_one_of_two_is_enough(place):
    table = visits()
    table.loc[place, ["a2", "a3", "b3"]] = np.nan
    table.loc[place, "b2"] = 1.0
    assert set(absences(table)) & {"b2"} == set()


def test_few_missing_cells_and_columns_that_are_mostly_missing_are_chance():
    table = visits()[["a1", "b1", "c"]]
    table.loc[:2, ["a1", "b1"]] = np.nan
    table.loc[3:, "c"] = np.nan
    table.loc[3:20, "a1"] = np.nan
    assert absences(table) == {}
    assert absences(table.assign(a1=np.nan, b1=np.nan)) == {}, "missing in all records"


def test_wide_tables_are_not_asked(monkeypatch):
    monkeypatch.setattr(absent_notes, "MOST_COLUMNS", 3)
    assert absences(visits()) == {}
