"""The private signed measure mechanism: one noisy count of each cell, and the nearest probability measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterfoil.curator.curator import Curator
from counterfoil.curator.noise import GaussianNoise, LaplaceNoise
from counterfoil.curator.privacy_filter import GaussianFilter, PureFilter
from counterfoil.curator.queries.nearest import NearestNeighborHistogram
from counterfoil.curator.queries.partition import PartitionCounts
from counterfoil.curator.replacement import ANY_QUESTION, COUNTS_WITH_GAUSSIAN_NOISE
from counterfoil.evolution.cleanup import Cleanup, Projection
from counterfoil.evolution.euclidean import Box
from counterfoil.evolution.partition import Grid
from counterfoil.evolution.point_rows import Placed
from counterfoil.evolution.point_synthesis import PointSynthesis, release_points, require_space
from counterfoil.evolution.record_count import count_records
from counterfoil.evolution.resampling import systematic
from counterfoil.evolution.space import Space
from counterfoil.evolution.table_space import TableSpace
from counterfoil.marginals.release import Progress, quiet
from counterfoil.schema import Schema
from counterfoil.theory import signed_measure as theory

MOST_CELLS = 4096
"""How many are chosen at most where none are asked for: the projection's time grows with their square."""

COUNT_SHARE = 0.01
_ROUNDING = 1 - 1e-9


@dataclass(frozen=True, eq=False)
class SignedMeasure:
    """Algorithm 5, pure where delta is 0 and Gaussian otherwise: calibrated exactly, where the paper's is not private.

    Cells are those of a grid over a box, or those nearest to the points of a net: a given one, or random points of the
    space, which stands for its Random_API. Rows are drawn uniformly in grid cells, and at the points of a net.

    Args:
        space: where records are points. Where None: a box if every column is a number that is never missing and no net
            is given, else `TableSpace`.
        net: points of the space [m, ...].
        cells: m, about; Theorem H.1's order where None, at most 4096.
        cleanup: from the noisy shares to a probability measure.

    Source: Gonzalez, Fanti and Ramdas, appendix H; He, Vershynin and Zhu 2023.

    Raises:
        ValueError: for `cells` below 1.
    """

    space: Space | None = None
    net: np.ndarray | None = None
    cells: int | None = None
    cleanup: Cleanup = field(default_factory=Projection)

    def __post_init__(self) -> None:
        if self.cells is not None and self.cells < 1:
            raise ValueError(f"`cells` must be at least 1. Found {self.cells}.")

    def synthesize(self, curator: Curator, *, rows: int | None = None, progress: Progress = quiet) -> PointSynthesis:
        """A synthesis within `curator.budget`.

        Raises:
            ValueError: for a net that is not of finite points.
        """
        space = self._space(curator.schema)
        require_space(curator, space)
        public = curator.row_count_is_public
        count_noise, noise = _noises(curator, public)
        noises = [noise] if public else [count_noise, noise]
        pure = curator.budget.delta == 0
        account = curator.plan(
            noises,
            PureFilter() if pure else GaussianFilter(),
            replacement_factor=ANY_QUESTION if pure else COUNTS_WITH_GAUSSIAN_NOISE,
        )
        total = count_records(curator, account, space, count_noise)
        cells = self._cells(space, total, curator)
        counts = account.ask(cells.query, noise)
        progress("counted the cells", 0.9)
        sensitivity = account.sensitivity(
            cells.query.l1_sensitivity if isinstance(noise, LaplaceNoise) else cells.query.l2_sensitivity
        )
        spread = noise.scale(sensitivity) * (2**0.5 if isinstance(noise, LaplaceNoise) else 1.0) / total
        embedded = space.embed(cells.points)
        weights = self.cleanup.weights(counts / total, spread, embedded, space)
        warnings = []
        if weights is None or spread > 1:
            warnings.append(
                f"The noise in one count is {spread:.3g} of the number of records: the cells hardly depend on them. "
                "Raise epsilon."
            )
        if weights is None:
            weights = np.full(len(counts), 1 / len(counts))
        parameters = {
            **space.describe(),
            **self.cleanup.describe(),
            "support": cells.kind,
            "cells": len(counts),
            "records": total,
            "noise": spread,
            "theory": {"cells": theory.n_cells(total, curator.budget.epsilon, curator.budget.delta).value},
        }
        return release_points(
            curator,
            space,
            measure=(cells.points, weights),
            draw=lambda n, rng: Placed(systematic(weights, n, rng), lambda chosen: cells.draw(chosen, rng)),
            describe=("signed-measure", parameters),
            total=total,
            rows=rows,
            warnings=warnings,
        )

    def _space(self, schema: Schema) -> Space:
        if self.space is not None:
            return self.space
        try:
            return TableSpace(schema) if self.net is not None else Box.of(schema)
        except ValueError:
            return TableSpace(schema)

    def _cells(self, space: Space, total: float, curator: Curator) -> _Cells:
        budget = curator.budget
        wanted = self.cells
        if wanted is None:
            wanted = min(int(theory.n_cells(total, budget.epsilon, budget.delta).value), MOST_CELLS)
        if self.net is None and isinstance(space, Box):
            grid = Grid(space, _shape(space, wanted))
            every = np.arange(grid.size)
            return _Cells("grid", PartitionCounts(grid), grid.centers(every), grid.draw)
        points = self.net
        kind = "net" if points is not None else "random points"
        if points is None:
            points = space.random(wanted, curator.randomness.generator())
        fixed = points
        query = NearestNeighborHistogram(space, space.embed(points))
        return _Cells(kind, query, points, lambda chosen, rng: fixed[chosen])


@dataclass(frozen=True, eq=False)
class _Cells:
    """A partition: how it is counted, a point for each cell, and how to draw points in chosen cells."""

    kind: str
    query: PartitionCounts | NearestNeighborHistogram
    points: np.ndarray
    draw: Callable[[np.ndarray, np.random.Generator], np.ndarray]


def _noises(curator: Curator, public: bool) -> tuple[Any, Any]:
    """For the number of records and for the cells."""
    share = 0.0 if public else COUNT_SHARE
    if curator.budget.delta == 0:
        epsilon = curator.budget.epsilon * _ROUNDING
        return LaplaceNoise(epsilon * COUNT_SHARE), LaplaceNoise(epsilon * (1 - share))
    capacity = GaussianFilter().capacity(curator.budget) * _ROUNDING
    return GaussianNoise((capacity * COUNT_SHARE) ** -0.5), GaussianNoise((capacity * (1 - share)) ** -0.5)


def _shape(box: Box, cells: int) -> tuple[int, ...]:
    """Sides in proportion to the box, so that cells are nearly cubes; about `cells` of them."""
    sides = np.subtract(box.upper, box.lower)
    unit = (np.prod(sides) / cells) ** (1 / len(sides))
    return tuple(max(1, round(float(side / unit))) for side in sides)
