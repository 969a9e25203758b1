"""Budgets that promise next to nothing: what is said of them and what is refused."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.accounting.sanity import LARGE_EPSILON, budget_warnings, require_moderate_delta


@pytest.mark.parametrize("rows", [None, 2000.0, 1e6])
def test_a_usual_budget_is_not_warned_of(rows):
    assert budget_warnings(Budget(1.0, 1e-9), rows) == []
    assert budget_warnings(Budget(LARGE_EPSILON, 0.0), rows) == []


@pytest.mark.parametrize(
    ("epsilon", "factor"),
    [(10.5, "36,316"), (12.0, "162,755"), (20.0, "485,165,195"), (1e9, "10 to the power 434,294,482")],
)
def test_a_large_epsilon_is_told_in_odds(epsilon, factor):
    (said,) = budget_warnings(Budget(epsilon), None)
    assert f"by a factor of {factor}. " in said
    assert f"Epsilon {epsilon:g} " in said


@pytest.mark.parametrize(
    ("delta", "rows", "persons"),
    [(1e-3, 2000.0, "about 2 of them"), (0.05, 2000.0, "about 100 of them"), (1e-3, 1001.0, "one of them")],
)
def test_a_delta_above_one_in_the_rows_is_told_in_persons(delta, rows, persons):
    """To publish each row with probability delta is (0, delta)-private, and publishes delta * rows of them."""
    (said,) = budget_warnings(Budget(1.0, delta), rows)
    assert persons in said
    assert f"{rows:,.0f} rows" in said
    assert budget_warnings(Budget(1.0, 0.999 / rows), rows) == []


@given(delta=st.just(0.0) | st.floats(1e-290, 0.999), rows=st.none() | st.floats(-1e9, 1e9))
def test_any_number_of_rows_may_be_told(delta, rows):
    said = budget_warnings(Budget(1.0, delta), rows)
    if rows is None:
        assert bool(said) == (delta >= 0.1)
    else:
        assert bool(said) == (rows >= 1 and delta > 1 / rows)


def test_a_large_delta_must_be_said_twice():
    require_moderate_delta(0.0999)
    require_moderate_delta(1e-9, 1e-9)
    require_moderate_delta(0.5, 0.5)
    with pytest.raises(
        ValueError, match=r"Found 0\.1, .* repeat it with `--confirm-delta` \(`confirm_delta` in Python"
    ):
        require_moderate_delta(0.1)
    for delta in (0.5, 1e-9):
        with pytest.raises(ValueError, match=r"repeats delta. Found 0\.4 beside"):
            require_moderate_delta(delta, 0.4)


@pytest.mark.parametrize(
    ("given_as", "budget"),
    [(Budget(1.0, 1e-9), Budget(1.0, 1e-9)), ((2, 1e-6), Budget(2, 1e-6)), ([2.0, 0.0], Budget(2.0)), (3, Budget(3))],
)
def test_budgets_in_short(given_as, budget):
    assert Budget.of(given_as) == budget


@pytest.mark.parametrize("wrong", ["1.0", None, (1.0,), (1.0, 1e-9, 2), True, {"epsilon": 1}])
def test_what_is_no_budget_gets_one_sentence(wrong):
    with pytest.raises(TypeError, match=r"must be a `Budget`, \(epsilon, delta\), or epsilon alone\. Found \w+: give"):
        Budget.of(wrong)


@pytest.mark.parametrize("wrong", [(math.nan, 0.0), (0, 0), (1.0, 1.0), (1.0, "x")])
def test_budgets_in_short_keep_their_ranges(wrong):
    with pytest.raises(ValueError, match="must be"):
        Budget.of(wrong)


def test_privacy_units_in_short():
    assert PrivacyUnit.of(None) is None
    assert PrivacyUnit.of(("job", 3)) == PrivacyUnit.of(PrivacyUnit("job", 3)) == PrivacyUnit("job", 3)
    with pytest.raises(TypeError, match=r"Found 'job' alone: give, for example, \('job', 3\)\."):
        PrivacyUnit.of("job")
    for wrong in (7, ("job",), (3, "job"), {"job": 3}):
        with pytest.raises(TypeError, match=r"Found \w+: give, for example, \('person', 3\)\."):
            PrivacyUnit.of(wrong)
    with pytest.raises(ValueError, match="max_rows"):
        PrivacyUnit.of(("job", 0))
