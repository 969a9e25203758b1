"""The terms of a release, which are fixed before its first answer; the guarantees on its receipt follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS, Composition
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.accounting.replacement import ANY_QUESTION, require_replacement_factor
from counterfoil.noise.known import noise_from_json
from counterfoil.noise.noise import Noise


@dataclass(frozen=True)
class Terms:
    """The terms of a release.

    Args:
        rule: how costs are composed.
        budget: the guarantee under `neighbors`.
        neighbors: whom it protects.
        replacement_factor: the largest replacement factor that a query could have.
        plan: all noises where they were fixed in advance; None for a filter.
    """

    rule: Composition
    budget: Budget
    neighbors: Neighbors
    replacement_factor: float = ANY_QUESTION
    plan: tuple[Noise, ...] | None = None

    @property
    def delta(self) -> float:
        """The delta at which charges are composed."""
        return self.rule.delta(self.budget)

    @staticmethod
    def of_receipt(document: Mapping[str, Any]) -> Terms:
        """The terms on a receipt; those that older versions did not record are the widest.

        Raises:
            ValueError: for a plan or a factor that no release can have.
        """
        composition = document["composition"]
        plan = composition.get("plan")
        return Terms(
            COMPOSITIONS[composition["rule"]],
            Budget(**document["budget"]),
            neighbors_of(document),
            require_replacement_factor(composition.get("replacement_factor", ANY_QUESTION)),
            None if plan is None else tuple(noise_from_json(record) for record in plan),
        )


def neighbors_of(document: Mapping[str, Any]) -> Neighbors:
    """The neighboring tables between which the release of a receipt protects."""
    unit = document["privacy_unit"]
    relation = NeighboringRelation(document["neighboring_relation"])
    bounded = None if unit is None else PrivacyUnit(unit["column"], int(unit["max_rows"]))
    return Neighbors(relation, bounded, tuple(document.get("public_groups", ())))


def declares(document: Mapping[str, Any]) -> bool:
    """Whether the receipt records its terms; those of older versions do not."""
    return "replacement_factor" in document["composition"]
