"""What a release guarantees under the neighboring relation that it was not made for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import Composition
from counterfoil.accounting.event import GaussianEvent, PrivacyEvent, PureEvent, event_from_json
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors


def under_other_relation(
    charges: Sequence[Mapping[str, Any]],
    *,
    rule: Composition,
    adaptive: bool,
    budget: Budget,
    neighbors: Neighbors,
) -> dict[str, Any]:
    """The section `other_relation` of a receipt.

    `charged_epsilon` composes the charges' events under the other relation. Where all noise was fixed in advance it
    is also the guarantee. Where noise was chosen after earlier answers it is not: another run could have split the
    same budget otherwise. There `epsilon` is a bound that holds for every run. A query's sensitivity is at most k
    times larger under the other relation, with k known for each kind of query. Then rho is at most k**2 times larger
    and epsilon at most k times. So is mu, if k is at least 1: it falls as 1 over the noise multiplier, and is a concave
    function of a selection's epsilon that vanishes at 0. (Below 1 the last turns round, and 1 is taken.) The
    capacity of the filter grows by k**2, or k for pure epsilon.
    """
    other = neighbors.relation.other
    if other is NeighboringRelation.ADD_OR_REMOVE_ONE and neighbors.unit is None:
        reason = "Under replace_one the exact number of rows is public and was used as such: one row more would show."
        return {"relation": other.value, "holds": False, "reason": reason}
    delta = 0.0 if rule.name == "pure" else budget.delta
    events = [event_from_json(charge["event_under_other_relation"]) for charge in charges]
    charged = rule.epsilon(events, delta)
    guaranteed = _bound(charges, rule=rule, budget=budget, delta=delta) if adaptive else charged
    return {
        "relation": other.value,
        "holds": True,
        "epsilon": guaranteed,
        "delta": delta,
        "charged_epsilon": charged,
    }


def _bound(charges: Sequence[Mapping[str, Any]], *, rule: Any, budget: Budget, delta: float) -> float:
    factor = max(_factor(charge) for charge in charges) if charges else 1.0
    if rule.name == "gaussian":
        factor = max(factor, 1.0)
    power = 1 if rule.name == "pure" else 2
    return float(rule.epsilon([_event_of_cost(rule.name, rule.capacity(budget) * factor**power)], delta))


def _factor(charge: Mapping[str, Any]) -> float:
    """How much larger the query's sensitivity is under the other relation."""
    this, other = charge["event"], charge["event_under_other_relation"]
    if this["kind"] == "gaussian":
        return float(this["noise_multiplier"] / other["noise_multiplier"])
    return float(other["epsilon"] / this["epsilon"])


def _event_of_cost(rule: str, cost: float) -> PrivacyEvent:
    if rule == "pure":
        return PureEvent(cost)
    return GaussianEvent(1 / math.sqrt(cost) if rule == "gaussian" else math.sqrt(0.5 / cost))
