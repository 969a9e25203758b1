"""The reference engine: the coded table in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from counterfoil.curator.engines.engine import Block
from counterfoil.curator.engines.local import LocalEngine
from counterfoil.curator.sources.source import Source
from counterfoil.schema.schema import Schema


class MemoryEngine(LocalEngine):
    """Keeps each column that was asked for as its smallest unsigned integers, in the blocks that it was read in.

    Args:
        source, schema, reading: as of `LocalEngine`.
    """

    def __init__(self, source: Source, schema: Schema, **reading: Any) -> None:
        super().__init__(source, schema, **reading)
        self._rows: list[int] = []
        self._kept: dict[str, dict[str, list[np.ndarray]]] = {"codes": {}, "numbers": {}, "placements": {}}

    def prepare(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> None:
        self._keep({"codes": columns, "numbers": numbers, "placements": ()})

    def blocks(
        self, columns: Sequence[str], numbers: Sequence[str] = (), placements: Sequence[str] = ()
    ) -> Iterator[Block]:
        asked = {"codes": columns, "numbers": numbers, "placements": placements}
        self._keep(asked)
        for position, rows in enumerate(self._rows):
            parts = {kind: {name: self._kept[kind][name][position] for name in names} for kind, names in asked.items()}
            yield Block(rows, **parts)

    def _keep(self, asked: dict[str, Sequence[str]]) -> None:
        """Reads what is asked for, by its kind, and was not read yet."""
        new = {kind: [name for name in names if name not in self._kept[kind]] for kind, names in asked.items()}
        if self._rows and not any(new.values()):
            return
        blocks = list(self._reader.blocks(*new.values()))
        self._rows = [block.rows for block in blocks]
        for kind, names in new.items():
            self._kept[kind] |= {name: [getattr(block, kind)[name] for block in blocks] for name in names}
