"""What a receipt says of the cost of a schema that was bought.

The section is `schema_bought` where that cost adds to the release's own budget. It is `schema_share` where the schema
was bought with a share of that very budget, whose guarantee then covers both (`accounting.rest_of_budget`).
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.neighbors import Neighbors
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.curator.queries.column_places import ColumnPlaces
from counterfoil.inert import inert
from counterfoil.receipt.schema_total import added, bought_in, bought_of, converted, total_of, why_no_total
from counterfoil.receipt.terms import neighbors_of
from counterfoil.schema.bought import Bought
from counterfoil.schema.errors import SchemaError


def bought_section(bought: Bought | None, budget: Budget, rule: str, neighbors: Neighbors) -> dict[str, Any]:
    """The section under its name; nothing where the schema was not bought.

    Args:
        bought: what the schema cost.
        budget: of the release.
        rule: how the release's costs are composed.
        neighbors: between which tables the release protects.
    """
    if bought is None:
        return {}
    if isinstance(COMPOSITIONS[rule], RestOfBudget):
        return {"schema_share": bought.facts()}
    sum_ = together(bought, Budget.unrestricted(budget.epsilon, COMPOSITIONS[rule].delta(budget)), neighbors)
    whole = {} if sum_ is None else {"together": {"epsilon": sum_.epsilon, "delta": sum_.delta}}
    return {"schema_bought": bought.facts() | whole}


def together(bought: Bought, guarantee: Budget, neighbors: Neighbors) -> Budget | None:
    """What the schema and a release of the same records cost in all; None where there is no such figure.

    Formal guarantee: that of `schema_total`, with both stated between the same neighbors. What can be said of others is
    not on the receipt, and follows from it (`schema_total.total_of`).

    Args:
        bought: what the schema cost.
        guarantee: of the release.
        neighbors: between which tables it holds.
    """
    if bought.neighbors != replace(neighbors, groups=()):
        return None
    return added(Budget.unrestricted(bought.epsilon, bought.delta), guarantee)


def bought_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """What on a receipt contradicts what its schema says that it cost, and a total that is not the sum."""
    rule, budget = str(document["composition"]["rule"]), Budget.unrestricted(**document["budget"])
    shares = isinstance(COMPOSITIONS[rule], RestOfBudget)
    name, other = ("schema_share", "schema_bought") if shares else ("schema_bought", "schema_share")
    if other in document:
        yield f"The rule {rule} and `{other}` contradict each other."
    if shares and name not in document:
        yield "The rule says that a share of the budget bought the schema. Found no `schema_share`."
    section = document.get(name)
    try:
        stated = None if section is None else bought_in(section)
        answered, known = _of_answers(document)
    except SchemaError as error:
        yield f"What the schema cost is not understood: {error}"
        return
    if known and answered != stated:
        yield f"`{name}` is not what the schema in `answers` says that it cost."
    if section is None or stated is None:
        return
    if dict(section) != bought_section(stated, budget, rule, neighbors_of(document))[name]:
        yield f"`{name}.together` is not what the schema and this release cost in all."
    if not shares:
        return
    if stated.whole != budget or stated.neighbors != neighbors_of(document):
        yield "`schema_share` is not a share of the budget of this release, or protects other neighbors."
    if stated.of is not None and stated.of.rule.name != rule:
        yield "The rule does not count what `schema_share` says that the purchase took."


def _of_answers(document: Mapping[str, Any]) -> tuple[Bought | None, bool]:
    """What the schema on the receipt says that it cost, and whether there is one that can be read."""
    try:
        facts = tomllib.loads(document["answers"]["schema"])
    except (KeyError, TypeError, ValueError):  # `answers` has its own problem
        return None, False
    return (Bought.of_facts(facts["bought"]) if "bought" in facts else None), True


def bought_sentences(document: Mapping[str, Any]) -> Iterator[str]:
    """What a privacy officer has to know of it; nothing where the schema was not bought."""
    bought = bought_of(document)
    if bought is None:
        yield from _share_sentences(document)
        return
    neighbors, whole = neighbors_of(document), total_of(document)
    yield (
        f"The schema was bought too, and its cost is not in this budget: epsilon {bought.epsilon:g} at delta "
        f"{bought.delta:g} ({inert(bought.neighbors.describe())}), by the receipt whose SHA-256 is {bought.receipt}."
    )
    if whole is None:
        yield f"There is no figure for both together: {why_no_total(document)}."
        return
    yield (
        f"Both together, if they are of the same records, cost epsilon {up(whole.epsilon)} at delta {up(whole.delta)}."
    )
    schema = converted(bought, neighbors)
    if schema is not None and bought.neighbors.relation is not neighbors.relation:
        yield (
            f"There the schema counts with epsilon {up(schema.epsilon)} at delta {up(schema.delta)}, as this release "
            f"is under {neighbors.relation.value}: replacing is removing one and adding another."
        )


def share_of(document: Mapping[str, Any]) -> Bought | None:
    """What the schema cost that was bought with a share of the budget of a receipt's release; None for any other.

    Raises:
        SchemaError: for a section that no receipt has.
    """
    section = document.get("schema_share")
    return None if section is None else bought_in(section)


def _share_sentences(document: Mapping[str, Any]) -> Iterator[str]:
    if describes_table(document) and "share" in document["method"]["parameters"]:
        yield "The rest of this budget is kept for one release, whose guarantee covers both."
    if (share := share_of(document)) is not None:
        yield (
            f"A share of this budget bought the schema, by the receipt whose SHA-256 is {share.receipt}: the guarantee "
            f"covers both, and the schema alone cost epsilon {share.epsilon:g} at delta {share.delta:g} of it."
        )


def describes_table(document: Mapping[str, Any]) -> bool:
    """Whether what was released is a schema: its questions were what the cells of the columns are."""
    asked = (charge["query"] for charge in document["charges"])
    return document.get("released") == "measures" and ColumnPlaces.name in asked


def up(figure: float) -> str:
    """Six digits of an epsilon or a delta, rounded up."""
    if figure == 0:
        return "0"
    digits = 6 - math.ceil(math.log10(figure))
    step = 10.0**-digits
    return f"{math.ceil(figure / step - 1e-9) * step:.6g}"
