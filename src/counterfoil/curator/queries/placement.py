"""How the cells of a table were placed: how many were clamped, moved, missing or unreadable, in all columns at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.noise.noise import Norm
from counterfoil.schema.placement import PLACEMENTS, Placement, possible_placements
from counterfoil.schema.schema import Schema


@shipped
@dataclass(frozen=True)
class SchemaPlacement(CountQuery):
    """How many cells of each column were placed in each way, column after column.

    Formal guarantee: each cell is placed in exactly one way, which depends on nothing but the cell and the schema
    (`schema.placement.place`). So a record adds 1 to exactly one count of each of the d columns, where its placement is
    among those that are counted, and to none else. Adding or removing it therefore moves at most d counts by 1: l1
    sensitivity d, l2 sensitivity sqrt(d). Replacing it moves, in each column, 1 from one count to another, or nothing,
    or one count by 1 where the other placement is not counted: at most 2 counts by 1 each, in all l1 sensitivity 2 d
    and l2 sensitivity sqrt(2 d). Both are attained by records whose cells are all placed in other ways.

    Args:
        columns: each column that is counted, with the words of the placements that are; none twice.
    """

    name: ClassVar[str] = "schema_placement"
    question: ClassVar[str] = (
        "how many cells of each column are as declared, clamped, moved, `other`, missing or unreadable, with noise"
    )

    columns: tuple[tuple[str, tuple[str, ...]], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.columns]
        if not names or len(set(names)) < len(names):
            raise ValueError("`columns` must hold at least one column, and none twice.")
        if any(
            not ways or len(set(ways)) < len(ways) or not set(ways) <= PLACEMENTS.keys() for _, ways in self.columns
        ):
            raise ValueError("Each of `columns` must have at least one placement, all of them known, and none twice.")

    @staticmethod
    def of(schema: Schema) -> SchemaPlacement | None:
        """The query about all columns that leave more than one way open; None where no column does."""
        ways = ((column.name, possible_placements(column)) for column in schema.synthesized)
        several = tuple((name, tuple(way.word for way in possible)) for name, possible in ways if len(possible) > 1)
        return SchemaPlacement(several) if several else None

    def require_fits(self, schema: Schema) -> None:
        known = set(schema.domain.attributes)
        for name, _ in self.columns:
            if name not in known:
                raise ValueError(f"`columns` must be synthesized columns of the schema. Found {name!r}.")

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return len(self.columns) * (1.0 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2.0)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return math.sqrt(self.l1_sensitivity(relation))

    def exact(self, records: Records) -> np.ndarray:
        return records.fold_placements(self._counts, [name for name, _ in self.columns])

    def split(self, answer: np.ndarray) -> dict[str, dict[Placement, int]]:
        """An answer as counts, by column and placement."""
        left = iter(answer.tolist())
        return {name: {PLACEMENTS[way]: int(next(left)) for way in ways} for name, ways in self.columns}

    def describe(self) -> dict[str, Any]:
        return {"columns": {name: list(ways) for name, ways in self.columns}}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        l1 = len(parameters["columns"]) * moved
        return l1 if norm is Norm.L1 else math.sqrt(l1)

    def _counts(self, block: Block) -> np.ndarray:
        parts = [
            np.bincount(block.placements[name], minlength=len(Placement))[[PLACEMENTS[way] for way in ways]]
            for name, ways in self.columns
        ]
        return np.concatenate(parts).astype(np.int64)
