"""Counting how many rows have each combination of codes, or are at each place: compiled, without sorting anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from counterfoil.compiled import compiled
from counterfoil.domain.domain import Clique, Domain

_CHUNK = 4096


def count_marginals(
    codes: Mapping[str, np.ndarray],
    rows: int,
    cliques: Sequence[Clique],
    domain: Domain,
    *,
    into: Sequence[np.ndarray] | None = None,
) -> list[np.ndarray]:
    """One int64 array for each clique, shaped by the domain: the number of rows in each cell.

    Args:
        codes: integers [rows] by attribute, of those in the cliques at least.
        rows: how many there are.
        cliques, domain: what is counted.
        into: arrays of those shapes to add to, contiguous, and returned; fresh zeros when None.

    Raises:
        ValueError: for a code outside the domain, or arrays of another shape; nothing was written outside them.
    """
    tables = [np.zeros(domain.shape(clique), dtype=np.int64) for clique in cliques] if into is None else list(into)
    used = list(dict.fromkeys(name for clique in cliques for name in clique))
    position = {name: i for i, name in enumerate(used)}
    stacked = np.empty((len(used), rows), dtype=np.int32)
    for name, row in position.items():
        stacked[row] = codes[name]
        # The loops below write without looking: a code that is no place of the table would write outside it.
        if rows and not (stacked[row].min() >= 0 and stacked[row].max() < domain[name]):
            raise ValueError(f"Codes of {name!r} must lie between 0 and {domain[name] - 1}.")
    for clique, table in zip(cliques, tables, strict=True):
        axes = np.array([position[name] for name in clique], dtype=np.int64)
        of_shape = table.shape == domain.shape(clique) and table.dtype == np.int64
        if not (of_shape and table.flags.c_contiguous):
            raise ValueError(f"The counts of {clique} must be contiguous int64 {domain.shape(clique)}.")
        _count(stacked, axes, np.array(table.shape, dtype=np.int64), table.reshape(-1))
    return tables


def count_places(places: np.ndarray, *, records: int, size: int) -> np.ndarray:
    """int64 [size]: how often each place occurs among `places` [records].

    A sensitivity of one cell a record rests on what is checked here: each record has one place, and there are `size`.

    Raises:
        ValueError: for any other number of places, or one that is not among the `size`; which record it is of is not
            said.
    """
    if places.shape != (records,) or (records and not (places.min() >= 0 and places.max() < size)):
        raise ValueError(f"Each record has one place, from 0 to {size - 1}. A space, metric or partition gave another.")
    return np.bincount(places, minlength=size).astype(np.int64)


@compiled
def _count(codes: np.ndarray, rows: np.ndarray, sizes: np.ndarray, table: np.ndarray) -> None:
    """Add each column's cell to `table`. A chunk's cell numbers grow axis by axis in a buffer that stays in cache."""
    n = codes.shape[1]
    if len(rows) == 0:
        table[0] += n
        return
    cells = np.empty(_CHUNK, dtype=np.int64)
    for start in range(0, n, _CHUNK):
        length = min(_CHUNK, n - start)
        for i in range(length):
            cells[i] = codes[rows[0], start + i]
        for axis in range(1, len(rows)):
            size, row = sizes[axis], rows[axis]
            for i in range(length):
                cells[i] = cells[i] * size + codes[row, start + i]
        for i in range(length):
            table[cells[i]] += 1
