"""The methods for points on the command line: their flags, their privacy, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import Office, make_office
from counterfoil.receipt.receipt import Receipt

POINTS = """\
name = "places"

[columns.east]
kind = "real"
lower = -1.0
upper = 1.0
resolution = 0.001

[columns.north]
kind = "real"
lower = 0.0
upper = 2.0
resolution = 0.001
"""


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    office = make_office(tmp_path, capsys, monkeypatch)
    rows = "".join(f"{(i % 40) / 40 - 0.5},{(i % 23) / 23}\n" for i in range(400))
    Path("places.csv").write_text("east,north\n" + rows)
    Path("places.schema.toml").write_text(POINTS)
    return office


def synth(office: Office, *arguments: str):
    return office.run("synth", "places.csv", "--schema", "places.schema.toml", "--epsilon", "1", *arguments)


@pytest.mark.parametrize(
    ("arguments", "delta"),
    [
        (["--method", "evolution", "--delta", "1e-4", "--iterations", "2", "--population", "20"], 1e-4),
        (["--method", "evolution", "--preset", "practical", "--iterations", "2", "--population", "20"], 1e-9),
        (["--method", "signed-measure"], 0.0),
        (["--method", "signed-measure", "--delta", "1e-4"], 1e-4),
        (["--method", "measure-tree"], 0.0),
    ],
)
def test_points_in_points_and_a_receipt_that_verifies_out(office: Office, arguments: list[str], delta: float) -> None:
    ended = synth(office, *arguments, "--out", "s.csv", "--rows", "30")
    assert ended.status == 0, ended.err
    receipt = Receipt.load("s.receipt.json")
    assert receipt.verify(office.path).holds
    assert receipt.document["budget"] == {"epsilon": 1.0, "delta": delta}
    lines = Path("s.csv").read_text().splitlines()
    assert lines[0].replace('"', "") == "east,north"
    assert len(lines) == 31
    assert all(-1 <= float(line.split(",")[0]) <= 1 for line in lines[1:])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--method", "evolution", "--preset", "practicle"], "practical"),
        (["--method", "mst", "--preset", "practical"], "Method 'mst' takes no `preset`"),
        (["--method", "mst", "--iterations", "3"], "Method 'mst' takes no `iterations`"),
        (["--method", "evolution", "--delta", "0"], "delta"),
        (["--method", "evolution", "--iterations", "0"], "`iterations` must be at least 1"),
        (["--method", "measure-tree", "--fidelity", "0.05"], "Fidelity can be measured for the methods"),
        (["--method", "measure-tree", "--target", "x"], "`--target` certifies linear models for the methods aim,"),
    ],
)
def test_refusals_say_what_to_do_and_leave_nothing(office: Office, arguments: list[str], sentence: str) -> None:
    before = office.files()
    ended = synth(office, *arguments, "--out", "s.csv")
    assert ended.status == 2
    assert sentence in " ".join(ended.err.split())
    assert office.files() == before
