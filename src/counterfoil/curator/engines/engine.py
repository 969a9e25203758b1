"""What every engine does: sum over the coded table, block by block.

Every exact answer is a sum of partial answers over blocks, or computed from such sums, so that a table in memory, on
disk or on a cluster gives the same answer to the last count, and only the engine knows where the records are. A new
engine is one file in this folder: `registry` finds it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import ClassVar

import numpy as np

from counterfoil.curator.engines.tally import Tallied, Wanted
from counterfoil.curator.sources.source import Source
from counterfoil.noise.randomness import Randomness
from counterfoil.schema.schema import Schema

LARGEST_SUM = 2**62 - 1
"""Of what blocks of records add to one number, in either direction; `noise.LARGEST_ANSWER` is below."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of the sensitive table. Must not leave `curator/`.

    rows: how many.
    codes: by column, unsigned integers [rows], below the column's size.
    numbers: by column, float64 [rows]: values clamped into the declared bounds, NaN where missing.
    placements: by column, uint8 [rows]: how each cell was placed (`schema.placement`).
    """

    rows: int
    codes: Mapping[str, np.ndarray]
    numbers: Mapping[str, np.ndarray]
    placements: Mapping[str, np.ndarray] = field(default_factory=dict)


class Engine(ABC):
    """Exact access to the table, apart from noise and from queries.

    Attributes:
        reads: kinds of source that this engine is chosen for; none of its own where empty (see `registry`).
    """

    reads: ClassVar[tuple[type[Source], ...]] = ()

    schema: Schema

    @abstractmethod
    def __init__(
        self,
        source: Source,
        schema: Schema,
        *,
        privacy_unit: str | None = None,
        max_rows: int | None = None,
        randomness: Randomness | None = None,
    ) -> None:
        """See `BlockReader`, which checks all of them."""

    @abstractmethod
    def prepare(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> None:
        """Read the named columns once, so that what can't be read is refused before any budget is spent.

        Raises SourceError for a table that can't be read, UnplacedValue for a cell that has no place.
        """

    @abstractmethod
    def blocks(
        self, columns: Sequence[str], numbers: Sequence[str] = (), placements: Sequence[str] = ()
    ) -> Iterator[Block]:
        """Each row once, in blocks: at least one, which is empty for an empty table; the same ones in every call."""

    def fold(
        self,
        partial: Callable[[Block], np.ndarray],
        columns: Sequence[str],
        numbers: Sequence[str] = (),
        placements: Sequence[str] = (),
    ) -> np.ndarray:
        """The sum of `partial` over blocks that hold each row once, however the rows are divided into them.

        An engine whose records are elsewhere sums there, and returns sums only.

        Args:
            partial: gives arrays of one shape; zeros for an empty block.
            columns, numbers, placements: what it reads of a block.
        """
        # An engine of a user's own may know nothing of placements.
        blocks = self.blocks(columns, numbers, placements) if placements else self.blocks(columns, numbers)
        return reduce(added, map(partial, blocks))

    def accumulate(self, add: Callable[[Block, np.ndarray], None], cells: int, columns: Sequence[str]) -> np.ndarray:
        """int64 [cells]: what `add` adds to zeros, block by block: a `fold` for sums that are long."""

        def partial(block: Block) -> np.ndarray:
            total = np.zeros(cells, dtype=np.int64)
            add(block, total)
            return total

        return self.fold(partial, columns)

    def unit_sizes(self, most: int) -> np.ndarray:
        """int64 [most]: how many privacy units keep at least 1, 2, ..., `most` rows; each row is one without a unit."""
        sizes = np.zeros(most, dtype=np.int64)
        sizes[0] = self.rows(self.schema.domain.attributes[0])
        return sizes

    def tally(self, columns: Sequence[str], wanted: Wanted) -> Iterator[Tallied]:
        """Each text in each of `columns` that is wanted once, with what it counts, part by part.

        Raises:
            ValueError: for an engine that can't, whatever the records.
        """
        raise ValueError(
            "Texts are counted by the engines of this package. Found another: give the table as a file or a frame."
        )

    def rows(self, column: str) -> int:
        """How many rows there are, counted by reading one column."""
        return int(self.fold(_rows, [column])[0])


def added(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The sum of two arrays of one shape: of two, numpy would repeat the smaller, and count its records for each copy.

    Formal guarantee: whole numbers within `LARGEST_SUM` have a sum that int64 holds, and it counts as `LARGEST_SUM`
    where it is beyond. Of terms that are not negative that is min(their sum, `LARGEST_SUM`), in whatever order they are
    added, which no record moves further than the sum. A sum that wrapped around would move by 2**64 with one record.

    Raises:
        ValueError: for arrays of two shapes.
    """
    if one.shape != other.shape:
        raise ValueError("What is summed over blocks of records must have one shape. Found two.")
    total = one + other
    return np.asarray(np.clip(total, -LARGEST_SUM, LARGEST_SUM)) if total.dtype == np.int64 else total


def _rows(block: Block) -> np.ndarray:
    return np.array([block.rows], dtype=np.int64)
