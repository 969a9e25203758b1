"""Columns between two dates of a table: alike in all storages, one code for each record, and kept by a release."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import counterfoil
from counterfoil.cli.synth_advice import not_read
from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.sources.computed_source import with_computed
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.source import SourceError
from counterfoil.evaluation.schema_report import check_without_privacy
from counterfoil.evaluation.whole_table import read_whole
from counterfoil.receipt.verification import verify_receipt
from counterfoil.schema import Schema, SchemaError, UnplacedValue
from counterfoil.schema.errors import UnreadableType
from counterfoil.schema.placement import Placement

FIRST = date(2020, 1, 1)
SCHEMA = Schema.from_toml("""
[columns.admitted]
kind = "date"
lower = 2020-01-01
upper = 2020-12-31
resolution = "1mo"
missing = true
[columns.stay]
kind = "integer"
between = ["admitted", "discharged"]
lower = 0
upper = 30
missing = true
[[derived]]
name = "discharged"
kind = "date"
expression = "admitted + stay"
after = "admitted"
[columns.ward]
kind = "categorical"
values = ["surgery", "psychiatry"]
""")
ROWS = st.lists(
    st.tuples(st.none() | st.integers(0, 365), st.none() | st.integers(-20, 400), st.booleans()), min_size=1, max_size=9
)
Rows = list[tuple[int | None, int | None, bool]]


def table_of(rows: Rows) -> pa.Table:
    """Each row: the day of the admission, the day of the discharge, and the ward."""
    days = [[None if row[i] is None else FIRST + timedelta(days=row[i]) for row in rows] for i in (0, 1)]
    wards = ["surgery" if row[2] else "psychiatry" for row in rows]
    columns = {"discharged": pa.array(days[1], pa.date32()), "ward": wards, "admitted": pa.array(days[0], pa.date32())}
    return pa.table(columns)


def expected(rows: Rows) -> list[int]:
    """The codes of stays: clamped to 0 and 30, and 31 where one of the dates is missing."""
    return [31 if one is None or other is None else min(max(other - one, 0), 30) for one, other, _ in rows]


def codes_of(source: Any, engine: type = DuckDBEngine) -> list[int]:
    made = engine(open_source(source), SCHEMA)
    return [int(code) for block in made.blocks(["ward", "stay"], ["stay"]) for code in block.codes["stay"]]


@given(ROWS)
@settings(max_examples=60)
def test_a_record_has_the_code_of_its_own_two_dates(rows: Rows) -> None:
    table = table_of(rows)
    assert codes_of(table, MemoryEngine) == expected(rows)
    assert [code for i in range(len(rows)) for code in codes_of(table.slice(i, 1), MemoryEngine)] == expected(rows)


def test_all_storages_are_read_alike(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows: Rows = [
        (*(None if lost else int(day) for day, lost in zip(days, absent, strict=True)), bool(ward))  # type: ignore[misc]
        for days, absent, ward in zip(
            np.cumsum(rng.integers(0, 40, (300, 2)), axis=1),
            rng.random((300, 2)) < 0.1,
            rng.random(300) < 0.5,
            strict=True,
        )
    ]
    table = table_of(rows)
    frame = table.to_pandas()
    frame.to_csv(tmp_path / "t.csv", index=False)
    parquet.write_table(table, tmp_path / "t.parquet")
    with closing(sqlite3.connect(tmp_path / "t.db")) as database, database:
        frame.astype(object).where(frame.notna(), None).to_sql("t", database, index=False)
    database.close()
    with duckdb.connect(tmp_path / "t.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    stored = [tmp_path / "t.csv", tmp_path / "t.parquet", f"{tmp_path / 't.db'}::t", f"{tmp_path / 't.duckdb'}::t"]
    for source in (table, frame, pl.from_arrow(table), frame.assign(admitted=pd.to_datetime(frame.admitted)), *stored):
        assert codes_of(source) == expected(rows)
        assert codes_of(source, MemoryEngine) == expected(rows)


def test_a_release_keeps_how_long_stays_are(tmp_path: Path) -> None:
    """Months are the bins of both dates: from these alone stays of 2 and of 20 days could not be told apart."""
    rng = np.random.default_rng(1)
    ward = rng.random(4000) < 0.5
    first = rng.integers(0, 330, 4000)
    table = table_of([*zip(first.tolist(), (first + np.where(ward, 2, 20)).tolist(), ward.tolist(), strict=True)])
    made = counterfoil.synthesize(table, SCHEMA, epsilon=5.0, delta=1e-9, method="mst", seed=1)
    frame = made.to_pandas()
    assert frame.columns.tolist() == ["discharged", "stay", "ward", "admitted"]
    lengths = (pd.to_datetime(frame.discharged) - pd.to_datetime(frame.admitted)).dt.days
    assert (lengths[frame.stay.notna()] == frame.stay.dropna()).all()
    assert lengths.groupby(frame.ward).median().to_dict() == {"surgery": 2, "psychiatry": 20}

    for name in ("copy.csv", "copy.parquet"):
        made.write(tmp_path / name)
        again = read_whole(tmp_path / name, SCHEMA, reason="to compare")
        assert again.codes["stay"].tolist() == SCHEMA["stay"].encode(made.to_arrow().column("stay")).tolist()
        assert not again.facts


def test_what_the_table_has_under_the_name_is_not_read() -> None:
    rows: Rows = [(3, 5, True), (3, 9, False)]
    table = table_of(rows).append_column("stay", pa.array([17, 18]))
    assert codes_of(table) == expected(rows) == [2, 6]


def test_a_table_without_one_of_the_dates_is_refused() -> None:
    table = table_of([(3, 5, True)]).rename_columns(["dischargd", "ward", "admitted"])
    with pytest.raises(SourceError, match="no column 'discharged', from which 'stay' is computed"):
        codes_of(table)


def test_a_computed_column_is_no_privacy_unit() -> None:
    """Rows of one length would be taken for those of one person; and no length is written in the table."""
    with pytest.raises(SchemaError, match="Found 'stay', which is computed from two others"):
        counterfoil.synthesize(table_of([(3, 5, True)]), SCHEMA, epsilon=1.0, privacy_unit=("stay", 1))
    reals = Schema.from_toml(
        '[columns.low]\nkind = "real"\nlower = 0\nupper = 9\n[columns.width]\nkind = "real"\nlower = 0\nupper = 9\n'
        'between = ["low", "high"]\n[[derived]]\nname = "high"\nkind = "real"\nexpression = "low + width"\n'
    )
    with pytest.raises(SchemaError, match="Found 'width', which is computed from two others"):
        counterfoil.synthesize(pa.table({"low": [1.5], "high": [2.5]}), reals, epsilon=1.0, privacy_unit=("width", 1))


def test_columns_have_the_places_in_which_they_were_asked_for() -> None:
    source = with_computed(open_source(table_of([(3, 5, True)])), SCHEMA)
    [batch] = source.batches(["stay", "ward"])
    assert [batch.column(i).to_pylist() for i in (0, 1)] == [["2"], ["surgery"]]


def test_a_cell_without_a_place_is_named_by_its_column_alone() -> None:
    strict = Schema.from_toml(SCHEMA.to_toml().replace('"discharged"]\nmissing = true', '"discharged"]'))
    table = table_of([(3, 5, True)]).set_column(0, "discharged", pa.array(["secret"]))
    with pytest.raises(UnplacedValue) as found:
        DuckDBEngine(open_source(table), strict).prepare(["stay"])
    assert "'stay'" in str(found.value)
    assert "not what lies between admitted and discharged" in str(found.value)
    assert "secret" not in str(found.value)


UNREAD = table_of([(3, 5, True)] * 400).set_column(0, "discharged", pa.array(["05/01/2020"] * 400))


def test_what_is_said_of_unread_dates_is_about_the_dates() -> None:
    """They are no numbers that are written in another way."""
    report = check_without_privacy(UNREAD, SCHEMA)
    [column] = [column for column in report.columns if column.words.name == "stay"]
    [way] = column.found
    said = f"{column.words.happened(way.way)}: {column.remedy(way)}"
    assert said.startswith("are of records where admitted or discharged can't be read in its notation, and count as")
    assert "state how admitted and discharged are written, such as by `format`" in said
    assert "decimal" not in said
    assert "9999-12-31 stands for none, list it in `missing_values`" in column.words.remedy(Placement.ABOVE)


def test_a_receipt_says_the_same_and_holds() -> None:
    made = counterfoil.synthesize(UNREAD, SCHEMA, epsilon=9.0, delta=1e-9, method="independent", seed=1)
    document = made.receipt.to_json()
    [warning] = document["schema_check"]["warnings"]
    assert "state how admitted and discharged are written, such as by `format`" in warning
    assert verify_receipt(document).holds


def test_a_word_for_missing_is_no_other_date_than_the_derived_one() -> None:
    """A stay without an end has no date to derive, and the table none to lose."""
    text = SCHEMA.to_toml().replace(
        '"discharged"]\nmissing = true', '"discharged"]\nmissing = true\nmissing_values = W'
    )
    schema = Schema.from_toml(text.replace("W", '["still in", "9999-12-31"]'))
    last = ["2020-01-06", "9999-12-31", "still in", None, "2020-01-07"]
    table = table_of([(3, 5, True)] * 4 + [(None, 6, True)]).set_column(0, "discharged", pa.array(last))
    report = check_without_privacy(table, schema)
    assert [one.count for one in report.broken] == [1]  # the last one, whose stay nobody knows


def test_a_word_for_missing_is_none_either_after_a_date_that_is_derived_itself() -> None:
    text = SCHEMA.to_toml() + (
        '[columns.rest]\nkind = "integer"\nbetween = ["discharged", "seen"]\nlower = 0\nupper = 90\nmissing = true\n'
        'missing_values = ["9999-12-31"]\n[[derived]]\nname = "seen"\nkind = "date"\n'
        'expression = "admitted + stay + rest"\n'
    )
    table = table_of([(3, 5, True)] * 2).append_column("seen", pa.array(["9999-12-31", "2020-01-09"]))
    assert not check_without_privacy(table, Schema.from_toml(text)).broken


@pytest.mark.parametrize("name", ["admitted", "discharged"])
def test_a_type_that_holds_no_dates_is_said_of_its_own_column(name: str) -> None:
    table = table_of([(3, 5, True)])
    at = table.column_names.index(name)
    with pytest.raises(SourceError, match=f"Column '{name}' of memory has the type duration"):
        codes_of(table.set_column(at, name, pa.array([5], pa.duration("s"))))


def test_instants_with_a_zone_are_refused_by_their_type() -> None:
    """Without a word all stays would be missing."""
    moments = pa.array([None], pa.timestamp("us", "UTC"))
    with pytest.raises(UnreadableType, match=r"'discharged' \(derived\): the table holds instants with a zone"):
        codes_of(table_of([(3, 5, True)]).set_column(0, "discharged", moments))


def test_that_a_column_of_the_table_is_not_read_is_said() -> None:
    assert not_read(SCHEMA, ("admitted", "discharged", "ward")) == ""
    said = not_read(SCHEMA, ("admitted", "discharged", "ward", "stay"))
    assert said.startswith("The table's own stay is not read: by its `between` it is what lies between admitted and")
