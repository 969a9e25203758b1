"""Drawn rows exchange values, so that their pairs of columns come nearer to the model's counts.

Rows that are drawn column after column hold the counts of a small clique within rounding. In a large one most cells
expect less than one row, and its pairs vary as those of random rows do; so do pairs that no clique holds. For some
thousand rows that is as much as what the noise of a generous budget leaves.

So two rows exchange their values of one column where that brings the counts of pairs nearer to what the model expects.
Where it makes both rows together less probable, by a factor r, it happens with the probability r (Metropolis et al.
1953): what the model knows of more than two columns stays. Counts of single columns never change. Larger marginals that
the model has a potential for are mended beside the pairs.

Cells in which less than one row is expected count together, all of one table as one. Each by itself, it would be the
same rare cells that are left empty each time; as it is, how many rows such a cell has stays random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from counterfoil.compiled import compiled
from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.sampling import Codes

Table = NDArray[np.float64]

MOST_ROWS = 1 << 17
"""More rows are near enough as they are drawn: what an exchange could mend falls with the root of their number."""

_MOST_PAIRS, _MOST_CELLS, _MOST_OF_TABLE = 2_000, 1 << 21, 10_000
"""Pairs whose expected counts are computed, the cells of all tables, and the most cells of one that is mended."""

_SWEEPS, _LEAST_SWEEP, _WORK = 24.0, 0.2, 100_000_000
"""How often each value of each row is tried, where few columns or rows leave time for as many; the least that is worth
the trouble; and how many tables are looked at in all, which takes about two seconds."""

_FEW = 5e-4
"""A sweep that exchanges no more than this part of the values is the last one."""

_MOST_KEYS = 1 << 16
"""Values that partners agree on, in all combinations: as many as a sort by counting takes."""


@dataclass(frozen=True, eq=False)
class _Counting:
    """Counts of some rows, changed as they exchange values.

    Args:
        places: int64 [cells of all tables]: where each is counted.
        counts: int64 [places].
        expected: float64 [places]; negative where what is counted does not matter.
    """

    places: NDArray[np.int64]
    counts: NDArray[np.int64]
    expected: Table


@dataclass(frozen=True, eq=False)
class _Tables:
    """Marginals of two columns and more, their cells one after the other.

    Args:
        starts: int64 [tables]: where the cells of each begin.
        bounds: int64 [tables + 1]: where the axes of each begin in the two that follow.
        axes, strides: int64: the axes of each, and by how many cells a code moves there.
        of_axis: for each axis of the domain, int64: the tables that have it.
        shares: float64 [cells]: probabilities, negative where counts are not mended.
        potentials: float64 [cells]: logarithms of factors of the model.
    """

    starts: NDArray[np.int64]
    bounds: NDArray[np.int64]
    axes: NDArray[np.int64]
    strides: NDArray[np.int64]
    of_axis: tuple[NDArray[np.int64], ...]
    shares: Table
    potentials: Table

    @staticmethod
    def of(domain: Domain, shares: Mapping[Clique, Table], potentials: Mapping[Clique, Table]) -> _Tables:
        """Those of `shares`, and of `potentials` that have two columns and more."""
        cliques = list(dict.fromkeys([*shares, *(clique for clique in potentials if len(clique) > 1)]))
        shapes = [domain.shape(clique) for clique in cliques]
        sizes = np.array([math.prod(shape) for shape in shapes], dtype=np.int64)
        steps = [[math.prod(shape[k + 1 :]) for k in range(len(shape))] for shape in shapes]
        on = [domain.axes(clique) for clique in cliques]
        flat = {
            name: [given.get(c, np.full(shape, missing)).ravel() for c, shape in zip(cliques, shapes, strict=True)]
            for name, given, missing in (("shares", shares, -1.0), ("potentials", potentials, 0.0))
        }
        return _Tables(
            starts=np.cumsum(sizes) - sizes,
            bounds=np.cumsum([0, *map(len, on)]),
            axes=np.array([axis for axes in on for axis in axes], dtype=np.int64),
            strides=np.array([step for each in steps for step in each], dtype=np.int64),
            of_axis=tuple(
                np.array([k for k, axes in enumerate(on) if axis in axes], dtype=np.int64)
                for axis in range(len(domain.attributes))
            ),
            **{name: np.concatenate(tables) for name, tables in flat.items()},
        )

    def counting(self, rows: Codes) -> _Counting:
        """Where these rows are counted, how many are, and how many are expected."""
        table_of = np.repeat(np.arange(len(self.starts)), np.diff(np.append(self.starts, len(self.shares))))
        wanted = len(rows) * self.shares
        places = np.where(wanted >= 1, np.arange(len(wanted)) + len(self.starts), table_of)
        expected = np.bincount(places, weights=wanted, minlength=len(wanted) + len(self.starts))
        counts = np.zeros(len(expected), dtype=np.int64)
        for k, start in enumerate(self.starts.tolist()):
            span = slice(self.bounds[k], self.bounds[k + 1])
            counted = np.bincount(rows[:, self.axes[span]].astype(np.int64) @ self.strides[span])
            np.add.at(counts, places[start : start + len(counted)], counted)
        return _Counting(places, counts, np.where(expected >= 1, expected, -1.0))


@dataclass(frozen=True, eq=False)
class Swapping:
    """What exchanges need to know of a model.

    Args:
        sizes: of the columns.
        tables: the pairs of columns, and whatever else the model has a potential for.
        related: by column: those that share a potential with it.
    """

    sizes: tuple[int, ...]
    tables: _Tables
    related: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(
        domain: Domain,
        potentials: Mapping[Clique, Table],
        marginals: Callable[[Sequence[Clique]], Mapping[Clique, Table]],
    ) -> Swapping | None:
        """Of a model with these potentials; None where nothing can be exchanged, or it would take too long.

        Args:
            domain: the columns.
            potentials: of the model, on cliques in the order of the domain.
            marginals: expected counts.
        """
        pairs = list(
            islice(combinations(domain.attributes, 2), _MOST_PAIRS + 1)
        )  # of a thousand columns half a million
        cliques = list(dict.fromkeys([*pairs, *(clique for clique in potentials if len(clique) > 1)]))
        mended = [clique for clique in cliques if domain.size(clique) <= _MOST_OF_TABLE]
        if not mended or len(pairs) > _MOST_PAIRS or sum(map(domain.size, cliques)) > _MOST_CELLS:
            return None
        shares = {clique: table / table.sum() for clique, table in marginals(mended).items()}
        axes = [domain.axes(clique) for clique in potentials]
        related = (sorted({y for some in axes if x in some for y in some} - {x}) for x in range(len(domain.sizes)))
        return Swapping(domain.sizes, _Tables.of(domain, shares, potentials), tuple(map(tuple, related)))

    def swapped(self, rows: Codes, rng: np.random.Generator) -> Codes:
        """The rows after exchanges, int32 [n, attributes]; each column has the values that it had.

        Args:
            rows: drawn from the model.
            rng: of the exchanges that are tried.
        """
        sweeps = min(_SWEEPS, _WORK / max(len(rows) * sum(map(len, self.tables.of_axis)), 1))
        if len(rows) > MOST_ROWS or sweeps < _LEAST_SWEEP:
            return rows
        made = np.ascontiguousarray(rows)
        made = made.copy() if made is rows else made
        counting = self.tables.counting(made)
        tried = math.ceil(min(sweeps, 1.0) * len(rows))
        for _ in range(math.floor(max(sweeps, 1.0))):
            exchanged = 0
            for axis in rng.permutation(len(self.sizes)).tolist():
                first = self._ordered(made, axis, rng.permutation(len(rows))[:tried], rng)
                exchanged += _exchange_where_nearer(
                    made,
                    axis,
                    first,
                    np.roll(first, -1),
                    rng.random(tried),
                    self.tables.of_axis[axis],
                    self.tables.starts,
                    self.tables.bounds,
                    self.tables.axes,
                    self.tables.strides,
                    self.tables.potentials,
                    counting.places,
                    counting.counts,
                    counting.expected,
                )
            if exchanged <= _FEW * tried * len(self.sizes):
                break
        return np.asfortranarray(made)

    def _ordered(
        self, rows: Codes, axis: int, chosen: NDArray[np.int64], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """`chosen` rows in an order in which neighbors agree on some of what a column is related to."""
        keys, combinations = np.zeros(len(chosen), dtype=np.int64), 1
        for other in rng.permutation(self.related[axis]).astype(np.int64).tolist():
            if combinations * self.sizes[other] <= _MOST_KEYS:
                combinations *= self.sizes[other]
                keys = keys * self.sizes[other] + rows[chosen, other]
        return chosen[np.argsort(keys.astype(np.uint16), kind="stable")]


@compiled
def _exchange_where_nearer(
    rows: Codes,
    axis: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    uniform: Table,
    tables: NDArray[np.int64],
    starts: NDArray[np.int64],
    bounds: NDArray[np.int64],
    axes: NDArray[np.int64],
    strides: NDArray[np.int64],
    potentials: Table,
    places: NDArray[np.int64],
    counts: NDArray[np.int64],
    expected: Table,
) -> int:  # pragma: no cover - compiled
    """Rows first[t] and second[t] exchange their codes of `axis`, if counts come nearer to `expected`, in L1.

    Of those that do, an exchange that multiplies the probability of both rows by r < 1 is made where uniform[t] < r.
    `tables` are those that have the axis; places with a negative expectation do not matter. Returns how many are made.
    """
    made = 0
    stride = np.zeros(len(tables), dtype=np.int64)
    for k in range(len(tables)):
        for q in range(bounds[tables[k]], bounds[tables[k] + 1]):
            if axes[q] == axis:
                stride[k] = strides[q]
    here, there = np.empty(len(tables), dtype=np.int64), np.empty(len(tables), dtype=np.int64)
    for t in range(len(first)):
        i, j = first[t], second[t]
        a, b = rows[i, axis], rows[j, axis]
        if a == b:
            continue
        change = 0.0
        for k in range(len(tables)):
            table, step = tables[k], stride[k]
            here[k] = there[k] = starts[table]
            for q in range(bounds[table], bounds[table + 1]):
                if axes[q] != axis:
                    here[k] += rows[i, axes[q]] * strides[q]
                    there[k] += rows[j, axes[q]] * strides[q]
            if here[k] == there[k]:
                continue
            # One after the other, as cells may be counted in the same place; then all as before.
            cells = (here[k] + a * step, there[k] + b * step, here[k] + b * step, there[k] + a * step)
            for cell, more in ((cells[0], -1), (cells[1], -1), (cells[2], 1), (cells[3], 1)):
                place = places[cell]
                off = counts[place] - expected[place]
                counts[place] += more
                if expected[place] >= 0:
                    change += abs(off + more) - abs(off)
            for cell, more in ((cells[0], 1), (cells[1], 1), (cells[2], -1), (cells[3], -1)):
                counts[places[cell]] += more
        if change >= -1e-9:
            continue
        gain = 0.0
        for k in range(len(tables)):
            step = stride[k]
            gain += potentials[here[k] + b * step] - potentials[here[k] + a * step]
            gain += potentials[there[k] + a * step] - potentials[there[k] + b * step]
        if not (gain >= 0 or uniform[t] < math.exp(gain)):
            continue
        for k in range(len(tables)):
            step = stride[k]
            counts[places[here[k] + a * step]] -= 1
            counts[places[there[k] + b * step]] -= 1
            counts[places[here[k] + b * step]] += 1
            counts[places[there[k] + a * step]] += 1
        rows[i, axis], rows[j, axis] = b, a
        made += 1
    return made
