"""Drawn rows change values, so that their columns and pairs of columns come nearer to the model's counts.

Rows that are drawn column after column hold the counts of a small clique within rounding. In a large one most cells
expect less than one row, and its columns and pairs vary nearly as those of random rows do; so do pairs that no clique
holds. For some thousand rows that is as much as what the noise of a generous budget leaves.

So a row changes its value of a column, from one that too many rows have to one that too few have, where that brings
the counts of columns and pairs nearer to what the model expects; and two rows exchange their values of one column where
that does. Where it makes the changed rows less probable, by a factor r, it happens with the probability r (Metropolis
et al. 1953): what the model knows of more than two columns stays. Larger marginals that the model has a potential for
are mended beside the pairs.

How far off a cell is counts with its square, over the root of what is expected. Real records vary about the model by
about that root, s; so a count that is d off adds about d ** 2 / s to the mean L1 distance from them, and not d.

Cells in which less than one row is expected count together, all of one table as one. Each by itself, it would be the
same rare cells that are left empty each time; as it is, how many rows such a cell has stays random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfoil.compiled import compiled
from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.sampling import Codes

Table = NDArray[np.float64]
_Counted = tuple[NDArray[Any], ...]
"""Of `_Tables` and `_Counting`: starts, bounds, axes, strides, potentials; places, above, weights."""

MOST_ROWS = 1 << 17
"""More rows are near enough as they are drawn: what an exchange could mend falls with the root of their number."""

_MOST_PAIRS, _MOST_CELLS, _MOST_OF_TABLE = 2_000, 1 << 21, 10_000
"""Pairs whose expected counts are computed, the cells of all tables, and the most cells of one that is mended."""

_SWEEPS, _LEAST_SWEEP, _WORK = 24.0, 0.2, 100_000_000
"""How often each value of each row is tried, where few columns or rows leave time for as many; the least that is worth
the trouble; and how many tables are looked at in all, which takes about two seconds."""

_FEW = 5e-4
"""A sweep that exchanges no more than this part of the values is the last one."""

_LEAST = 0.5
"""So many records too many or too few of a value may be rounding."""

_TOGETHER = 4.0
"""The weight of cells that count together, over that of one cell with as many rows."""

_MOST_KEYS = 1 << 16
"""Values that partners agree on, in all combinations: as many as a sort by counting takes."""


@dataclass(frozen=True, eq=False)
class _Counting:
    """Counts of some rows, which follow their changes.

    Args:
        places: int32 [cells of all tables]: where each is counted: first come the cells of each table that count
            together, by table, and then each cell.
        above: float64 [places]: how many rows there are, less those that are expected.
        weights: float64 [places]: of the square of that; 0 where it does not matter.
    """

    places: NDArray[np.int32]
    above: Table
    weights: Table


@dataclass(frozen=True, eq=False)
class _Tables:
    """Marginals, their cells one after the other: first those of each column by itself.

    Args:
        starts: int64 [tables]: where the cells of each begin.
        bounds: int64 [tables + 1]: where the axes of each begin in the two that follow.
        axes, strides: int64: the axes of each, and by how many cells a code moves there.
        of_axis: for each axis of the domain, int64: the tables that have it, first that of the axis by itself.
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
        """Each column by itself, in their order, and then those of `shares` and of `potentials`."""
        cliques = list(dict.fromkeys([*((name,) for name in domain.attributes), *shares, *potentials]))
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
        """Where these rows are counted, and how many more they are than expected."""
        table_of = np.repeat(np.arange(len(self.starts)), np.diff(np.append(self.starts, len(self.shares))))
        wanted = len(rows) * self.shares
        alone = np.arange(len(wanted)) + len(self.starts)
        places = np.where(wanted >= 1, alone, table_of).astype(np.int32)
        expected = np.bincount(places, weights=wanted, minlength=len(wanted) + len(self.starts))
        above = 0.0 - expected.astype(np.float64)
        for k, start in enumerate(self.starts.tolist()):
            span = slice(self.bounds[k], self.bounds[k + 1])
            counted = np.bincount(rows[:, self.axes[span]].astype(np.int64) @ self.strides[span])
            np.add.at(above, places[start : start + len(counted)], counted)
        weights = np.where(expected >= 1, np.maximum(expected, 1.0) ** -0.5, 0.0)
        weights[: len(self.starts)] *= _TOGETHER
        return _Counting(places, above, weights)


