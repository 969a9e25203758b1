"""Columns of whole numbers that are the first or the last digits of another one: what `check` says of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from counterfoil import Schema
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.schema_report import check_without_privacy


def schema_of(table: pd.DataFrame, more: str = "") -> Schema:
    columns = "".join(
        f'[columns."{name}"]\nkind = "integer"\nlower = 0\nupper = 100000\nmissing = true\n' for name in table
    )
    return Schema.from_toml(f'name = "t"\n{columns}{more}')


def notes(table: pd.DataFrame, more: str = "") -> list[ColumnNote]:
    return [note for note in check_without_privacy(table, schema_of(table, more)).notes if note.expression]


def expressions(table: pd.DataFrame, more: str = "") -> dict[str, str]:
    return {note.column: note.expression for note in notes(table, more)}


def flights(rows: int = 3000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    hour, minute = rng.integers(0, 24, rows), rng.integers(0, 60, rows)
    delay = rng.integers(0, 200, rows)
    return pd.DataFrame({"delay": delay, "leaves": 100 * hour + minute, "hour": hour, "minute": minute})


def test_an_hour_and_its_minutes_are_the_digits_of_a_time_and_no_hundredth_of_it():
    assert expressions(flights()) == {"hour": "leaves // 100", "minute": "leaves % 100"}
    assert [note.kind for note in notes(flights())] == ["digits", "digits"]


def test_what_is_proposed_can_be_pasted():
    table = flights()
    proposed = "".join(
        f'[[derived]]\nname = "{name}"\nkind = "integer"\nexpression = "{text}"\n'
        for name, text in expressions(table).items()
    )
    schema = schema_of(table[["delay", "leaves"]], proposed)
    report = check_without_privacy(table, schema)
    assert [fact.count for fact in report.facts] == [0, 0]
    assert not [note for note in report.notes if note.expression]


def test_groups_of_a_code_are_said_of_the_whole_code():
    code = np.random.default_rng(0).integers(1000, 9999, 2000)
    table = pd.DataFrame({"major": code // 1000, "job": code, "minor": code // 10})
    found = expressions(table)
    assert found["major"] in ("job // 1000", "(job // 10) // 100")
    assert found["minor"] == "job // 10"


def test_one_record_that_differs_says_that_it_is_none():
    table = flights()
    table.loc[2900, "hour"] = (table.loc[2900, "hour"] + 1) % 24
    assert expressions(table) == {"minute": "leaves % 100"}


def test_a_missing_column_is_said_and_missing_in_both_is_not():
    table = flights().astype("Int64")
    table.loc[:9, "leaves"] = pd.NA
    table.loc[:9, ["hour", "minute"]] = pd.NA
    assert not any("the other way round" in note.text for note in notes(table))
    table.loc[10:11, "hour"] = pd.NA
    assert [note.column for note in notes(table) if "In 2 records" in note.text] == ["hour"]


def test_numbers_below_the_power_and_constants_are_no_digits():
    rng = np.random.default_rng(0)
    small = pd.DataFrame({"one": rng.integers(0, 9, 2000), "none": 0})
    small["same"] = small["one"]
    assert not [note for note in notes(small) if note.kind == "digits"]
    large = pd.DataFrame({"year": 2013, "number": 20_130 + rng.integers(0, 10, 2000)})
    assert not notes(large)


def test_a_rule_that_names_both_is_enough():
    rule = '[[rules]]\nrequire = "hour <= leaves"\n[[rules]]\nrequire = "minute <= leaves"\n'
    assert not expressions(flights(), rule)


def test_an_empty_table_and_one_without_numbers_say_nothing():
    assert not expressions(flights(0))
    empty = flights().astype("Int64")
    empty[:] = pd.NA
    assert not expressions(empty)
