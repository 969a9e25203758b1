"""Marginal counts: how many records have each combination of values, for many sets of attributes at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique, Domain
from counterfoil.noise.noise import Norm

MOST_WEIGHT = 65_536
"""Counts of a million millions of records, so multiplied, are whole numbers of 64 bits."""


@shipped
@dataclass(frozen=True, eq=False)
class MarginalCounts(CountQuery):
    """The counts of each clique's cells, laid one after another.

    A clique with a larger weight gets less noise, and the others more: its counts are multiplied by the weight, and
    noise of one scale is added to all. Whoever reads them divides by the weight.

    Formal guarantee: a record falls in exactly one cell of each clique, and counts w in it, the weight of the clique;
    without weights w = 1. Adding or removing it changes one cell of each clique by w: l1 sensitivity the sum of w over
    cliques, l2 sensitivity the root of the sum of w**2. Replacing it moves w from one cell to another, or nothing, in
    each clique: twice that in l1 norm, sqrt(2) times that in l2 norm. Both are attained, unless a clique has one cell
    only. Weights are public: they must not depend on records but through earlier answers.

    Args:
        domain: the attributes and how many values each has.
        cliques: distinct attribute sets, in the domain's order.
        coarsening: values to count together; a record still falls in exactly one cell of each clique.
        weights: what a record counts in each clique, from 1 to `MOST_WEIGHT`; 1 in all where empty.
    """

    name: ClassVar[str] = "marginal_counts"
    question: ClassVar[str] = "counts of columns and of combinations of columns, with noise"

    domain: Domain
    cliques: tuple[Clique, ...]
    coarsening: Coarsening | None = None
    weights: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.cliques:
            raise ValueError("`cliques` must hold at least one set of attributes. Found none.")
        for clique in self.cliques:
            if self.domain.canonical(clique) != clique:
                raise ValueError(f"`cliques` must be in the domain's order. Found {clique!r}.")
        if len(set(self.cliques)) < len(self.cliques):
            raise ValueError("`cliques` must be distinct.")
        if type(self.weights) is not tuple:
            raise ValueError(f"`weights` must be a tuple, which never changes. Found {self.weights!r}.")
        if self.weights:
            weights_of(self.describe())

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return sum(self.each_unit) * (1 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        cells = 1 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2
        return math.sqrt(cells * sum(unit**2 for unit in self.each_unit))

    def exact(self, records: Records) -> np.ndarray:
        counted = zip(records.marginals(self.cliques, self.coarsening), self.each_unit, strict=True)
        return np.concatenate([counts.ravel() * unit for counts, unit in counted])

    @property
    def each_unit(self) -> tuple[int, ...]:
        """What a record counts in each clique."""
        return self.weights or (1,) * len(self.cliques)

    def split(self, answer: np.ndarray) -> list[np.ndarray]:
        """An answer's parts: one array for each clique, shaped by the domain, in the clique's unit (`each_unit`)."""
        domain = self.coarsening.domain if self.coarsening else self.domain
        sizes = [domain.size(clique) for clique in self.cliques]
        parts = np.split(answer, np.cumsum(sizes)[:-1])
        return [part.reshape(domain.shape(clique)) for part, clique in zip(parts, self.cliques, strict=True)]

    def describe(self) -> dict[str, Any]:
        weights = {"weights": list(self.weights)} if self.weights else {}
        return {"cliques": [list(clique) for clique in self.cliques], **weights}

    @staticmethod
    def unit(parameters: Mapping[str, Any]) -> float:
        """The least weight: that of the cliques with the most noise."""
        return float(min(weights_of(parameters)))

    @classmethod
    def units(cls, parameters: Mapping[str, Any]) -> Sequence[float]:
        return weights_of(parameters)

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        weights = weights_of(parameters)
        return moved * sum(weights) if norm is Norm.L1 else math.sqrt(moved * sum(weight**2 for weight in weights))


def weights_of(parameters: Mapping[str, Any]) -> list[int]:
    """What a record counts in each clique, from the parameters of a query as they stand on a receipt.

    Raises:
        KeyError, TypeError, ValueError: for parameters that are not those of the query.
    """
    cliques = parameters["cliques"]
    weights = list(parameters.get("weights", [1] * len(cliques)))
    if len(weights) != len(cliques) or not all(type(one) is int and 1 <= one <= MOST_WEIGHT for one in weights):
        raise ValueError(
            f"`weights` must be one whole number from 1 to {MOST_WEIGHT:,} for each of {len(cliques)} cliques. Found "
            f"{weights!r}."
        )
    return weights
