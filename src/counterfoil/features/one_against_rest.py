"""A target of several values as as many targets of two: each value against the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.features.feature_map import FeatureMap
from counterfoil.features.linear_model import LinearModel
from counterfoil.schema import Schema

MOST_VALUES = 64


@dataclass(frozen=True)
class OneAgainstRest:
    """The features of a `FeatureMap`, beside a label for each code of the target: 1 where a record has it, else -1.

    Args:
        schema: the public facts.
        target: the column to predict.

    Raises:
        ValueError: as `FeatureMap`, and for a target of fewer than 3 or more than 64 codes.
    """

    schema: Schema
    target: str

    def __post_init__(self) -> None:
        FeatureMap(self.schema, self.target, 0)  # refuses what is no target
        size = self.schema.domain[self.target]
        if not 3 <= size <= MOST_VALUES:
            raise ValueError(
                f"A target of 3 to {MOST_VALUES} values is predicted one against the rest. Column {self.target!r} has "
                f"{size:,}: give it fewer categories or wider bins, or name another target."
            )

    @cached_property
    def maps(self) -> tuple[FeatureMap, ...]:
        """The map of each value."""
        return tuple(FeatureMap(self.schema, self.target, code) for code in range(self.schema.domain[self.target]))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features, the constant first."""
        return self.maps[0].names

    @property
    def codes(self) -> tuple[str, ...]:
        """The columns whose codes are needed."""
        return self.maps[0].codes

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns whose numbers are needed."""
        return self.maps[0].numbers

    @property
    def values(self) -> int:
        """How many values the target has."""
        return len(self.maps)

    def moments(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray], order: int) -> np.ndarray:
        """As those of a `FeatureMap`, of order 1 for each value: int64 [values, features]. Exact likewise.

        The sum of x_u y over records, with y = 2 [target = v] - 1, is twice the sum of x_u over those that have v, less
        the sum over all.
        """
        if order != 1:
            return self.maps[0].moments(codes, numbers, order)
        return np.stack([one.moments(codes, numbers, 1) for one in self.maps])


def target_of(schema: Schema, target: str) -> FeatureMap | OneAgainstRest:
    """The map for a target: of its second value where it has two, else of each value against the rest.

    Raises:
        ValueError: for an unknown target, or one of a single value or more than 64.
    """
    if target in schema.domain.attributes and schema.domain[target] > 2:
        return OneAgainstRest(schema, target)
    return FeatureMap.binary(schema, target)


@dataclass(frozen=True, eq=False)
class OneAgainstRestModel:
    """Predicts the value whose own linear model has the largest score, the first of them where several have.

    Args:
        features: the public map.
        models: one for each value.

    Raises:
        ValueError: for another number of models.
    """

    features: OneAgainstRest
    models: tuple[LinearModel, ...]

    def __post_init__(self) -> None:
        if len(self.models) != self.features.values:
            raise ValueError(f"There must be a model for each of {self.features.values} values.")

    @staticmethod
    def fit(
        features: OneAgainstRest, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]
    ) -> OneAgainstRestModel:
        """Logistic regression of each value against the rest, as `LinearModel.fit`."""
        return OneAgainstRestModel(features, tuple(LinearModel.fit(one, codes, numbers) for one in features.maps))

    def right(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """bool [n]: whether each record is predicted rightly; exact, as scores are whole numbers below 2**53."""
        margins = [model.margins(codes, numbers) * model.features.labels(codes) for model in self.models]
        return np.argmax(margins, axis=0) == codes[self.features.target]


def linear_model_of(
    features: FeatureMap | OneAgainstRest, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]
) -> LinearModel | OneAgainstRestModel:
    """The linear model for a target, trained on public rows."""
    if isinstance(features, OneAgainstRest):
        return OneAgainstRestModel.fit(features, codes, numbers)
    return LinearModel.fit(features, codes, numbers)
