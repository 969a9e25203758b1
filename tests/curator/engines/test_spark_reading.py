"""Executors that read local Parquet themselves: the same answers, and Spark where anything could be read otherwise."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from counterfoil.curator.engines import spark as spark_engine
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.engines.spark import SparkEngine
from counterfoil.curator.engines.spark_reading import Reading, dealt, rows_of
from counterfoil.curator.engines.spark_storing import store
from counterfoil.curator.engines.spark_trouble import Trouble, Troubled
from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.file_source import stamp
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.spark_files import SparkFile, files_of
from counterfoil.curator.sources.spark_source import SparkSource
from counterfoil.schema import Categorical, Date, Datetime, Integer, Real, Schema, UnplacedValue
from counterfoil.schema.spark_types import is_read_alike
from curator.engines.test_spark_engine import counted, digest, losing_what_is_moved, once
from spark_sessions import Spark

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
SECRET = "zebra-4711"
SCHEMA = Schema(
    (
        Integer("age", 0, 99, bins=10, missing=True),
        Integer("small", 0, 255, bins=16),
        Categorical("kind.of", ("a", "b", "é ü"), other=True, missing=True),
        Categorical("listed", ("x", "y", "z"), missing=True),
        Categorical("yes", ("true", "false")),
        Categorical("code", ("01", "1", "a/b %é"), missing=True),
        Real("income", -5.0, 1000.0, bins=7, missing=True),
        Real("price", 0, 10, bins=5),
        Date("day", date(1500, 1, 1), date(2023, 12, 31), "1y"),
        Datetime("moment", datetime(2020, 1, 1), datetime(2023, 12, 31), "1mo", zone="Asia/Tokyo"),
        Datetime("clock", datetime(2020, 1, 1), datetime(2023, 12, 31), "1mo"),
    ),
    ignore=("note", "unit"),
)
NAMES = SCHEMA.domain.attributes
ORDERED = tuple(column.name for column in SCHEMA.synthesized if column.is_ordered)
EVERYTHING = partial(digest, names=NAMES, numbers=ORDERED, placements=NAMES)


SHARES_SPARK = True
"""See `conftest.py`."""


@pytest.fixture(scope="module")
def spark(local_spark: Spark) -> Spark:
    return local_spark


@pytest.fixture
def only_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark must pass on no row."""

    def selected(*_: object) -> None:
        raise AssertionError("Spark was to read the frame")

    monkeypatch.setattr(SparkSource, "selected", selected)


