"""Folders of saved releases, of tables and of points: written whole or not at all, refused where they were changed."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Domain
from counterfoil.files import sha256_of
from counterfoil.geometry.euclidean import point_schema
from counterfoil.graphical_model import graphical_model
from counterfoil.methods.direct import Direct
from counterfoil.methods.measure_tree import MeasureTree
from counterfoil.receipt.receipt import Receipt
from counterfoil.synthesis import folder as release_folder
from counterfoil.synthesis.folder import load_parquet
from counterfoil.synthesis.point_synthesis import PointSynthesis
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.table import write_table
from saved_releases import agree
from small_releases import released

FILES = {
    Synthesis: ["error_bars.json", "model.npz", "receipt.json", "rows.arrow", "schema.toml", "synthesis.json"],
    PointSynthesis: ["points.npz", "receipt.json", "rows.parquet", "schema.toml", "support.parquet", "synthesis.json"],
}
INDEX = "synthesis.json"


def made_points() -> PointSynthesis:
    points = np.random.default_rng(0).random((40, 2))
    with Curator(points, point_schema((0, 0), (1, 1)), budget=Budget(1.0), seed=8) as curator:
        return MeasureTree().synthesize(curator)


@pytest.fixture(scope="module", params=list(FILES), ids=["table", "points"])
def made(request) -> Synthesis | PointSynthesis:
    if request.param is PointSynthesis:
        return made_points()
    return released(Direct(2), Domain(("a", "b"), (3, 2)), [(i % 3, i % 2) for i in range(50)])


def refused(made: Any, saved: Path, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        type(made).load(saved)


def test_it_holds_these_files_and_nothing_is_left_beside_it(made, saved):
    assert sorted(os.listdir(saved)) == FILES[type(made)]
    assert os.listdir(saved.parent) == ["release"]
    modes = {stat.S_IMODE((saved / name).stat().st_mode) for name in FILES[type(made)]}
    assert len(modes) == 1, "all can be read by whoever can read one"


def test_it_is_not_written_over(made, saved):
    before = {name: sha256_of(saved / name) for name in FILES[type(made)]}
    with pytest.raises(ValueError, match=r"saved to a new folder\. Found .*release': remove it"):
        made.save(saved)
    assert before == {name: sha256_of(saved / name) for name in FILES[type(made)]}


def test_a_place_that_is_not_there(made, tmp_path):
    with pytest.raises(OSError, match="absent"):
        made.save(tmp_path / "absent" / "release")


@pytest.mark.parametrize(("owner", "name"), [(Receipt, "save"), (release_folder, "sha256_of")])
def test_a_save_that_fails_leaves_nothing(made, tmp_path, monkeypatch, owner, name):
    def fail(*_, **__):
        raise OSError("no space left on device")

    monkeypatch.setattr(owner, name, fail)
    with pytest.raises(OSError, match="no space"):
        made.save(tmp_path / "release")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("place", range(6))
def test_a_missing_file(made, saved, place):
    name = FILES[type(made)][place]
    (saved / name).unlink()
    message = f"folder with {INDEX} in it" if name == INDEX else f"incomplete: {name} is missing"
    refused(made, saved, message)


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("harm", ["cut", "changed", "emptied"])
def test_a_damaged_file(made, saved, place, harm):
    path = saved / FILES[type(made)][place]
    data = bytearray(path.read_bytes())
    if harm == "changed":
        data[len(data) // 2] ^= 1
    path.write_bytes({"cut": data[: len(data) // 2], "changed": data, "emptied": b""}[harm])
    refused(made, saved, r"damaged|format version")


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ({"format_version": 99}, "must have format version 1. Found 99: read it with the release of Counterfoil"),
        ({"format_version": None}, "must have format version 1. Found None"),
        ({"format": "counterfoil.receipt"}, "damaged: synthesis.json"),
        ({"format": ["counterfoil.points"]}, "damaged: synthesis.json"),
        ({"files": None}, "damaged"),
        ({"files": {}}, "damaged"),
    ],
)
def test_another_format(made, saved, index, message):
    path = saved / INDEX
    path.write_text(json.dumps(json.loads(path.read_text()) | index))
    refused(made, saved, message)


def other_model(saved: Path) -> None:
    model = graphical_model.load(saved / "model.npz")
    first, table = next(iter(model.potentials.items()))
    potentials = {**model.potentials, first: table + np.linspace(0, 1, table.size).reshape(table.shape)}
    graphical_model.GraphicalModel(model.domain, potentials, model.total).save(saved / "model.npz")


def other_bars(saved: Path) -> None:
    bars = json.loads((saved / "error_bars.json").read_text())
    (saved / "error_bars.json").write_text(json.dumps(bars | {"total_error": bars["total_error"] / 10}))


def other_weights(saved: Path) -> None:
    with np.load(saved / "points.npz") as stored:
        np.savez(saved / "points.npz", points=stored["points"], weights=stored["weights"][::-1])


def other_values(saved: Path) -> None:
    table = load_parquet(saved / "support.parquet")
    write_table(table.take(list(range(table.num_rows))[::-1]), saved / "support.parquet")


@pytest.mark.parametrize(
    ("kind", "name", "change", "message"),
    [
        (Synthesis, "model.npz", other_model, "another model"),
        (Synthesis, "error_bars.json", other_bars, "other error bars"),
        (PointSynthesis, "points.npz", other_weights, "other points"),
        (PointSynthesis, "support.parquet", other_values, "other points"),
    ],
)
def test_what_the_receipt_was_not_made_with(made, saved, kind, name, change, message):
    """Well-formed, and the index agrees: only the receipt's digests show it."""
    if type(made) is not kind:
        pytest.skip("the other kind")
    before = sha256_of(saved / name)
    change(saved)
    assert sha256_of(saved / name) != before
    agree(saved, name)
    refused(made, saved, f"its receipt was made with {message}")


def test_what_is_kept_has_one_digest_however_often_it_was_saved(made, saved, tmp_path):
    loaded = type(made).load(saved)
    loaded.save(tmp_path / "again")
    again = type(made).load(tmp_path / "again")
    assert again.receipt == made.receipt
    assert set(made.receipt.document["kept"]) == (
        {"model", "error_bars"} if isinstance(made, Synthesis) else {"points", "support"}
    )


def test_the_other_kind_is_named(made, saved):
    other = PointSynthesis if isinstance(made, Synthesis) else Synthesis
    with pytest.raises(
        ValueError, match=rf"of another kind. Found a table[a-z ]*: read it with `{type(made).__name__}\.load`"
    ):
        other.load(saved)


def test_what_is_not_there(made, tmp_path):
    for path in (tmp_path, tmp_path / "absent"):
        refused(made, path, r"A saved synthesis is a folder with synthesis\.json in it. Found none")
