"""`synth --accept`: a release that is written where it keeps its criteria, and of which nothing is left where not."""

from __future__ import annotations

import json
import os

import pytest

from command_line import Office, make_office
from counterfoil.cli.failure import WITHHELD
from counterfoil.cli.folder_outputs import FolderOutputs
from counterfoil.cli.outputs import Outputs
from counterfoil.cli.synth_accept import _UNRECORDED

EASY = """\
[[bound]]
pair = ["sex", "income"]
at_most = 1.9
confidence = 0.9
[[bound]]
column = "age"
w1_at_most = 60
"""
HARD = '[[bound]]\nmeasure = "pairs"\nat_most = 0.0001\n'
SENTENCE = (
    "counterfoil: Withheld: no run met the criteria, and nothing is released. Epsilon 1 and delta 1e-07 are spent, for "
    "everything was computed from the records."
)


@pytest.fixture
def office(tmp_path, capsys, monkeypatch) -> Office:
    made = make_office(tmp_path, capsys, monkeypatch)
    (tmp_path / "easy.toml").write_text(EASY)
    (tmp_path / "hard.toml").write_text(HARD)
    return made


DELTA = "--delta", "1e-7"
RECEIPT = "people.synthetic.receipt.json"


def test_what_keeps_its_criteria_is_written_and_its_receipt_holds(office):
    made = office.synth("--accept", "easy.toml", *DELTA, "--ledger", "people.ledger", "--json")
    assert made.status == 0, made.err
    acceptance = made.document["acceptance"]
    assert (acceptance["criteria"], acceptance["attempts"]) == (EASY, 1)
    verified = office.run("receipt", "verify", RECEIPT, "--ledger", "people.ledger", "--json")
    assert verified.status == 0, verified.out
    assert verified.document["unvouched"] == []
    shown = " ".join(office.run("receipt", "show", RECEIPT).out.split())
    assert "WHY IT WAS RELEASED" in shown
    assert "Required was that W_1 of age is at most 60 (its noisy estimate)" in shown
    assert [release["composition"] for release in office.releases()] == ["judged"]


def test_criteria_are_about_the_rows_that_were_used(office):
    lines = (office.path / "people.csv").read_text().splitlines()
    named = [f"{line},{place // 3 if place else 'person'}" for place, line in enumerate(lines)]
    (office.path / "people.csv").write_text("\n".join(named) + "\n")
    with (office.path / "people.toml").open("a") as schema:
        schema.write('\n[columns.person]\nkind = "identifier"\n')
    unit = ("--privacy-unit", "person", "--max-rows", "2")
    assert office.synth("--accept", "easy.toml", *unit, *DELTA, epsilon="9").status == 0
    shown = " ".join(office.run("receipt", "show", RECEIPT).out.split())
    assert shown.count("Real rows are those that were used, at most 2 of each 'person'") == 1


def test_a_certificate_of_an_accepted_release_says_that_it_held_before(office):
    asked = ("--accept", "easy.toml", "--target", "income", "--fidelity", "0.2", *DELTA)
    assert office.synth(*asked, epsilon="9").status == 0
    certified = office.run("certify", "people.synthetic.parquet", "--target", "income", "--norm", "0.1")
    assert "Intervals of this release hold before it was judged" in " ".join(certified.out.split())


@pytest.mark.parametrize("further", [(), ("--attempts", "6"), ("--keep-model",), ("--out", "kept/")])
def test_what_does_not_is_withheld_and_leaves_a_sentence(office, further):
    before = office.files()
    made = office.synth("--accept", "hard.toml", *further, *DELTA, "--ledger", "people.ledger")
    assert made.status == WITHHELD == 3
    lines = made.err.strip().splitlines()
    assert lines[-1] == SENTENCE
    assert made.out == ""
    noted = "Of a release that may be withheld, nothing is shown before it is accepted."
    if "--attempts" in further:
        noted += f" {_UNRECORDED}"
    assert " ".join(" ".join(lines[:-1]).split()) == noted
    assert office.files() == before
    (release,) = office.releases()
    assert (release["epsilon"], release["status"], release["receipts"]) == (1, "closed", [])
    assert [charge["query"] for charge in release["charges"]] == ["judged_runs"]


