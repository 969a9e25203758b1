"""A private measure on a box, from noisy counts along a binary tree of cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfoil.accounting.filter import PureFilter
from counterfoil.curator.account import Account
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.partition import PartitionCounts
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.partition import Halving, Intervals
from counterfoil.measures.resampling import systematic
from counterfoil.measures.split_slopes import LeafMeasure
from counterfoil.measures.split_tree import SplitTree, evidence, posterior
from counterfoil.methods.method import Method
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.synthesis.point_synthesis import PointSynthesis, release_points, require_space
from counterfoil.synthesis.progress import Progress, quiet

MOST_DIMENSIONS = 6
DEEPEST = 48.0
FEW = 50.0
"""Records times epsilon: below it, noise is a large part of the counts of halves."""

# Concentrations of splits rise along a line from the root to depth 15: real points are clustered, which makes coarse
# splits uneven and fine ones even. The line of the largest evidence is taken.
_STARTS = (0.1, 0.2, 0.5, 1.0, 4.0)
_ENDS = (0.4, 1.0, 2.5, 10.0, 40.0)
_FIRST_GUESS = (0.2, 1.0)

_STRENGTH = 0.4
"""The factor that turns slopes into log odds. For a log-linear density, the ratio along the halved side alone needs 1/4
and the ratio across it alone needs 1; on real and synthetic points, 0.4 of their sum did best (docs/decisions.md)."""

_HALVINGS = 2
"""How often the last cells are halved by their slopes before rows are drawn uniformly."""


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

    def synthesize(self, curator: Curator, *, rows: int | None = None, progress: Progress = quiet) -> PointSynthesis:
        """A synthesis within `curator.budget`, whose delta is not used.

        Raises:
            ValueError: for a table with columns that are not numbers or may be missing, or more than six columns.
        """
        box = Box.of(curator.schema) if self.box is None else self.box
        if box.dimension > MOST_DIMENSIONS:
            raise ValueError(
                f"A measure tree needs at most {MOST_DIMENSIONS} dimensions. Found {box.dimension}: "
                "use `PrivateEvolution`, or fewer columns."
            )
        require_space(curator, box)
        tree = self._ask(curator, box, progress)
        epsilon = curator.budget.epsilon
        leaves, concentrations = _estimated(tree, box.dimension, floor=1 / epsilon)
        depths, codes, weights = leaves.depths, leaves.codes, leaves.weights
        parts = leaves
        for _ in range(_HALVINGS):
            parts = parts.halved(strength=_STRENGTH)
        order, total = Halving(box, tree.depth + _HALVINGS), float(weights.sum())
        few = (
            f"About {total:.0f} records at epsilon {epsilon:g} are too few to tell cells apart: rows are near uniform."
        )

        def draw(n: int, rng: np.random.Generator) -> np.ndarray:
            chosen = systematic(parts.weights, n, rng)
            return order.draw(parts.codes[chosen], parts.depths[chosen], rng)

        parameters = {
            **box.describe(),
            "shares": list(self.shares),
            "cell_records": self.cell_records,
            "depth": tree.depth,
            "leaves": len(weights),
            "slope_strength": _STRENGTH,
            "concentrations": [concentrations[0], concentrations[-1]] if concentrations else [],
        }
        points = order.draw(codes, depths, curator.randomness.generator())
        return release_points(
            curator,
            box,
            measure=(points, weights),
            draw=draw,
            describe=("measure-tree", parameters),
            total=total,
            rows=rows,
            warnings=[few] if total * epsilon < FEW else [],
        )

    def _ask(self, curator: Curator, box: Box, progress: Progress) -> SplitTree:
        public = curator.row_count_is_public
        shares = [*self.shares[public:], 1 - sum(self.shares[public:])]
        noises = [LaplaceNoise(share * curator.budget.epsilon * (1 - 1e-12)) for share in shares]
        account = curator.plan(noises, PureFilter())
        tree = SplitTree()
        if public:
            tree.add_counts(np.array([float(curator.public_row_count())]), 1e-3)
        else:
            _measure(account, box, tree, noises[0])
        n = max(float(posterior(tree, [])[0][0][0]), 1.0)
        depth = min(max(np.log2(n / _scale(account, box, tree, LaplaceNoise(curator.budget.epsilon))), 1.0), DEEPEST)
        for noise, share_of_depth in zip(noises[-3:-1], (0.3, 0.63), strict=True):
            for _ in range(max(0, round(share_of_depth * depth) - tree.depth)):
                tree.grow(np.ones(len(tree.codes[-1]), dtype=bool))
            _measure(account, box, tree, noise)
            progress("counted cells of a partition", 0.5)
        self._refine(tree, _scale(account, box, tree, noises[-1]), deepest=int(np.ceil(depth)))
        _measure(account, box, tree, noises[-1])
        progress("counted the last cells", 1.0)
        return tree

    def _refine(self, tree: SplitTree, scale: float, *, deepest: int) -> None:
        """Splits leaves until each is expected to hold about `cell_records` times the scale of its noise."""
        means, _ = posterior(tree, _line(_FIRST_GUESS, tree.depth))
        more = np.round(np.log2(np.maximum(means[-1] / (scale * self.cell_records), 0.5)))
        more = np.clip(more, 0, max(deepest - tree.depth, 0))
        while (more > 0).any():
            which = more > 0
            tree.grow(which)
            more = np.repeat(more[which] - 1, 2)


def _query(box: Box, tree: SplitTree) -> PartitionCounts:
    """The query for the counts of all leaves, which partition the box."""
    depths, codes, _ = tree.leaves()
    return PartitionCounts(Intervals(Halving(box, tree.depth), codes << (tree.depth - depths)))


def _scale(account: Account, box: Box, tree: SplitTree, noise: LaplaceNoise) -> float:
    """The scale of the noise in a count, in records; above 1 / epsilon for replaced records and large privacy units."""
    return account.scale(_query(box, tree), noise)


def _measure(account: Account, box: Box, tree: SplitTree, noise: LaplaceNoise) -> None:
    """Adds noisy counts of all leaves to the tree."""
    answer = account.ask(_query(box, tree), noise)
    tree.add_counts(answer.values.astype(float), answer.scale)


def _line(ends: tuple[float, float], depth: int) -> list[float]:
    start, end = ends
    return [float(start + (end - start) * min(t / 15, 1.0)) for t in range(depth)]


def _estimated(tree: SplitTree, dimension: int, *, floor: float) -> tuple[LeafMeasure, Sequence[float]]:
    """The posterior means of the leaves, under slopes estimated from a first posterior; and the concentrations.

    The prior of the first posterior expects even splits. Its noise enters the prior of the second one, though hardly
    that of the same cell: the expected split of a cell depends on the cells beside it.
    """
    guess, _ = posterior(tree, _line(_FIRST_GUESS, tree.depth))
    slopes = LeafMeasure.of(tree, guess, dimension, floor=floor).slopes_of(tree)
    line = _fitted(tree, slopes)
    means, _ = posterior(tree, _tilted(line, slopes))
    return LeafMeasure.of(tree, means, dimension, floor=floor), line


def _tilted(line: Sequence[float], slopes: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Concentrations of halves whose means are what `slopes` make of them, and whose sums are twice those of `line`."""
    odds = [np.exp(_STRENGTH * s / 2) for s in slopes]
    return [
        (2 * a / (o + 1 / o)[:, None] * np.stack([1 / o, o], axis=1)).ravel() for a, o in zip(line, odds, strict=True)
    ]


def _fitted(tree: SplitTree, slopes: Sequence[np.ndarray]) -> Sequence[float]:
    """The line of concentrations with the largest evidence: its start is chosen first, then its end."""

    def log_evidence(start: float, end: float) -> float:
        return evidence(tree, _tilted(_line((start, end), tree.depth), slopes))

    start, end = _FIRST_GUESS
    start = max(_STARTS, key=lambda s: log_evidence(s, end))
    end = max(_ENDS, key=lambda e: log_evidence(start, e))
    return _line((start, end), tree.depth)
