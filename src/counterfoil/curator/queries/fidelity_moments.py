"""How far the moments that a linear model's risk depends on are from the synthetic table's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.features.feature_map import UNIT, FeatureMap
from counterfoil.features.one_against_rest import OneAgainstRest
from counterfoil.noise.noise import Norm


@shipped
@dataclass(frozen=True, eq=False)
class LargestMomentGap(CountQuery):
    """The largest abs(real - expected) over all moments of an order, as sums over records.

    Order 1: the sums of x_u y over features u, and over the labels y of all values where the target has several. Order
    2: the sums of x_u x_v over pairs, squares included. In integers: features are multiples of 1 / UNIT, and the answer
    is in units of 1 / UNIT**order.

    Formal guarantee: every feature is an integer from -UNIT to UNIT and the label is 1 or -1, so that each summand lies
    between -UNIT**order and UNIT**order. Adding or removing a record moves each sum by at most UNIT**order, replacing
    one by at most twice that, and the largest absolute difference by no more than the sum that moves most.

    Args:
        features: the public map from records to features and label.
        order: 1 or 2.
        expected: int64 [features] or [features, features]: the synthetic table's sums; of order 1 for a target of
            several values [values, features].

    Source: `theory.excess_risk.uniform_deviation_from_moments`, which says why no other moments matter.

    Raises:
        ValueError: for another order, or sums of another shape or type.
    """

    name: ClassVar[str] = "largest_moment_gap"
    question: ClassVar[str] = "how far averages that matter to linear models are from the synthetic ones, with noise"

    features: FeatureMap | OneAgainstRest
    order: int
    expected: np.ndarray

    def __post_init__(self) -> None:
        if self.order not in (1, 2):
            raise ValueError(f"`order` must be 1 or 2. Found {self.order!r}.")
        shape: tuple[int, ...] = (len(self.features.names),) * self.order
        if self.order == 1 and isinstance(self.features, OneAgainstRest):
            shape = (self.features.values, *shape)
        if self.expected.shape != shape or self.expected.dtype != np.int64:
            raise ValueError(
                f"`expected` must be int64 with shape {shape}. Found {self.expected.dtype} with {self.expected.shape}."
            )
        if np.abs(self.expected, dtype=np.float64).max() > 1e9 * UNIT**self.order:
            raise ValueError("`expected` must come from at most 10**9 records: sums stay exact below that.")

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return float(UNIT**self.order * (1 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2))

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return self.l1_sensitivity(relation)

    def exact(self, records: Records) -> np.ndarray:
        sums = records.fold(
            lambda block: self.features.moments(block.codes, block.numbers, self.order),
            self.features.codes,
            self.features.numbers,
        )
        return np.abs(sums - self.expected).max(keepdims=True).ravel()

    def describe(self) -> dict[str, Any]:
        return {
            "target": self.features.target,
            "features": len(self.features.names),
            "order": self.order,
            "unit": UNIT,
        }

    @staticmethod
    def unit(parameters: Mapping[str, Any]) -> float:
        return float(parameters["unit"]) ** int(parameters["order"])

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        return float(parameters["unit"]) ** int(parameters["order"]) * moved
