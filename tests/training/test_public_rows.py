"""Rows that a model is applied to: the columns it reads, with what these are computed from."""

from __future__ import annotations

from datetime import date, timedelta

import pyarrow as pa
import pytest

from counterfoil.features.training_features import TrainingFeatures
from counterfoil.schema import Schema
from counterfoil.training.public_rows import coded_rows

SCHEMA = Schema.from_toml("""
[columns.admitted]
kind = "date"
lower = 2020-01-01
upper = 2020-12-31
[columns.wait]
kind = "integer"
between = ["admitted", "operated"]
lower = 0
upper = 30
[columns.rest]
kind = "integer"
between = ["operated", "discharged"]
lower = 0
upper = 30
[[derived]]
name = "operated"
kind = "date"
expression = "admitted + wait"
[[derived]]
name = "discharged"
kind = "date"
expression = "admitted + wait + rest"
[columns.died]
kind = "boolean"
""")
FIRST = date(2020, 3, 1)
DATES = {
    "admitted": pa.array([FIRST, FIRST]),
    "operated": pa.array([FIRST + timedelta(days=days) for days in (2, 3)]),
    "discharged": pa.array([FIRST + timedelta(days=days) for days in (7, 9)]),
}


@pytest.mark.parametrize("left_out", [("admitted", "wait"), ("admitted",), ()])
def test_times_between_dates_are_computed_also_where_a_model_reads_no_date(left_out: tuple[str, ...]) -> None:
    features = TrainingFeatures(SCHEMA, ("died",), leave_out=left_out)
    _, numbers = coded_rows(pa.table(DATES), features)
    assert numbers["rest"].tolist() == [5, 6]
    if "wait" not in left_out:
        assert numbers["wait"].tolist() == [2, 3]


def test_they_are_read_as_they_stand_where_the_rows_have_no_dates() -> None:
    features = TrainingFeatures(SCHEMA, ("died",), leave_out=("admitted",))
    _, numbers = coded_rows(pa.table({"wait": [1, 4], "rest": [8, 9]}), features)
    assert (numbers["wait"].tolist(), numbers["rest"].tolist()) == ([1, 4], [8, 9])


def test_the_column_that_rows_lack_is_named_and_not_the_one_that_is_computed_from_it() -> None:
    features = TrainingFeatures(SCHEMA, ("died",), leave_out=("admitted",))
    rows = pa.table({name: cells for name, cells in DATES.items() if name != "discharged"})
    with pytest.raises(ValueError, match="The rows have no column 'discharged', from which 'rest' is computed"):
        coded_rows(rows, features)
