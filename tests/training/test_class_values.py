"""The classes of a model are the values of the table, so that predictions can be compared with it."""

from __future__ import annotations

import pytest

from counterfoil.schema import Schema
from counterfoil.training.class_values import values_of


@pytest.mark.parametrize(
    ("facts", "classes"),
    [
        ('kind = "categorical"\nvalues = [1, 2, 5]', [1, 2, 5]),
        ('kind = "categorical"\nvalues = ["1", "2"]', ["1", "2"]),
        ('kind = "categorical"\nvalues = [1, 2]\nother = true', ["1", "2", "other"]),
        ('kind = "categorical"\nvalues = [1, 2]\nmissing = true', ["1", "2", "missing"]),
        ('kind = "boolean"', [False, True]),
        ('kind = "boolean"\ntrue = "yes"\nfalse = "no"', ["no", "yes"]),
        ('kind = "integer"\nlower = 3\nupper = 5', [3, 4, 5]),
    ],
)
def test_classes_are_values_of_the_type_that_the_table_has(facts: str, classes: list[object]) -> None:
    found = values_of(Schema.from_toml(f"[columns.triage]\n{facts}")["triage"]).tolist()
    assert [(type(one), one) for one in found] == [(type(one), one) for one in classes]
