"""Candidates with their scores, from which the worst is chosen several times: one by one, or thousands at once.

All that a choice depends on besides the records is public: the estimates come from a model of noisy answers, weights
and penalties from these and from the schema, and candidates leave because of what was chosen before. The exponential
mechanism runs over all candidates that are left; none is left out because of its exact error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from counterfoil.curator.queries.query import SelectionQuery
from counterfoil.curator.queries.selection import WorstApproximatedMarginal
from counterfoil.curator.queries.worst_of_many import WorstOfManyMarginals
from counterfoil.domain.domain import Clique
from counterfoil.domain.layout import Layout, StackedCounts
from counterfoil.marginals.estimates import computed_together
from counterfoil.marginals.rank_blocks import RankBlocks
from counterfoil.noise.scores import LARGEST_GAIN, LARGEST_PENALTY

MANY_CANDIDATES = 1000
"""From so many on they are scored together."""

EXPECTED_ABSOLUTE = math.sqrt(2 / math.pi)


def expected_error(estimate: np.ndarray, deviation: float | np.ndarray) -> float:
    """The expected L1 error of a marginal that is measured with `deviation` in a cell, in records.

    It is the mean of abs(noise), but in a cell at most the model's count there: a fit that is regularized towards
    entropy follows the noise little in cells whose expected count is smaller.
    """
    return float(np.minimum(np.maximum(estimate, 0.0), EXPECTED_ABSOLUTE * deviation).sum())


def error_in_blocks(clique: Clique, counts: np.ndarray, deviation: float, blocks: RankBlocks) -> float:
    """`expected_error` of `counts` in blocks, where each measured cell has noise of `deviation`."""
    return expected_error(counts, deviation * blocks.root_cells(clique))


def in_blocks(
    estimates: Mapping[Clique, np.ndarray], cliques: Sequence[Clique], blocks: RankBlocks
) -> dict[Clique, np.ndarray]:
    """The estimates of `cliques` in blocks."""
    computed_together(estimates, cliques)
    return {clique: blocks.counts(clique, estimates[clique]) for clique in cliques}


def rounded(tables: Iterable[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Estimates as whole records, against which errors are exact integers."""
    return tuple(np.rint(table).astype(np.int64) for table in tables)


class Scores(Protocol):
    """Candidates with their scores: by how much measuring them would make a model's error smaller."""

    def among(self, places: np.ndarray) -> SelectionQuery:
        """Which of the candidates at `places`, int64 [candidates] and rising, the model gets most wrong."""
        ...


def scores_of(
    estimates: Mapping[Clique, np.ndarray],
    weights: Mapping[Clique, float],
    deviation: float,
    blocks: RankBlocks,
    layout: Layout | None = None,
    *,
    gain: Gain | None = None,
    margin: float = 0.0,
) -> Scores:
    """The candidates with their scores.

    Args:
        estimates: a model's counts by candidate, in records.
        weights: of the candidates.
        deviation: the standard deviation of the noise that a measurement will have in a cell, in records.
        blocks: the values that are counted together.
        layout: of the candidates in their order, where it is known: counts are kept for the same one.
        gain: makes candidates worth a choice that are about as far off as their noise would be; None for those alone
            that are further off.
        margin: what is taken off each score besides, in records.
    """
    of_gains = None if gain is None else gain.of(estimates, weights, margin)
    if len(estimates) < MANY_CANDIDATES:
        return _FewScores(estimates, weights, deviation, blocks, margin, of_gains)
    return _StackedScores(estimates, weights, deviation, blocks, layout, margin, of_gains)


@dataclass(frozen=True, eq=False)
class Gain:
    """What gains are compared with.

    Args:
        scale: of the Gumbel noise of a choice, in units of the score.
        column_errors: by column, the expected L1 error of its counts, in records.
    """

    scale: float
    column_errors: Mapping[str, float]

    def of(
        self, cliques: Iterable[Clique], weights: Mapping[Clique, float], margin: float
    ) -> dict[Clique, tuple[float, float]]:
        """By candidate, the part of its error that is its columns', and what is taken off its gain, in records.

        Candidates with next to no gain are many, and together must not outdo the noise.
        """
        cliques, most = list(cliques), float(LARGEST_GAIN)
        caution = self.scale * math.log(len(cliques))
        return {
            clique: (min(self._floor(clique), most), min(margin + caution / weights[clique], most))
            for clique in cliques
        }

    def _floor(self, clique: Clique) -> float:
        if len(clique) == 1:
            return 0.0
        return math.hypot(*(self.column_errors.get(name, 0.0) for name in clique))


@dataclass(frozen=True, eq=False)
class _FewScores:
    """Each candidate has arrays of its own."""

    estimates: Mapping[Clique, np.ndarray]
    weights: Mapping[Clique, float]
    deviation: float
    blocks: RankBlocks
    margin: float
    of_gains: Mapping[Clique, tuple[float, float]] | None

    def among(self, places: np.ndarray) -> SelectionQuery:
        candidates = tuple(self.estimates)
        cliques = tuple(candidates[place] for place in places.tolist())
        tables = in_blocks(self.estimates, cliques, self.blocks)
        expected = np.array([error_in_blocks(*one, self.deviation, self.blocks) for one in tables.items()])
        return WorstApproximatedMarginal(
            cliques,
            rounded(tables.values()),
            weights=np.array([self.weights[clique] for clique in cliques]),
            penalties=np.minimum(expected + self.margin, LARGEST_PENALTY),
            coarsening=self.blocks.coarsening,
            **_taken_by_gains(self.of_gains, cliques, expected),
        )


class _StackedScores:
    """The counts of all candidates lie in one array."""

    def __init__(
        self,
        estimates: Mapping[Clique, np.ndarray],
        weights: Mapping[Clique, float],
        deviation: float,
        blocks: RankBlocks,
        layout: Layout | None,
        margin: float,
        of_gains: Mapping[Clique, tuple[float, float]] | None,
    ) -> None:
        cliques = tuple(estimates)
        layout = Layout.of(blocks.coarsening.domain, cliques) if layout is None else layout
        tables = in_blocks(estimates, cliques, blocks)
        cells = layout.stack(tables, cliques)
        self._estimate = StackedCounts(layout, np.rint(cells).astype(np.int64))
        self._weights = np.array([weights[clique] for clique in cliques])
        expected = np.array([error_in_blocks(*one, deviation, blocks) for one in tables.items()])
        self._penalties = np.minimum(expected + margin, LARGEST_PENALTY)
        self._of_gains = _taken_by_gains(of_gains, cliques, expected)
        self._coarsening = blocks.coarsening

    def among(self, places: np.ndarray) -> SelectionQuery:
        return WorstOfManyMarginals(
            self._estimate, self._weights, self._penalties, places, self._coarsening, **self._of_gains
        )


def _taken_by_gains(
    of_gains: Mapping[Clique, tuple[float, float]] | None, cliques: Sequence[Clique], expected: np.ndarray
) -> dict[str, np.ndarray]:
    """The arguments of a query that are about gains, where there are any."""
    if of_gains is None:
        return {}
    floors, cautions = np.array([of_gains[clique] for clique in cliques]).T.copy()
    return {"noises": np.minimum(expected, LARGEST_GAIN), "floors": floors, "cautions": cautions}
