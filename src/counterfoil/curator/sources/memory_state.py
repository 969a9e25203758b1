"""Whether a table in memory is still the one that was read first: its owner may write to it between two passes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.source import BATCH_ROWS
from counterfoil.schema.values import Values


class MemoryState:
    """What some memory holds, as one number that stays in this process.

    Columns are read in several passes, and those that were read are kept. Where rows were moved in between, as by a
    shuffle in place, a record would be put together of the cells of two, and one person more could move all of them:
    no sensitivity counts that. Files are watched by their times; memory has none, and a copy may not fit beside it.

    Args:
        parts: gives the memory, piece by piece, each time that it is called.
    """

    def __init__(self, parts: Callable[[], Iterable[Any]]) -> None:
        self._parts = parts
        self._first = self._checksum()

    def require_unchanged(self) -> None:
        """Refuses memory that holds something else than when this was made.

        Raises:
            SourceError: which says nothing of what it holds.
        """
        if self._checksum() != self._first:
            raise SourceError(
                "The table has changed since it was first read. Give a copy of it, or start again: answers about two "
                "tables must not be mixed."
            )

    def _checksum(self) -> int:
        seen = 0
        for part in self._parts():
            seen = zlib.crc32(part, seen)
        return seen


def memory_of_array(array: np.ndarray) -> Iterator[bytes]:
    """The cells of an array [n, d], some rows at a time."""
    for start in range(0, len(array), BATCH_ROWS):
        yield array[start : start + BATCH_ROWS].tobytes()


def memory_of_column(part: Callable[[int, int], Values], rows: int) -> Iterator[memoryview]:
    """The cells of a column of a frame, where they are numbers or moments: they may lie in somebody's numpy array.

    Texts and objects are not watched: frames have a copy of their own, but for those of pandas before version 3.

    Args:
        part: what reads the column, as of `FrameSource`.
        rows: how many cells there are.
    """
    kind = part(0, 0).type
    if not pa.types.is_primitive(kind):
        return
    width = 1 if pa.types.is_boolean(kind) else kind.bit_width // 8
    for start in range(0, rows, BATCH_ROWS):
        cells: Any = part(start, min(BATCH_ROWS, rows - start))
        if pa.types.is_boolean(kind):  # eight of which share a byte
            cells = cells.cast(pa.uint8())
        for chunk in cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]:
            held = chunk.buffers()[1]
            if held is not None and len(chunk):
                yield memoryview(held)[chunk.offset * width : (chunk.offset + len(chunk)) * width]
