"""A right that was paid for: so many uses, counted once, whoever holds it."""

from __future__ import annotations

import os
import threading
from typing import NoReturn


class Right:
    """So many uses of what one charge paid for.

    Those who share the object share the count: a shallow copy of its holder has no use more. A second count would be a
    second payment that nobody made, so that a right can't be copied or stored, and ends where a process forks.

    Args:
        uses: how many were paid for.
        gone: the sentence that refuses a further one.
    """

    def __init__(self, uses: int, gone: str) -> None:
        self._left = uses
        self._gone = gone
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def left(self) -> int:
        """How many uses were not taken."""
        return self._left

    def take(self) -> None:
        """Takes one use; of several threads each takes its own.

        Raises:
            ValueError: when none is left, or in another process than the one that paid.
        """
        if os.getpid() != self._process:
            raise ValueError("What was paid for is used in the process that paid. Found another one, after a fork.")
        with self._lock:
            if self._left < 1:
                raise ValueError(self._gone)
            self._left -= 1

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A right that was paid for can't be copied or stored: each use of it is counted once.")
