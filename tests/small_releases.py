"""Whole releases of tiny tables, and what their receipts must show."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.charge import Charge
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Domain
from counterfoil.domain.workload import Workload
from counterfoil.synthesis.synthesis import Synthesis
from sensitive_tables import UNIT, Row, frame_of, schema_of

RELATIONS = ("add_or_remove_one", "replace_one")


def opened(domain: Domain, rows: Sequence[Row], **keywords: Any) -> Curator:
    """A curator of the table with these codes, with a seed and a budget of (1, 1e-6) where nothing else is said."""
    keywords = {"budget": Budget(1.0, 1e-6), "seed": 1, **keywords}
    return Curator(frame_of(domain, rows, keywords.pop("units", None)), schema_of(domain), **keywords)


def released(
    synthesizer: Any, domain: Domain, rows: Sequence[Row], *, draw: int | None = None, **keywords
) -> Synthesis:
    """What `synthesizer` makes of the table."""
    with opened(domain, rows, **keywords) as curator:
        return synthesizer.synthesize(curator, rows=draw)


def counts_of(domain: Domain, rows: Sequence[Row], clique: Sequence[str]) -> np.ndarray:
    """The exact marginal."""
    table = np.zeros(domain.shape(clique))
    np.add.at(table, tuple(np.array(rows)[:, axis] for axis in domain.axes(clique)), 1)
    return table


@dataclass(frozen=True)
class Request:
    """A table, a workload, and how it is to be released."""

    domain: Domain
    rows: list[Row]
    workload: Workload | int
    keywords: dict[str, Any]


@st.composite
def requests(draw: Callable, smallest_delta: float = 1e-9) -> Request:
    """Up to four columns of up to four values, up to twelve rows, any workload, relation, unit and budget."""
    n_columns = draw(st.integers(1, 4))
    names = tuple("abcd"[:n_columns])
    domain = Domain(names, tuple(draw(st.integers(1, 4)) for _ in names))
    row = st.tuples(*(st.integers(0, size - 1) for size in domain.sizes))
    rows = draw(st.lists(row, min_size=1, max_size=12))
    cliques = st.lists(st.sampled_from(names), min_size=1, unique=True).map(domain.canonical)
    weighted = st.dictionaries(cliques, st.floats(0.01, 100), min_size=1, max_size=4).map(Workload)
    keywords: dict[str, Any] = {
        "relation": draw(st.sampled_from(RELATIONS)),
        "budget": Budget(draw(st.sampled_from([0.01, 0.3, 1.0, 20.0])), draw(st.sampled_from([smallest_delta, 1e-3]))),
        "seed": draw(st.integers(0, 2**32)),
    }
    if draw(st.booleans()):
        keywords["privacy_unit"] = PrivacyUnit(UNIT, draw(st.integers(1, 3)))
        keywords["units"] = draw(st.lists(st.sampled_from("xyz"), min_size=len(rows), max_size=len(rows)))
    return Request(domain, rows, draw(st.one_of(st.integers(1, 3), weighted)), keywords)


def charges_of(synthesis: Synthesis, query: str | None = None) -> list[dict[str, Any]]:
    """The receipt's charges, of one kind of question or of all."""
    charges = synthesis.receipt.document["charges"]
    return [charge for charge in charges if query is None or charge["query"] == query]


def mu_squared_of(charge: Charge | dict[str, Any]) -> float:
    """What a charge takes of a Gaussian filter, by formulas of its own."""
    event = charge.event.to_json() if isinstance(charge, Charge) else charge["event"]
    if event["kind"] == "gaussian":
        return event["noise_multiplier"] ** -2
    assert event["kind"] == "bounded_range"
    return float(2 * norm.ppf(expit(event["epsilon"] / 2))) ** 2


def rho_of(charge: dict[str, Any]) -> float:
    """What a charge takes of a concentrated filter, by formulas of its own."""
    event = charge.event.to_json() if isinstance(charge, Charge) else charge["event"]
    return 0.5 * event["noise_multiplier"] ** -2 if event["kind"] == "gaussian" else event["epsilon"] ** 2 / 8


def delta_of(synthesis: Synthesis, epsilon: float) -> float:
    """The delta at `epsilon` of everything that was charged, step by step, by formulas of its own."""
    rule, charges = synthesis.receipt.document["composition"]["rule"], charges_of(synthesis)
    if rule == "gaussian":
        mu = math.sqrt(math.fsum(map(mu_squared_of, charges)))
        return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu)))
    assert rule == "zcdp"
    rho = math.fsum(map(rho_of, charges))
    # Canonne, Kamath and Steinke 2020, Proposition 12, on a grid: every order gives a valid delta.
    orders = 1 + np.geomspace(1e-3, 1e5, 200_000)
    logs = (orders - 1) * (orders * rho - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
    return float(np.exp(logs.min()))


def assert_within_budget(synthesis: Synthesis, budget: Budget) -> None:
    """The charges, composed anew, cost no more than the budget, and what the receipt says."""
    document = synthesis.receipt.document
    spent = document["spent"]
    assert spent["epsilon"] <= budget.epsilon
    assert spent["delta"] <= budget.delta
    assert synthesis.receipt.verify().holds
    if document["composition"]["rule"] == "pure":
        assert math.fsum(charge["event"]["epsilon"] for charge in document["charges"]) <= budget.epsilon * (1 + 1e-12)
        return
    # The slack that the receipt holds back (1e-9 and a millionth) and what the grid misses.
    assert delta_of(synthesis, budget.epsilon) <= budget.delta
    assert delta_of(synthesis, spent["epsilon"]) <= budget.delta
    assert delta_of(synthesis, spent["epsilon"] * (1 - 1e-3)) > budget.delta * (1 - 1e-3), "not above what was spent"
