"""Several threads, a bound on memory and a full disk change nothing that is read: neither counts, nor a refusal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from counterfoil.curator.engines import local, reader
from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.engines.engine import Block, Engine
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.records import ExactRecords
from counterfoil.curator.sources.opening import open_source
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.schema.boolean import Boolean
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.integer import Integer
from counterfoil.schema.schema import Schema
from counterfoil.scratch.scratch_file import ScratchFile

BLOCK = 8
SCHEMA = Schema(
    (
        Integer("age", 0, 30, bins=5),
        Categorical("kind", ("a", "b", "c")),
        Boolean("sick", missing=True),
        Integer("wide", 0, 999),
    )
)
NAMES = SCHEMA.domain.attributes
CLIQUES = [(), *((name,) for name in NAMES), *combinations(NAMES, 2), NAMES]


def cells(strange: bool) -> st.SearchStrategy[tuple[object, ...]]:
    """Rows; a strange one may have cells without a place."""
    bad = st.sampled_from([None, "x", ""])
    columns = [st.integers(0, 30), st.sampled_from("abc"), st.sampled_from(["yes", "no", None]), st.integers(0, 999)]
    texts = [column.map(lambda cell: None if cell is None else str(cell)) for column in columns]
    return st.tuples(*((text | bad if strange else text) for text in texts))


def rows_of(strange: bool) -> st.SearchStrategy[list[tuple[object, ...]]]:
    """Tables about the borders of blocks; where strange, a few rows can hold anything."""
    plain = st.sampled_from([0, 1, 7, 8, 9, 16, 17, 24, 40]).flatmap(
        lambda n: st.lists(cells(False), min_size=n, max_size=n)
    )
    if not strange:
        return plain
    spoiled = st.lists(st.tuples(st.integers(0, 39), cells(True)), min_size=1, max_size=4)
    return st.tuples(plain, spoiled).map(lambda both: _spoiled(*both))


def _spoiled(
    rows: list[tuple[object, ...]], spoils: Sequence[tuple[int, tuple[object, ...]]]
) -> list[tuple[object, ...]]:
    spoiled = list(rows)
    for place, row in spoils:
        if place < len(spoiled):
            spoiled[place] = row
    return spoiled


def table_of(rows: Sequence[tuple[object, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(NAMES)
    return pa.table({name: pa.array(list(own), pa.string()) for name, own in zip(NAMES, columns, strict=True)})


def oracle(rows: Sequence[tuple[object, ...]]) -> list[np.ndarray]:
    """Counts, one row at a time."""
    tables = [np.zeros(SCHEMA.domain.shape(clique), dtype=np.int64) for clique in CLIQUES]
    of_age = np.searchsorted(SCHEMA["age"].ranges[0], np.arange(31), side="right") - 1
    for age, kind, sick, wide in rows:
        code = (of_age[int(str(age))], "abc".index(str(kind)), {"no": 0, "yes": 1, None: 2}[sick], int(str(wide)))  # type: ignore[index]
        for clique, table in zip(CLIQUES, tables, strict=True):
            table[tuple(code[NAMES.index(name)] for name in clique)] += 1
    return tables


Make = Callable[..., Engine]
MADE: dict[str, Make] = {
    "memory": MemoryEngine,
    "kept": DuckDBEngine,
    "kept on disk": lambda *args, **keywords: DuckDBEngine(*args, cache_bytes=1, **keywords),
    "kept on both": lambda *args, **keywords: DuckDBEngine(*args, cache_bytes=60, **keywords),
    "read again": lambda *args, **keywords: DuckDBEngine(*args, cache_bytes=0, **keywords),
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BATCH_ROWS", BLOCK)


def on_threads(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)


SETTINGS = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)


@SETTINGS
@given(rows=rows_of(strange=False), threads=st.sampled_from([2, 4]))
def test_counts_are_those_of_one_row_after_another(
    rows: list[tuple[object, ...]],
    threads: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    on_threads(monkeypatch, threads)
    path = tmp_path_factory.mktemp("t") / "t.parquet"
    parquet.write_table(table_of(rows), path)
    expected = oracle(rows)
    for name, make in MADE.items():
        engine = make(open_source(path), SCHEMA)
        engine.prepare(NAMES)
        for _ in range(2):
            for clique, found, right in zip(
                CLIQUES, ExactRecords(engine, SCHEMA.domain).marginals(CLIQUES), expected, strict=True
            ):
                np.testing.assert_array_equal(found, right, err_msg=f"{name} {clique}")


@SETTINGS
@given(rows=rows_of(strange=True), suffix=st.sampled_from(["csv", "parquet"]))
def test_the_first_cell_without_a_place_is_refused_whatever_the_threads(
    rows: list[tuple[object, ...]],
    suffix: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path, table = tmp_path_factory.mktemp("t") / f"t.{suffix}", table_of(rows)
    if suffix == "parquet":
        parquet.write_table(table, path)
    else:
        lines = [",".join(str(cell or "") for cell in row) for row in rows]
        path.write_text("\n".join([",".join(NAMES), *lines]) + "\n")

    def refusal(make: Make, threads: int) -> str:
        on_threads(monkeypatch, threads)
        try:
            make(open_source(path), SCHEMA).prepare(NAMES)
        except ValueError as error:
            return str(error)
        return "none"

    expected = refusal(MADE["read again"], 1)
    for make in MADE.values():
        assert refusal(make, 4) == expected


def test_a_refusal_comes_before_a_later_line_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches are read ahead; what is wrong with one of them must not hide what is wrong before it."""

    class Torn:
        name = location = "torn"
        column_names = NAMES
        typed = True
        column_types = dict.fromkeys(NAMES, pa.string())

        def batches(self, columns: Sequence[str], batch_rows: int = BLOCK, *, skip_rows: int = 0):
            good = table_of([("1", "a", "yes", "1")] * BLOCK).combine_chunks().to_batches()[0]
            bad = table_of([("1", "z", "yes", "1")] * BLOCK).combine_chunks().to_batches()[0]
            yield good
            yield bad
            raise reader.SourceError("torn: the line can't be read.")

        def place(self, row: int) -> str:
            return f"row {row + 1}"

    on_threads(monkeypatch, 4)
    with pytest.raises(ValueError, match=f"row {BLOCK + 1}"):
        MemoryEngine(Torn(), SCHEMA).prepare(NAMES)


