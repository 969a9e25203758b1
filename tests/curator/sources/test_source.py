"""Reading from everywhere; what can't be read is refused in a sentence that shows no record."""

from __future__ import annotations

import csv
import gzip
import itertools
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from contextlib import closing
from datetime import datetime, timedelta
from decimal import Decimal
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

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources import sqlite_source
from counterfoil.curator.sources.csv_text import line_of_record, read_header
from counterfoil.curator.sources.file_source import connection, even_batches, explained
from counterfoil.curator.sources.frame_source import FrameSource
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.source import Source, TableBatch, value_of
from counterfoil.curator.view_warning import ViewWarning
from counterfoil.domain.domain import CLASS
from counterfoil.schema import Categorical, Schema
from counterfoil.schema.placement import Placement, placements_of

SECRET = "zebra"


def rows_of(source: Source) -> list[dict[str, Any]]:
    names = source.column_names
    return [
        {name: value_of(batch.column(name), row) for name in names}
        for batch in source.batches(names)
        for row in range(batch.num_rows)
    ]


def database(path: Path, *statements: str) -> Path:
    with duckdb.connect(str(path)) as opened:
        for statement in statements:
            opened.execute(statement)
    return path


def lite(path: Path, *statements: str) -> Path:
    opened = sqlite3.connect(path)
    for statement in statements:
        opened.execute(statement)
    opened.commit()
    opened.close()
    return path


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet", "duckdb", "sqlite"])
def test_a_file_that_is_sorted_anew_while_it_is_read_is_refused(tmp_path: Path, kind: str) -> None:
    path, table = tmp_path / f"t.{kind}", pa.table({"id": [str(i) for i in range(4096)]})
    count = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4095) SELECT i FROM n"
    if kind == "parquet":
        parquet.write_table(table, path)
    elif kind == "duckdb":
        database(path, "CREATE TABLE t (id VARCHAR)", f"INSERT INTO t {count}")
    elif kind == "sqlite":
        lite(path, "CREATE TABLE t (id TEXT)", f"INSERT INTO t {count}")
    else:
        text = "id\n" + "\n".join(table["id"].to_pylist()) + "\n"
        path.write_bytes(gzip.compress(text.encode()) if kind == "csv.gz" else text.encode())
    source = open_source(f"{path}::t" if kind in ("duckdb", "sqlite") else str(path))
    assert sum(batch.num_rows for batch in source.batches(["id"], 256)) == 4096
    reading = source.batches(["id"], 256)
    next(reading)
    # Another program writes the same rows in another order, which takes as many bytes: some come again, some never.
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    with pytest.raises(SourceError, match="has changed since it was opened"):
        list(reading)


def test_files_know_their_name_place_and_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text("age, name \n1,ann\n")
    monkeypatch.chdir(tmp_path)
    source = open_source("people.csv")
    assert (source.name, source.location) == ("people.csv", str(tmp_path / "people.csv"))
    assert source.column_names == ("age", "name")
    assert not source.typed
    assert rows_of(source) == [{"age": "1", "name": "ann"}]
    parquet.write_table(pa.table({"age": [1]}), "people.parquet")
    assert open_source(Path("people.parquet")).column_types == {"age": pa.int64()}
    database(tmp_path / "p.db", "CREATE TABLE people (age INTEGER)", "CREATE SCHEMA s", "CREATE TABLE s.t (x DATE)")
    source = open_source("p.db::people")
    assert (source.name, source.location) == ("p.db::people", f"{tmp_path / 'p.db'}::people")
    assert source.column_types == {"age": pa.int32()}
    assert open_source("p.db::s.t").column_types == {"x": pa.date32()}
    lite(tmp_path / "l.db", "CREATE TABLE t (a INT, b DOUBLE, c BOOLEAN, d DATE, e DATETIME, f)")
    types = [pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("s"), pa.string()]
    assert list(open_source("l.db::t").column_types.values()) == types


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (b"a,b\r\n1,x\r\n", [("1", "x")]),
        (b"\xef\xbb\xbfa,b\n1,x", [("1", "x")]),
        (b"a;b\n1;x,y\n", [("1", "x,y")]),
        (b"a\tb\n1\tx\n", [("1", "x")]),
        (b'"a,",b\n1,"x ""y"" \n"\n', [("1", 'x "y" \n')]),
        (b"a,b\n1,x\n\n2,y\n\n", [("1", "x"), ("2", "y")]),
        (b'a,b\n,""\nNULL,NA\n', [(None, None), ("NULL", "NA")]),
        ("a,b\n１,é\u2028\n".encode(), [("１", "é\u2028")]),
        (b"a,b\n", []),
        (b"a,b", []),
    ],
)
def test_csv_as_it_comes(content: bytes, rows: list[tuple[str | None, ...]], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(content))
    for name in ("t.csv", "t.csv.gz"):
        assert [tuple(row.values()) for row in rows_of(open_source(tmp_path / name))] == rows


