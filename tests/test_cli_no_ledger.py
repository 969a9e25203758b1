"""The note that a release has no ledger: once, and only where a release is made."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from command_line import SCHEMA, Office
from counterfoil.cli.no_ledger_note import noted_without_ledger
from counterfoil.cli.terminal import Terminal
from counterfoil.ledger.no_ledger import NO_LEDGER, NoLedgerWarning, warn_without_ledger

CRITERIA = '[[bound]]\npair = ["sex", "income"]\nat_most = 1.9\nconfidence = 0.9\n'
SYNTH = ("synth", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--method", "independent")
CHECK = ("check", "people.csv", "--schema", "people.toml", "--epsilon", "1")
SCHEMA_BOUGHT = ("schema", "people.csv", "--epsilon", "10", "--out", "bought.toml")
TRAIN = (
    *("train", "dp-sgd", "people.csv", "--schema", "people.toml", "--epsilon", "2", "--target", "income"),
    *("--iterations", "2", "--hidden", "none", "--out", "model"),
)


@pytest.mark.parametrize("command", [SYNTH, CHECK, SCHEMA_BOUGHT, TRAIN], ids=lambda command: command[0])
def test_a_release_without_a_ledger_is_noted_once_and_one_with_it_is_not(
    office: Office, command: tuple[str, ...]
) -> None:
    if command[0] == "train":
        pytest.importorskip("torch")
    ended = office.run(*command)
    assert ended.status == 0, ended.err
    assert " ".join(ended.err.split()).count(NO_LEDGER) == 1
    for file in {*office.path.glob("*receipt.json"), *office.path.glob("bought.*"), *office.path.glob("*.parquet")}:
        file.unlink()
    if command[0] == "train":
        command = (*command[:-1], "again")
    office.run("ledger", "create", "other.ledger", "--source", "people.csv", "--epsilon", "99", "--delta", "1e-3")
    ended = office.run(*command, "--ledger", "other.ledger")
    assert (ended.status, "no ledger" in ended.err.lower()) == (0, False), ended.err


def test_a_judged_release_is_noted_once_for_all_of_its_runs(office: Office) -> None:
    Path("c.toml").write_text(CRITERIA)
    ended = office.run(*SYNTH, "--accept", "c.toml", "--attempts", "2")
    assert ended.status in (0, 3), ended.err
    assert " ".join(ended.err.split()).count(NO_LEDGER) == 1


@pytest.mark.parametrize(
    "command",
    [
        (*SYNTH, "--rows", "-1"),
        (*SYNTH, "--out", "nowhere/s.csv"),
        (*SYNTH, "--check-schema", "0.7", "--unit-sizes", "0.5"),
        ("synth", "nobody.csv", *SYNTH[2:]),
        ("synth", "stranger.csv", *SYNTH[2:]),
        ("synth", "empty.csv", *SYNTH[2:]),
        ("check", "nobody.csv", *CHECK[2:]),
        ("check", "empty.csv", *CHECK[2:]),
        (*CHECK, "--relation", "other"),
        ("schema", "nobody.csv", *SCHEMA_BOUGHT[2:]),
        ("schema", "empty.csv", *SCHEMA_BOUGHT[2:]),
        (*SCHEMA_BOUGHT, "--delta", "0"),
        (*TRAIN[:2], "nobody.csv", *TRAIN[3:]),
        (*TRAIN[:2], "stranger.csv", *TRAIN[3:]),
    ],
    ids=" ".join,
)
def test_what_is_refused_is_not_noted(office: Office, command: tuple[str, ...]) -> None:
    if command[0] == "train":
        pytest.importorskip("torch")
    header, *lines = Path("people.csv").read_text().splitlines()
    Path("stranger.csv").write_text("\n".join([header, *lines, "neither,5,low"]) + "\n")
    Path("empty.csv").write_text(f"{header}\n")
    ended = office.run(*command)
    assert ended.status == 2, ended.err
    assert "No ledger" not in ended.err
    assert ended.err.count("\n") == 1, "the refusal alone"


def test_a_schema_that_is_refused_is_not_noted(office: Office) -> None:
    Path("people.toml").write_text(SCHEMA.replace("upper = 99", "upper = -99"))
    ended = office.run(*SYNTH)
    assert (ended.status, "No ledger" in ended.err) == (2, False), ended.err


def test_other_warnings_pass_and_what_showed_them_is_put_back(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shows = warnings.showwarning
        with noted_without_ledger(Terminal(), None) as state:
            assert not state.begun
            warn_without_ledger()
            warnings.warn("another", UserWarning, stacklevel=1)
            warnings.warn("again", NoLedgerWarning, stacklevel=1)
        assert warnings.showwarning is shows
    assert state.begun
    assert [str(one.message) for one in caught] == ["another"]
    assert capsys.readouterr().err.count("No ledger") == 1
    with noted_without_ledger(Terminal(quiet=True), None) as state:
        warn_without_ledger()
    assert (state.begun, capsys.readouterr().err) == (True, "")
