"""Which decimal sign the numbers of a file have of which nothing is known: one vote of each record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.engine import Block
from counterfoil.curator.queries.column_places import open_among, require_raw
from counterfoil.curator.queries.query import CountQuery, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.noise.noise import Norm
from counterfoil.schema.open_numbers import has_comma, has_point, has_two_readings
from counterfoil.schema.schema import Schema


@shipped
@dataclass(frozen=True)
class DecimalSigns(CountQuery):
    """How many records have more numbers with a decimal comma than with a decimal point, and how many fewer: [3].

    The third count is of records with as many of both, or none, and a number such as 1.234, of which each sign makes
    another one. A file has one notation, so that one vote of each record tells it with little noise: it need not grow
    with the columns.

    Formal guarantee: what a cell is follows from the cell alone (`schema.open_numbers`), and which one of the three
    counts a record adds 1 to, or that it adds to none, from its own cells. Adding or removing it moves one count by 1
    at most: l1 and l2 sensitivity 1. Replacing it moves 1 from one count to another at most: l1 sensitivity 2, l2
    sensitivity sqrt(2). Both are attained by records with a number of either kind.

    Args:
        columns: whose cells are looked at; none twice.
    """

    name: ClassVar[str] = "decimal_signs"
    question: ClassVar[str] = (
        "how many records have more numbers with a decimal comma than with a point, and how many fewer, with noise"
    )

    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise ValueError("`columns` must hold at least one column, and none twice.")

    def require_fits(self, schema: Schema) -> None:
        require_raw(schema, self.columns)
        opened = open_among(schema, self.columns)
        if known := [name for name in self.columns if name not in opened]:
            raise ValueError(f"The decimal sign of each of `columns` must be open. Found that of {known[0]!r} known.")

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return 1.0 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2.0

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return math.sqrt(self.l1_sensitivity(relation))

    def exact(self, records: Records) -> np.ndarray:
        return records.fold(self._counts, self.columns)

    def describe(self) -> dict[str, Any]:
        return {"columns": list(self.columns)}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        return moved if norm is Norm.L1 else math.sqrt(moved)

    def _counts(self, block: Block) -> np.ndarray:
        commas, two_readings = np.zeros(block.rows, dtype=np.int64), np.zeros(block.rows, dtype=bool)
        for name in self.columns:
            commas += has_comma(block.codes[name])
            commas -= has_point(block.codes[name])
            two_readings |= has_two_readings(block.codes[name])
        counted = (commas > 0, commas < 0, (commas == 0) & two_readings)
        return np.array([np.count_nonzero(one) for one in counted], dtype=np.int64)