CELL = st.text(st.sampled_from('ab,;"\n é'), max_size=5)


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(st.tuples(CELL, CELL), min_size=1, max_size=8), end=st.sampled_from(["\n", "\r\n"]))
def test_csv_agrees_with_the_standard_library_to_the_line(
    rows: list[tuple[str, str]], end: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator=end)
        writer.writerow(["a", "b"])
        starts = []
        for row in rows:
            stream.flush()
            starts.append(path.read_bytes().count(b"\n") + 1)
            writer.writerow(row)
    source = open_source(path)
    assert [tuple(cell or "" for cell in row.values()) for row in rows_of(source)] == rows
    header = read_header(path)
    assert [line_of_record(path, header, i) for i in range(len(rows))] == starts
    assert line_of_record(path, header, len(rows)) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "t.csv is empty: it has not even a header"),
        (b"\n\n", "t.csv has no header"),
        (b"a,a\n1,2\n", "t.csv: two columns are called 'a'"),
        (
            b"a, \n1,2\n",
            "t.csv: column 2 has no name, the last one. Give it a name, or remove the separator at the end",
        ),
        (b"a;b;\r\n1;2;\r\n", "t.csv: column 3 has no name, the last one"),
        (b"a,,b\n1,2,3\n", "t.csv: column 2 has no name. Give every column a name"),
        (
            b"Statistik 2020;;\na;b;c\n1;2;3\n",
            "t.csv: of 3 columns only the first one has a name. Where a title stands",
        ),
        (b"\xef\xbb\xbfsep=;\na;b\n1;2\n", "t.csv: the first line tells spreadsheets the separator. Remove it"),
        (
            b'"","a"\n"1",2\n',
            "column 1 has no name. Give every column a name. R and pandas write an index of rows first",
        ),
        (b",,\n1,2,3\n", "t.csv: column 1 has no name. Give every column a name"),
        (b'"a\n1,2\n', "the header is not a line of CSV"),
        (b"\xff\xfea\x00,", "t.csv: the text is not UTF-16, as its first bytes say. Save it again, as UTF-8."),
        (b"\xfe\xff\x00a\xd8\x00\x00,\x00b", "t.csv: the text is not UTF-16"),
        (b"a\x00;\x00b\x00\r\x00\n\x001\x00;\x002\x00", "t.csv: the text is UTF-16 without its first mark, or no text"),
        (b"\xff\xfe\x00\x00a\x00\x00\x00,\x00\x00\x00", "t.csv: the text is UTF-16 without its first mark, or no text"),
        (
            b"stra\xdfe,b\n",
            "t.csv: the text is not UTF-8; state its encoding, for a new schema as in --encoding windows",
        ),
        (b"a,b\n1,zebra\n1\n", "line 3: expected 2 fields, found 1. Correct the line, or remove it where it is a note"),
        (
            b"Statistik, 2020\na;b;c\n1;2;3\n",
            "expected 2 fields, found 1. Correct the line, or remove it where it is a note or a total. Where a title",
        ),
        (b"a,b\nzebra,2,3\n", "t.csv, line 2: expected 2 fields, found 3"),
        (
            b"Survey of 2024\na,b\n1,2\n",
            "t.csv, line 2: expected 1 field, as in the first line, found 2. Where a title",
        ),
        (b"a,b\n1,2\nzebra,\xff\n", "t.csv, line 3: the text is not UTF-8"),
        (b'a,b\n1,"zebra\n', "t.csv, line 2: a quoted value is not closed"),
        (b'a,b\n1,"zebra"x\n', "t.csv, line 2: a quoted value is not closed, or is followed by text"),
        (b"a,b\n1,zebra\r\n2,3\n", "t.csv: the lines end in different ways"),
        (b"a,b\n1,zebra" + b"x" * 3_000_000 + b"\n", "t.csv, line 2: the line is longer than 2 MB"),
    ],
)
def test_csv_that_cannot_be_read(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(SourceError) as caught:
        rows_of(open_source(path))
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_compressed_files_that_are_broken(tmp_path: Path) -> None:
    whole = gzip.compress(b"a,b\n" + os.urandom(20_000).hex().encode() + b",2\n")
    for content in (b"zebra", whole[: len(whole) // 2]):
        (tmp_path / "t.csv.gz").write_bytes(content)
        with pytest.raises(SourceError, match="not a complete gzip file"):
            rows_of(open_source(tmp_path / "t.csv.gz"))
    parquet.write_table(pa.table({"a": ["zebra"] * 1000}), tmp_path / "t.parquet")
    content = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(content[: len(content) // 2])
    with pytest.raises(SourceError, match=r"t\.parquet is not a Parquet file, or it was cut short"):
        open_source(tmp_path / "t.parquet")


def test_a_compressed_file_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    """Cut anywhere, or with a checksum that does not fit, it is refused: never a shorter table, never other values."""
    path = tmp_path / "t.csv.gz"
    whole = gzip.compress(b"a,b\n" + b"".join(b"%d,%d\n" % (i, i % 7) for i in range(300)))
    for broken in (*(whole[:length] for length in range(1, len(whole))), whole[:-8] + bytes(8)):
        path.write_bytes(broken)
        with pytest.raises(SourceError, match=r"not a complete gzip file|has no header"):
            rows_of(open_source(path))
    path.write_bytes(whole + gzip.compress(b"300,6\n"))
    assert rows_of(open_source(path)) == [{"a": str(i), "b": str(i % 7)} for i in range(301)]


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_text("zebra")
    (tmp_path / "t.sav").write_text("zebra")
    for name in ("t.tsv", "t.txt"):
        (tmp_path / name).write_text("a\tb\n1\t2\n")
    (tmp_path / "t[1].csv").write_text("a\n1\n")
    made = database(tmp_path / "p.db", "CREATE TABLE people (a INT)", "CREATE VIEW adults AS FROM people")
    light = lite(tmp_path / "l.db", "CREATE TABLE people (a INT)", "CREATE VIEW adults AS SELECT * FROM people")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part-0.parquet").touch()
    for path, message in {
        f"{tmp_path}/parts": f"one table to Spark: give spark+parquet://{tmp_path}/parts, or write them as one file.",
        str(tmp_path): "is a directory; give one file: .csv, .csv.gz, .parquet, or FILE::TABLE",
        f"{tmp_path}/no.csv": "There is no file",
        f"{tmp_path}/no.db::t": "There is no file",
        f"{tmp_path}/t.tsv": "Found t.tsv: rename it, and its separators are recognized.",
        f"{tmp_path}/t.txt": "A text file must have a name that ends in .csv or .csv.gz",
        f"{tmp_path}/t.xlsx": "t.xlsx has an unknown suffix; expected .csv",
        f"{tmp_path}/t.sav": "Save it as CSV or Parquet, as with pandas.read_spss(...).to_parquet(...).",
        f"{tmp_path}/t.xlsx::t": "neither a DuckDB nor a SQLite database",
        f"{tmp_path}/t[1].csv": "which DuckDB reads as a pattern. Rename it.",
        str(made): "p.db is a database: name one of its tables, as in p.db::TABLE",
        str(light): "l.db is a database: name one of its tables",
        f"{made}::poeple": "p.db has no table 'poeple' (views are not read: store the view as a table). Did",
        f"{made}::adults": "p.db has no table 'adults'",
        f"{light}::poeple": "Did you mean 'people'?",
        f"{light}::adults": "l.db has no table 'adults' (views are not read",
    }.items():
        with pytest.raises(SourceError) as caught:
            open_source(path)
        assert message in str(caught.value)


@pytest.mark.parametrize("scheme", ["postgresq", "spark+csv", "spark", "https", "jdbc+postgresql"])
@pytest.mark.parametrize("folded", [False, True])
def test_an_unknown_address_is_named_as_one_and_not_repeated(scheme: str, folded: bool) -> None:
    address = f"{scheme}://reader:zebra@host/db::t"
    with pytest.raises(SourceError, match=r"begins with postgresql:// or spark\+parquet://") as caught:
        open_source(Path(address) if folded else address)
    assert "zebra" not in str(caught.value)


def test_what_sqlite_can_not_compute_is_no_damage(tmp_path: Path) -> None:
    """A column that a function of another program generates, and a table of a module: both were said to be damaged."""
    path = tmp_path / "l.db"
    with closing(sqlite3.connect(path)) as opened:
        opened.create_function("twice", 1, lambda number: 2 * number, deterministic=True)
        opened.execute("CREATE TABLE people (a INT, b INT GENERATED ALWAYS AS (twice(a)) VIRTUAL)")
        opened.execute("INSERT INTO people (a) VALUES (1)")
        opened.execute("PRAGMA writable_schema = 1")
        module = "CREATE VIRTUAL TABLE places USING nowhere(x)"
        opened.execute("INSERT INTO sqlite_master VALUES ('table', 'places', 'places', 0, ?)", [module])
        opened.commit()
    for table in ("people", "places"):
        with pytest.raises(SourceError, match="needs a function, a module or a collation that SQLite does not have"):
            rows_of(open_source(f"{path}::{table}"))


def test_what_duckdb_can_not_open_or_compute_is_no_damage(tmp_path: Path) -> None:
    macro = "CREATE MACRO twice(a) AS a * 2", "CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (twice(a)) VIRTUAL)"
    made = database(tmp_path / "m.db", *macro, "INSERT INTO t VALUES (1)")
    with pytest.raises(SourceError, match="needs a function that DuckDB does not have here; store its rows as a plain"):
        rows_of(open_source(f"{made}::t"))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ('Catalog Error: Cannot open encrypted database "/t.db" without a key', "the database is encrypted"),
        ("Trying to read a database file with version number 99, but we can only read", "another version of DuckDB"),
    ],
)
def test_a_database_that_duckdb_can_not_open_is_not_damaged_for_that(words: str, says: str) -> None:
    assert says in str(explained(duckdb.Error(words), "t.db::t"))


def test_a_folder_in_which_sqlite_can_not_open_its_journal_is_no_damage(tmp_path: Path) -> None:
    """It needs to write beside a database in WAL mode, also to read it."""
    path = lite(tmp_path / "l.db", "CREATE TABLE people (a INT)")
    error = sqlite3.OperationalError("attempt to write a readonly database")
    error.sqlite_errorname = "SQLITE_READONLY_DIRECTORY"
    connected = sqlite_source._Connected(path, "l.db::people")
    with pytest.raises(SourceError, match="whether their folder can be written to"), connected:
        raise error


def test_a_database_that_is_in_use_or_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_source, "LOCK_WAIT_SECONDS", 0.05)
    made = database(tmp_path / "p.db", "CREATE TABLE people (a INT)")
    holder = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", holder, made], stdin=-1, stdout=-1) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(SourceError, match="another process has the file open for writing"):
            open_source(f"{made}::people")
        process.communicate()
    light = lite(tmp_path / "l.db", "CREATE TABLE people (a TEXT)", "INSERT INTO people VALUES (CAST(x'7aff' AS TEXT))")
    with pytest.raises(SourceError, match=r"a text is not UTF-8\. Correct it, .* add the column to `ignore`"):
        rows_of(open_source(f"{light}::people"))
    opened = sqlite3.connect(light)
    opened.execute("BEGIN EXCLUSIVE")
    with pytest.raises(SourceError, match="locked by another process"):
        open_source(f"{light}::people")
    opened.close()
    content = light.read_bytes()
    light.write_bytes(content[:100] + b"\xff" * 3000 + content[3100:])
    with pytest.raises(SourceError, match="the database is damaged"):
        rows_of(open_source(f"{light}::people"))


def test_sqlite_rows_come_in_their_own_order_each_cell_as_it_is(tmp_path: Path) -> None:
    values = [3, 1, "b", 2.5, None, b"x"]
    path = tmp_path / "l.db"
    opened = sqlite3.connect(path)
    opened.execute('CREATE TABLE "my ""t" (v, w)')
    opened.execute('CREATE INDEX i ON "my ""t" (v)')
    opened.executemany('INSERT INTO "my ""t" VALUES (?, 1)', [(value,) for value in values])
    opened.commit()
    opened.close()
    source = open_source(f'{path}::my "t')
    (batch,) = source.batches(["v"])
    assert list(batch.column(0).cells) == values
    assert [list(batch.column(0).cells) for batch in source.batches(["w"], 4, skip_rows=1)] == [[1] * 4, [1]]


def test_names_that_duckdb_takes_for_one(tmp_path: Path) -> None:
    table = pa.table({"a": [1], "A": [2], 'q"uote': [3]})
    parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text('a,A,"q""uote"\n1,2,3\n')
    assert rows_of(open_source(tmp_path / "t.parquet")) == [{"a": 1, "A": 2, 'q"uote': 3}]
    assert rows_of(open_source(tmp_path / "t.csv")) == [{"a": "1", "A": "2", 'q"uote': "3"}]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1, None], "b": pd.Categorical(["x", "y"])}, index=[7, 7]),
        pd.DataFrame({"a": [1, None], "b": ["x", "y"]}).astype({"a": "Int64", "b": object}),
        pl.DataFrame({"a": [1, None], "b": ["x", "y"]}, schema_overrides={"b": pl.Categorical}),
        pa.table({"a": [1, None], "b": ["x", "y"]}),
        pa.record_batch({"a": [1, None], "b": ["x", "y"]}),
    ],
)
def test_frames(frame: Any) -> None:
    source = open_source(frame)
    assert (source.name, source.location, source.typed) == ("memory", "memory", True)
    assert source.column_names == ("a", "b")
    first, second = source.batches(["b", "a"], 1)
    assert [value_of(first.column(i), 0) for i in range(2)] == ["x", 1]
    assert value_of(second.column("b"), 0) == "y"
    assert [batch.num_rows for batch in source.batches([])] == [2]


