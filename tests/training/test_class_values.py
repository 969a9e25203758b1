"""The classes of a model are the values of the table, so that predictions can be compared with it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from counterfoil.cli.predict import predictions
from counterfoil.schema import Schema
from counterfoil.training.class_values import values_of


@pytest.mark.parametrize(
    ("facts", "classes"),
    [
        ('kind = "categorical"\nvalues = [1, 2, 5]', [1, 2, 5]),
        ('kind = "categorical"\nvalues = ["1", "2"]', ["1", "2"]),
        ('kind = "categorical"\nvalues = [1, 2]\nother = true', ["1", "2", "other"]),
        ('kind = "categorical"\nvalues = [1, 2]\nmissing = true', [1, 2, None]),
        ('kind = "categorical"\nvalues = ["a", "b"]\nmissing = true', ["a", "b", None]),
        ('kind = "categorical"\nvalues = ["a", "b"]\nmissing = true\nmissing_values = ["?"]', ["a", "b", "?"]),
        ('kind = "boolean"\nmissing = true', [False, True, None]),
        ('kind = "integer"\nlower = 3\nupper = 5\nmissing = true', [3, 4, 5, None]),
        ('kind = "boolean"', [False, True]),
        ('kind = "boolean"\ntrue = "yes"\nfalse = "no"', ["no", "yes"]),
        ('kind = "integer"\nlower = 3\nupper = 5', [3, 4, 5]),
    ],
)
def test_classes_are_values_of_the_type_that_the_table_has(facts: str, classes: list[object]) -> None:
    found = values_of(Schema.from_toml(f"[columns.triage]\n{facts}")["triage"]).tolist()
    assert [(type(one), one) for one in found] == [(type(one), one) for one in classes]


class Trained:
    """A model of a target that may be missing."""

    features_ = SimpleNamespace(
        schema=Schema.from_toml('[columns.triage]\nkind = "categorical"\nvalues = [1, 2]\nmissing = true'),
        targets=("triage",),
    )
    classes_ = values_of(features_.schema["triage"])

    def predict(self, rows: object) -> None:
        raise NotImplementedError

    def predict_proba(self, rows: object) -> np.ndarray:
        return np.array([[0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])


def test_a_file_of_predictions_has_nothing_for_missing_values_and_names_their_column() -> None:
    table = predictions(Trained(), "rows.csv")
    assert table["predicted_triage"].to_pylist() == [2, None]
    assert table.column_names[1:] == ["probability_1", "probability_2", "probability_missing"]
