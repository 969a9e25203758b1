"""A tree of cells of a box, counted with noise at a few depths, and the measure that the counts imply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from counterfoil.curator.account import Account
from counterfoil.curator.queries.partition import PartitionCounts
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.partition import Halving, Intervals
from counterfoil.measures.split_slopes import LeafMeasure
from counterfoil.measures.split_tree import Leaves, SplitTree, evidence, leaf_messages, posterior
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.synthesis.progress import Progress
from counterfoil.synthesis.resampling import systematic

MOST_DIMENSIONS = 6
DEEPEST = 48.0

# Concentrations of splits rise along a line from the root to depth 15: real points are clustered, which makes coarse
# splits uneven and fine ones even. The line of the largest evidence is taken.
_STARTS = (0.1, 0.2, 0.5, 1.0, 4.0)
_ENDS = (0.4, 1.0, 2.5, 10.0, 40.0)
_FIRST_GUESS = (0.2, 1.0)

SLOPE_STRENGTH = 0.4
"""The factor that turns slopes into log odds. For a log-linear density, the ratio along the halved side alone needs 1/4
and the ratio across it alone needs 1; on real and synthetic points, 0.4 of their sum did best (docs/decisions.md)."""

MOST_SCALE = 1e4
"""In units of records: where noise is larger, counts are estimated in units of several records. The estimate looks at
every count that the noise allows, one by one: at a scale of 1e5 it takes 13 s, and memory ends soon after. A unit is
then a hundredth of the noise of the last cells, or less."""

_HALVINGS = 2
"""How often the last cells are halved by their slopes before rows are drawn uniformly."""


@dataclass(frozen=True, eq=False)
class TreeMeasure:
    """The measure that the noisy counts of a tree imply.

    Args:
        box: where the points live.
        depth: of the tree.
        leaves: the expected records in each of its last cells.
        parts: those cells, halved further by their slopes.
        concentrations: of the prior, by depth.
    """

    box: Box
    depth: int
    leaves: LeafMeasure
    parts: LeafMeasure
    concentrations: Sequence[float]

    @property
    def total(self) -> float:
        """The expected number of records."""
        return float(self.leaves.weights.sum())

    @property
    def common_side(self) -> float:
        """The side of a cell, over that of the box, such that half of the records lie in cells so wide or wider.

        The geometric mean of the sides of a cell, of which some are halved once more than others; 1 without records.
        """
        weights = np.maximum(self.leaves.weights, 0.0)
        if not weights.sum() > 0:
            return 1.0
        sides = 2.0 ** (-self.leaves.depths / self.box.dimension)
        order = np.argsort(-sides, kind="stable")
        below = np.cumsum(weights[order]) < weights.sum() / 2
        return float(sides[order][min(int(below.sum()), len(order) - 1)])

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """float64 [n, d]: points spread evenly over the measure, in the order of the cells."""
        chosen = systematic(self.parts.weights, n, rng)
        return self._order.draw(self.parts.codes[chosen], self.parts.depths[chosen], rng)

    def cells(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """float64 [m, d]: a point in each last cell, and float64 [m]: the expected records there."""
        leaves = self.leaves
        return self._order.draw(leaves.codes, leaves.depths, rng), leaves.weights

    @property
    def _order(self) -> Halving:
        return Halving(self.box, self.depth + _HALVINGS)


@dataclass(frozen=True)
class TreeCounts:
    """How a tree is grown: what is counted with which share of epsilon.

    Args:
        shares: the shares of epsilon for the whole, the coarse and the finer partition; the rest goes to the last one.
        cell_records: how many records a last cell should hold, in units of the scale of the noise in its count.
    """

    shares: tuple[float, float, float]
    cell_records: float

    def noises(self, epsilon: float, *, counted: bool) -> list[LaplaceNoise]:
        """The noises of all counts, in order; the first one is for the number of records, unless that is `counted`."""
        shares = [*self.shares[counted:], 1 - sum(self.shares[counted:])]
        return [LaplaceNoise(share * epsilon * (1 - 1e-12)) for share in shares]

    def measure(
        self,
        account: Account,
        box: Box,
        noises: Sequence[LaplaceNoise],
        *,
        epsilon: float,
        public_total: float | None,
        progress: Progress,
    ) -> TreeMeasure:
        """Asks for all counts, with `noises`, which cost `epsilon` together, and estimates the measure."""
        unit = max(_scale(account, box, SplitTree(), noises[0]) / MOST_SCALE, 1.0)
        tree = self._ask(account, box, noises, epsilon, public_total, progress, unit)
        leaves, concentrations = _estimated(tree, box.dimension, floor=1 / epsilon / unit)
        parts = leaves
        for _ in range(_HALVINGS):
            parts = parts.halved(strength=SLOPE_STRENGTH)
        return TreeMeasure(box, tree.depth, leaves.times(unit), parts.times(unit), concentrations)

    def total_deviation(self, account: Account, box: Box, noises: Sequence[LaplaceNoise]) -> float:
        """About the standard deviation of the measure's total: that of a count of the whole box by the noise of the
        coarse partition, which has few cells and tells more than the first count, of a small share."""
        return account.deviation(_query(box, SplitTree()), noises[-3])

    def _ask(
        self,
        account: Account,
        box: Box,
        noises: Sequence[LaplaceNoise],
        epsilon: float,
        public_total: float | None,
        progress: Progress,
        unit: float,
    ) -> SplitTree:
        """The tree with all noisy counts, in units of `unit` records."""
        tree = SplitTree()
        if public_total is not None:
            tree.add_counts(np.array([np.rint(public_total / unit)]), 1e-3)
        else:
            _measure(account, box, tree, noises[0], unit)
        n = max(float(posterior(tree, [])[0][0][0]) * unit, 1.0)
        depth = min(max(np.log2(n / _scale(account, box, tree, LaplaceNoise(epsilon))), 1.0), DEEPEST)
        for noise, share_of_depth in zip(noises[-3:-1], (0.3, 0.63), strict=True):
            for _ in range(max(0, round(share_of_depth * depth) - tree.depth)):
                tree.grow(np.ones(len(tree.codes[-1]), dtype=bool))
            _measure(account, box, tree, noise, unit)
            progress("counted cells of a partition", 0.5)
        self._refine(tree, _scale(account, box, tree, noises[-1]) / unit, deepest=int(np.ceil(depth)))
        _measure(account, box, tree, noises[-1], unit)
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


def _measure(account: Account, box: Box, tree: SplitTree, noise: LaplaceNoise, unit: float) -> None:
    """Adds noisy counts of all leaves to the tree, in units of `unit` records."""
    answer = account.ask(_query(box, tree), noise)
    tree.add_counts(answer.values.astype(float) / unit, answer.scale / unit)


def _line(ends: tuple[float, float], depth: int) -> list[float]:
    start, end = ends
    return [float(start + (end - start) * min(t / 15, 1.0)) for t in range(depth)]


def _estimated(tree: SplitTree, dimension: int, *, floor: float) -> tuple[LeafMeasure, Sequence[float]]:
    """The posterior means of the leaves, under slopes estimated from a first posterior; and the concentrations.

    The prior of the first posterior expects even splits. Its noise enters the prior of the second one, though hardly
    that of the same cell: the expected split of a cell depends on the cells beside it.
    """
    leaves = leaf_messages(tree)
    guess, _ = posterior(tree, _line(_FIRST_GUESS, tree.depth), leaves)
    slopes = LeafMeasure.of(tree, guess, dimension, floor=floor).slopes_of(tree)
    line = _fitted(tree, slopes, leaves)
    means, _ = posterior(tree, _tilted(line, slopes), leaves)
    return LeafMeasure.of(tree, means, dimension, floor=floor), line


def _tilted(line: Sequence[float], slopes: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Concentrations of halves whose means are what `slopes` make of them, and whose sums are twice those of `line`."""
    odds = [np.exp(SLOPE_STRENGTH * s / 2) for s in slopes]
    return [
        (2 * a / (o + 1 / o)[:, None] * np.stack([1 / o, o], axis=1)).ravel() for a, o in zip(line, odds, strict=True)
    ]


def _fitted(tree: SplitTree, slopes: Sequence[np.ndarray], leaves: Leaves) -> Sequence[float]:
    """The line of concentrations with the largest evidence: its start is chosen first, then its end."""

    @cache  # one of the lines is in both searches
    def log_evidence(start: float, end: float) -> float:
        return evidence(tree, _tilted(_line((start, end), tree.depth), slopes), leaves)

    start, end = _FIRST_GUESS
    start = max(_STARTS, key=lambda s: log_evidence(s, end))
    end = max(_ENDS, key=lambda e: log_evidence(start, e))
    return _line((start, end), tree.depth)
