"""Files that version 0.1.0 wrote are read, shown, continued and added to by this one (`written_by_0_1/make.py`)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import counterfoil as cf
from counterfoil.cli.app import run
from counterfoil.methods.registry import method_names

WRITTEN = Path(__file__).parent / "written_by_0_1"
RECEIPTS = sorted((WRITTEN / "receipts").glob("*.json"))
BUDGET = cf.Budget(1.0, 1e-6)
LEDGER, REASON = "people.ledger", "to check that the columns are in order"


def people() -> pa.Table:
    """The table of which everything was made; in memory, because its ledger is for a table there."""
    return csv.read_csv(WRITTEN / "people.csv", convert_options=csv.ConvertOptions(strings_can_be_null=False))


def schema() -> cf.Schema:
    return cf.Schema.from_toml(WRITTEN / "people.schema.toml")


@pytest.fixture
def folder(tmp_path) -> Path:
    """A copy that may be written."""
    return Path(shutil.copytree(WRITTEN, tmp_path / "written"))


def opened(folder: Path) -> cf.Ledger:
    return cf.Ledger.open(folder / LEDGER, source=None)


def test_the_ledger_adds_up_as_it_did(folder):
    with opened(folder) as ledger:
        assert str(ledger.total) == "epsilon 10 and delta 0.0001"
        assert str(ledger.left()) == "epsilon 6.9 and delta 9.6999e-05"
        assert str(ledger.spent()) == "epsilon 3.1 and delta 3.001e-06"
        assert ledger.revealed
        assert [record.status for record in ledger.releases()] == ["closed", "closed", "abandoned", "open", "closed"]
        assert [len(record.charges) for record in ledger.releases()] == [14, 1, 0, 2, 1]
        entries = ledger.entries()
    assert len(entries) == 29
    assert {entry.version for entry in entries} == {"0.1.0"}
    assert entries[-1].hash == "d21f752fca51e4407ca915062104d9b4e1e6195db10a3a700296185e98248771", (
        "the hashes of old entries stay what they were"
    )


def test_the_ledger_is_shown(folder, capsys):
    assert run(["ledger", "show", str(folder / LEDGER)]) == 0
    shown = capsys.readouterr().out
    assert REASON in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80
    assert run(["ledger", "show", str(folder / LEDGER), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["revealed"] == [REASON]
    assert document["left"] == {"epsilon": 6.9, "delta": 9.6999e-05}


def test_the_ledger_is_added_to(folder):
    with opened(folder) as ledger:
        before = [entry.hash for entry in ledger.entries()]
        with cf.Curator(people(), schema(), budget=BUDGET, ledger=ledger, seed=2) as curator:
            made = cf.Independent().synthesize(curator)
        assert made.receipt.verify().holds
        assert str(ledger.left()) == "epsilon 5.9 and delta 9.5999e-05"
    with opened(folder) as ledger:
        entries = ledger.entries()
        assert [entry.hash for entry in entries[: len(before)]] == before
        assert [entry.kind for entry in entries[len(before) :]] == ["release_opened", "charged", "release_closed"]


def test_the_stopped_release_is_continued(folder):
    method = cf.PrivateEvolution.preset("practical", iterations=3, population=8)
    with opened(folder) as ledger:
        with cf.Curator(people(), schema(), budget=BUDGET, ledger=ledger, seed=1) as curator:
            made = method.synthesize(curator, checkpoint=folder / "evolution.checkpoint")
        assert made.receipt.verify().holds
        record = ledger.releases()[3]
        assert (record.status, len(record.charges)) == ("closed", 4), "it paid for what was left, and no more"
        assert len(ledger.releases()) == 5
        assert str(ledger.left()) == "epsilon 6.9 and delta 9.6999e-05"


def test_the_methods_of_every_receipt_are_still_there():
    names = {json.loads(path.read_text())["method"]["name"] for path in RECEIPTS}
    assert len(names) == 7
    assert names <= {*method_names()}


@pytest.mark.parametrize("path", RECEIPTS, ids=lambda path: path.stem)
def test_a_receipt_is_verified_and_shown(path):
    receipt = cf.Receipt.load(path)
    assert receipt.verify().holds
    assert receipt.document["method"]["name"] in receipt.text()


@pytest.mark.parametrize("path", RECEIPTS, ids=lambda path: path.stem)
def test_a_receipt_that_was_changed_is_still_refused(path):
    document = json.loads(path.read_text())
    document["spent"]["epsilon"] *= 0.9
    assert not cf.Receipt(document).verify().holds


def test_a_synthesis_is_loaded_and_sampled(tmp_path):
    made = cf.Synthesis.load(WRITTEN / "synthesis")
    assert made.rows == 65
    assert made.marginal(["job"]).counts == pytest.approx([19.36843822, 30.79398188, 14.56485262])
    fresh = made.sample(20, {"job": "nurse", "rich": True}, seed=0)
    assert fresh.num_rows == 20
    assert set(fresh["job"].to_pylist()) == {"nurse"}
    assert made.error_bars.former.bar(["job"], 0.05).records == pytest.approx(196.8363100398467)
    assert made.error_bar(["job"]).records == pytest.approx(243.89394846601567)  # an error is at least 0
    assert made.receipt.document["fidelity"]
    assert made.receipt.document["certificates"]
    made.save(tmp_path / "again")
    again = cf.Synthesis.load(tmp_path / "again")
    assert again.to_arrow().equals(made.to_arrow())
    assert np.array_equal(again.marginal(["job", "pay"]), made.marginal(["job", "pay"]))


def test_points_are_loaded(tmp_path):
    made = cf.PointSynthesis.load(WRITTEN / "points")
    assert made.rows == 61
    assert made.points.shape == (17, 8)
    made.save(tmp_path / "again")
    again = cf.PointSynthesis.load(tmp_path / "again")
    assert again.to_arrow().equals(made.to_arrow())
    assert np.array_equal(again.points, made.points)
    assert np.array_equal(again.weights, made.weights)


def test_a_table_is_verified_with_its_receipt():
    receipt = cf.Receipt.load(WRITTEN / "synth.receipt.json")
    assert receipt.document["outputs"][0]["file"] == "synth.csv"
    assert receipt.verify(WRITTEN).holds


def test_a_table_that_was_changed_is_not(folder):
    with (folder / "synth.csv").open("a") as file:
        file.write("1\n")
    assert not cf.Receipt.load(folder / "synth.receipt.json").verify(folder).holds


def test_the_folder_stays_small():
    assert sum(path.stat().st_size for path in WRITTEN.rglob("*") if path.is_file()) < 300_000
