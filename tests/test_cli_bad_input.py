"""Each kind of bad input: one sentence, exit status 2, nothing charged, nothing written."""

from __future__ import annotations

import json
import linecache
import os
import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from command_line import SCHEMA, Office
from counterfoil.cli import failure
from counterfoil.cli.app import run


def line(number: int, text: str) -> Callable[[], None]:
    """Replaces a line of the sensitive table."""

    def change() -> None:
        lines = Path("people.csv").read_text().splitlines()
        lines[number - 1] = text
        Path("people.csv").write_text("\n".join(lines) + "\n")

    return change


def write(name: str, text: str) -> Callable[[], None]:
    return lambda: (Path(name).write_text(text), None)[1]


NOTHING = lambda: None  # noqa: E731

CASES: dict[str, tuple[Callable[[], None], tuple[str, ...], str]] = {
    "a file that is not there": (NOTHING, ("absent.csv",), "There is no file"),
    "a name misspelt": (NOTHING, ("peoplle.csv",), "Did you mean 'people.csv'"),
    "a column that the schema lacks": (
        write("people.toml", SCHEMA.replace("columns.income", "columns.wage")),
        (),
        "has no column 'wage'",
    ),
    "a column that the data has in excess": (
        write("people.toml", SCHEMA.partition("[columns.income]")[0]),
        (),
        "Column 'income' of people.csv is not in the schema",
    ),
    "a value that does not parse": (line(18, "male,secret,low"), (), "Column 'age', line 18 of people.csv"),
    "a value of no category": (line(18, "secret,30,low"), (), "Column 'sex', line 18 of people.csv"),
    "a line with too few cells": (line(18, "secret"), (), "line 18"),
    "an empty file": (write("people.csv", ""), (), "is empty"),
    "a table without rows": (write("people.csv", "sex,age,income\n"), (), "people.csv must have rows"),
    "a schema that is not there": (NOTHING, ("--schema", "absent.toml"), "absent.toml"),
    "a schema that is no TOML": (write("people.toml", "name = ["), (), "not valid TOML"),
    "a kind with a typo": (write("people.toml", SCHEMA.replace("integer", "interger")), (), "'integer'"),
    "epsilon 0": (NOTHING, ("--epsilon", "0"), "`epsilon` must be positive and finite. Found 0"),
    "epsilon below 0": (NOTHING, ("--epsilon", "-1"), "`epsilon` must be positive and finite. Found -1"),
    "epsilon NaN": (NOTHING, ("--epsilon", "nan"), "`epsilon` must be positive and finite. Found nan"),
    "epsilon infinite": (NOTHING, ("--epsilon", "inf"), "`epsilon` must be positive and finite. Found inf"),
    "epsilon no number": (NOTHING, ("--epsilon", "one"), "Invalid value for .--epsilon."),
    "delta of 1": (NOTHING, ("--delta", "1"), "`delta` must be at least 0 and below 1"),
    "delta 0 for a method that needs one": (NOTHING, ("--delta", "0", "--method", "aim"), "`delta` must be positive"),
    "more than is left": (NOTHING, ("--epsilon", "3.5"), "3 are left|Ask for at most what is left"),
    "a method with a typo": (NOTHING, ("--method", "amn"), "Did you mean 'aim'?"),
    "a relation with a typo": (NOTHING, ("--relation", "replace_on"), "Did you mean 'replace_one'?"),
    "an option with a typo": (NOTHING, ("--epsilom", "1"), "No such option: --epsilom.*--epsilon"),
    "a workload of none": (NOTHING, ("--workload", "4", "--method", "direct"), "must be 1, 2, 3 or a TOML"),
    "a workload of unknown columns": (
        write("w.toml", '[[cliques]]\nattributes = ["sex", "agee"]\n'),
        ("--workload", "w.toml", "--method", "direct"),
        "agee",
    ),
    "a workload for a method without": (NOTHING, ("--workload", "2"), "'independent' takes no `workload`"),
    "a model that is too large": (
        NOTHING,
        ("--method", "direct", "--workload", "2", "--max-model-size", "0.0001"),
        "more than `max_model_size` = 0.0001.*Its largest part joins",
    ),
    "a model size of 0": (NOTHING, ("--max-model-size", "0", "--method", "aim"), "positive number of megabytes"),
    "no rows": (NOTHING, ("--rows", "0"), "at least 1. Found 0"),
    "more rows than memory": (NOTHING, ("--rows", "1000000000000000"), "GB of memory"),
    "a seed that is not confirmed": (NOTHING, ("--seed", "1"), "--not-private"),
    "a confirmation without a seed": (NOTHING, ("--not-private",), "confirms a --seed"),
    "a seed below 0": (NOTHING, ("--seed", "-1", "--not-private"), "at least 0"),
    "a unit without its rows": (NOTHING, ("--privacy-unit", "sex"), "go together"),
    "a unit with no rows": (NOTHING, ("--privacy-unit", "sex", "--max-rows", "0"), "whole number from 1 to"),
    "a unit that is no column": (NOTHING, ("--privacy-unit", "sexx", "--max-rows", "2"), "Did you mean 'sex'"),
    "an output of another kind": (NOTHING, ("--out", "s.xlsx"), r"\.csv or \.parquet"),
    "an output in no folder": (NOTHING, ("--out", "nowhere/s.csv"), "There is no folder nowhere"),
    "a ledger that is not there": (NOTHING, ("--ledger", "absent.ledger"), "There is no ledger at absent.ledger"),
}


