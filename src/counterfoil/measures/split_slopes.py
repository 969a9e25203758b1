"""Which half of a cell should hold more, by the densities of the cells beside it.

Two ratios of masses are multiplied. One compares the cells after and before the cell, along the halved side: it is the
prediction step of average-interpolating wavelets (Donoho 1993, "Smooth wavelet decompositions with blocky coefficient
kernels"), applied to logarithms. The other compares what lies beside the two halves, across all other sides, because
an edge of the density in a neighboring row often continues in this one. All of it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from counterfoil.measures.split_tree import SplitTree

_STEEPEST = 10.0
"""The largest slope. At a strength of 0.4 it makes the two halves differ by a factor of 55."""


@dataclass(frozen=True, eq=False)
class LeafMeasure:
    """A measure on a box whose sides are halved in turn: uniform within each leaf of a split tree.

    Args:
        depths, codes: int64 [m], the leaves in the order of the box.
        weights: float64 [m], their masses.
        dimension: the number of sides of the box.
        floor: a positive mass that is added to cells when they are compared, since small masses are mostly noise.
    """

    depths: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    dimension: int
    floor: float

    @classmethod
    def of(cls, tree: SplitTree, means: list[np.ndarray], dimension: int, *, floor: float) -> LeafMeasure:
        """The leaves of `tree` with their counts in `means`, which are given by depth."""
        depths, codes, places = tree.leaves()
        return cls(
            depths, codes, np.array([means[t][i] for t, i in zip(depths, places, strict=True)]), dimension, floor
        )

    def slopes(self, depth: int, codes: np.ndarray) -> np.ndarray:
        """float64 [k]: for k cells of one depth, the sum of the logarithms of both ratios.

        Beyond the ends of the box, the first ratio takes the mass of the cell itself and the second takes 0.
        """
        axis, own = depth % self.dimension, self._mass(depth, codes)
        ends = [self._beside(depth, codes, axis, step) for step in (-1, 1)]
        along = self._log_ratio(*(np.where(np.isnan(end), own, end) for end in ends))
        halves, across = (2 * codes, 2 * codes + 1), np.zeros((2, len(codes)))
        for other in range(self.dimension):
            for step in (-1, 1) if other != axis else ():
                across += np.nan_to_num([self._beside(depth + 1, half, other, step) for half in halves])
        return np.clip(along + self._log_ratio(*across), -_STEEPEST, _STEEPEST)

    def slopes_of(self, tree: SplitTree) -> list[np.ndarray]:
        """The slopes of the cells of `tree` that are split, by depth."""
        return [self.slopes(t, c[s]) for t, (c, s) in enumerate(zip(tree.codes[:-1], tree.split[:-1], strict=True))]

    def times(self, unit: float) -> LeafMeasure:
        """The measure with all masses multiplied by `unit`."""
        return replace(self, weights=self.weights * unit, floor=self.floor * unit)

    def halved(self, *, strength: float) -> LeafMeasure:
        """The measure with every leaf halved: `strength` times its slope is the logarithm of second over first half."""
        slopes = np.empty(len(self.codes))
        for depth in np.unique(self.depths):
            there = self.depths == depth
            slopes[there] = self.slopes(int(depth), self.codes[there])
        first = self.weights / (1 + np.exp(strength * slopes))
        return LeafMeasure(
            np.repeat(self.depths + 1, 2),
            np.repeat(2 * self.codes, 2) + np.tile([0, 1], len(self.codes)),
            np.stack([first, self.weights - first], axis=1).ravel(),
            self.dimension,
            self.floor,
        )

    def _log_ratio(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        ratios: np.ndarray = np.log((second + self.floor) / (first + self.floor))
        return ratios

    def _beside(self, depth: int, codes: np.ndarray, axis: int, step: int) -> np.ndarray:
        """The masses of the adjacent cells along an axis, before (-1) or after (1); NaN beyond the end of the box."""
        bits = sum(1 << (depth - 1 - t) for t in range(axis, depth, self.dimension))
        others, last = ~bits, bits if step > 0 else 0
        # The bits of other axes are set, or cleared, so that a carry passes through them.
        moved = (codes | others) + (bits & -bits) if step > 0 else (codes & bits) - (bits & -bits)
        masses = self._mass(depth, moved & bits | codes & others)
        return np.where(codes & bits == last, np.nan, masses)

    def _mass(self, depth: int, codes: np.ndarray) -> np.ndarray:
        """The masses of the given cells: differences of the cumulative mass, which is linear within leaves."""
        deepest = max(int(self.depths.max()), depth)
        starts = np.append(self.codes << (deepest - self.depths), np.int64(1) << deepest)
        sums = np.append(0.0, np.cumsum(self.weights))
        ends = [np.interp(code << (deepest - depth), starts, sums) for code in (codes, codes + 1)]
        return np.maximum(ends[1] - ends[0], 0.0)
