"""How well a public linear model does on the real rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.features.feature_map import FeatureMap
from counterfoil.features.linear_model import LARGEST_LOSS, LOSS_UNIT, LinearModel
from counterfoil.features.one_against_rest import OneAgainstRest, OneAgainstRestModel
from counterfoil.noise.noise import Norm

_ROWS = 1 << 14


@shipped
@dataclass(frozen=True, eq=False)
class CorrectPredictions(CountQuery):
    """How many real records a model predicts rightly: n times its accuracy.

    Formal guarantee: each record is predicted by itself, rightly or not: adding, removing or replacing it moves the
    count by at most 1, under both relations. The model is public. Attained unless it is right, or wrong, about all.
    A record's scores are whole numbers computed exactly, so that no other record changes what it is predicted as.

    Args:
        model: a public model.
    """

    name: ClassVar[str] = "correct_predictions"
    question: ClassVar[str] = "how many rows a model trained on the synthetic ones predicts rightly, with noise"

    model: LinearModel | OneAgainstRestModel

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return 1.0

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return 1.0

    def exact(self, records: Records) -> np.ndarray:
        return _fold(records, self.model.features, self.model.right)

    def describe(self) -> dict[str, Any]:
        return {"target": self.model.features.target}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        return 1.0


@shipped
@dataclass(frozen=True, eq=False)
class TotalLoss(CountQuery):
    """The sum of a model's log losses over the real records, each at most LARGEST_LOSS, in units of 1 / LOSS_UNIT.

    Formal guarantee: the loss of a record depends on nothing but the record and the public model, and is an integer
    between 0 and LARGEST_LOSS * LOSS_UNIT: adding, removing or replacing one moves the sum by at most that, under both
    relations.

    Args:
        model: a public model.
    """

    name: ClassVar[str] = "total_loss"
    question: ClassVar[str] = "the log loss of a model trained on the synthetic rows, with noise"

    model: LinearModel

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return LARGEST_LOSS * LOSS_UNIT

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return self.l1_sensitivity(relation)

    def exact(self, records: Records) -> np.ndarray:
        model = self.model
        return _fold(records, model.features, lambda codes, numbers: model.losses(model.margins(codes, numbers)))

    def describe(self) -> dict[str, Any]:
        return {"target": self.model.features.target, "largest": LARGEST_LOSS * LOSS_UNIT}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        return float(parameters["largest"])


def _fold(
    records: Records,
    features: FeatureMap | OneAgainstRest,
    of: Callable[[Mapping[str, np.ndarray], Mapping[str, np.ndarray]], np.ndarray],
) -> np.ndarray:
    """int64 [1]: the sum over records of `of(codes, numbers)`."""

    def partial(block: Block) -> np.ndarray:
        total = 0
        for start in range(0, block.rows, _ROWS):
            part = slice(start, start + _ROWS)
            codes = {name: values[part] for name, values in block.codes.items()}
            numbers = {name: values[part] for name, values in block.numbers.items()}
            total += int(of(codes, numbers).sum())
        return np.array([total], dtype=np.int64)

    return records.fold(partial, features.codes, features.numbers)
