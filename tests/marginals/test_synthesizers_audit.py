"""Audits of the methods that make tables: all outputs of a run, under both relations and at two epsilons.

See `tests/release_audits.py` for what is asked, and how the number of runs follows. Fits between questions are replaced
by quick ones, since privacy can't depend on them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audit_tools import runs_needed
from counterfoil.accounting import filter as privacy_filter
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import ConcentratedFilter, GaussianFilter
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.curator import Curator
from counterfoil.domain.coarsening import identity
from counterfoil.domain.domain import Clique, Domain
from counterfoil.domain.workload import Workload
from counterfoil.graphical_model import junction_tree
from counterfoil.graphical_model import warm_estimator as fitting
from counterfoil.marginals import aim_batched, aim_published, repeated_measurement
from counterfoil.marginals import one_way as columns
from counterfoil.methods import direct, mst, reweighting
from counterfoil.methods.aim import AIM, AIMVariant
from counterfoil.methods.direct import Direct, Estimator
from counterfoil.methods.independent import Independent
from counterfoil.methods.mst import MST
from counterfoil.methods.registry import method_named, method_names, method_type
from counterfoil.methods.reweighting import Reweighting
from counterfoil.synthesis.pace import Pace
from counterfoil.synthesis.progress import quiet
from release_audits import (
    ADD,
    NOT_CHARGED,
    REPLACE,
    Change,
    Tables,
    require_assumed,
    require_caught,
    require_fine,
    twin_delta,
)
from transcripts import Listener

DELTAS = {1.0: 0.2, 2.0: 0.1, 4.0: 0.05}
"""By epsilon. Smaller ones need more runs; what is charged follows from the same formula."""
ROWS = 30
OTHERS = 3000


@functools.cache
def tables_of(columns: int, unit: int, relation: NeighboringRelation, budget: Budget) -> Tables:
    """Half of the rows are 0 in all columns, half 1; those that change are 1 in the second table, and in the first
    absent or 0."""
    low, high = ((value,) * columns for value in (0, 1))
    domain = Domain(tuple("abc"[:columns]), (2,) * columns)
    common = ([low] * OTHERS + [high] * OTHERS) if unit else [low] * 3
    return Tables(Change(domain, common, None if relation is ADD else low, high, unit), relation, budget)


@dataclass(frozen=True)
class Case:
    """A method, and what is known of its answers before they are given.

    Args:
        method: with parameters that make it quick.
        columns: of two values each.
        certain: the part of the budget, in the unit of its filter, for marginal counts; None for pure privacy.
        relations: under which it is audited.
        rows: of the privacy unit that is added or replaced; 0 for single rows, whose number is then public.
        epsilons: at which it is audited; smaller ones need more runs, which take long where there are rounds.
    """

    method: Any
    columns: int
    certain: float | None
    relations: tuple[NeighboringRelation, ...] = (ADD, REPLACE)
    rows: int = ROWS
    epsilons: tuple[float, ...] = (1.0, 4.0)

    def budget(self, epsilon: float) -> Budget:
        return Budget(epsilon, 0.0 if self.certain is None else DELTAS[epsilon])

    def ask(self, curator: Curator) -> None:
        if isinstance(self.method, AIM):
            self.method._run(curator, Pace(curator, quiet)).run()
        else:
            self.method.synthesize(curator, rows=1)

    def tables(self, relation: NeighboringRelation, epsilon: float) -> Tables:
        return tables_of(self.columns, self.rows, relation, self.budget(epsilon))

    def certain_mu_squared(self, epsilon: float) -> float:
        """What marginal counts are worth, at least."""
        assert self.certain is not None
        budget, published = self.budget(epsilon), self.method == AIM(variant="published")
        capacity = 2 * ConcentratedFilter().capacity(budget) if published else GaussianFilter().capacity(budget)
        return NOT_CHARGED * self.certain * capacity

    def runs(self, relation: NeighboringRelation, epsilon: float) -> int:
        """With Laplace noise, the twin's whole loss of 2 epsilon shows whenever no cell's noise points back: with
        probability 1/2 or more in each cell that moves. One such outcome proves all."""
        if self.certain is None:
            cells = self.columns * (1 if relation is ADD else 2)
            return runs_needed(0.0, 0.5**cells)
        return runs_needed(DELTAS[epsilon], twin_delta(epsilon, self.certain_mu_squared(epsilon)))


EVERY = Workload(dict.fromkeys([("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")], 1.0))
CASES = {
    "aim batched": Case(AIM(rounds=2, batch=2), 3, 0.93, epsilons=(2.0, 4.0)),
    "aim with a focus": Case(AIM(rounds=1, batch=1, focus="a"), 3, 0.93, epsilons=(2.0, 4.0)),
    "aim gaussian": Case(AIM(variant="gaussian", rounds=2, batch=2), 2, 0.93, epsilons=(2.0, 4.0)),
    # The conversion from zCDP leaves room, the more of it the smaller epsilon is, so that more runs are needed.
    "aim published": Case(AIM(variant="published"), 2, 0.9, epsilons=(2.0, 4.0)),
    "mst": Case(MST(), 3, 0.93, epsilons=(2.0, 4.0)),
    "independent": Case(Independent(), 2, 1.0),
    "independent, pure": Case(Independent(), 2, None),
    "direct private_pgm": Case(Direct(2), 2, 1.0),
    "direct private_pgm, pure": Case(Direct(1), 2, None),
    "direct minimax": Case(Direct(2, estimator=Estimator.MINIMAX), 2, 1.0),
    "reweighting": Case(Reweighting(), 2, 0.98),
    "reweighting, rare values kept": Case(Reweighting(keep_rare=True), 2, 1.0),
    "reweighting, of a histogram": Case(Reweighting(reference="histogram"), 2, 1.0),
    "reweighting, pure": Case(Reweighting(reference="uniform", queries="marginals:1"), 2, None),
    # Three tenths of the budget buy moments, whose noise is audited with the query.
    "reweighting, of moments": Case(Reweighting(reference="histogram", queries="moments:2", share=0.7), 2, 0.7),
    # Single rows feel the noise that is not charged: at epsilon 4 it is a third. Seven marginals move by sqrt(14).
    "direct brute_force": Case(Direct(EVERY, estimator=Estimator.BRUTE_FORCE), 3, 0.6, (REPLACE,), rows=0),
}
AUDITS = [
    (name, relation, epsilon)
    for name, case in CASES.items()
    for relation in case.relations
    for epsilon in case.epsilons
]


def test_every_synthesizer_is_audited():
    # Methods for points are audited with their spaces, in tests/evolution.
    assert {type(case.method) for case in CASES.values()} == {
        type(method_named(name)) for name in method_names() if not method_type(name).gives_points
    }
    assert {case.method.estimator for case in CASES.values() if isinstance(case.method, Direct)} == set(Estimator)
    assert {case.method.variant for case in CASES.values() if isinstance(case.method, AIM)} == set(AIMVariant)


@dataclass(frozen=True)
class QuickModel:
    """Independent columns, as they were measured."""

    domain: Domain
    total: float
    shares: dict[str, np.ndarray]

    def marginals(self, cliques: Any) -> dict[Clique, np.ndarray]:
        return {clique: self.marginal(clique) for clique in map(tuple, cliques)}

    def marginal(self, clique: Clique) -> np.ndarray:
        return self.total * functools.reduce(np.multiply.outer, (self.shares[name] for name in clique))


@dataclass(frozen=True)
class QuickFit:
    model: QuickModel
    outcome: None = None


def quick_fit(domain: Domain, measurements: Any, *, total: float, **_: Any) -> QuickFit:
    noisy = {m.clique[0]: np.maximum(m.counts, 1.0) for m in measurements if len(m.clique) == 1}
    return QuickFit(QuickModel(domain, total, {name: counts / counts.sum() for name, counts in noisy.items()}))


def quick_weights(domain: Domain) -> tuple[Any, Any]:
    """A support of one record, with its weight."""
    support = SimpleNamespace(codes=np.zeros((1, len(domain.attributes)), dtype=np.int32))
    return support, SimpleNamespace(weights=np.ones(1), warnings=list, diagnostics={})


@pytest.fixture
def listener(monkeypatch) -> Listener:
    """Hears every answer. Nothing is fitted or drawn, and what is public is computed once for all runs."""
    monkeypatch.setattr(fitting, "estimate", quick_fit)
    identities = functools.cache(identity)  # with few values, each of many rows, no value is rare
    monkeypatch.setattr(columns, "merge_rare", lambda domain, *_, **__: identities(domain))
    monkeypatch.setattr(columns, "refine", lambda coarsening, coarse, *_: coarse)
    # Only what is replaced above uses smoothed counts, and the sentences on them, of which no question follows.
    for module in (columns, repeated_measurement):
        monkeypatch.setattr(module, "smoothed_columns", lambda *_, **__: {})
    monkeypatch.setattr(columns, "_warnings", lambda *_: ())
    # Columns of two values would have equal weights.
    monkeypatch.setattr(repeated_measurement, "column_weights", lambda known, *_: (3, 1, 5)[: len(known)])
    for module in (mst, direct, reweighting):
        monkeypatch.setattr(module, "release", lambda *_, **__: None)
    monkeypatch.setattr(Reweighting, "_fitted", lambda _, curator, *__: quick_weights(curator.domain))
    monkeypatch.setattr(reweighting, "_weak", lambda *_, **__: ())
    for module in (aim_batched, aim_published, mst, direct):  # nothing is fitted that could be said to be weak
        monkeypatch.setattr(module, "blurred_counts", lambda *_: [])
    for module in (aim_published, direct):
        monkeypatch.setattr(module, "groups_of_model", lambda *_, **__: {})
    monkeypatch.setattr(columns.OneWay, "groups", lambda *_, **__: {})
    monkeypatch.setattr(direct, "measured_bounds", lambda *_, **__: {})
    monkeypatch.setattr(direct, "_fitted", lambda *_: QuickModel(Domain((), ()), 1.0, {}))
    trees: Callable = functools.cache(junction_tree.build)
    monkeypatch.setattr(junction_tree, "build", lambda domain, cliques: trees(domain, tuple(cliques)))
    for name in ("largest_mu", "largest_rho"):
        monkeypatch.setattr(privacy_filter, name, functools.cache(getattr(privacy_filter, name)))
    return Listener(monkeypatch)


@pytest.mark.parametrize(("name", "relation", "epsilon"), AUDITS)
def test_a_whole_release_keeps_its_claim_and_half_the_noise_does_not(listener, name, relation, epsilon):
    case = CASES[name]
    require_caught(listener, case.tables(relation, epsilon), case.ask, runs=case.runs(relation, epsilon))


@pytest.mark.parametrize(("name", "relation", "epsilon"), AUDITS)
def test_answers_move_as_far_as_the_number_of_runs_assumes(listener, name, relation, epsilon):
    case = CASES[name]
    tables = case.tables(relation, epsilon)
    if case.certain is not None:
        mu_squared = case.certain_mu_squared(epsilon)
        require_assumed(listener, tables, case.ask, certain=["marginal_counts"], mu_squared=mu_squared)
    if case.rows:
        require_fine(listener, tables, case.ask)
