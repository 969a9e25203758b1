"""What receipts say that the noise of a bought schema may have hidden: by public numbers, and of what there is."""

from __future__ import annotations

import pytest

from counterfoil.schema import Schema
from counterfoil.schema.hidden_by_bought import hidden_by_bought

NUMBER = """
[columns.age]
kind = "integer"
lower = 0
upper = 99
"""
TRUTH = """
[columns.default]
kind = "boolean"
missing = true
"""
WORDS = """
[columns.job]
kind = "categorical"
values = ["cook", "clerk"]
other = true
"""


def said(columns: str, hides: int = 300) -> str:
    bought = f'epsilon = 0.1, delta = 1e-9, relation = "add_or_remove_one", receipt = "{64 * "0"}"'
    text = f"bought = {{ {bought}, hides = {hides}, rows = 10000 }}\n{columns}"
    return " ".join(hidden_by_bought(Schema.from_toml(text)))


@pytest.mark.parametrize("column", [TRUTH, WORDS])
def test_values_that_no_list_has_are_said_beside_bounds_and_alone(column):
    together, alone = said(NUMBER + column), said(column)
    for sentence in (together, alone):
        assert sentence.startswith("The schema was bought, and the noise hid what fewer than 300 of about 10,000 rows")
        assert sentence.count("The schema was bought") == 1
        assert "may be in no list that was bought: they count as `other`, or as missing" in sentence
    assert "may lie beyond a bound" in together
    assert "bound" not in alone


def test_empty_cells_that_would_be_read_as_a_category_are_named():
    """Of 12,925 rows 3.9% had an empty cell in a column of sexes: as many were `other` in a copy, which was no word."""
    assert "no place for missing cells, empty ones count as `other`, too" in said(WORDS)
    for column in (NUMBER, TRUTH, WORDS + "missing = true\n", WORDS.replace("other", "missing")):
        assert "empty" not in said(column)


def test_of_numbers_alone_nothing_is_said_about_lists():
    assert "no list" not in said(NUMBER)
    assert "may lie beyond a bound" in said(NUMBER)


def test_nothing_is_said_where_the_noise_hides_little():
    assert said(NUMBER + TRUTH + WORDS, hides=99) == ""