def test_numpy_arrays() -> None:
    points = np.arange(6.0).reshape(3, 2)
    assert open_source(points).column_names == ("x0", "x1")
    source = open_source(points, column_names=["lon", "lat"])
    assert rows_of(source)[1] == {"lon": 2.0, "lat": 3.0}
    assert [batch.num_rows for batch in source.batches(["lat"], 2, skip_rows=1)] == [2]
    for wrong in (points[0], points[None], np.array([[object()]]), np.zeros((2, 2), [("a", int)])):
        with pytest.raises(SourceError, match=r"two dimensions \[n, d\] of numbers or texts"):
            open_source(wrong)
    with pytest.raises(SourceError, match="2 columns, but 1 names"):
        open_source(points, column_names=["lon"])


def test_a_masked_array_is_refused() -> None:
    hidden = np.ma.masked_array([[1, 2]], mask=[[False, True]])
    with pytest.raises(SourceError, match=r"must have no mask\. Found one: fill it"):
        open_source(hidden)


@pytest.mark.parametrize("kind", [">i8", "<i8", ">f4", "<f4"])
def test_numbers_may_have_their_bytes_in_either_order(kind: str) -> None:
    points = np.arange(4).reshape(2, 2).astype(kind)
    assert rows_of(open_source(points)) == [{"x0": 0, "x1": 1}, {"x0": 2, "x1": 3}]


