"""Codes that no interaction tells apart, counted as one: a smaller model with the same marginals.

Where each table of two attributes and more has the same slices for some codes of an attribute, p(x) depends on which of
them x has by the potentials of that attribute alone. So these codes are independent of all else given that x has one of
them: each marginal is that of a model in which they are one code, times the share of each code in its group (exact
lumpability; Kemeny and Snell, "Finite Markov Chains", section 6.3, for chains). Models that were fitted while rare
values were merged have many such codes, and the tables of their junction tree shrink in each of their attributes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.domain.domain import Clique, Domain


@dataclass(frozen=True, eq=False)
class Lumping:
    """A smaller model, and how its marginals become those of the whole one.

    Args:
        domain: of the smaller model.
        potentials: of the smaller model.
        codes: int64 [size] by attribute, the lumped code of each code.
        shares: float64 [size] by attribute, of each code in its lumped code.
    """

    domain: Domain
    potentials: Mapping[Clique, np.ndarray]
    codes: Mapping[str, np.ndarray]
    shares: Mapping[str, np.ndarray]

    @staticmethod
    def of(domain: Domain, potentials: Mapping[Clique, np.ndarray]) -> Lumping | None:
        """The coarsest one; None where interactions tell all codes apart.

        Args:
            domain: the attributes.
            potentials: tables of logarithms, each clique once; entries may be -inf.
        """
        joint = {clique: table for clique, table in potentials.items() if len(clique) > 1}
        codes = _codes_told_apart(domain, joint)
        lumped = Domain(domain.attributes, tuple(int(codes[name].max()) + 1 for name in domain.attributes))
        if lumped == domain:
            return None
        # A code of each group stands for it: any, as their slices are the same.
        firsts = {name: np.unique(codes[name], return_index=True)[1] for name in domain.attributes}
        smaller = {clique: table[np.ix_(*(firsts[name] for name in clique))] for clique, table in joint.items()}
        shares = {}
        for name in domain.attributes:
            alone = potentials.get((name,))
            own = np.zeros(domain[name]) if alone is None else alone
            shares[name], together = _lumped(own, codes[name], lumped[name])
            smaller[(name,)] = together
        return Lumping(lumped, smaller, codes, shares)

    def expanded(self, clique: Clique, table: np.ndarray) -> np.ndarray:
        """The counts of `clique` in the whole model, from those in the smaller one."""
        whole = table[np.ix_(*(self.codes[name] for name in clique))]
        for axis, name in enumerate(clique):
            whole *= self.shares[name].reshape((-1,) + (1,) * (len(clique) - axis - 1))
        return whole


def _codes_told_apart(domain: Domain, joint: Mapping[Clique, np.ndarray]) -> dict[str, np.ndarray]:
    """int64 [size] by attribute: the group of each code, counted from 0; one group where no table has the attribute."""
    slices: dict[str, list[np.ndarray]] = {name: [] for name in domain.attributes}
    for clique, table in joint.items():
        for axis, name in enumerate(clique):
            slices[name].append(np.moveaxis(table, axis, 0).reshape(domain[name], -1))
    return {name: _groups(domain[name], tables) for name, tables in slices.items()}


def _groups(size: int, tables: Sequence[np.ndarray]) -> np.ndarray:
    """int64 [size]: equal numbers for codes whose rows are the same in each of the tables [size, cells]; the numbers
    follow the first code of each group.
    """
    groups = np.zeros(size, dtype=np.int64)
    for table in tables:
        rows = np.ascontiguousarray(table) + 0.0  # so that both zeros have the same bytes
        same = np.unique(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))), return_inverse=True)[1]
        groups = np.unique(groups * size + same.reshape(size), return_inverse=True)[1].reshape(size)
        if groups.max() == size - 1:
            break
    firsts = np.unique(groups, return_index=True)[1]
    return np.argsort(np.argsort(firsts))[groups]


def _lumped(own: np.ndarray, codes: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The share of each code in its group [size], and the logarithm of what each group holds [groups]."""
    peaks = np.full(count, -math.inf)
    np.maximum.at(peaks, codes, own)
    # A group in which nothing is possible has no records to share.
    weights = np.exp(own - np.where(np.isneginf(peaks), 0.0, peaks)[codes])
    sums = np.bincount(codes, weights, count)
    with np.errstate(divide="ignore"):
        together = peaks + np.log(np.where(np.isneginf(peaks), 1.0, sums))
    return weights / np.where(sums > 0, sums, 1.0)[codes], together
