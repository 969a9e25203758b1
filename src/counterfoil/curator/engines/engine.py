"""The protocol of engines: each hands over the coded table, block by block.

Every exact answer is a sum of partial answers over blocks, or computed from such sums, so that a table in memory, on
disk or on a cluster gives the same answer to the last count, and only the engine knows where the records are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from counterfoil.schema.schema import Schema


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of the sensitive table. Must not leave `curator/`.

    rows: how many.
    codes: by column, unsigned integers [rows], below the column's size.
    numbers: by column, float64 [rows]: values clamped into the declared bounds, NaN where missing.
    """

    rows: int
    codes: Mapping[str, np.ndarray]
    numbers: Mapping[str, np.ndarray]


class Engine(Protocol):
    """Exact access to the table, apart from noise and from queries."""

    schema: Schema

    def prepare(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> None:
        """Read the named columns once, so that what can't be read is refused before any budget is spent.

        Raises SourceError for a table that can't be read, UnplacedValue for a cell that has no place.
        """
        ...

    def blocks(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> Iterator[Block]:
        """Each row once, in blocks: at least one, which is empty for an empty table; the same ones in every call."""
        ...
