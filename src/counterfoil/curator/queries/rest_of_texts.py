"""The texts that no earlier answer released, and in how many parts of records each is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.engines.tally import Tallied, Wanted
from counterfoil.curator.queries.query import Records
from counterfoil.curator.queries.registry import shipped
from counterfoil.curator.queries.text_counts import LONGEST, TextCounts
from counterfoil.noise.noise import Norm
from counterfoil.noise.open_domain_gaussian import PARTS


@shipped
@dataclass(frozen=True)
class RestOfTexts(TextCounts):
    """How many parts of records have each text of each column, of those texts that are not known yet.

    A record whose cells hold known texts in most columns counts for more in the others: a text that few records have
    stands out of the noise as soon as these records have little else that is new. Asked in rounds, each with the texts
    of those before it as known, this finds texts that are about sqrt(d) times rarer than one question does (DP-SIPS:
    Swanberg, Desfontaines and Haney 2023, with Gaussian noise on all columns together).

    Formal guarantee: take the infinite vector with a number for each pair of a column and a text, nearly all of them 0.
    A record with a text that is not known in k of the d columns adds w = floor(`PARTS` sqrt(d / k)) to the number of
    each, and nothing where k is 0. What is known is public, and k depends on nothing but the record and what is known;
    its texts are canonical, not empty and at most `LONGEST` long, as for `TextCounts`. Of the columns in `numberless`
    texts that are numbers count for no record, as if they were known, which depends on the text alone. As k w**2 is at
    most `PARTS`**2 d, adding or removing the record moves the vector by at most `PARTS` sqrt(d) in l2 norm, which is
    attained at k = d. Replacing it moves the vector by a - b, where neither has a negative entry, so that
    the square of its norm is at most that of a plus that of b: sqrt(2 d) `PARTS`, attained by records without a text in
    common. A unit of several rows moves it by at most as many times as much, as each row is a step of one record. As k
    is at most d, w is at least `PARTS`: a text that only one of two neighbors has is `PARTS` or more, as the threshold
    of `OpenDomainGaussianNoise` takes for granted.

    Args:
        columns: those that are asked about; none twice.
        known: pairs of one of these columns and a text, which earlier answers released.
        numberless: those of these columns of which numbers are left out, so that words among them are counted.
    """

    name: ClassVar[str] = "rest_of_texts"
    question: ClassVar[str] = (
        "which texts that were not released yet are frequent in each column, among records that hold few others of "
        "them, with noise and a threshold"
    )

    known: tuple[tuple[str, str], ...] = ()
    numberless: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not {column for column, _ in self.known} <= set(self.columns):
            raise ValueError("`known` must hold texts of `columns`.")
        if not set(self.numberless) <= set(self.columns):
            raise ValueError("`numberless` must hold some of `columns`.")

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        """The most that one record changes the parts of all texts in l2 norm."""
        return PARTS * super().l2_sensitivity(relation)

    def tallied(self, records: Records) -> Iterator[Tallied]:
        """The texts that are left with their exact parts, part by part of the list."""
        yield from records.tally(self.columns, Wanted(LONGEST, frozenset(self.known), frozenset(self.numberless)))

    def describe(self) -> dict[str, Any]:
        words = {"numberless": list(self.numberless)} if self.numberless else {}
        return {"columns": list(self.columns), "known": len(self.known), "longest": LONGEST} | words

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        if not set(parameters.get("numberless", ())) <= set(parameters["columns"]):
            raise ValueError("Numbers are left out of columns that the query is about.")
        l1 = len(parameters["columns"]) * moved
        return PARTS * (l1 if norm is Norm.L1 else math.sqrt(l1))
