"""The engine for files: the table is streamed through DuckDB, read once, and never has to fit in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from counterfoil.curator.engines.engine import Block
from counterfoil.curator.engines.local import LocalEngine
from counterfoil.curator.sources.source import Source
from counterfoil.schema.schema import Schema
from counterfoil.scratch.kept_arrays import ArrayKeeper, KeptArray
from counterfoil.threads import in_order

Key = tuple[str, str]


class DuckDBEngine(LocalEngine):
    """Streams coded blocks and keeps them: in memory until `cache_bytes` are full, then in a file without a name.

    A later scan reads the source again only for what was not kept, because the disk had no room.

    DuckDB reads and projects; what a value means is decided by the schema's encoders, the same for every engine.

    Args:
        source, schema, reading: as of `LocalEngine`.
        cache_bytes: how much of the coded table to keep in memory; with 0 nothing is kept, on disk neither.
    """

    def __init__(self, source: Source, schema: Schema, *, cache_bytes: int = 512 * 2**20, **reading: Any) -> None:
        super().__init__(source, schema, **reading)
        self._keeper = ArrayKeeper(cache_bytes)
        # For each column that is kept: its arrays in the first blocks of the table, without a gap.
        self._kept: dict[Key, list[KeptArray]] = {}
        self._n_blocks: int | None = None
        # Scans of several threads keep the same blocks: each position is kept once.
        self._keeping = threading.Lock()

    def prepare(self, columns: Sequence[str], numbers: Sequence[str] = ()) -> None:
        for _ in self.blocks(columns, numbers):
            pass

    def blocks(
        self, columns: Sequence[str], numbers: Sequence[str] = (), placements: Sequence[str] = ()
    ) -> Iterator[Block]:
        asked = {"codes": columns, "numbers": numbers, "placements": placements}
        keys = [(kind, name) for kind, names in asked.items() for name in names]
        with self._keeping:
            kept = min((len(self._kept.get(key, ())) for key in keys), default=0)
            # Taken now: a scan that runs beside this one may have to forget what lies on a full disk.
            held = [{key: self._kept[key][position] for key in keys} for position in range(kept)]
        yield from in_order(_loaded, held)
        if kept != self._n_blocks:
            position = kept
            for block in self._reader.blocks(columns, numbers, placements, skip_blocks=kept):
                with self._keeping:
                    self._keep(block, position)
                position += 1
                yield block
            self._n_blocks = position

    def _keep(self, block: Block, position: int) -> None:
        """Keeps those arrays of the block that continue what is kept already, as long as they fit."""
        for (kind, name), part in _parts(block).items():
            held = self._kept.setdefault((kind, name), [])
            if len(held) == position:
                kept = self._keeper.keep(part, self.schema[name].size if kind == "codes" else 0)
                if kept is not None:
                    held.append(kept)
                elif self._keeper.disk_is_full:
                    self._forget_disk()

    def _forget_disk(self) -> None:
        for key, held in self._kept.items():
            on_disk = (position for position, array in enumerate(held) if array.scratch is not None)
            self._kept[key] = held[: next(on_disk, len(held))]


def _parts(block: Block) -> dict[Key, np.ndarray]:
    by_kind = {"codes": block.codes, "numbers": block.numbers, "placements": block.placements}
    return {(kind, name): part for kind, parts in by_kind.items() for name, part in parts.items()}


def _loaded(held: Mapping[Key, KeptArray]) -> Block:
    by_kind: dict[str, dict[str, np.ndarray]] = {"codes": {}, "numbers": {}, "placements": {}}
    for (kind, name), array in held.items():
        by_kind[kind][name] = array.load()
    return Block(next(iter(held.values())).rows, **by_kind)