def test_objects_stay_as_they_are() -> None:
    cells = [1, "zebra", None, 2.5, b"x", [1]]
    for frame in (pd.DataFrame({"a": cells}, dtype=object), pl.DataFrame({"a": pl.Series(cells, dtype=pl.Object)})):
        assert [row["a"] for row in rows_of(open_source(frame))] == cells
        assert open_source(frame).column_types == {"a": pa.string()}
    categories = pd.DataFrame({"a": pd.Categorical([1, "zebra", 1])})
    assert [row["a"] for row in rows_of(open_source(categories))] == [1, "zebra", 1]


def test_a_column_of_a_type_that_arrow_lacks_is_refused_when_it_is_read() -> None:
    source = open_source(pd.DataFrame({"a": [1], "b": [123j]}))
    assert [batch.num_rows for batch in source.batches(["a"])] == [1]
    with pytest.raises(SourceError, match=r"Column 'b' of the table has the type complex128.*drop it") as caught:
        list(source.batches(["b"]))
    assert "123" not in str(caught.value)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (3, "Expected a path, .* found int"),
        (pl.LazyFrame({"a": [1]}), r"collected, not lazy.* found LazyFrame: give what its `collect\(\)` returns"),
        (pd.Series([1], name="a"), r"found Series: give what its `to_frame\(\)` returns"),
        (pa.table({"a": [1]}).to_reader(), r"found RecordBatchReader: give what its `read_all\(\)` returns"),
        (duckdb.sql("select 1 as a"), r"found DuckDBPyRelation: give what its `to_arrow_table\(\)` returns"),
        (pd.DataFrame([[1, 2]], columns=["ward", "ward"]), "two columns are called 'ward'"),
        (pa.Table.from_arrays([pa.array([1])] * 2, ["ward", "ward"]), "two columns are called 'ward'"),
        (pd.DataFrame([[1, 2]], columns=["ward", CLASS]), "column 2 has the name of hidden classes"),
        (
            pd.DataFrame({"a": [1]}, index=pd.MultiIndex.from_tuples([(1, 2)], names=["ward", "ward"])),
            "two columns are called 'ward'",
        ),
        (pd.DataFrame({"": [1]}), "column 1 has no name"),
    ],
)
def test_frames_that_cannot_be_read(frame: Any, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        open_source(frame)


@pytest.mark.parametrize("kind", ["decimal32", "decimal64", "run ends", "empty"])
def test_types_of_arrow_that_are_not_converted_are_read_as_those_that_are(kind: str) -> None:
    if kind.startswith("decimal"):
        if not hasattr(pa, kind):
            pytest.skip("older Arrow lacks them")
        cells, plain = pa.array([Decimal("1.10"), None, Decimal("2.25")], getattr(pa, kind)(5, 2)), pa.decimal128(5, 2)
    else:
        values = pa.array(["a", None]).slice(0, 0 if kind == "empty" else 2)
        ends = pa.array([2, 3], pa.int32()).slice(0, len(values))
        cells, plain = pa.RunEndEncodedArray.from_arrays(ends, values), pa.string()
    source = open_source(pa.table({"a": pa.chunked_array([cells, cells])}))
    assert source.column_types == {"a": plain}
    found = [cell for batch in source.batches(["a"], 4) for cell in batch.column("a").to_pylist()]
    assert found == cells.to_pylist() * 2


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()])
def test_how_cells_of_views_are_placed_can_be_asked_whatever_they_hold(kind: pa.DataType) -> None:
    """Arrow takes no cells of them, which was asked for where one was not as declared: one record ended a release."""
    column = Categorical("a", ("b", "c"), missing=True)
    for cells in (["b", "c"], ["b", None]):
        (batch,) = open_source(pa.table({"a": pa.array(cells, kind)})).batches(["a"])
        placed = placements_of(column, batch.column("a"))
        assert placed.tolist() == [Placement.DECLARED, Placement.MISSING if None in cells else Placement.DECLARED]


