"""Rows that are drawn part by part: the same on any number of threads, as close to the model, in as little memory."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import counterfoil
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.sampling import _ordered_by_key
from counterfoil.schema.boolean import Boolean
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.integer import Integer
from counterfoil.schema.schema import Schema
from counterfoil.scratch.scratch_file import ScratchFile
from counterfoil.synthesis import row_parts, row_sampling
from counterfoil.synthesis.files import load_parts
from counterfoil.synthesis.release import bars_of_unmeasured
from counterfoil.synthesis.row_parts import RowParts, draw_parts
from counterfoil.synthesis.row_sampling import Rows, draw
from counterfoil.synthesis.table import encode, write_parts, write_table

COLUMNS = (
    Identifier("id", "sequence"),
    Integer("age", 0, 99, bins=10),
    Categorical("kind", ("a", "b", "c", "d", "e")),
    Boolean("sick", missing=True),
    Integer("pay", 0, 2000, bins=20),
)
SCHEMA = Schema(COLUMNS)
SLICE = 50


def model_of(schema: Schema, seed: int = 0) -> GraphicalModel:
    rng, domain = np.random.default_rng(seed), schema.domain
    cliques = list(zip(domain.attributes, domain.attributes[1:], strict=False))
    potentials = {clique: rng.normal(0, 1, domain.shape(clique)) for clique in cliques}
    return GraphicalModel(domain, potentials, 1000.0)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_parts, "PART_ROWS", 4 * SLICE)
    monkeypatch.setattr(row_parts, "SLICE_ROWS", SLICE)


def on_threads(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)


def rows_of(n: int, schema: Schema = SCHEMA, seed: int = 1) -> Rows | RowParts:
    return draw_parts(model_of(schema), schema, n, np.random.default_rng(seed))


@pytest.mark.parametrize("n", [1, 199, 200])
def test_few_rows_are_drawn_as_they_always_were(n: int) -> None:
    rows = rows_of(n)
    whole = draw(model_of(SCHEMA), SCHEMA, n, np.random.default_rng(1))
    assert isinstance(rows, Rows)
    assert rows.table.equals(whole.table)
    np.testing.assert_array_equal(rows.codes, whole.codes)


@pytest.mark.parametrize("n", [201, 400, 401, 850, 999])
def test_rows_are_the_same_on_any_number_of_threads_and_with_any_memory(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_threads(monkeypatch, 1)
    first = rows_of(n)
    table, codes = first.table, first.codes
    assert isinstance(first, RowParts)
    assert (first.count, table.num_rows, len(codes)) == (n, n, n)
    assert first.column_names == table.column_names

    def full(self: ScratchFile, array: np.ndarray) -> int:
        raise OSError(28, "No space left on device")

    for threads, memory, disk in [(4, 2**20, True), (1, 1, True), (4, 300, True), (4, 300, False), (1, 0, False)]:
        on_threads(monkeypatch, threads)
        monkeypatch.setattr(row_parts, "_IN_MEMORY", memory)
        with monkeypatch.context() as patched:
            if not disk:
                patched.setattr(ScratchFile, "append", full)
            other = rows_of(n)
            for _ in range(2):  # values are computed anew each time
                assert pa.concat_tables(other.tables()).equals(table)
                np.testing.assert_array_equal(np.concatenate(list(other.code_parts())), codes)


def test_another_seed_gives_other_rows_and_parts_differ() -> None:
    rows, other = rows_of(800), rows_of(800, seed=2)
    assert not np.array_equal(rows.codes, other.codes)
    parts = list(rows.code_parts())
    assert len(parts) == 4
    for one, two in combinations(parts, 2):
        assert not np.array_equal(one, two)
    pays = [table.column("pay").to_pylist() for table in rows.tables()]
    assert len(pays) == 16
    assert len({tuple(pay) for pay in pays}) == 16


def test_codes_and_values_agree_and_numbers_continue() -> None:
    rows = rows_of(650)
    read = encode(SCHEMA, rows.table)
    for axis, name in enumerate(SCHEMA.domain.attributes):
        np.testing.assert_array_equal(read[name], rows.codes[:, axis])
    assert rows.table.column("id").to_pylist() == list(range(1, 651))


def test_columns_are_put_in_order() -> None:
    rows = rows_of(450).ordered(["pay", "kind", "id", "age", "sick"])
    assert rows.column_names == rows.table.column_names == ["pay", "kind", "id", "age", "sick"]


def test_each_part_holds_the_model_within_rounding() -> None:
    """Within each part a column's counts differ from the model's by less than independent draws would, by far."""
    model, rows = model_of(SCHEMA), rows_of(2000)
    shares = model.marginal(("age",)) / 1000
    for part in rows.code_parts():
        # The column that is drawn first has its counts rounded; later ones are rounded group by group.
        assert (np.abs(np.bincount(part[:, 0], minlength=10) - shares * len(part)) < 12).all()


def test_expected_counts_are_those_of_the_model() -> None:
    """Of 150 draws of 600 rows the mean count of each pair's cells; a cell fails with probability below 1e-9."""
    model = model_of(SCHEMA)
    clique, runs, n = ("kind", "sick"), 150, 600
    shares = model.marginal(clique) / 1000
    axes = SCHEMA.domain.axes(clique)
    total = np.zeros(shares.shape)
    for seed in range(runs):
        rows = draw_parts(model, SCHEMA, n, np.random.default_rng(seed))
        np.add.at(total, tuple(rows.codes[:, list(axes)].T), 1)
    # Rounded counts vary less than independent ones, whose deviation bounds theirs; six of them are allowed.
    allowed = 6 * np.sqrt(n * shares * (1 - shares) / runs) + 1e-9
    assert (np.abs(total / runs - n * shares) < allowed).all()