def table(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    gone = rng.random(rows) < 0.1
    days = np.datetime64("2019-12-30", "D") + rng.integers(0, 1400, rows)
    moments = days.astype("datetime64[ms]") + rng.integers(0, 86_400_000, rows)
    texts = pa.array(rng.choice(["a", "b", "é ü", "c", SECRET, ""], rows), mask=gone)
    return pa.table(
        {
            "age": pa.array(rng.integers(-3, 120, rows), mask=gone),
            "small": pa.array(rng.integers(0, 256, rows), pa.uint8()),
            "kind.of": texts,
            "listed": pa.array(rng.choice(["x", "y"], rows), mask=rng.random(rows) < 0.1).dictionary_encode(),
            "yes": pa.array(rng.random(rows) < 0.3),
            "code": pa.array(rng.choice(["01", "1", "a/b %é"], rows), mask=gone),
            "income": pa.array(np.where(rng.random(rows) < 0.1, np.nan, rng.normal(300, 400, rows)), mask=gone),
            "price": pa.array([Decimal(int(p)) / 100 for p in rng.integers(0, 1000, rows)], pa.decimal128(8, 2)),
            "day": pa.array(np.where(rng.random(rows) < 0.1, np.datetime64("1581-02-03"), days)),
            "moment": pa.array(moments, pa.timestamp("ms", "America/New_York")),
            "clock": pa.array(moments.astype("datetime64[us]")),
            "note": pa.array([[SECRET]] * rows, pa.list_(pa.string())),
            "unit": pa.array([None if i % 11 == 0 else int(i) for i in rng.integers(0, rows // 3 + 1, rows)]),
        }
    )


def written(rows: pa.Table, folder: Path, seed: int, **ways: Any) -> Path:
    """The rows in files of several sizes, some empty, in uneven groups of rows."""
    rng = np.random.default_rng(seed)
    folder.mkdir()
    ends = np.sort(rng.integers(0, len(rows) + 1, 3)).tolist()
    for number, (start, end) in enumerate(zip([0, *ends], [*ends, len(rows)], strict=True)):
        path = folder / f"part {number} +%41é.parquet"
        with parquet.ParquetWriter(path, rows.schema, **ways) as writer:
            while start < end:
                size = int(rng.integers(1, end - start + 1))
                writer.write_table(rows.slice(start, size), row_group_size=size)
                start += size
    (folder / "_SUCCESS").touch()
    return folder


def source_of(spark: Spark, path: Path, **settings: str) -> SparkSource:
    """As a frame of a session with these settings."""
    session = spark.session.newSession()
    for name, value in settings.items():
        session.conf.set(name.replace("_", "."), value)
    return SparkSource(session.read.parquet(str(path)))


def files(source: SparkSource) -> tuple[SparkFile, ...] | None:
    return source.files([name for name in source.column_names if name != "note"])


def whole(engine: Any) -> np.ndarray:
    return engine.fold(EVERYTHING, NAMES, ORDERED, NAMES)


# The same answers


@pytest.mark.parametrize(
    ("rows", "seed", "ways"),
    [
        (1, 1, {}),
        (700, 2, {}),
        (2000, 3, {"use_dictionary": False, "compression": "zstd", "data_page_version": "2.0"}),
        (2000, 4, {"dictionary_pagesize_limit": 16, "data_page_size": 64, "store_schema": False}),
    ],
)
def test_answers_are_those_of_memory(spark: Spark, tmp_path: Path, only_here, rows: int, seed: int, ways: dict) -> None:
    given = table(rows, seed)
    path = written(given, tmp_path / "a b%20é", seed, **ways)
    memory = MemoryEngine(open_source(given), SCHEMA)
    for source in [open_source(f"spark+parquet://{path}"), SparkSource(spark.session.read.parquet(str(path)))]:
        engine = SparkEngine(source, SCHEMA)
        engine.prepare(NAMES[:2])
        np.testing.assert_array_equal(whole(engine), whole(memory))
        assert engine.rows("age") == rows
        assert [len(stored.keys) for stored in engine._stored] == [2, len(NAMES) + len(ORDERED) + len(NAMES)]


@pytest.mark.parametrize("seed", [5, 6])
def test_answers_are_those_of_what_spark_reads(
    spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    path = written(table(900, seed), tmp_path / "people", seed)
    source = source_of(spark, path, spark_sql_session_timeZone="Asia/Kolkata")
    assert files(source) is not None
    here = whole(SparkEngine(source, SCHEMA))
    monkeypatch.setattr(SparkSource, "files", lambda self, columns: None)
    np.testing.assert_array_equal(here, whole(SparkEngine(source, SCHEMA)))


def test_what_spark_itself_writes_is_read_here(spark: Spark, tmp_path: Path, only_here) -> None:
    given = table(600, 7)
    parquet.write_table(given, tmp_path / "given.parquet")
    frame = spark.session.read.parquet(str(tmp_path / "given.parquet")).repartition(3)
    frame.write.option("parquet.block.size", 4096).parquet(str(tmp_path / "people"))
    engine = SparkEngine(open_source(f"spark+parquet://{tmp_path}/people"), SCHEMA)
    np.testing.assert_array_equal(whole(engine), whole(MemoryEngine(open_source(given), SCHEMA)))


@pytest.mark.parametrize("store_schema", [True, False])
def test_moments_in_96_bits_are_those_that_spark_reads(
    spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_schema: bool
) -> None:
    """Also in centuries that 64 bits of nanoseconds do not reach."""
    rng = np.random.default_rng(13)
    moments = np.datetime64("1600-01-01T00:00:00.000001", "us") + rng.integers(0, 1600 * 365 * 86_400_000_000, 500)
    rows = pa.table({"at": pa.array(moments, pa.timestamp("us", "Asia/Tokyo"), mask=rng.random(500) < 0.1)})
    ways = {"use_deprecated_int96_timestamps": True, "store_schema": store_schema}
    parquet.write_table(rows, tmp_path / "rows.parquet", row_group_size=90, **ways)
    schema = Schema((Datetime("at", datetime(1500, 1, 1), datetime(3500, 1, 1), "1d", missing=True, zone="UTC"),))
    source, answers = source_of(spark, tmp_path, spark_sql_session_timeZone="America/New_York"), []

    for hidden in ("selected", "files"):
        with monkeypatch.context() as one_way:
            one_way.setattr(SparkSource, hidden, lambda self, columns: None)
            # Sums of powers, modulo a prime, are equal only for equal moments, but for accidents.
            answers.append(SparkEngine(source, schema).fold(powers, (), ["at"]))
    memory = MemoryEngine(open_source(rows), schema).fold(powers, (), ["at"])
    np.testing.assert_array_equal(answers, [memory, memory])


def powers(block: Any) -> np.ndarray:
    seconds = block.numbers["at"]
    seconds = seconds[np.isfinite(seconds)].astype(np.int64)
    return np.array([len(seconds), *((seconds**k % 1_099_511_627_689).sum() for k in range(1, 6))])


def test_names_of_folders_and_files_with_other_columns(spark: Spark, tmp_path: Path, only_here) -> None:
    given = table(600, 8).drop_columns("code")
    values = {"code=01": "01", "code=a%2Fb %25é": "a/b %é", "code=__HIVE_DEFAULT_PARTITION__": None}
    parts = []
    for number, (folder, value) in enumerate(values.items()):
        rows = given.slice(200 * number, 200)
        (tmp_path / "people" / folder).mkdir(parents=True)
        parquet.write_table(
            rows.drop_columns("age") if number == 1 else rows.drop_columns("kind.of") if number == 2 else rows,
            tmp_path / "people" / folder / "part.parquet",
            row_group_size=37,
        )
        if number == 1:
            rows = rows.set_column(0, "age", pa.nulls(200, pa.int64()))
        if number == 2:
            rows = rows.set_column(2, "kind.of", pa.nulls(200, pa.string()))
        parts.append(rows.append_column("code", pa.array([value] * 200, pa.string())))
    engine = SparkEngine(open_source(f"spark+parquet://{tmp_path}/people"), SCHEMA)
    memory = MemoryEngine(open_source(pa.concat_tables(parts)), SCHEMA)
    assert engine.rows("code") == 600, "of nothing but the names of folders"
    np.testing.assert_array_equal(whole(engine), whole(memory))


def test_a_table_without_rows(spark: Spark, tmp_path: Path) -> None:
    path = written(table(0, 9), tmp_path / "people", 9)
    engine = SparkEngine(open_source(f"spark+parquet://{path}"), SCHEMA)
    assert engine.rows("age") == 0
    np.testing.assert_array_equal(whole(engine), whole(MemoryEngine(open_source(table(0, 9)), SCHEMA)))


def test_texts_that_are_no_texts_are_refused_as_where_spark_reads(
    spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"\xff" + SECRET.encode()]).buffers())
    parquet.write_table(pa.table({"v": cells}), tmp_path / "v.parquet")
    source, said = source_of(spark, tmp_path / "v.parquet"), []
    for _ in range(2):
        with pytest.raises(SourceError) as caught:
            SparkEngine(source, Schema((Categorical("v", ("a",), other=True),))).prepare(["v"])
        said.append(str(caught.value))
        monkeypatch.setattr(SparkSource, "files", lambda self, columns: None)
    assert said[0] == said[1]
    assert SECRET not in said[0] + spark.logged()


def test_a_cell_without_a_place_is_refused_and_never_shown(spark: Spark, tmp_path: Path, only_here) -> None:
    parquet.write_table(pa.table({"v": ["1", SECRET]}), tmp_path / "v.parquet")
    with pytest.raises(UnplacedValue) as caught:
        SparkEngine(source_of(spark, tmp_path / "v.parquet"), Schema((Integer("v", 0, 9),))).prepare(["v"])
    assert SECRET not in str(caught.value) + spark.logged()


# A row counts once


def test_a_partition_that_is_computed_twice_counts_once(
    spark: Spark, tmp_path: Path, only_here, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first task to store its rows dies after it."""
    mark = str(tmp_path / "died")

    def dying(batches: Iterator[pa.RecordBatch], storing) -> Iterator[pa.RecordBatch]:
        yield from store(batches, storing)
        once(mark)

    monkeypatch.setattr(spark_engine, "store", dying)
    parquet.write_table(pa.table({"row": np.arange(300)}), tmp_path / "rows.parquet", row_group_size=29)
    engine = SparkEngine(source_of(spark, tmp_path / "rows.parquet"), Schema((Integer("row", 0, 299, bins=10),)))
    np.testing.assert_array_equal(engine.fold(partial(counted, rows=300), (), ["row"]), np.ones(300))
    assert os.path.exists(mark)
    stored = list(Path(engine._scratch.folder).glob("*.arrow"))
    assert len(stored) > len(engine._stored[0].files), "what the one that died wrote is not read"


def test_units_keep_as_many_rows_as_in_memory(spark: Spark, tmp_path: Path, only_here) -> None:
    rows = table(400, 10).append_column("row", pa.array(np.arange(400)))
    path = written(rows, tmp_path / "people", 10)
    schema = Schema((*SCHEMA.columns, Integer("row", 0, 399, bins=10)), ignore=("note",))
    engine = SparkEngine(open_source(f"spark+parquet://{path}"), schema, privacy_unit="unit", max_rows=2)
    kept = np.flatnonzero(engine.fold(partial(counted, rows=400), (), ["row"]))
    units = rows.column("unit").to_pylist()
    expected = {unit: min(2, n) for unit, n in Counter(units).items()} | {None: units.count(None)}
    assert Counter(units[row] for row in kept) == expected
    only = MemoryEngine(open_source(rows.take(kept)), Schema(schema.columns, ignore=("note", "unit")))
    np.testing.assert_array_equal(whole(engine), whole(only))
    memory = MemoryEngine(open_source(rows), schema, privacy_unit="unit", max_rows=2)
    np.testing.assert_array_equal(engine.unit_sizes(2), memory.unit_sizes(2))


def test_units_that_are_texts_are_told_apart(spark: Spark, tmp_path: Path, only_here) -> None:
    units = ["1", "01", "1.0", "1", "", None, "", "A", "a", "1"]
    rows = pa.table({"unit": units, "row": np.arange(10)})
    path = written(rows, tmp_path / "people", 11)
    chosen = {"privacy_unit": "unit", "max_rows": 1}
    schema = Schema((Integer("row", 0, 9),))
    here, there = (
        SparkEngine(source_of(spark, path), schema, **chosen),
        MemoryEngine(open_source(rows), schema, **chosen),
    )
    np.testing.assert_array_equal(here.unit_sizes(1), there.unit_sizes(1))


def test_rows_of_units_count_once_when_what_was_moved_is_lost(
    spark: Spark, tmp_path: Path, only_here, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pa.table({"row": np.arange(2000), "unit": [i // 8 if i % 2 else None for i in range(2000)]})
    path = written(rows, tmp_path / "people", 12)
    with losing_what_is_moved(spark, monkeypatch, tmp_path / "lost"):
        schema = Schema((Integer("row", 0, 1999, bins=10),))
        source = SparkSource(spark.session.read.parquet(str(path)))
        engine = SparkEngine(source, schema, privacy_unit="unit", max_rows=3)
        kept = engine.fold(partial(counted, rows=2000), (), ["row"])
    assert (tmp_path / "lost").exists()
    np.testing.assert_array_equal(kept[::2], np.ones(1000))
    assert kept.max() == 1
    np.testing.assert_array_equal(kept[1::2].reshape(-1, 4).sum(axis=1), np.full(250, 3))


def test_a_file_that_changes_while_it_is_read_is_refused(
    spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "v.parquet"
    parquet.write_table(pa.table({"v": [1, 2]}), path)
    original = SparkSource.files

    def changing(self: SparkSource, columns: list[str]):
        found = original(self, columns)
        parquet.write_table(pa.table({"v": [1, 2, 3]}), path)
        return found

    monkeypatch.setattr(SparkSource, "files", changing)
    with pytest.raises(SourceError, match="has changed since it was first read"):
        SparkEngine(source_of(spark, path), Schema((Integer("v", 0, 9),))).prepare(["v"])


def test_another_number_of_rows_later_is_refused(spark: Spark, tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    parquet.write_table(pa.table({"v": [1, 2]}), path)
    engine = SparkEngine(source_of(spark, path), Schema((Integer("v", 0, 9),)))
    assert engine.rows("v") == 2
    parquet.write_table(pa.table({"v": [1, 2, 3]}), path)
    with pytest.raises(SourceError, match=r"has changed since it was first read|could not be read to the end"):
        engine.fold(lambda block: np.array([block.rows]), ["v"], ["v"])


def test_what_is_not_read_to_the_end_here_is_left_to_spark(
    spark: Spark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page whose sum is wrong: Spark does not look at it."""
    path = tmp_path / "v.parquet"
    ways = {"use_dictionary": False, "compression": "none", "write_page_checksum": True}
    parquet.write_table(pa.table({"v": pa.array([3] * 500)}), path, row_group_size=100, **ways)
    octets = bytearray(path.read_bytes())
    octets[octets.rindex((3).to_bytes(8, "little"), 0, len(octets) // 2)] = 4
    path.write_bytes(octets)
    readings: list[object] = []
    original = SparkEngine._made
    monkeypatch.setattr(
        SparkEngine, "_made", lambda self, storing: readings.append(storing.reading) or original(self, storing)
    )
    engine = SparkEngine(source_of(spark, path), Schema((Integer("v", 0, 9),)))
    assert engine.fold(lambda block: np.bincount(block.codes["v"], minlength=10), ["v"]).tolist()[3:5] == [499, 1]
    assert readings[0] is not None
    assert readings[1:] == [None]


def test_a_damaged_file_of_sparks_own_is_refused(spark: Spark, tmp_path: Path) -> None:
    """By the sums of its pages here, and by those beside it in Spark."""
    frame = spark.session.range(0, 4000, 1, 1).selectExpr("id % 7 * 1234567 + id as v")
    frame.write.option("compression", "none").option("parquet.enable.dictionary", False).parquet(str(tmp_path / "rows"))
    source, schema = source_of(spark, tmp_path / "rows"), Schema((Integer("v", 0, 10**7, bins=10),))
    assert source.files(["v"]) is not None
    SparkEngine(source, schema).prepare(["v"])
    (path,) = (tmp_path / "rows").glob("*.parquet")
    octets, before = bytearray(path.read_bytes()), path.stat()
    octets[2000] ^= 1
    path.write_bytes(octets)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert source.files(["v"]) is not None, "neither its size nor its time says so"
    with pytest.raises(SourceError, match="could not be read to the end"):
        SparkEngine(source, schema).prepare(["v"])


# What Spark reads


MOMENTS = pa.array([datetime(2020, 1, 1), None, datetime(2021, 5, 6)])


@pytest.mark.parametrize(
    ("stored", "ways", "read_here"),
    [
        (pa.array([1, None], pa.int8()), {}, True),
        (pa.array([1, None], pa.uint32()), {}, True),
        (pa.array(["1", None], pa.large_string()), {}, True),
        (MOMENTS, {}, True),
        (MOMENTS, {"use_deprecated_int96_timestamps": True}, True),
        (MOMENTS.cast(pa.timestamp("ns")), {"use_deprecated_int96_timestamps": True, "store_schema": False}, True),
        (pa.array([1, None], pa.uint64()), {}, False),
        (pa.array([[1], None]), {}, False),
        (pa.array([1, None], pa.duration("s")), {}, False),
    ],
)
def test_types_of_which_spark_has_its_own_reading_are_left_to_it(
    spark: Spark, tmp_path: Path, stored: pa.Array, ways: dict, read_here: bool
) -> None:
    parquet.write_table(pa.table({"v": stored}), tmp_path / "v.parquet", **ways)
    source = source_of(spark, tmp_path / "v.parquet")
    assert (source.files(["v"]) is not None) is read_here


@pytest.mark.parametrize(
    "tables",
    [
        [{"v": pa.array([1], pa.int32())}, {"v": pa.array([2], pa.int64())}],
        [{"v": pa.array([1])}, {"V": pa.array([2])}],
        [{"v": pa.array([1])}, {"v": pa.array([1]), "V": pa.array([2])}],
        [{"v.a": pa.array([1]), "v": pa.array([1]), "code": pa.array([1])}],
    ],
)
def test_files_that_spark_reconciles_are_left_to_it(spark: Spark, tmp_path: Path, tables: list[dict]) -> None:
    for number, columns in enumerate(tables):
        parquet.write_table(pa.table(columns), tmp_path / f"{number}.parquet")
    try:
        source = open_source(f"spark+parquet://{tmp_path}")
    except SourceError:  # numbers of two widths are not merged, but may be read
        source = SparkSource(spark.session.read.schema("v bigint").parquet(str(tmp_path)))
    assert source.files(source.column_names) is None
    expected = sum(len(columns.get("v", ())) for columns in tables)
    schema = Schema((Integer("v", 0, 9, missing=True),), ignore=tuple(n for n in source.column_names if n != "v"))
    found = SparkEngine(source, schema).fold(lambda block: np.array([np.isfinite(block.numbers["v"]).sum()]), (), ["v"])
    assert found == [expected]


def test_a_frame_that_does_more_than_read_is_left_to_spark(spark: Spark, tmp_path: Path) -> None:
    (tmp_path / "code=01").mkdir()
    parquet.write_table(pa.table({"v": [1, 2], "d": [date(2020, 1, 1)] * 2}), tmp_path / "code=01" / "v.parquet")
    session, path = spark.session.newSession(), str(tmp_path)
    read = session.read.parquet(path)
    types = {"v": pa.int64(), "d": pa.date32()}
    assert [file.path.name for file in files_of(read, types) or ()] == ["v.parquet"]
    assert files_of(read, {"code": pa.int32()}) is None, "Spark makes a number of the folder's name"
    others = [
        read.where("v > 1"),
        read.union(read),
        read.selectExpr("v + 1 as v", "d"),
        session.read.option("ignoreCorruptFiles", True).parquet(path),
        session.read.option("datetimeRebaseMode", "LEGACY").parquet(path),
        session.read.option("x", "y").parquet(path),
        session.read.option("mergeSchema", True).csv(path),
        session.createDataFrame([(1,)], "v long"),
    ]
    assert [files_of(frame, types) for frame in others] == [None] * len(others)
    assert files_of(session.read.option("mergeSchema", True).parquet(path), types) is not None
    for name, value in [
        ("spark.sql.parquet.datetimeRebaseModeInRead", "LEGACY"),
        ("spark.sql.parquet.fieldId.read.enabled", "true"),
        ("spark.sql.files.ignoreCorruptFiles", "true"),
        ("spark.sql.parquet.inferTimestampNTZ.enabled", "false"),
    ]:
        session.conf.set(name, value)
        assert (files_of(session.read.parquet(path), types) is None) is ("NTZ" not in name)
        session.conf.unset(name)
    assert files_of(read.cache(), types) is None
    read.unpersist()
    assert files_of(read, types) is not None
    os.utime(tmp_path / "code=01" / "v.parquet", (1, 1))
    assert files_of(read, types) is None, "it has changed since Spark listed it"


class Elsewhere:
    """A frame whose session has another master."""

    def __init__(self, frame: Any, master: str) -> None:
        self._frame, self.master = frame, master
        self.sparkContext = self

    @property
    def sparkSession(self) -> Elsewhere:
        return self

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._frame, name, None)
        return getattr(self._frame.sparkSession, name) if found is None else found


@pytest.mark.parametrize(
    ("master", "here"),
    [
        ("local", True),
        ("local[*]", True),
        ("local[2,4]", True),
        ("local-cluster[2,1,1024]", False),
        ("spark://127.0.0.1:7077", False),
        ("k8s://local", False),
        ("yarn", False),
    ],
)
def test_executors_elsewhere_are_passed_rows(spark: Spark, tmp_path: Path, master: str, here: bool) -> None:
    parquet.write_table(pa.table({"v": [1, 2]}), tmp_path / "v.parquet")
    frame = Elsewhere(spark.session.read.parquet(str(tmp_path)), master)
    assert (files_of(frame, {"v": pa.int64()}) is not None) is here


@pytest.mark.parametrize(
    ("said", "mode", "here"),
    [
        ({}, "CORRECTED", True),
        ({}, "EXCEPTION", False),
        ({"org.apache.spark.version": "3.5.1"}, "EXCEPTION", True),
        ({"org.apache.spark.version": "2.4.8"}, "CORRECTED", False),
        ({"org.apache.spark.version": "3.5.1", "org.apache.spark.legacyDateTime": ""}, "CORRECTED", False),
    ],
)
def test_days_of_the_old_calendar_are_left_to_spark(
    spark: Spark, tmp_path: Path, said: dict[str, str], mode: str, here: bool
) -> None:
    rows = pa.table({"d": [date(1500, 1, 1)], "v": [1]}).replace_schema_metadata(said)
    parquet.write_table(rows, tmp_path / "v.parquet")
    session = spark.session.newSession()
    session.conf.set("spark.sql.parquet.datetimeRebaseModeInRead", mode)
    frame = session.read.parquet(str(tmp_path))
    assert (files_of(frame, {"d": pa.date32()}) is not None) is here
    assert files_of(frame, {"v": pa.int64()}) is not None


@pytest.mark.parametrize(
    ("stored", "wanted", "alike"),
    [
        (pa.int64(), pa.int64(), True),
        (pa.int32(), pa.int64(), False),
        (pa.uint16(), pa.int32(), True),
        (pa.uint16(), pa.int16(), False),
        (pa.binary(), pa.string(), False),
        (pa.string(), pa.binary(), False),
        (pa.binary(), pa.binary(), True),
        (pa.dictionary(pa.int8(), pa.large_string(), ordered=True), pa.string(), True),
        (pa.dictionary(pa.int8(), pa.binary()), pa.string(), False),
        (pa.timestamp("ms", "Asia/Tokyo"), pa.timestamp("us", "UTC"), True),
        (pa.timestamp("ms"), pa.timestamp("us", "UTC"), False),
        (pa.timestamp("ns"), pa.timestamp("us"), False),
        (pa.timestamp("ns", "UTC"), pa.timestamp("us", "UTC"), False),
        (pa.timestamp("us"), pa.int64(), False),
        (pa.decimal128(8, 2), pa.decimal128(8, 2), True),
        (pa.decimal128(8, 2), pa.decimal128(9, 2), False),
        (pa.time64("us"), pa.time64("us"), False),
        (pa.struct([]), pa.struct([]), False),
        (pa.list_(pa.int64()), pa.list_(pa.int64()), False),
        (pa.null(), pa.null(), False),
    ],
)
def test_which_types_are_read_alike(stored: pa.DataType, wanted: pa.DataType, alike: bool) -> None:
    assert is_read_alike(stored, wanted) is alike


# How groups of rows are dealt out


@given(st.lists(st.lists(st.integers(0, 50), max_size=6), max_size=5), st.integers(1, 9))
def test_each_group_of_rows_is_in_one_task(sizes: list[list[int]], count: int) -> None:
    files = [SparkFile(Path(f"/{place}"), (0, 0), tuple(groups), {}) for place, groups in enumerate(sizes)]
    tasks = dealt(files, count)
    found = [(part.file, group) for task in tasks for part in task for group in part.groups]
    assert found == [(file, group) for file in files for group, rows in enumerate(file.groups) if rows]
    assert len(tasks) <= count
    total, largest = sum(map(sum, sizes)), max((rows for groups in sizes for rows in groups), default=0)
    for task in tasks:
        rows = sum(part.file.groups[group] for part in task for group in part.groups)
        assert 0 < rows <= total / count + largest


def test_fewer_rows_than_were_listed_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "v.parquet"
    parquet.write_table(pa.table({"v": [1, 2, 3], "w": [1, 2, 3]}), path, row_group_size=2)
    file = SparkFile(path, stamp(path), (2, 1), {})
    task = [pa.record_batch({"id": [0]})]

    def rows(file: SparkFile) -> list[dict]:
        reading = Reading(dealt([file], 1), {"v": pa.int64()})
        return pa.Table.from_batches(rows_of(task, reading)).to_pylist()

    assert rows(file) == [{"v": 1}, {"v": 2}, {"v": 3}]
    for other, trouble in [
        (replace(file, groups=(2, 2)), Trouble.LEFT_TO_SPARK),
        (replace(file, groups=(2, 1, 1)), Trouble.LEFT_TO_SPARK),
        (replace(file, stamp=(1, 1)), Trouble.CHANGED),
        (replace(file, path=tmp_path / "gone"), Trouble.CHANGED),
    ]:
        with pytest.raises(Troubled) as caught:
            rows(other)
        assert caught.value.trouble is trouble
