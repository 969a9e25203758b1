"""Rehearsals in processes of their own, which end with the one that started them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, as_completed, wait
from contextlib import contextmanager
from multiprocessing import connection
from types import TracebackType
from typing import Any, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")

_SECONDS = 2.0
"""So long the pool may take to notice that its processes are gone, before nobody waits for them any more."""


class Workers:
    """Runs functions of a module on many arguments, in some processes; in this one where `jobs` is 1.

    Processes are spawned: nothing of this one's memory is in them but what they are given. An error in one of them, or
    an interrupt, ends all of them.

    Args:
        jobs: how many processes.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self._before = set(multiprocessing.active_children())
        self._pool: ProcessPoolExecutor | None = None
        self._asked: list[Future[Any]] = []

    def __enter__(self) -> Workers:
        if self.jobs > 1:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.jobs, mp_context=context, initializer=_follow_the_parent)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._pool is None:
            return
        if error is not None:
            for child in set(multiprocessing.active_children()) - self._before:
                child.terminate()
            if wait(self._asked, _SECONDS).not_done:
                _end_results(self._pool)
        self._pool.shutdown(wait=True, cancel_futures=True)

    def map(
        self, function: Callable[[Given], Made], given: Sequence[Given], done: Callable[[], None] = lambda: None
    ) -> list[Made]:
        """What `function` makes of each of `given`, in their order; `done` is called after each.

        Raises:
            ValueError: with the sentence of an error of this package in a process, and where a process was ended from
                outside.
        """
        if self._pool is None:
            return [_reported(function(one), done) for one in given]
        try:
            with _interrupts_held_back():
                futures: list[Future[Made]] = [self._pool.submit(function, one) for one in given]
            self._asked += futures
            for future in as_completed(futures):
                future.result()
                done()
            return [future.result() for future in futures]
        except BrokenExecutor:
            raise ValueError(
                f"Rehearsals in {self.jobs} processes must all end by themselves. Found one that was ended from "
                "outside, often for want of memory: use fewer `jobs` or fewer `rows`."
            ) from None
        except ValueError as error:
            raise ValueError(str(error)) from error  # of a public table: nothing in it has to be hidden


def usable_processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _reported(made: Made, done: Callable[[], None]) -> Made:
    done()
    return made


def _end_results(pool: ProcessPoolExecutor) -> None:
    """Closes the end that ended processes wrote their results to, which this one still holds open.

    One that is ended while it sends a result leaves the pool waiting for the rest of it, for ever. Once nobody can send
    it, the pool gives up, and closes what is left of its pipes.
    """
    writer = getattr(getattr(pool, "_result_queue", None), "_writer", None)
    if writer is not None:
        writer.close()


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Starts processes with Ctrl-C blocked: this process alone hears it, and ends them without their tracebacks."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _follow_the_parent() -> None:
    """Ignores Ctrl-C, and ends this process when the one that started it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()


def _end_after(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
