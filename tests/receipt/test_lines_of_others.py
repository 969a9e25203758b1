"""What a field of a receipt says never becomes a line of its own in what verification says about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from counterfoil.cli.app import run
from counterfoil.receipt.receipt import Receipt

OLDER = Path("tests/written_by_0_1/receipts/mst-fidelity.json")
CLAIM = "The receipt holds: its charges (3) stay within the budget."
EVIL = f"x\n{CLAIM}\r\x1b[2J\u2028{CLAIM}"


def places(value: Any, place: tuple = ()) -> Iterator[tuple]:
    """Each text, and each object, of the first two entries of each list."""
    if isinstance(value, dict):
        yield place
        for key, part in value.items():
            yield from places(part, (*place, key))
    elif isinstance(value, list):
        for number, part in enumerate(value[:2]):
            yield from places(part, (*place, number))
    elif isinstance(value, str):
        yield place


def forged(original: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The receipt with one text replaced, or one key added to an object, each in turn."""
    for place in places(original):
        document = deepcopy(original)
        holder: Any = document
        for step in place[:-1]:
            holder = holder[step]
        at = holder[place[-1]] if place else document
        if isinstance(at, dict):
            at[EVIL] = EVIL
        else:
            holder[place[-1]] = EVIL
        yield document


def test_no_text_of_a_receipt_breaks_a_line() -> None:
    original = json.loads(OLDER.read_text())
    original["outputs"] = [{"file": "s.csv", "sha256": "0" * 64, "rows": 3}]
    told = 0
    for document in forged(original):
        try:
            found = Receipt(document).verify()
            said = [*found.problems, *found.unvouched, *Receipt(document).text().splitlines()]
        except ValueError as error:
            said = [str(error)]
        told += any(CLAIM in line for line in said)
        for line in said:
            assert line.isprintable(), line
            assert not line.startswith("The receipt holds")
    assert told > 20, "nothing that was forged is quoted: this test sees nothing"


CHANGES = {
    "query": lambda d: d["charges"][0].update(query=EVIL),
    "target": lambda d: d["certificates"][0].update(target=EVIL),
    "basis": lambda d: d["certificates"][0].update(basis=EVIL),
    "measure": lambda d: d["fidelity"][0].update(measure=EVIL),
    "file": lambda d: d["outputs"].append({"file": EVIL, "sha256": "0" * 64, "rows": 1}),
    "parameter": lambda d: d["charges"][0]["parameters"].update({EVIL: 1}),
    "program": lambda d: d["program"].update({EVIL: "1"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_the_command_prints_no_line_of_the_forger(name: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    document = json.loads(OLDER.read_text())
    CHANGES[name](document)
    (tmp_path / "r.json").write_text(json.dumps(document))
    status = run(["receipt", "verify", str(tmp_path / "r.json")])
    out = capsys.readouterr().out
    assert (status == 0) == (name == "file")
    assert [line.startswith("The receipt holds") for line in out.splitlines()].count(True) == (name == "file")
    assert "\x1b" not in out


def test_a_pattern_ends_where_the_text_ends() -> None:
    for change in (
        lambda d: d["composition"].update(rule=d["composition"]["rule"] + "\n"),
        lambda d: d.update(schema_sha256=d["schema_sha256"] + "\n"),
        lambda d: d["charges"][0]["noise"].update(kind=d["charges"][0]["noise"]["kind"] + "\n"),
    ):
        document = json.loads(OLDER.read_text())
        change(document)
        with pytest.raises(ValueError, match="must match"):
            Receipt(document)
