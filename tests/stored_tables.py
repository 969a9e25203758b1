"""One table in each kind of storage."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd


def source_of(table: pd.DataFrame, kind: str, folder: Path) -> Any:
    """The table as a frame, or its address once it is written into the folder."""
    if kind == "frame":
        return table
    if kind == "parquet":
        table.to_parquet(folder / "t.parquet")
        return folder / "t.parquet"
    if kind == "duckdb":
        with duckdb.connect(str(folder / "t.duckdb")) as store:
            store.register("stays", table)
            store.execute("create table t as select * from stays")
        return f"{folder / 't.duckdb'}::t"
    if kind == "sqlite":
        with closing(sqlite3.connect(folder / "t.db")) as store, store:
            table.to_sql("t", store, index=False)
        return f"{folder / 't.db'}::t"
    table.to_csv(folder / "t.csv", index=False, date_format="%Y-%m-%d %H:%M:%S")
    return folder / "t.csv"
