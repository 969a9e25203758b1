"""A noisy histogram as the reference density: of all cells of a domain, or of a grid on a box."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.partition import PartitionCounts
from counterfoil.domain.domain import Clique
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.partition import Grid
from counterfoil.marginals.measure import measure
from counterfoil.reweighting.reference import Asking, Density, Reference, is_continuous
from counterfoil.schema import Schema
from counterfoil.synthesis.resampling import systematic

MOST_CELLS = 1_000_000
_GRID_CELLS = 4096


@dataclass(frozen=True)
class PerturbedHistogram(Reference):
    """Noisy counts of cells, of which those below a threshold count as 0, divided by their sum.

    Tables of real numbers are counted in a grid on the box of their bounds, and points are uniform within cells; others
    in all cells of their domain, which must be few enough to be listed.

    Args:
        side: for points, how many cells lie along each side; 4096 in all, or so, where None.
        threshold: in standard deviations of the noise; 0 keeps all that is positive, as in the source. Where most cells
            are empty, what noise puts there is most of the error: 2 was best on coordinates (`docs/decisions.md`).

    Source: Wasserman and Zhou 2010; Bojkovic and Loh, Algorithm 2, where cells of points have sides m**(-1/p).

    Raises:
        ValueError: for a threshold that is negative, or less than one cell.
    """

    name: ClassVar[str] = "histogram"

    side: int | None = None
    threshold: float = 2.0

    def __post_init__(self) -> None:
        if not 0 <= self.threshold < math.inf:
            raise ValueError(f"`threshold` must be at least 0. Found {self.threshold!r}.")
        if self.side is not None and not (isinstance(self.side, int) and self.side >= 1):
            raise ValueError(f"`side` must be a whole number of at least 1. Found {self.side!r}.")

    def gives_points(self, schema: Schema) -> bool:
        return is_continuous(schema)

    def share_of(self, schema: Schema) -> float:
        return 0.8 if self.gives_points(schema) else 0.5

    def require_possible(self, curator: Curator) -> None:
        points = self.gives_points(curator.schema)
        cells = self._grid(curator.schema).size if points else math.prod(curator.domain.sizes)
        if cells > MOST_CELLS:
            raise ValueError(
                f"The histogram of this table has {cells:,} cells, of which at most {MOST_CELLS:,} can be counted: use "
                "the reference `product`, or give columns fewer bins in the schema."
            )

    def cliques(self, curator: Curator) -> tuple[Clique, ...]:
        return () if self.gives_points(curator.schema) else (curator.domain.attributes,)

    def total_deviation(self, asking: Asking) -> float | None:
        """That of the sum of all cells, with what the noise adds to it where empty cells are kept for theirs."""
        if not self.gives_points(asking.curator.schema):
            return None
        grid = self._grid(asking.curator.schema)
        return self._total_error(
            grid, asking.account.deviation(PartitionCounts(grid), asking.account.noise(asking.cost))
        )

    def _total_error(self, grid: Grid, deviation: float) -> float:
        """Laplace noise of deviation 1 above t has the mean exp(-sqrt(2) t) (t + 1 / sqrt(2)) / 2, 0 counted below."""
        t = self.threshold
        kept = 0.5 * math.exp(-math.sqrt(2) * t) * (t + math.sqrt(0.5))
        return deviation * math.hypot(math.sqrt(grid.size), grid.size * kept)

    def estimate(self, asking: Asking) -> Density:
        return (self._points if self.gives_points(asking.curator.schema) else self._codes)(asking)

    def describe(self) -> dict[str, Any]:
        side = {} if self.side is None else {"side": self.side}
        return {"reference": self.name, **side, "threshold_in_deviations": self.threshold}

    def _codes(self, asking: Asking) -> Density:
        domain = asking.curator.domain
        (counts,) = measure(asking.account, domain, [domain.attributes], asking.account.noise(asking.cost))
        density = thresholded(counts.counts.ravel(), self.threshold * counts.scale)

        def draw(m: int, rng: np.random.Generator) -> np.ndarray:
            return np.column_stack(np.unravel_index(systematic(density, m, rng), domain.sizes))

        return Density(draw, (counts,))

    def _points(self, asking: Asking) -> Density:
        grid = self._grid(asking.curator.schema)
        answer = asking.account.ask(PartitionCounts(grid), asking.account.noise(asking.cost))
        counts = answer.values.astype(np.float64)
        density = thresholded(counts, self.threshold * answer.deviation)

        def draw(m: int, rng: np.random.Generator) -> np.ndarray:
            return grid.draw(systematic(density, m, rng), rng)

        total, error = max(float(counts[density > 0].sum()), 1.0), self._total_error(grid, answer.deviation)
        return Density(draw, total=total, total_error=error, parameters={"cells": grid.size})

    def _grid(self, schema: Schema) -> Grid:
        box = Box.of(schema)
        side = max(round(_GRID_CELLS ** (1 / box.dimension)), 2) if self.side is None else self.side
        return Grid(box, (side,) * box.dimension)


def thresholded(counts: np.ndarray, least: float) -> np.ndarray:
    """The density of noisy counts [k] of which those below `least`, or below 0, count as 0; uniform where all do."""
    kept = np.where(counts >= least, np.maximum(counts, 0.0), 0.0)
    return kept / kept.sum() if kept.sum() > 0 else np.full(len(counts), 1 / len(counts))
