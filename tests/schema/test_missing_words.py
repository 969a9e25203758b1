"""In expressions a column's word for missing stands for what a table shows it for: a missing value."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.schema import Schema, SchemaError
from counterfoil.schema.expression import Expression, Range
from counterfoil.schema.rules import BoundRule, Rule
from counterfoil.synthesis.condition import Condition
from counterfoil.synthesis.conditional_rows import draw_where

TEXT = """
[columns.work]
kind = "categorical"
values = ["private", "state"]
other = true
missing = true
missing_values = ["?", "N/A"]

[columns.code]
kind = "categorical"
values = [1, 2]
missing = true
missing_values = ["9"]

[columns.amount]
kind = "integer"
lower = 0
upper = 3
missing = true
missing_values = ["-9", "?"]

[columns.until]
kind = "date"
lower = 2020-01-01
upper = 2020-01-03
format = "%d.%m.%Y"
missing = true
missing_values = ["31.12.9999"]

[columns.paid]
kind = "boolean"
missing = true
missing_values = ["?"]

[columns.full]
kind = "categorical"
values = ["a", "b"]
"""
SCHEMA = Schema.from_toml(TEXT)
DOMAIN: Domain = SCHEMA.domain
EQUAL = [
    ("work == '?'", "work is missing"),
    ("'?' == work", "work is missing"),
    ("work == ''", "work is missing"),
    ("work != 'N/A'", "work is not missing"),
    ("work in ['?', 'state']", "work is missing or work == 'state'"),
    ("work not in ['?', 'state']", "work is not missing and work != 'state'"),
    ("not work == '?'", "work is not missing"),
    ("code == 9", "code is missing"),
    ("amount == -9", "amount is missing"),
    ("amount == -9.0", "amount is missing"),
    ("amount != '?'", "amount is not missing"),
    ("until == '9999-12-31'", "until is missing"),
    ("until == '31.12.9999'", "until is missing"),
    ("paid == '?'", "paid is missing"),
]


@pytest.mark.parametrize(("said", "meant"), EQUAL)
def test_a_word_for_missing_means_missing(said: str, meant: str) -> None:
    columns = {column.name: column for column in SCHEMA.synthesized}
    one, other = Expression(said, columns), Expression(meant, columns)
    (name,) = one.columns
    ends = columns[name].ranges
    for found, wanted in zip(_truths(one, name, ends), _truths(other, name, ends), strict=True):
        assert np.array_equal(found, wanted)
    assert not [number for _, number, _ in one.compared if number in (-9.0, 9.0)]


def _truths(expression: Expression, name: str, ends: tuple[np.ndarray, np.ndarray]) -> list[np.ndarray]:
    truth = expression({name: Range(*ends)})
    return [truth.true, truth.false, truth.unknown]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("full == '?'", "not among its values"),
        ("full == ''", "not among its values"),
        ("work == 'X'", "not among its values"),
        ("work < '?'", "not `ordered`"),
        ("amount < '?'", "expected a number"),
        ("paid == 9", "compared with 9"),
    ],
)
def test_other_words_are_refused_as_before(said: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Expression(said, {column.name: column for column in SCHEMA.synthesized})


def test_numbers_below_and_above_a_word_for_missing_are_compared_with_the_number() -> None:
    rule = BoundRule(Rule("amount > -9"), {"amount": SCHEMA["amount"]})
    assert rule.holds(pa.table({"amount": pa.array([0, 3, None])})).all()


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("work", "?", "work == '?'"),
        ("work", ["N/A", "state"], "work in ['N/A', 'state']"),
        ("code", 9, "code == 9"),
        ("amount", -9, "amount == -9"),
        ("amount", -9.0, "amount == -9"),
        ("until", "31.12.9999", "until == '31.12.9999'"),
        ("until", datetime.date(9999, 12, 31), "until == '9999-12-31'"),
        ("paid", "?", "paid == '?'"),
    ],
)
def test_rows_are_asked_for_by_the_word_in_either_form(name: str, value: Any, text: str) -> None:
    listed, said = Condition.of(SCHEMA, {name: value}), Condition.of(SCHEMA, text)
    assert listed.codes == said.codes
    model = GraphicalModel(DOMAIN, {(one,): np.zeros(DOMAIN.shape((one,))) for one in DOMAIN.attributes}, 100)
    drawn = draw_where(model, SCHEMA, 20, said, np.random.default_rng(0))
    assert drawn.num_rows == 20
    if not isinstance(value, list):
        assert SCHEMA[name].missing_code in SCHEMA[name].encode(drawn.column(name))


@pytest.mark.parametrize(
    "said",
    [
        "[[rules]]\nif = \"full == 'a'\"\nthen = \"work != '?'\"\n",
        '[[zeros]]\ncolumns = ["full", "work"]\nvalues = [["a", "?"]]\n',
    ],
)
def test_rules_and_zeros_name_missing_values_by_the_word(said: str) -> None:
    schema = Schema.from_toml(TEXT + said)
    assert not schema.row_rules
    assert np.argwhere(schema.structural_zeros["work", "full"]).tolist() == [[schema["work"].missing_code, 0]]
    assert Schema.from_toml(schema.to_toml()) == schema
