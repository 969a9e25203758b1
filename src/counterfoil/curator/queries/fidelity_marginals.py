"""How far a synthetic table's marginals are from the real ones: one number for many of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.curator.queries.selection import MarginalDistances
from counterfoil.noise.noise import Norm


@shipped
@dataclass(frozen=True, eq=False)
class TotalMarginalDistance(CountQuery):
    """The sum of the L1 errors of m marginals: m times their mean, in records.

    Formal guarantee: the errors together move by at most m in l1 norm when a record is added or removed, and by at
    most 2 m when one is replaced (see `MarginalDistances`); so does their sum, and it is one number. Both are attained.

    Args:
        errors: the marginals and what the synthetic table has there, in whole records.
    """

    name: ClassVar[str] = "total_marginal_error"
    question: ClassVar[str] = "the mean difference of counts from the synthetic ones, with noise"

    errors: MarginalDistances

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return self.errors.l1_sensitivity(relation)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return self.l1_sensitivity(relation)

    def exact(self, records: Records) -> np.ndarray:
        return self.errors.exact(records).sum(keepdims=True)

    def describe(self) -> dict[str, Any]:
        return {"marginals": len(self.errors.cliques)}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        return float(parameters["marginals"]) * moved


@shipped
@dataclass(frozen=True, eq=False)
class LargestMarginalDistance(CountQuery):
    """The largest of the L1 errors of some marginals, in records.

    Formal guarantee: adding or removing a record moves each error by at most 1, replacing one by at most 2 (see
    `MarginalDistances`); a maximum moves by no more than the one of its parts that moves most. Both are attained.

    Args:
        errors: the marginals and what the synthetic table has there, in whole records.
    """

    name: ClassVar[str] = "largest_marginal_error"
    question: ClassVar[str] = "the largest difference of counts from the synthetic ones, with noise"

    errors: MarginalDistances

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return self.errors.l1_sensitivity(relation) / len(self.errors.cliques)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return self.l1_sensitivity(relation)

    def exact(self, records: Records) -> np.ndarray:
        return self.errors.exact(records).max(keepdims=True)

    def describe(self) -> dict[str, Any]:
        return {"marginals": len(self.errors.cliques)}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        return moved
