"""Releases of a tiny table, asked through the real accounts and a ledger in memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.curator.account import Account
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.selection import MarginalDistances, WorstApproximatedMarginal
from counterfoil.domain.domain import Domain
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.randomness import SeededRandomness, SystemRandomness
from counterfoil.noise.selection import ExponentialSelection
from counterfoil.noise.thresholded_laplace import ThresholdedLaplaceNoise
from counterfoil.receipt.receipt import Receipt
from sensitive_tables import schema_of

DOMAIN = Domain(("a", "b"), (2, 3))
CLIQUES = (("a",), ("b",), ("a", "b"))


class Ones:
    """A table whose every marginal is 1 in each cell."""

    def marginals(self, cliques: Sequence[tuple[str, ...]], coarsening: None = None) -> list[np.ndarray]:
        return [np.ones(DOMAIN.shape(clique), dtype=np.int64) for clique in cliques]


def make_receipt(
    rule: str = "zcdp",
    *,
    relation: str = "add_or_remove_one",
    unit: PrivacyUnit | None = None,
    adaptive: bool = True,
    seed: int | None = None,
) -> Receipt:
    """A receipt of a release with every query and noise that `rule` can pay for."""
    budget = Budget(1.0, 0.0 if rule == "pure" else 1e-6)
    randomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    neighbors = Neighbors(NeighboringRelation(relation), unit)
    ledger = Ledger.in_memory(SourceIdentity("people.csv", "/secret/place/people.csv"), budget)
    release = ledger.open_release(budget=budget, relation=relation, composition=rule, description={})
    kind = FilterAccount if adaptive else Account
    parts = {"budget": budget, "rule": COMPOSITIONS[rule], "neighbors": neighbors, "randomness": randomness}
    plan = {} if adaptive else {"planned": [noise for _, noise in questions(rule)]}
    account = kind(Ones(), release, trial=lambda query: 0, **parts, **plan)
    ask_everything(account, rule)
    curator = SimpleNamespace(
        account=account,
        budget=budget,
        has_ledger=True,
        opened_by_older=False,
        resumed=False,
        row_count_is_public=False,
        charges=lambda: account.charges,
        neighbors=neighbors,
        relation=neighbors.relation,
        randomness=randomness,
        schema=schema_of(DOMAIN),
        source_name="people.csv",
    )
    return Receipt.from_curator(curator, method="aim", parameters={"workload": 2}, rows=7, warnings=["Few rows."])


def questions(rule: str) -> list[tuple[Any, Any]]:
    """Every query with a noise that `rule` can pay for."""
    counts = MarginalCounts(DOMAIN, CLIQUES)
    estimates = tuple(np.zeros(DOMAIN.shape(clique), dtype=np.int64) for clique in CLIQUES)
    worst = WorstApproximatedMarginal(CLIQUES, estimates, np.array([1.0, 2.0, 3.0]), np.zeros(3))
    errors = MarginalDistances(CLIQUES, estimates)
    noise = LaplaceNoise(0.3) if rule == "pure" else GaussianNoise(20.0)
    positive = [(counts, ThresholdedLaplaceNoise(0.05, 1e-8))] if rule == "privacy_loss_distribution" else []
    last = LaplaceNoise(0.1) if rule == "pure" else GaussianNoise(20.0 * math.sqrt(2))
    return [(counts, noise), (worst, ExponentialSelection(0.2)), (errors, noise), *positive, (counts, last)]


def ask_everything(account: Account, rule: str) -> None:
    for query, noise in questions(rule):
        answer = account.choose if isinstance(noise, ExponentialSelection) else account.ask
        answer(query, noise)


@pytest.fixture(scope="session")
def receipt_of() -> Callable[..., Receipt]:
    return make_receipt