def test_a_named_index_is_a_column_and_one_without_a_name_is_not() -> None:
    """Whose rows they are was in the index of a frame, and nothing of it was read, without a word."""
    stays = pd.DataFrame({"ward": ["A", "B"], "day": pd.to_datetime(["2020-01-01", "2020-01-02"]), "cost": [1.5, 2.5]})
    for levels in (["ward"], ["ward", "day"], ["day"]):
        source = open_source(stays.set_index(levels))
        assert source.column_names == (*levels, *(name for name in stays if name not in levels))
        assert dict(source.column_types) == dict(open_source(stays).column_types)
        (batch,) = source.batches(levels, 10, skip_rows=1)
        assert [value_of(batch.column(level), 0) for level in levels] == [stays[level][1] for level in levels]
    assert open_source(stays.set_index("ward", drop=False)).column_names == ("ward", "day", "cost")
    assert open_source(stays.set_index(["ward", "day"]).rename_axis([None, "day"])).column_names == ("day", "cost")
    assert open_source(stays[stays.cost > 2]).column_names == ("ward", "day", "cost")


@pytest.mark.parametrize(
    "cells",
    [
        [datetime(2020, 1, 1), datetime(2020, 1, 2), "unknown"],
        [timedelta(1), timedelta(2), "unknown"],
        ["a", "b", 1],
    ],
)
def test_the_type_of_an_index_of_objects_follows_from_no_cell(cells: list[Any]) -> None:
    """Pandas guessed it from all of them: one record more made texts of days in a schema that was bought, unpaid."""
    found = set()
    for rows in (cells[:0], cells[:1], cells[:2], cells):
        index = pd.Index(np.array([*rows, None], dtype=object)[:-1], dtype=object, name="id")
        codes = [range(len(rows))] * 2  # `from_arrays` of pandas 2 guesses types itself
        for levels in (index, pd.MultiIndex(levels=[index, index], codes=codes, names=["id", "again"])):
            source = open_source(pd.DataFrame({"x": range(len(rows))}, index=levels))
            assert isinstance(source, FrameSource)
            assert [
                value_of(batch.column("id"), i) for batch in source.batches(["id"]) for i in range(len(rows))
            ] == rows
            found.add((source.column_types["id"], "id" in source.objects))
    assert len(found) == 1


