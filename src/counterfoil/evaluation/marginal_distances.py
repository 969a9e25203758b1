"""L1 distances of the marginals of two tables, exact: counted in whole numbers, by compiled loops.

The error of a marginal with r and s rows of the two tables in a cell, of n and m rows, is the sum over cells of
abs(r / n - s / m) = sum of abs(r m - s n) / (n m). The numerator is whole, so that it does not depend on the order of
the cells, and equal tables are 0 apart.

Of a marginal with many cells most are empty. Its rows are then taken in groups of one value of its largest column, so
that each group needs the cells of the other columns alone, which stay in the processor's cache; where even these are
too many, the cells are sorted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from counterfoil.compiled import compiled
from counterfoil.domain.domain import Clique

_CHUNK = 4096
_CELLS_AT_ONCE = 2**16
"""A table of so many cells needs no groups: half a megabyte."""
_CELLS_OF_A_GROUP = 2**20
_CELLS_A_ROW = 4
"""Above this many cells for each row of a group, only those that its rows are in are looked at again."""
_CODES_A_ROW = 4
"""Above this many codes for each row, the codes of a column are sorted to be numbered."""
_LARGEST = 2**62


@dataclass(frozen=True, eq=False)
class BesideEachOther:
    """The codes of two tables, the rows of the first before those of the second.

    Args:
        codes: [columns, n + m], each column numbered anew without the codes that no row has.
        sizes: how many codes each column has.
        place: the row of each attribute in `codes`.
        first, second: n and m.
    """

    codes: np.ndarray
    sizes: tuple[int, ...]
    place: Mapping[str, int]
    first: int
    second: int

    @classmethod
    def of(
        cls, one: Mapping[str, np.ndarray], other: Mapping[str, np.ndarray], names: Sequence[str]
    ) -> BesideEachOther:
        """The codes of `names` in two tables.

        Args:
            one: integers [n] by attribute, not negative, n > 0.
            other: the same [m].
            names: the attributes, at least one.
        """
        first, second = len(one[names[0]]), len(other[names[0]])
        columns, sizes = [], []
        for name in names:
            codes, size = _renumbered(np.concatenate([one[name], other[name]]))
            columns.append(codes)
            sizes.append(size)
        stacked = np.empty((len(names), first + second), dtype=_type_for(max(sizes)))
        for row, codes in enumerate(columns):
            stacked[row] = codes
        return cls(stacked, tuple(sizes), {name: row for row, name in enumerate(names)}, first, second)

    def distances(self, cliques: Sequence[Clique]) -> dict[Clique, float]:
        """The L1 distance, from 0 to 2, of the two normalized marginals of each clique, in the order given."""
        grouped: list[tuple[int, tuple[int, ...], Clique]] = []
        found: dict[Clique, float] = dict.fromkeys(cliques, 0.0)
        for clique in cliques:
            axes = tuple(sorted((self.place[name] for name in clique), key=lambda axis: -self.sizes[axis]))
            cells = math.prod(self.sizes[axis] for axis in axes)
            if self.first * self.second < _LARGEST and cells <= _CELLS_AT_ONCE:
                grouped.append((-1, axes, clique))
            elif self.first * self.second < _LARGEST and cells // self.sizes[axes[0]] <= _CELLS_OF_A_GROUP:
                grouped.append((axes[0], axes[1:], clique))
            else:
                found[clique] = self._by_sorting(axes)
        for outer, group in groupby(sorted(grouped, key=lambda one: one[0]), key=lambda one: one[0]):
            found |= self._by_counting(outer, [(axes, clique) for _, axes, clique in group])
        return found

    def _by_counting(
        self, outer: int, wanted: Sequence[tuple[tuple[int, ...], Clique]]
    ) -> Iterator[tuple[Clique, float]]:
        """Distances of marginals whose rows are in groups of one value of column `outer`; one group where it is -1."""
        codes, starts = self.codes, np.array([0, self.first, self.first + self.second])
        row_of = {axis: axis for axis in range(len(codes))}
        if outer >= 0:
            order, starts = self._groups(outer)
            used = sorted({axis for axes, _ in wanted for axis in axes})
            row_of = {axis: row for row, axis in enumerate(used)}
            codes = np.stack([codes[axis][order] for axis in used or [outer]])
        most = max(math.prod(self.sizes[axis] for axis in axes) for axes, _ in wanted)
        table = np.zeros(most, dtype=np.int64)
        for axes, clique in wanted:
            rows = np.array([row_of[axis] for axis in axes], dtype=np.int64)
            sizes = np.array([self.sizes[axis] for axis in axes], dtype=np.int64)
            apart = _apart(codes, rows, sizes, starts, self.first, self.second, table, _CELLS_A_ROW)
            yield clique, apart / (self.first * self.second)

    def _groups(self, outer: int) -> tuple[np.ndarray, np.ndarray]:
        """The rows by their value of a column, those of the first table before those of the second, and their starts.

        Returns:
            the order [n + m], and int64 [2 values + 1] where the rows of each value and table begin.
        """
        key = 2 * self.codes[outer].astype(np.int64)
        key[self.first :] += 1
        starts = np.zeros(2 * self.sizes[outer] + 1, dtype=np.int64)
        np.cumsum(np.bincount(key, minlength=len(starts) - 1), out=starts[1:])
        # Small whole numbers are sorted by their digits, in linear time.
        key = key.astype(np.uint16) if len(starts) <= 2**16 else key
        return np.argsort(key, kind="stable"), starts

    def _by_sorting(self, axes: Sequence[int]) -> float:
        """One distance, from the sorted cells of the rows."""
        key, cells = np.zeros(self.first + self.second, dtype=np.int64), 1
        for axis in axes:
            if cells * self.sizes[axis] > _LARGEST // 2:
                key = np.unique(key, return_inverse=True)[1]
                cells = len(key)
            key = key * self.sizes[axis] + self.codes[axis]
            cells *= self.sizes[axis]
        key *= 2
        key[self.first :] += 1
        key.sort()
        return float(_of_runs(key, self.first, self.second))


def _renumbered(codes: np.ndarray) -> tuple[np.ndarray, int]:
    """The codes without those that never occur, in the same order, and how many are left."""
    if int(codes.max()) > _CODES_A_ROW * len(codes):
        values, renumbered = np.unique(codes, return_inverse=True)
        return renumbered.astype(np.int32), len(values)
    occurs = np.bincount(codes) > 0
    left = int(occurs.sum())
    return (np.cumsum(occurs) - 1).astype(_type_for(left))[codes], left


def _type_for(size: int) -> type[np.uint16] | type[np.int32]:
    """The integers that codes below `size` are kept in."""
    return np.uint16 if size <= 2**16 else np.int32


@compiled
def _apart(
    codes: np.ndarray,
    rows: np.ndarray,
    sizes: np.ndarray,
    starts: np.ndarray,
    first: int,
    second: int,
    table: np.ndarray,
    cells_a_row: int,
) -> int:
    """The sum over groups and cells of abs(r m - s n); `table` is zero before and after.

    Rows starts[2 g] to starts[2 g + 1] are those of the first table in group g, and those up to starts[2 g + 2] of the
    second.
    """
    cells = 1
    for size in sizes:
        cells *= size
    places = np.empty(_CHUNK, dtype=np.int64)
    total = 0
    for group in range(0, len(starts) - 1, 2):
        for side in range(2):
            step = second if side == 0 else -first
            for begin in range(starts[group + side], starts[group + side + 1], _CHUNK):
                length = min(_CHUNK, starts[group + side + 1] - begin)
                _fill(codes, rows, sizes, begin, length, places)
                for i in range(length):
                    table[places[i]] += step
        if cells <= cells_a_row * (starts[group + 2] - starts[group]):
            for cell in range(cells):
                total += abs(table[cell])
                table[cell] = 0
            continue
        for begin in range(starts[group], starts[group + 2], _CHUNK):
            length = min(_CHUNK, starts[group + 2] - begin)
            _fill(codes, rows, sizes, begin, length, places)
            for i in range(length):
                total += abs(table[places[i]])
                table[places[i]] = 0
    return total


@compiled
def _fill(codes: np.ndarray, rows: np.ndarray, sizes: np.ndarray, begin: int, length: int, places: np.ndarray) -> None:
    """The cells of `length` rows from `begin` on."""
    for i in range(length):
        places[i] = 0
    for axis in range(len(rows)):
        size, row = sizes[axis], rows[axis]
        for i in range(length):
            places[i] = places[i] * size + codes[row, begin + i]


@compiled
def _of_runs(key: np.ndarray, first: int, second: int) -> float:
    """The distance from sorted keys, which are twice the cell, and one more for rows of the second table."""
    total, i = 0.0, 0
    while i < len(key):
        cell, counts_first, counts_second = key[i] >> 1, 0, 0
        while i < len(key) and key[i] >> 1 == cell:
            if key[i] & 1:
                counts_second += 1
            else:
                counts_first += 1
            i += 1
        total += abs(float(counts_first) * second - float(counts_second) * first)
    return total / first / second
