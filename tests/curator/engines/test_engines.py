"""Every engine on every storage equals a cross-tabulation by pandas of cells read one by one."""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from counterfoil.curator.engines import reader
from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.engines.engine import Engine
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.engines.units import kept_rows
from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.source import Batch, Source
from counterfoil.domain.counting import count_marginals
from counterfoil.noise.randomness import SystemRandomness
from counterfoil.schema import Boolean, Categorical, Integer, Real, Schema, UnplacedValue
from schema_strategies import CELLS, code_of

SCHEMA = Schema(
    (
        Integer("age, in years", -5, 40, bins=7, missing=True, missing_values=("999", "?")),
        Categorical('"kind"', ("a", "39", "é ü", "x,y", "line\nbreak"), other=True),
        Boolean("SICK", missing=True),
        Real("sick", -1, 8, resolution=0.3, missing=True),
    ),
    ignore=("note",),
)
NAMES = SCHEMA.domain.attributes
CLIQUES = [(name,) for name in NAMES] + list(itertools.combinations(NAMES, 2)) + [NAMES, ()]
Table = list[tuple[str | None, ...]]
ENGINES: list[Callable[..., Engine]] = [MemoryEngine, DuckDBEngine]


def expected_counts(rows: Table) -> list[np.ndarray]:
    codes = pd.DataFrame(
        [[code_of(SCHEMA[name], cell) for name, cell in zip(NAMES, row, strict=True)] for row in rows], columns=NAMES
    )
    found = []
    for clique in CLIQUES:
        counts = np.zeros(SCHEMA.domain.shape(clique), dtype=np.int64)
        if not clique:
            counts[()] = len(rows)
        elif rows:
            for cell, count in codes.groupby(list(clique)).size().items():
                counts[cell] = count
        found.append(counts)
    return found


def write_csv(path: Path, rows: Table, delimiter: str = ",") -> Path:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow([*NAMES, "note"])
    writer.writerows([*row, "n"] for row in rows)
    content = text.getvalue().encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def as_arrow(rows: Table) -> pa.Table:
    cells = zip(*rows, strict=True) if rows else [()] * len(NAMES)
    arrays = {name: pa.array(list(column), pa.string()) for name, column in zip(NAMES, cells, strict=True)}
    return pa.table(arrays | {"note": pa.nulls(len(rows))})


def as_duckdb(path: Path, rows: Table) -> str:
    with duckdb.connect(str(path)) as opened:
        # DuckDB takes `SICK` and `sick` for one name, so this storage gets one of them under another table's name.
        quoted = ", ".join('"' + name.replace('"', '""') + '" VARCHAR' for name in (*NAMES[:3], "sick 2", "note"))
        opened.execute(f"CREATE TABLE people ({quoted})")
        if rows:
            opened.executemany("INSERT INTO people VALUES (?, ?, ?, ?, 'n')", rows)
    return f"{path}::people"


def as_sqlite(path: Path, rows: Table) -> str:
    with closing(sqlite3.connect(path)) as opened, opened:
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in (*NAMES[:3], "sick 2", "note"))
        opened.execute(f"CREATE TABLE people ({quoted})")
        opened.executemany("INSERT INTO people VALUES (?, ?, ?, ?, 'n')", rows)
    opened.close()
    return f"{path}::people"


