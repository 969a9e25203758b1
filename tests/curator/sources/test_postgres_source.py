"""A table of a real PostgreSQL server: what values mean, one snapshot in every pass, and failures without values."""

from __future__ import annotations

import builtins
import gc
import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.postgres_source import PostgresSource
from counterfoil.curator.sources.source import Source, value_of
from counterfoil.schema.integer import Integer
from counterfoil.schema.schema import Schema
from counterfoil.schema.values import numbers_of, texts_of
from counterfoil.table_url import TableURL
from postgres_server import READER, Server
from sensitive_tables import ENGINES

SECRET = "zebra"
_numbers = itertools.count()


@pytest.fixture
def name() -> str:
    """A table's name that no other test has."""
    return f"t{next(_numbers)}"


def cells_of(source: Source, column: str, **how: Any) -> list[Any]:
    batches = source.batches([column], **how)
    return [value_of(batch.column(0), row) for batch in batches for row in range(batch.num_rows)]


def refused(work: Any, *arguments: Any, **keywords: Any) -> str:
    """The sentence of a refusal, in which the secret is not."""
    with pytest.raises(SourceError) as error:
        _all_of(work(*arguments, **keywords))
    sentence = str(error.value)
    assert SECRET not in sentence
    assert "\n" not in sentence
    assert error.value.__context__ is None or error.value.__suppress_context__
    assert sentence.endswith((".", "?"))
    return sentence


def _all_of(result: Any) -> None:
    if isinstance(result, Iterator):
        list(result)


# Each type with a literal, the text of its value, and the number or None.
TYPES = [
    ("int2", "-3", "-3", -3.0),
    ("int4", "70000", "70000", 70000.0),
    ("int8", "9007199254740993", "9007199254740993", None),
    ("oid", "3000000000", "3000000000", 3e9),
    ("float4", "0.1", "0.1", None),
    ("float8", "0.1", "0.1", 0.1),
    ("float8", "'Infinity'", "inf", np.inf),
    ("bool", "true", "true", 1.0),
    ("text", "' é '", "é", np.nan),
    ("varchar(9)", "'ab'", "ab", np.nan),
    ("char(9)", "'ab'", "ab", np.nan),
    ("name", "'ab'", "ab", np.nan),
    ("numeric", "1.500", "1.5", 1.5),
    ("numeric", "123456789012345678901234567890.10", "123456789012345678901234567890.1", None),
    ("numeric", "'-Infinity'", "-inf", -np.inf),
    ("numeric", "1e-30", "0.000000000000000000000000000001", 1e-30),
    ("numeric(5,2)", "1.5", "1.5", 1.5),
    (
        "numeric(60,2)",
        "1234567890123456789012345678901234567890.25",
        "1234567890123456789012345678901234567890.25",
        None,
    ),
    ("numeric(90,1)", "1.50", "1.5", 1.5),
    ("numeric(3,-2)", "12345", "12300", 12300.0),
    ("numeric(2,4)", "0.0012", "0.0012", None),
    ("money", "'$1,234.50'", "1234.5", 1234.5),
    ("date", "'2020-02-29'", "2020-02-29", None),
    ("date", "'infinity'", "10000-01-01", None),
    ("date", "'-infinity'", "0000-12-31", None),
    ("date", "'5874897-12-31'", "10000-01-01", None),
    ("date", "'9999-12-31'", "9999-12-31", None),
    ("date", "'0001-01-01'", "0001-01-01", None),
    ("timestamp", "'2020-02-29 12:34:56.789'", "2020-02-29 12:34:56.789", None),
    ("timestamp", "'infinity'", "10000-01-01 00:00:00", None),
    ("timestamp", "'4713-01-01 BC'", "0000-12-31 00:00:00", None),
    ("timestamptz", "'2020-02-29 12:00:00+02'", "2020-02-29 10:00:00+00:00", None),
    ("timestamptz", "'-infinity'", "0000-12-31 00:00:00+00:00", None),
    ("timestamptz", "'294276-12-31 23:59:59+00'", "10000-01-01 00:00:00+00:00", None),
    ("time", "'12:34:56.5'", "12:34:56.5", None),
    ("time", "'24:00:00'", "24:00:00", None),
    ("timetz", "'12:34:56+02'", "12:34:56+02", None),
    ("uuid", "'123E4567-E89B-12D3-A456-426614174000'", "123e4567-e89b-12d3-a456-426614174000", np.nan),
    ("mood", "'so so'", "so so", np.nan),
    ("inet", "'10.0.0.1'", "10.0.0.1", np.nan),
    ("inet", "'10.1.0.0/16'", "10.1.0.0/16", np.nan),
    ("cidr", "'10.1.0.0/16'", "10.1.0.0/16", np.nan),
    ("macaddr", "'08002b010203'", "08:00:2b:01:02:03", np.nan),
    ("json", "'{\"a\":  1}'", '{"a":  1}', np.nan),
    ("jsonb", "'{\"a\":  1}'", '{"a": 1}', np.nan),
    ("bit(3)", "B'101'", "101", 101.0),
    ("bytea", "'\\x616263'", "abc", np.nan),
    ("bytea", "'\\xff00'", "\ufffd0xff00", np.nan),
    ("share", "0.25", "0.25", 0.25),
]
REFUSED = ["int4[]", "pair", "int4range", "int4multirange", "point", "interval", "tsvector", "moods"]


