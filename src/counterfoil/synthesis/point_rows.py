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
from counterfoil.schema.plain_arrays import array_of

BLOCK_ROWS = 1 << 16
"""Rows that are made at once: memory holds two small integers for each row, and one block of points."""

_MOST_DRAWN = 1_000_000


class Drawn(Protocol):
    """Drawn points: an array of them, or an object that makes an array of the requested ones, each requested once."""

    def __getitem__(self, which: np.ndarray, /) -> np.ndarray: ...


Draw = Callable[[int, np.random.Generator], Drawn]
"""Takes n, and returns n points of the space."""


@dataclass(frozen=True, eq=False)
class Placed:
    """Draws whose points are made only when they are requested.

    Args:
        chosen: integers [n]: the index of a point of the support, or of a cell.
        place: makes the points of such indices.
    """

    chosen: np.ndarray
    place: Callable[[np.ndarray], np.ndarray]

    def __getitem__(self, which: np.ndarray, /) -> np.ndarray:
        return self.place(self.chosen[which])


def draw_rows(schema: Schema, space: Space, draw: Draw, n: int, rng: np.random.Generator) -> pa.Table:
    """`n` rows in random order that meet the schema's rules; fewer where hardly any does.

    The first draw is of `n` points, spread evenly over the measure; later ones replace rows that broke the rules.
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
            parts.append(table if len(good) == len(which) else table.take(array_of(good)))
            missing, tried = missing - len(good), tried + len(which)
            if missing == 0:
                return pa.concat_tables(parts)
        size = min(64 + 2 * missing * tried // max(n - missing, 1), _MOST_DRAWN)
    return pa.concat_tables(parts)