def test_withheld_as_json_says_no_more(office):
    made = office.synth("--accept", "hard.toml", *DELTA, "--json", "--quiet")
    assert made.status == 3
    assert made.document == {"error": SENTENCE.removeprefix("counterfoil: "), "status": 3}
    assert made.err.strip() == SENTENCE


def test_several_attempts_leave_neither_their_number_nor_their_time(office):
    made = office.synth(
        "--accept", "easy.toml", "--attempts", "4", *DELTA, "--ledger", "people.ledger", "--out", "made/"
    )
    assert made.status == 0, made.err
    receipt = json.loads((office.path / "made" / "receipt.json").read_text())
    assert receipt["composition"]["rule"] == "gaussian-repeated-4"
    assert receipt["budget"]["epsilon"] == 1
    (release,) = office.releases()
    # An entry for the receipt would have the time when the runs ended.
    assert release["receipts"] == []
    times = {os.stat(path).st_mtime for path in (office.path / "made", *(office.path / "made").rglob("*"))}
    assert len(times) == 1
    assert times.pop() <= os.stat(office.path / "people.ledger").st_mtime + 1
    assert office.run("receipt", "verify", "made").status == 0
    said = " ".join(office.run("receipt", "show", "made/receipt.json").out.split())
    assert "at most 4 runs on average were allowed" in said


def test_a_ledger_says_why_it_has_no_receipt_of_several_attempts(office):
    asked = ("--accept", "easy.toml", "--attempts", "4", *DELTA, "--ledger", "people.ledger")
    made = office.synth(*asked)
    assert "The ledger will not record its receipt" in " ".join(made.err.split())
    verify = ("receipt", "verify", RECEIPT, "--ledger", "people.ledger")
    compared = office.run(*verify)
    assert compared.status == 1
    said = " ".join(compared.out.split())
    # Nothing is wrong with the receipt, which is what "does not hold" would say.
    assert "The receipt holds: its charges" in said
    assert "NOT VOUCHED FOR: The ledger counts release 1 by the same criteria and budget, but can't vouch" in said
    assert "DOES NOT HOLD" not in said
    assert "has recorded" not in said
    assert "Nobody vouches for:" in said
    assert "was changed in it" not in said
    document = office.run(*verify, "--json").document
    assert (document["holds"], [document["unrecorded"]]) == (False, document["problems"])
    receipt = json.loads((office.path / RECEIPT).read_text())
    receipt["budget"]["epsilon"] = 0.5
    (office.path / RECEIPT).write_text(json.dumps(receipt))
    assert "The ledger does not know this receipt" in " ".join(office.run(*verify).out.split())
    assert office.run("receipt", "key", "key.pem").status == 0
    assert "will not record" not in office.synth(*asked, "--sign", "key.pem", "--force").err
    signed = office.run(*verify, "--key", "key.pem.pub")
    assert signed.status == 0, signed.out
    assert "DOES NOT HOLD" not in signed.out
    assert "VOUCHED" not in signed.out
    assert "The ledger counts release 1 by the same criteria" in " ".join(signed.out.split())


def test_it_is_signed_like_any_release(office):
    assert office.run("receipt", "key", "key.pem").status == 0
    made = office.synth("--accept", "easy.toml", "--attempts", "2", *DELTA, "--sign", "key.pem")
    assert made.status == 0, made.err
    public = next(name for name in office.files() if name.endswith(".pub") or "public" in name)
    verified = office.run("receipt", "verify", RECEIPT, "--key", public)
    assert verified.status == 0, verified.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--attempts", "3"), "add --accept FILE"),
        (("--accept", "easy.toml", "--attempts", "0"), "`attempts` must be a whole number from 1 to 1,000"),
        (("--accept", "missing.toml"), "missing.toml"),
        (("--accept", "people.csv"), "people.csv must be TOML"),
        (("--accept", "agee.toml"), "Did you mean 'age'"),
        (("--accept", "easy.toml", "--keep", "."), "`--accept` keeps no answers"),
        (("--accept", "easy.toml", "--resume"), "`--accept` keeps no answers"),
        (("--accept", "easy.toml", "--discard-answers"), "`--accept` keeps no answers"),
        (("--accept", "easy.csv", "--out", "easy.csv", "--force"), "easy.csv"),
    ],
)
def test_bad_input_is_a_sentence_and_charges_nothing(office, arguments, said):
    (office.path / "agee.toml").write_text(EASY.replace("age", "agee"))
    (office.path / "easy.csv").write_text(EASY)
    before = office.files()
    made = office.synth(*arguments, *DELTA, "--ledger", "people.ledger")
    assert made.status == 2
    assert said in " ".join(made.err.split())
    assert office.files() == before
    assert office.releases() == []
    assert (office.path / "easy.csv").read_text() == EASY


