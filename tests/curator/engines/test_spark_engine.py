"""Sums by Spark's executors are those of the memory engine on the same rows, and nothing but sums comes back."""

from __future__ import annotations

import gc
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from glob import glob
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import stats

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.curator.engines import spark as spark_engine
from counterfoil.curator.engines import spark_storing
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.engines.registry import engine_for
from counterfoil.curator.engines.spark import SparkEngine
from counterfoil.curator.engines.spark_batches import LIMIT, collected
from counterfoil.curator.engines.spark_storing import Storing, Trouble, encode, store_kept
from counterfoil.curator.engines.spark_sums import SLICE, add_slices, in_slices
from counterfoil.curator.queries.column_places import ColumnPlaces
from counterfoil.curator.queries.column_ranges import ColumnRanges
from counterfoil.curator.queries.nearest import NearestNeighborHistogram
from counterfoil.curator.queries.unit_sizes import UnitSizes
from counterfoil.curator.queries.votes import TeacherVotes
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.source import SourceError
from counterfoil.curator.sources.spark_source import SparkSource, _closed_to_others, is_open_on_disk
from counterfoil.geometry.euclidean import Box
from counterfoil.kept_files import kept_source, require_apart
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.schema import Categorical, Date, Datetime, Integer, Real, Schema, UnplacedValue
from counterfoil.schema.raw_cell import RawCells
from counterfoil.scratch.shared_scratch import SETTING, Scratch, is_shared, reading, written
from curator.test_conformance import REGISTRY, TINY, TextCounts
from sensitive_tables import frame_of, schema_of
from spark_sessions import QUICK_TO_START, Spark, require_spark

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
FALSE_ALARM = 1e-6
SECRET = "zebra-4711"
SCHEMA = Schema(
    (
        Integer("age", 0, 99, bins=10, missing=True),
        Categorical("kind.of", ("a", "b", "é ü"), other=True),
        Categorical("KIND.OF", ("x", "y")),
        Real("income", -5.0, 1000.0, bins=7, missing=True),
        Real("price", 0, 10, bins=5),
        Date("day", date(2020, 1, 1), date(2023, 12, 31), "1y"),
        Datetime("moment", datetime(2020, 1, 1), datetime(2023, 12, 31), "1mo", zone="Asia/Tokyo"),
    ),
    ignore=("note",),
)
NAMES = SCHEMA.domain.attributes
ORDERED = tuple(column.name for column in SCHEMA.synthesized if column.is_ordered)


SHARES_SPARK = True
"""See `conftest.py`."""


@pytest.fixture(scope="module")
def spark(local_spark: Spark) -> Spark:
    return local_spark


