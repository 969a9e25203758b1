"""A release whose receipt is written and that stays open in its ledger, and what ends it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Ended, Office, make_office
from counterfoil.ledger.errors import LedgerError
from counterfoil.ledger.ledger import Release

BUY = ("schema", "people.csv", "--epsilon", "40", "--share", "0.5", "--ledger", "people.ledger", "--out", "b.toml")
REST = ("synth", "people.csv", "--schema", "b.toml", "--rest", "--ledger", "people.ledger", "--out", "b.csv")
RECEIPT = "b.schema.receipt.json"


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    made = make_office(tmp_path, capsys, monkeypatch)
    Path("people.ledger").unlink()  # so large a budget that a purchase finds every column of 300 rows
    create = ("ledger", "create", "people.ledger", "--source", "people.csv", "--epsilon", "41", "--delta", "1e-6")
    assert made.run(*create).status == 0
    return made


def bought(office: Office, monkeypatch: pytest.MonkeyPatch, busy: str) -> None:
    """A schema whose ledger could not be written at the end of its purchase."""

    def fail(*_: object) -> None:
        raise LedgerError("The ledger is busy.")

    with monkeypatch.context() as patched:
        patched.setattr(Release, busy, fail)
        ended = office.run(*BUY)
    assert ended.status == 0, ended.err
    assert "close L --release N --receipt R.json" in " ".join(ended.err.split())
    assert [release["status"] for release in office.releases()] == ["open"]


def closed(office: Office, receipt: str = RECEIPT, release: str = "1") -> Ended:
    return office.run("ledger", "close", "people.ledger", "--release", release, "--receipt", receipt)


@pytest.mark.parametrize("busy", ["end", "record_receipt"])
def test_the_rest_of_a_purchase_that_stayed_open_is_spent_once_it_was_closed(
    office: Office, monkeypatch: pytest.MonkeyPatch, busy: str
) -> None:
    bought(office, monkeypatch, busy)
    before = office.run("ledger", "show", "people.ledger", "--json").document
    assert "ledger close L --release 1 --receipt R.json" in " ".join(
        office.run("ledger", "show", "people.ledger").out.split()
    )
    if busy == "end":
        refused = office.run(*REST)
        assert refused.status == 2
        assert "`counterfoil ledger close L --release 1 --receipt R.json` ends it" in " ".join(refused.err.split())
    assert closed(office).status == 0
    after = office.run("ledger", "show", "people.ledger", "--json").document
    assert (after["spent"], after["left"]) == (before["spent"], before["left"])
    ended = office.run(*REST)
    assert ended.status == 0, ended.err
    assert [(release["status"], release["within"]) for release in office.releases()] == [
        ("closed", None),
        ("closed", 1),
    ]
    final = office.run("ledger", "show", "people.ledger", "--json").document
    assert final["spent"] == before["spent"], "no more than what the purchase reserved"
    again = office.run(*REST[:-1], "c.csv")
    assert again.status == 2
    assert "is for one release" in " ".join(again.err.split())
    for receipt in (RECEIPT, "b.receipt.json"):
        assert office.run("receipt", "verify", receipt, "--ledger", "people.ledger").status == 0


def test_a_release_is_ended_by_its_own_receipt_alone(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    bought(office, monkeypatch, "record_receipt")
    assert office.synth("--out", "s.csv", "--epsilon", "1").status == 0
    before = Path("people.ledger").read_bytes()
    cheaper = json.loads(Path(RECEIPT).read_text())
    cheaper["charges"] = cheaper["charges"][:-1]
    Path("cheaper.json").write_text(json.dumps(cheaper))
    for receipt, release, said in (
        ("s.receipt.json", "1", "Only its own receipt ends a release."),
        ("cheaper.json", "1", "A release is ended by a receipt that holds."),
        (RECEIPT, "2", "must be one of 1 to 1. Found 2"),
        ("nowhere.json", "1", "nowhere.json"),
    ):
        ended = closed(office, receipt, release)
        assert ended.status == 2, ended.out
        assert said in " ".join(ended.err.split())
    assert Path("people.ledger").read_bytes() == before
    assert closed(office).status == 0
    assert closed(office).status == 2, "it is closed already"