def test_points_are_not_judged(office):
    """It was said that fidelity can't be measured, for which nobody had asked."""
    for method, further in (("measure-tree", ()), ("wasserstein-generator", ("--target", "age"))):
        refused = office.synth("--accept", "easy.toml", *further, method=method)
        assert refused.status == 2
        assert "Releases can be judged by what they measure, accepted or withheld, for the methods aim" in refused.err
        assert "Fidelity" not in refused.err


def test_a_run_that_fails_after_it_was_charged_says_so(office, monkeypatch):
    def full(self, synthesis, key=None):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Outputs, "write", full)
    made = office.synth("--accept", "easy.toml", *DELTA, "--ledger", "people.ledger")
    assert made.status == 2
    assert (
        "The whole budget was charged: the ledger people.ledger counts epsilon 1 and delta 1e-07 as spent" in made.err
    )
    assert not {name for name in office.files() if "synthetic" in name}


@pytest.mark.parametrize("out", ["made/", "made.csv"])
@pytest.mark.parametrize("attempts", ["1", "3"])
def test_whoever_stops_it_after_it_was_written_is_told_so(office, monkeypatch, out, attempts):
    write = (FolderOutputs if out.endswith("/") else Outputs).write

    def interrupted(self, *arguments, **options):
        write(self, *arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(FolderOutputs if out.endswith("/") else Outputs, "write", interrupted)
    made = office.synth(
        "--accept", "easy.toml", "--attempts", attempts, *DELTA, "--ledger", "people.ledger", "--out", out
    )
    assert made.status == 130
    assert "No file was written" not in made.err
    assert f"The release was accepted and is whole, in {out.rstrip('/')}: its whole budget was charged" in made.err
    assert "the ledger people.ledger counts it" in made.err
    receipt = "made/receipt.json" if out.endswith("/") else "made.receipt.json"
    assert office.run("receipt", "verify", receipt).status == 0
    times = {os.stat(path).st_mtime for path in (office.path / out.rstrip("/"), office.path / receipt)}
    assert len(times) == 1 or attempts == "1", "they have their time before they have their names"


def test_a_time_that_can_not_be_set_leaves_nothing(office, monkeypatch):
    def refused(root, moment):
        raise PermissionError(1, "Operation not permitted", str(root))

    monkeypatch.setattr("counterfoil.cli.outputs.give_time", refused)
    before = office.files()
    made = office.synth("--accept", "easy.toml", "--attempts", "3", *DELTA, "--ledger", "people.ledger")
    assert made.status == 2
    assert "No file was written" in made.err
    assert office.files() == before


def test_names_from_a_schema_can_not_write_lines_or_colors(office):
    name = "a\\u001b[31m <b>\\n=1|"
    text = (office.path / "people.toml").read_text().replace("[columns.sex]", f'[columns."{name}"]')
    (office.path / "people.toml").write_text(text)
    csv = (office.path / "people.csv").read_text().replace("sex,", '"a\x1b[31m <b>\n=1|",', 1)
    (office.path / "people.csv").write_text(csv)
    (office.path / "c.toml").write_text(f'[[bound]]\npair = ["{name}", "age"]\nat_most = 2\n')
    made = office.synth("--accept", "c.toml", *DELTA)
    assert made.status == 0, made.err
    assert "\x1b" not in made.out + made.err
    shown = office.run("receipt", "show", RECEIPT)
    assert "\x1b" not in shown.out
    assert not [line for line in shown.out.splitlines() if line.startswith("=1")]
    assert office.run("receipt", "verify", RECEIPT).status == 0
