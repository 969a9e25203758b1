"""A private measure on a box, from noisy counts along a binary tree of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfoil.accounting.filter import PureFilter
from counterfoil.accounting.row_counts import require_countable
from counterfoil.curator.curator import Curator
from counterfoil.geometry.euclidean import Box
from counterfoil.measures.private_tree import MOST_DIMENSIONS, SLOPE_STRENGTH, TreeCounts
from counterfoil.methods.method import Method
from counterfoil.synthesis.point_synthesis import PointSynthesis, release_points, require_space
from counterfoil.synthesis.progress import Progress, quiet

FEW = 25.0
"""Records times epsilon: below it, noise is a large part of the counts of halves, in any dimension: of 20 points in one
column at epsilon 1 half of the distance of uniform points was left, of 50 a fifth."""

WIDE = 0.25
"""The side of cells, over that of the box, from which rows are near uniform. With three clusters in 2 to 6 columns and
50 to 5,000 points at epsilon 1, trees with half of the mass in such cells left 29% to 79% of the sliced distance of
uniform points (up to 109% with 20 points), and trees with half in cells of .2 to .25 left 22% to 30%."""

EVOLUTION_IS_NEARER = 6
"""Columns from which evolution was nearer at all sizes of 300 to 30,000 points (docs/evolution.md)."""


@dataclass(frozen=True)
class MeasureTree(Method):
    """Points in a box of at most six dimensions, with pure privacy.

    Cells are counted with noise at a few depths of a tree of halvings: the whole box, a coarse partition, a finer one,
    and a last one that is deeper where the earlier counts are large. All noisy counts together give the posterior mean
    of every count under a Pólya tree (`split_tree`), whose prior expects more in the half with the denser neighbors
    (`split_slopes`). Rows are drawn uniformly within quarters of the last cells, weighed by the same slopes.

    The hierarchy is that of He, Vershynin and Zhu 2023, "Algorithmically effective differentially private synthetic
    data", Algorithm 3 (PMM). They count at every depth, with noise that falls by 2**(-(1 - 1/d)/2) from one to the
    next and is scaled so that all costs add up to epsilon, and make counts consistent from the top. Few depths leave
    more budget to each, and the noisy counts below a cell sharpen the posterior of its own.

    Args:
        box: where the points live; the schema's declared bounds where None.
        shares: the shares of epsilon for the whole, the coarse and the finer partition; the rest goes to the last one.
        cell_records: how many records a last cell should hold, in units of the scale of the noise in its count.

    Raises:
        ValueError: for shares that are not positive or leave nothing, or `cell_records` that is not positive.
    """

    default_delta: ClassVar[float] = 0.0
    gives_points: ClassVar[bool] = True

    box: Box | None = None
    shares: tuple[float, float, float] = (0.01, 0.16, 0.16)
    cell_records: float = 2.5

    def __post_init__(self) -> None:
        if len(self.shares) != 3 or not (min(self.shares) > 0 and sum(self.shares) < 1):
            raise ValueError(f"`shares` must be three positive numbers with a sum below 1. Found {self.shares}.")
        if not 0 < self.cell_records < np.inf:
            raise ValueError(f"`cell_records` must be positive. Found {self.cell_records}.")

    @property
    def can_reserve(self) -> bool:
        """All counts are planned before the first answer."""
        return False

    def synthesize(self, curator: Curator, *, rows: int | None = None, progress: Progress = quiet) -> PointSynthesis:
        """A synthesis within `curator.budget`, whose delta is not used.

        Raises:
            ValueError: for a table with columns that are not numbers or may be missing, or more than six columns.
        """
        box = Box.of(curator.schema) if self.box is None else self.box
        if box.dimension > MOST_DIMENSIONS:
            raise ValueError(
                f"A measure tree needs at most {MOST_DIMENSIONS} dimensions. Found {box.dimension}: "
                "use the method evolution (`PrivateEvolution`), or fewer columns."
            )
        require_space(curator, box)
        public = curator.row_count_is_public
        counts, epsilon = TreeCounts(self.shares, self.cell_records), curator.budget.epsilon
        noises = counts.noises(epsilon, counted=public)
        account = curator.plan(noises, PureFilter())
        deviation = 0.0 if public else counts.total_deviation(account, box, noises)
        require_countable(deviation, rows)
        tree = counts.measure(
            account,
            box,
            noises,
            epsilon=epsilon,
            public_total=float(curator.public_row_count()) if public else None,
            progress=progress,
        )
        total = tree.total
        parameters = {
            **box.describe(),
            "shares": list(self.shares),
            "cell_records": self.cell_records,
            "depth": tree.depth,
            "leaves": len(tree.leaves.weights),
            "slope_strength": SLOPE_STRENGTH,
            "concentrations": [tree.concentrations[0], tree.concentrations[-1]] if tree.concentrations else [],
        }
        return release_points(
            curator,
            box,
            measure=tree.cells(curator.randomness.generator()),
            draw=tree.draw,
            describe=("measure-tree", parameters),
            total=total,
            rows=rows,
            counted=(total, deviation),
            warnings=_too_coarse(total, epsilon, tree.common_side, box.dimension),
        )


def _too_coarse(total: float, epsilon: float, side: float, dimension: int) -> list[str]:
    """A sentence, from noisy counts alone, where rows are near uniform; else none.

    Args:
        total: about how many records there are.
        epsilon: of the release.
        side: of the cells that half of the mass lies in, or of wider ones, over that of the box.
        dimension: of the box.
    """
    if total * epsilon < FEW:
        return [
            f"About {total:.0f} records at epsilon {epsilon:g} are too few to tell cells apart: rows are near uniform."
        ]
    if side < WIDE:
        return []
    instead = " In so many columns the method `evolution` is nearer." if dimension >= EVOLUTION_IS_NEARER else ""
    return [
        f"Half of the mass lies in cells as wide as {side:.0%} of a side of the box, or wider, within which rows are "
        f"near uniform: about {total:,.0f} records at epsilon {epsilon:g} are few for {dimension} columns. More "
        f"epsilon, closer bounds or fewer columns help.{instead}"
    ]
