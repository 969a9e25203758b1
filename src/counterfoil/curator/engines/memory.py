"""The reference engine: the coded table in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from counterfoil.curator.engines.engine import Block, LocalEngine
from counterfoil.curator.engines.reader import BlockReader
from counterfoil.curator.engines.tally import Tallied, Wanted
from counterfoil.curator.sources.source import Source
from counterfoil.noise.randomness import Randomness
from counterfoil.schema.schema import Schema


class MemoryEngine(LocalEngine):
    """Keeps each column that was asked for as its smallest unsigned integers, in the blocks that it was read in.

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
    ):
        self.schema = schema
        self._reader = BlockReader(
            source,
            schema,
            privacy_unit=privacy_unit,
            max_rows=max_rows,
            randomness=randomness,
            show_values=show_values,
        )
        self._rows: list[int] = []
        self._codes: dict[str, list[np.ndarray]] = {}
        self._numbers: dict[str, list[np.ndarray]] = {}
        self._placements: dict[str, list[np.ndarray]] = {}

    def prepare(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> None:
        new_codes = [name for name in columns if name not in self._codes]
        new_numbers = [name for name in numbers if name not in self._numbers]
        if self._rows and not (new_codes or new_numbers):
            return
        blocks = list(self._reader.blocks(new_codes, new_numbers))
        self._rows = [block.rows for block in blocks]
        self._codes |= {name: [block.codes[name] for block in blocks] for name in new_codes}
        self._numbers |= {name: [block.numbers[name] for block in blocks] for name in new_numbers}

    def unit_sizes(self, most: int) -> np.ndarray:
        sizes = self._reader.unit_sizes(most)
        return super().unit_sizes(most) if sizes is None else sizes

    def tally(self, columns: Sequence[str], wanted: Wanted) -> Iterator[Tallied]:
        yield from self._reader.tally(columns, wanted)

    def blocks(
        self, columns: Sequence[str], numbers: Sequence[str] = (), placements: Sequence[str] = ()
    ) -> Iterator[Block]:
        self.prepare(columns, numbers)
        self._prepare_placements(placements)
        for position, rows in enumerate(self._rows):
            yield Block(
                rows,
                {name: self._codes[name][position] for name in columns},
                {name: self._numbers[name][position] for name in numbers},
                {name: self._placements[name][position] for name in placements},
            )

    def _prepare_placements(self, names: Sequence[str]) -> None:
        new = [name for name in names if name not in self._placements]
        if not new:
            return
        blocks = list(self._reader.blocks((), (), new))
        self._rows = [block.rows for block in blocks]
        self._placements |= {name: [block.placements[name] for block in blocks] for name in new}
