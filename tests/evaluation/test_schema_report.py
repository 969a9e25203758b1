"""The steward's exact report on a schema: against a loop over the cells, for each kind of source."""

from __future__ import annotations

import datetime as dt
import gzip
import sqlite3
import sys
from contextlib import closing

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from counterfoil.accounting.budget import Budget
from counterfoil.curator.errors import SourceError
from counterfoil.curator.raw_reading import read_without_privacy
from counterfoil.curator.source_facts import identity_of
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.ledger.errors import WrongSource
from counterfoil.ledger.ledger import Ledger
from counterfoil.looks import evaluate_without_privacy
from counterfoil.schema import Categorical, Date, Integer, Real, Schema
from counterfoil.schema.placement import Placement

SCHEMA = Schema(
    (
        Integer("rank", 1, 6),
        Categorical("job", ("cook", "nurse"), other=True),
        Categorical("sex", ("f", "m")),
        Date("day", dt.date(2020, 1, 1), dt.date(2020, 12, 31), missing=True),
    )
)
ROWS = 300


def people() -> pa.Table:
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "rank": [str(rank) for rank in rng.integers(1, 9, ROWS)],
            "job": np.array(["cook", "smith", "clown"])[rng.integers(0, 3, ROWS)],
            "sex": ["f" if i % 100 != 42 else "?" for i in range(ROWS)],
            "day": ["2020-05-05" if i % 2 else "31.12.2020" for i in range(ROWS)],
        }
    )


PEOPLE = people()


def found(report, name: str) -> dict[Placement, tuple[int, tuple[int, ...]]]:
    (column,) = (column for column in report.columns if column.words.name == name)
    return {one.way: (one.count, one.rows) for one in column.irregular}


def written(kind: str, folder) -> object:
    path = folder / f"people.{kind}"
    if kind == "csv":
        csv.write_csv(PEOPLE, path)
    elif kind == "csv.gz":
        csv.write_csv(PEOPLE, folder / "plain.csv")
        path.write_bytes(gzip.compress((folder / "plain.csv").read_bytes()))
    elif kind == "parquet":
        parquet.write_table(PEOPLE, path)
    elif kind == "db":
        with closing(sqlite3.connect(path)) as opened, opened:
            PEOPLE.to_pandas().to_sql("people", opened, index=False)
        return f"{path}::people"
    else:
        return {"pandas": PEOPLE.to_pandas(), "objects": PEOPLE.to_pandas().astype(object), "arrow": PEOPLE}[kind]
    return path


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "db", "pandas", "objects", "arrow"])
def test_counts_and_first_rows_are_those_of_a_loop(kind, tmp_path):
    report = check_without_privacy(written(kind, tmp_path), SCHEMA)
    assert report.rows == ROWS
    assert report.counted_in == ("line" if kind.startswith("csv") else "row")
    first = 2 if kind.startswith("csv") else 1
    above = [i + first for i, rank in enumerate(PEOPLE.column("rank").to_pylist()) if int(rank) > 6]
    assert found(report, "rank") == {Placement.ABOVE: (len(above), tuple(above[:5]))}
    others = [i + first for i, job in enumerate(PEOPLE.column("job").to_pylist()) if job != "cook"]
    assert found(report, "job") == {Placement.OTHER: (len(others), tuple(others[:5]))}
    assert found(report, "sex") == {Placement.UNREADABLE: (3, tuple(i + first for i in (42, 142, 242)))}
    assert found(report, "day")[Placement.UNREADABLE] == (150, tuple(i + first for i in (0, 2, 4, 6, 8)))
    assert not report.holds
    assert all(not one.values for column in report.columns for one in column.irregular)


def test_lines_are_counted_through_cells_of_several_lines(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text('rank,job,sex,day\n1,"a\nb",f,2020-01-01\n9,cook,f,2020-01-01\n\n9,cook,f,2020-01-01\n')
    assert found(check_without_privacy(path, SCHEMA), "rank") == {Placement.ABOVE: (2, (4, 6))}


def test_values_are_kept_only_where_they_are_asked_for():
    report = check_without_privacy(PEOPLE, SCHEMA, values=True)
    (job,) = (column for column in report.columns if column.words.name == "job")
    counts = pd.Series(PEOPLE.column("job").to_pylist()).value_counts()
    assert dict(job.irregular[0].values) == {name: counts[name] for name in ("smith", "clown")}
    assert "smith" in str(report.to_json())
    assert "smith" not in str(check_without_privacy(PEOPLE, SCHEMA).to_json())


def test_a_table_as_declared_holds_and_missing_values_are_told_apart():
    table = pa.table({"x": pa.array([1.0, None, 2.0]), "job": ["a", "b", None]})
    schema = Schema((Real("x", 0.0, 5.0, bins=2, missing=True), Categorical("job", ("a",), other=True)))
    report = check_without_privacy(table, schema)
    assert found(report, "x") == {Placement.MISSING: (1, (2,))}
    assert report.columns[0].found == ()
    assert report.columns[0].holds
    assert found(report, "job") == {Placement.OTHER: (1, (2,)), Placement.MISSING: (1, (3,))}
    assert [one.way for one in report.columns[1].found] == [Placement.OTHER, Placement.MISSING]
    assert not report.holds  # a missing job is counted as `other`, which nobody declared for it
    assert check_without_privacy(table.slice(0, 2), schema).holds


def test_a_column_of_a_type_that_can_not_be_read_is_listed_with_the_others():
    table = pa.table({"x": pa.array([[1], [2]]), "rank": [1, 9]})
    report = check_without_privacy(table, Schema((Real("x", 0.0, 5.0, bins=2), Integer("rank", 1, 6))))
    assert "expected single values" in report.columns[0].problem
    assert found(report, "rank") == {Placement.ABOVE: (1, (2,))}
    assert not report.holds


def test_other_columns_than_the_schema_has_are_refused():
    with pytest.raises(SourceError, match="'sex'"):
        check_without_privacy(PEOPLE.drop_columns(["sex"]), SCHEMA)


def test_what_is_in_spark_is_refused_before_spark_is_started(monkeypatch):
    """Spark was started, for 20 seconds, and to leave `in_memory` out was advised, which `check` does not have."""
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    schema = Schema((Integer("a", 0, 9),))
    for look in (
        check_without_privacy,
        lambda real, facts: evaluate_without_privacy(real, pa.table({"a": [1]}), facts),
    ):
        with pytest.raises(SourceError, match="give the table, or a part of it, as a file or a frame"):
            look("spark+parquet:///people", schema)


def test_an_empty_table_holds():
    assert check_without_privacy(PEOPLE.slice(0, 0), SCHEMA).holds


def test_the_ledger_keeps_the_look_and_only_for_its_own_source(tmp_path):
    path, other = written("csv", tmp_path), tmp_path / "other.csv"
    other.write_bytes(path.read_bytes())
    with Ledger.create(tmp_path / "l.ledger", source=identity_of(path), total=Budget(1.0)) as ledger:
        with pytest.raises(WrongSource):
            check_without_privacy(other, SCHEMA, ledger=ledger)
        assert not ledger.revealed
        check_without_privacy(path, SCHEMA, ledger=ledger)
        assert ledger.revealed
        assert not ledger.refusals()
        table = read_without_privacy(path, SCHEMA, reason="a test", ledger=ledger)
        with pytest.raises(ValueError, match="line 44"):
            table.refuse("sex", 42)
        assert len(ledger.refusals()) == 1
