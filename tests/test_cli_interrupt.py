"""Ctrl-C: exit status 130, a line that says what was charged, nothing half-written."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import Office
from counterfoil.cli import synth_run
from counterfoil.receipt.receipt import Receipt

SCRIPT = """
import importlib, sys, time
from counterfoil.cli.app import run

*holder, name = "{place}".split(".")
module = importlib.import_module(".".join(["counterfoil", *holder[:2]]))
holder = getattr(module, holder[2]) if holder[2:] else module
original = getattr(holder, name)

def wait(*arguments, **keywords):
    original(*arguments, **keywords)
    print("reached", flush=True)
    for _ in range(6000):  # a signal right before one long sleep would be heeded at its end
        time.sleep(0.01)

setattr(holder, name, wait)
sys.exit(run(sys.argv[1:]))
"""


SIGNALED = """
import importlib, os, signal, sys
from counterfoil.cli.app import run

def signaled(place, numbers):
    module, *holder, name = place.split(":")
    holder = getattr(importlib.import_module("counterfoil." + module), holder[0])
    original = getattr(holder, name)

    def send(*arguments, **keywords):
        done = original(*arguments, **keywords)
        for number in numbers:
            os.kill(os.getpid(), number)
        return done

    setattr(holder, name, send)

for place in sys.argv[1].split():
    signaled(place, [getattr(signal, name) for name in sys.argv[2].split()])
sys.exit(run(sys.argv[3:]))
"""
"""Runs a command that gets signals right after each of some functions has done its work, and before it returns."""


EARLY = """
import os, signal, sys
from counterfoil.cli import main

def interrupt(event, arguments, pending=[sys.argv.pop(1)]):
    if event == "import" and arguments[0] in pending:
        pending.clear()
        exec("import os, signal; os.kill(os.getpid(), signal.SIGINT); pass")