RENAMED = Schema(
    (*SCHEMA.synthesized[:3], Real("sick 2", -1, 8, resolution=0.3, missing=True)),
    ignore=("note",),
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=25), small=st.booleans())
def test_every_storage_gives_the_same_counts(
    rows: Table, small: bool, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("storages")
    monkeypatch.setattr(reader, "BATCH_ROWS", 8 if small else 131_072)
    arrow = as_arrow(rows)
    parquet.write_table(arrow, folder / "t.parquet")
    storages: Mapping[str, Any] = {
        "csv": write_csv(folder / "t.csv", rows),
        "semicolons": write_csv(folder / "s.csv", rows, ";"),
        "gz": write_csv(folder / "t.csv.gz", rows),
        "parquet": folder / "t.parquet",
        "pandas": pd.DataFrame([[*row, "n"] for row in rows], columns=[*NAMES, "note"], dtype=object),
        "polars": pl.from_arrow(arrow),
        "arrow": arrow,
        "duckdb": as_duckdb(folder / "t.db", rows),
        "sqlite": as_sqlite(folder / "t.sqlite", rows),
    }
    expected = expected_counts(rows)
    for name, storage in storages.items():
        schema = RENAMED if name in ("duckdb", "sqlite") else SCHEMA
        for make in ENGINES:
            engine = make(open_source(storage), schema)
            totals = [np.zeros(SCHEMA.domain.shape(clique), dtype=np.int64) for clique in CLIQUES]
            cliques = [tuple(schema.domain.attributes[NAMES.index(key)] for key in clique) for clique in CLIQUES]
            for block in engine.blocks(schema.domain.attributes, ()):
                count_marginals(block.codes, block.rows, cliques, schema.domain, into=totals)
            for clique, found, right in zip(CLIQUES, totals, expected, strict=True):
                np.testing.assert_array_equal(found, right, err_msg=f"{name} {make.__name__} {clique}")


def people(n: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    texts = rng.choice(["a", "39", "zebra"], n)
    return pa.table(
        {
            NAMES[0]: rng.integers(-9, 50, n),
            NAMES[1]: texts,
            NAMES[2]: rng.random(n) < 0.3,
            NAMES[3]: rng.normal(3, 3, n),
        }
    )


@pytest.mark.parametrize("cache_bytes", [0, 300, 1500, 10**6])
def test_a_cache_of_any_size_gives_the_same_blocks(
    cache_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns asked for in different sets and orders, scans broken off: each scan sees each row once, in order."""
    parquet.write_table(people(1000), tmp_path / "t.parquet")
    source = open_source(tmp_path / "t.parquet")
    (whole,) = MemoryEngine(source, SCHEMA).blocks(NAMES, ["sick"])
    monkeypatch.setattr(reader, "BATCH_ROWS", 64)
    engine, memory = DuckDBEngine(source, SCHEMA, cache_bytes=cache_bytes), MemoryEngine(source, SCHEMA)
    engine.prepare(NAMES[:2])
    memory.prepare(NAMES[:2])
    for taken in (0, 1, 15, 16):
        list(itertools.islice(engine.blocks(NAMES[1:3], ["sick"]), taken))
    asked = [(NAMES, ["sick"]), (NAMES[:1], []), ((), ["sick"]), ((), ()), (NAMES[::-1], [])]
    for (columns, numbers), made in itertools.product(asked, (engine, memory)):
        blocks = list(made.blocks(columns, numbers))
        assert len(blocks) == 16
        assert sum(block.rows for block in blocks) == 1000
        for name in columns:
            np.testing.assert_array_equal(np.concatenate([b.codes[name] for b in blocks]), whole.codes[name])
        for name in numbers:
            np.testing.assert_array_equal(np.concatenate([b.numbers[name] for b in blocks]), whole.numbers[name])


def test_a_full_cache_reads_the_source_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BATCH_ROWS", 64)
    path = tmp_path / "t.parquet"
    parquet.write_table(people(200), path)
    kept, streamed = (DuckDBEngine(open_source(path), SCHEMA, cache_bytes=size) for size in (10**6, 0))
    for engine in (kept, streamed):
        engine.prepare(NAMES)
    path.unlink()
    assert sum(block.rows for block in kept.blocks(NAMES)) == 200
    with pytest.raises(SourceError, match=r"t\.parquet has changed since it was opened. Put it back as it was"):
        list(streamed.blocks(NAMES))


def test_a_table_that_grows_in_place_is_noticed(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", [("1", "a", "no", "1")])
    engine = DuckDBEngine(open_source(path), SCHEMA, cache_bytes=0)
    engine.prepare(NAMES)
    with path.open("a") as stream:
        stream.write("1,a,no,1,n\r\n")
    with pytest.raises(SourceError, match="has changed since it was opened"):
        engine.prepare(NAMES)


@pytest.mark.parametrize("make", ENGINES)
def test_an_empty_table_is_one_empty_block(make: Callable[..., Engine], tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", [])
    engine = make(open_source(path), SCHEMA)
    for _ in range(2):
        (block,) = engine.blocks(NAMES, ["sick"])
        assert block.rows == 0
        assert block.codes[NAMES[1]].dtype == np.uint8
        assert block.numbers["sick"].shape == (0,)


@pytest.mark.parametrize("make", ENGINES)
def test_numbers_are_clamped_and_missing_ones_are_nan(make: Callable[..., Engine]) -> None:
    table = people(4).set_column(3, "sick", pa.array([None, -5.0, 2.5, np.inf]))
    (block,) = make(open_source(table), SCHEMA).blocks((), ["sick"])
    np.testing.assert_array_equal(block.numbers["sick"], [np.nan, -1, 2.5, 8])


@pytest.mark.parametrize("make", ENGINES)
def test_unplaced_values_are_refused_with_their_line(
    make: Callable[..., Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "BATCH_ROWS", 2)
    schema = Schema((Categorical("c", ("a", "line\nbreak")), Integer("n", 0, 9)))
    path = tmp_path / "t.csv"
    path.write_text('c,n\na,1\n\n"line\nbreak",2\na,3\na,zebra\n')
    engine = make(open_source(path), schema)
    engine.prepare(["c"])
    with pytest.raises(
        UnplacedValue, match=r"Column 'n', line 7 of t\.csv: the value is missing or not a number"
    ) as caught:
        engine.prepare(["c", "n"])
    assert "zebra" not in repr(caught.value)
    assert caught.value.row == 3
    with pytest.raises(UnplacedValue, match="the value 'zebra' is"):
        make(open_source(path), schema, show_values=True).prepare(["n"])
    frame = pd.DataFrame({"c": ["a", "b"], "n": [1, 2]})
    with pytest.raises(UnplacedValue, match="Column 'c', row 2: "):
        make(open_source(frame), schema).prepare(["c"])


@dataclass
class Torn:
    """A source that gives its rows in batches of these sizes, and fewer of them when it is read for one column."""

    source: Source
    sizes: Sequence[int]
    column: str = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def batches(self, columns: Sequence[str], batch_rows: int = 8, *, skip_rows: int = 0) -> Iterator[Batch]:
        if self.column and self.column not in columns:
            yield from self.source.batches(columns, batch_rows, skip_rows=skip_rows)
            return
        start = 0
        for size in self.sizes:
            batch = next(iter(self.source.batches(columns, 1000, skip_rows=start)))
            yield pa.record_batch({name: batch.column(name).slice(0, size).combine_chunks() for name in columns})
            start += size


@pytest.mark.parametrize("unit", [None, "id"])
@pytest.mark.parametrize("make", ENGINES)
def test_rows_are_counted_by_whole_blocks(
    make: Callable[..., Engine], unit: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "BATCH_ROWS", 8)
    schema = Schema((Integer("x", 0, 99), Integer("y", 0, 99)), ignore=("id",))
    source = open_source(pa.table({name: np.arange(20) for name in ("x", "y", "id")}))

    def rows(sizes: Sequence[int], column: str = "", asked: Sequence[str] = ("x", "y")) -> list[int]:
        engine = make(Torn(source, sizes, column), schema, privacy_unit=unit, max_rows=unit and 1)
        return [code for name in asked for block in engine.blocks([name]) for code in block.codes[name].tolist()]

    assert rows((8, 8, 4)) == [*range(20)] * 2
    assert rows((8, 8), asked="x") == [*range(16)]
    for sizes in ((7, 8, 5), (8, 4, 8), (9, 8, 3)):
        with pytest.raises(SourceError, match="whole blocks"):
            rows(sizes)
    # A column that is read with fewer rows than another one, or than the ids.
    with pytest.raises(SourceError, match="has changed"):
        rows((8, 8), "y")
    if unit:
        for sizes in ((8, 8), (8, 4), ()):
            with pytest.raises(SourceError, match="has changed"):
                rows(sizes, "id")


@pytest.mark.parametrize("make", ENGINES)
def test_columns_must_be_those_of_the_schema(make: Callable[..., Engine]) -> None:
    schema = Schema((Integer("age", 0, 9),), ignore=("note",))
    make(open_source(pa.table({"age": [1]})), schema).prepare(["age"])
    with pytest.raises(
        SourceError, match=r"memory has no column 'age', which the schema declares\. Did you mean 'ages'"
    ):
        make(open_source(pa.table({"ages": [1]})), schema)
    with pytest.raises(
        SourceError, match=r"Column 'notes' of memory is not in the schema.*`ignore`.*Did you mean 'note'"
    ):
        make(open_source(pa.table({"age": [1], "notes": [1]})), schema)
    several = {"age": [1], **{f"n{place}": [1] for place in range(1, 11)}}
    with pytest.raises(
        SourceError, match=r"Columns 'n1', .*, 'n8' and 2 more of memory are not in the schema\. Declare them"
    ):
        make(open_source(pa.table(several)), schema)
    with pytest.raises(SourceError, match=r"Column '17' of memory is not in the schema") as said:  # a record, perhaps
        make(open_source(pa.table({"age": [1], "17": [1], "2020-01-05": [1], "3.5": [1]})), schema)
    assert "2020" not in str(said.value)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([[1]]),
        pa.array([{"a": 1}]),
        pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([[1]])),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    ],
)
def test_cells_that_are_no_single_values_are_refused(values: pa.Array) -> None:
    schema = Schema((Categorical("c", ("a",), missing=True),))
    with pytest.raises(SourceError, match=r"Column 'c' of memory has the type .*`ignore`"):
        MemoryEngine(open_source(pa.table({"c": values})), schema).prepare(["c"])
    with pytest.raises(SourceError, match=r"Column 'c' of memory has the type .*`ignore`"):
        kept_rows(open_source(pa.table({"c": values})), "c", 1, SystemRandomness())
