"""A number of rows is refused for what is really held: all of them, or a few parts and the file they go to."""

from __future__ import annotations

import os
import shutil
from collections import namedtuple
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import counterfoil
from command_line import Office, make_office
from counterfoil.domain.layout import Layout
from counterfoil.publishing.checksums import write_checksums
from counterfoil.publishing.release_check import release_problems
from counterfoil.receipt.receipt import Receipt
from counterfoil.synthesis import row_parts
from counterfoil.synthesis.folder import ArrowFile
from counterfoil.synthesis.row_memory import require_rows_fit
from counterfoil.synthesis.row_parts import RowParts, draw_parts, held_bytes
from counterfoil.synthesis.saved_rows import SavedRows
from counterfoil.synthesis.streamed_rows import require_streamed_rows_fit
from counterfoil.synthesis.synthesis import Synthesis

Usage = namedtuple("Usage", "total used free")
GB = 2**30


def machine(monkeypatch: pytest.MonkeyPatch, *, memory: int, disk: int, threads: int = 2) -> None:
    """This process as it would be on another machine."""
    asked, really = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": memory // 4096}, os.sysconf
    monkeypatch.setattr(os, "sysconf", lambda name: asked[name] if name in asked else really(name))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(disk, 0, disk))
    monkeypatch.setenv("OMP_NUM_THREADS", str(threads))


def test_a_hundred_million_rows_are_written_where_they_can_not_be_held(monkeypatch, tmp_path):
    machine(monkeypatch, memory=4 * GB, disk=100 * GB)
    require_streamed_rows_fit(10**8, 15, tmp_path / "made.parquet")
    with pytest.raises(ValueError, match="would need about 22 GB of memory, of which there are 4"):
        require_rows_fit(10**8, 15)


@pytest.mark.parametrize("rows", [0, -1, True, 1.0, "7"])
def test_what_is_no_number_of_rows_is_refused_in_both_ways(rows, tmp_path):
    for require in (lambda: require_rows_fit(rows, 2), lambda: require_streamed_rows_fit(rows, 2, tmp_path / "m.csv")):
        with pytest.raises(ValueError, match="`rows` must be a whole number of at least 1"):
            require()


def test_a_file_that_the_disk_can_not_hold_is_refused(monkeypatch, tmp_path):
    machine(monkeypatch, memory=64 * GB, disk=10 * GB)
    require_streamed_rows_fit(10**9, 8, tmp_path / "made.parquet")
    with pytest.raises(ValueError, match="at least 15 GB on disk, of which 10 are free"):
        require_streamed_rows_fit(2 * 10**9, 8, tmp_path / "made.csv")
    machine(monkeypatch, memory=64 * GB, disk=GB // 1024)
    with pytest.raises(ValueError, match="at least 2 MB on disk, of which 1 are free"):
        require_streamed_rows_fit(2 * 10**6, 1, tmp_path / "made.csv")
    machine(monkeypatch, memory=64 * GB, disk=10 * GB)
    with pytest.raises(ValueError, match="at least 19 GB on disk"):
        require_streamed_rows_fit(2 * 10**10, 8, tmp_path / "made.parquet")


def test_what_is_held_grows_with_the_parts_at_work_and_hardly_with_the_rows(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    few, many = held_bytes(10**7, 15), held_bytes(10**9, 15)
    assert few == 16 * 2 * 2**20 * 15 + 15 * 10**7 + 10 * 64 * 512
    assert many < 2 * few
    assert held_bytes(10**16, 2) > 10**12, "where each part is takes memory too"
    assert held_bytes(1000, 3) == 16 * 1000 * 3 + 3000


def test_what_is_counted_for_the_places_of_codes_is_what_they_take(monkeypatch):
    import tracemalloc

    monkeypatch.setattr(row_parts, "PART_ROWS", 8)
    monkeypatch.setattr(row_parts, "SLICE_ROWS", 2)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    schema = small().schema
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    rows = draw_parts(small().model, schema, 8 * 500, np.random.default_rng(0))
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert isinstance(rows, RowParts)
    columns = len(schema.synthesized)
    assert held <= held_bytes(8 * 500, columns) + 100_000
    assert held > held_bytes(8 * 500, columns) / 8


def small() -> Synthesis:
    import pandas as pd

    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], 300), "age": rng.integers(0, 100, 300)})
    text = '[columns.sex]\nkind = "categorical"\nvalues = ["F", "M"]\n'
    text += '[columns.age]\nkind = "integer"\nlower = 0\nupper = 99\n'
    schema = counterfoil.Schema.from_toml(text)
    made = counterfoil.synthesize(frame, schema, epsilon=1, method="mst", seed=0)
    assert isinstance(made, Synthesis)
    return made


