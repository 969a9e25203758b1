"""How many threads compute: one for matrix products, which are small here; several for blocks of rows, in order."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, wraps
from itertools import chain
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_MOST = 8
"""More gain nothing (docs/scale.md), as files are read and written in sequence, and each holds blocks of its own."""


def _libraries() -> ThreadpoolController:
    """The linear-algebra libraries of NumPy and, once it is loaded, of SciPy.

    SciPy has its own: were it not limited, a search by L-BFGS would end in other digits with more threads.
    """
    return _loaded("scipy.linalg" in sys.modules)


@cache
def _loaded(with_scipy: bool) -> ThreadpoolController:
    """Looking for them takes milliseconds, so that it is done once, and once more with SciPy's."""
    return ThreadpoolController()


def on_one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """`function`, with matrix products on one thread while it runs: threads that wait for each other cost more."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with _libraries().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return limited


def thread_count() -> int:
    """How many threads share blocks of rows: one for each core that this process may use, at most 8.

    OMP_NUM_THREADS, which other numerical libraries follow too, asks for fewer.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return min(usable, _MOST, int(asked)) if asked.isdecimal() and int(asked) else min(usable, _MOST)


def in_order(function: Callable[[T], R], items: Iterable[T], *, threads: int | None = None) -> Iterator[R]:
    """`function` of each item, in the order of the items, computed on several threads.

    What is seen from outside is that of `map`: items are made on the calling thread, and of several failures, those of
    making an item among them, the first in the items' order is raised, after the results before it. Only when things
    happen differs: items are made up to `threads` ahead. A caller that stops early waits for what is being computed,
    and nothing more is begun.

    Args:
        function: may run on several threads at once, in the context of the caller.
        items: as many as are wanted; a few of them are held at a time.
        threads: how many; `thread_count()` where None.

    Raises:
        Exception: what `function` or `items` raise.
    """
    several = thread_count() if threads is None else threads
    ahead = iter(items)
    first = list(_next(ahead))
    if several < 2:
        yield from map(function, chain(first, ahead))
        return
    if first:
        second, failure = _next_or_failure(ahead)
        if not second:  # one item needs no threads
            yield function(first[0])
            if failure is not None:
                raise failure
            return
        yield from _on_threads(function, chain(first, second, ahead), several)


def _on_threads(function: Callable[[T], R], items: Iterator[T], threads: int) -> Iterator[R]:
    running: deque[Future[R]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="counterfoil") as pool:
        try:
            more, failure = _next_or_failure(items)
            while more or running:
                for item in more:
                    running.append(pool.submit(copy_context().run, function, item))
                if len(running) > threads or not more:
                    yield running.popleft().result()
                if more:
                    more, failure = _next_or_failure(items)
            if failure is not None:
                raise failure
        finally:
            for future in running:
                future.cancel()


def _next(items: Iterator[T]) -> Iterator[T]:
    """The next item, if there is one."""
    for item in items:
        yield item
        return


def _next_or_failure(items: Iterator[T]) -> tuple[list[T], Exception | None]:
    """The next item, if there is one, or why there is none: results before it come first."""
    try:
        return list(_next(items)), None
    except Exception as failure:
        return [], failure