@pytest.mark.parametrize("level", [pd.Index([2**53 + 1, 7]), pd.Index([7, 8], dtype="uint8"), pd.Index([True, False])])
def test_a_level_of_an_index_keeps_its_type_where_a_cell_is_missing(level: pd.Index) -> None:
    """Pandas makes reals of integers then, and objects of truths: one record would decide the type of all others."""
    types = set()
    for codes in ([], [0, 1], [0, -1], [-1, -1]):
        levels = pd.MultiIndex(levels=[level, [0]], codes=[codes, [0] * len(codes)], names=["id", "visit"])
        source = open_source(pd.DataFrame({"x": codes}, index=levels))
        cells = [value_of(batch.column("id"), i) for batch in source.batches(["id"]) for i in range(len(codes))]
        assert cells == [None if code < 0 else level[code] for code in codes]
        types.add(source.column_types["id"])
    assert types == {pa.array(level).type}


@given(st.lists(st.integers(0, 7), max_size=8), st.integers(1, 5))
def test_even_batches_keep_every_row_in_order(sizes: list[int], batch_rows: int) -> None:
    ends = np.cumsum([0, *sizes])
    batches = [pa.record_batch({"a": np.arange(a, b)}) for a, b in itertools.pairwise(ends)]
    found = list(even_batches(batches, batch_rows))
    assert [row for batch in found for row in batch.column(0).to_pylist()] == list(range(ends[-1]))
    assert all(batch.num_rows == batch_rows for batch in found[:-1])


def test_a_column_that_one_array_cannot_hold_is_refused_by_name() -> None:
    """As texts of more than 2 GiB with offsets of 32 bits, of which Arrow says so."""
    rows = pa.table({"a": pa.chunked_array([["x"], ["y"]]), "b": pa.chunked_array([[1], [2]])})
    assert TableBatch(rows).column("a").to_pylist() == ["x", "y"]
    assert TableBatch(rows).whole() == pa.record_batch({"a": ["x", "y"], "b": [1, 2]})

    offsets = pa.py_buffer(np.array([0, 2**31 - 1], dtype=np.int32))
    untouched = pa.py_buffer(np.zeros(2**31 - 1, dtype=np.uint8))  # no memory is taken before it is written
    long = pa.Array.from_buffers(pa.string(), 1, [None, offsets, untouched])
    with pytest.raises(SourceError, match=r"Column 'a' has more text than one batch of rows can hold"):
        TableBatch(pa.table({"a": pa.chunked_array([long, long])})).column(0)


