"""Loops that are compiled when they first run, and kept in a cache where there is one."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from functools import update_wrapper
from pathlib import Path
from threading import RLock
from typing import Any

_COMPILING = RLock()


class Kept(Enum):
    """What calling a loop for the first time in a process takes."""

    READY = auto()
    """Machine code is there, or is read from the cache."""
    ONCE = auto()
    """It is compiled now, and read by all later processes."""
    NOWHERE = auto()
    """It is compiled by each process, for no cache can be written."""


class Compiled:
    """A loop that becomes machine code when it is first called: Numba takes a quarter of a second to import.

    Args:
        function: the loop; of the package's other functions it calls none that is not compiled too.
        any_order: whether numbers may be added up in another order than the loop's, as vectors are.
    """

    def __init__(self, function: Callable, *, any_order: bool = False) -> None:
        update_wrapper(self, function)
        self._function: Any = function
        self._any_order = any_order
        self._code: Any = None

    def __call__(self, *arguments: Any) -> Any:
        """What the loop returns; it runs without Python's lock."""
        code = self._code
        return (self.machine_code() if code is None else code)(*arguments)

    @property
    def interpreted(self) -> Callable:
        """The loop as Python runs it, for so few rounds that importing Numba would take longer.

        Its arguments should be Python's own numbers in bytes and lists, which Python is faster with than with arrays.
        """
        return self._function

    @property
    def is_ready(self) -> bool:
        """Whether it was compiled, or read from the cache, in this process."""
        return self._code is not None

    @property
    def kept(self) -> Kept:
        """What its first call takes, as far as the names of the cache's files say; nothing is compiled to say so."""
        if self.is_ready:
            return Kept.READY
        folder = _machine_code(self._function, self._any_order).stats.cache_path
        if folder is None:
            return Kept.NOWHERE
        stem = f"{Path(self._function.__code__.co_filename).stem}.{self._function.__qualname__}"
        return Kept.READY if any(Path(folder).glob(f"{stem}-*.nbi")) else Kept.ONCE

    def machine_code(self) -> Any:
        """The loop as Numba compiles it, made once, also where several threads ask at the same time."""
        with _COMPILING:
            if self._code is None:
                # The compiler knows other loops by the names that this one calls them by.
                known = self._function.__globals__
                for name in self._function.__code__.co_names:
                    if isinstance(known.get(name), Compiled):
                        known[name] = known[name].machine_code()
                self._code = _machine_code(self._function, self._any_order)
        return self._code


def compiled(function: Callable) -> Any:
    """`function` as machine code that runs without Python's lock, made when it is first called.

    Numba's cache is beside the module or in the user's cache folder. Where neither can be written, as in a container
    with a read-only installation, the loop is compiled anew by each process, which takes a second.

    It is compiled once for all types of its arguments that it is called with. To the compiler a constant is a type of
    its own, as are each layout of an array and whether it can be written: loops pass `np.int64(0)` where others call
    them with numbers, and arrays come in one layout.
    """
    return Compiled(function)


def compiled_sum(function: Callable) -> Any:
    """The same for a loop that adds up numbers in no particular order: its last digits depend on the processor."""
    return Compiled(function, any_order=True)


def _machine_code(function: Callable, any_order: bool) -> Any:
    import numba

    reordered: dict[str, Any] = {"fastmath": {"reassoc", "nsz"}} if any_order else {}
    try:
        return numba.njit(cache=True, nogil=True, **reordered)(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        return numba.njit(nogil=True, **reordered)(function)
