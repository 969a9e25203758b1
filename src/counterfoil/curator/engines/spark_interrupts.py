"""Ctrl-C while Spark is at work: its jobs are given up, for PySpark waits for the end of a job whatever is raised."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from counterfoil.interrupts import interrupt


@contextmanager
def given_up_when_interrupted(session: Any) -> Iterator[None]:
    """Cancels the jobs of a session where the block is interrupted; not where an interrupt is held back.

    In the main thread alone, and not where somebody has set a handler, as Spark does for a session of the user's own.
    The jobs are canceled by another thread, for this one may be in the middle of a request to Java.

    Raises:
        KeyboardInterrupt: where it was interrupted, whatever Spark says of jobs that were canceled.
    """
    handlers: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        names = ("SIGINT", "SIGTERM", "SIGHUP")
        found = {number: signal.getsignal(number) for name in names if (number := getattr(signal, name, None))}
        handlers = {number: on for number, on in found.items() if on in (interrupt, signal.default_int_handler)}
    heard: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        try:
            handlers[number](number, frame)
        except KeyboardInterrupt:
            heard.append(number)
            threading.Thread(target=_cancel, args=[session], daemon=True).start()
            raise

    try:
        for number in handlers:
            signal.signal(number, hear)
        yield
    except BaseException:
        if heard:
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _cancel(session: Any) -> None:
    with suppress(Exception):  # a connected session has no context here
        session.sparkContext.cancelAllJobs()
