"""At most so many rows of each privacy unit, chosen uniformly, the same ones in every scan."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from scipy import stats

from counterfoil.curator.engines import reader, units
from counterfoil.curator.engines.duckdb import DuckDBEngine
from counterfoil.curator.engines.engine import Engine
from counterfoil.curator.engines.memory import MemoryEngine
from counterfoil.curator.engines.units import kept_rows
from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.file_source import connection
from counterfoil.curator.sources.opening import open_source
from counterfoil.noise.randomness import SeededRandomness, SystemRandomness
from counterfoil.schema import Identifier, Integer, Schema, UnplacedValue

ENGINES: list[Callable[..., Engine]] = [MemoryEngine, DuckDBEngine]
SCHEMA = Schema((Identifier("patient"), Integer("row", 0, 999)))
FALSE_ALARM = 1e-6


@pytest.fixture(scope="module", autouse=True)
def duckdb_taken_again() -> None:
    """Each DuckDB is opened here, as it is in use: with its own memory and its own folder."""


def kept_of(units: list[object], max_rows: int) -> np.ndarray:
    source = open_source(pd.DataFrame({"unit": units}))
    kept, n_rows = kept_rows(source, "unit", max_rows, SystemRandomness())
    assert n_rows == len(units)
    return np.unpackbits(kept, count=len(units)).astype(bool)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(["1", " 1 ", "2", "ann", "Ann", "", "  ", None, 'q"']), max_size=40),
    st.integers(1, 4),
)
def test_each_unit_keeps_as_many_rows_as_it_may(units: list[str | None], max_rows: int) -> None:
    stripped = [(unit or "").strip() for unit in units]
    kept = kept_of(units, max_rows)
    found = Counter(unit for unit, keep in zip(stripped, kept, strict=True) if keep)
    # Rows without an id are units of their own.
    assert found == {unit: min(count, max_rows) if unit else count for unit, count in Counter(stripped).items()}


def test_numbers_are_units_too_and_every_row_without_an_id_is_one() -> None:
    assert kept_of([1, 1, 2, 2, 2], 1).sum() == 2
    assert kept_of([1.5, float("nan"), float("nan"), None, 1.5], 1).sum() == 4
    assert kept_of([pd.NaT, pd.NA, None, pd.NaT], 1).all()
    same = UUID(int=7)
    assert kept_of([same, str(same), UUID(int=8)], 1).sum() == 2
    assert kept_of([1, 1.0, "1", Decimal("1.00"), np.int8(1), b" 1 ", True, "true", "01"], 1).sum() == 3


def test_the_choice_is_uniform() -> None:
    """Pairs kept out of four rows of one unit: chi-square over the 6 pairs in 6000 units; false alarm 1e-6."""
    kept = kept_of(np.repeat(np.arange(6000), 4).tolist(), 2).reshape(6000, 4)
    assert (kept.sum(axis=1) == 2).all()
    counts = Counter(map(tuple, kept.tolist()))
    assert len(counts) == 6
    assert stats.chisquare(list(counts.values())).pvalue > FALSE_ALARM
    # Neighbors in the file are chosen independently of each other: agreement of one unit with the next.
    same = (kept[:-1] == kept[1:]).all(axis=1).sum()
    assert stats.binomtest(int(same), 5999, 1 / 6).pvalue > FALSE_ALARM


def test_two_choices_differ() -> None:
    """The chance that 200 units choose alike twice is 2^-200."""
    units = np.repeat(np.arange(200), 2).tolist()
    assert (kept_of(units, 1) != kept_of(units, 1)).any()


def test_a_seed_repeats_the_choice_whatever_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of 1000 units would choose alike by chance with 6^-1000."""
    units = np.repeat(np.arange(1000), 4)
    table = pa.table({"patient": units, "row": np.tile(np.arange(4), 1000)})
    rows = []
    for make, seed in [(MemoryEngine, 1), (MemoryEngine, 1), (DuckDBEngine, 1), (MemoryEngine, 2)]:
        engine = make(open_source(table), SCHEMA, privacy_unit="patient", max_rows=2, randomness=SeededRandomness(seed))
        rows.append(np.concatenate([block.codes["row"] for block in engine.blocks(["row"])]))
    assert (rows[0] == rows[1]).all()
    assert (rows[0] == rows[2]).all()
    assert (rows[0] != rows[3]).any()


