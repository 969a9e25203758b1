"""What `check` says of dates and amounts that some records alone have, and of columns with `other` or labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation.schema_report import check_without_privacy

SCHEMA = """
name = "patients"
[columns.status]
kind = "categorical"
values = ["alive", "dead"]
other = true
missing = true
[columns.treated]
kind = "boolean"
true = "ja"
false = "nein"
missing = true
[columns.died]
kind = "date"
lower = 2000-01-01
upper = 2010-12-31
missing = true
[columns.cause]
kind = "categorical"
values = ["heart", "cancer"]
other = true
missing = true
[columns.dose]
kind = "real"
lower = 0
upper = 100
missing = true
"""


def patients(rows: int = 2000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    dead, treated = rng.random(rows) < 0.3, rng.random(rows) < 0.4
    died = pd.Series(pd.Timestamp("2000-01-01") + pd.to_timedelta(rng.integers(0, 4000, rows), "D"))
    return pd.DataFrame(
        {
            "status": np.where(dead, "dead", "alive"),
            "treated": np.where(treated, "ja", "nein"),
            "died": died.where(dead).dt.date.astype("date32[pyarrow]"),
            "cause": pd.Series(rng.choice(["heart", "cancer", "lung", "other"], rows)).where(dead),
            "dose": pd.Series(rng.random(rows) * 100).where(treated),
        }
    )


def notes(table: pd.DataFrame, schema: str = SCHEMA) -> dict[tuple[str, str], str]:
    return {
        (note.column, note.kind): note.text for note in check_without_privacy(table, Schema.from_toml(schema)).notes
    }


def test_dates_amounts_and_categories_that_some_records_have_are_said_with_their_rules() -> None:
    found = notes(patients())
    skipped = {column: text for (column, kind), text in found.items() if kind == "skipped"}
    assert set(skipped) == {"died", "dose"}
    assert "missing in exactly the records with `status == 'alive'`; the like is true of cause." in skipped["died"]
    assert 'if = "status == \'alive\'", then = "died is missing"' in skipped["died"]
    assert 'if = "status == \'dead\'", then = "not (died is missing)"' in skipped["died"]
    assert "missing in exactly the records with `treated == 'nein'`" in skipped["dose"]


def test_no_lookup_of_dates_is_advised_where_a_rule_says_it() -> None:
    assert not {column for column, kind in notes(patients()) if kind in ("follows", "wherever")}


@pytest.mark.parametrize("order", [["died", "status", "cause", "treated", "dose"], ["cause", "died", "status"]])
def test_the_order_of_the_columns_does_not_matter(order: list[str]) -> None:
    head, *tables = SCHEMA.split("[columns.")
    parts = {part.split("]")[0]: part for part in tables}
    schema = head + "".join(f"[columns.{parts[name]}" for name in order)
    found = notes(patients()[order], schema)
    said = [text for (_, kind), text in found.items() if kind == "skipped" and "`status == 'alive'`" in text]
    assert len(said) == 1
    assert "the like is true of" in said[0]


def test_other_is_named_by_what_it_is_not() -> None:
    table = patients()
    table.loc[(table.status == "alive") & (np.arange(len(table)) % 3 == 0), "status"] = "moved away"
    text = notes(table)["died", "skipped"]
    assert "in exactly the records with `status != 'dead'`" in text
    assert 'then = "died is missing", and if = "status == \'dead\'", then = "not (died is missing)"' in text


def test_the_rules_that_are_advised_hold_of_the_table_and_end_the_note() -> None:
    table = patients()
    table.loc[(table.status == "alive") & (np.arange(len(table)) % 3 == 0), "status"] = "moved away"
    rules = "".join(
        f'[[rules]]\nif = "{where}"\nthen = "{then}"\n'
        for name in ("died", "cause")
        for where, then in [
            ("status != 'dead'", f"{name} is missing"),
            ("status == 'dead'", f"not ({name} is missing)"),
        ]
    )
    report = check_without_privacy(table, Schema.from_toml(SCHEMA + rules))
    assert not any(fact.count for fact in report.facts)
    assert {note.column for note in report.notes if note.kind == "skipped"} == {"dose"}


def test_a_label_is_a_number_where_the_schema_has_one() -> None:
    table = patients()
    table["treated"] = np.where(table.treated == "ja", 1, 2)
    schema = SCHEMA.replace('true = "ja"\nfalse = "nein"', "true = 1\nfalse = 2")
    assert "in exactly the records with `treated == 2`" in notes(table, schema)["dose", "skipped"]


def test_a_condition_with_a_name_between_backticks_is_readable() -> None:
    schema = SCHEMA.replace("[columns.status]", '[columns."last status"]')
    text = notes(patients().rename(columns={"status": "last status"}), schema)["died", "skipped"]
    assert "in exactly the records with \"`last status` == 'alive'\"; the like" in text