@pytest.fixture(scope="module")
def of_every_type(running_postgres: Server) -> str:
    """A table with a row of values, then a row of nulls; and columns that can't be read."""
    columns = [f"c{i} {kind}" for i, (kind, *_) in enumerate(TYPES)] + [f"x{i} {k}" for i, k in enumerate(REFUSED)]
    literals = ", ".join(f"{literal}::{kind}" for kind, literal, *_ in TYPES)
    running_postgres.run(
        "CREATE TYPE mood AS ENUM ('bad', 'so so')",
        "CREATE TYPE pair AS (a int, b int)",
        "CREATE DOMAIN part AS numeric(6, 4)",
        "CREATE DOMAIN share AS part CHECK (VALUE < 1)",
        "CREATE DOMAIN moods AS mood[]",
        f"CREATE TABLE every_type ({', '.join(columns)})",
        f"INSERT INTO every_type VALUES ({literals})",
        "INSERT INTO every_type DEFAULT VALUES",
    )
    return "every_type"


def test_every_type_has_the_text_and_the_number_of_its_value(postgres: Server, of_every_type: str) -> None:
    source = open_source(postgres.url(of_every_type))
    [batch] = source.batches([f"c{i}" for i in range(len(TYPES))])
    for i, (kind, literal, text, number) in enumerate(TYPES):
        texts, positions = texts_of(batch.column(i))
        assert [texts[positions[0]], positions[1]] == [text, -1], (kind, literal)
        if number is not None:
            assert np.array_equal(numbers_of(batch.column(i)), [number, np.nan], equal_nan=True), (kind, literal)


def test_not_a_number_is_missing(postgres: Server, name: str) -> None:
    postgres.run(
        f"CREATE TABLE {name} (a numeric, b numeric(9, 2), c float8)",
        f"INSERT INTO {name} VALUES ('NaN', 'NaN', 'NaN')",
    )
    [batch] = open_source(postgres.url(name)).batches(["a", "b", "c"])
    assert [texts_of(column)[1].tolist() for column in batch.rows.columns] == [[-1]] * 3


def test_types_are_declared_for_a_draft(postgres: Server, of_every_type: str) -> None:
    types = open_source(postgres.url(of_every_type)).column_types
    declared = {kind: types[f"c{i}"] for i, (kind, *_) in enumerate(TYPES)}
    assert declared["int2"] == pa.int16()
    assert declared["numeric(5,2)"] == pa.decimal128(5, 2)
    assert declared["numeric(60,2)"] == pa.decimal256(60, 2)
    assert declared["timestamptz"] == pa.timestamp("us", "UTC")
    assert declared["mood"] == declared["uuid"] == pa.string()
    assert pa.types.is_decimal(declared["numeric"])
    assert pa.types.is_decimal(declared["money"])
    assert declared["share"] == pa.decimal128(6, 4)


