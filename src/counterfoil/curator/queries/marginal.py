"""Marginal counts: how many records have each combination of values, for many sets of attributes at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique, Domain
from counterfoil.noise.noise import Norm


@shipped
@dataclass(frozen=True, eq=False)
class MarginalCounts(CountQuery):
    """The counts of each clique's cells, laid one after another.

    Formal guarantee: a record falls in exactly one cell of each of the k cliques. Adding or removing it changes k
    cells by 1: l1 sensitivity k, l2 sensitivity sqrt(k). Replacing it moves 1 from one cell to another, or nothing,
    in each clique: l1 sensitivity 2 k, l2 sensitivity sqrt(2 k). Both are attained, unless a clique has one cell only.

    Args:
        domain: the attributes and how many values each has.
        cliques: distinct attribute sets, in the domain's order.
        coarsening: values to count together; a record still falls in exactly one cell of each clique.
    """

    name: ClassVar[str] = "marginal_counts"
    question: ClassVar[str] = "counts of columns and of combinations of columns, with noise"

    domain: Domain
    cliques: tuple[Clique, ...]
    coarsening: Coarsening | None = None

    def __post_init__(self) -> None:
        if not self.cliques:
            raise ValueError("`cliques` must hold at least one set of attributes. Found none.")
        for clique in self.cliques:
            if self.domain.canonical(clique) != clique:
                raise ValueError(f"`cliques` must be in the domain's order. Found {clique!r}.")
        if len(set(self.cliques)) < len(self.cliques):
            raise ValueError("`cliques` must be distinct.")

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return len(self.cliques) * (1 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return math.sqrt(self.l1_sensitivity(relation))

    def exact(self, records: Records) -> np.ndarray:
        return np.concatenate([counts.ravel() for counts in records.marginals(self.cliques, self.coarsening)])

    def split(self, answer: np.ndarray) -> list[np.ndarray]:
        """An answer's parts: one array for each clique, shaped by the domain."""
        domain = self.coarsening.domain if self.coarsening else self.domain
        sizes = [domain.size(clique) for clique in self.cliques]
        parts = np.split(answer, np.cumsum(sizes)[:-1])
        return [part.reshape(domain.shape(clique)) for part, clique in zip(parts, self.cliques, strict=True)]

    def describe(self) -> dict[str, Any]:
        return {"cliques": [list(clique) for clique in self.cliques]}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        l1 = len(parameters["cliques"]) * moved
        return l1 if norm is Norm.L1 else math.sqrt(l1)
