"""Candidates with their scores, from which the worst is chosen several times: one by one, or thousands at once.

All that a choice depends on besides the records is public: the estimates come from a model of noisy answers, weights
and penalties from these and from the schema, and candidates leave because of what was chosen before. The exponential
mechanism runs over all candidates that are left; none is left out because of its exact error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from counterfoil.curator.queries.query import SelectionQuery
from counterfoil.curator.queries.selection import LARGEST_PENALTY, WorstApproximatedMarginal
from counterfoil.curator.queries.worst_of_many import WorstOfManyMarginals
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique
from counterfoil.domain.layout import Layout, StackedCounts
from counterfoil.marginals.estimates import computed_together

MANY_CANDIDATES = 1000
"""From so many on they are scored together."""

EXPECTED_ABSOLUTE = math.sqrt(2 / math.pi)


def expected_error(estimate: np.ndarray, deviation: float) -> float:
    """The expected L1 error of a marginal that is measured with `deviation` in a cell, in records.

    It is the mean of abs(noise), but in a cell at most the model's count there: a fit that is regularized towards
    entropy follows the noise little in cells whose expected count is smaller.
    """
    return float(_expected_error_of_cells(estimate, deviation).sum())


def _expected_error_of_cells(estimate: np.ndarray, deviation: float) -> np.ndarray:
    return np.minimum(np.maximum(estimate, 0.0), EXPECTED_ABSOLUTE * deviation)


def rounded(estimates: Mapping[Clique, np.ndarray], cliques: Sequence[Clique]) -> tuple[np.ndarray, ...]:
    """The estimates of `cliques` as whole records, against which errors are exact integers."""
    computed_together(estimates, cliques)
    return tuple(np.rint(estimates[clique]).astype(np.int64) for clique in cliques)


class Scores(Protocol):
    """Candidates with their scores: the error of a model's counts, less what measuring them would leave."""

    def among(self, places: np.ndarray) -> SelectionQuery:
        """Which of the candidates at `places`, int64 [candidates] and rising, the model gets most wrong."""
        ...


def scores_of(
    estimates: Mapping[Clique, np.ndarray],
    weights: Mapping[Clique, float],
    deviation: float,
    coarsening: Coarsening,
    layout: Layout | None = None,
    *,
    margin: float = 0.0,
) -> Scores:
    """The candidates with their scores.

    Args:
        estimates: a model's counts by candidate, in records.
        weights: of the candidates.
        deviation: the standard deviation of the noise that a measurement will have in a cell, in records.
        coarsening: the values that are counted together.
        layout: of the candidates in their order, where it is known: counts are kept for the same one.
        margin: what is taken off each error besides, in records.
    """
    if len(estimates) < MANY_CANDIDATES:
        return _FewScores(estimates, weights, deviation, coarsening, margin)
    return _StackedScores(estimates, weights, deviation, coarsening, layout, margin)


@dataclass(frozen=True, eq=False)
class _FewScores:
    """Each candidate has arrays of its own."""

    estimates: Mapping[Clique, np.ndarray]
    weights: Mapping[Clique, float]
    deviation: float
    coarsening: Coarsening
    margin: float

    def among(self, places: np.ndarray) -> SelectionQuery:
        candidates = tuple(self.estimates)
        cliques = tuple(candidates[place] for place in places.tolist())
        counts = rounded(self.estimates, cliques)
        expected = np.array([expected_error(self.estimates[clique], self.deviation) for clique in cliques])
        return WorstApproximatedMarginal(
            cliques,
            counts,
            weights=np.array([self.weights[clique] for clique in cliques]),
            penalties=np.minimum(expected + self.margin, LARGEST_PENALTY),
            coarsening=self.coarsening,
        )


class _StackedScores:
    """The counts of all candidates lie in one array."""

    def __init__(
        self,
        estimates: Mapping[Clique, np.ndarray],
        weights: Mapping[Clique, float],
        deviation: float,
        coarsening: Coarsening,
        layout: Layout | None,
        margin: float,
    ) -> None:
        cliques = tuple(estimates)
        layout = Layout.of(coarsening.domain, cliques) if layout is None else layout
        computed_together(estimates, cliques)
        cells = layout.stack(estimates, cliques)
        self._estimate = StackedCounts(layout, np.rint(cells).astype(np.int64))
        self._weights = np.array([weights[clique] for clique in cliques])
        expected = layout.sums(_expected_error_of_cells(cells, deviation))
        self._penalties = np.minimum(expected + margin, LARGEST_PENALTY)
        self._coarsening = coarsening

    def among(self, places: np.ndarray) -> SelectionQuery:
        return WorstOfManyMarginals(self._estimate, self._weights, self._penalties, places, self._coarsening)