@pytest.mark.parametrize("position", range(len(REFUSED)))
def test_what_has_parts_is_refused_where_it_is_asked_for(postgres: Server, of_every_type: str, position: int) -> None:
    source = open_source(postgres.url(of_every_type))
    sentence = refused(source.batches, ["c0", f"x{position}"])
    assert f"'x{position}'" in sentence
    assert "view" in sentence
    assert len(list(source.batches(["c0"]))) == 1


def test_texts_come_in_utf8_whatever_the_environment_says(postgres: Server, name: str, monkeypatch: Any) -> None:
    postgres.run(f"CREATE TABLE {name} (a text)", f"INSERT INTO {name} VALUES ('é')")
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    assert cells_of(open_source(postgres.url(name)), "a") == ["é"]


def test_texts_of_a_database_without_an_encoding_must_be_utf8(postgres: Server) -> None:
    postgres.run("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE 'C'")
    postgres.run(
        "CREATE TABLE good AS SELECT 'é'::text AS a", "CREATE TABLE bad AS SELECT E'\\xff'::text AS a", database="bytes"
    )
    assert cells_of(open_source(postgres.url("good", database="bytes")), "a") == ["é"]
    assert "UTF-8" in refused(open_source(postgres.url("bad", database="bytes")).batches, ["a"])


COLUMNS: dict[str, tuple[pa.DataType, str, Any]] = {
    "whole": (pa.int64(), "", st.integers(-(2**63), 2**63 - 1)),
    "real": (pa.float64(), "", st.floats()),
    "word": (pa.string(), "", st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5)),
    "flag": (pa.bool_(), "", st.booleans()),
    "day": (pa.date32(), "", st.dates()),
    "moment": (pa.timestamp("us"), "", st.datetimes()),
    "instant": (pa.timestamp("us", "UTC"), "", st.datetimes(datetime(2, 1, 1), timezones=st.just(UTC))),
    "clock": (pa.time64("us"), "", st.times()),
    "price": (pa.decimal128(12, 3), "numeric(12, 3)", st.decimals(-(10**8), 10**8, places=3)),
}


_NUMBERS = itertools.count()


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    n_rows = draw(st.integers(0, 12))
    cells = {
        name: draw(st.lists(st.none() | values, min_size=n_rows, max_size=n_rows))
        for name, (_, _, values) in COLUMNS.items()
    }
    return pa.table({name: pa.array(cells[name], kind) for name, (kind, _, _) in COLUMNS.items()})


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(), batch_rows=st.integers(1, 13), skip_rows=st.integers(0, 13))
def test_a_table_is_read_like_the_same_frame(
    postgres: Server, table: pa.Table, batch_rows: int, skip_rows: int
) -> None:
    name = f"random_{next(_NUMBERS)}"  # a new one each time: a source that failed keeps its table locked
    stored = table.set_column(8, "price", table["price"].cast(pa.string()))
    postgres.store(name, stored, {"price": "numeric(12, 3)"})
    postgres.run(f"CREATE VIEW {name}_view AS SELECT * FROM {name}")
    for relation, in_order in ((name, True), (f"{name}_view", False)):
        ours, frame = PostgresSource(TableURL.of(postgres.url(relation))), open_source(table)
        assert ours._facts.in_order == in_order
        read = list(ours.batches(table.column_names, batch_rows, skip_rows=skip_rows))
        expected = list(frame.batches(table.column_names, batch_rows, skip_rows=skip_rows))
        assert [batch.num_rows for batch in read] == [batch.num_rows for batch in expected]
        for column, (one, other) in itertools.product(table.column_names, zip(read, expected, strict=True)):
            assert spelled(one.column(column)) == spelled(other.column(column))
            assert one.column(column).type == (pa.string() if column == "clock" else COLUMNS[column][0])


def spelled(values: Any) -> list[str | None]:
    texts, positions = texts_of(values)
    return [None if position < 0 else texts[position] for position in positions]


def numbered(postgres: Server, name: str, rows: int, *, kind: str = "TABLE", extra: str = "") -> None:
    postgres.run(f"CREATE {kind} {name} AS SELECT i, i * 2 AS j{extra} FROM generate_series(1, {rows}) AS i")


