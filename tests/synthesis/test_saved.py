"""Releases at a path, of either kind: a saved folder, or a table with its receipt beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from counterfoil import synthesize
from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Domain
from counterfoil.geometry.euclidean import point_schema
from counterfoil.inference.evidence import Evidence
from counterfoil.methods.direct import Direct
from counterfoil.methods.measure_tree import MeasureTree
from counterfoil.receipt.receipt import Receipt
from counterfoil.reweighting.saved_reference import SavedRelease
from counterfoil.schema import Integer, Schema
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.saved import load_folder, load_table, receipt_beside
from counterfoil.synthesis.synthesis import Synthesis
from small_releases import released


@pytest.fixture(scope="module")
def table_release() -> Synthesis:
    return released(Direct(2), Domain(("a", "b"), (3, 2)), [(i % 3, i % 2) for i in range(50)])


@pytest.fixture(scope="module")
def point_release() -> PointSynthesis:
    points = np.random.default_rng(0).random((40, 2))
    with Curator(points, point_schema((0, 0), (1, 1)), budget=Budget(1.0), seed=8) as curator:
        return MeasureTree().synthesize(curator)


@pytest.fixture(params=[".csv", ".parquet"])
def written(request, table_release, tmp_path):
    """A table as `synth` leaves it, with its receipt beside it."""
    path = tmp_path / f"people.synthetic{request.param}"
    table_release.write(path)
    table_release.receipt.with_output(path, rows=table_release.rows).save(receipt_beside(path))
    return path


@pytest.mark.parametrize("kind", [Synthesis, PointSynthesis])
def test_a_folder_is_opened_as_what_it_holds(kind, table_release, point_release, tmp_path):
    made = table_release if kind is Synthesis else point_release
    made.save(tmp_path / "release")
    found = load_folder(tmp_path / "release")
    assert type(found) is kind
    assert found.to_arrow() == made.to_arrow()
    assert SavedRelease.load(tmp_path / "release", made.schema).receipt.document == made.receipt.document


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b"[]"])
def test_a_folder_that_is_none_is_refused(content, tmp_path):
    if content is not None:
        (tmp_path / "synthesis.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"A saved synthesis is a folder with|is damaged: synthesis\.json"):
        load_folder(tmp_path)


def test_a_table_is_read_back(written, table_release):
    assert receipt_beside(written).name == "people.synthetic.receipt.json"
    found = load_table(written, Receipt.load(receipt_beside(written)))
    assert found.column_names == table_release.to_arrow().column_names
    assert found.num_rows == table_release.rows
    assert [str(value) for value in found["a"].to_pylist()] == [
        str(value) for value in table_release.to_arrow()["a"].to_pylist()
    ]


def test_both_readers_take_the_same_table(written, table_release):
    codes = Evidence.of(written).codes
    reference = SavedRelease.load(written, table_release.schema)
    assert np.array_equal(np.column_stack([codes["a"], codes["b"]]), reference.codes)


def test_a_table_that_was_changed_is_refused(written, table_release):
    written.write_bytes(written.read_bytes() + b"\n")
    differs = f"{written} is not the table that its receipt was made for: its SHA-256 differs."
    with pytest.raises(ValueError) as refused:
        Evidence.of(written)
    assert str(refused.value) == f"{differs} Inference rests on the rows as they were released; give those."
    with pytest.raises(ValueError) as refused:
        SavedRelease.load(written, table_release.schema)
    assert str(refused.value) == differs


def test_a_file_that_is_no_table_is_refused_by_name(table_release, tmp_path):
    """Also where its receipt agrees to it."""
    for name in ("people.parquet", "people.csv"):
        path = tmp_path / name
        path.write_bytes(b"\x00PAR0" if name.endswith("parquet") else b"")
        table_release.receipt.with_output(path, rows=1).save(receipt_beside(path))
        for read in (Evidence.of, lambda one: SavedRelease.load(one, table_release.schema)):
            with pytest.raises(ValueError, match=f"{name} can't be read as a table that synth wrote: Arrow"):
                read(path)


def test_the_table_of_a_saved_release_names_the_folder_to_load(tmp_path: Path) -> None:
    """Commands take the table, and `Synthesis.load` takes the folder that it lies in or that lies beside it."""
    made = synthesize(pa.table({"a": [0, 1] * 50}), Schema((Integer("a", 0, 1),)), epsilon=1, seed=1)
    made.save(tmp_path / "s.release")
    made.write(tmp_path / "s.csv")
    made.write(tmp_path / "s.release" / "t.csv")
    made.write(tmp_path / "alone.csv")
    for table, ending in (("s.csv", "s.release'."), ("s.release/t.csv", "s.release'."), ("alone.csv", "alone.csv'.")):
        with pytest.raises(ValueError, match=r"A saved synthesis is a folder") as refused:
            Synthesis.load(tmp_path / table)
        assert str(refused.value).endswith(ending)
        assert (": give " in str(refused.value)) is (ending != "alone.csv'.")
