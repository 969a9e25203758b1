"""Which marginals a model gets most wrong: chosen by the exponential mechanism, or measured with noise."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.query import CountQuery, Records, SelectionQuery
from counterfoil.curator.queries.registry import shipped
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique
from counterfoil.noise.noise import Norm
from counterfoil.noise.scores import LARGEST_TOTAL, records_of_scores, require_scores, scores_of_errors

_RELATION_FACTOR = {NeighboringRelation.ADD_OR_REMOVE_ONE: 1, NeighboringRelation.REPLACE_ONE: 2}


def _l1_errors(
    records: Records, cliques: tuple[Clique, ...], estimates: tuple[np.ndarray, ...], coarsening: Coarsening | None
) -> np.ndarray:
    counts = records.marginals(cliques, coarsening)
    for clique, table, estimate in zip(cliques, counts, estimates, strict=True):
        # numpy would stretch the smaller of the two, and count a record once for each copy.
        if table.shape != estimate.shape:
            raise ValueError(f"The estimate of {clique!r} must have the shape {table.shape}. Found {estimate.shape}.")
    return np.array([int(np.abs(c - e).sum()) for c, e in zip(counts, estimates, strict=True)], dtype=np.int64)


def _require_integers(cliques: tuple[Clique, ...], estimates: tuple[np.ndarray, ...]) -> None:
    if len(estimates) != len(cliques) or not cliques:
        raise ValueError(f"`estimates` must hold one array for each clique. Found {len(estimates)}, {len(cliques)}.")
    if any(estimate.dtype != np.int64 for estimate in estimates):
        raise ValueError("`estimates` must be rounded to int64, so that errors are exact integers.")
    if any(np.abs(estimate, dtype=np.float64).sum() > LARGEST_TOTAL for estimate in estimates):
        raise ValueError("An estimate must count at most 10**9 records in all: sums of errors stay exact below that.")


@shipped
@dataclass(frozen=True, eq=False)
class WorstApproximatedMarginal(SelectionQuery):
    """Scores each candidate clique by weight * (L1 error of the estimate - penalty).

    With `noises`, `floors` and `cautions` by weight * max(error - penalty, gain - caution), where the gain is that of
    `noise.scores.gains_of` for what the error exceeds its floor by: it is larger than error - penalty most of all where
    the estimate is about as far off as the noise would be.

    Formal guarantee: the estimate is public and fixed. A record falls in one cell of a clique, so that adding or
    removing it changes abs(count - estimate) by at most 1 in one cell, and replacing it by at most 1 in two: the L1
    error moves by at most 1, or 2, and the score by at most max(weights), or twice that. Errors may rise or fall, so
    the score is not monotone and the exponential mechanism's factor 2 stays. A gain moves by at most what its error
    does, in the same direction, and so does the larger of two such numbers. Errors above LARGEST_PENALTY, which tables
    of more than 10**9 records may have, count as that: they then move by less. In floating point a score is off by
    less than a millionth of that; the noise is raised by as much (`noise.selection`).

    Args:
        cliques: the candidates.
        estimates: int64 arrays shaped like the cliques' counts: what the model says, rounded.
        weights: float64[candidates], positive, the largest between 1e-100 and 1e100.
        penalties: float64[candidates], the error that noise alone would leave, from 0 to LARGEST_PENALTY.
        coarsening: values to count together; a record still falls in one cell of each clique.
        noises: float64[candidates], the error that noise alone would leave, as gains take it; or None.
        floors: float64[candidates], a part of the error that measuring does not mend; or None.
        cautions: float64[candidates], what is taken off gains; or None. These three are given together or not at all,
            each from 0 to LARGEST_GAIN, and errors above count as that within gains.

    Source: McKenna et al. 2022, Algorithm 2, the quality score of AIM.

    Raises:
        ValueError: for estimates, weights or penalties of another shape, type or size.
    """

    name: ClassVar[str] = "worst_approximated_marginal"
    question: ClassVar[str] = "which combination the model got most wrong, by a noisy choice"

    cliques: tuple[Clique, ...]
    estimates: tuple[np.ndarray, ...]
    weights: np.ndarray
    penalties: np.ndarray
    coarsening: Coarsening | None = None
    noises: np.ndarray | None = None
    floors: np.ndarray | None = None
    cautions: np.ndarray | None = None

    def __post_init__(self) -> None:
        _require_integers(self.cliques, self.estimates)
        if any(numbers.shape != (len(self.cliques),) for numbers in (self.weights, *self._records)):
            raise ValueError("`weights`, `penalties` and what gains take must hold one number for each clique.")
        require_scores(self.weights, *self._records)

    @property
    def _records(self) -> tuple[np.ndarray, ...]:
        return records_of_scores(self.penalties, self.noises, self.floors, self.cautions)

    def score_sensitivity(self, relation: NeighboringRelation) -> float:
        return float(self.weights.max()) * _RELATION_FACTOR[relation]

    def exact(self, records: Records) -> np.ndarray:
        errors = _l1_errors(records, self.cliques, self.estimates, self.coarsening)
        return scores_of_errors(errors, self.weights, *self._records)

    def describe(self) -> dict[str, Any]:
        return {"candidates": len(self.cliques), "largest_weight": float(self.weights.max())}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        return float(parameters["largest_weight"]) * moved


@shipped
@dataclass(frozen=True, eq=False)
class MarginalDistances(CountQuery):
    """The L1 error of the estimate on each candidate clique, each measured with noise.

    Formal guarantee: adding or removing a record moves each of the m errors by at most 1, replacing one by at most 2
    (see `WorstApproximatedMarginal`): l1 sensitivity m, or 2 m; l2 sensitivity sqrt(m), or 2 sqrt(m).

    Args:
        cliques: the candidates.
        estimates: int64 arrays shaped like the cliques' counts: what the model says, rounded.
        coarsening: values to count together; a record still falls in one cell of each clique.
    """

    name: ClassVar[str] = "marginal_errors"
    question: ClassVar[str] = "how far the model was from such counts, with noise"

    cliques: tuple[Clique, ...]
    estimates: tuple[np.ndarray, ...]
    coarsening: Coarsening | None = None

    def __post_init__(self) -> None:
        _require_integers(self.cliques, self.estimates)

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return len(self.cliques) * _RELATION_FACTOR[relation]

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return math.sqrt(len(self.cliques)) * _RELATION_FACTOR[relation]

    def exact(self, records: Records) -> np.ndarray:
        return _l1_errors(records, self.cliques, self.estimates, self.coarsening)

    def describe(self) -> dict[str, Any]:
        return {"cliques": [list(clique) for clique in self.cliques]}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        candidates = len(parameters["cliques"])
        return moved * (candidates if norm is Norm.L1 else math.sqrt(candidates))