def test_all_passes_see_one_snapshot_in_one_order(postgres: Server, name: str) -> None:
    """Others insert, delete, change and vacuum between the passes, and in the middle of them."""
    numbered(postgres, name, 6000)
    source = open_source(postgres.url(name))
    first = cells_of(source, "i", batch_rows=512)
    assert first == list(range(1, 6001))
    begun = source.batches(["j"], 512)
    part = [value_of(batch.column(0), row) for batch in itertools.islice(begun, 3) for row in range(512)]
    postgres.run(
        f"DELETE FROM {name} WHERE i % 3 = 0",
        f"UPDATE {name} SET j = -1 WHERE i % 3 = 1",
        f"INSERT INTO {name} SELECT i, 0 FROM generate_series(1, 5000) AS i",
        f"VACUUM {name}",
        f"CREATE INDEX ON {name} (j, i)",
    )
    rest = [value_of(batch.column(0), row) for batch in begun for row in range(batch.num_rows)]
    assert part + rest == [2 * i for i in first]
    for columns in (["j"], ["j", "i"], ["i"]):
        read = [
            value_of(b.column("j" if "j" in columns else "i"), r)
            for b in source.batches(columns)
            for r in range(b.num_rows)
        ]
        assert read == ([2 * i for i in first] if "j" in columns else first)
    assert cells_of(source, "j", skip_rows=5990) == [2 * i for i in first[5990:]]
    assert sorted(cells_of(open_source(postgres.url(name)), "j")) != sorted(2 * i for i in first), "it did change"


def test_neither_an_index_nor_another_scan_changes_the_order(postgres: Server, name: str) -> None:
    """Without what the source forbids, both do: the server's own order is looked at beside ours."""
    numbered(postgres, name, 60_000, extra=", 60000 - i AS k, repeat('x', 200) AS filler")
    postgres.run(f"CREATE INDEX ON {name} (k)")
    gc.collect()
    for _ in range(200):  # what an earlier snapshot may still see is not marked as seen by all
        postgres.run(f"VACUUM ANALYZE {name}")
        pages, seen = postgres.rows(f"SELECT relpages, relallvisible FROM pg_class WHERE oid = '{name}'::regclass")[0]
        if seen == pages:
            break
        time.sleep(0.05)
    assert postgres.rows(f"SELECT k FROM {name}")[:3] == [(0,), (1,), (2,)], "an index gives another order"
    source = open_source(postgres.url(name))
    assert cells_of(source, "k")[:3] == [59_999, 59_998, 59_997]
    with postgres.connected() as other, other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(f"DECLARE half CURSOR FOR SELECT filler, i FROM {name}")
        cursor.execute("MOVE 30000 IN half")
        assert postgres.rows(f"SELECT i, filler FROM {name} LIMIT 1")[0][0] > 1, "a scan joins another in the middle"
        read = list(source.batches(["i", "filler"]))
        cursor.execute("ROLLBACK")
    assert np.concatenate([batch.column(0).to_numpy() for batch in read]).tolist() == list(range(1, 60_001))


def test_two_passes_at_once_and_one_that_is_given_up(postgres: Server, name: str) -> None:
    numbered(postgres, name, 3000)
    source = open_source(postgres.url(name))
    given_up = source.batches(["i"], 100)
    next(given_up)
    pairs = zip(source.batches(["i"], 100), source.batches(["j"], 100), strict=True)
    assert all(np.array_equal(2 * i.column(0).to_numpy(), j.column(0).to_numpy()) for i, j in pairs)
    given_up.close()
    ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'counterfoil'"
    del source, given_up, pairs
    gc.collect()
    for _ in range(600):
        if postgres.rows(ours) == [(0,)]:
            return
    pytest.fail("connections are left open")


