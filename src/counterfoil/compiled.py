"""Loops that are compiled when they first run, and kept in a cache where there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable) -> Any:
    """`function` as machine code that runs without Python's lock.

    Numba's cache is beside the module or in the user's cache folder. Where neither can be written, as in a container
    with a read-only installation, the loop is compiled anew by each process, which takes a second.
    """
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        return numba.njit(nogil=True)(function)
