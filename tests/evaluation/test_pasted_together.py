"""Derived columns that are proposed beside one another: a schema takes all of them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from counterfoil import Schema
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.pasted_together import pasted_together
from counterfoil.evaluation.schema_report import check_without_privacy


def together(**given: str) -> dict[str, str]:
    notes = [ColumnNote(name, "sum", f'expression = "{text}".', 1, expression=text) for name, text in given.items()]
    found = pasted_together([*notes, ColumnNote("x", "unique", "expression", 2)])
    assert all(f'expression = "{note.expression}".' in note.text for note in found[:-1])
    return {note.column: note.expression for note in found[:-1]}


@pytest.mark.parametrize(
    ("given", "gross"),
    [
        ({"total": "price * unit", "gross": "total + tax"}, "(price * unit) + tax"),
        ({"gross": "round(total + tax, 2)", "total": "price * unit"}, "round((price * unit) + tax, 2)"),
        ({"the total": "price * unit", "gross": "`the total` + tax"}, "(price * unit) + tax"),
        ({"total": "price * unit", "gross": "total_2 + subtotal"}, "total_2 + subtotal"),
        ({"round": "price * unit", "gross": "round(tax + round)"}, "round(tax + (price * unit))"),
        ({"total": "net + tax", "net": "price * unit", "gross": "total + 1"}, "((price * unit) + tax) + 1"),
    ],
)
def test_what_another_note_derives_stands_in_the_place_of_its_column(given, gross):
    assert together(**given)["gross"] == gross


def test_columns_that_follow_from_one_another_stay_as_they_are():
    circle = {"a": "b + 1", "b": "2 * a", "c": "a + d"}
    assert together(**circle) == circle


def test_a_product_and_the_sum_of_it_can_be_pasted_at_once():
    rng = np.random.default_rng(0)
    price, unit, tax = rng.integers(2, 60, 400), rng.integers(2, 9, 400), rng.integers(1, 50, 400)
    table = pd.DataFrame({"price": price, "unit": unit, "total": price * unit, "tax": tax})
    table["gross"] = table["total"] + table["tax"]
    notes = check_without_privacy(table, schema(table)).notes
    found = {note.column: re.findall(r'expression = "(.*?)"\.', note.text)[0] for note in notes if note.expression}
    assert {*found} == {"total", "gross"}
    entries = "".join(
        f'[[derived]]\nname = "{name}"\nkind = "integer"\nexpression = "{text}"\n' for name, text in found.items()
    )
    assert check_without_privacy(table, schema(table[["price", "unit", "tax"]], entries)).holds


def schema(table: pd.DataFrame, more: str = "") -> Schema:
    columns = "".join(f'[columns."{name}"]\nkind = "integer"\nlower = 0\nupper = 9999\n' for name in table)
    return Schema.from_toml(f'name = "t"\n{columns}{more}')
