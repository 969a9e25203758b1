"""`synth --time-limit`: durations, what the receipt says, resumed runs, and a progress that says what time is left."""

from __future__ import annotations

import io
import itertools
import re
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import Office
from counterfoil.cli import terminal
from counterfoil.cli.durations import about, coarse, seconds_of
from counterfoil.cli.outputs import Outputs
from counterfoil.cli.terminal import Terminal
from counterfoil.cli.time_left import TimeLeft
from counterfoil.receipt.receipt import Receipt
from ticking import Ticks

ANSWERS, RECEIPT = "people.synthetic.answers", "people.synthetic.receipt.json"


@given(st.integers(0, 99), st.integers(0, 999), st.integers(0, 9999))
def test_durations_add_up(hours: int, minutes: int, seconds: int) -> None:
    total = 3600 * hours + 60 * minutes + seconds
    if total:
        assert seconds_of(f"{hours}h{minutes}m{seconds}s") == total
        assert seconds_of(str(total)) == total
        assert seconds_of(f"{total}s") == total


@pytest.mark.parametrize(
    ("text", "seconds"), [("10m", 600), ("90s", 90), ("1h30m", 5400), ("1.5", 1.5), ("0.5s", 0.5), ("2h", 7200)]
)
def test_durations_as_people_write_them(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "0", "0m", "-5m", "10 m", "10min", "m", "1m1h", "1.5h", "inf", "nan", "1e3", "10M", "٣m", "9" * 400, "10m\n"],
)
def test_other_durations_are_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"`--time-limit` must be a duration above zero, .* Found '"):
        seconds_of(text)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "a few seconds"),
        (9.9, "a few seconds"),
        (14.9, "about 10 seconds"),
        (54.9, "about 50 seconds"),
        (55, "about 1 minute"),
        (110, "about 2 minutes"),
        (569, "about 9 minutes"),
        (754, "about 15 minutes"),
        (3449, "about 55 minutes"),
        (3450, "about 1 hour"),
        (9000, "about 2.5 hours"),
    ],
)
def test_durations_as_they_are_shown(seconds: float, words: str) -> None:
    assert about(coarse(seconds)) == words


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_coarse_durations_are_near_and_in_order(one: float, other: float) -> None:
    assert coarse(one) == 5 if one < 10 else abs(coarse(one) - one) <= max(0.34 * one, 5)
    assert (coarse(one) <= coarse(other)) or one > other
    assert coarse(coarse(one)) == coarse(one)


def test_the_help_says_that_a_bare_number_is_seconds(office: Office) -> None:
    page = office.run("synth", "--help")
    assert "a bare number is seconds" in " ".join(page.out.replace("│", " ").split())
    assert max(map(len, page.out.splitlines())) <= 80


def test_the_receipt_says_what_the_limit_did(office: Office) -> None:
    assert office.synth("--time-limit", "1h30m", method="aim", epsilon="2").status == 0
    parameters = Receipt.load(RECEIPT).document["method"]["parameters"]
    assert parameters["time_limit"] == {"seconds": 5400.0, "rounds_ended": False}
    # With less, few columns have one round, which no limit ends.
    ended = office.synth("--time-limit", "0.0000001", "--force", method="aim", epsilon="200")
    assert ended.status == 0, ended.err
    assert "The time limit of 1e-07 s ended the rounds early" in " ".join(ended.out.split())
    receipt = Receipt.load(RECEIPT)
    assert receipt.document["method"]["parameters"]["time_limit"]["rounds_ended"]
    assert receipt.verify(office.path).holds
    assert office.run("receipt", "verify", RECEIPT).status == 0


@pytest.mark.parametrize(
    ("options", "method", "message"),
    [
        (("--time-limit", "10min"), "aim", "must be a duration above zero"),
        (("--time-limit", "10m"), "reweighting", "`time_limit` needs a method"),
        (("--time-limit", "10m"), "evolution", "`time_limit` needs a method"),
    ],
)
def test_what_is_refused_costs_nothing(office: Office, options: tuple[str, ...], method: str, message: str) -> None:
    before = office.files()
    ended = office.synth(*options, "--ledger", "people.ledger", method=method)
    assert (ended.status, message in ended.err) == (2, True), ended.err
    assert office.files() == before
    assert office.releases() == []


