"""Support points where the fitted weights are: drawn from the exponential family that a fit extends to.

A likelihood fit with multipliers nu and weight L gives the support points weights in proportion to
w0_i exp(-(A^T nu)_i / L). Where the reference is a product p0 of columns and the functions are cells of marginals, that
density is known on the whole domain: p(x) proportional to p0(x) exp(-sum of the multipliers of x's cells / L). Points
of p, which Gibbs sampling gives, lie where the first draws from p0 were few. Where marginals count rare values
together, the multipliers know groups of values alone, and a value is drawn within its group as p0 has it.

All draws together are a sample from the mixture of p0 and of the p of each round, so that each point's prior weight is
divided by that mixture's density over p0's (the balance heuristic of Veach and Guibas 1995): the prior that the fit
stays near is p0 as before. Public, like all that follows from noisy answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.compiled import compiled
from counterfoil.domain.coarsening import Coarsening, identity
from counterfoil.domain.domain import Clique, Domain
from counterfoil.reweighting.program import Vector

_SWEEPS = 2


@dataclass(frozen=True, eq=False)
class ColumnFamily:
    """Densities p(x) in proportion to a product of columns times exp(sum of one number for each marginal's cell of x).

    Args:
        domain: the attributes.
        columns: the density of each column, float64 [codes].
        cliques: the marginals, in the order of a program's functions.
        coarsening: the values that they count together; None where each has a cell.
    """

    domain: Domain
    columns: Sequence[np.ndarray]
    cliques: Sequence[Clique]
    coarsening: Coarsening | None = None

    @cached_property
    def _merged(self) -> Coarsening:
        return identity(self.domain) if self.coarsening is None else self.coarsening

    def exponents(self, codes: np.ndarray, potentials: Vector) -> Vector:
        """float64 [m]: the sum of `potentials` [cells of all cliques] over the cells of `codes` [m, attributes]."""
        total, start = np.zeros(len(codes)), 0
        for clique in self.cliques:
            total += potentials[start + flat_cells(self._merged, clique, codes)]
            start += self._merged.domain.size(clique)
        return total

    def moved(self, codes: np.ndarray, potentials: Vector, rng: np.random.Generator) -> np.ndarray:
        """int64 [m, attributes]: `codes` after two sweeps of Gibbs sampling: each column in turn, given the others."""
        groups = [self._merged.codes[name] for name in self.domain.attributes]
        chains = np.column_stack([of[column] for of, column in zip(groups, np.asarray(codes).T, strict=True)])
        sums = [np.bincount(of, column) for of, column in zip(groups, self.columns, strict=True)]
        layout, logs = self._layout(), np.log(np.maximum(np.concatenate(sums), 1e-300))
        sizes = np.array(self._merged.domain.sizes, dtype=np.int64)
        chains = np.ascontiguousarray(chains, dtype=np.int64)
        for _ in range(_SWEEPS):
            _sweep(chains, sizes, logs, potentials, *layout, rng.random(chains.shape))
        if self.coarsening is None:
            return chains
        drawn = zip(groups, self.columns, chains.T, strict=True)
        return np.column_stack([_within(of, column, chain, rng) for of, column, chain in drawn])

    def _layout(self) -> tuple[np.ndarray, ...]:
        """For each column the marginals that hold it: where they start, its stride there, and the other columns'."""
        domain = self._merged.domain
        uses: list[list[tuple[int, int, list[tuple[int, int]]]]] = [[] for _ in domain.attributes]
        start = 0
        for clique in self.cliques:
            axes, shape = domain.axes(clique), domain.shape(clique)
            strides = [math.prod(shape[place + 1 :]) for place in range(len(shape))]
            for axis, stride in zip(axes, strides, strict=True):
                others = [(a, s) for a, s in zip(axes, strides, strict=True) if a != axis]
                uses[axis].append((start, stride, others))
            start += domain.size(clique)
        flat = [use for of in uses for use in of]
        others = [pair for _, _, pairs in flat for pair in pairs]
        return (
            np.cumsum([0, *map(len, uses)]),
            np.array([(start, stride) for start, stride, _ in flat], dtype=np.int64).reshape(-1, 2),
            np.cumsum([0, *(len(pairs) for _, _, pairs in flat)]),
            np.array(others, dtype=np.int64).reshape(-1, 2),
        )


def flat_cells(coarsening: Coarsening, clique: Clique, codes: np.ndarray) -> np.ndarray:
    """int64 [m]: the flat index of the cell of `clique`, on the coarse domain, of each of `codes` [m, attributes]."""
    cells = np.zeros(len(codes), dtype=np.int64)
    for axis, name in zip(coarsening.fine.axes(clique), clique, strict=True):
        cells = cells * coarsening.domain[name] + coarsening.codes[name][codes[:, axis]]
    return cells


def _within(groups: np.ndarray, column: np.ndarray, chain: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """int64 [m]: a value of each of the groups `chain` [m], drawn as `column` [codes] has the values of that group."""
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(column[order])
    last = np.searchsorted(groups[order], np.arange(groups.max() + 1), side="right") - 1
    above = ends[last]
    below = np.append(0.0, above[:-1])
    at = np.searchsorted(ends, below[chain] + rng.random(len(chain)) * (above - below)[chain], side="right")
    return np.asarray(order[np.minimum(at, last[chain])])


@compiled
def _sweep(
    codes: np.ndarray,
    sizes: np.ndarray,
    logs: np.ndarray,
    potentials: np.ndarray,
    use_ends: np.ndarray,
    uses: np.ndarray,
    other_ends: np.ndarray,
    others: np.ndarray,
    uniforms: np.ndarray,
) -> None:
    """Draws each column of each of `codes` [m, attributes] anew, given the others."""
    weights = np.empty(sizes.max())
    for i in range(codes.shape[0]):
        column_start = 0
        for j in range(codes.shape[1]):
            size = sizes[j]
            for v in range(size):
                weights[v] = logs[column_start + v]
            for use in range(use_ends[j], use_ends[j + 1]):
                cell = uses[use, 0]
                for other in range(other_ends[use], other_ends[use + 1]):
                    cell += codes[i, others[other, 0]] * others[other, 1]
                for v in range(size):
                    weights[v] += potentials[cell + v * uses[use, 1]]
            highest = weights[0]
            for v in range(1, size):
                highest = max(highest, weights[v])
            total = 0.0
            for v in range(size):
                weights[v] = math.exp(weights[v] - highest)
                total += weights[v]
            left, v = uniforms[i, j] * total, 0
            while v < size - 1 and left >= weights[v]:
                left -= weights[v]
                v += 1
            codes[i, j] = v
            column_start += size
