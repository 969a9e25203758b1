"""How many records the privacy units have: patients with at least one visit, with at least two, and so on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.noise.noise import Norm

MOST_ROWS = 1000
"""Of one privacy unit, so that the answer stays short."""


@shipped
@dataclass(frozen=True)
class UnitSizes(CountQuery):
    """T_j, how many privacy units have at least j records, for j from 1 to `max_rows`.

    Formal guarantee: of each unit at most `max_rows` records are kept, and sensitivities are to one record of what is
    kept. A record that is added to a unit with j - 1 records changes whether this unit has at least j, and nothing
    else: T_j grows by 1. Which of the unit's records it is makes no difference, nor do other units. So adding or
    removing a record moves one number by 1: l1 and l2 sensitivity 1. Replacing a record, possibly by one of another
    unit, lowers one number by 1 and raises one by 1, which cancel where they are the same: l1 sensitivity 2, l2
    sensitivity sqrt(2).

    A whole unit with j records is added in j such steps, which move T_1, ..., T_j by 1 each: its l1 sensitivity is
    `max_rows`, as an account charges it, and attained. In the l2 norm an account charges `max_rows` too, although
    sqrt(`max_rows`) would do.

    The number of units with exactly j records is T_j - T_(j + 1). Without a privacy unit each record is a unit.

    Args:
        max_rows: how many records of a unit are kept at most; 1 to `MOST_ROWS`.
    """

    name: ClassVar[str] = "unit_sizes"
    question: ClassVar[str] = "how many privacy units have at least one row, at least two, and so on, with noise"

    max_rows: int

    def __post_init__(self) -> None:
        whole = isinstance(self.max_rows, int) and not isinstance(self.max_rows, bool)
        if not whole or not 1 <= self.max_rows <= MOST_ROWS:
            raise ValueError(
                f"`max_rows` must be a whole number from 1 to {MOST_ROWS:,} for a histogram of rows per unit. Found "
                f"{self.max_rows!r}: keep fewer rows of each unit, or buy none."
            )

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return 1.0 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2.0

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return math.sqrt(self.l1_sensitivity(relation))

    def exact(self, records: Records) -> np.ndarray:
        return records.unit_sizes(self.max_rows)

    def describe(self) -> dict[str, Any]:
        return {"max_rows": self.max_rows}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        if not parameters["max_rows"] >= 1:
            raise ValueError("A unit has at least one row.")
        return moved if norm is Norm.L1 else math.sqrt(moved)
