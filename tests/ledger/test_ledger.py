"""What a ledger promises to those who spend: exact sums, refusals in sentences, nothing given away."""

from __future__ import annotations

import math
import threading
from datetime import UTC, datetime
from fractions import Fraction
from functools import reduce

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.ledger.errors import BudgetExceeded, LedgerError, ReleaseClosed, WrongSource
from counterfoil.ledger.ledger import Amount, Ledger, Release, SourceIdentity
from counterfoil.ledger.state import KEYS

PEOPLE = SourceIdentity("people", "/data/people.csv")
EVENT = {"kind": "gaussian", "noise_multiplier": 2.5}


@pytest.fixture(params=["file", "memory"])
def ledger(request, tmp_path):
    if request.param == "file":
        made = Ledger.create(tmp_path / "people.ledger", source=PEOPLE, total=Budget(1.0, 1e-6))
    else:
        made = Ledger.in_memory(PEOPLE, Budget(1.0, 1e-6))
    with made:
        yield made


def open_release(ledger: Ledger, epsilon: float = 0.1, delta: float = 1e-9, relation: str = "replace_one") -> Release:
    return ledger.open_release(
        budget=Budget(epsilon, delta), relation=relation, composition="zcdp", description={"method": "aim"}
    )


def always(events: list) -> bool:
    return True


def test_a_new_ledger_has_spent_nothing(ledger):
    assert ledger.source == PEOPLE
    assert ledger.total == ledger.left() == Amount(1.0, 1e-6)
    assert ledger.spent() == Amount(0.0, 0.0)
    assert ledger.releases() == []
    assert not ledger.revealed


def test_ten_tenths_are_one_and_no_more(ledger):
    assert reduce(float.__add__, [0.1] * 10) != 1.0, "the sum of floats loses a bit, which is why sums are exact"
    assert sum(Fraction(0.1) for _ in range(10)) > 1, "and the exact sum of the binary numbers is too large"
    for _ in range(10):
        open_release(ledger)
    assert ledger.left() == Amount(0.0, 9.9e-7)
    with pytest.raises(BudgetExceeded):
        open_release(ledger, 1e-300)
    assert len(ledger.releases()) == 10


def test_the_refusal_says_total_spent_left_and_asked(ledger):
    open_release(ledger, 0.75)
    before = ledger.entries()
    with pytest.raises(BudgetExceeded) as refusal:
        open_release(ledger, 0.5)
    assert str(refusal.value) == (
        "All releases of a source together must stay within its total. The total is epsilon 1 and delta 1e-06; "
        "epsilon 0.75 and delta 1e-09 are reserved; epsilon 0.25 and delta 9.99e-07 are left; asked for: "
        "epsilon 0.5 and delta 1e-09. Ask for at most what is left. 1 release is still open: where the run was killed, "
        "`counterfoil ledger show` says what can be done."
    )
    assert ledger.entries() == before


def test_delta_is_limited_on_its_own(ledger):
    with pytest.raises(BudgetExceeded):
        open_release(ledger, 0.1, 1.1e-6)
    open_release(ledger, 0.1, 1e-6)
    open_release(ledger, 0.1, 0.0)
    with pytest.raises(BudgetExceeded):
        open_release(ledger, 0.1, 1e-30)


def test_releases_of_two_relations_do_not_add_up(ledger):
    open_release(ledger, relation="add_or_remove_one").abandon()
    open_release(ledger, relation=NeighboringRelation.REPLACE_ONE)
    with pytest.raises(LedgerError, match=r"'add_or_remove_one' after 'replace_one': use 'replace_one'"):
        open_release(ledger, relation="add_or_remove_one")
    assert ledger.releases()[1].relation == "replace_one"


def test_a_charge_is_recorded_before_it_returns(ledger):
    release = open_release(ledger)
    number = release.charge(EVENT, description="all pairs", affords=always)
    entry = ledger.entries()[-1]
    assert (entry.number, entry.kind) == (number, "charged") == (3, "charged")
    assert entry.details == {"release": 1, "event": EVENT, "description": "all pairs"}
    assert release.records() == ledger.releases()[0].charges == [EVENT]