sys.addaudithook(interrupt)
main()
"""
"""Runs a command that is interrupted as a module is imported, within code that was made of a text."""


def heed_interrupts() -> None:
    """A shell that runs tests in the background makes its children ignore them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize(
    ("place", "ledger", "charged", "said"),
    [
        ("curator.curator.open_source", True, 0, "Nothing was charged, and no file was written."),
        (
            "curator.account.Account.ask",
            False,
            1,
            "1 charge was made. No file was written. Their answers are kept in",
        ),
        ("curator.account.Account.ask", True, 1, "people.ledger counts epsilon 1 and delta 1e-09 as spent. No file"),
        ("receipt.receipt.Receipt.save", True, 2, "No file was written."),
    ],
)
def test_an_interrupted_release_says_what_it_cost(
    office: Office, place: str, ledger: bool, charged: int, said: str
) -> None:
    before = office.files()
    script = SCRIPT.format(place=place)
    arguments = ["synth", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--method", "independent"]
    arguments += ["--ledger", "people.ledger"] if ledger else []
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reached\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    sentences = [line for line in err.splitlines() if line.startswith("counterfoil: ")]
    assert len(sentences) == 1
    assert sentences[0].startswith("counterfoil: Interrupted.")
    assert said in sentences[0]
    assert "Traceback" not in err
    assert office.files() == before | ({"people.synthetic.answers"} if charged else set())
    releases = [release for release in office.releases() if release["status"] != "abandoned"]
    assert sum(len(release["charges"]) for release in releases) == (charged if ledger else 0)


def signaled(places: str, numbers: str, *arguments: str) -> str:
    """What an interrupted command said."""
    done = subprocess.run(
        [sys.executable, "-c", SIGNALED, places, numbers, *arguments],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=heed_interrupts,
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    sentences = [line for line in done.stderr.splitlines() if line.startswith("counterfoil: ")]
    assert len(sentences) == 1, done.stderr
    return sentences[0]


SYNTH = ("synth", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--method", "independent")
SCHEMA = ("schema", "people.csv", "--epsilon", "1", "--out", "bought.toml")
OPENED, ENDED = "ledger.ledger:Ledger:open_release", "ledger.ledger:Release:end"
MADE = "cli.synth_keeping:Keeping:created"
SEVERAL = ["SIGINT", "SIGTERM SIGINT SIGHUP SIGINT"]


@pytest.mark.parametrize(
    ("places", "command", "numbers"),
    [
        (f"{OPENED} {ENDED}", SYNTH, SEVERAL[0]),
        (f"{OPENED} {ENDED}", SYNTH, SEVERAL[1]),
        ("curator.account:Account:admit curator.curator:Curator:_parts", SYNTH, SEVERAL[1]),
        (f"{OPENED} {ENDED}", SCHEMA, SEVERAL[1]),
        (MADE, SYNTH, SEVERAL[0]),
        (MADE, SCHEMA, SEVERAL[1]),
    ],
)
def test_a_reservation_under_which_nothing_was_asked_is_given_back(
    office: Office, places: str, command: tuple[str, ...], numbers: str
) -> None:
    before = office.files()
    said = signaled(places, numbers, *command, "--ledger", "people.ledger")
    assert said == "counterfoil: Interrupted. Nothing was charged, and no file was written."
    assert office.files() == before
    assert [release["status"] for release in office.releases()] == ([] if places == MADE else ["abandoned"])


def test_what_a_killed_run_reserved_is_used_or_given_back_by_the_next(office: Office) -> None:
    """Killed right before its first charge."""
    given = (*SYNTH, "--ledger", "people.ledger")
    killed = subprocess.run(
        [sys.executable, "-c", SIGNALED, "curator.curator:Curator:_parts", "SIGKILL", *given],
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert [release["status"] for release in office.releases()] == ["open"]
    said = signaled("curator.curator:Curator:_parts", "SIGINT", *given, "--resume")
    assert said == "counterfoil: Interrupted. Nothing was charged, and no file was written."
    assert [release["status"] for release in office.releases()] == ["abandoned"]
    assert office.run(*given, "--resume").status == 0
    assert [release["status"] for release in office.releases()] == ["abandoned", "closed"]


@pytest.mark.parametrize("numbers", SEVERAL)
@pytest.mark.parametrize(
    "places",
    [
        "ledger.ledger:Release:charge",
        "curator.noisy_answers:NoisyAnswers:numbers curator.answer_log:AnswerLog:close",
    ],
)
def test_several_interrupts_lose_no_answer(office: Office, places: str, numbers: str) -> None:
    """The command that is told finishes the release, with as many charges as one that nobody interrupts."""
    assert office.run(*SYNTH, "--out", "whole.csv").status == 0
    whole = Receipt.load("whole.receipt.json").document["charges"]
    said = signaled(places, numbers, *SYNTH, "--ledger", "people.ledger")
    assert "counts epsilon 1 and delta 1e-09 as spent. No file was written." in said
    command = shlex.split(said.rpartition(": ")[2])
    done = office.run(*command[1:])
    assert done.status == 0, done.err
    assert [len(release["charges"]) for release in office.releases()] == [len(whole)]


def test_an_interrupt_after_the_files_were_written_says_that_they_are_whole(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(synth_run, "close", interrupted)
    ended = office.run("synth", "people.csv", "--schema", "people.toml", "--epsilon", "1", "--out", "made.csv")
    assert ended.status == 130
    assert "its files are whole: its receipt is made.receipt.json" in " ".join(ended.err.split())
    assert Path("made.csv").is_file()
    assert office.run("receipt", "verify", "made.receipt.json").status == 0


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("counterfoil.cli.synth", "Interrupted. Nothing was charged, and no file was written."),  # with all commands
        ("counterfoil.cli.synth_run", "Interrupted."),  # by one command
    ],
)
def test_an_interrupt_before_modules_are_imported_is_a_sentence(office: Office, module: str, said: str) -> None:
    before = office.files()
    ended = subprocess.run(
        [sys.executable, "-c", EARLY, module, *SYNTH, "--json"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=heed_interrupts,
    )
    assert ended.returncode == 130
    assert ended.stderr.startswith(f"counterfoil: {said}")
    assert len(ended.stderr.splitlines()) == 1
    assert json.loads(ended.stdout) == {"error": ended.stderr[len("counterfoil: ") : -1], "status": 130}
    assert office.files() == before


SWALLOWING = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    sum(range(1000))
except BaseException:
    pass
"""
"""A module that takes what is raised in it for the absence of something, as libraries do."""


def test_an_interrupt_while_a_module_is_imported_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "swallowing.py").write_text(SWALLOWING)
    script = """
import time
from counterfoil.interrupts import ended_once
with ended_once():
    try:
        import swallowing
        for _ in range(6000):
            time.sleep(0.01)
    except KeyboardInterrupt:
        print("ended")
"""
    ended = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        preexec_fn=heed_interrupts,
    )
    assert (ended.stdout, ended.stderr) == ("ended\n", "")