@dataclass(frozen=True, eq=False)
class Swapping:
    """What changes need to know of a model.

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
        # Of a thousand columns there are half a million pairs.
        pairs = list(islice(combinations(domain.attributes, 2), _MOST_PAIRS + 1))
        cliques = list(dict.fromkeys([*((name,) for name in domain.attributes), *pairs, *potentials]))
        mended = [clique for clique in cliques if len(clique) == 1 or domain.size(clique) <= _MOST_OF_TABLE]
        if len(mended) == len(domain.sizes) or len(pairs) > _MOST_PAIRS or sum(map(domain.size, cliques)) > _MOST_CELLS:
            return None
        shares = {clique: table / table.sum() for clique, table in marginals(mended).items()}
        axes = [domain.axes(clique) for clique in potentials]
        related = (sorted({y for some in axes if x in some for y in some} - {x}) for x in range(len(domain.sizes)))
        return Swapping(domain.sizes, _Tables.of(domain, shares, potentials), tuple(map(tuple, related)))

    def swapped(self, rows: Codes, rng: np.random.Generator) -> Codes:
        """The rows after changes, int32 [n, attributes].

        Args:
            rows: drawn from the model.
            rng: of the changes that are tried.
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
                exchanged += self._changed(made, axis, counting, rng)
                first = self._ordered(made, axis, rng.permutation(len(rows))[:tried], rng)
                exchanged += _exchange_where_nearer(
                    made,
                    axis,
                    first,
                    np.roll(first, -1),
                    rng.random(tried),
                    self.tables.of_axis[axis][1:],
                    self._counted(counting),
                )
            if exchanged <= _FEW * tried * len(self.sizes):
                break
        return np.asfortranarray(made)

    def _changed(self, rows: Codes, axis: int, counting: _Counting, rng: np.random.Generator) -> int:
        """Values of a column of which there are too many become those that are short; returns how many do."""
        tables = self.tables
        cells = slice(tables.starts[axis], tables.starts[axis] + self.sizes[axis])
        above = counting.above[counting.places[cells]]
        short = np.where(above <= -_LEAST, -above, 0.0) * (tables.shares[cells] > 0)
        chosen = np.flatnonzero(above[rows[:, axis]] >= _LEAST)
        if not len(chosen) or not short.any():
            return 0
        rng.shuffle(chosen)
        new = rng.choice(len(short), size=len(chosen), p=short / short.sum())
        of_axis = tables.of_axis[axis]
        return _change_where_nearer(rows, axis, chosen, new, rng.random(len(chosen)), of_axis, self._counted(counting))

    def _counted(self, counting: _Counting) -> _Counted:
        of = self.tables
        return (
            *(of.starts, of.bounds, of.axes, of.strides, of.potentials),
            *(counting.places, counting.above, counting.weights),
        )

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
def _change_where_nearer(
    rows: Codes,
    axis: int,
    chosen: NDArray[np.int64],
    new: NDArray[np.int64],
    uniform: Table,
    tables: NDArray[np.int64],
    counted: _Counted,
) -> int:  # pragma: no cover - compiled
    """Row chosen[t] gets the code new[t] of `axis`, where too many rows have its own, too few the new one, and counts
    come nearer to those that are wanted.

    A change that multiplies the probability of the row by r < 1 is made where uniform[t] < r. Returns how many are.
    """
    starts, bounds, axes, strides, potentials, places, above, weights = counted
    made, many = 0, len(tables)
    step, here = np.zeros(many, dtype=np.int64), np.empty(many, dtype=np.int64)
    for k in range(many):
        for q in range(bounds[tables[k]], bounds[tables[k] + 1]):
            if axes[q] == axis:
                step[k] = strides[q]
    alone = starts[axis]
    for t in range(len(chosen)):
        i, b = chosen[t], new[t]
        a = rows[i, axis]
        if above[places[alone + a]] < _LEAST or above[places[alone + b]] > -_LEAST:
            continue
        change, gain = 0.0, 0.0
        for k in range(many):
            here[k] = starts[tables[k]]
            for q in range(bounds[tables[k]], bounds[tables[k] + 1]):
                if axes[q] != axis:
                    here[k] += rows[i, axes[q]] * strides[q]
            one, two = here[k] + a * step[k], here[k] + b * step[k]
            gain += potentials[two] - potentials[one]
            one, two = places[one], places[two]
            if one != two:
                change += (0.5 - above[one]) * weights[one] + (0.5 + above[two]) * weights[two]
        if change >= -1e-9 or not (gain >= 0 or uniform[t] < math.exp(gain)):
            continue
        for k in range(many):
            above[places[here[k] + a * step[k]]] -= 1
            above[places[here[k] + b * step[k]]] += 1
        rows[i, axis] = b
        made += 1
    return made