def test_unsigned_integers_of_128_bits_are_not_negative(tmp_path: Path) -> None:
    numbers = [0, 2**127 - 1, 2**127, 2**128 - 1, None]
    rows = ", ".join("(NULL, 'x')" if number is None else f"({number}, 'x')" for number in numbers)
    database(tmp_path / "t.db", 'CREATE TABLE t ("a ""b" UHUGEINT, c VARCHAR)', f"INSERT INTO t VALUES {rows}")
    source = open_source(f"{tmp_path / 't.db'}::t")
    assert source.column_names == ('a "b', "c")
    found = [row['a "b'] for row in rows_of(source)]
    assert [None if text is None else int(text) for text in found] == numbers


def test_what_duckdb_would_change_on_the_way_to_arrow_is_read_as_text(tmp_path: Path) -> None:
    values = "('12:30:00+05', '101'), ('12:30:00-05', '0101')"
    database(tmp_path / "t.db", "CREATE TABLE t (clock TIMETZ, bits BIT)", f"INSERT INTO t VALUES {values}")
    source = open_source(f"{tmp_path / 't.db'}::t")
    assert rows_of(source) == [{"clock": "12:30:00+05", "bits": "101"}, {"clock": "12:30:00-05", "bits": "0101"}]
    # A purchase advised the format of times of day, which reads none of them.
    assert source.column_types["clock"] == pa.string()


