"""From a measure to rows: drawn evenly, shuffled, and turned into values a block at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from counterfoil.geometry.decoding import MOST_TRIES, allowed
from counterfoil.geometry.space import Space
from counterfoil.schema import Schema

BLOCK_ROWS = 1 << 16
"""Rows made at once: beside the rows themselves, two small integers for each are held, and one block of points."""

_MOST_DRAWN = 1_000_000


class Drawn(Protocol):
    """Points that were drawn: an array of them, or what makes an array of those that are asked for, once each."""

    def __getitem__(self, which: np.ndarray, /) -> np.ndarray: ...


Draw = Callable[[int, np.random.Generator], Drawn]
"""Takes n, gives n points of the space."""


@dataclass(frozen=True, eq=False)
class Placed:
    """Draws that stand for points until these are asked for.

    Args:
        chosen: integers [n]: which point of a support, or which cell.
        place: makes points of them.
    """

    chosen: np.ndarray
    place: Callable[[np.ndarray], np.ndarray]

    def __getitem__(self, which: np.ndarray, /) -> np.ndarray:
        return self.place(self.chosen[which])


def draw_rows(schema: Schema, space: Space, draw: Draw, n: int, rng: np.random.Generator) -> pa.Table:
    """`n` rows in random order that meet the schema's rules; fewer where hardly any does.

    The first draw is of `n` points, spread evenly over the measure; later ones only fill what rules left open.
    """
    parts: list[pa.Table] = []
    missing, size, tried = n, n, 0
    for _ in range(MOST_TRIES):
        points = draw(size, rng)
        order = np.arange(size, dtype=np.min_scalar_type(size))
        rng.shuffle(order)
        for start in range(0, size, BLOCK_ROWS):
            which = order[start : start + BLOCK_ROWS]
            table = space.table(points[which], schema, rng)
            good = np.flatnonzero(allowed(schema, table))[:missing]
            parts.append(table if len(good) == len(which) else table.take(pa.array(good)))
            missing, tried = missing - len(good), tried + len(which)
            if missing == 0:
                return pa.concat_tables(parts)
        size = min(64 + 2 * missing * tried // max(n - missing, 1), _MOST_DRAWN)
    return pa.concat_tables(parts)