MANY = 20_000
"""Rows that a machine of half a megabyte, where parts have 1,024 rows, can write and can't hold."""


@pytest.fixture
def office(tmp_path, capsys, monkeypatch) -> Office:
    office = make_office(tmp_path, capsys, monkeypatch)
    made = counterfoil.synthesize(str(office.path / "people.csv"), "people.toml", epsilon=3.0, method="direct", seed=1)
    made.save(office.path / "kept")
    monkeypatch.setattr(row_parts, "PART_ROWS", 1024)
    monkeypatch.setattr(row_parts, "SLICE_ROWS", 512)
    machine(monkeypatch, memory=512 * 1024, disk=GB, threads=1)
    return office


@pytest.mark.parametrize("name", ["many.parquet", "many.csv"])
def test_the_command_writes_rows_that_memory_can_not_hold(office, name):
    made = office.synth("--rows", str(MANY), "--out", name, method="mst")
    assert made.status == 0, made.err
    path = office.path / name
    found = parquet.read_metadata(path).num_rows if path.suffix == ".parquet" else path.read_text().count("\n") - 1
    assert found == MANY
    assert office.run("receipt", "verify", "many.receipt.json").status == 0


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_the_command_writes_a_folder_that_memory_can_not_hold(office, form, monkeypatch):
    made = office.synth("--rows", str(MANY), "--out", "release/", "--format", form, method="mst")
    assert made.status == 0, made.err
    folder = office.path / "release"
    assert office.run("receipt", "verify", "release/").status == 0
    assert f"{MANY:,}" in (folder / "report.html").read_text()
    assert office.run("sample", "release", "--rows", "10", "--out", "ten.csv").status == 0
    assert office.run("marginal", "release", "sex").status == 0
    assert office.run("report", "release", "--out", "again.html").status == 0
    kept = Synthesis.load(folder)
    assert isinstance(kept.drawn, SavedRows)
    assert kept.rows == MANY == sum(table.num_rows for table in kept.drawn.tables())
    machine(monkeypatch, memory=128 * 1024, disk=GB)
    with pytest.raises(ValueError, match="GB of memory"):
        kept.to_arrow()
    with pytest.raises(ValueError, match="GB of memory"):
        _ = kept.codes


def test_the_command_keeps_the_model_of_rows_that_memory_can_not_hold(office):
    made = office.synth("--rows", str(MANY), "--out", "many.parquet", "--keep-model", method="mst")
    assert made.status == 0, made.err
    assert office.run("report", "many.parquet", "--out", "many.html").status == 0
    assert f"{MANY:,}" in (office.path / "many.html").read_text()


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_folder_of_many_rows_with_another_table_is_found_out(office, form):
    office.synth("--rows", str(MANY), "--out", "release/", "--format", form, method="mst")
    office.synth("--rows", str(MANY), "--out", "other/", "--format", form, method="mst")
    folder, name = office.path / "release", f"synthetic.{form}"
    assert not list(release_problems(folder))
    (folder / name).write_bytes((office.path / "other" / name).read_bytes())
    write_checksums(folder)
    assert any("holds other rows than the saved release" in problem for problem in release_problems(folder))