@pytest.mark.parametrize("make", ENGINES)
def test_engines_keep_the_same_rows_in_every_scan(
    make: Callable[..., Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "BATCH_ROWS", 64)
    patients = np.random.default_rng(0).integers(0, 300, 1000)
    parquet.write_table(pa.table({"patient": patients, "row": np.arange(1000)}), tmp_path / "t.parquet")
    facts = {"cache_bytes": 100} if make is DuckDBEngine else {}
    engine = make(open_source(tmp_path / "t.parquet"), SCHEMA, privacy_unit="patient", max_rows=2, **facts)
    scans = [[(block.rows, block.codes["row"]) for block in engine.blocks(["row"])] for _ in range(3)]
    rows = [np.concatenate([codes for _, codes in scan]) for scan in scans]
    assert sum(n for n, _ in scans[0]) == len(rows[0])
    np.testing.assert_array_equal(rows[0], rows[1])
    np.testing.assert_array_equal(rows[0], rows[2])
    assert Counter(patients[rows[0]]) == {unit: min(2, n) for unit, n in Counter(patients).items()}


@pytest.mark.parametrize("make", ENGINES)
def test_the_unit_may_be_a_column_that_the_schema_does_not_know(make: Callable[..., Engine]) -> None:
    schema = Schema((Integer("row", 0, 999),))
    table = pa.table({"household": [1, 1, 2], "row": [1, 2, 3]})
    (block,) = make(open_source(table), schema, privacy_unit="household", max_rows=1).blocks(["row"])
    assert block.rows == 2
    with pytest.raises(SourceError, match=r"no column 'houshold' to be the privacy unit\. Did you mean 'household'"):
        make(open_source(table.select(["household", "row"])), Schema(schema.columns, ignore=("household",)),
             privacy_unit="houshold", max_rows=1)  # fmt: skip


def test_a_refusal_does_not_depend_on_which_rows_are_kept() -> None:
    table = pa.table({"patient": [1] * 50, "row": [*range(49), None]})
    for _ in range(5):
        with pytest.raises(UnplacedValue, match="row 50"):
            MemoryEngine(open_source(table), SCHEMA, privacy_unit="patient", max_rows=1).prepare(["row"])


def test_a_failure_of_the_source_comes_through_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("patient,row\n1,2\n1\n")
    engine = DuckDBEngine(open_source(path), SCHEMA, privacy_unit="patient", max_rows=1)
    with pytest.raises(SourceError, match=r"t\.csv, line 3: expected 2 fields, found 1"):
        engine.prepare(["row"])


def test_a_bound_needs_a_unit_and_a_unit_a_bound() -> None:
    source = open_source(pa.table({"patient": [1], "row": [1]}))
    for facts in ({"privacy_unit": "patient"}, {"max_rows": 1}):
        with pytest.raises(ValueError, match="`privacy_unit` and `max_rows` together"):
            MemoryEngine(source, SCHEMA, **facts)
    with pytest.raises(ValueError, match=r"`max_rows` must be at least 1\. Found 0"):
        MemoryEngine(source, SCHEMA, privacy_unit="patient", max_rows=0)


def test_a_choice_that_cannot_be_made_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def tiny(folder: str) -> Iterator[duckdb.DuckDBPyConnection]:
        with connection() as opened:
            opened.execute("SET memory_limit = '2MB'")
            yield opened

    monkeypatch.setattr(units, "connection", tiny)
    source = open_source(pa.table({"unit": [f"zebra {i}" for i in range(200_000)]}))
    with pytest.raises(SourceError, match=r"memory: DuckDB ran out of memory\.") as caught:
        kept_rows(source, "unit", 1, SystemRandomness())
    assert "zebra" not in str(caught.value)


SORTED_ANEW = """
import os, signal, sys
import duckdb
opened = duckdb.connect(sys.argv[1])
opened.execute("CREATE TEMP TABLE sorted AS SELECT * FROM t ORDER BY row DESC")
opened.execute("DELETE FROM t")
opened.execute("INSERT INTO t SELECT * FROM sorted")
os.kill(os.getpid(), signal.SIGKILL)  # before DuckDB moves the rows from its log to the file
"""


def test_rows_in_the_log_beside_a_database_keep_units_bounded(tmp_path: Path) -> None:
    """Which rows a unit keeps is known by their places, so that rows in another order would be others' places."""
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as opened:
        opened.execute("CREATE TABLE t (patient VARCHAR, row INTEGER)")
        opened.execute("INSERT INTO t SELECT 'p' || i, 0 FROM range(50) AS other(i)")
        opened.execute("INSERT INTO t SELECT 'many', 1 FROM range(50)")

    def engine() -> DuckDBEngine:
        return DuckDBEngine(open_source(f"{path}::t"), SCHEMA, privacy_unit="patient", max_rows=1, cache_bytes=0)

    def kept(of: DuckDBEngine) -> list[int]:
        return sum(np.bincount(block.codes["row"], minlength=2)[:2] for block in of.blocks(["row"])).tolist()

    before = engine()
    assert kept(before) == [50, 1]
    subprocess.run([sys.executable, "-c", SORTED_ANEW, path], check=False)
    assert path.with_name("t.duckdb.wal").exists()
    with pytest.raises(SourceError, match="has changed since it was opened"):
        kept(before)
    after = engine()
    assert kept(after) == kept(after) == [50, 1], "reading leaves the log as it is"