def test_affords_sees_all_events_and_its_no_records_nothing(ledger):
    release, seen = open_release(ledger), []

    def at_most_two(events):
        seen.append(len(events))
        return len(events) <= 2

    for _ in range(2):
        release.charge(EVENT, description="pair", affords=at_most_two)
    before = ledger.entries()
    with pytest.raises(BudgetExceeded, match=r"After 2 charges, release 1 can't afford this one \(triple\)"):
        release.charge(EVENT, description="triple", affords=at_most_two)
    assert seen == [1, 2, 3]
    assert ledger.entries() == before


def test_an_event_is_judged_as_it_will_be_read_back(ledger):
    release, judged = open_release(ledger), []
    release.charge({"scales": (1, 2)}, description="", affords=lambda events: judged.extend(events) or True)
    assert judged == release.records() == [{"scales": [1, 2]}]


@pytest.mark.parametrize("event", [{"epsilon": math.inf}, {"epsilon": math.nan}, {"clique": {1, 2}}])
def test_events_must_be_json(ledger, event):
    release = open_release(ledger)
    with pytest.raises(ValueError, match=r"plain JSON with finite numbers"):
        release.charge(event, description="", affords=always)
    assert release.records() == []


def test_an_error_while_judging_leaves_no_trace(ledger):
    release = open_release(ledger)
    with pytest.raises(ZeroDivisionError):
        release.charge(EVENT, description="", affords=lambda events: 1 / 0)
    with pytest.raises(RuntimeError, match=r"can't be used while"):
        release.charge(EVENT, description="", affords=lambda events: bool(release.records()))
    assert release.records() == []
    release.charge(EVENT, description="", affords=always)
    assert release.records() == [EVENT]


def test_a_closed_release_stays_reserved_and_refuses_charges(ledger):
    release = open_release(ledger, 0.4)
    release.close("done")
    assert (ledger.releases()[0].status, ledger.releases()[0].note) == ("closed", "done")
    assert ledger.left().epsilon == 0.6
    with pytest.raises(ReleaseClosed, match=r"Release 1 was closed"):
        release.charge(EVENT, description="", affords=always)
    for refused in (release.close, release.abandon, lambda: ledger.resume(1)):
        with pytest.raises(ReleaseClosed):
            refused()


def test_only_a_release_without_charges_is_given_back(ledger):
    unused, used = open_release(ledger, 0.4), open_release(ledger, 0.6)
    used.charge(EVENT, description="", affords=always)
    with pytest.raises(LedgerError, match=r"Release 2 has 1"):
        used.abandon()
    unused.abandon()
    assert ledger.spent() == Amount(0.6, 1e-9)
    with pytest.raises(ReleaseClosed, match=r"abandoned"):
        unused.charge(EVENT, description="", affords=always)
    assert open_release(ledger, 0.4).id == 3


def test_resuming_continues_the_same_reservation(tmp_path):
    path = tmp_path / "people.ledger"
    with Ledger.create(path, source=PEOPLE, total=Budget(1.0)) as ledger:
        open_release(ledger, 1.0, 0.0).charge(EVENT, description="first", affords=always)
    with Ledger.open(path, source=PEOPLE) as ledger:
        release = ledger.resume(1)
        assert (release.budget, release.relation, release.composition) == (Budget(1.0, 0.0), "replace_one", "zcdp")
        assert release.description == {"method": "aim"}
        release.charge({"second": 2}, description="second", affords=lambda events: len(events) == 2)
        assert release.records() == [EVENT, {"second": 2}]
        with pytest.raises(LedgerError, match=r"must be one of 1 to 1. Found 2"):
            ledger.resume(2)


