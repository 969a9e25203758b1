"""Computing on records without a word on the side."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np

_changing = threading.Lock()
_within = 0
"""How many computations are under way, in all threads: filters of warnings are the process's."""
_before = ExitStack()
"""What gives the filters back that were there before the first of them."""


@contextmanager
def silent() -> Iterator[None]:
    """Shows no warning of what is computed inside.

    What a computation says on the side is an answer too: that a product overflowed, or that a logarithm was of 0, shows
    that some record holds a certain number, and no budget pays for it.
    """
    with without_warnings(), np.errstate(all="ignore"):
        yield


@contextmanager
def without_warnings() -> Iterator[None]:
    """Shows no warning of what is done inside, also where other threads come and go meanwhile.

    `warnings.catch_warnings` alone gives back what it found: of two threads the first one to leave would let the other
    one speak, and the last one silence the process for good.
    """
    if getattr(sys.flags, "context_aware_warnings", False):  # each thread has its own
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
        return
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _within
    with _changing:
        if not _within:
            _before.enter_context(warnings.catch_warnings())
        _within += 1
        warnings.simplefilter("ignore")


def _leave() -> None:
    global _within
    with _changing:
        _within -= 1
        if not _within:
            _before.close()
