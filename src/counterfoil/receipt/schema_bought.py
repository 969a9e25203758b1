"""The section `schema_bought` of a receipt: what the schema itself cost, which adds to the release's own budget."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.neighbors import Neighbors
from counterfoil.curator.queries.column_places import ColumnPlaces
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
    sum_ = together(bought, Budget.unrestricted(budget.epsilon, COMPOSITIONS[rule].delta(budget)), neighbors)
    whole = {} if sum_ is None else {"together": {"epsilon": sum_.epsilon, "delta": sum_.delta}}
    return {"schema_bought": bought.facts() | whole}


def together(bought: Bought, guarantee: Budget, neighbors: Neighbors) -> Budget | None:
    """What the schema and a release of the same records cost in all; None where there is no such figure.

    Formal guarantee: the answers that made the schema are (e1, d1)-differentially private, and the release, whatever
    schema it is given, is (e2, d2)-differentially private; adaptive composition of two mechanisms, of which the second
    sees the outcome of the first, is (e1 + e2, d1 + d2)-differentially private (Dwork and Roth 2014, Theorem 3.16).
    Both must hold between the same neighbors; replacing within public groups is a special case of replacing. Sums are
    rounded up.

    Args:
        bought: what the schema cost.
        guarantee: of the release.
        neighbors: between which tables it holds.
    """
    if bought.neighbors != replace(neighbors, groups=()):
        return None
    epsilon, delta = _sum(bought.epsilon, guarantee.epsilon), _sum(bought.delta, guarantee.delta)
    return Budget.unrestricted(epsilon, delta) if delta < 1 else None


def _sum(one: float, other: float) -> float:
    total = one + other
    return total if Fraction(total) >= Fraction(one) + Fraction(other) else math.nextafter(total, math.inf)


def bought_problems(document: Mapping[str, Any]) -> Iterator[str]:
    """What on a receipt contradicts what its schema says that it cost, and a total that is not the sum."""
    section = document.get("schema_bought")
    try:
        stated = None if section is None else _read(section)
        told, known = _of_answers(document)
    except SchemaError as error:
        yield f"What the schema cost is not understood: {error}"
        return
    if known and told != stated:
        yield "`schema_bought` is not what the schema in `answers` says that it cost."
    if section is None or stated is None:
        return
    rule, budget = str(document["composition"]["rule"]), Budget.unrestricted(**document["budget"])
    if dict(section) != bought_section(stated, budget, rule, neighbors_of(document))["schema_bought"]:
        yield "`schema_bought.together` is not what the schema and this release cost in all."


def _read(section: Mapping[str, Any]) -> Bought:
    return Bought.of_facts({key: value for key, value in section.items() if key != "together"})


def _of_answers(document: Mapping[str, Any]) -> tuple[Bought | None, bool]:
    """What the schema on the receipt says that it cost, and whether there is one that can be read."""
    try:
        facts = tomllib.loads(document["answers"]["schema"])
    except (KeyError, TypeError, ValueError):  # `answers` has its own problem
        return None, False
    return (Bought.of_facts(facts["bought"]) if "bought" in facts else None), True


def bought_sentences(document: Mapping[str, Any]) -> Iterator[str]:
    """What a privacy officer has to know of it; nothing where the schema was not bought."""
    section = document.get("schema_bought")
    if section is None:
        return
    bought = _read(section)
    yield (
        f"The schema was bought too, and its cost is not in this budget: epsilon {bought.epsilon:g} at delta "
        f"{bought.delta:g} ({bought.neighbors.describe()}), by the receipt whose SHA-256 is {bought.receipt}."
    )
    if (whole := section.get("together")) is None:
        yield "There is no figure for both together: they do not protect between the same neighboring tables."
    else:
        yield (
            f"Both together, if they are of the same records, cost epsilon {up(whole['epsilon'])} at delta "
            f"{up(whole['delta'])}."
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
