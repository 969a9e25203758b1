"""How a public model treats the groups of a protected column on the real rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.features.public_predictor import PublicPredictor
from counterfoil.features.training_features import MOST_GROUPS
from counterfoil.noise.noise import Norm
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.schema import Schema

_ROWS = 1 << 14


@shipped
@dataclass(frozen=True, eq=False)
class GroupPredictions(CountQuery):
    """How many records of each group and class are predicted as 0 and as 1: int64 [groups * 2 * 2].

    Cell (g, y, p), at 4 g + 2 y + p, counts the records of group g whose class is y and whose prediction is p; both
    are 1 for the positive code of the model's target, and 0 for any other. Groups are the combinations of codes of
    the protected columns, the last of which varies fastest.

    Formal guarantee: the group and the class of a record are its own codes, and its prediction is a function of the
    record and of the public model, to the last bit and in whatever company (`PublicPredictor.predicted`). So each
    record falls in exactly one cell, whatever the others are. Adding or removing it changes that cell by 1: l1 and l2
    sensitivity 1. Replacing it moves 1 from one cell to another, or nothing: l1 sensitivity 2, l2 sensitivity sqrt 2.
    Both are attained, unless a single cell can be reached.

    Args:
        model: a public model.
        protected: columns other than the target.

    Raises:
        ValueError: for no protected column, one that is unknown, named twice or the target, or more than 64 groups.
    """

    name: ClassVar[str] = "group_predictions"
    question: ClassVar[str] = "how many rows of each group and class a model predicts as positive, with noise"

    model: PublicPredictor
    protected: tuple[str, ...]

    def __post_init__(self) -> None:
        require_groups(self.model.schema, self.protected, self.model.target)

    @property
    def group_count(self) -> int:
        """How many groups there are, empty ones included."""
        return math.prod(self._sizes)

    @property
    def group_names(self) -> tuple[str, ...]:
        """Each group in words."""
        names = [""]
        for column in self.protected:
            labels = self.model.schema[column].labels
            names = [f"{before}, {column} = {label}".removeprefix(", ") for before in names for label in labels]
        return tuple(names)

    def require_fits(self, schema: Schema) -> None:
        if schema != self.model.schema:
            raise ValueError("A model predicts the records of the schema that it was made for. Found another schema.")

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return 1.0 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2.0

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return math.sqrt(self.l1_sensitivity(relation))

    def exact(self, records: Records) -> np.ndarray:
        columns = tuple(dict.fromkeys((*self.model.codes, self.model.target, *self.protected)))
        return records.fold(self._counts, columns, self.model.numbers)

    def split(self, answer: np.ndarray) -> np.ndarray:
        """int64 [groups, 2, 2]: an answer by group, class and prediction."""
        return answer.reshape(self.group_count, 2, 2)

    def describe(self) -> dict[str, Any]:
        return {
            "target": self.model.target,
            "positive": self.model.positive,
            "protected": list(self.protected),
            "groups": self.group_count,
            "model": self.model.kind,
        }

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        if int(parameters["groups"]) < 1:
            raise ValueError("there must be a group.")
        return moved if norm is Norm.L1 else math.sqrt(moved)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(self.model.schema.domain[name] for name in self.protected)

    def _counts(self, block: Block) -> np.ndarray:
        total = np.zeros(4 * self.group_count, dtype=np.int64)
        for start in range(0, block.rows, _ROWS):
            part = slice(start, start + _ROWS)
            codes = {name: values[part] for name, values in block.codes.items()}
            numbers = {name: values[part] for name, values in block.numbers.items()}
            group = np.ravel_multi_index([codes[name].astype(np.int64) for name in self.protected], self._sizes)
            positive = codes[self.model.target] == self.model.positive
            cells = 4 * group + 2 * positive + self.model.predicted(codes, numbers)
            total += np.bincount(cells, minlength=len(total))
        return total


def require_groups(schema: Schema, protected: tuple[str, ...], target: str) -> None:
    """Refuses what can't be the protected columns of a model for `target`.

    Raises:
        ValueError: for no column, one that is unknown, named twice or the target, or more than 64 groups.
    """
    known = schema.domain.attributes
    if not protected or len({*protected}) < len(protected):
        raise ValueError(f"`protected` must name columns, each once. Found {', '.join(protected) or 'none'}.")
    for name in protected:
        if name not in known:
            raise ValueError(f"`protected` must be synthesized columns. Found {name!r}.{did_you_mean(name, known)}")
        if name == target:
            raise ValueError(f"`protected` must be another column than the target. Found {name!r} for both.")
    count = math.prod(schema.domain[name] for name in protected)
    if count > MOST_GROUPS:
        raise ValueError(
            f"At most {MOST_GROUPS} groups are compared. Found {count:,} combinations of {' and '.join(protected)}: "
            "name a column with fewer categories or bins."
        )
