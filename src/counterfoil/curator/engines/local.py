"""What engines share whose records come to this process: one reader, and long sums in few arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue

import numpy as np

from counterfoil.curator.engines.engine import Block, Engine
from counterfoil.curator.engines.reader import BlockReader
from counterfoil.curator.engines.tally import Tallied, Wanted
from counterfoil.curator.sources.source import Source
from counterfoil.noise.randomness import Randomness
from counterfoil.schema.schema import Schema
from counterfoil.threads import in_order, thread_count

_CELLS_OF_SEVERAL = 2**22
"""Counts, of 8 bytes, up to which each thread has an array of its own."""


class LocalEngine(Engine):
    """An engine whose blocks come to this process, read by a `BlockReader`.

    Args:
        source: where the rows are.
        schema: the public facts about them.
        privacy_unit, max_rows: the column whose values are protected together, and how many of a unit's rows to keep.
        randomness: chooses these; the operating system's where None.
        show_values: show the value at fault in an error, on the steward's own terminal.
    """

    def __init__(
        self,
        source: Source,
        schema: Schema,
        *,
        privacy_unit: str | None = None,
        max_rows: int | None = None,
        randomness: Randomness | None = None,
        show_values: bool = False,
    ) -> None:
        self.schema = schema
        self._reader = BlockReader(
            source,
            schema,
            privacy_unit=privacy_unit,
            max_rows=max_rows,
            randomness=randomness,
            show_values=show_values,
        )

    def unit_sizes(self, most: int) -> np.ndarray:
        sizes = self._reader.unit_sizes(most)
        return super().unit_sizes(most) if sizes is None else sizes

    def tally(self, columns: Sequence[str], wanted: Wanted) -> Iterator[Tallied]:
        yield from self._reader.tally(columns, wanted)

    def accumulate(self, add: Callable[[Block, np.ndarray], None], cells: int, columns: Sequence[str]) -> np.ndarray:
        threads = thread_count() if cells <= _CELLS_OF_SEVERAL else 1
        # Each thread adds to an array of its own, so that none waits for another: whole numbers add up in any order.
        free: SimpleQueue[np.ndarray] = SimpleQueue()
        totals = [np.zeros(cells, dtype=np.int64)]
        free.put(totals[0])

        def count(block: Block) -> None:
            try:
                total = free.get_nowait()
            except Empty:
                total = np.zeros(cells, dtype=np.int64)
                totals.append(total)
            add(block, total)
            free.put(total)

        for _ in in_order(count, self.blocks(columns), threads=threads):
            pass
        for further in totals[1:]:
            totals[0] += further
        return totals[0]
