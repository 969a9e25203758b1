"""Which half of a cell should hold more, by the densities of the cells beside it.

Of a density whose logarithm is linear along the side that is halved, with masses `before` and `after` in the two cells
beside the halved one, the first half holds 1 / (1 + (after / before)**(1/4)): the middles of the halves are half a cell
apart, those of the neighbors two cells. It is the prediction step of average-interpolating wavelets (Donoho 1993,
"Smooth wavelet decompositions with blocky coefficient kernels"), in logarithms. Public post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterfoil.evolution.split_tree import SplitTree

_STEEPEST = 8.0
"""Of the neighbors' logarithms: with twice that, the halves would differ by a factor of 55."""


@dataclass(frozen=True, eq=False)
class LeafMeasure:
    """A measure on the leaves of a split tree, uniform within each, on a box whose sides are halved in turn.

    Args:
        depths, codes: int64 [m]: the leaves, in the order of the box.
        weights: float64 [m]: their masses.
        dimension: how many sides the box has.
        floor: positive: a mass that is added to cells when they are compared, since small ones are mostly noise.
    """

    depths: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    dimension: int
    floor: float

    @classmethod
    def of(cls, tree: SplitTree, means: list[np.ndarray], dimension: int, *, floor: float) -> LeafMeasure:
        """The leaves of `tree` with their part of the counts `means`, by depth."""
        depths, codes, places = tree.leaves()
        return cls(
            depths, codes, np.array([means[t][i] for t, i in zip(depths, places, strict=True)]), dimension, floor
        )

    def slopes(self, depths: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """float64 [k]: for k cells, log(second half / first half) where the density's logarithm is linear.

        0 for a cell as long as the box; at the box's ends, half of what lies on the other side counts.
        """
        axis = np.array([_bits_of_axis(t, self.dimension) for t in range(int(depths.max(initial=0)) + 1)])[depths]
        lowest, others = axis & -axis, ~axis
        own = codes & axis
        before = np.where(own > 0, (own - lowest) & axis | codes & others, codes)
        after = np.where(own < axis, ((codes | others) + lowest) & axis | codes & others, codes)
        ratio = np.log((self._mass(depths, after) + self.floor) / (self._mass(depths, before) + self.floor))
        return np.clip(ratio, -_STEEPEST, _STEEPEST) / 4

    def slopes_of(self, tree: SplitTree) -> list[np.ndarray]:
        """The same by depth, for the cells of `tree` that are split."""
        codes = [c[s] for c, s in zip(tree.codes[:-1], tree.split[:-1], strict=True)]
        return [self.slopes(np.full(len(c), t), c) for t, c in enumerate(codes)]

    def halved(self, *, strength: float) -> LeafMeasure:
        """The same with every leaf split in two, by `strength` times its slope."""
        first = self.weights / (1 + np.exp(strength * self.slopes(self.depths, self.codes)))
        return LeafMeasure(
            np.repeat(self.depths + 1, 2),
            np.repeat(2 * self.codes, 2) + np.tile([0, 1], len(self.codes)),
            np.stack([first, self.weights - first], axis=1).ravel(),
            self.dimension,
            self.floor,
        )

    def _mass(self, depths: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Of the given cells: the difference of a cumulative mass that is linear within leaves."""
        deepest = int(max(self.depths.max(), depths.max(initial=0)))
        starts = np.append(self.codes << (deepest - self.depths), np.int64(1) << deepest)
        sums = np.append(0.0, np.cumsum(self.weights))
        ends = [np.interp(code << (deepest - depths), starts, sums) for code in (codes, codes + 1)]
        return np.maximum(ends[1] - ends[0], 0.0)


def _bits_of_axis(depth: int, dimension: int) -> int:
    """The bits, in the code of a cell of this depth, of the side that is halved next."""
    return sum(1 << (depth - 1 - t) for t in range(depth % dimension, depth, dimension))