@pytest.mark.parametrize("kind", ["VIEW", "MATERIALIZED VIEW", "PARTITIONED", "PARENT", "GUARDED"])
def test_what_is_no_plain_table_is_computed_once(postgres: Server, name: str, kind: str) -> None:
    """Its rows are the same in every pass, even where they are drawn at random, or a partition is added meanwhile."""
    change = f"DELETE FROM {name}"
    if kind.endswith("VIEW"):
        extra = ", random() AS drawn, ARRAY[i] AS parts"
        numbered(postgres, name, 1000, kind=kind, extra=extra)
        change = f"REFRESH MATERIALIZED VIEW {name}" if kind.startswith("M") else "SELECT 1"
    elif kind == "PARTITIONED":
        postgres.run(
            f"CREATE TABLE {name} (i int, j int, drawn float8) PARTITION BY RANGE (i)",
            f"CREATE TABLE {name}a PARTITION OF {name} FOR VALUES FROM (500) TO (2000)",
            f"CREATE TABLE {name}b PARTITION OF {name} FOR VALUES FROM (0) TO (500)",
            f"INSERT INTO {name} SELECT i, 2 * i, random() FROM generate_series(1, 1000) AS i",
        )
    elif kind == "PARENT":
        postgres.run(
            f"CREATE TABLE {name} (i int, j int, drawn float8)",
            f"CREATE TABLE {name}a () INHERITS ({name})",
            f"INSERT INTO {name} SELECT i, 2 * i, random() FROM generate_series(1, 500) AS i",
            f"INSERT INTO {name}a SELECT i, 2 * i, random() FROM generate_series(501, 1000) AS i",
        )
    else:
        postgres.run(
            f"CREATE TABLE {name} AS SELECT i, 2 * i AS j, random() AS drawn FROM generate_series(1, 2000) AS i",
            f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
            f"CREATE POLICY half ON {name} USING (i <= 1000)",
            f"GRANT SELECT ON {name} TO {READER}",
        )
    role = READER if kind == "GUARDED" else "steward"
    source = PostgresSource(TableURL.of(postgres.url(name, role=role)))
    assert source._facts.in_order == (kind == "MATERIALIZED VIEW")
    drawn = cells_of(source, "drawn", batch_rows=300)
    if kind != "MATERIALIZED VIEW":  # whose lock would be waited for
        postgres.run(change if not kind.endswith("VIEW") else "SELECT 1")
    assert len(drawn) == len(set(drawn)) == 1000
    assert cells_of(source, "drawn", batch_rows=70) == drawn
    assert cells_of(source, "drawn", skip_rows=333, batch_rows=64) == drawn[333:]
    both = list(source.batches(["j", "i"]))
    assert all(np.array_equal(b.column(0).to_numpy(), 2 * b.column(1).to_numpy()) for b in both)
    assert [batch.num_rows for batch in source.batches([], 400)] == [400, 400, 200]


