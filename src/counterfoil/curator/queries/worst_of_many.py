"""Which of thousands of marginals a model gets most wrong, chosen by the exponential mechanism, time after time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.query import Records, SelectionQuery
from counterfoil.curator.queries.registry import shipped
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.layout import StackedCounts
from counterfoil.noise.noise import Norm
from counterfoil.noise.scores import LARGEST_TOTAL, records_of_scores, require_scores, scores_of_errors

_RELATION_FACTOR = {NeighboringRelation.ADD_OR_REMOVE_ONE: 1, NeighboringRelation.REPLACE_ONE: 2}


@shipped
@dataclass(frozen=True, eq=False)
class WorstOfManyMarginals(SelectionQuery):
    """`WorstApproximatedMarginal` among some of many cliques, whose errors are computed once and serve every choice.

    Formal guarantee: the estimate is public and fixed, and so are the candidates among which this choice is made. A
    record falls in one cell of a clique, so that adding or removing it changes abs(count - estimate) by at most 1 in
    one cell, and replacing it by at most 1 in two: the L1 error moves by at most 1, or 2, and the score by at most the
    largest weight of a candidate, or twice that, also with gains. That the exact errors are remembered behind the wall
    between two choices changes no score. Errors above LARGEST_PENALTY count as that, and what is said of rounding at
    `WorstApproximatedMarginal` holds here.

    Args:
        estimate: what the model says of all cliques, rounded.
        weights: float64 [cliques], positive, the largest of those among which is chosen between 1e-100 and 1e100.
        penalties: float64 [cliques], the error that noise alone would leave, from 0 to LARGEST_PENALTY.
        among: int64 [candidates], rising: which cliques are the candidates.
        coarsening: values to count together; a record still falls in one cell of each clique.
        noises, floors, cautions: float64 [cliques] each, as for `WorstApproximatedMarginal`; or all None.

    Source: McKenna et al. 2022, Algorithm 2, the quality score of AIM.

    Raises:
        ValueError: for weights, penalties or candidates of another shape, type or size.
    """

    name: ClassVar[str] = "worst_of_many_marginals"
    question: ClassVar[str] = "which combination the model got most wrong, by a noisy choice"

    estimate: StackedCounts
    weights: np.ndarray
    penalties: np.ndarray
    among: np.ndarray
    coarsening: Coarsening | None = None
    noises: np.ndarray | None = None
    floors: np.ndarray | None = None
    cautions: np.ndarray | None = None

    def __post_init__(self) -> None:
        if type(self.estimate) is not StackedCounts:
            raise ValueError("`estimate` must be `StackedCounts`, which nobody can change.")
        count = len(self.estimate.layout)
        if self.estimate.largest_total > LARGEST_TOTAL:
            raise ValueError(
                "An estimate must count at most 10**9 records in all: sums of errors stay exact below that."
            )
        if any(numbers.shape != (count,) for numbers in (self.weights, *self._records)):
            raise ValueError("`weights`, `penalties` and what gains take must hold one number for each clique.")
        rising = self.among.dtype == np.int64 and self.among.ndim == 1 and bool((np.diff(self.among) > 0).all())
        if not (rising and len(self.among) and self.among[0] >= 0 and self.among[-1] < count):
            raise ValueError("`among` must be rising int64 positions of at least one clique.")
        require_scores(self.weights[self.among], *(numbers[self.among] for numbers in self._records))

    @property
    def _records(self) -> tuple[np.ndarray, ...]:
        return records_of_scores(self.penalties, self.noises, self.floors, self.cautions)

    def score_sensitivity(self, relation: NeighboringRelation) -> float:
        return float(self.weights[self.among].max()) * _RELATION_FACTOR[relation]

    def exact(self, records: Records) -> np.ndarray:
        errors = records.distances(self.estimate, self.coarsening)[self.among]
        return scores_of_errors(errors, *(numbers[self.among] for numbers in (self.weights, *self._records)))

    def describe(self) -> dict[str, Any]:
        return {"candidates": len(self.among), "largest_weight": float(self.weights[self.among].max())}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        return float(parameters["largest_weight"]) * moved
