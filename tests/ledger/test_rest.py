"""What one release leaves of its reservation, and one other spends: reserved once, and for one alone."""

from __future__ import annotations

import copy
import sqlite3
from contextlib import closing

import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.ledger.errors import LedgerEdited, LedgerError
from counterfoil.ledger.ledger import Amount, Ledger, Release, SourceIdentity
from counterfoil.ledger.state import LedgerState

PEOPLE = SourceIdentity("people", "/data/people.csv")
EVENT = {"kind": "gaussian", "noise_multiplier": 2.5}
BUDGET = Budget(1.0, 1e-9)


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "people.ledger", source=PEOPLE, total=Budget(1.5, 1e-6)) as made:
        yield made


PLAN = [
    {"kind": "discrete_gaussian", "noise_multiplier": 50.0},
    {"kind": "open_domain_gaussian", "noise_multiplier": 30.0, "delta": 1e-10},
]
REST = RestOfBudget.planned(PLAN).name


def release(
    ledger: Ledger, budget: Budget = BUDGET, relation: str = "replace_one", within: int | None = None
) -> Release:
    rule = "privacy_loss_distribution" if within is None else REST
    described = {"composition": rule, "description": {"plan": PLAN} if within is None else {}}
    return ledger.open_release(budget=budget, relation=relation, within=within, **described)


def purchase(ledger: Ledger) -> int:
    made = release(ledger)
    made.charge(EVENT, description="", affords=lambda _: True)
    made.close()
    return made.id


def test_the_rest_reserves_nothing(ledger):
    number = purchase(ledger)
    assert ledger.spent() == Amount(1.0, 1e-9)
    rest = release(ledger, within=number)
    assert ledger.spent() == Amount(1.0, 1e-9)
    rest.charge(EVENT, description="", affords=lambda _: True)
    rest.close()
    assert ledger.spent() == Amount(1.0, 1e-9)
    assert [record.within for record in ledger.releases()] == [None, number]


def test_it_is_for_one_release(ledger):
    number = purchase(ledger)
    first = release(ledger, within=number)
    with pytest.raises(LedgerError, match=r"Found release 2, .* give-back L --release 2"):
        release(ledger, within=number)
    first.charge(EVENT, description="", affords=lambda _: True)
    first.close()
    with pytest.raises(LedgerError, match="for one release"):
        release(ledger, within=number)
    with pytest.raises(LedgerError, match="spends the rest of another"):
        release(ledger, within=first.id)


def test_one_that_charged_nothing_hands_it_on(ledger):
    number = purchase(ledger)
    release(ledger, within=number).abandon()
    assert ledger.spent() == Amount(1.0, 1e-9), "the purchase stays spent"
    release(ledger, within=number)


@pytest.mark.parametrize(
    ("budget", "relation"),
    [(Budget(0.9, 1e-9), "replace_one"), (Budget(1.0, 1e-8), "replace_one"), (BUDGET, "add_or_remove_one")],
)
def test_it_has_the_budget_and_the_neighbors_of_the_purchase(ledger, budget, relation):
    number = purchase(ledger)
    with pytest.raises(LedgerError, match="state the same"):
        release(ledger, budget, relation, within=number)


def test_nothing_is_left_before_the_purchase_is_closed(ledger):
    opened = release(ledger)
    with pytest.raises(LedgerError, match="Release 1 is open"):
        release(ledger, within=opened.id)
    opened.abandon()
    with pytest.raises(LedgerError, match="Release 1 is abandoned"):
        release(ledger, within=opened.id)
    with pytest.raises(LedgerError, match="one of 1 to 1"):
        release(ledger, within=7)


@pytest.mark.parametrize(
    "rule",
    ["gaussian", "privacy_loss_distribution", RestOfBudget(1e-9, 1e-10).name, RestOfBudget.planned(PLAN[:1]).name],
)
def test_it_is_spent_by_a_rule_that_counts_the_whole_plan(ledger, rule):
    number = purchase(ledger)
    with pytest.raises(LedgerError, match="which counts what that release took"):
        ledger.open_release(budget=BUDGET, relation="replace_one", composition=rule, description={}, within=number)


def test_what_was_not_planned_leaves_nothing(ledger):
    opened = ledger.open_release(budget=BUDGET, relation="replace_one", composition="gaussian", description={})
    opened.charge(EVENT, description="", affords=lambda _: True)
    opened.close()
    with pytest.raises(LedgerError, match="leaves no rest"):
        release(ledger, within=opened.id)


def test_versions_that_know_no_rest_refuse_the_file(ledger, tmp_path):
    number = purchase(ledger)
    with closing(sqlite3.connect(tmp_path / "people.ledger")) as file, file:
        assert file.execute("PRAGMA user_version").fetchone() == (1,)
    release(ledger, within=number)
    with closing(sqlite3.connect(tmp_path / "people.ledger")) as file, file:
        assert file.execute("PRAGMA user_version").fetchone() == (4,)


def test_no_edited_entry_gives_a_second_one():
    common = {"time": "2024-01-01T00:00:00+00:00", "version": "0"}
    facts = {"budget": {"epsilon": 1.0, "delta": 1e-9}, "relation": "replace_one"}
    entries = [
        {"kind": "created", "source": {"name": "p", "location": "/p"}, "total": {"epsilon": 1.0, "delta": 1e-9}},
        {"kind": "release_opened", "release": 1, "description": {"plan": PLAN}, "composition": "p", **facts},
        {"kind": "charged", "release": 1, "event": {}, "description": ""},
        {"kind": "release_closed", "release": 1, "note": ""},
        {"kind": "release_continued", "release": 2, "within": 1, "description": {}, "composition": REST, **facts},
    ]
    state = LedgerState()
    for number, entry in enumerate(entries, 1):
        state.apply(number, common | entry)
    assert state.reserved == Amount(1.0, 1e-9)
    snapshot = copy.deepcopy(vars(state))
    for wrong in ({"release": 3}, {"release": 3, "within": 2}, {"release": 2}, {"release": 3, "within": None}):
        with pytest.raises(LedgerEdited):
            state.apply(6, common | entries[-1] | wrong)
        assert vars(state) == snapshot
