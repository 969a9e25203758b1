"""`counterfoil receipt key|sign|verify`: from the command to a receipt that somebody vouches for."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest

from command_line import Office, make_office
from counterfoil.ledger.ledger import Ledger
from counterfoil.receipt.receipt import Receipt
from counterfoil.receipt.signature import VerifyKey
from saved_releases import forge

RECEIPT = "s.receipt.json"


@pytest.fixture
def office(tmp_path, capsys, monkeypatch) -> Office:
    made = make_office(tmp_path, capsys, monkeypatch)
    assert made.synth("--out", "s.csv", "--ledger", "people.ledger").status == 0
    return made


def edit(path: str, **change: object) -> None:
    Path(path).write_text(json.dumps(json.loads(Path(path).read_text()) | change))


def test_a_key_pair(office: Office) -> None:
    made = office.run("receipt", "key", "steward.key", "--json")
    assert made.status == 0, made.err
    assert stat.S_IMODE(Path("steward.key").stat().st_mode) == 0o600
    fingerprint = VerifyKey.load("steward.key.pub").fingerprint
    assert made.document == {"private": "steward.key", "public": "steward.key.pub", "fingerprint": fingerprint}
    again = office.run("receipt", "key", "steward.key")
    assert again.status == 2
    assert "steward.key: choose another name" in again.err


def test_signing_and_verifying(office: Office) -> None:
    office.run("receipt", "key", "steward.key")
    office.run("receipt", "key", "other.key")
    without = office.run("receipt", "verify", RECEIPT)
    assert without.status == 0
    assert "Nobody vouches for: source, created," in without.out
    assert all(len(line) <= 80 for line in without.out.splitlines())
    unsigned = office.run("receipt", "verify", RECEIPT, "--key", "steward.key.pub")
    assert unsigned.status == 1
    assert "is not signed" in unsigned.out
    signed = office.run("receipt", "sign", RECEIPT, "--key", "steward.key", "--json")
    assert signed.status == 0, signed.err
    assert signed.document["sha256"] == Receipt.load(RECEIPT).digest
    held = office.run("receipt", "verify", RECEIPT, "--key", "steward.key.pub")
    assert held.status == 0, held.out
    assert "Every word of it is as it was signed by the key in steward.key.pub." in held.out
    assert "Nobody" not in held.out
    assert office.run("receipt", "verify", RECEIPT, "--key", "steward.key.pub", "--json").document["unvouched"] == []
    assert "It is signed" in " ".join(office.run("receipt", "show", RECEIPT).out.split())
    other = office.run("receipt", "verify", RECEIPT, "--key", "other.key.pub")
    assert other.status == 1
    assert "signed by another key" in other.out
    twice = office.run("receipt", "sign", RECEIPT, "--key", "other.key")
    assert twice.status == 2
    assert "A signed receipt stays as it is" in twice.err


@pytest.mark.parametrize(
    "change", [{"source": "x"}, {"warnings": ["All is well."]}, {"created": "1999-01-01T00:00"}, {"ledger": False}]
)
def test_a_word_that_was_changed_after_signing(office: Office, change: dict) -> None:
    office.run("receipt", "key", "steward.key")
    office.run("receipt", "sign", RECEIPT, "--key", "steward.key")
    edit(RECEIPT, **change)
    for options in (("--key", "steward.key.pub"), ()):
        ended = office.run("receipt", "verify", RECEIPT, *options)
        assert ended.status == 1
        assert "something was changed since it was signed" in ended.out


def test_only_a_receipt_that_holds_is_signed(office: Office) -> None:
    office.run("receipt", "key", "steward.key")
    before = Path(RECEIPT).read_bytes()
    Path("s.csv").write_text("sex,age,income\n")
    ended = office.run("receipt", "sign", RECEIPT, "--key", "steward.key")
    assert ended.status == 2
    assert "Only a receipt that holds can be signed" in ended.err
    assert Path(RECEIPT).read_bytes() == before


def test_a_file_that_is_no_key(office: Office) -> None:
    Path("bad.key").write_text("SECRET")
    for command in (("sign", RECEIPT, "--key", "bad.key"), ("verify", RECEIPT, "--key", "bad.key")):
        ended = office.run("receipt", *command)
        assert ended.status == 2
        assert ended.err.count("\n") == 1
        assert "SECRET" not in ended.err
    assert office.run("receipt", "verify", RECEIPT, "--key", "nowhere.pub").status == 2


def test_the_ledger_vouches_for_what_it_recorded(office: Office) -> None:
    digest = Receipt.load(RECEIPT).digest
    with Ledger.open("people.ledger", source=None) as ledger:
        ledger.record_receipt(1, digest)
    held = office.run("receipt", "verify", RECEIPT, "--ledger", "people.ledger")
    assert held.status == 0, held.out
    assert "Every word of it is as people.ledger has recorded." in held.out
    assert "Nobody" not in held.out
    edit(RECEIPT, source="another.csv")
    forged = office.run("receipt", "verify", RECEIPT, "--ledger", "people.ledger")
    assert forged.status == 1
    assert "does not know this receipt" in " ".join(forged.out.split())
    assert office.run("receipt", "verify", RECEIPT, "--ledger", "nowhere.ledger").status == 2
    assert office.run("receipt", "verify", RECEIPT, "--ledger", "people.csv").status == 2


def test_a_forged_certificate_does_not_hold(office: Office) -> None:
    assert office.synth("--out", "t.csv", "--target", "income", method="mst").status == 0
    document = json.loads(Path("t.receipt.json").read_text())
    document["certificates"][0]["sentence"] = "All is well."
    Path("t.receipt.json").write_text(json.dumps(document))
    ended = office.run("receipt", "verify", "t.receipt.json")
    assert ended.status == 1
    assert "Certificate 1 (error bars, income): `sentence` does not follow from its gaps." in ended.out


def test_a_saved_folder_is_checked_whole(office: Office) -> None:
    older = Path(__file__).parent / "written_by_0_1" / "synthesis"
    shutil.copytree(older, "saved")
    office.run("receipt", "key", "steward.key")
    assert office.run("receipt", "verify", "saved").status == 0
    signed = office.run("receipt", "sign", "saved", "--key", "steward.key")
    assert signed.status == 0, signed.err
    assert office.run("receipt", "verify", "saved", "--key", "steward.key.pub").status == 0
    schema = Path("saved/schema.toml").read_text()
    forge(Path("saved"), "schema.toml", f"{schema}\n# more\n")
    for path in ("saved", "saved/receipt.json"):
        ended = office.run("receipt", "verify", path, "--json")
        assert ended.status == 1
        assert "another schema" in ended.document["problems"][0]
        assert ended.document["holds"] is False


@pytest.mark.parametrize("command", ["verify", "show"])
def test_a_table_in_place_of_its_receipt(office: Office, command: str) -> None:
    ended = office.run("receipt", command, "s.csv")
    assert ended.status == 2
    assert "Found the table s.csv: its receipt is s.receipt.json." in ended.err
    Path("s.receipt.json").unlink()
    assert "name its receipt" in office.run("receipt", command, "s.csv").err
