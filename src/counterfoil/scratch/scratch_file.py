"""Arrays on disk, in a file that has no name."""

from __future__ import annotations

import os
import tempfile
import threading
import weakref

import numpy as np


class ScratchFile:
    """Arrays in a file that has no name, so that nobody else opens it, and that is gone with this process.

    The system frees the space of such a file when the process ends, however it ends, so that nothing remains to be
    removed. (Windows, where open files have names, deletes it when it is closed.) It takes room on disk only once
    something is written to it.

    Raises:
        OSError: where no temporary file can be made.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed with the object
        self._end = 0
        self._positioned = threading.Lock()
        weakref.finalize(self, self._file.close)

    def append(self, array: np.ndarray) -> int:
        """Writes a contiguous array, and says where it begins; several threads may write at once.

        Raises:
            OSError: where there is no room for it; what was written before is still there.
        """
        left = _bytes_of(np.ascontiguousarray(array))
        with self._positioned:
            start = self._end
            self._file.seek(start)
            while left:
                left = left[self._file.write(left) :]
            self._end = start + array.nbytes
        return start

    def read(self, start: int, into: np.ndarray) -> np.ndarray:
        """Fills a contiguous array with what lies at `start`, and returns it; several threads may read at once.

        Raises:
            OSError: where it can't be read whole.
        """
        left, at = _bytes_of(into), start
        while left:
            done = self._read(left, at)
            if not done:
                raise OSError("A temporary file was cut short.")
            left, at = left[done:], at + done
        return into

    def _read(self, into: memoryview, start: int) -> int:
        if hasattr(os, "preadv"):
            return os.preadv(self._file.fileno(), [into], start)
        with self._positioned:
            self._file.seek(start)
            return self._file.readinto(into) or 0

    def close(self) -> None:
        """Frees the room on disk."""
        self._file.close()


def _bytes_of(array: np.ndarray) -> memoryview:
    """The bytes of a contiguous array, to be read or written in place."""
    return array.data.cast("B") if array.size else memoryview(b"")
