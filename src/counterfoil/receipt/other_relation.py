"""What a release guarantees under the neighboring relation that it was not made for.

The derivation is in `docs/privacy_proofs.md`, "Under the other relation".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from counterfoil.accounting.event import event_from_json
from counterfoil.accounting.filter import Filter
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
from counterfoil.accounting.replacement import ROUNDING
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.receipt.terms import Terms

_ROWS_ARE_PUBLIC = "Under replace_one the exact number of rows is public and was used as such: one row more would show."


def under_other_relation(charges: Sequence[Mapping[str, Any]], terms: Terms) -> dict[str, Any]:
    """The section `other_relation` of a receipt.

    `epsilon` and `delta` are a guarantee: they follow from `terms` alone, so that every run of the method has them.
    `charged_epsilon` is no guarantee: it composes this run's charges under the other relation, at the delta of the
    budget, and is left out where nothing finite does.
    """
    other = terms.neighbors.relation.other.value
    if _rows_are_public(terms.neighbors):
        return {"relation": other, "holds": False, "reason": _ROWS_ARE_PUBLIC}
    charged = _charged(charges, terms)
    section = {"charged_epsilon": charged} if math.isfinite(charged) else {}
    epsilon, delta = guarantee(terms)
    if delta >= 1:
        return {"relation": other, "holds": False, "reason": "Its delta would not be below 1.", **section}
    return {"relation": other, "holds": True, "epsilon": epsilon, "delta": delta, **section}


def guarantee(terms: Terms) -> tuple[float, float]:
    """The (epsilon, delta) under the other relation that follows from `terms` alone.

    Under `replace_one` noise is scaled to what adding or removing a unit does, too: the factor is then 1.
    """
    made_for = terms.neighbors.relation
    factor = 1.0 if made_for is NeighboringRelation.REPLACE_ONE else terms.replacement_factor * ROUNDING
    if terms.plan is not None:
        epsilon = terms.rule.epsilon([noise.event_within(factor) for noise in terms.plan], terms.delta)
    elif isinstance(terms.rule, Filter):
        epsilon = terms.rule.epsilon_within(terms.budget, factor)
    else:
        epsilon = math.inf
    if math.isfinite(epsilon):
        return epsilon, terms.delta
    # One unit is removed and another is added: each step is within the budget.
    growth = math.exp(min(terms.budget.epsilon, 700.0))
    return 2 * terms.budget.epsilon, (1 + growth) * terms.budget.delta * ROUNDING


def as_older_versions_did(charges: Sequence[Mapping[str, Any]], terms: Terms, *, adaptive: bool) -> dict[str, Any]:
    """The section of receipts that declare no replacement factor: its epsilon holds for the queries of one run."""
    other = terms.neighbors.relation.other.value
    if _rows_are_public(terms.neighbors):
        return {"relation": other, "holds": False, "reason": _ROWS_ARE_PUBLIC}
    epsilon = charged = _charged(charges, terms)
    if adaptive and isinstance(terms.rule, Filter):
        factor = max((_factor(charge) for charge in charges), default=1.0)
        least = 1.0 if terms.rule.name == "gaussian" else 0.0
        epsilon = terms.rule.epsilon_within(terms.budget, max(factor, least))
    return {"relation": other, "holds": True, "epsilon": epsilon, "delta": terms.delta, "charged_epsilon": charged}


def _rows_are_public(neighbors: Neighbors) -> bool:
    return neighbors.relation is NeighboringRelation.REPLACE_ONE and neighbors.unit is None


def _charged(charges: Sequence[Mapping[str, Any]], terms: Terms) -> float:
    if isinstance(terms.rule, RestOfBudget):
        return math.inf  # what the answers before cost there is not among the charges
    return terms.rule.epsilon([event_from_json(c["event_under_other_relation"]) for c in charges], terms.delta)


def _factor(charge: Mapping[str, Any]) -> float:
    """How much larger the query's sensitivity is under the other relation."""
    this, other = charge["event"], charge["event_under_other_relation"]
    if this["kind"] == "gaussian":
        return float(this["noise_multiplier"] / other["noise_multiplier"])
    return float(other["epsilon"] / this["epsilon"])
