"""What a release costs together with its schema, where that was bought of the same records.

Formal guarantee: let the answers that made the schema be (e1, d1)-differentially private, and the release, whatever
schema it is given, (e2, d2)-differentially private, between the same neighbors. Adaptive composition of the two, of
which the second sees the outcome of the first, is (e1 + e2, d1 + d2)-differentially private (Dwork and Roth 2014,
Theorem 3.16). Replacing a unit is removing one and adding another, so that what is (e, d)-private under
`add_or_remove_one` gives P <= exp(e) (exp(e) Q + d) + d, and is (2 e, (1 + exp(e)) d)-private under `replace_one`, of
the same unit; replacing within public groups is a special case of replacing. Neighbors differ in all rows of a unit,
however many are used of it: `max_rows` scales the noise and is no part of whom a guarantee protects
(`ledger.protection`). No bound follows the other way round, nor from one unit to another. All figures are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
from counterfoil.accounting.replacement import ROUNDING
from counterfoil.inert import inert
from counterfoil.receipt.terms import neighbors_of
from counterfoil.schema.bought import Bought

_LARGEST_EXPONENT = 700.0


def bought_of(document: Mapping[str, Any]) -> Bought | None:
    """What the schema of a receipt's release cost; None where it was not bought.

    Raises:
        SchemaError: for a section that no receipt has.
    """
    section = document.get("schema_bought")
    return None if section is None else bought_in(section)


def bought_in(section: Mapping[str, Any]) -> Bought:
    """What a section `schema_bought` says of the schema alone.

    Raises:
        SchemaError: for a section that no receipt has.
    """
    return Bought.of_facts({key: value for key, value in section.items() if key != "together"})


def converted(bought: Bought, neighbors: Neighbors) -> Budget | None:
    """The schema's guarantee between `neighbors`; None where none follows."""
    alike, column = bought.neighbors.relation is neighbors.relation, None if bought.unit is None else bought.unit.column
    if column != (None if neighbors.unit is None else neighbors.unit.column):
        return None
    if alike:
        return Budget.unrestricted(float(bought.epsilon), float(bought.delta))
    if bought.neighbors.relation is not NeighboringRelation.ADD_OR_REMOVE_ONE:
        return None
    if not bought.delta:
        return _budget(2.0 * bought.epsilon, 0.0)
    if bought.epsilon > _LARGEST_EXPONENT:
        return None
    return _budget(2.0 * bought.epsilon, (1 + math.exp(bought.epsilon)) * bought.delta * ROUNDING)


def added(one: Budget, other: Budget) -> Budget | None:
    """The sum of two guarantees between the same neighbors; None where its delta would not be below 1."""
    return _budget(_sum(one.epsilon, other.epsilon), _sum(one.delta, other.delta))


def own_guarantee(document: Mapping[str, Any]) -> Budget:
    """The guarantee of a receipt's release alone."""
    budget = Budget.unrestricted(**document["budget"])
    return Budget.unrestricted(budget.epsilon, COMPOSITIONS[document["composition"]["rule"]].delta(budget))


def total_of(document: Mapping[str, Any]) -> Budget | None:
    """The guarantee of a receipt's release and its schema, between the release's neighbors; None where there is none.

    Where the schema was not bought, it is the release's own.

    Args:
        document: the receipt.
    """
    bought, own = bought_of(document), own_guarantee(document)
    if bought is None:
        return own
    schema = converted(bought, neighbors_of(document))
    return None if schema is None else added(schema, own)


def why_no_total(document: Mapping[str, Any]) -> str:
    """Why `total_of` has no figure, as words after a colon; empty where it has one."""
    bought = bought_of(document)
    if bought is None or total_of(document) is not None:
        return ""
    neighbors = neighbors_of(document)
    if converted(replace(bought, epsilon=1.0, delta=0.0, of=None), neighbors) is None:
        return (
            f"the cost of the schema is stated under {inert(bought.neighbors.describe())}, that of the release under "
            f"{inert(neighbors.describe())}, and no bound under the latter follows from one under the former"
        )
    return "their deltas would add up to 1 or more"


def _budget(epsilon: float, delta: float) -> Budget | None:
    return Budget.unrestricted(epsilon, delta) if math.isfinite(epsilon) and delta < 1 else None


def _sum(one: float, other: float) -> float:
    total = one + other
    return total if Fraction(total) >= Fraction(one) + Fraction(other) else math.nextafter(total, math.inf)