def test_a_table_whose_name_has_a_dot_is_not_taken_for_one_of_a_schema(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    database(
        path,
        "CREATE SCHEMA s",
        "CREATE TABLE s.x AS SELECT 1 AS a",
        'CREATE TABLE "s.x" AS SELECT 2 AS a',
        'CREATE TABLE s."y.z" AS SELECT 3 AS a',
    )
    assert rows_of(open_source(f"{path}::s.x")) == [{"a": 1}]
    dotted = open_source(f'{path}::"s.x"')
    assert (rows_of(dotted), dotted.location) == ([{"a": 2}], f'{path}::"s.x"')
    assert rows_of(open_source(f'{path}::s."y.z"')) == [{"a": 3}]
    with pytest.raises(SourceError, match=r"has no table 's\.y\.z'.*Did you mean 's\.\"y\.z\"'"):
        open_source(f"{path}::s.y.z")


@pytest.mark.parametrize(
    ("statement", "computed"),
    [
        ("CREATE TABLE t (body TEXT)", False),
        ('CREATE TABLE "t" (body TEXT) -- CREATE VIRTUAL TABLE t USING other', False),
        ("CREATE VIRTUAL TABLE t USING fts5(body)", False),
        ("create  virtual table if not exists main.[t] using FTS5(body)", False),
        ("CREATE VIRTUAL TABLE t USING fts5vocab(notes, 'row')", True),
        ("CREATE VIRTUAL TABLE \"t\" USING 'fts5vocab'(notes, col)", True),
        ("CREATE VIRTUAL TABLE `t`USING fts5vocab(notes, col)", True),
    ],
)
def test_a_table_that_sqlite_computes_from_others_counts_as_a_view(
    statement: str, computed: bool, tmp_path: Path
) -> None:
    """Each word of all texts is a row of `fts5vocab`: one person more brings as many rows as words of their own."""
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as opened, opened:
        try:
            opened.execute("CREATE VIRTUAL TABLE notes USING fts5(body)")
        except sqlite3.OperationalError:
            pytest.skip("SQLite has no fts5 here")
        opened.execute("INSERT INTO notes VALUES ('a rare word'), ('a word')")
        opened.execute(statement)
    first, *others = open_source(f"{path}::t").column_names
    schema = Schema((Categorical(first, ("a",), other=True, missing=True),), ignore=tuple(others))
    with Curator(f"{path}::t", schema, budget=Budget(1)) as curator:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            curator.warn_of_query()
        assert [one.category for one in said] == [ViewWarning] * computed


def test_generated_columns_of_sqlite_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.execute(
            "CREATE TABLE t (a INTEGER, twice INTEGER GENERATED ALWAYS AS (2 * a) STORED, half REAL AS (a / 2.0))"
        )
        opened.execute("INSERT INTO t (a) VALUES (3)")
    source = open_source(f"{path}::t")
    assert source.column_names == ("a", "twice", "half")
    assert source.column_types == {"a": pa.int64(), "twice": pa.int64(), "half": pa.float64()}
    assert rows_of(source) == [{"a": 3, "twice": 6, "half": 1.5}]


@pytest.mark.parametrize("folder", ["sex=F", "SEX=F", "sex=__HIVE_DEFAULT_PARTITION__"])
def test_the_name_of_a_folder_says_nothing_about_the_cells_of_a_file(folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir()
    parquet.write_table(pa.table({"sex": ["M", "F"]}), tmp_path / folder / "t.parquet")
    assert rows_of(open_source(tmp_path / folder / "t.parquet")) == [{"sex": "M"}, {"sex": "F"}]


def test_decimals_that_duckdb_would_round_are_refused(tmp_path: Path) -> None:
    long, short = (pa.array([Decimal("1.50")], kind) for kind in (pa.decimal256(60, 2), pa.decimal256(38, 2)))
    parquet.write_table(pa.table({"long": long, "short": short}), tmp_path / "t.parquet")
    source = open_source(tmp_path / "t.parquet")
    assert [batch.column(0).to_pylist() for batch in source.batches(["short"])] == [[Decimal("1.50")]]
    with pytest.raises(SourceError, match=r"Column 'long' of t\.parquet has the type decimal256\(60, 2\), which can't"):
        list(source.batches(["long"]))


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_is_no_failure_of_duckdb() -> None:
    threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt), connection() as opened:
        list(opened.sql("SELECT hash(i) AS h FROM range(30_000_000) AS t(i) ORDER BY h").to_arrow_reader(100_000))


def test_offsets_of_texts_have_64_bits(tmp_path: Path) -> None:
    table = pa.table({"a": ["x"], "b": [b"x"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a\nx\n")
    database(tmp_path / "t.db", "CREATE TABLE t AS SELECT 'x' AS a, 'x'::BLOB AS b")
    for name in ("t.parquet", "t.csv", "t.db::t"):
        source = open_source(tmp_path / name)
        (batch,) = source.batches(source.column_names)
        assert [*batch.rows.schema.types] == [pa.large_string(), pa.large_binary()][: len(source.column_names)]


LINES = "a,b\n" * 30 + "z"
"""A cell whose lines look like records: where a block of 8 MB begins within it, threads can't tell."""


def long_table(path: Path, *more: str) -> tuple[Path, int]:
    records = 9_000_000 // len(LINES)
    path.write_text("a,t\n" + "".join(f'{i},"{LINES}"\n' for i in range(records)) + "".join(more))
    return path, records


def test_quoted_cells_of_several_lines_are_read_where_threads_refuse_them(tmp_path: Path) -> None:
    path, records = long_table(tmp_path / "t.csv")
    columns = "header=true, auto_detect=false, columns={'a': 'VARCHAR', 't': 'VARCHAR'}"
    with duckdb.connect() as opened, pytest.raises(duckdb.Error):  # else this test shows nothing
        opened.sql(f"SELECT count(a) FROM read_csv('{path}', {columns}, quote='\"', strict_mode=true)").fetchall()
    source = open_source(path)
    for skipped in (0, 10, records):  # the second time it knows
        found = [
            value_of(b.column("a"), i) for b in source.batches(("a",), skip_rows=skipped) for i in range(b.num_rows)
        ]
        assert found == [str(i) for i in range(skipped, records)]
    (first, *_) = source.batches(("t",), 1)
    assert value_of(first.column("t"), 0) == LINES


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ('9,"unclosed\n', "t.csv, line {line}: a quoted value is not closed"),
        ("9\n", "t.csv, line {line}: expected 2 fields, found 1"),
        ("9,8,7\n", "t.csv, line {line}: expected 2 fields, found 3"),
    ],
)
def test_a_long_file_that_is_broken_is_refused_with_the_right_line(more: str, sentence: str, tmp_path: Path) -> None:
    path, records = long_table(tmp_path / "t.csv", more)
    source = open_source(path)
    line = 2 + 31 * records
    for _ in range(2):
        with pytest.raises(SourceError, match=sentence.format(line=line)):
            list(source.batches(("a", "t")))


def test_a_file_larger_than_a_batch_comes_in_order(tmp_path: Path) -> None:
    n_rows = 300_000
    text = "\n".join(f'{i},"x\ny"' if i % 97 == 0 else f"{i},x" for i in range(n_rows))
    (tmp_path / "t.csv").write_text("a,b\n" + text + "\n")
    source = open_source(tmp_path / "t.csv")
    batches = list(source.batches(["a"], 131_072))
    assert [batch.num_rows for batch in batches] == [131_072, 131_072, n_rows - 2 * 131_072]
    found = pa.chunked_array([batch.column(0) for batch in batches]).cast(pa.int64())
    np.testing.assert_array_equal(found.to_numpy(), np.arange(n_rows))
    assert next(iter(source.batches(["a"], skip_rows=299_999))).column(0).to_pylist() == ["299999"]


def test_moments_of_a_table_have_one_type_wherever_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A purchase named the zone of the reading machine as that of the storage."""
    with duckdb.connect(str(tmp_path / "t.duckdb")) as opened:
        opened.execute("CREATE TABLE t AS SELECT '2024-01-01 12:00:00+00'::TIMESTAMPTZ AS at")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        source = open_source(f"{tmp_path / 't.duckdb'}::t")
        assert source.column_types["at"] == pa.timestamp("us", "UTC")
        assert next(iter(source.batches(["at"]))).column(0).type == pa.timestamp("us", "UTC")
    finally:
        monkeypatch.undo()
        time.tzset()
