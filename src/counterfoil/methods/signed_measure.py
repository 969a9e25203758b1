"""The private signed measure mechanism: one noisy count of each cell, and the nearest probability measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import Filter, GaussianFilter, PureFilter
from counterfoil.accounting.replacement import ANY_QUESTION, COUNTS_WITH_GAUSSIAN_NOISE
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.nearest import NearestNeighborHistogram
from counterfoil.curator.queries.partition import PartitionCounts
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.partition import Grid
from counterfoil.geometry.space import Space
from counterfoil.geometry.table_space import TableSpace
from counterfoil.marginals.unreliable import first_few
from counterfoil.measures.cleanup import Cleanup, Projection
from counterfoil.measures.record_count import count_records
from counterfoil.methods.method import Method
from counterfoil.noise.known import noise_of
from counterfoil.noise.noise import CountNoise
from counterfoil.schema import Schema
from counterfoil.synthesis.point_rows import Placed
from counterfoil.synthesis.point_synthesis import PointSynthesis, release_points, require_space
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.synthesis.resampling import systematic
from counterfoil.theory import signed_measure as theory
from counterfoil.transport.partial import exact_transport

MOST_CELLS = 4096
"""The most cells that are chosen by default: the time of the projection grows with their square."""

COUNT_SHARE = 0.01

_FEW = 4
"""Cells along a side below which it is said that rows are uniform within them, as of the measure tree."""


@dataclass(frozen=True, eq=False)
class SignedMeasure(Method):
    """Algorithm 5, with pure privacy where delta is 0 and Gaussian noise otherwise.

    The noise is calibrated exactly; the calibration of the paper is not private (docs/corrections.md).

    Cells are those of a grid over a box, or those nearest to the points of a net: a given one, or random points of the
    space, which stands for its Random_API. Rows are drawn uniformly in grid cells, and at the points of a net.

    Args:
        space: where records are points. Where None: a box if every column is a number that is never missing and no net
            is given, else `TableSpace`.
        net: points of the space [m, ...].
        cells: about m; by default of the order of Theorem H.1, at most 4096.
        cleanup: from the noisy shares to a probability measure.

    Source: Gonzalez, Fanti and Ramdas, appendix H; He, Vershynin and Zhu 2023.

    Raises:
        ValueError: for `cells` below 1.
    """

    default_delta: ClassVar[float] = 0.0
    gives_points: ClassVar[bool] = True

    space: Space | None = None
    net: np.ndarray | None = None
    cells: int | None = None
    cleanup: Cleanup = field(default_factory=Projection)

    def __post_init__(self) -> None:
        if self.cells is not None and self.cells < 1:
            raise ValueError(f"`cells` must be at least 1. Found {self.cells}.")

    @property
    def can_reserve(self) -> bool:
        """Both counts are planned before the first answer."""
        return False

    def synthesize(self, curator: Curator, *, rows: int | None = None, progress: Progress = quiet) -> PointSynthesis:
        """A synthesis within `curator.budget`.

        Raises:
            ValueError: for a net that is not of finite points.
        """
        space = self._space(curator.schema)
        require_space(curator, space)
        if isinstance(self.cleanup, Projection):
            exact_transport()  # refuses before anything is charged where POT is not installed
        public = curator.row_count_is_public
        pure = curator.budget.delta == 0
        rule = PureFilter() if pure else GaussianFilter()
        count_noise, noise = _noises(rule, curator.budget, public=public)
        account = curator.plan(
            [noise] if public else [count_noise, noise],
            rule,
            replacement_factor=ANY_QUESTION if pure else COUNTS_WITH_GAUSSIAN_NOISE,
        )
        records = count_records(curator, account, space, count_noise, rows)
        total = records.total
        cells = self._cells(space, total, curator)
        answer = account.ask(cells.query, noise)
        counts = answer.values
        progress("counted the cells", 0.9)
        spread = answer.deviation / total
        measured = self._measured(space)
        weights = self.cleanup.weights(counts / total, spread, measured.embed(cells.points), measured.space)
        warnings = []
        if weights is None or spread > 1:
            warnings.append(
                f"The noise in one count is {spread:.3g} of the number of records: the cells hardly depend on them. "
                "Raise epsilon."
            )
        if weights is None:
            weights = np.full(len(counts), 1 / len(counts))
        warnings += _too_coarse(cells.query)
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
            counted=(records.counted, records.deviation),
            warnings=warnings,
        )

    def _space(self, schema: Schema) -> Space:
        if self.space is not None:
            return self.space
        try:
            return TableSpace(schema) if self.net is not None else Box.of(schema)
        except ValueError:
            return TableSpace(schema)

    def _measured(self, space: Space) -> _Measured:
        """How far points are apart: in a box of the schema's bounds as if all of its sides were alike.

        Their units have nothing to do with each other: of ages and incomes, distances in the units of the columns would
        be those of incomes alone.
        """
        if self.space is None and isinstance(space, Box):
            unit = Box(space.numbers, (0.0,) * space.dimension, (1.0,) * space.dimension)
            return _Measured(unit, lambda points: (points - space.lower) / np.subtract(space.upper, space.lower))
        return _Measured(space, space.embed)

    def _cells(self, space: Space, total: float, curator: Curator) -> _Cells:
        budget = curator.budget
        wanted = self.cells
        if wanted is None:
            wanted = min(int(theory.n_cells(total, budget.epsilon, budget.delta).value), MOST_CELLS)
        if self.net is None and isinstance(space, Box):
            grid = Grid(space, _shape(self._measured(space).sides, wanted))
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
class _Measured:
    """Where distances are measured, and points of the method's space there."""

    space: Space
    embed: Callable[[np.ndarray], np.ndarray]

    @property
    def sides(self) -> np.ndarray:
        """float64 [d]: of the box, where it is one."""
        assert isinstance(self.space, Box)
        return np.subtract(self.space.upper, self.space.lower)


