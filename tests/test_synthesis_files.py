"""A synthesis saved and read back: all of it, or a clear refusal."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from counterfoil import release_folder
from counterfoil.curator.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.files import sha256_of
from counterfoil.marginals.aim import AIM
from counterfoil.marginals.direct import Direct
from counterfoil.marginals.graphical_model import GraphicalModel
from counterfoil.report.receipt import Receipt
from counterfoil.schema import Schema
from counterfoil.synthesis import Synthesis

SCHEMA = Schema.from_toml("""
name = "visits"

[columns.visit]
kind = "identifier"
replace = "uuid"

[columns.day]
kind = "date"
lower = 2024-01-01
upper = 2024-12-31
bins = 12
missing = true

[columns.cost]
kind = "real"
lower = 0.0
upper = 500.0
bins = 8

[columns.ward]
kind = "categorical"
values = ["north", "south"]
other = true

[[rules]]
if = "ward == 'north'"
then = "cost <= 300"
""")
FILES = ["error_bars.json", "model.npz", "receipt.json", "rows.arrow", "schema.toml", "synthesis.json"]


def visits(n: int = 400) -> pa.Table:
    rng = np.random.default_rng(6)
    ward = np.array(["north", "south", "attic"])[rng.integers(0, 3, n)]
    cost = rng.uniform(0, 500, n)
    return pa.table(
        {
            "visit": [f"v{i}" for i in range(n)],
            "day": pa.array(np.datetime64("2024-01-01") + rng.integers(0, 366, n), mask=rng.random(n) < 0.1),
            "cost": np.where(ward == "north", cost * 0.5, cost),
            "ward": ward,
        }
    )


def release_by(method, budget: Budget = Budget(1.0, 1e-6)) -> Synthesis:
    with Curator(visits(), SCHEMA, budget=budget, seed=8) as curator:
        return method.synthesize(curator)


@pytest.fixture(scope="module")
def made() -> Synthesis:
    return release_by(AIM(variant="published"))


@pytest.fixture(scope="module")
def master(made, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "release"
    made.save(path)
    return path


@pytest.fixture
def saved(master, tmp_path) -> Path:
    return Path(shutil.copytree(master, tmp_path / "release"))


@pytest.mark.parametrize(
    "method", [AIM(variant="published"), AIM(), Direct(2)], ids=["passed over", "told", "measured"]
)
def test_what_is_loaded_is_what_was_saved(method, tmp_path):
    made = release_by(method)
    made.save(tmp_path / "release")
    loaded = Synthesis.load(tmp_path / "release")
    assert loaded.to_arrow().equals(made.to_arrow())
    assert loaded.to_arrow().schema.equals(made.to_arrow().schema)
    assert loaded.drawn.codes.dtype == np.int32
    assert np.array_equal(loaded.drawn.codes, made.drawn.codes)
    assert loaded.schema == made.schema
    assert loaded.receipt == made.receipt
    assert loaded.error_bars == made.error_bars
    assert loaded.model.total == made.model.total
    for clique in (["day"], ["cost", "ward"], ["day", "cost", "ward"]):
        assert np.array_equal(loaded.marginal(clique), made.marginal(clique))
        assert loaded.error_bar(clique, 0.01) == made.error_bar(clique, 0.01)
    assert loaded.sample(30, {"ward": "north"}, seed=1).equals(made.sample(30, {"ward": "north"}, seed=1))


def test_a_loaded_synthesis_is_saved_the_same(saved, tmp_path):
    Synthesis.load(saved).save(tmp_path / "again")
    for name in FILES:
        if name not in ("model.npz", "synthesis.json"):  # archives hold the time
            assert (tmp_path / "again" / name).read_bytes() == (saved / name).read_bytes()


def test_the_folder_holds_these_files_and_nothing_is_left_beside_it(saved):
    assert sorted(os.listdir(saved)) == FILES
    assert os.listdir(saved.parent) == ["release"]
    modes = {stat.S_IMODE((saved / name).stat().st_mode) for name in FILES}
    assert len(modes) == 1, "all can be read by whoever can read one"


def test_a_folder_is_not_written_over(made, saved):
    before = {name: sha256_of(saved / name) for name in FILES}
    with pytest.raises(ValueError, match=r"saved to a new folder\. Found .*release': remove it"):
        made.save(saved)
    assert before == {name: sha256_of(saved / name) for name in FILES}


def test_a_place_that_is_not_there(made, tmp_path):
    with pytest.raises(OSError, match="absent"):
        made.save(tmp_path / "absent" / "release")


@pytest.mark.parametrize("at", ["model", "receipt", "index"])
def test_a_save_that_fails_leaves_nothing(made, tmp_path, monkeypatch, at):
    def fail(*_, **__):
        raise OSError("no space left on device")

    if at == "model":
        monkeypatch.setattr(GraphicalModel, "save", fail)
    elif at == "receipt":
        monkeypatch.setattr(Receipt, "save", fail)
    else:
        monkeypatch.setattr(release_folder, "sha256_of", fail)
    with pytest.raises(OSError, match="no space"):
        made.save(tmp_path / "release")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file(saved, name):
    (saved / name).unlink()
    message = "folder with synthesis.json in it" if name == "synthesis.json" else f"incomplete: {name} is missing"
    with pytest.raises(ValueError, match=message):
        Synthesis.load(saved)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("harm", ["cut", "changed", "emptied"])
def test_a_damaged_file(saved, name, harm):
    data = bytearray((saved / name).read_bytes())
    if harm == "changed":
        data[len(data) // 2] ^= 1
    (saved / name).write_bytes({"cut": data[: len(data) // 2], "changed": data, "emptied": b""}[harm])
    with pytest.raises(ValueError, match=r"damaged|format version"):
        Synthesis.load(saved)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ({"format_version": 2}, "must have format version 1. Found 2: read it with the release of Counterfoil"),
        ({"format_version": None}, "must have format version 1. Found None"),
        ({"format": "counterfoil.receipt"}, "damaged: synthesis.json"),
        ({"files": None}, "damaged"),
        ({"files": {}}, "damaged"),
    ],
)
def test_another_format(saved, index, message):
    path = saved / "synthesis.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | index))
    with pytest.raises(ValueError, match=message):
        Synthesis.load(saved)


def test_what_is_not_there(tmp_path):
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(ValueError, match=r"A saved synthesis is a folder with synthesis\.json in it. Found none"):
            Synthesis.load(path)


def forge(saved: Path, name: str, text: str) -> None:
    """Writes a file and has the index agree."""
    (saved / name).write_text(text)
    index = json.loads((saved / "synthesis.json").read_text())
    index["files"][name] = sha256_of(saved / name)
    (saved / "synthesis.json").write_text(json.dumps(index))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("error_bars.json", "[]", "can't be read"),
        ("error_bars.json", '{"bounds": [{"kind": "guessed", "attributes": ["day"]}]}', "can't be read: 'guessed'"),
        ("error_bars.json", '{"bounds": [{"kind": "told", "attributes": ["day"]}]}', "can't be read: .*argument"),
        ("error_bars.json", '{"bounds": [{"kind": "told", "attributes": ["z"]}]}', "can't be read: .*Unknown: 'z'"),
        ("rows.arrow", "not arrow", "can't be read"),
        ("model.npz", "not a model", "can't be read: .*archive of plain arrays"),
        ("receipt.json", "{}", "can't be read"),
    ],
)
def test_a_file_that_says_something_else(saved, name, text, message):
    forge(saved, name, text)
    with pytest.raises(ValueError, match=message):
        Synthesis.load(saved)


def test_parts_that_do_not_belong_together(saved):
    forge(saved, "schema.toml", (saved / "schema.toml").read_text().replace("bins = 8", "bins = 9"))
    with pytest.raises(ValueError, match="its model and its schema have other columns"):
        Synthesis.load(saved)