RULED = """
[columns.id]
kind = "identifier"
replace = "sequence"
[columns.a]
kind = "integer"
lower = 0
upper = 99
bins = 10
[columns.b]
kind = "integer"
lower = 0
upper = 99
bins = 10
[columns.c]
kind = "integer"
lower = 0
upper = 99
bins = 10
[[rules]]
require = "a + b <= c + 60"
"""


def test_rules_hold_in_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = Schema.from_toml(RULED)
    assert schema.row_rules
    on_threads(monkeypatch, 1)
    rows = rows_of(700, schema)
    table = rows.table
    a, b, c = (table.column(name).to_numpy() for name in "abc")
    assert (a + b <= c + 60).all()
    read = encode(schema, table)
    for axis, name in enumerate("abc"):
        np.testing.assert_array_equal(read[name], rows.codes[:, axis])
    on_threads(monkeypatch, 4)
    assert rows_of(700, schema).table.equals(table)
    assert rows.count == table.num_rows == 700


def test_rows_that_rules_leave_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_sampling, "MOST_TRIES", 0)
    rows = rows_of(700, Schema.from_toml(RULED))
    assert 100 < rows.count < 700
    assert rows.table.column("id").to_pylist() == list(range(1, rows.count + 1))
    assert len(rows.codes) == rows.count
    assert [len(part) for part in rows.code_parts()] == [table.num_rows for table in rows.tables()]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_parts_are_written_as_one_file(suffix: str, tmp_path: Path) -> None:
    rows = rows_of(730)
    write_parts(rows.tables(), tmp_path / f"parts.{suffix}", SCHEMA)
    write_table(rows.table, tmp_path / f"whole.{suffix}", SCHEMA)
    if suffix == "csv":
        assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    else:
        assert parquet.read_table(tmp_path / "parts.parquet").equals(rows.table)
        assert parquet.read_schema(tmp_path / "parts.parquet").equals(rows.table.schema)
        assert parquet.read_metadata(tmp_path / "parts.parquet").num_row_groups == 15


def test_one_table_is_written_byte_by_byte_as_arrow_writes_it(tmp_path: Path) -> None:
    rows, expected = rows_of(100), io.BytesIO()
    write_table(rows.table, tmp_path / "t.parquet")
    parquet.write_table(rows.table, expected)
    assert (tmp_path / "t.parquet").read_bytes() == expected.getvalue()


def test_what_fails_within_a_part_leaves_no_file(tmp_path: Path) -> None:
    def failing() -> Iterator[pa.Table]:
        yield rows_of(10).table
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_parts(failing(), tmp_path / "t.parquet")
    assert list(tmp_path.iterdir()) == []


def release(n: int, tmp_path: Path) -> Any:
    rng = np.random.default_rng(5)
    frame = pa.table(
        {
            "kind": rng.choice(list("abcde"), 300),
            "age": rng.integers(0, 100, 300),
            "sick": rng.random(300) < 0.3,
            "pay": rng.integers(0, 2001, 300),
            "id": rng.integers(0, 10**6, 300),
        }
    )
    return counterfoil.synthesize(frame, SCHEMA, epsilon=1, method="mst", seed=3, rows=n)