@pytest.mark.parametrize("name", list(MADE))
def test_units_keep_the_same_rows_on_any_number_of_threads(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, path = np.random.default_rng(0), tmp_path / "t.parquet"
    rows = [(str(a), "abc"[a % 3], "no", str(b)) for a, b in rng.integers(0, 30, (61, 2)).tolist()]
    parquet.write_table(table_of(rows).append_column("unit", pa.array(rng.integers(0, 15, 61))), path)

    def blocks(threads: int) -> list[list[int]]:
        on_threads(monkeypatch, threads)
        keywords = {"privacy_unit": "unit", "max_rows": 2, "randomness": SeededRandomness(3)}
        engine = MADE[name](open_source(path), SCHEMA, **keywords)
        engine.prepare(NAMES)
        return [block.codes["wide"].tolist() for block in engine.blocks(["wide"])]

    assert blocks(4) == blocks(1)
    assert 0 < sum(map(len, blocks(4))) <= 30


def test_long_sums_are_added_on_one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_threads(monkeypatch, 4)
    monkeypatch.setattr(local, "_CELLS_OF_SEVERAL", 10)
    path = tmp_path / "t.parquet"
    parquet.write_table(table_of([("1", "a", "yes", "1")] * 50), path)
    made: list[int] = []
    engine = DuckDBEngine(open_source(path), SCHEMA)

    def add(block: Block, total: np.ndarray) -> None:
        made.append(id(total))
        time.sleep(0.001)
        total[0] += block.rows

    for cells_asked, most in ((11, 1), (10, 5)):
        made.clear()
        assert engine.accumulate(add, cells_asked, NAMES)[0] == 50
        assert 1 <= len(set(made)) <= most


def test_a_bounded_memory_reads_the_source_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(table_of([("1", "a", "yes", str(i)) for i in range(100)]), path)
    engine = DuckDBEngine(open_source(path), SCHEMA, cache_bytes=40)
    engine.prepare(NAMES)
    path.unlink()
    assert [code for block in engine.blocks(["wide"]) for code in block.codes["wide"].tolist()] == list(range(100))


def test_a_full_disk_costs_another_scan_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    rows = [(str(i % 31), "abc"[i % 3], None, str(i)) for i in range(100)]
    parquet.write_table(table_of(rows), path)
    engine, before, written = DuckDBEngine(open_source(path), SCHEMA, cache_bytes=40), ScratchFile.append, [0]

    def full(self: ScratchFile, array: np.ndarray) -> int:
        written[0] += 1
        if written[0] > 9:
            raise OSError(28, "No space left on device")
        return before(self, array)

    monkeypatch.setattr(ScratchFile, "append", full)
    engine.prepare(NAMES)
    assert written[0] == 10, "it is not tried again"
    assert all(array.scratch is None for held in engine._kept.values() for array in held), "the room is given back"
    for found, right in zip(ExactRecords(engine, SCHEMA.domain).marginals(CLIQUES), oracle(rows), strict=True):
        np.testing.assert_array_equal(found, right)


# Whoever started the tests in the background may have had SIGINT ignored.
SCAN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from counterfoil.curator.engines import reader
from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.sources.opening import open_source
from counterfoil.schema.integer import Integer
from counterfoil.schema.schema import Schema
reader.BATCH_ROWS = 1000
engine = DuckDBEngine(open_source(sys.argv[1]), Schema((Integer("a", 0, 999),)), cache_bytes=1)
print("begun", flush=True)
while True:
    for block in engine.blocks(["a"]):
        pass
    print("scanned", flush=True)
"""


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_nothing(with_signal: signal.Signals, tmp_path: Path) -> None:
    path, folder = tmp_path / "t.parquet", tmp_path / "tmp"
    folder.mkdir()
    parquet.write_table(pa.table({"a": np.arange(20_000) % 1000}), path)
    with subprocess.Popen(
        [sys.executable, "-c", SCAN, str(path)],
        env={**os.environ, "TMPDIR": str(folder), "OMP_NUM_THREADS": "2"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        while "scanned" not in process.stdout.readline():
            assert process.poll() is None
        assert list(folder.iterdir()) == []
        process.send_signal(with_signal)
        assert process.wait(60) != 0
    assert list(folder.iterdir()) == []
    assert sorted(file.name for file in tmp_path.iterdir()) == ["t.parquet", "tmp"]