BY_RECORDS = {
    "a value that does not parse",
    "a value of no category",
    "a line with too few cells",
    "a table without rows",
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_sentence_and_costs_nothing(office: Office, name: str) -> None:
    prepare, arguments, message = CASES[name]
    prepare()
    before = office.files()
    source = arguments[0] if arguments and arguments[0].endswith(".csv") else "people.csv"
    rest = arguments[1:] if source != "people.csv" else arguments
    defaults = {"--schema": "people.toml", "--epsilon": "1", "--method": "independent", "--ledger": "people.ledger"}
    given = [part for option, value in defaults.items() if option not in rest for part in (option, value)]
    if "--epsilom" in rest:
        given = given[:2]
    ended = office.run("synth", source, *given, *rest)
    assert ended.status == 2, (ended.out, ended.err)
    assert ended.out == ""
    assert office.files() == before
    assert office.releases() == [] or {release["status"] for release in office.releases()} == {"abandoned"}
    sentences = [part for part in ended.err.splitlines() if part.startswith("counterfoil: ")]
    assert len(sentences) == 1, ended.err
    assert re.search(message, sentences[0]), sentences[0]
    assert "secret" not in ended.err
    assert "Traceback" not in ended.err
    assert office.run("ledger", "show", "people.ledger", "--json").document["refused"] == (name in BY_RECORDS)


def test_what_there_is_no_room_for_is_refused_before_a_record_is_read(office: Office) -> None:
    line(18, "secret,30,low")()
    ended = office.synth("--ledger", "people.ledger", epsilon="3.5")
    assert "Ask for at most what is left" in ended.err
    assert "line 18" not in ended.err
    assert office.run("ledger", "show", "people.ledger", "--json").document["refused"] == 0


def test_a_ledger_that_can_not_note_a_refusal_is_named_beside_it(office: Office) -> None:
    line(18, "secret,30,low")()
    with closing(sqlite3.connect("people.ledger", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        ended = office.synth("--ledger", "people.ledger", "--show-values")
    assert ended.status == 2
    sentence = " ".join(ended.err.split())
    assert "Column 'sex', line 18 of people.csv: the value 'secret'" in sentence
    assert "The ledger could not note that this request was refused: people.ledger is in use by" in sentence


def test_a_value_is_shown_to_who_asks(office: Office) -> None:
    line(18, "male,secret,low")()
    ended = office.synth("--show-values")
    assert ended.status == 2
    assert "line 18 of people.csv" in ended.err
    assert "'secret'" in ended.err


def test_with_json_a_refusal_is_a_document_too(office: Office) -> None:
    ended = office.synth("--json", epsilon="0")
    assert ended.status == 2
    assert ended.document["status"] == 2
    assert ended.document["error"].startswith("`epsilon` must be positive")
    assert ended.document["error"] in ended.err


def test_a_ledger_for_another_table_is_refused(office: Office) -> None:
    Path("others.csv").write_bytes(Path("people.csv").read_bytes())
    arguments = ("others.csv", "--schema", "people.toml", "--epsilon", "1", "--ledger", "people.ledger")
    ended = office.run("synth", *arguments)
    assert ended.status == 2
    assert "serves the source that it was created for" in ended.err
    assert office.releases() == []


def test_a_ledger_cut_short_is_refused(office: Office) -> None:
    whole = Path("people.ledger").read_bytes()
    Path("people.ledger").write_bytes(whole[: len(whole) // 2])
    ended = office.synth("--ledger", "people.ledger")
    assert ended.status == 2
    assert "cut short" in ended.err
    assert "people.synthetic.parquet" not in office.files()


def test_an_edited_ledger_is_refused(office: Office) -> None:
    assert office.synth("--ledger", "people.ledger", "--out", "s.csv").status == 0
    with closing(sqlite3.connect("people.ledger")) as connection, connection:
        connection.execute("UPDATE entries SET body = replace(body, '1.0', '0.1') WHERE number = 2")
    ended = office.synth("--ledger", "people.ledger")
    assert ended.status == 2
    assert "people.ledger" in ended.err
    assert "Restore" in ended.err


def test_a_locked_ledger_is_refused(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    from counterfoil.ledger.file import LedgerFile

    patient = LedgerFile.open
    monkeypatch.setattr(LedgerFile, "open", lambda path, timeout: patient(path, timeout=0.01))
    connection = sqlite3.connect("people.ledger", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    ended = office.synth("--ledger", "people.ledger")
    connection.close()
    assert ended.status == 2
    assert "in use by another process" in ended.err
    assert office.releases() == []


def test_a_ledger_is_created_once_and_for_a_table_that_is_there(office: Office) -> None:
    budget = ("--epsilon", "1", "--delta", "1e-6")
    again = office.run("ledger", "create", "people.ledger", "--source", "people.csv", *budget)
    assert again.status == 2
    assert "created once" in again.err
    absent = office.run("ledger", "create", "b.ledger", "--source", "absent.csv", *budget)
    assert absent.status == 2
    assert "There is no file" in absent.err
    assert "b.ledger" not in office.files()
    broke = office.run("ledger", "create", "b.ledger", "--source", "people.csv", "--epsilon", "0", "--delta", "0")
    assert broke.status == 2
    assert "b.ledger" not in office.files()


def test_broken_receipts_are_refused(office: Office) -> None:
    for name, content, message in (
        ("absent.json", None, "absent.json: No such file"),
        ("cut.json", '{"format": "counter', "cut short"),
        ("other.json", "{}", "must hold `format`"),
    ):
        if content is not None:
            Path(name).write_text(content)
        for command in ("show", "verify"):
            ended = office.run("receipt", command, name)
            assert ended.status == 2
            assert message in ended.err


def test_evaluate_refuses_what_it_can_not_compare(office: Office) -> None:
    assert office.synth("--out", "s.csv").status == 0
    for arguments, message in (
        (("people.csv", "s.csv", "--target", "incom"), "Did you mean 'income'?"),
        (("people.csv", "absent.csv"), "There is no file"),
        (("absent.csv", "s.csv"), "There is no file"),
    ):
        ended = office.run("evaluate", *arguments, "--schema", "people.toml", "--ledger", "people.ledger")
        assert ended.status == 2
        assert message in ended.err
        assert ended.out == ""
    shown = office.run("ledger", "show", "people.ledger", "--json").document
    assert (shown["revealed"], shown["refused"]) == ([], 0)
    line(18, "secret,30,low")()
    ended = office.run("evaluate", "people.csv", "s.csv", "--schema", "people.toml", "--ledger", "people.ledger")
    assert "Column 'sex', line 18" in ended.err
    shown = office.run("ledger", "show", "people.ledger", "--json").document
    assert (len(shown["revealed"]), shown["refused"]) == (1, 1), "a look is written down before any record is read"


def test_a_bug_does_not_show_values(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    from counterfoil.methods.independent import Independent

    def fail(*_: object, **__: object) -> None:
        raise KeyError("secret")

    monkeypatch.setattr(Independent, "synthesize", fail)
    ended = office.synth()
    assert ended.status == 1
    assert "bug" in ended.err
    assert "secret" not in ended.err
    assert "secret" in office.synth("--show-values").err


def test_words_of_other_libraries_are_not_shown(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    from counterfoil.methods.independent import Independent

    monkeypatch.setattr(Independent, "synthesize", lambda *_, **__: json.loads("secret"))
    ended = office.synth()
    assert ended.status == 1
    assert "Expecting value" not in ended.err
    assert "JSONDecodeError" in ended.err


@pytest.mark.parametrize("line", ["float(text)", "raise ValueError(text)"])
def test_only_what_this_package_raises_is_shown(line: str) -> None:
    """A function in C leaves no frame of its own: its error seems to come from the line of ours that called it."""
    path = Path(failure.__file__).parent / "imagined.py"
    source = f"def read(text):\n    {line}\n"
    linecache.cache[str(path)] = (len(source), None, source.splitlines(keepends=True), str(path))
    names: dict = {}
    exec(compile(source, str(path), "exec"), names)
    with pytest.raises(ValueError) as caught:
        names["read"]("secret")
    found = failure.failure_of(caught.value, show_values=False)
    assert ("secret" in found.sentence) == line.startswith("raise")
    assert found.status == (2 if line.startswith("raise") else 1)
    assert "secret" in failure.failure_of(caught.value, show_values=True).sentence


def test_a_full_disk_is_noticed_before_anything_is_charged(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", full_disk)
    before = office.files()
    ended = office.synth("--ledger", "people.ledger")
    monkeypatch.undo()
    monkeypatch.chdir(office.path)
    assert ended.status == 2
    assert "The disk is full" in ended.err
    assert office.files() == before
    assert office.releases() == []


def test_a_disk_that_fills_up_later_leaves_nothing_half_written(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    from counterfoil.cli.outputs import Outputs

    checked = Outputs.require_possible

    def check_then_fill(self: Outputs, *, force: bool) -> None:
        checked(self, force=force)
        monkeypatch.setattr(os, "fsync", full_disk)

    monkeypatch.setattr(Outputs, "require_possible", check_then_fill)
    before = office.files()
    ended = office.synth("--ledger", "people.ledger")
    monkeypatch.undo()
    monkeypatch.chdir(office.path)
    assert ended.status == 2
    assert "The disk is full" in ended.err
    assert "charges were made" not in ended.err
    assert office.files() == before
    assert office.releases() == [], "there was no room for answers, so that none was paid for"


def full_disk(_: int) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_standard_output_that_is_full_is_told(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        status = run(["ledger", "show", "people.ledger", "--json"])
        monkeypatch.undo()
        monkeypatch.chdir(office.path)
        assert status == 2
        assert "The disk is full" in office.capsys.readouterr().err
        with pytest.raises(OSError, match="No space"):
            full.flush()
        # What is left in the buffer would be complained about again when the file is closed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())


def test_a_misspelt_variant_is_put_right(office: Office) -> None:
    ended = office.synth("--variant", "publisehd", method="aim")
    assert ended.status == 2
    assert "`variant` must be one of batched, gaussian, published" in " ".join(ended.err.split())
    assert "published" in ended.err.split("Did you mean")[-1]


def test_a_variant_belongs_to_aim(office: Office) -> None:
    ended = office.synth("--variant", "published", method="mst")
    assert ended.status == 2
    assert "Method 'mst' takes no `variant`" in " ".join(ended.err.split())