def test_a_run_is_finished_with_the_limit_that_it_was_begun_with(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    limit = ("--time-limit", "0.000001", "--ledger", "people.ledger")
    with monkeypatch.context() as patched:
        patched.setattr(Outputs, "write", full)
        ended = office.synth(*limit, method="mst")
    assert (ended.status, ANSWERS in office.files()) == (2, True)
    assert "--time-limit 0.000001" in ended.err
    other = office.synth("--time-limit", "10m", "--ledger", "people.ledger", "--resume", method="mst")
    assert other.status == 2
    assert "time limit 1e-06, where 600.0 is asked now" in other.err
    done = office.synth(*limit, "--resume", method="mst")
    assert done.status == 0, done.err
    assert len(office.releases()) == 1
    assert Receipt.load(RECEIPT).verify(office.path).holds


# What the progress says of the time


def test_what_is_left_follows_from_the_pace_of_the_second_half() -> None:
    clock = Ticks(step=0.0)
    left = TimeLeft(clock)
    assert left.words() == ""
    clock.now = 10.0
    left.seen(0.5)  # quick steps at first
    assert left.seconds() == pytest.approx(10.0)
    clock.now = 20.0
    left.seen(0.6)
    assert left.seconds() == pytest.approx(0.4 / 0.6 * 20), "of fewer than ten steps all count"
    for step in range(1, 10):
        clock.now = 20.0 + step
        left.seen(0.6 + step / 100)
    assert left.seconds() == pytest.approx(0.31 / 0.19 * 19)
    assert left.seen(0.3) == 0.69, "it never goes back"


@given(st.lists(st.tuples(st.floats(0, 1e4), st.floats(0, 1)), max_size=30))
def test_what_is_left_is_never_below_zero_and_never_fails(moves: list[tuple[float, float]]) -> None:
    clock = Ticks(step=0.0)
    left = TimeLeft(clock)
    for later, share in moves:
        clock.now += later
        assert left.seen(share) >= share
        seconds = left.seconds()
        assert seconds is None or seconds >= 0
        left.words()


def test_a_steady_work_is_foreseen() -> None:
    clock = Ticks(step=0.0)
    left = TimeLeft(clock)
    for done in range(1, 100):
        clock.now = float(done)
        left.seen(done / 100)
        assert left.seconds() is None if done < 5 else left.seconds() == pytest.approx(100 - done)


def test_it_says_nothing_before_it_can_tell() -> None:
    clock = Ticks(step=0.0)
    left = TimeLeft(clock)
    clock.now = 2.9
    left.seen(0.9)
    assert left.words() == ""
    clock, left = (again := Ticks(step=0.0)), TimeLeft(again)
    clock.now = 100.0
    left.seen(0.04)
    assert left.seconds() is None
    assert left.words() == ""


def shown_of(steps: Sequence[float]) -> list[tuple[float, str]]:
    """What is shown of a work of steps of so many seconds, asked every half second: each change, and when."""
    clock, shown, ends = Ticks(step=0.0), [(0.0, "")], list(itertools.accumulate(steps))
    left, done = TimeLeft(clock), 0
    for half_seconds in range(1, int(2 * ends[-1]) + 1):
        while done < len(ends) and ends[done] <= half_seconds / 2:
            clock.now, done = ends[done], done + 1
            left.seen(done / len(ends))
        clock.now = half_seconds / 2
        if (words := left.words()) != shown[-1][1]:
            shown.append((clock.now, words))
    return shown


def in_seconds(words: str) -> float:
    """The duration that is shown."""
    number, unit = ("5", "second") if words.startswith("a few") else words.split()[1:3]
    return float(number) * {"second": 1, "minute": 60, "hour": 3600}[unit.rstrip("s")]


STEPS = {
    "steady": [1.0] * 100,
    "exponential": np.random.default_rng(0).exponential(size=120).tolist(),
    "bursts": ([0.1] * 9 + [6.0]) * 20,
    "few and long": [12.0] * 10,
}


@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_what_is_shown_falls_with_the_time_and_is_near_what_is_left(steps: list[float]) -> None:
    """The unsmoothed estimate of most of these works jumps up and down at every step."""
    changes = shown_of(steps)
    (_, nothing), *said = changes
    assert (nothing, said[0][0] >= 5.0) == ("", True)
    assert all(words for _, words in said), "once shown, it stays"
    seconds = [in_seconds(words) for _, words in said]
    assert sum(one < other for one, other in itertools.pairwise(seconds)) <= (steps is STEPS["exponential"]), changes
    for (moment, words), number in zip(said, seconds, strict=True):
        truth = sum(steps) - moment
        assert truth / 2 - 10 <= number <= 2 * truth + 10, (moment, words, truth)


@given(st.lists(st.tuples(st.floats(0, 1e3), st.floats(0, 1)), min_size=1, max_size=60))
def test_what_is_shown_grows_only_where_much_more_is_left(moves: list[tuple[float, float]]) -> None:
    clock = Ticks(step=0.0)
    left, before = TimeLeft(clock), ""
    for later, share in moves:
        clock.now += later
        left.seen(share)
        words = left.words()
        assert words or not before
        if before and words != before:
            old, new = in_seconds(before), in_seconds(words)
            assert new < old or new >= 1.5 * old
        before = words


def test_nothing_is_shown_while_estimates_stray() -> None:
    """A work whose first tenth took a second a hundredth, and whose next takes a hundred: the end runs away."""
    clock = Ticks(step=0.0)
    left = TimeLeft(clock)
    for done in range(1, 5):
        clock.now = 10.0**done / 1000
        left.seen(done / 100)
        assert left.words() == ""
    for moment in (11.0, 12.0, 13.0, 14.0):
        clock.now = moment
        assert left.words() == ""


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, screen: io.StringIO, **options: bool) -> str:
    """What the progress of a work of a hundred seconds prints in its middle."""
    clock = Ticks(step=0.0)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(terminal, "monotonic", clock)
    monkeypatch.setenv("TERM", "xterm")
    with Terminal(**options).progress() as progress:
        for done in range(1, 51):
            clock.now = float(done)
            progress("a long description of what is being done, " * 4, done / 100)
        progress("a long description of what is being done, " * 4, 0.4)
    return screen.getvalue()


def test_a_terminal_is_told_the_share_and_what_time_is_left_in_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    told = shown(monkeypatch, Screen())
    assert "about 50 seconds left" in told
    assert "50%" in told
    assert "49%" not in told.split("50%", 1)[1]
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", told).replace("\r", "\n").split("\n")
    assert max(map(len, lines)) <= 80


def test_a_note_takes_the_line_of_the_bar_and_does_not_stand_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, here = Screen(), Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with here.progress():
        here.note("No ledger.")
    here.note("Made.")
    assert "\r\x1b[2KNo ledger.\n" in screen.getvalue()
    assert screen.getvalue().endswith("Made.\n")


@pytest.mark.parametrize(("screen", "quiet"), [(io.StringIO, False), (Screen, True)])
def test_nothing_is_shown_where_nobody_looks_or_wants_it(
    monkeypatch: pytest.MonkeyPatch, screen: type[io.StringIO], quiet: bool
) -> None:
    assert shown(monkeypatch, screen(), quiet=quiet) == ""
