"""Ctrl-C waits until an answer that was paid for is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_holding: list[bool] = []
"""Empty outside `interrupted_afterwards`; inside, whether an interrupt is held back."""


def interrupt() -> None:
    """What an interrupt does: it is held back within `interrupted_afterwards`, unless one is already.

    Raises:
        KeyboardInterrupt: otherwise.
    """
    if _holding == [False]:
        _holding[0] = True
    else:
        raise KeyboardInterrupt


@contextmanager
def interrupted_afterwards() -> Iterator[None]:
    """Holds back a first interrupt until the end of the block; a second one ends it at once.

    In the main thread alone, and not where somebody has set a handler. Where Ctrl-C is ignored, as scripts start their
    background commands, it stays so; other signals can call `interrupt`.

    Raises:
        KeyboardInterrupt: at the end of the block, where one was held back.
    """
    handler = signal.getsignal(signal.SIGINT)
    here = threading.current_thread() is threading.main_thread()
    if not here or _holding or handler not in (signal.default_int_handler, signal.SIG_IGN):
        yield
        return
    _holding.append(False)
    if handler is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, lambda *_: interrupt())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        held = _holding.pop()
    if held:
        raise KeyboardInterrupt
