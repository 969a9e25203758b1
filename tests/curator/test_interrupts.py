"""An interrupt waits until the block ends, once; where SIGINT is ignored it stays so."""

from __future__ import annotations

import signal

import pytest

from counterfoil.curator.interrupts import interrupt, interrupted_afterwards


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


def test_a_first_interrupt_waits_for_the_end_of_the_block(ignored):
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(1, reached)
    assert reached == ["end"]
    interrupted(0, reached)


def test_a_second_interrupt_ends_the_block(ignored):
    reached: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(2, reached)
    assert not reached


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
