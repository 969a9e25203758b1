"""What an account promises: charged before computed, refused for nothing, in the order that was planned."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.event import GaussianEvent, event_from_json
from counterfoil.accounting.filter import ConcentratedFilter, GaussianFilter, PureFilter
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.curator.account import Account
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.selection import WorstApproximatedMarginal
from counterfoil.domain.domain import Domain
from counterfoil.ledger.errors import BudgetExceeded
from counterfoil.ledger.ledger import Ledger, Release, SourceIdentity
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.noise.selection import ExponentialSelection
from sensitive_tables import records_of

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
PAIR = Domain(("a", "b"), (2, 2))
COUNTS = MarginalCounts(PAIR, (("a",), ("b",)))
WORST = WorstApproximatedMarginal((("a",),), (np.zeros(2, dtype=np.int64),), np.ones(1), np.zeros(1))
BUDGET = Budget(1.0, 1e-9)


class Watched:
    """Records that say, whenever they are touched, what had been charged by then."""

    def __init__(self, release: Release, *, fails: bool = False) -> None:
        self.release = release
        self.fails = fails
        self.charges_when_touched: list[int] = []

    def marginals(self, cliques, coarsening=None) -> list[np.ndarray]:
        self.charges_when_touched.append(len(self.release.records()))
        if self.fails:
            raise OSError("the disk is gone")
        return records_of(PAIR, [(0, 1)] * 10).marginals(cliques)


def open_account(rule, *, budget=BUDGET, fails=False, planned=None, relation=ADD, unit=None) -> tuple[Any, Watched]:
    ledger = Ledger.in_memory(SourceIdentity("people", "memory"), budget)
    release = ledger.open_release(budget=budget, relation=relation.value, composition=rule.name, description={})
    records = Watched(release, fails=fails)
    kind = FilterAccount if planned is None else Account
    extra = {} if planned is None else {"planned": planned}
    account = kind(
        records,
        release,
        budget=budget,
        rule=rule,
        neighbors=Neighbors(relation, unit),
        randomness=SeededRandomness(1),
        trial=lambda query: 0,
        **extra,
    )
    return account, records


def gaussian(share: float, rule: GaussianFilter | None = None) -> GaussianNoise:
    """Noise that takes a share of the budget."""
    return GaussianNoise(1 / math.sqrt(share * (rule or GaussianFilter()).capacity(BUDGET)))


def test_a_question_is_charged_before_it_is_computed():
    account, records = open_account(GaussianFilter())
    account.ask(COUNTS, gaussian(0.3))
    account.choose(WORST, ExponentialSelection(0.01))
    assert records.charges_when_touched == [1, 2]


def test_a_question_that_fails_stays_charged():
    account, _ = open_account(GaussianFilter(), fails=True)
    with pytest.raises(OSError, match="disk"):
        account.ask(COUNTS, gaussian(0.3))
    with pytest.raises(OSError, match="disk"):
        account.choose(WORST, ExponentialSelection(0.01))
    assert len(account.events) == 2
    assert account.spent == pytest.approx(0.3 * account.capacity, rel=0.01)


def test_a_question_that_is_refused_costs_nothing_and_computes_nothing():
    account, records = open_account(GaussianFilter())
    account.ask(COUNTS, gaussian(0.7))
    spent = account.spent
    with pytest.raises(BudgetExceeded):
        account.ask(COUNTS, gaussian(0.7))
    with pytest.raises(BudgetExceeded):
        account.choose(WORST, ExponentialSelection(3.0))
    assert account.spent == spent
    assert records.charges_when_touched == [1], "the table was not touched"
    account.ask(COUNTS, gaussian(0.29))


@pytest.mark.parametrize("noise", [LaplaceNoise(0.5), GaussianNoise(20.0)])
def test_answers_are_noisy_and_shaped_as_asked(noise):
    rule = PureFilter() if isinstance(noise, LaplaceNoise) else GaussianFilter()
    account, _ = open_account(rule)
    answer = account.ask(COUNTS, noise).values
    assert answer.shape == (4,)
    assert answer.dtype == np.int64
    assert not np.array_equal(answer, COUNTS.exact(records_of(PAIR, [(0, 1)] * 10)))


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("unit", [None, PrivacyUnit("unit", 1), PrivacyUnit("unit", 5)])
@pytest.mark.parametrize("noise", [LaplaceNoise(0.5), GaussianNoise(20.0)])
def test_what_is_recorded_is_what_is_added(monkeypatch, relation, unit, noise):
    """The scale in the ledger is that of the noise drawn, and follows from the sensitivity of the whole unit."""
    drawn = []
    for law in ("discrete_gaussian", "discrete_laplace"):
        original = getattr(SeededRandomness, law)
        monkeypatch.setattr(
            SeededRandomness, law, lambda self, scale, size, of=original: drawn.append(scale) or of(self, scale, size)
        )
    rule = PureFilter() if isinstance(noise, LaplaceNoise) else GaussianFilter()
    account, records = open_account(rule, relation=relation, unit=unit)
    account.ask(COUNTS, noise)
    (charge,) = records.release.records()
    norm = COUNTS.l1_sensitivity if isinstance(noise, LaplaceNoise) else COUNTS.l2_sensitivity
    rows = 1 if unit is None else unit.max_rows
    assert charge["sensitivity"] == rows * norm(relation)
    assert charge["noise"]["scale"] == drawn[0] == noise.scale(rows * norm(relation))
    assert event_from_json(charge["event"]) == noise.event()
    under_other = event_from_json(charge["event_under_other_relation"])
    # The noise that was added is what the event under the other relation would have added.
    factor = norm(relation.other) / norm(relation)
    assert type(noise)(*vars(under_other).values()).scale(rows * norm(relation.other)) == pytest.approx(drawn[0])
    assert under_other == noise.event_under(1.0, factor)


@given(st.integers(1, 50), st.floats(0.1, 10), st.floats(0.1, 10))
def test_a_unit_scales_every_sensitivity(rows, added, replaced):
    """k rows come in k steps; a rows become b rows in min(a, b) exchanges and abs(a - b) additions or removals."""

    def of(relation: NeighboringRelation) -> float:
        return added if relation is ADD else replaced

    unit = PrivacyUnit("person", rows)
    assert Neighbors(ADD, unit).sensitivity(of, ADD) == rows * added
    steps = max(min(a, b) * replaced + abs(a - b) * added for a in range(1, rows + 1) for b in range(1, rows + 1))
    assert steps <= Neighbors(REPLACE, unit).sensitivity(of, REPLACE) * (1 + 1e-12)
    assert Neighbors(REPLACE).sensitivity(of, REPLACE) == replaced


@pytest.mark.parametrize("rows", [0, -1, 1.5, "2", None])
def test_a_unit_needs_a_whole_number_of_rows(rows):
    with pytest.raises(ValueError, match="`max_rows` must be a whole number"):
        PrivacyUnit("person", rows)


def test_neighbors_are_told_apart_on_the_ledger():
    phrases = [
        Neighbors(relation, unit).describe()
        for relation in NeighboringRelation
        for unit in (None, PrivacyUnit("person", 2), PrivacyUnit("person", 3), PrivacyUnit("family", 2))
    ]
    assert len(set(phrases)) == len(phrases)


# Plans


def test_a_plan_is_kept_to():
    planned = [GaussianNoise(30.0), GaussianNoise(40.0)]
    account, records = open_account(GaussianFilter(), planned=planned)
    with pytest.raises(ValueError, match="The plan foresees GaussianNoise"):
        account.ask(COUNTS, planned[1])
    with pytest.raises(ValueError, match="The plan foresees GaussianNoise"):
        account.ask(COUNTS, LaplaceNoise(30.0))
    assert account.events == []
    assert records.charges_when_touched == []
    for noise in planned:
        account.ask(COUNTS, noise)
    with pytest.raises(ValueError, match="nothing more"):
        account.ask(COUNTS, planned[0])
    assert account.events == [GaussianEvent(30.0), GaussianEvent(40.0)]


def test_a_planned_question_that_fails_is_used_up():
    planned = [GaussianNoise(30.0)]
    account, _ = open_account(GaussianFilter(), planned=planned, fails=True)
    with pytest.raises(OSError, match="disk"):
        account.ask(COUNTS, planned[0])
    with pytest.raises(ValueError, match="nothing more"):
        account.ask(COUNTS, planned[0])


def test_a_plan_is_accounted_for_once(monkeypatch):
    """The whole plan was accepted; composing its prefixes anew would take a second for each answer."""
    planned = [GaussianNoise(30.0)] * 5
    account, _ = open_account(PrivacyLossPlan(), planned=planned)
    monkeypatch.setattr(PrivacyLossPlan, "epsilon", lambda *_: pytest.fail("the plan is composed again"))
    for noise in planned:
        account.ask(COUNTS, noise)
    assert len(account.events) == 5


# Filters


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([GaussianFilter(), ConcentratedFilter(), PureFilter()]),
    st.floats(0.01, 8.0),
    st.lists(st.tuples(st.sampled_from(["ask", "choose"]), st.floats(0.001, 0.9)), min_size=1, max_size=15),
)
def test_an_adaptive_run_never_exceeds_its_budget(rule, epsilon, wishes):
    """Shares of what is left, in any order: the recorded events alone compose to no more than the budget."""
    budget = Budget(epsilon, 1e-9)
    account, _ = open_account(rule, budget=budget)
    for what, share in wishes:
        left = share * (account.capacity - account.spent)
        try:
            if what == "ask":
                noise = LaplaceNoise(left) if rule.name == "pure" else GaussianNoise(1 / math.sqrt(left))
                account.ask(COUNTS, noise)
            else:
                account.choose(WORST, ExponentialSelection(left))
        except BudgetExceeded:
            pass
        assert account.spent <= account.capacity
    replayed = [event_from_json(event.to_json()) for event in account.events]
    assert COMPOSITIONS[rule.name].epsilon(replayed, budget.delta) <= budget.epsilon
    step_by_step = 0.0
    for event in replayed:
        step_by_step += rule.cost(event)
    assert step_by_step == pytest.approx(account.spent, rel=1e-12)


def test_other_noise_than_a_filter_knows_is_refused():
    account, _ = open_account(PureFilter())
    with pytest.raises(BudgetExceeded):
        account.ask(COUNTS, GaussianNoise(1e6))
    assert account.events == []