def test_saved_rows_count_and_code_as_those_in_memory_do(monkeypatch, tmp_path):
    made = small()
    monkeypatch.setattr(row_parts, "PART_ROWS", 64)
    monkeypatch.setattr(row_parts, "SLICE_ROWS", 32)
    rows = draw_parts(made.model, made.schema, 1000, np.random.default_rng(0))
    document = made.receipt.to_json() | {"rows": {**made.receipt.document["rows"], "drawn": 1000, "how": "as asked"}}
    replace(made, drawn=rows, receipt=Receipt(document)).save(tmp_path / "kept")
    saved = Synthesis.load(tmp_path / "kept").drawn
    assert isinstance(saved, SavedRows)
    assert saved.count == rows.count == 1000
    assert saved.arrow_schema.equals(rows.arrow_schema)
    assert np.array_equal(saved.codes, rows.codes)
    assert saved.table.equals(rows.table)
    layout = Layout.of(made.schema.domain, [("sex",), ("sex", "age")])
    assert np.array_equal(saved.counts(layout), rows.counts(layout))


def test_saved_rows_without_a_place_are_found_out_when_they_are_looked_at(monkeypatch, tmp_path):
    made, path = small(), tmp_path / "rows.arrow"
    table = pa.table({"sex": ["F", "M", "X"], "age": [1, 2, 3]})
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=1)
    rows = SavedRows.of(ArrowFile.of(path), made.schema)
    assert rows.count == 3
    for look in (
        rows.require_placed,
        lambda: rows.codes,
        lambda: rows.counts(Layout.of(made.schema.domain, [("sex",)])),
    ):
        with pytest.raises(ValueError, match="sex"):
            look()
    with pa.ipc.new_file(str(path), table.drop(["age"]).schema) as writer:
        writer.write_table(table.drop(["age"]))
    with pytest.raises(ValueError, match="no column 'age'"):
        SavedRows.of(ArrowFile.of(path), made.schema)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("mst", ("--fidelity", "0.1")),
        ("mst", ("--fidelity", "0.1", "--out", "release/")),
        ("reweighting", ()),
        ("evolution", ()),
    ],
)
def test_the_command_refuses_them_where_they_would_be_held(office, method, arguments):
    before = office.files()
    refused = office.synth("--rows", str(MANY), *arguments, method=method)
    assert refused.status == 2
    assert "GB of memory" in refused.err
    assert office.files() == before


def test_more_rows_are_sampled_than_memory_can_hold(office, monkeypatch):
    assert office.run("sample", "kept", "--rows", str(MANY), "--out", "more.parquet", "--seed", "5").status == 0
    found = parquet.read_table("more.parquet")
    machine(monkeypatch, memory=GB, disk=GB)
    assert found.equals(Synthesis.load(office.path / "kept").sample(MANY, seed=5))


def test_rows_under_an_expression_are_held_and_refused(office):
    refused = office.run("sample", "kept", "--rows", str(MANY), "--where", "age > 10", "--out", "more.parquet")
    assert refused.status == 2
    assert "GB of memory" in refused.err


def test_frames_that_memory_can_not_hold_are_refused_and_the_file_is_written(monkeypatch, tmp_path):
    made = small()
    monkeypatch.setattr(row_parts, "PART_ROWS", 1024)
    many = draw_parts(made.model, made.schema, 40_000, np.random.default_rng(0))
    held = Synthesis(made.schema, many, made.model, made.error_bars, made.receipt)
    machine(monkeypatch, memory=128 * 1024, disk=GB)
    for frame in (held.to_arrow, held.to_pandas, held.to_polars, lambda: held.codes):
        with pytest.raises(ValueError, match=r"GB of memory.* Write them to a file"):
            frame()
    held.write(tmp_path / "made.parquet")
    assert parquet.read_metadata(tmp_path / "made.parquet").num_rows == 40_000


def test_a_sample_is_written_as_it_would_be_held(tmp_path):
    made = small()
    for number, where in enumerate([None, {"sex": "F"}, "age > 50"]):
        made.write_sample(tmp_path / f"{number}.parquet", 500, where, seed=7)
        assert parquet.read_table(tmp_path / f"{number}.parquet").equals(made.sample(500, where, seed=7))
    with pytest.raises(ValueError, match="at least 1"):
        made.write_sample(tmp_path / "none.parquet", 0)
