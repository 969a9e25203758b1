"""Lengths of time are refused by the type of their column, in the same sentence wherever they are stored."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.opening import open_source
from counterfoil.schema import Boolean, Categorical, Column, Date, Integer, Real, Schema

LENGTHS = [timedelta(hours=1), timedelta(days=2, seconds=1), None]
COLUMNS = (
    Integer("x", 0, 100, missing=True),
    Real("x", 0, 1e9, bins=5, missing=True),
    Categorical("x", ("a", "3600000000"), other=True),
    Date("x", date(2000, 1, 1), date(2020, 1, 1), missing=True),
    Boolean("x", missing=True),
)


def _parquet(folder: Path) -> str:
    parquet.write_table(pa.table({"x": pa.array(LENGTHS, pa.duration("us"))}), folder / "t.parquet")
    return str(folder / "t.parquet")


def _pandas_parquet(folder: Path) -> str:
    pd.DataFrame({"x": pd.Series(LENGTHS, dtype="timedelta64[ns]")}).to_parquet(folder / "t.parquet")
    return str(folder / "t.parquet")


def _polars_parquet(folder: Path) -> str:
    pl.DataFrame({"x": LENGTHS}).write_parquet(folder / "t.parquet")
    return str(folder / "t.parquet")


def _duckdb_parquet(folder: Path) -> str:
    duckdb.sql("SELECT INTERVAL 1 HOUR AS x").write_parquet(str(folder / "t.parquet"))
    return str(folder / "t.parquet")


def _database(folder: Path) -> str:
    with duckdb.connect(str(folder / "t.db")) as opened:
        opened.execute("CREATE TABLE t AS SELECT INTERVAL 1 MONTH AS x")
    return f"{folder / 't.db'}::t"


STORAGES: dict[str, Any] = {
    "parquet": _parquet,
    "pandas parquet": _pandas_parquet,
    "polars parquet": _polars_parquet,
    "duckdb parquet": _duckdb_parquet,
    "duckdb": _database,
    "pandas": lambda _: pd.DataFrame({"x": pd.Series(LENGTHS, dtype="timedelta64[ns]")}),
    "polars": lambda _: pl.DataFrame({"x": LENGTHS}),
    "arrow": lambda _: pa.table({"x": pa.array(LENGTHS, pa.duration("s"))}),
    "arrow of months": lambda _: pa.table({"x": pa.array([pa.MonthDayNano([1, 2, 3])])}),
}


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.kind)
@pytest.mark.parametrize("name", STORAGES)
def test_lengths_of_time_are_refused(name: str, column: Column, tmp_path: Path) -> None:
    source = open_source(STORAGES[name](tmp_path))
    with pytest.raises(
        SourceError,
        match=r"Column 'x' of .* has the type .*\. Convert it to a number, such as its seconds, or add",
    ):
        MemoryEngine(source, Schema((column,))).prepare(["x"])


def test_objects_that_are_lengths_of_time_have_no_place() -> None:
    frame = pd.DataFrame({"x": pd.Series([*LENGTHS, 7], dtype=object)})
    engine = MemoryEngine(open_source(frame), Schema((COLUMNS[0],)))
    (block,) = engine.blocks(["x"])
    assert block.codes["x"].tolist() == [101, 101, 101, 7]
