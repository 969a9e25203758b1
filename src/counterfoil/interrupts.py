"""Ctrl-C waits until an answer that was paid for is kept, and until what was reserved is given back."""

from __future__ import annotations

import _thread
import math
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

PATIENCE = 10.0
"""Seconds in which a command that was interrupted may end; a further interrupt changes nothing until then."""

AGAIN = 0.02
"""Seconds after which an interrupt that came where it would be lost is tried again."""

_holding: list[bool] = []
"""Empty outside `interrupted_afterwards`; inside, whether an interrupt is held back."""

_commands: list[float] = []
"""Empty outside `ended_once`; inside, when the command was interrupted."""

_number: list[int] = [signal.SIGINT]
"""The signal by which it was."""


def interrupt(number: int = signal.SIGINT, frame: FrameType | None = None) -> None:
    """What an interrupt does: it is held back within `interrupted_afterwards`, and ends a command once.

    A command goes on until a module that is being imported is there: many a library tries to import another one, and
    takes whatever is raised meanwhile for its absence, so that the interrupt would be lost.

    Raises:
        KeyboardInterrupt: otherwise.
    """
    if _holding:
        _holding[0] = True
        return
    if _commands and _imports(frame):
        _try_again(number)
        return
    if _commands:
        now = time.monotonic()
        if now < _commands[0] + PATIENCE:
            return
        _commands[0], _number[0] = now, number
    raise KeyboardInterrupt


def _try_again(number: int) -> None:
    later = threading.Timer(AGAIN, _thread.interrupt_main, [number])
    later.daemon = True
    later.start()


def _imports(frame: FrameType | None) -> bool:
    """Whether code is run because a module is imported."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


@contextmanager
def left_to_other_threads() -> Iterator[None]:
    """Signals that Python handles do not break what this thread waits for, nor what threads that it starts wait for.

    A library in C that reads from a pipe takes a read that a signal broke for a failure. The signal goes to another
    thread, and where there is none, it comes at the end; Python handles it in the main thread either way.
    """
    handled = {number for number in signal.valid_signals() if callable(signal.getsignal(number))}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, handled)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _never_lost() -> Iterator[None]:
    """Tries an interrupt again that was raised where nothing can be: in a finalizer, or in what a library calls back.

    Python tells of such an error, and goes on. The loops that are compiled call back as they are loaded.
    """
    tell = sys.unraisablehook

    def heard(unraisable: UnraisableHookArgs) -> None:
        if _commands and isinstance(unraisable.exc_value, KeyboardInterrupt):
            _commands[0] = -math.inf
            _try_again(_number[0])
        else:
            tell(unraisable)

    sys.unraisablehook = heard
    try:
        yield
    finally:
        sys.unraisablehook = tell


@contextmanager
def ended_once() -> Iterator[None]:
    """Has SIGINT, SIGTERM and SIGHUP end what runs in the block as Ctrl-C does, and only the first of several.

    The others find it at work on its end: it keeps what was paid for, gives back what was not, and says which. One that
    comes `PATIENCE` seconds later counts again. In the main thread alone, and not where somebody has set a handler, or
    where a signal is ignored.
    """
    if threading.current_thread() is not threading.main_thread() or _commands:
        yield
        return
    heeded = {signal.SIG_DFL, signal.default_int_handler}
    ended = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: handler for number in ended if (handler := signal.getsignal(number)) in heeded}
    try:
        _commands.append(-math.inf)
        for number in before:
            signal.signal(number, interrupt)
        with _never_lost():
            yield
    finally:
        try:
            for number, handler in before.items():
                signal.signal(number, handler)
        finally:
            _commands.clear()


@contextmanager
def interrupted_afterwards() -> Iterator[None]:
    """Holds back interrupts, however many there are, until the end of the block.

    In the main thread alone, and not where somebody has set a handler. Where Ctrl-C is ignored, as scripts start their
    background commands, it stays so; other signals can call `interrupt`.

    Raises:
        KeyboardInterrupt: at the end of the block, where one was held back.
    """
    handler = signal.getsignal(signal.SIGINT)
    here = threading.current_thread() is threading.main_thread()
    if not here or _holding or handler not in (signal.default_int_handler, signal.SIG_IGN, interrupt):
        yield
        return
    swapped = handler is signal.default_int_handler
    held = False
    try:
        _holding.append(False)
        if swapped:
            signal.signal(signal.SIGINT, interrupt)
        yield
    finally:
        try:
            if swapped:
                signal.signal(signal.SIGINT, handler)
        finally:
            held = bool(_holding) and _holding.pop()
    if held:
        interrupt()
