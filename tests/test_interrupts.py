"""Interrupts wait until the block ends, and end a command once; where SIGINT is ignored it stays so."""

from __future__ import annotations

import ctypes
import signal
import time
from collections.abc import Callable

import pytest

from counterfoil import interrupts
from counterfoil.interrupts import PATIENCE, ended_once, interrupt, interrupted_afterwards


@pytest.fixture(params=["Python's handler", "ignored"])
def ignored(request):
    wanted = signal.SIG_IGN if request.param == "ignored" else signal.default_int_handler
    before = signal.signal(signal.SIGINT, wanted)
    yield wanted is signal.SIG_IGN
    assert signal.getsignal(signal.SIGINT) is wanted
    signal.signal(signal.SIGINT, before)


def interrupted(times: int, reached: list[str]) -> None:
    with interrupted_afterwards():
        for _ in range(times):
            interrupt()
        reached.append("end")


def nested(reached: list[str]) -> None:
    with interrupted_afterwards():
        with interrupted_afterwards():
            interrupt()
        reached.append("end of the outer block")


@pytest.mark.parametrize("times", [1, 2, 5])
def test_interrupts_wait_for_the_end_of_the_block(ignored, times):
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(times, reached)
    assert reached == ["end"]
    interrupted(0, reached)


def test_a_command_is_ended_once_until_it_had_time_to_end(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(interrupts.time, "monotonic", lambda: clock[0])
    with ended_once():
        with pytest.raises(KeyboardInterrupt):
            interrupt()
        clock[0] += PATIENCE / 2
        interrupt()
        reached: list[str] = []
        interrupted(2, reached)  # nor at the end of a block
        assert reached
        clock[0] += PATIENCE
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    with ended_once(), pytest.raises(KeyboardInterrupt):  # the next command is another one
        interrupt()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_end_a_command_unless_they_are_ignored(name):
    number = getattr(signal, name)
    found = signal.getsignal(number)
    try:
        for handler in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, handler)
            with ended_once(), pytest.raises(KeyboardInterrupt):
                signal.raise_signal(number)
            assert signal.getsignal(number) is handler
        signal.signal(number, signal.SIG_IGN)
        with ended_once():
            signal.raise_signal(number)
    finally:
        signal.signal(number, found)


class Finalized:
    """What gets a signal when it is forgotten."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __del__(self) -> None:
        signal.raise_signal(self._number)


def forgets(number: int) -> None:
    Finalized(number)


def calls_back(number: int) -> None:
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(number))()


def goes_on_behind(signaled: Callable[[int], None], number: int) -> None:
    signaled(number)
    for _ in range(500):
        time.sleep(0.01)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("signaled", [forgets, calls_back])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_an_interrupt_where_nothing_can_be_raised_is_not_lost(
    signaled: Callable[[int], None], name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with ended_once(), pytest.raises(KeyboardInterrupt):
        goes_on_behind(signaled, getattr(signal, name))
    assert capfd.readouterr().err == ""


def test_outside_an_interrupt_ends_at_once(ignored):
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_blocks_within_blocks_wait_for_the_outer_one(ignored):
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        nested(reached)
    assert reached


def test_the_signal_itself_is_held_back_or_ignored(ignored):
    reached = []
    try:
        with interrupted_afterwards():
            signal.raise_signal(signal.SIGINT)
            reached.append("end")
        assert ignored
    except KeyboardInterrupt:
        assert not ignored
    assert reached == ["end"]
