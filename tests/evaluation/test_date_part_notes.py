"""Whole numbers that are parts of a date in every record: what `check` says of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation.schema_report import check_without_privacy

DATES = """
[columns.at]
kind = "{kind}"
lower = {lower}
upper = {upper}
resolution = "1mo"
missing = true
"""
BOUNDS = {"date": ("1950-01-01", "2030-12-31"), "datetime": ("1950-01-01T00:00:00", "2030-12-31T23:59:59")}


def interviews(rows: int = 400) -> pd.DataFrame:
    """In the order of their moments, from before 1970 on."""
    rng = np.random.default_rng(0)
    at = pd.Series(pd.to_datetime(np.sort(rng.integers(-5 * 10**8, 10**9, rows)), unit="s"))
    table = pd.DataFrame({"at": at, "year": at.dt.year, "month": at.dt.month, "quarter": at.dt.quarter})
    return table.assign(day=at.dt.day, hour=at.dt.hour, other=rng.integers(1, 13, rows))


def said(table: pd.DataFrame, kind: str, rules: str = "") -> dict[str, str]:
    """By the column that it is said of, the sentence."""
    numbers = "".join(
        f'[columns.{name}]\nkind = "integer"\nlower = 0\nupper = 2100\nmissing = true\n'
        for name in table
        if name != "at"
    )
    lower, upper = BOUNDS[kind]
    text = DATES.format(kind=kind, lower=lower, upper=upper) + numbers + rules
    notes = check_without_privacy(table, Schema.from_toml(text)).notes
    return {note.column: note.text for note in notes if note.kind == "date_part"}


@pytest.mark.parametrize(
    ("kind", "parts"),
    [("date", ["year", "month", "quarter", "day"]), ("datetime", ["year", "month", "quarter", "day", "hour"])],
)
def test_a_number_that_is_a_part_of_a_date_is_named(kind: str, parts: list[str]) -> None:
    """Of a household panel 30% of a copy's rows had another year than their date, and nothing had said so."""
    found = said(interviews(), kind)
    assert sorted(found) == sorted(parts)
    for part in parts:
        assert f"in all records it is the {part} of at, and rows of a copy will not all keep to it" in found[part]


def test_one_record_speaks_against_it_and_missing_ones_are_counted() -> None:
    table = interviews()
    table.loc[3, "at"] = pd.NaT
    assert "In 1 record one of the two alone is missing" in said(table, "date")["year"]
    table.loc[7, "year"] += 1
    assert "year" not in said(table, "date")


def test_what_hardly_changes_is_no_part_of_a_date() -> None:
    table = interviews()
    one = table[table.year == table.year.iloc[0]].assign(year=table.year.iloc[0])
    assert "year" not in said(one, "date")


def test_rules_go_with_the_column_that_they_name() -> None:
    """Left out alone, it was an unknown column of the rule, and the schema did not load."""
    rule = '[[rules]]\nrequire = "year >= 0"\n'
    found = said(interviews(), "date", rule)
    assert "leave it out (`ignore`) with the rules that name it, and make" in found["year"]
    assert "leave it out (`ignore`), and make" in found["month"]