@dataclass(frozen=True, eq=False)
class _Cells:
    """A partition: the query that counts its cells, a point for each cell, and how to draw points in chosen cells."""

    kind: str
    query: PartitionCounts | NearestNeighborHistogram
    points: np.ndarray
    draw: Callable[[np.ndarray, np.random.Generator], np.ndarray]


def _too_coarse(query: PartitionCounts | NearestNeighborHistogram) -> list[str]:
    """A sentence on columns along which a grid has few cells; it follows from the number of cells alone."""
    grid = query.partition if isinstance(query, PartitionCounts) else None
    if not isinstance(grid, Grid):
        return []
    few = [name for name, cells in zip(grid.box.numbers, grid.shape, strict=True) if cells < _FEW]
    if not few:
        return []
    return [
        f"The {grid.size:,} cells of the grid are fewer than {_FEW} along {first_few(few)}: within cells "
        "rows are uniform, whatever the records are. Fewer columns have more of them; methods that count columns (mst, "
        "aim) know more of each."
    ]


def _noises(rule: Filter, budget: Budget, *, public: bool) -> tuple[CountNoise, CountNoise]:
    """The noise of the number of records, and that of the cells."""
    whole, share = rule.divisible(budget), 0.0 if public else COUNT_SHARE
    return noise_of(rule.event(whole * COUNT_SHARE)), noise_of(rule.event(whole * (1 - share)))


def _shape(sides: np.ndarray, cells: int) -> tuple[int, ...]:
    """Sides in proportion to the box, so that cells are nearly cubes; about `cells` of them.

    A side that is shorter than a cell is not divided, and the others share all cells.
    """
    divided = np.ones(len(sides), dtype=bool)
    while True:
        logs = np.log(sides[divided])
        unit = np.exp((logs.sum() - np.log(cells)) / len(logs))
        longer = divided & (sides > unit)
        if not longer.any() or (longer == divided).all():
            return tuple(
                max(1, round(float(side / unit))) if long else 1 for side, long in zip(sides, longer, strict=True)
            )
        divided = longer
