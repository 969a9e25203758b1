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
from counterfoil.features.feature_map import UNIT as MOMENT_UNIT
from counterfoil.features.function_family import FunctionFamily
from counterfoil.features.functions import UNIT as FUNCTION_UNIT
from counterfoil.features.losses import net_sensitivity
from counterfoil.features.moments import moments_l1
from counterfoil.noise.noise import Norm
from counterfoil.schema.schema import Schema


@shipped
@dataclass(frozen=True, eq=False)
class FunctionAverages(CountQuery):
    """The sums over records of the functions of a family, in the family's whole numbers, int64 [K].

    Formal guarantee: what a record adds depends on nothing but the record, and is whole. How far one record moves all
    sums together is proved with the family: `Moments`, `Functions`, `LossNet`. It is the joint sensitivity, which is
    smaller than the sum of each function's where no record can have all functions at their ends.

    Args:
        family: the functions, public.

    Source: Bojkovic and Loh, Algorithm 1, step 3, where each function has the sensitivity 2 / n and all have their sum.
    """

    name: ClassVar[str] = "function_averages"
    question: ClassVar[str] = "averages of bounded functions of a record, with noise"

    family: FunctionFamily

    def __post_init__(self) -> None:
        if not isinstance(self.family, FunctionFamily):
            raise ValueError(f"`family` must be a family of functions. Found {type(self.family).__name__}.")
        self.family.check()

    def require_fits(self, schema: Schema) -> None:
        if self.family.schema != schema:
            raise ValueError("This family of functions was made for another schema: make it for the one in use.")

    def require_telling(self, public: Records) -> None:
        family = self.family
        given = public.fold(
            lambda block: family.numbers_given(block.rows, block.codes, block.numbers), family.codes, family.numbers
        )
        for name in [name for name, many in zip(family.names, given, strict=True) if not many]:
            raise ValueError(
                f"The function {name!r} is no number (NaN) on any of many rows that were made up from the schema: its "
                "average would be the lower end of its range whatever the records are. Return a number where it has "
                "one."
            )

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
    def unit(parameters: Mapping[str, Any]) -> float:
        return float(parameters["unit"])

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        if not isinstance(parameters["counted"], bool):
            raise ValueError("whether records are counted must be true or false.")
        if parameters["family"] == "moments":
            return _restated_moments(parameters, moved, norm)
        if parameters["family"] == "losses":
            return net_sensitivity(parameters, moved, euclidean=norm is not Norm.L1)
        if parameters["family"] != "functions" or parameters["unit"] != FUNCTION_UNIT or parameters["functions"] < 1:
            raise ValueError("the parameters are not those of a family of functions.")
        sums = int(parameters["functions"]) + (bool(parameters["counted"]) and moved == 1)
        return float(parameters["unit"]) * (sums if norm is Norm.L1 else math.sqrt(sums))


def _restated_moments(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
    columns, ordered, order = (int(parameters[name]) for name in ("columns", "ordered", "order"))
    inside = 0 <= parameters["never_missing"] <= ordered <= columns
    if order not in (1, 2) or parameters["unit"] != MOMENT_UNIT**order or not inside:
        raise ValueError("the parameters are not those of moments.")
    if norm is Norm.L1:
        return moments_l1(parameters, moved)
    counted, unit = bool(parameters["counted"]), float(parameters["unit"])
    if moved == 1:
        products = 0 if parameters["order"] == 1 else columns * (columns - 1) / 2 + ordered
        return unit * math.sqrt(columns + products + counted)
    return unit * (math.sqrt(2.0 * (columns + ordered)) if parameters["order"] == 1 else columns + 1)
