"""How far a synthetic numeric column is from the real one, in the Wasserstein distance W_1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.geometry.grid import SnapGrid
from counterfoil.noise.noise import Norm


@shipped
@dataclass(frozen=True, eq=False)
class ColumnWasserstein(CountQuery):
    """The area between the cumulative counts of a column and those of its synthetic twin, in steps of a public grid.

    With C(g) the number of real records at the first g + 1 of G grid points, the answer is the sum over g < G - 1 of
    abs(C(g) - expected(g)): an integer. Divided by (G - 1) n it is W_1 of the columns snapped to the grid, over its
    length, where both have n records. Missing values count as the last point.

    Formal guarantee: a record at point g adds 1 to C from g on: at most G - 1 of the terms move, by 1 each at most,
    when it is added or removed. When it is replaced by one at g', the C between g and g' move by 1, again at most
    G - 1 of them. So the sum moves by at most G - 1 under both relations, which is attained by a record at the first
    point (and one at the last). Snapping a number to the grid depends on nothing but the number.

    Args:
        grid: where the numbers of a column are snapped to.
        expected: int64 [G - 1]: the synthetic cumulative counts, in whole records.

    Raises:
        ValueError: for cumulative counts of another shape or type, or above 10**9.
    """

    name: ClassVar[str] = "cumulative_area"
    question: ClassVar[str] = "how far a numeric column is from the synthetic one, with noise"

    grid: SnapGrid
    expected: np.ndarray

    def __post_init__(self) -> None:
        if self.expected.shape != (self.grid.points - 1,) or self.expected.dtype != np.int64:
            raise ValueError(
                f"`expected` must be int64 with {self.grid.points - 1} entries. Found {self.expected.dtype} with shape "
                f"{self.expected.shape}."
            )
        if np.abs(self.expected, dtype=np.float64).max() > 1e9:
            raise ValueError("`expected` must count at most 10**9 records: sums stay exact below that.")

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return float(self.grid.points - 1)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return self.l1_sensitivity(relation)

    def exact(self, records: Records) -> np.ndarray:
        counts = records.fold(self._counts, (), (self.grid.column,))
        return np.abs(counts.cumsum()[:-1] - self.expected).sum(keepdims=True)

    def describe(self) -> dict[str, Any]:
        return {"column": self.grid.column, "points": self.grid.points}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        return float(parameters["points"]) - 1

    def _counts(self, block: Block) -> np.ndarray:
        places = self.grid.snap(block.numbers[self.grid.column])
        return np.bincount(places, minlength=self.grid.points).astype(np.int64)
