"""How many records lie in each cell of a partition of a box."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block
from counterfoil.curator.queries.query import CountQuery, Records, require_never_missing
from counterfoil.curator.queries.registry import shipped
from counterfoil.domain.counting import count_places
from counterfoil.geometry.partition import Partition
from counterfoil.noise.noise import Norm
from counterfoil.schema.schema import Schema


@shipped
@dataclass(frozen=True, eq=False)
class PartitionCounts(CountQuery):
    """Counts the records in each cell of a partition, which may have been chosen after earlier answers.

    Formal guarantee: the cells are disjoint, and which one a record lies in depends on nothing but the record. Adding
    or removing it changes one count by 1: l1 and l2 sensitivity 1. Replacing it takes 1 from one count and gives it to
    another, or changes nothing: l1 sensitivity 2, l2 sensitivity sqrt(2). Both are attained where there are two cells.
    """

    name: ClassVar[str] = "partition_counts"
    question: ClassVar[str] = "how many records lie in each cell of a grid, with noise"

    partition: Partition

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return 1.0 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2.0

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return math.sqrt(self.l1_sensitivity(relation))

    def require_fits(self, schema: Schema) -> None:
        require_never_missing(schema, self.partition.box.numbers)

    def exact(self, records: Records) -> np.ndarray:
        return records.fold(self._counts, (), self.partition.box.numbers)

    def describe(self) -> dict[str, Any]:
        return {"cells": self.partition.size, **self.partition.describe()}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        return moved if norm is Norm.L1 else math.sqrt(moved)

    def _counts(self, block: Block) -> np.ndarray:
        cells = self.partition.assign(self.partition.box.locate(block.codes, block.numbers))
        return count_places(cells, records=block.rows, size=self.partition.size)
