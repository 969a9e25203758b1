"""Whether an array in memory is still the one that was read first: its owner may write to it between two passes."""

from __future__ import annotations

import zlib

import numpy as np

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.source import BATCH_ROWS


class ArrayState:
    """What an array holds, as one number that stays in this process.

    Columns are read in several passes, and those that were read are kept. Where rows were moved in between, as by a
    shuffle in place, a record would be put together of the cells of two, and one person more could move all of them:
    no sensitivity counts that. Files are watched by their times; an array has none, and a copy may not fit in memory.

    Args:
        array: [n, d], of numbers or texts.
    """

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self._first: int | None = None

    def remember(self) -> None:
        """Takes note of what the array holds, the first time."""
        if self._first is None:
            self._first = self._checksum()

    def require_unchanged(self) -> None:
        """Refuses an array that holds something else than when it was remembered.

        Raises:
            SourceError: which says nothing of what it holds.
        """
        if self._checksum() != self._first:
            raise SourceError(
                "The array has changed since it was first read. Give a copy of it, or start again: answers about two "
                "tables must not be mixed."
            )

    def _checksum(self) -> int:
        seen = 0
        for start in range(0, len(self._array), BATCH_ROWS):
            seen = zlib.crc32(self._array[start : start + BATCH_ROWS].tobytes(), seen)
        return seen
