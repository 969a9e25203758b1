"""Sums over records of bounded functions, all of a family at once: with the number of records, their averages."""

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
from counterfoil.features.function_family import FunctionFamily
from counterfoil.features.moments import moments_l1
from counterfoil.noise.noise import Norm


@shipped
@dataclass(frozen=True, eq=False)
class FunctionAverages(CountQuery):
    """The sums over records of the functions of a family, in the family's whole numbers, int64 [K].

    Formal guarantee: what a record adds depends on nothing but the record, and is whole. How far one record moves all
    sums together is proved with the family: `Moments`, `Functions`. It is the joint sensitivity, which is smaller than
    the sum of each function's where no record can have all functions at their ends.

    Args:
        family: the functions, public.

    Source: Bojkovic and Loh, Algorithm 1, step 3, where each function has the sensitivity 2 / n and all have their sum.
    """

    name: ClassVar[str] = "function_averages"
    question: ClassVar[str] = "averages of bounded functions of a record, with noise"

    family: FunctionFamily

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return self.family.l1_sensitivity(relation)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return self.family.l2_sensitivity(relation)

    def exact(self, records: Records) -> np.ndarray:
        return records.fold(self._sums, self.family.codes, self.family.numbers)

    def describe(self) -> dict[str, Any]:
        return self.family.describe()

    def _sums(self, block: Block) -> np.ndarray:
        return self.family.sums(block.rows, block.codes, block.numbers)

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        if parameters["family"] == "moments":
            return _restated_moments(parameters, moved, norm)
        sums = int(parameters["functions"]) + (bool(parameters["counted"]) and moved == 1)
        return float(parameters["unit"]) * (sums if norm is Norm.L1 else math.sqrt(sums))


def _restated_moments(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
    if norm is Norm.L1:
        return moments_l1(parameters, moved)
    columns, ordered = int(parameters["columns"]), int(parameters["ordered"])
    counted, unit = bool(parameters["counted"]), float(parameters["unit"])
    if moved == 1:
        products = 0 if parameters["order"] == 1 else columns * (columns - 1) / 2 + ordered
        return unit * math.sqrt(columns + products + counted)
    return unit * (math.sqrt(2.0 * (columns + ordered)) if parameters["order"] == 1 else columns + 1)