def test_a_release_in_parts_is_written_saved_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on_threads(monkeypatch, 3)
    made = release(450, tmp_path)
    assert isinstance(made.drawn, RowParts)
    assert made.rows == made.receipt.document["rows"]["drawn"] == 450
    assert made.to_arrow().column_names == ["kind", "age", "sick", "pay", "id"]
    made.write(tmp_path / "t.parquet")
    assert parquet.read_table(tmp_path / "t.parquet").replace_schema_metadata().equals(made.to_arrow())
    made.save(tmp_path / "saved")
    _, rows, *_ = load_parts(tmp_path / "saved")
    assert rows.table.equals(made.to_arrow())
    np.testing.assert_array_equal(rows.codes, made.drawn.codes)
    monkeypatch.setattr(row_parts, "PART_ROWS", 2**20)
    again = release(450, tmp_path)
    assert isinstance(again.drawn, Rows)
    in_memory = Rows(made.drawn.codes, made.drawn.table)
    bars = bars_of_unmeasured(made.model, made.error_bars, made.drawn)
    assert bars == bars_of_unmeasured(made.model, made.error_bars, in_memory) != []
    assert made.sample(5, seed=0).column_names == made.to_arrow().column_names


@settings(max_examples=60, deadline=None)
@given(keys=st.lists(st.integers(0, 9), max_size=60), size=st.integers(10, 14))
def test_counting_sorts_as_a_stable_sort_does(keys: list[int], size: int) -> None:
    array = np.array(keys, dtype=np.int32)
    rows = np.random.default_rng(len(keys)).permutation(len(keys)).astype(np.int32)
    order, ends = _ordered_by_key(rows, array, size)
    np.testing.assert_array_equal(order, rows[np.argsort(array[rows], kind="stable")])
    np.testing.assert_array_equal(ends, np.cumsum(np.bincount(array, minlength=size)))


MIXED = Schema(
    (
        Categorical("kind", ("a", "b", "c"), missing=True, other=True),
        Categorical("word", ("x", "y"), missing=True, missing_values=("?", "none")),
        Categorical("code", (1, 2, 30)),
        Boolean("sick", missing=True, true="yes", false="no"),
        Boolean("well", missing=True),
        Integer("age", 0, 99, bins=10, missing=True),
        Identifier("id", "uuid"),
    )
)


def test_texts_written_from_codes_are_those_of_the_table_in_a_file_of_the_same_types(tmp_path: Path) -> None:
    rows = draw_parts(model_of(MIXED), MIXED, 901, np.random.default_rng(4)).ordered(["age", "id", "word"])
    assert isinstance(rows, RowParts)
    coded = [field.name for field in next(rows.tables(coded=True)).schema if pa.types.is_dictionary(field.type)]
    assert sorted(coded) == ["kind", "sick", "word"]
    label = {b"counterfoil": b"synthetic"}
    for name, of_codes in (("plain", False), ("coded", True)):
        tables = (table.replace_schema_metadata(label) for table in rows.tables(coded=of_codes))
        write_parts(tables, tmp_path / f"{name}.parquet", MIXED)
    plain, coded = (parquet.ParquetFile(tmp_path / f"{name}.parquet") for name in ("plain", "coded"))
    assert coded.read().equals(plain.read(), check_metadata=True)
    assert coded.read().replace_schema_metadata().equals(rows.table)
    assert coded.schema_arrow.equals(plain.schema_arrow, check_metadata=True)
    assert coded.schema.equals(plain.schema), "the types that other programs see"
    assert dict(coded.metadata.metadata) == dict(plain.metadata.metadata)
    for group in range(plain.num_row_groups):
        for column in range(len(plain.schema)):
            one, other = (file.metadata.row_group(group).column(column).statistics for file in (plain, coded))
            assert (one.min, one.max, one.null_count) == (other.min, other.max, other.null_count)


def test_a_release_in_parts_writes_a_table_of_plain_types_with_its_label(tmp_path: Path) -> None:
    made = release(450, tmp_path)
    made.write(tmp_path / "t.parquet")
    assert b"counterfoil" in parquet.read_metadata(tmp_path / "t.parquet").metadata
    assert parquet.read_schema(tmp_path / "t.parquet").remove_metadata().equals(made.to_arrow().schema)


@pytest.mark.parametrize("column", MIXED.synthesized, ids=lambda column: column.name)
def test_a_text_of_a_code_is_what_decoding_gives(column: Any) -> None:
    codes = np.random.default_rng(0).integers(0, column.size, 500).astype(np.int32)
    plain, coded = column.stated(column.decode(codes, np.random.default_rng(1))), column.coded(codes)
    assert (coded is None) == (plain.type != pa.string())
    if coded is not None:
        assert coded.cast(pa.string()).equals(plain)
        for wrong in (-1, column.size):
            with pytest.raises(ValueError, match="must lie in 0 to"):
                column.coded(np.array([wrong], dtype=np.int32))


def test_a_column_that_draws_texts_in_its_own_way_is_asked_for_them() -> None:
    class Loud(Categorical):
        def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
            return pa.array([f"{rng.integers(10)}" for _ in codes])

    assert Loud("kind", ("a", "b")).coded(np.zeros(2, dtype=np.int32)) is None
