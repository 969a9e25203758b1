"""How many teachers, each trained on a part of the records of its own, vote for each class of some public rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.curator.teachers import count_votes, require_scikit_learn
from counterfoil.features.training_features import TrainingFeatures
from counterfoil.noise.noise import Norm
from counterfoil.schema.schema import Schema

MOST_TEACHERS = 100_000


@shipped
@dataclass(frozen=True, eq=False)
class TeacherVotes(CountQuery):
    """The votes of all teachers on m public rows, int64 [m * classes], row after row.

    The records are divided into as many parts as there are teachers, at random and anew in each answer. Each teacher
    learns from its part alone and votes for one class of each row; a part without records casts no vote.

    Formal guarantee: let two tables differ in one record that is added, removed or replaced. Each record has random
    bits of its own, which alone say where it goes (`random_parts`), so that the bits of the two tables can be coupled:
    the same for each record that both have, and for the record that is replaced and the one in its place. Then one
    part differs at most, and one teacher. It moves at most one vote on each row, from one class to another: two counts
    change by 1 each, or one of them where the part has no other record. So the exact answers differ by at most 2 m in
    l1 norm and sqrt(2 m) in l2 norm, whatever the bits are. Given the bits, the noisy answers therefore have hockey
    sticks at most those of the noise for that sensitivity; the bits have one law on both tables and are not released,
    and the hockey stick of two mixtures with the same weights is at most the largest of their parts, by joint
    convexity. Replacing costs no more than adding: the factor of the two relations is 1. A privacy unit of k rows
    touches k teachers at most, which the k-fold sensitivity covers. All of it holds for any teacher that reads its own
    part alone. Both sensitivities are attained by a teacher that changes its mind on every row.

    Args:
        features: how records, and the public rows, become numbers; with one target, whose codes are the classes.
        rows: float64 [m, inputs], the inputs of the public rows.
        teachers: k, how many parts there are.

    Source: Papernot et al. 2017, section 2, and 2018, section 4.1, whose Gaussian noise is counted here for all rows
    together and from public numbers alone. Their data-dependent bounds are themselves private.

    Raises:
        ValueError: for rows that are not those of `features`, too few classes or a number of teachers out of range.
        ImportError: without scikit-learn.
    """

    name: ClassVar[str] = "teacher_votes"
    question: ClassVar[str] = "how teachers, each trained on some of the records, classify public rows, with noise"

    features: TrainingFeatures = field(repr=False)
    rows: np.ndarray = field(repr=False)
    teachers: int

    def __post_init__(self) -> None:
        require_scikit_learn()
        if len(self.features.targets) != 1 or self.features.target_classes < 2:
            raise ValueError("Teachers vote on one target that has two classes at least. Found no such target.")
        inputs = len(self.features.input_names)
        fits = self.rows.ndim == 2 and self.rows.dtype == np.float64 and self.rows.shape[1] == inputs
        if not fits or not len(self.rows) or not np.isfinite(self.rows).all():
            raise ValueError(
                f"`rows` must be finite float64 [m, {inputs}], m >= 1. Found {self.rows.dtype} {self.rows.shape}."
            )
        whole = isinstance(self.teachers, int) and not isinstance(self.teachers, bool)
        if not whole or not 1 <= self.teachers <= MOST_TEACHERS:
            raise ValueError(f"`teachers` must be a whole number from 1 to {MOST_TEACHERS:,}. Found {self.teachers!r}.")

    def require_fits(self, schema: Schema) -> None:
        if schema != self.features.schema:
            raise ValueError("Teachers are trained on the records of the schema that their features are made for.")

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return 2.0 * len(self.rows)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return math.sqrt(2 * len(self.rows))

    def exact(self, records: Records) -> np.ndarray:
        parts = records.parts(self.features, self.teachers)
        return count_votes(parts, self.rows, self.features.target_classes).ravel()

    def table(self, values: np.ndarray) -> np.ndarray:
        """[m, classes]: an answer, row by row."""
        return values.reshape(len(self.rows), self.features.target_classes)

    def describe(self) -> dict[str, Any]:
        return {
            "teachers": self.teachers,
            "teacher": "logistic regression",
            "rows": len(self.rows),
            "target": self.features.targets[0],
            "classes": self.features.target_classes,
            "inputs": len(self.features.input_names),
        }

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        rows = int(parameters["rows"])
        if rows < 1 or int(parameters["classes"]) < 2 or int(parameters["teachers"]) < 1:
            raise ValueError("the parameters are not those of votes.")
        # One teacher takes a vote away and casts another on each row, whether its record came, went or was exchanged.
        return 2.0 * rows if norm is Norm.L1 else math.sqrt(2.0 * rows)
