"""In Python, too, nobody learns of all records where they asked of some, or of cells that the schema changed."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path

import pyarrow as pa
import pytest

from counterfoil import inference, synthesize
from counterfoil.cli.app import run as run_command
from counterfoil.inference import Evidence, InferenceWarning
from counterfoil.inference.caveats import with_caveats
from counterfoil.schema import Schema

SCHEMA = """
[columns.sex]
kind = "categorical"
values = ["female", "male"]
[columns.age]
kind = "integer"
lower = 0
upper = 29
[columns.income]
kind = "categorical"
values = ["low", "high"]
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release in which half of the ages lie above their bound, and rows of women that were drawn later."""
    folder = tmp_path_factory.mktemp("asked")
    table = pa.table(
        {"sex": ["female", "male"] * 1000, "age": [20, 20, 40, 40] * 500, "income": ["low", "high"] * 1000}
    )
    made = synthesize(table, Schema.from_toml(SCHEMA), epsilon=1e3, seed=1, method="mst")
    made.save(folder / "release")
    women = ["--rows", "50", "--where", "sex == 'female'", "--out", str(folder / "women.csv")]
    assert run_command(["sample", str(folder / "release"), *women]) == 0
    return folder


def warned(asked, *arguments, **options) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        asked(*arguments, **options)
    assert all(one.category is InferenceWarning for one in found)
    assert all(one.filename == __file__ for one in found), "the line of whoever asked is shown"
    return [str(one.message) for one in found]


def test_cells_that_the_schema_changed_are_warned_of_where_their_column_is_asked(place: Path) -> None:
    release = place / "release"
    for found in (
        warned(inference.mean, release, "age"),
        warned(inference.mean, release, column="age", by="sex"),
        warned(inference.proportion, release, "age >= 20"),
        warned(inference.proportion, release, "income == 'low'", by="age"),
    ):
        assert len(found) == 1
        assert found[0].startswith("No interval counts what the schema changed.")
        assert "above 29" in found[0]
    assert warned(inference.proportion, release, "income == 'low'", by="sex") == []


def test_rows_that_meet_a_condition_are_not_taken_for_what_is_answered(place: Path) -> None:
    """`proportion("women.csv", ...)` answered about all records without a word."""
    found = warned(inference.proportion, place / "women.csv", "income == 'low'")
    assert found == [
        "These rows were drawn where sex == 'female'. What is found is about all records of the table that was copied, "
        "not about those that meet the condition."
    ]


def test_whoever_has_the_evidence_says_it_themselves(place: Path) -> None:
    assert warned(inference.mean, Evidence.of(place / "release"), "age") == []


def test_every_kind_of_inference_warns() -> None:
    kinds = "proportion", "mean", "chi2", "covariance", "correlation", "ols", "pca", "graph", "risk", "m_estimate"
    for name in kinds:
        function = getattr(inference, name)
        assert hasattr(function, "__wrapped__"), name
        assert next(iter(inspect.signature(function).parameters)) == "release"
    assert with_caveats.__module__ == "counterfoil.inference.caveats"