def test_a_reveal_is_for_ever_and_blocks_no_release(ledger):
    with pytest.raises(ValueError, match=r"`reason` must say why"):
        ledger.record_reveal("  ")
    ledger.record_reveal("comparison for the steward")
    assert ledger.revealed
    assert ledger.spent() == Amount(0.0, 0.0), "a look is in no sum"
    open_release(ledger, 1.0)
    assert ledger.spent() == Amount(1.0, 1e-9)
    ((time, reason),) = [(look.time, look.reason) for look in ledger.reveals()]
    assert reason == "comparison for the steward"
    assert datetime.fromisoformat(time).tzinfo == UTC
    assert ledger.left() == Amount(0.0, 9.99e-7)
    with pytest.raises(BudgetExceeded, match=r"epsilon 1 and delta 1e-09 are reserved"):
        open_release(ledger)


@pytest.mark.parametrize("other", [SourceIdentity("people", "/data/b.csv"), SourceIdentity("men", "memory")])
def test_another_source_is_refused(tmp_path, other):
    path = tmp_path / "people.ledger"
    Ledger.create(path, source=PEOPLE, total=Budget(1.0)).close()
    with pytest.raises(WrongSource) as refusal:
        Ledger.open(path, source=other)
    assert "is for 'people' at '/data/people.csv'" in str(refusal.value)
    assert f"found {other.name!r} at {other.location!r}" in str(refusal.value)
    Ledger.open(path, source=PEOPLE).close()
    Ledger.open(path, source=None).close()


def test_two_openings_see_each_other(tmp_path):
    path = tmp_path / "people.ledger"
    with (
        Ledger.create(path, source=PEOPLE, total=Budget(1.0, 1e-6)) as one,
        Ledger.open(path, source=PEOPLE) as two,
    ):
        release = open_release(one, 0.5)
        two.resume(1).charge(EVENT, description="by the other", affords=always)
        assert release.records() == [EVENT]
        open_release(two, 0.5)
        assert one.left().epsilon == 0.0
        assert one.entries() == two.entries()


def test_threads_share_a_ledger(ledger):
    release, outcomes = open_release(ledger), []

    def charge_five_times():
        for _ in range(5):
            try:
                release.charge(EVENT, description="", affords=lambda events: len(events) <= 12)
                outcomes.append(True)
            except BudgetExceeded:
                outcomes.append(False)

    threads = [threading.Thread(target=charge_five_times) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [False] * 8 + [True] * 12
    assert len(release.records()) == 12


def test_entries_hold_the_declared_keys_and_what_callers_gave(ledger):
    facts = {"budget": Budget(0.1, 1e-9), "relation": "replace_one"}
    plan = {"plan": [{"kind": "discrete_gaussian", "noise_multiplier": 2.5}]}
    ledger.record_sizes_read("replace_one")
    release = ledger.open_release(composition="zcdp", description=plan, **facts)
    release.charge(EVENT, description="all pairs", affords=always)
    release.close("done")
    open_release(ledger).abandon()
    rest = RestOfBudget.planned(plan["plan"]).name
    ledger.open_release(composition=rest, description={"method": "aim"}, within=release.id, **facts)
    ledger.record_reveal("comparison")
    ledger.record_refusal()
    ledger.record_receipt(1, "0f" * 32)
    ledger.move(SourceIdentity("people", "/else/people.csv"))
    entries = ledger.entries()
    assert {entry.kind for entry in entries} == set(KEYS), "one of each kind"
    given = {"people", "/data/people.csv", 1.0, 1e-6, 0.1, 1e-9, "replace_one", "zcdp", "aim", "all pairs", "done"}
    given |= {"comparison", "gaussian", "discrete_gaussian", rest, 2.5, 1, 2, 3, "/else/people.csv", "0f" * 32}
    for entry in entries:
        assert set(entry.details) == KEYS[entry.kind]
        assert set(_leaves(entry.details)) <= given
        assert datetime.fromisoformat(entry.time).tzinfo == UTC
        assert entry.version


def _leaves(value):
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in _leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _leaves(inner)]
    return [value]