def table(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    gone = rng.random(rows) < 0.1
    moments = [datetime(2019, 12, 31, 12).replace(year=2020 + int(y)) for y in rng.integers(0, 4, rows)]
    return pa.table(
        {
            "age": pa.array(rng.integers(-3, 120, rows), mask=gone),
            "kind.of": pa.array(rng.choice(["a", "b", "é ü", "c", SECRET], rows)),
            "KIND.OF": pa.array(rng.choice(["x", "y"], rows)),
            "income": pa.array(np.where(rng.random(rows) < 0.1, np.nan, rng.normal(300, 400, rows)), mask=gone),
            "price": pa.array([Decimal(int(p)) / 100 for p in rng.integers(0, 1000, rows)], pa.decimal128(8, 2)),
            "day": pa.array([date(2020 + int(y), 2, 29 if y == 0 else 28) for y in rng.integers(0, 4, rows)]),
            "moment": pa.array(moments, pa.timestamp("us", "UTC")),
            "note": pa.array([[SECRET]] * rows, pa.list_(pa.string())),
            "unit": pa.array([None if i % 11 == 0 else int(i) for i in rng.integers(0, rows // 3 + 1, rows)]),
        }
    )


def facts(name: str) -> Schema:
    return Schema(SCHEMA.columns, ignore=("note", *([] if name == "unit" else ["unit"])))


def digest(block, names=NAMES, numbers=ORDERED, placements=NAMES) -> np.ndarray:
    """Whole numbers that tell blocks apart: of each column the sum, and of neighboring columns that of their products.

    Of these numbers modulo primes: a sum that is too large stays at the largest number, and then its order matters.
    """
    columns = [block.codes[name].astype(np.int64) for name in names]
    columns += [np.nan_to_num(block.numbers[name], nan=-7.0).round(3).astype(np.int64) for name in numbers]
    columns += [block.placements[name].astype(np.int64) for name in placements]
    pairs = pairwise(column % 65_521 for column in columns)
    sums = ((column % 1_099_511_627_689).sum() for column in columns)
    return np.array([block.rows, *sums, *((a * b).sum() for a, b in pairs)], dtype=np.int64)


def both(spark: Spark, rows: pa.Table, schema: Schema, **unit: object) -> tuple[SparkEngine, MemoryEngine]:
    source = open_source(spark.frame(rows))
    assert engine_for(source) is SparkEngine
    return SparkEngine(source, schema, **unit), MemoryEngine(open_source(rows), schema, **unit)


def kept_numbers(engine: SparkEngine, rows: int) -> np.ndarray:
    """Which rows the engine kept, of a table whose column "row" numbers them."""
    return np.flatnonzero(engine.fold(partial(counted, rows=rows), (), ["row"]))


def counted(block, rows: int) -> np.ndarray:
    return np.bincount(block.numbers["row"].astype(np.int64), minlength=rows).astype(np.int64)


# Equal to the memory engine


@pytest.mark.parametrize(("rows", "seed"), [(0, 0), (1, 1), (500, 2)])
def test_sums_are_those_of_the_memory_engine(spark: Spark, rows: int, seed: int) -> None:
    here, there = both(spark, table(rows, seed), facts(""))
    ours, theirs = (ExactRecords(engine, SCHEMA.domain) for engine in (here, there))
    cliques = [(), *((name,) for name in NAMES), *combinations(NAMES[:4], 2), NAMES[:3]]
    for one, other in zip(ours.marginals(cliques), theirs.marginals(cliques), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert here.rows("age") == rows
    whole = here.fold(digest, NAMES, ORDERED, NAMES)
    np.testing.assert_array_equal(whole, there.fold(digest, NAMES, ORDERED, NAMES))
    np.testing.assert_array_equal(here.unit_sizes(3), [rows, 0, 0])


@pytest.mark.parametrize("kind", [kind for kind in REGISTRY if kind not in (ColumnPlaces, ColumnRanges, UnitSizes)])
def test_every_query_has_the_same_exact_answer(tiny, kind: type) -> None:
    ours, theirs = tiny["schema"]
    for query, _ in list(REGISTRY[kind].examples())[:3]:
        if kind is TeacherVotes:
            with pytest.raises(SourceError, match="do not come to this process"):
                query.exact(ours)
            continue
        found, expected = query.exact(ours), query.exact(theirs)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


@pytest.mark.parametrize("kind", [ColumnPlaces, ColumnRanges])
def test_queries_about_raw_cells_have_the_same_exact_answer(tiny, kind: type) -> None:
    ours, theirs = tiny["raw"]
    for query, _ in REGISTRY[kind].examples():
        np.testing.assert_array_equal(query.exact(ours), query.exact(theirs))


@pytest.fixture(scope="module")
def tiny(spark: Spark) -> dict[str, tuple[ExactRecords, ExactRecords]]:
    """By kind of schema, the records in Spark and in memory."""
    rows = frame_of(TINY, [(i % 2, (i * i) % 3) for i in range(37)])
    frame = spark.frame(rows, 2)
    schemas = {"schema": schema_of(TINY), "raw": Schema(tuple(map(RawCells, TINY.attributes)))}
    made = {}
    for name, schema in schemas.items():
        engines = SparkEngine(SparkSource(frame), schema), MemoryEngine(open_source(rows), schema)
        made[name] = tuple(ExactRecords(engine, schema.domain) for engine in engines)
    return made


def test_texts_are_refused(tiny) -> None:
    with pytest.raises(SourceError, match="Texts of The Spark table are not counted in Spark"):
        list(tiny["raw"][0].tally(["a"], 10))
    with pytest.raises(SourceError, match="not counted in Spark"):
        list(TextCounts(("a",)).tallied(tiny["raw"][0]))


def test_candidates_travel_whatever_finds_the_nearest(spark: Spark) -> None:
    """In six dimensions products or faiss find them, which have no bytes of their own to ship."""
    rng = np.random.default_rng(3)
    names = [f"x{i}" for i in range(6)]
    schema = Schema(tuple(Real(name, 0, 1, bins=4) for name in names))
    rows = pa.table({name: rng.random(400) for name in names})
    box = Box(tuple(names), (0.0,) * 6, (1.0,) * 6)
    query = NearestNeighborHistogram(box, rng.random((3000, 6)))
    ours, theirs = (ExactRecords(engine, schema.domain) for engine in both(spark, rows, schema))
    found = query.exact(ours)
    np.testing.assert_array_equal(found, query.exact(theirs))
    assert found.sum() == 400


def test_long_sums_are_added_by_the_executors(spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 125,000 cells, in two slices; the same sum as when this process adds them."""
    rng = np.random.default_rng(4)
    schema = Schema(tuple(Integer(name, 0, 49) for name in "abc"))
    rows = pa.table({name: rng.integers(0, 50, 3000) for name in "abc"})
    here, there = both(spark, rows, schema)
    expected = ExactRecords(there, schema.domain).marginals([("a", "b", "c")])[0]
    collected: list[int] = []
    original = SparkEngine._collected
    monkeypatch.setattr(
        SparkEngine, "_collected", lambda self, frame: collected.append((t := original(self, frame)).num_rows) or t
    )
    np.testing.assert_array_equal(ExactRecords(here, schema.domain).marginals([("a", "b", "c")])[0], expected)
    monkeypatch.setattr(spark_engine, "_DIRECT_BYTES", 1000)
    np.testing.assert_array_equal(ExactRecords(here, schema.domain).marginals([("a", "b", "c")])[0], expected)
    assert collected == [3, 4, 2], "files; two slices of two tasks; two slices"


def test_only_sums_reach_the_driver(spark: Spark) -> None:
    """By what Spark itself counts of the results of all tasks: a table of 8 MB, and some KB of sums and of files."""
    rng = np.random.default_rng(5)
    rows = pa.table({name: rng.integers(0, 10, 500_000) for name in "ab"})
    frame = spark.frame(rows)
    schema = Schema((Integer("a", 0, 9), Integer("b", 0, 9)))
    before = result_bytes(spark)
    engine = SparkEngine(open_source(frame), schema)
    records = ExactRecords(engine, schema.domain)
    for cliques in [[("a",)], [("a", "b")], [("b",)]]:
        records.marginals(cliques)
    spent = result_bytes(spark) - before
    assert 0 < spent < 100_000
    engine.fold(lambda block: np.zeros(100_000, dtype=np.int64), ["a"])
    assert result_bytes(spark) - before > spent + 800_000, "the count can see what comes back"


def result_bytes(spark: Spark) -> int:
    context = spark.session.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty()
    gateway = spark.session.sparkContext._gateway
    stages = context.statusStore().stageList(None, False, False, gateway.new_array(gateway.jvm.double, 0), None)
    return sum(stages.apply(i).resultSize() for i in range(stages.size()))


# A row counts once


def test_a_partition_that_is_computed_twice_counts_once(spark: Spark, tmp_path: Path) -> None:
    """The first attempt of each task dies after it has stored its rows, or made its sum."""
    rows = pa.table({"row": np.arange(300)})
    schema = Schema((Integer("row", 0, 299, bins=10),))
    marks = [str(tmp_path / name) for name in ("stored", "summed")]

    def dying(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        once(marks[0])

    frame = spark.frame(rows, 2).mapInArrow(dying, "row long")
    engine = SparkEngine(SparkSource(frame), schema)

    def sums(block) -> np.ndarray:
        if block.rows:
            once(marks[1])
        return counted(block, 300)

    np.testing.assert_array_equal(engine.fold(sums, (), ["row"]), np.ones(300))
    assert all(os.path.exists(mark) for mark in marks)


def once(mark: str) -> None:
    """Ends this process when it is called for the first time."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os._exit(1)


@contextmanager
def losing_what_is_moved(spark: Spark, monkeypatch: pytest.MonkeyPatch, mark: Path) -> Iterator[None]:
    """What the first stage moved is lost when a task of the second one has finished, and is computed again.

    Spark 4.3 refuses to go on if that gives other bytes, unless it is told not to look; older ones do not look.
    """
    places = os.path.join(spark.session.sparkContext.getConf().get("spark.local.dir"), "**", "shuffle_*.data")
    parts, checked = "spark.sql.shuffle.partitions", "spark.sql.shuffle.orderIndependentChecksum"
    chosen = {parts: "8", "spark.sql.adaptive.enabled": "false", f"{checked}.enabled": "false"}
    chosen |= {f"{checked}.enableFullRetryOnMismatch": "false"}
    held = {name: spark.session.conf.get(name, None) for name in chosen}

    def losing(batches: Iterator[pa.RecordBatch], storing) -> Iterator[pa.RecordBatch]:
        yield from store_kept(batches, storing)
        if not os.path.exists(mark):
            for path in glob(places, recursive=True):
                Path(path).unlink(missing_ok=True)  # two tasks may be here at once
            Path(mark).touch()

    monkeypatch.setattr(spark_engine, "store_kept", losing)
    for name, value in chosen.items():
        spark.session.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in held.items():
            if value is None:
                spark.session.conf.unset(name)
            else:
                spark.session.conf.set(name, value)


def test_rows_without_an_id_count_once_when_what_was_moved_is_lost(
    spark: Spark, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = pa.table({"row": np.arange(2000), "unit": [i // 8 if i % 2 else None for i in range(2000)]})
    frame, schema = spark.frame(rows, 2), Schema((Integer("row", 0, 1999, bins=10),))
    with losing_what_is_moved(spark, monkeypatch, tmp_path / "lost"):
        engine = SparkEngine(SparkSource(frame), schema, privacy_unit="unit", max_rows=3)
        kept = engine.fold(partial(counted, rows=2000), (), ["row"])
    assert (tmp_path / "lost").exists()
    np.testing.assert_array_equal(kept[::2], np.ones(1000))
    assert kept.max() == 1
    np.testing.assert_array_equal(kept[1::2].reshape(-1, 4).sum(axis=1), np.full(250, 3))
    np.testing.assert_array_equal(engine.unit_sizes(3), [1250, 250, 250])


def test_other_rows_in_what_is_computed_again_are_refused(
    spark: Spark, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mark = str(tmp_path / "lost")

    def fewer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.slice(batch.num_rows // 2) if os.path.exists(mark) else batch

    rows = pa.table({"row": np.arange(2000), "unit": np.arange(2000)})
    frame = spark.frame(rows, 2).mapInArrow(fewer, "row long, unit long")
    with losing_what_is_moved(spark, monkeypatch, Path(mark)):
        engine = SparkEngine(
            SparkSource(frame), Schema((Integer("row", 0, 1999, bins=10),)), privacy_unit="unit", max_rows=1
        )
        with pytest.raises(SourceError, match="is taken once"):
            engine.rows("row")
    assert os.path.exists(mark)


def test_all_attempts_at_a_partition_report_to_one_task(tmp_path: Path) -> None:
    """Whatever becomes of them: one that fails must not be missed by the task that another one reported to."""
    scratch = Scratch(str(tmp_path))
    schema = Schema((Integer("age", 0, 9),))
    keys, columns = (("codes", "age"), ("rank", "")), ("age", "unit")
    storing = Storing(schema, keys, columns, "unit", bytes(32), scratch.folder, scratch.token)
    good = pa.record_batch({"age": ["1", "2", "3"], "unit": ["u", None, "u"]})
    bad = pa.record_batch({"age": ["1", "x", "3"], "unit": ["u", None, "u"]})
    told = {}
    for name, batch, place in [("first", good, 3), ("again", good, 3), ("failed", bad, 3), ("other", good, 4)]:
        parts = pa.Table.from_batches(encode(iter([batch]), storing, place)).to_pylist()
        assert [part["report"] for part in parts] == [False] * (len(parts) - 1) + [True]
        assert len(parts) == (1 if name == "failed" else 3), "a row without an id is not moved"
        told[name] = parts[-1]["unit"]
    assert told["first"] == told["again"] == told["failed"] != told["other"]


def test_wide_rows_are_moved_in_batches_that_32_bits_can_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where 131,072 rows have 2 GB of cells, as with 1,500 numbers each, offsets would begin anew from below zero."""
    monkeypatch.setattr(spark_storing, "_PACKED", 20, raising=False)
    scratch = Scratch(str(tmp_path))
    keys, columns = (("codes", "age"), ("numbers", "age"), ("rank", "")), ("age", "unit")
    schema = Schema((Integer("age", 0, 9),))
    storing = Storing(schema, keys, columns, "unit", bytes(32), scratch.folder, scratch.token)
    rows = pa.record_batch({"age": list("0123456789"), "unit": list("aabbccddee")})
    *moved, report = encode(iter([rows]), storing, 0)
    assert [batch.num_rows for batch in moved] == [2] * 5
    assert report.column("report").to_pylist() == [True]
    codes, numbers = spark_storing._unpacked(pa.Table.from_batches(moved).column("cells"), storing)
    assert codes.tolist() == numbers.tolist() == list(range(10))
    units = pa.Table.from_batches(moved).column("unit").to_pylist()
    assert units[::2] == units[1::2]
    assert len(set(units)) == 5


def test_a_slice_that_is_missing_is_noticed() -> None:
    """A task that fails when it is repeated says so to one of those that add slices; it may have finished."""
    one, other = (list(in_slices(np.arange(SLICE + 3))) for _ in range(2))
    assert [part.column(0)[0].as_py() for part in add_slices(iter([*one, *other]), 2)] == [0, 1]
    short = list(add_slices(iter([one[1]]), 2))
    assert [part.column(3)[0].as_py() for part in short] == [Trouble.FAILED]


def test_another_number_of_rows_later_is_refused(spark: Spark, tmp_path: Path) -> None:
    size = tmp_path / "size"
    size.write_text("5")

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.record_batch({"v": np.arange(int(size.read_text()))})

    frame = spark.session.range(0, 1, 1, 1).mapInArrow(rows, "v long")
    engine = SparkEngine(SparkSource(frame), Schema((Integer("v", 0, 9),)))
    assert engine.rows("v") == 5
    size.write_text("6")
    assert engine.rows("v") == 5, "sums are of what was stored"
    with pytest.raises(SourceError, match="has changed since it was first read"):
        engine.fold(lambda block: np.array([block.rows]), ["v"], ["v"])


BETWEEN = """
[columns.start]
kind = "datetime"
lower = 2020-01-01T00:00:00
upper = 2020-12-31T23:59:59
resolution = "1mo"
zone = "Asia/Tokyo"
missing = true
[columns.took]
kind = "integer"
between = ["start", "end"]
lower = 0
upper = 9000
bins = 9
missing = true
[[derived]]
name = "end"
kind = "datetime"
zone = "Asia/Tokyo"
expression = "start + took"
"""


@pytest.mark.parametrize("unit", [{}, {"privacy_unit": "unit", "max_rows": 9}])
@pytest.mark.parametrize("stored", [True, False])
def test_times_between_two_columns_are_those_of_the_memory_engine(
    spark: Spark, tmp_path: Path, unit: dict, stored: bool
) -> None:
    """Of frames and of Parquet files, which executors read themselves."""
    rng = np.random.default_rng(4)
    start = 1_580_000_000 + rng.integers(0, 10**7, 300)
    ends = [pa.array(1_000_000 * moments, pa.int64()) for moments in (start, start + rng.integers(-99, 10_000, 300))]
    columns = {name: cells.cast(pa.timestamp("us", "UTC")) for name, cells in zip(("start", "end"), ends, strict=True)}
    rows = pa.table({**columns, "unit": np.arange(300) // 3})
    parquet.write_table(rows, tmp_path / "rows.parquet")
    frame = spark.session.read.parquet(str(tmp_path / "rows.parquet")) if stored else spark.frame(rows, 2)
    plain = Schema.from_toml(BETWEEN)
    schema = Schema(plain.columns, ignore=() if unit else ("unit",))
    here = SparkEngine(SparkSource(frame), schema, **unit)
    there = MemoryEngine(open_source(rows), schema, **unit)
    every = partial(digest, names=("start", "took"), numbers=("took",), placements=("took",))
    asked = (("start", "took"), ("took",), ("took",))
    np.testing.assert_array_equal(here.fold(every, *asked), there.fold(every, *asked))


def test_a_time_that_can_not_be_computed_is_refused_by_the_name_of_its_column(spark: Spark) -> None:
    rows = pa.table({"start": ["2020-01-31 00:00+09:00"] * 9, "end": [SECRET, *["2020-01-31 01:00+09:00"] * 8]})
    whole = Schema.from_toml(BETWEEN.replace("bins = 9\nmissing = true", "bins = 9"))
    here, there = (refused(engine, ("took",)) for engine in both(spark, rows, whole))
    assert str(here) == str(there).replace("row 1:", "a row of The Spark table:")
    assert SECRET not in spark.logged()


# Units


def test_answers_are_those_of_memory_on_the_rows_that_were_kept(spark: Spark) -> None:
    rows = table(400, 6).append_column("row", pa.array(np.arange(400)))
    schema = Schema((*SCHEMA.columns, Integer("row", 0, 399, bins=10)), ignore=("note",))
    frame = spark.frame(rows)
    engine = SparkEngine(SparkSource(frame), schema, privacy_unit="unit", max_rows=2)
    names, ordered = schema.domain.attributes, (*ORDERED, "row")
    every = partial(digest, names=names, numbers=ordered, placements=names)
    whole = engine.fold(every, names, ordered, names)
    kept = kept_numbers(engine, 400)
    units = rows.column("unit").to_pylist()
    found = Counter(units[row] for row in kept)
    expected = {unit: min(2, n) for unit, n in Counter(units).items()} | {None: units.count(None)}
    assert found == expected
    only = MemoryEngine(open_source(rows.take(kept)), Schema(schema.columns, ignore=("note", "unit")))
    np.testing.assert_array_equal(whole, only.fold(every, names, ordered, names))
    memory = MemoryEngine(open_source(rows), schema, privacy_unit="unit", max_rows=2)
    np.testing.assert_array_equal(engine.unit_sizes(2), memory.unit_sizes(2))
    with pytest.raises(ValueError, match="at most 2 rows"):
        engine.unit_sizes(3)
    other = SparkEngine(SparkSource(frame), schema, privacy_unit="unit", max_rows=2)
    assert (kept_numbers(other, 400)[: len(kept)] != kept).any(), "50 units of three or more choose alike: 3**-50"


def test_every_choice_of_rows_is_as_likely(spark: Spark) -> None:
    """Of 6000 units with four rows each, which two are kept: six choices."""
    rows = pa.table({"unit": np.repeat(np.arange(6000), 4), "row": np.arange(24_000)})
    frame, schema = spark.frame(rows, 4), Schema((Integer("row", 0, 23_999, bins=10),))
    engine = SparkEngine(SparkSource(frame), schema, privacy_unit="unit", max_rows=2)
    counts = engine.fold(partial(counted, rows=24_000), (), ["row"]).reshape(6000, 4)
    assert (counts.sum(axis=1) == 2).all()
    choices = Counter(map(tuple, counts.tolist()))
    assert len(choices) == 6
    assert stats.chisquare(list(choices.values())).pvalue > FALSE_ALARM
    same = int((counts[:-1] == counts[1:]).all(axis=1).sum())
    assert stats.binomtest(same, 5999, 1 / 6).pvalue > FALSE_ALARM


def test_units_are_told_apart_by_their_texts(spark: Spark) -> None:
    schema = Schema((Integer("row", 0, 9),))
    units = ["1", "01", "1.0", "1", "", None, "", "A", "a", "1"]
    rows = pa.table({"unit": units, "row": np.arange(10)})
    here, there = both(spark, rows, schema, privacy_unit="unit", max_rows=1)
    np.testing.assert_array_equal(here.unit_sizes(1), there.unit_sizes(1))


# What is refused, and what is said of it


def refused(engine, columns=("age",)) -> ValueError:
    with pytest.raises(ValueError) as caught:
        engine.prepare(list(columns))
    return caught.value


@pytest.mark.parametrize("unit", [{}, {"privacy_unit": "unit", "max_rows": 1}])
def test_a_cell_without_a_place_is_refused_in_the_same_words_and_never_shown(spark: Spark, unit: dict) -> None:
    rows = pa.table({"age": ["1", SECRET, *["2"] * 50], "unit": ["u"] * 52})
    schema = Schema((Integer("age", 0, 9),), ignore=() if unit else ("unit",))
    for _ in range(2):  # whatever is kept of the unit
        here, there = (refused(engine) for engine in both(spark, rows, schema, **unit))
        assert type(here) is type(there) is UnplacedValue
        assert str(here) == str(there).replace("row 2:", "a row of The Spark table:")
    assert SECRET not in spark.logged()


def test_types_are_refused_in_the_same_words_before_anything_is_read(spark: Spark) -> None:
    never = pa.table({"age": pa.array([[1]], pa.list_(pa.int64()))})
    zoned = pa.table({"age": pa.array([datetime(2020, 1, 1)], pa.timestamp("us", "UTC"))})
    moment = Datetime("age", datetime(2020, 1, 1), datetime(2021, 1, 1), "1d")
    for rows, column in [(never, Integer("age", 0, 9)), (zoned, moment)]:
        here, there = both(spark, rows, Schema((column,)))
        said, expected = str(refused(here)), str(refused(there))
        assert said.replace("element", "item") == expected.replace("memory", "The Spark table").replace(
            "element", "item"
        )
        assert here._scratch is None or not here._stored


def test_what_a_function_says_of_a_record_stays_where_it_was(spark: Spark) -> None:
    engine = SparkEngine(SparkSource(spark.frame(pa.table({"v": [1, 4711]}))), Schema((Integer("v", 0, 4711),)))
    before = len(spark.logged())

    def telling(block) -> np.ndarray:
        if block.rows:
            raise RuntimeError(f"{SECRET} {block.codes['v']}")
        return np.zeros(1)

    with pytest.raises(ValueError, match="could not be computed on its records") as caught:
        engine.fold(telling, ["v"])
    assert caught.value.__cause__ is None
    with pytest.raises(ValueError, match="could not be computed"):
        engine.fold(lambda block: np.zeros(block.rows + 1, dtype=np.int64), ["v"])
    logged = spark.logged()[before:]
    assert SECRET not in logged
    assert "Traceback" not in logged


def test_an_interrupt_gives_up_the_jobs_of_spark(spark: Spark, tmp_path: Path) -> None:
    """PySpark waits for the end of a job, and says of one that was canceled that it failed."""
    mark = tmp_path / "at work"

    def slow(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        mark.touch()
        time.sleep(40)
        yield from batches

    def interrupts() -> None:
        while not mark.exists():
            time.sleep(0.1)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    frame = spark.frame(pa.table({"v": [1, 2]})).mapInArrow(slow, "v long")
    engine = SparkEngine(SparkSource(frame), Schema((Integer("v", 0, 9),)))
    theirs = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupts, daemon=True).start()
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            engine.prepare(["v"])
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, theirs)
    assert time.monotonic() - began < 30


def test_a_failure_of_the_frame_is_not_repeated(spark: Spark) -> None:
    """Spark logs what its own expressions raise, and the sentence says so."""
    frame = spark.frame(pa.table({"v": [SECRET]})).selectExpr("cast(v as int) as v")
    with pytest.raises(SourceError, match="could not be read to the end") as caught:
        SparkEngine(SparkSource(frame), Schema((Integer("v", 0, 9),))).prepare(["v"])
    assert SECRET not in str(caught.value)


def test_records_do_not_come_here(spark: Spark, tmp_path: Path) -> None:
    frame = spark.frame(pa.table({"v": [1, 2]}))
    schema = Schema((Integer("v", 0, 9),))
    engine = SparkEngine(SparkSource(frame), schema)
    with pytest.raises(SourceError, match="do not come to this process"):
        engine.blocks(["v"])
    with pytest.raises(ValueError, match="Found something in it that can't be sent"):
        engine.fold(lambda block: np.array([block.rows, engine is None]), ["v"])
    with Ledger.in_memory(source=open_identity(frame), total=Budget(1.0, 1e-9)) as ledger:
        with pytest.raises(SourceError, match="leave `in_memory` out"):
            Curator(frame, schema, budget=Budget(1.0, 1e-9), ledger=ledger, in_memory=True)
        assert not ledger.releases()


def open_identity(frame):
    from counterfoil.curator.source_facts import identity_of

    return identity_of(frame)


# The scratch folder


def test_stored_codes_are_for_their_owner_alone_and_removed(spark: Spark) -> None:
    engine = SparkEngine(SparkSource(spark.frame(pa.table({"v": [1, 2]}))), Schema((Integer("v", 0, 9),)))
    assert engine.rows("v") == 2
    folder = Path(engine._scratch.folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = [path for path in folder.iterdir() if path.is_file()]
    assert len(files) >= 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    del engine
    gc.collect()
    assert not folder.exists()


def test_executors_that_do_not_see_the_folder_are_noticed(spark: Spark) -> None:
    """Else files on the disks of several machines would count as nothing."""
    schema = Schema((Integer("v", 0, 9),))
    frame = spark.frame(pa.table({"v": [1, 2]}))
    engine = SparkEngine(SparkSource(frame), schema)
    assert engine.rows("v") == 2
    token = Path(engine._scratch.folder) / "token"
    token.chmod(0o600)
    token.write_text("another")
    for use in (lambda: engine.rows("v"), lambda: engine.prepare((), ["v"])):
        with pytest.raises(SourceError, match=f"set {SETTING}"):
            use()


def test_a_file_that_is_lost_or_cut_is_noticed(spark: Spark) -> None:
    engine = SparkEngine(SparkSource(spark.frame(pa.table({"v": [1, 2, 3]}), 1)), Schema((Integer("v", 0, 9),)))
    assert engine.rows("v") == 3
    ((name, rows),) = engine._stored[0].files
    path = Path(engine._scratch.folder) / name
    shorter = pa.ipc.open_file(path).read_all().slice(1)
    path.unlink()
    with pytest.raises(SourceError, match="missing, full or closed"):
        engine.rows("v")
    with pa.ipc.new_file(path, shorter.schema) as writer:
        writer.write_table(shorter)
    with pytest.raises(SourceError, match="missing, full or closed"):
        engine.rows("v")
    assert rows == 3


def test_a_scratch_folder_may_be_at_an_address(spark: Spark, tmp_path: Path) -> None:
    spark.session.conf.set(SETTING, tmp_path.as_uri())
    try:
        engine = SparkEngine(SparkSource(spark.frame(pa.table({"v": [1, 2]}))), Schema((Integer("v", 0, 9),)))
        assert engine.rows("v") == 2
        assert len(list(tmp_path.glob("counterfoil-*/*.arrow"))) >= 2
        del engine
        gc.collect()
        assert not list(tmp_path.iterdir())
        spark.session.conf.set(SETTING, str(tmp_path / "missing"))
        engine = SparkEngine(SparkSource(spark.frame(pa.table({"v": [1]}))), Schema((Integer("v", 0, 9),)))
        with pytest.raises(SourceError, match="none can be made in"):
            engine.prepare(["v"])
    finally:
        spark.session.conf.unset(SETTING)


def test_a_secret_in_an_address_is_neither_sent_nor_repeated(spark: Spark) -> None:
    spark.session.conf.set(SETTING, f"s3://KEY:{SECRET}@bucket/scratch")
    try:
        engine = SparkEngine(SparkSource(spark.frame(pa.table({"v": [1]}))), Schema((Integer("v", 0, 9),)))
        with pytest.raises(SourceError, match="must not hold a password") as caught:
            engine.prepare(["v"])
        assert SECRET not in str(caught.value)
        spark.session.conf.set(SETTING, f"nowhere://host/?secret={SECRET}")
        with pytest.raises(SourceError, match="none can be made in the folder that is set now") as caught:
            engine.prepare(["v"])
        assert SECRET not in str(caught.value)
    finally:
        spark.session.conf.unset(SETTING)
    with pytest.raises(SourceError, match="must not hold a password") as caught:
        open_source(f"spark+parquet://s3a://KEY:{SECRET}@bucket/people")
    assert SECRET not in str(caught.value)


class Settings(dict):
    """Stands in for a session, its context and its settings."""

    @property
    def sparkContext(self) -> Settings:
        return self

    @property
    def master(self) -> str:
        return self["master"]

    def getConf(self) -> Settings:
        return self


def test_temporary_files_of_spark_that_others_may_read_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    (tmp_path / "open").mkdir()
    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "closed" / "within").mkdir()
    # Nobody else passes pytest's own folder.
    monkeypatch.setattr(Path, "stat", opened(Path.stat, {tmp_path / "open", tmp_path, *tmp_path.parents}))
    at = "spark.local.dir"
    ours, closed = {"master": "local[2]", at: str(tmp_path / "open")}, str(tmp_path / "closed" / "within")
    assert is_open_on_disk(Settings(ours))
    assert is_open_on_disk(Settings(ours | {at: f"{closed},{ours[at]}"}))
    assert not is_open_on_disk(Settings(ours | {at: closed}))
    assert not is_open_on_disk(Settings(ours | {"spark.io.encryption.enabled": "true"}))
    assert not is_open_on_disk(Settings(ours | {"master": "spark://host:7077"}))
    assert not is_open_on_disk(object())
    monkeypatch.setenv("SPARK_LOCAL_DIRS", closed)
    assert not is_open_on_disk(Settings(ours))


def opened(original, folders: set[Path]):
    """`Path.stat`, by which everybody may pass through `folders`."""

    def stat_of(path: Path, **given: bool):
        found = original(path, **given)
        return os.stat_result((found.st_mode | 0o011, *found[1:])) if path in folders else found

    return stat_of


def test_coded_rows_in_open_temporary_files_are_warned_of(spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_engine, "is_open_on_disk", lambda session: True)
    frame = spark.frame(pa.table({"v": [1, 2], "unit": ["a", "b"]}))
    with pytest.warns(UserWarning, match=r"spark\.io\.encryption\.enabled=true"):
        SparkEngine(SparkSource(frame), Schema((Integer("v", 0, 9),)), privacy_unit="unit", max_rows=1).prepare(["v"])


STARTED_HERE = """
import json, os, signal, stat, sys
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.engines.spark import SparkEngine
from counterfoil.schema import Integer, Schema
source = open_source(sys.argv[1])
engine = SparkEngine(source, Schema((Integer("v", 0, 9),)), privacy_unit="unit", max_rows=1)
context = source.session.sparkContext
settings = context.getConf()
local = settings.get("spark.local.dir")
said = {"rows": engine.rows("v"), "encrypted": settings.get("spark.io.encryption.enabled"), "local": local}
said |= {"used": len(os.listdir(local)) > 1, "mode": oct(stat.S_IMODE(os.stat(local).st_mode))}
java = context._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean()
theirs = " ".join(java.getInputArguments()).partition("Tier4BackEdgeThreshold")[2]
said["interrupts"] = signal.getsignal(signal.SIGINT) is signal.default_int_handler
said["java"] = ["user.own" in theirs, "TieredStopAtLevel" in theirs, os.environ["JDK_JAVA_OPTIONS"]]
said |= {"page": context.uiWebUrl, "authenticates": settings.get("spark.authenticate")}
if os.path.exists("/proc/net/tcp"):
    folder = f"/proc/{context._gateway.proc.pid}/fd/"
    opened = {os.readlink(folder + name) for name in os.listdir(folder)}
    lines = [line.split() for kind in ("tcp", "tcp6") for line in open(f"/proc/net/{kind}")]
    said["listening"] = [line[1] for line in lines if line[3] == "0A" and f"socket:[{line[9]}]" in opened]
print(json.dumps(said))
"""
"""What a program whose session is started by the package finds of it, in JSON."""


@pytest.fixture(scope="module")
def started_here(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """What `STARTED_HERE` says where nothing but the master is set, and what it says on its second stream."""
    require_spark()
    folder = tmp_path_factory.mktemp("started")
    parquet.write_table(pa.table({"v": [1, 2, 3], "unit": ["a", "a", None]}), folder / "people.parquet")
    (folder / "temporary").mkdir()
    environment = {**os.environ, "TMPDIR": str(folder / "temporary"), "JDK_JAVA_OPTIONS": "-Duser.own=1"}
    options = f"--master local[1] --driver-java-options '{QUICK_TO_START}'"
    environment |= {"PYSPARK_SUBMIT_ARGS": f"{options} pyspark-shell"}
    for name in ("SPARK_LOCAL_DIRS", "SPARK_LOCAL_IP"):
        environment.pop(name, None)
    command = [sys.executable, "-c", STARTED_HERE, f"spark+parquet://{folder}/people.parquet"]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout) | {"stderr": shown.stderr, "temporary": str(folder / "temporary")}


def test_the_session_that_is_started_here_hides_its_temporary_files(started_here: dict) -> None:
    assert (started_here["rows"], started_here["encrypted"], started_here["used"]) == (2, "true", True)
    assert started_here["mode"] == "0o700"
    assert started_here["java"] == [True, True, "-Duser.own=1"]
    assert started_here["local"].startswith(started_here["temporary"])
    assert not Path(started_here["local"]).exists()
    assert started_here["stderr"] == "", "Java's own log stays off the terminal"


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells who listens here")
def test_no_other_machine_reaches_the_session_that_is_started_here(started_here: dict) -> None:
    assert (started_here["page"], started_here["authenticates"]) == (None, "true")
    addresses = {where.partition(":")[0] for where in started_here["listening"]}
    assert addresses == {"0000000000000000FFFF00000100007F"}, "127.0.0.1, as the system writes it"


def test_the_session_that_is_started_here_leaves_interrupts_as_they_were(started_here: dict) -> None:
    assert started_here["interrupts"], "Spark's own would raise while an answer is kept"


class StatedSettings(dict):
    """Answers for the settings of a session as Java does."""

    contains = dict.__contains__


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, {"spark.ui.enabled", "spark.authenticate", "spark.driver.host", "spark.driver.bindAddress"}),
        ({"spark.master": "spark://head:7077"}, {"spark.ui.enabled"}),
        ({"spark.master": "local-cluster[1,1,1024]"}, {"spark.ui.enabled"}),
        ({"spark.ui.enabled": "true", "spark.driver.host": "here"}, {"spark.authenticate"}),
    ],
)
def test_what_settings_say_of_who_reaches_a_session_is_kept(
    settings: dict[str, str], said: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_LOCAL_IP", raising=False)
    told = _closed_to_others(StatedSettings({"spark.master": "local[2]"} | settings))
    assert set(told) == {"spark.io.encryption.enabled"} | said


def test_a_scratch_folder_is_shared_by_who_sees_its_token(tmp_path: Path) -> None:
    made = Scratch(str(tmp_path))
    assert is_shared(made.folder, made.token)
    assert not is_shared(made.folder, "another")
    assert not is_shared(str(tmp_path), made.token)
    with written(made.folder, "file") as stream:
        stream.write(b"codes")
    with reading(made.folder, "file") as stream:
        assert stream.read() == b"codes"
    with pytest.raises(FileExistsError), written(made.folder, "file"):
        pass


# Batches of rows


class Collected:
    """A frame of a session whose settings are `own`; it tells the limit of each run, and fails the first one."""

    def __init__(self, own: dict[str, str], failure: str = "") -> None:
        self.getAll, self.failure, self.limits = own, failure, []
        self.sparkSession = self.conf = self

    def set(self, name: str, value: str) -> None:
        self.getAll[name] = value

    def unset(self, name: str) -> None:
        del self.getAll[name]

    def select(self, _: str) -> Collected:
        return self

    def toArrow(self) -> pa.Table:
        self.limits.append(self.getAll.get(LIMIT))
        if self.failure and len(self.limits) == 1:
            raise RuntimeError(self.failure)
        return pa.table({"a": [1]})


def test_the_bytes_of_a_batch_are_not_added_up_for_each_row() -> None:
    frame = Collected({})
    assert collected(frame).num_rows == 1
    assert (frame.limits, frame.getAll) == ([str(2**31 - 1)], {})


def test_batches_that_are_too_large_are_limited_again() -> None:
    frame = Collected({}, failure="org.apache.arrow.vector.util.OversizedAllocationException: Memory required")
    assert collected(frame).num_rows == 1
    assert (frame.limits, frame.getAll) == ([str(2**31 - 1), None], {})
    other = Collected({}, failure="ModuleNotFoundError")
    with pytest.raises(RuntimeError):
        collected(other)
    assert (len(other.limits), other.getAll) == (1, {})


def test_a_limit_of_the_users_own_is_kept() -> None:
    frame = Collected({LIMIT: "1000000"}, failure="OutOfMemory")
    with pytest.raises(RuntimeError):
        collected(frame)
    assert (frame.limits, frame.getAll) == (["1000000"], {LIMIT: "1000000"})


def test_a_session_keeps_its_settings(spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, during = spark.frame(pa.table({"v": [1, 2, 3]})), []
    original = type(frame).toArrow
    monkeypatch.setattr(
        type(frame), "toArrow", lambda made: during.append(spark.session.conf.getAll.get(LIMIT)) or original(made)
    )
    SparkEngine(SparkSource(frame), Schema((Integer("v", 0, 9),))).prepare(["v"])
    assert during == [str(2**31 - 1)]
    assert LIMIT not in spark.session.conf.getAll


# Parquet by its path


def test_parquet_keeps_what_folders_are_called_and_all_columns(spark: Spark, tmp_path: Path) -> None:
    folder = tmp_path / "people"
    for code, column in [("01", "a"), ("1", "b")]:
        (folder / f"code={code}").mkdir(parents=True)
        parquet.write_table(pa.table({column: [1, 2]}), folder / f"code={code}" / "part.parquet")
    source = open_source(f"spark+parquet://{folder}/")
    assert (source.name, source.location) == ("people", f"spark+parquet://{folder}")
    assert sorted(source.column_names) == ["a", "b", "code"]
    schema = Schema((Categorical("code", ("01", "1")), Integer("a", 0, 3, missing=True)), ignore=("b",))
    engine = engine_for(source)(source, schema)
    counts = ExactRecords(engine, schema.domain).marginals([("code", "a")])[0]
    assert counts.tolist() == [[0, 1, 1, 0, 0], [0, 0, 0, 0, 2]]


def test_bad_addresses_are_refused_in_a_sentence(spark: Spark, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="and an absolute path"):
        open_source("spark+parquet://people")
    (tmp_path / "people").mkdir()
    (tmp_path / "people" / "part.parquet").write_text(SECRET)
    for place in ("people", "nowhere"):
        with pytest.raises(SourceError, match=r"can't read .* as Parquet") as caught:
            open_source(f"spark+parquet://{tmp_path / place}")
        assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "kinds",
    [
        (pa.int32(), pa.int64()),
        (pa.decimal128(8, 2), pa.decimal128(10, 4)),
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
    ],
    ids=str,
)
def test_files_with_unlike_types_in_a_column_are_named_as_such(
    spark: Spark, tmp_path: Path, kinds: tuple[pa.DataType, pa.DataType]
) -> None:
    """Neither the path nor the rights to it are wrong."""
    for number, kind in enumerate(kinds):
        parquet.write_table(pa.table({"v": pa.array([None], kind)}), tmp_path / f"{number}.parquet")
    with pytest.raises(SourceError, match=r"as Parquet\. Its files have different types in one column") as caught:
        open_source(f"spark+parquet://{tmp_path}")
    assert "who may read it" not in str(caught.value)


@pytest.mark.parametrize("kind", [pa.timestamp("ns"), pa.time64("us"), pa.float16(), pa.decimal256(50, 2)])
def test_a_type_that_spark_does_not_know_is_no_matter_of_the_path(
    spark: Spark, tmp_path: Path, kind: pa.DataType
) -> None:
    """To check the path, and who may read it, was advised of files whose moments pandas had written."""
    parquet.write_table(pa.table({"seen": pa.array([None], kind)}), tmp_path / "seen.parquet")
    with pytest.raises(SourceError, match=r"as Parquet\. A column has a type that Spark does not know") as caught:
        open_source(f"spark+parquet://{tmp_path}")
    assert "who may read it" not in str(caught.value)


def test_without_pyspark_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(SourceError, match=r"pip install 'counterfoil\[spark\]'"):
        open_source("spark+parquet:///people")


def test_opening_other_tables_imports_no_pyspark() -> None:
    program = (
        "import sys, pyarrow as pa\n"
        "from counterfoil.curator.sources.opening import open_source\n"
        "from counterfoil.curator.engines.registry import engine_for\n"
        "engine_for(open_source(pa.table({'a': [1]})))\n"
        "print('counterfoil.curator.engines.spark' in sys.modules, 'pyspark' in sys.modules)\n"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["True", "False"]


def test_a_path_for_spark_is_known_to_ledgers_and_kept_from_outputs(tmp_path: Path) -> None:
    address = f"spark+parquet://{tmp_path}/people"
    identity = SourceIdentity.of(f"{address}/")
    assert identity == SourceIdentity("people", address)
    identity.require_there()
    with pytest.raises(ValueError, match="is the sensitive table"):
        require_apart([tmp_path / "people"], kept_source(address))