@compiled
def _exchange_where_nearer(
    rows: Codes,
    axis: int,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    uniform: Table,
    tables: NDArray[np.int64],
    counted: _Counted,
) -> int:  # pragma: no cover - compiled
    """Rows first[t] and second[t] exchange their codes of `axis`, if counts come nearer to those that are wanted.

    Of those that do, an exchange that multiplies the probability of both rows by r < 1 is made where uniform[t] < r.
    `tables` are those that have the axis. Returns how many are made.
    """
    starts, bounds, axes, strides, potentials, places, above, weights = counted
    made, many = 0, len(tables)
    step = np.zeros(many, dtype=np.int64)
    other, others = np.zeros(many, dtype=np.int64), np.zeros(many, dtype=np.int64)  # of pairs: the other axis
    for k in range(many):
        for q in range(bounds[tables[k]], bounds[tables[k] + 1]):
            if axes[q] == axis:
                step[k] = strides[q]
            else:
                other[k], others[k] = axes[q], strides[q]
    here, there = np.empty(many, dtype=np.int64), np.empty(many, dtype=np.int64)
    for t in range(len(first)):
        i, j = first[t], second[t]
        a, b = rows[i, axis], rows[j, axis]
        if a == b:
            continue
        change = 0.0
        for k in range(many):
            table = tables[k]
            here[k] = there[k] = starts[table]
            if bounds[table + 1] - bounds[table] == 2:
                here[k] += rows[i, other[k]] * others[k]
                there[k] += rows[j, other[k]] * others[k]
            else:
                for q in range(bounds[table], bounds[table + 1]):
                    if axes[q] != axis:
                        here[k] += rows[i, axes[q]] * strides[q]
                        there[k] += rows[j, axes[q]] * strides[q]
            if here[k] == there[k]:
                continue
            together = 0  # by how many the cells of the table that count together get more
            one, two = places[here[k] + a * step[k]], places[there[k] + b * step[k]]
            if one != table:
                change += (0.5 - above[one]) * weights[one]
            else:
                together -= 1
            if two != table:
                change += (0.5 - above[two]) * weights[two]
            else:
                together -= 1
            one, two = places[here[k] + b * step[k]], places[there[k] + a * step[k]]
            if one != table:
                change += (0.5 + above[one]) * weights[one]
            else:
                together += 1
            if two != table:
                change += (0.5 + above[two]) * weights[two]
            else:
                together += 1
            change += together * (0.5 * together + above[table]) * weights[table]
        if change >= -1e-9:
            continue
        gain = 0.0
        for k in range(many):
            gain += potentials[here[k] + b * step[k]] - potentials[here[k] + a * step[k]]
            gain += potentials[there[k] + a * step[k]] - potentials[there[k] + b * step[k]]
        if not (gain >= 0 or uniform[t] < math.exp(gain)):
            continue
        for k in range(many):
            above[places[here[k] + a * step[k]]] -= 1
            above[places[there[k] + b * step[k]]] -= 1
            above[places[here[k] + b * step[k]]] += 1
            above[places[there[k] + a * step[k]]] += 1
        rows[i, axis], rows[j, axis] = b, a
        made += 1
    return made
