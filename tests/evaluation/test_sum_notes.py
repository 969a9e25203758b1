"""Columns that are the sum of two others: what `check` says of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation import sum_notes
from counterfoil.evaluation.schema_report import check_without_privacy


def sums(table: pd.DataFrame, more: str = "") -> dict[str, tuple[str, int]]:
    """By column that is a sum, what is said of it, and of how many records."""
    columns = "".join(
        f'[columns."{name}"]\nkind = "real"\nlower = 0\nupper = 1000\ndecimals = 2\nmissing = true\n' for name in table
    )
    report = check_without_privacy(table, Schema.from_toml(f'name = "t"\n{columns}{more}'))
    return {note.column: (note.text, note.count) for note in report.notes if note.kind == "sum"}


def costs(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    drugs, nursing = np.round(rng.exponential(90, (2, rows)), 2)
    return pd.DataFrame(
        {"total": np.round(drugs + nursing, 2), "drugs": drugs, "free": drugs[::-1], "nursing": nursing}
    )


def test_a_total_is_named_with_its_parts_and_the_expression():
    ((column, (text, count)),) = sums(costs()).items()
    assert (column, count) == ("total", 400)
    assert 'expression = "drugs + nursing"' in text


def test_names_that_are_no_words_stand_between_backticks():
    found = sums(costs().rename(columns={"drugs": "cost of drugs"}))
    assert "`cost of drugs` + nursing" in found["total"][0]


@pytest.mark.parametrize("place", [0, 200, 399])
def test_one_record_that_speaks_against_it_is_enough(place):
    table = costs()
    table.loc[place, "total"] += 0.01
    assert sums(table) == {}


def test_records_that_miss_one_of_the_three_say_nothing():
    table = costs()
    table.loc[:99, "drugs"] = np.nan
    table.loc[100:199, "total"] = np.nan
    assert sums(table)["total"][1] == 200
    table["nursing"] = np.nan
    assert sums(table) == {}


def test_few_records_and_parts_that_are_0_are_chance():
    assert sums(costs(sum_notes.FEWEST - 1)) == {}
    table = costs()
    table["nursing"] = 0.0
    table["total"] = table["drugs"]
    assert sums(table) == {}


def test_a_sum_that_a_rule_names_is_known():
    assert sums(costs(), '[[rules]]\nrequire = "total == drugs + nursing"\n') == {}


def test_numbers_beyond_a_bound_count_as_they_are():
    table = costs()
    table.loc[7, ["total", "drugs"]] += 5000.0
    assert "total" in sums(table)


def test_wide_tables_are_not_asked(monkeypatch):
    monkeypatch.setattr(sum_notes, "MOST_COLUMNS", 3)
    assert sums(costs()) == {}
