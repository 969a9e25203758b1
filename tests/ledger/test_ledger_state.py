"""Replaying entries: exact sums for any floats, and no entry that Counterfoil would not have written."""

from __future__ import annotations

import copy
from decimal import Decimal, localcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.ledger.errors import BudgetExceeded, LedgerEdited
from counterfoil.ledger.state import Amount, LedgerState

COMMON = {"time": "2024-01-01T00:00:00+00:00", "version": "0"}
EPSILONS = st.floats(1e-9, 50, exclude_min=True)
DELTAS = st.just(0.0) | st.floats(1e-290, 0.2)


def created(epsilon: float, delta: float) -> dict:
    source = {"name": "people", "location": "/data"}
    return COMMON | {"kind": "created", "source": source, "total": {"epsilon": epsilon, "delta": delta}}


def opened(release: int, epsilon: float, delta: float) -> dict:
    body = {"release": release, "budget": {"epsilon": epsilon, "delta": delta}, "relation": "replace_one"}
    return COMMON | body | {"kind": "release_opened", "composition": "pure", "description": {}}


@settings(deadline=None, derandomize=True, max_examples=300)
@given(total=st.tuples(EPSILONS, DELTAS), asked=st.lists(st.tuples(EPSILONS, DELTAS), max_size=12))
def test_sums_of_any_floats_are_exact_and_shown_against_the_spender(total, asked):
    state, releases = LedgerState(), 0
    state.apply(1, created(*total))
    with localcontext() as context:
        context.prec = 1200  # every sum of these decimals is exact at this precision
        spent = [Decimal(0), Decimal(0)]
        for budget in asked:
            after = [s + Decimal(repr(b)) for s, b in zip(spent, budget, strict=True)]
            fits = all(a <= Decimal(repr(t)) for a, t in zip(after, total, strict=True))
            if not fits:
                with pytest.raises(BudgetExceeded):
                    state.require_room(Budget(*budget), "replace_one")
                continue
            releases += 1
            state.apply(releases + 1, opened(releases, *budget))
            spent = after
        for shown, left, exact, limit in (
            (state.reserved.epsilon, state.left.epsilon, spent[0], Decimal(repr(total[0]))),
            (state.reserved.delta, state.left.delta, spent[1], Decimal(repr(total[1]))),
        ):
            assert Decimal(repr(shown)) >= exact
            assert Decimal(repr(left)) <= limit - exact
            assert float(exact) == pytest.approx(shown, rel=1e-15, abs=0)
            assert float(limit - exact) == pytest.approx(left, rel=1e-15, abs=0)
    if state.left.epsilon > 0:
        state.require_room(Budget(state.left.epsilon, state.left.delta), "replace_one")


def test_what_is_left_can_be_spent_to_the_last_bit():
    state = LedgerState()
    state.apply(1, created(1.0, 1e-6))
    state.apply(2, opened(1, 1 / 3, 1e-7 / 3))
    state.apply(3, opened(2, state.left.epsilon, state.left.delta))
    assert max(state.left.epsilon, state.left.delta) < 1e-16
    assert state.reserved == Amount(1.0, 1e-6)


CHARGED = COMMON | {"kind": "charged", "release": 1, "event": {}, "description": ""}
REFUSED = COMMON | {"kind": "refused"}
SIZES_READ = COMMON | {"kind": "sizes_read", "relation": "replace_one"}
CLOSED = COMMON | {"kind": "release_closed", "release": 1, "note": ""}
ABANDONED = COMMON | {"kind": "release_abandoned", "release": 1}


@pytest.mark.parametrize(
    ("before", "wrong"),
    [
        ([], opened(1, 0.1, 0)),
        ([], created(0.0, 0.0)),
        ([], created(float("nan"), 0.0)),
        ([], created(1.0, 0.0) | {"rows": 6366}),
        ([created(1, 0)], created(1, 0)),
        ([created(1, 0)], opened(2, 0.1, 0)),
        ([created(1, 0)], opened(1, 1.1, 0)),
        ([created(1, 0)], opened(1, 0.1, 1e-30)),
        ([created(1, 0)], opened(1, -0.1, 0)),
        ([created(1, 0)], CHARGED),
        ([created(1, 0), opened(1, 0.1, 0)], CHARGED | {"release": 2}),
        ([created(1, 0), opened(1, 0.1, 0)], CHARGED | {"kind": "refunded"}),
        ([created(1, 0), opened(1, 0.1, 0)], CHARGED | {"answer": [1, 2]}),
        ([created(1, 0), opened(1, 0.1, 0)], {key: CHARGED[key] for key in CHARGED if key != "event"}),
        ([created(1, 0)], REFUSED | {"column": "age"}),
        ([created(1, 0)], REFUSED | {"release": 1}),
        ([], REFUSED),
        ([created(1, 0), opened(1, 0.1, 0), CLOSED], CHARGED),
        ([created(1, 0), opened(1, 0.1, 0), CLOSED], ABANDONED),
        ([created(1, 0), opened(1, 0.1, 0), CHARGED], ABANDONED),
        ([created(1, 0), opened(1, 0.1, 0), ABANDONED], ABANDONED),
        ([created(1, 0), opened(1, 0.1, 0)], opened(2, 0.1, 0) | {"relation": "add_or_remove_one"}),
        ([created(1, 0), opened(1, 0.1, 0)], SIZES_READ | {"relation": "add_or_remove_one"}),
        ([created(1, 0), SIZES_READ], opened(1, 0.1, 0) | {"relation": "add_or_remove_one"}),
        ([created(1, 0)], SIZES_READ | {"rows": 1237}),
    ],
)
def test_an_entry_that_does_not_follow_is_refused_and_changes_nothing(before, wrong):
    state = LedgerState()
    for number, body in enumerate(before, 1):
        state.apply(number, body)
    snapshot = copy.deepcopy(vars(state))
    with pytest.raises(LedgerEdited, match=f"Entry {len(before) + 1} of the ledger can't follow"):
        state.apply(len(before) + 1, wrong)
    assert vars(state) == snapshot


def test_refusals_are_counted_and_change_no_sum():
    state = LedgerState()
    for number, body in enumerate([created(1, 0), opened(1, 0.25, 0), REFUSED, CHARGED, REFUSED, CLOSED, REFUSED], 1):
        state.apply(number, body)
    assert state.refusals == [COMMON["time"]] * 3
    assert state.reserved == Amount(0.25, 0.0)
    assert state.left == Amount(0.75, 0.0)
