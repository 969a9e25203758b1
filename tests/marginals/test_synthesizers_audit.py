"""Black-box audits of whole adaptive methods: everything that is answered in a run, on worst-case neighbors.

A synthesis is post-processing of the answers, so that these say most about what leaks. Neighbors differ in one
privacy unit of many rows, beside which the part of discrete noise that is not charged is small. The evidence of a run
is the log-likelihood ratio of all its answers, choices included, with the noise that is claimed: no event tells the
neighbors apart better. The fit between questions is replaced by a quick one, since privacy can't depend on it.

False alarms: each audit of a sound method fails with probability at most 1e-6; all have a seed.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax

from audit_tools import LessNoise, epsilon_lower_bound
from counterfoil.curator.account import FilterAccount, PrivacyUnit
from counterfoil.curator.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.curator.ledger import Ledger, SourceIdentity
from counterfoil.curator.privacy_filter import ConcentratedFilter, GaussianFilter
from counterfoil.curator.randomness import Randomness, SeededRandomness
from counterfoil.marginals import fitting, mst
from counterfoil.marginals.aim import AIM
from counterfoil.marginals.domain import Domain
from counterfoil.marginals.graphical_model import GraphicalModel
from counterfoil.marginals.mst import MST
from counterfoil.marginals.release import quiet
from sensitive_tables import UNIT, frame_of, records_of, schema_of

ROWS = 60
BUDGET = Budget(1.0, 0.3)  # with so large a delta, fewer runs tell one epsilon from another
RUNS = 450
METHODS = {
    "batched": (AIM(rounds=1, batch=2), Domain(("a", "b"), (2, 2)), 1 / 2),
    # The conversion from zCDP leaves so much room that half of its noise can hardly be told from what it claims.
    "published": (AIM(variant="published"), Domain(("a",), (2,)), 1 / 3),
    "mst": (MST(), Domain(("a", "b"), (2, 2)), 1 / 2),
}
"""The method, its columns, and the part of the noise that the broken twin has."""


@dataclass
class Tables:
    """Two neighbors: a thousand units of one row, and with or without one more of many rows, all with value 1."""

    domain: Domain

    def __post_init__(self) -> None:
        width = len(self.domain.attributes)
        rows, units = [(0,) * width] * 500 + [(1,) * width] * 500, [f"stays {i}" for i in range(1000)]
        self.sides = [(rows, units), (rows + [(1,) * width] * ROWS, units + ["changes"] * ROWS)]
        self.unit = PrivacyUnit(UNIT, ROWS)
        self.exact = [records_of(self.domain, *side[:1], units=side[1], privacy_unit=self.unit) for side in self.sides]

        self.curators = [
            Curator(frame_of(self.domain, *side), schema_of(self.domain), budget=BUDGET, privacy_unit=self.unit)
            for side in self.sides
        ]

    def curator(self, side: int, randomness: Randomness) -> Curator:
        """A curator of its own for each release; the table is not read again for each."""
        curator = copy.copy(self.curators[side])
        curator._ledger = Ledger.in_memory(SourceIdentity("memory", "memory"), BUDGET)
        curator.randomness = randomness
        return curator


@pytest.fixture
def evidence(monkeypatch) -> Any:
    """Records what each answer says of the two tables; fits quickly."""
    ask, choose = FilterAccount.ask, FilterAccount.choose
    heard: dict[str, Any] = {"ratio": 0.0, "tables": None}

    def heard_ask(self, query, noise):
        answer = ask(self, query, noise)
        one, other = (query.exact(records) for records in heard["tables"].exact)
        scale = noise.scale(self.sensitivity(query.l2_sensitivity))
        heard["ratio"] += float(((answer - one) ** 2 - (answer - other) ** 2).sum()) / (2 * scale**2)
        return answer

    def heard_choose(self, query, noise):
        index = choose(self, query, noise)
        scale = noise.scale(self.sensitivity(query.score_sensitivity))
        one, other = (log_softmax(query.exact(records) / scale) for records in heard["tables"].exact)
        heard["ratio"] += float(other[index] - one[index])
        return index

    @dataclass
    class Fit:
        model: GraphicalModel

    def quick_fit(domain, measurements, *, total, **_):
        tables = {m.clique: np.log(np.maximum(m.counts, 1.0)) for m in measurements if len(m.clique) == 1}
        return Fit(GraphicalModel(domain, tables, total))

    monkeypatch.setattr(FilterAccount, "ask", heard_ask)
    monkeypatch.setattr(FilterAccount, "choose", heard_choose)
    monkeypatch.setattr(fitting, "estimate", quick_fit)
    monkeypatch.setattr(mst, "release", lambda *_, **__: None)
    return heard


def run(method: Any, curator: Curator) -> None:
    if isinstance(method, AIM):
        method._run(curator, quiet).run()
    else:
        method.synthesize(curator)


def audit(name: str, evidence: dict[str, Any], *, broken: bool) -> float:
    """A lower bound on the epsilon of a method at the budget's delta, with probability 1 - 1e-6."""
    method, domain, factor = METHODS[name]
    tables = evidence["tables"] = Tables(domain)
    randomness: Randomness = SeededRandomness(17)
    if broken:
        randomness = LessNoise(randomness, factor)
    ratios = np.zeros((2, RUNS))
    for side in (0, 1):
        for index in range(RUNS):
            evidence["ratio"] = 0.0
            run(method, tables.curator(side, randomness))
            ratios[side, index] = evidence["ratio"]
    return epsilon_lower_bound(ratios[0], ratios[1], BUDGET.delta)


@pytest.mark.parametrize("name", METHODS)
def test_all_answers_of_a_run_keep_the_claim_and_too_little_noise_does_not(name, evidence):
    assert audit(name, evidence, broken=False) <= BUDGET.epsilon
    assert audit(name, evidence, broken=True) > BUDGET.epsilon


@pytest.mark.parametrize("name", METHODS)
def test_the_answers_use_what_was_paid_for(name, evidence):
    """The mean of the log-likelihood ratio is mu**2 / 2 on one side and minus that on the other, whatever was asked:
    if it were far below what the budget admits, the audit above would say little."""
    method, domain, _ = METHODS[name]
    tables = evidence["tables"] = Tables(domain)
    randomness, means = SeededRandomness(18), []
    for side in (0, 1):
        ratios = []
        for _ in range(60):
            evidence["ratio"] = 0.0
            run(method, tables.curator(side, randomness))
            ratios.append(evidence["ratio"])
        means.append(np.mean(ratios))
    account = {"published": ConcentratedFilter(), "batched": GaussianFilter(), "mst": GaussianFilter()}[name]
    mu_squared = account.capacity(BUDGET) * (2 if name == "published" else 1)
    # 60 runs on each side: the difference has deviation mu sqrt(2 / 60), a fifth of mu.
    assert 0.35 * mu_squared < means[1] - means[0] < 1.65 * mu_squared