def test_the_scratch_file_has_no_name(postgres: Server, name: str, tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    numbered(postgres, name, 10, kind="VIEW")
    source = open_source(postgres.url(name))
    assert cells_of(source, "i") == list(range(1, 11))
    assert list(tmp_path.iterdir()) == []


def test_a_table_cannot_be_emptied_or_rewritten_while_it_is_read(postgres: Server, name: str) -> None:
    numbered(postgres, name, 10)
    source = open_source(postgres.url(name))
    for change in (f"TRUNCATE {name}", f"ALTER TABLE {name} ALTER i TYPE text", f"VACUUM FULL {name}"):
        with pytest.raises(Exception, match="lock timeout"), postgres.connected() as other, other.cursor() as cursor:
            execute(cursor, "SET lock_timeout = 20", change)
    assert cells_of(source, "i") == list(range(1, 11))
    del source
    gc.collect()
    postgres.run(f"TRUNCATE {name}")


@pytest.mark.parametrize("kind", ["TABLE", "VIEW"])
@pytest.mark.parametrize("rows", [0, 5])
def test_another_table_under_the_same_name_is_refused(postgres: Server, name: str, kind: str, rows: int) -> None:
    """A schema can be renamed while its tables are locked."""
    for schema in ("live", "staging"):
        postgres.run(f"CREATE SCHEMA {name}{schema}")
        numbered(postgres, f"{name}{schema}.t", rows, kind=kind)
    source = open_source(postgres.url(f"{name}live.t"))
    if kind == "TABLE":
        assert len(cells_of(source, "i")) == rows
    begun = source.batches(["j"], 1)
    if rows:
        next(begun)
    postgres.run(f"ALTER SCHEMA {name}live RENAME TO {name}old", f"ALTER SCHEMA {name}staging RENAME TO {name}live")
    if kind == "TABLE":
        assert "has changed since it was opened" in refused(list, begun)
        assert "has changed since it was opened" in refused(source.batches, ["i"])
    elif not rows:
        assert "has changed since it was opened" in refused(source.batches, ["i"])
    else:
        assert cells_of(source, "i") == [1, 2, 3, 4, 5], "the rows are kept"


def test_an_owners_cast_is_not_asked(postgres: Server, name: str) -> None:
    postgres.run(
        f"CREATE TYPE {name}e AS ENUM ('a', 'b')",
        f"CREATE DOMAIN {name}d AS {name}e",
        f"CREATE FUNCTION {name}f({name}e) RETURNS text LANGUAGE sql VOLATILE AS 'SELECT random()::text'",
        f"CREATE CAST ({name}e AS text) WITH FUNCTION {name}f({name}e)",
        f"CREATE TABLE {name} (x {name}e, y {name}d)",
        f"INSERT INTO {name} VALUES ('a', 'b'), (NULL, NULL)",
    )
    source = open_source(postgres.url(name))
    assert [cells_of(source, column) for column in "xy"] == [["a", None], ["b", None]]


def test_moments_that_python_does_not_know_are_shown_as_texts(postgres: Server, name: str) -> None:
    postgres.run(f"CREATE TABLE {name} (a date)", f"INSERT INTO {name} VALUES ('infinity'), ('2020-01-02')")
    assert cells_of(open_source(postgres.url(name)), "a") == ["10000-01-01", date(2020, 1, 2)]


def execute(cursor: Any, *statements: str) -> None:
    for statement in statements:
        cursor.execute(statement)


def end_reading(postgres: Server, name: str, *, how: str = "terminate") -> None:
    ended = postgres.rows(
        f"SELECT pg_{how}_backend(pid) FROM pg_stat_activity"
        f" WHERE application_name = 'counterfoil' AND query LIKE 'COPY%{name}%'"
    )
    assert ended == [(True,)]


@pytest.mark.parametrize(("how", "says"), [("terminate", "cut"), ("cancel", "canceled")])
def test_a_connection_that_is_cut_in_the_middle_of_rows(postgres: Server, name: str, how: str, says: str) -> None:
    numbered(postgres, name, 30_000, extra=f", repeat('{SECRET}', 280) AS filler")
    source = open_source(postgres.url(name))
    rows = source.batches(["i", "filler"], 1000)
    next(rows)
    end_reading(postgres, name, how=how)
    sentence = refused(list, rows)
    assert says in sentence
    assert name in sentence
    assert len(cells_of(source, "i")) == 30_000, "the snapshot is held by another connection"


SLOW = ("(SELECT pg_sleep(30)) AS q", "generate_series(1, 30) AS i WHERE pg_sleep(1)::text = ''")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("rows", SLOW)
def test_an_interrupt_is_no_refusal_and_ends_the_statement(postgres: Server, name: str, rows: str) -> None:
    postgres.run(f"CREATE VIEW {name} AS SELECT 1 AS a FROM {rows}")
    source = open_source(postgres.url(name))
    threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(source.batches(["a"]))
    assert time.monotonic() - began < 10
    at_work = f"application_name = 'counterfoil' AND state = 'active' AND query LIKE '%{name}%'"
    assert postgres.rows(f"SELECT count(*) FROM pg_stat_activity WHERE {at_work}") == [(0,)]


def test_a_snapshot_that_is_lost_is_no_snapshot_of_now(postgres: Server, name: str) -> None:
    numbered(postgres, name, 10)
    source = open_source(postgres.url(name))
    assert len(cells_of(source, "i")) == 10
    postgres.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'counterfoil'")
    while postgres.rows("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'counterfoil'") != [(0,)]:
        pass
    assert "start again" in refused(source.batches, ["i"])


def test_what_fails_among_the_records_is_said_without_them(postgres: Server, name: str) -> None:
    """The server's own words quote values, and a function can put one even into its error class."""
    postgres.run(
        f"CREATE FUNCTION {name}f(v text) RETURNS int LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{SECRET} permission denied' USING ERRCODE = 'ZEBRA'; END $$",
        f"CREATE VIEW {name} AS SELECT {name}f('x') AS a, ('{SECRET}' || i)::int AS b, 1 / (i - 1) AS c, "
        "('out of memory, ' || i)::int AS d FROM generate_series(1, 3) AS i",
    )
    for column in "abcd":
        sentence = refused(open_source(postgres.url(name)).batches, [column])
        assert "log" in sentence
        assert "ZEBRA" not in sentence


def test_what_a_function_of_a_view_remarks_is_not_shown(postgres: Server, name: str, capfd: Any) -> None:
    """A notice or a warning may quote a record, and the server's own library would print it."""
    postgres.run(
        f"CREATE FUNCTION {name}f(v int) RETURNS int LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE WARNING '{SECRET} %', v; RAISE NOTICE '{SECRET} %', v; RETURN v; END $$",
        f"CREATE VIEW {name} AS SELECT {name}f(i) AS a FROM generate_series(1, 3) AS i",
    )
    assert cells_of(open_source(postgres.url(name)), "a") == [1, 2, 3]
    assert capfd.readouterr() == ("", "")


def test_a_statement_that_takes_too_long(postgres: Server, name: str, monkeypatch: Any) -> None:
    numbered(postgres, name, 3, kind="VIEW", extra=", pg_sleep(5)::text AS slept")
    monkeypatch.setenv("PGOPTIONS", "-c statement_timeout=300")
    assert "statement_timeout" in refused(open_source(postgres.url(name)).batches, ["i"])


def test_settings_of_the_session_change_nothing(postgres: Server, name: str, monkeypatch: Any) -> None:
    postgres.run(f"""CREATE TABLE "{name}\'" ("a\'" date)""", f"""INSERT INTO "{name}\'" VALUES ('2020-03-04')""")
    monkeypatch.setenv(
        "PGOPTIONS",
        "-c standard_conforming_strings=off -c DateStyle=SQL,DMY -c enable_seqscan=off -c search_path=pg_temp"
        " -c default_transaction_isolation=serializable -c idle_in_transaction_session_timeout=50",
    )
    source = open_source(postgres.url(f"{name}'"))
    postgres.rows("SELECT pg_sleep(0.2)")
    assert cells_of(source, "a'") == [date(2020, 3, 4)]


def test_a_role_that_may_not_read(postgres: Server, name: str) -> None:
    numbered(postgres, name, 3, extra=f", '{SECRET}' AS secret")
    assert "may not read" in refused(open_source, postgres.url(name, role=READER))
    postgres.run(f"GRANT SELECT (i, j) ON {name} TO {READER}")
    source = open_source(postgres.url(name, role=READER))
    assert source.column_names == ("i", "j", "secret")
    assert cells_of(source, "i") == [1, 2, 3]
    assert len(list(source.batches([]))) == 1
    sentence = refused(source.batches, ["i", "secret"])
    assert "column 'secret'" in sentence
    assert "ignore" in sentence
    postgres.run(f"CREATE VIEW {name}v AS SELECT * FROM {name}", f"GRANT SELECT (j) ON {name}v TO {READER}")
    assert cells_of(open_source(postgres.url(f"{name}v", role=READER)), "j") == [2, 4, 6]
    postgres.run(f"REVOKE ALL ON {name} FROM {READER}", f"CREATE SCHEMA {name}", f"CREATE TABLE {name}.t (a int)")
    said = refused(open_source, postgres.url(f"{name}.t", role=READER))
    assert "may not read it, or not all of its columns: have SELECT on it granted, and USAGE of its schema" in said


@pytest.mark.parametrize("table", ["Upper", "with space", "a.b", 'quo"te', "semi;colon--", "per%20cent", "é" * 20])
def test_names_mean_what_they_say(postgres: Server, table: str) -> None:
    quoted = '"' + table.replace('"', '""') + '"'
    column = quoted[:-1] + ' {0} %s"'
    postgres.run(f"CREATE SCHEMA {quoted}", f"CREATE TABLE {quoted}.{quoted} ({column} int)")
    postgres.run(f"INSERT INTO {quoted}.{quoted} VALUES (7)")
    source = open_source(postgres.url(f"{quoted}.{quoted}"))
    assert cells_of(source, table + " {0} %s") == [7]


def test_a_name_that_is_missing(postgres: Server, name: str) -> None:
    postgres.run(f"CREATE TABLE {name}people (a int)", f"GRANT SELECT ON {name}people TO {READER}")
    postgres.run(f"CREATE TABLE {name}people_hidden (a int)")
    sentence = refused(open_source, postgres.url(f"{name}People_hidde", role=READER))
    assert f"'public.{name}people'" in sentence
    assert "hidden'" not in sentence.replace(f"{name}People_hidde'", "")
    assert f"Did you mean 'public.{name}people_hidden'" in refused(open_source, postgres.url(f"{name}PEOPLE_hidden"))
    too_long = "x" * 63
    postgres.run(f"CREATE TABLE {too_long} (a int)")
    assert "no table" in refused(open_source, postgres.url(too_long + "y")), "the server would cut the name"
    assert "no database 'nowhere'" in refused(open_source, postgres.url("t", database="nowhere"))


def test_a_server_or_a_login_that_is_wrong(postgres: Server, name: str, monkeypatch: Any) -> None:
    assert "refused the login" in refused(open_source, postgres.url(name, role="nobody_there"))
    monkeypatch.setenv("PGPASSWORD", SECRET)
    sentence = refused(open_source, postgres.url(name))
    assert "PGPASSWORD" in sentence
    assert "steward" not in sentence
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.setenv("PGPASSFILE", "/dev/null")
    assert "asks for a password" in refused(open_source, postgres.url(name))
    assert "refused the connection" in refused(open_source, "postgresql://127.0.0.1:1/d::t")
    assert "no socket" in refused(open_source, "postgresql://%2Fnowhere/d::t")
    assert "certificates" in refused(open_source, postgres.url(name).replace("::", "?sslmode=require::"))


def test_a_password_file_is_read(postgres: Server, name: str, monkeypatch: Any, tmp_path: Any) -> None:
    numbered(postgres, name, 3)
    monkeypatch.delenv("PGPASSWORD")
    file = tmp_path / "pass"
    file.write_text(f"127.0.0.1:{postgres.port}:postgres:*:{postgres.password}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    assert cells_of(open_source(postgres.url(name)), "i") == [1, 2, 3]


def test_without_the_driver_it_is_said_what_to_install(monkeypatch: Any) -> None:
    imported = builtins.__import__

    def without(module: str, *arguments: Any, **keywords: Any) -> Any:
        if module.startswith("adbc"):
            raise ModuleNotFoundError(name=module)
        return imported(module, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'counterfoil\[postgres\]'"):
        open_source("postgresql://h/d::t")


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_counts_what_it_counts_in_a_frame(postgres: Server, name: str, engine: str) -> None:
    """With privacy units, whose rows are asked for in the middle of a pass."""
    generator = np.random.default_rng(7)
    frame = pa.table(
        {"a": generator.integers(0, 5, 400), "b": generator.integers(0, 3, 400), "unit": np.arange(400) // 4}
    )
    postgres.store(name, frame)
    schema = Schema((Integer("a", 0, 4), Integer("b", 0, 2)))
    counts = []
    for table in (frame, postgres.url(name)):
        made = ENGINES[engine](open_source(table), schema, privacy_unit="unit", max_rows=4)
        made.prepare(["a", "b"])
        pairs = [block.codes["a"].astype(int) * 3 + block.codes["b"] for block in made.blocks(["a", "b"])]
        counts.append(np.bincount(np.concatenate(pairs), minlength=15).tolist())
        assert made.unit_sizes(4).tolist() == [100] * 4
    assert counts[0] == counts[1]


def test_reading_is_never_taken_for_done_where_rows_are_missing(postgres: Server, name: str, monkeypatch: Any) -> None:
    """A driver that ends the rows early, as at the end of a stream, while its connection is dead."""
    numbered(postgres, name, 3)
    source = open_source(postgres.url(name))
    rows = source.batches(["i"])

    from counterfoil.curator.sources.postgres_session import PostgresSession

    asked = PostgresSession.rows

    def dead(session: PostgresSession, statement: str) -> Any:
        if statement == "SELECT 1":  # after the rows
            end_reading(postgres, name)
        return asked(session, statement)

    monkeypatch.setattr(PostgresSession, "rows", dead)
    assert "cut" in refused(list, rows)
