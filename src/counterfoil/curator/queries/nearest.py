"""How many records are nearest to each of some public points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.domain.counting import count_places
from counterfoil.geometry.space import Space
from counterfoil.noise.noise import Norm
from counterfoil.transport.nearest import Nearest

_ROWS = 1 << 16
"""Records located at once: what is held beside the table stays small, however long it is."""


@shipped
@dataclass(frozen=True, eq=False)
class NearestNeighborHistogram(CountQuery):
    """Counts, for each candidate, the records whose nearest candidate it is; ties go to the smallest index.

    Formal guarantee: each record is located by itself and counted at exactly one candidate, which depends on nothing
    but the record and the public candidates. Adding or removing it changes one count by 1: l1 and l2 sensitivity 1.
    Replacing it takes 1 from one count and gives it to another, or changes nothing: l1 sensitivity 2, l2 sensitivity
    sqrt(2). Both are attained, unless all candidates are equal. That holds for any rule that takes each record by
    itself: how ties are broken, and whether faiss helped, matters for repeating a run, not for privacy.

    Args:
        space: how records become points, and how far apart these are.
        candidates: [m, k], embedded by the space, at least one.

    Source: Gonzalez, Fanti and Ramdas, Algorithm 4; their histogram is divided by n, and so is its sensitivity.

    Raises:
        ValueError: without candidates, or where one is not finite.
    """

    name: ClassVar[str] = "nearest_neighbor_histogram"
    question: ClassVar[str] = "how many records are nearest to each of some public points, with noise"

    space: Space
    candidates: np.ndarray

    def __post_init__(self) -> None:
        if self.candidates.ndim != 2 or len(self.candidates) == 0 or not np.isfinite(self.candidates).all():
            raise ValueError(f"`candidates` must be finite points [m, k], m >= 1. Found {self.candidates.shape}.")

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return 1.0 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2.0

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return float(np.sqrt(self.l1_sensitivity(relation)))

    def exact(self, records: Records) -> np.ndarray:
        nearest = Nearest(self.candidates, metric=self.space.metric)
        return records.fold(partial(self._counts, nearest), self.space.columns, self.space.numbers)

    def describe(self) -> dict[str, Any]:
        return {"candidates": len(self.candidates), "space": self.space.describe()["space"]}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        return moved if norm is Norm.L1 else math.sqrt(moved)

    def _counts(self, nearest: Nearest, block: Block) -> np.ndarray:
        counts = np.zeros(len(self.candidates), dtype=np.int64)
        for start in range(0, block.rows, _ROWS):
            part = slice(start, start + _ROWS)
            points = self.space.locate(
                {name: codes[part] for name, codes in block.codes.items()},
                {name: numbers[part] for name, numbers in block.numbers.items()},
            )
            rows = min(_ROWS, block.rows - start)
            counts += count_places(nearest.of(points), records=rows, size=len(counts))
        return counts