class RandomSpending(RuleBasedStateMachine):
    """A ledger in memory against sums of integers, in thousandths of epsilon and in billionths of delta."""

    @initialize(epsilon=st.integers(500, 1500), delta=st.integers(500, 1500))
    def create(self, epsilon, delta):
        self.total = (epsilon, delta)
        self.ledger = Ledger.in_memory(PEOPLE, Budget(epsilon / 1000, delta / 10**9))
        self.budgets, self.charges, self.status = [], [], []
        self.revealed, self.refused = False, 0

    def reserved(self):
        kept = [b for b, status in zip(self.budgets, self.status, strict=True) if status != "abandoned"]
        return sum(b[0] for b in kept), sum(b[1] for b in kept)

    @rule(epsilon=st.integers(1, 400), delta=st.integers(0, 400))
    def open(self, epsilon, delta):
        reserved = self.reserved()
        fits = reserved[0] + epsilon <= self.total[0] and reserved[1] + delta <= self.total[1]
        try:
            release = open_release(self.ledger, epsilon / 1000, delta / 10**9)
        except BudgetExceeded:
            assert not fits
        else:
            assert fits
            self.budgets.append((epsilon, delta))
            self.charges.append(0)
            self.status.append("open")
            assert release.id == len(self.budgets)

    @precondition(lambda self: self.budgets)
    @rule(data=st.data(), action=st.sampled_from(["charge", "charge", "charge", "close", "abandon"]))
    def use(self, data, action):
        index = data.draw(st.integers(0, len(self.budgets) - 1))
        try:
            release = self.ledger.resume(index + 1)
        except ReleaseClosed:
            assert self.status[index] != "open"
            return
        assert self.status[index] == "open"
        if action == "charge":
            release.charge({"n": self.charges[index]}, description="", affords=always)
            self.charges[index] += 1
        elif action == "close":
            release.close()
            self.status[index] = "closed"
        elif self.charges[index]:
            with pytest.raises(LedgerError):
                release.abandon()
        else:
            release.abandon()
            self.status[index] = "abandoned"

    @rule()
    def reveal(self):
        self.ledger.record_reveal("look")
        self.revealed = True

    @rule()
    def refuse(self):
        self.ledger.record_refusal()
        self.refused += 1

    @invariant()
    def sums_are_those_of_integers(self):
        if not hasattr(self, "ledger"):
            return
        epsilon, delta = self.reserved()
        assert self.ledger.revealed == self.revealed
        assert self.ledger.spent() == Amount(epsilon / 1000, delta / 10**9)
        assert self.ledger.reserved() == Amount(epsilon / 1000, delta / 10**9)
        assert len(self.ledger.refusals()) == self.refused
        left = Amount((self.total[0] - epsilon) / 1000, (self.total[1] - delta) / 10**9)
        assert self.ledger.left() == left
        records = self.ledger.releases()
        assert [record.status for record in records] == self.status
        assert [record.charges for record in records] == [[{"n": i} for i in range(n)] for n in self.charges]


RandomSpending.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestRandomSpending = RandomSpending.TestCase


def test_a_ledger_with_a_total_that_is_refused_today_is_still_opened(tmp_path, monkeypatch):
    with monkeypatch.context() as older:
        older.setattr("counterfoil.accounting.budget.LARGEST_EPSILON", math.inf)
        older.setattr("counterfoil.accounting.budget.LEAST_DELTA", 0.0)
        with Ledger.create(tmp_path / "old.ledger", source=PEOPLE, total=Budget(1e300, 1e-6)) as made:
            release = made.open_release(
                budget=Budget(1e299, 5e-324), relation="add_or_remove_one", composition="gaussian", description={}
            )
            release.end("finished")
    with Ledger.open(tmp_path / "old.ledger", source=PEOPLE) as ledger:
        assert ledger.total.epsilon == 1e300
        assert ledger.left().delta == 1e-6
        assert [release.budget.delta for release in ledger.releases()] == [5e-324]
