"""The texts of columns whose categories nobody listed, with their counts: only frequent ones are ever released."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.tally import Tallied, Wanted
from counterfoil.curator.queries.column_places import require_raw
from counterfoil.curator.queries.query import Query, Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.noise.noise import Norm
from counterfoil.schema.schema import Schema

LONGEST = 200
"""Letters; longer texts are no categories, and are not counted."""


@shipped
@dataclass(frozen=True)
class TextCounts(Query):
    """How many cells of each column hold each text that occurs there.

    Which texts occur is as sensitive as how often: an answer goes out through noise with a threshold alone
    (`Account.ask_texts`).

    Formal guarantee: take the infinite vector with a count for each pair of a column and a text, nearly all of them 0.
    A cell has at most one canonical text, which depends on nothing but the cell (`schema.spelling`), and one that is
    empty or longer than `LONGEST` counts nowhere. So a record adds 1 to at most one count of each of the d columns:
    adding or removing it moves at most d counts by 1, l2 sensitivity sqrt(d). Replacing it moves at most two counts of
    each column by 1 each: l2 sensitivity sqrt(2 d). Both are attained. A unit of k rows moves the vector by at most k
    times as much, as each row is a step of one record, whether its texts are equal or all new.

    Args:
        columns: those that are asked about; none twice.
    """

    name: ClassVar[str] = "text_counts"
    question: ClassVar[str] = "which texts are frequent in each column, and how frequent, with noise and a threshold"

    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise ValueError("`columns` must hold at least one column, and none twice.")

    def require_fits(self, schema: Schema) -> None:
        require_raw(schema, self.columns)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        """The most that one record changes the counts of all texts in l2 norm."""
        return math.sqrt(len(self.columns) * (1.0 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2.0))

    def exact(self, records: Records) -> np.ndarray:
        """int64 [texts that occur]: the counts alone, column after column, in the order of the texts."""
        return np.concatenate([np.empty(0, np.int64), *(part.counts for part in self.tallied(records))])

    def tallied(self, records: Records) -> Iterator[Tallied]:
        """The texts that occur with their exact counts, part by part, so that they never have to fit in memory."""
        yield from records.tally(self.columns, Wanted(LONGEST))

    def describe(self) -> dict[str, Any]:
        return {"columns": list(self.columns), "longest": LONGEST}

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        l1 = len(parameters["columns"]) * moved
        return l1 if norm is Norm.L1 else math.sqrt(l1)
