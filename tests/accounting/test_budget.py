"""Budgets and neighboring relations."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from counterfoil.accounting.budget import LARGEST_EPSILON, LEAST_DELTA, Budget
from counterfoil.accounting.filter import ConcentratedFilter, Filter, GaussianFilter, PureFilter
from counterfoil.accounting.neighbors import NeighboringRelation


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf])
def test_a_budget_needs_a_positive_epsilon(epsilon):
    with pytest.raises(ValueError, match="`epsilon` must be positive and finite"):
        Budget(epsilon, 1e-9)


@pytest.mark.parametrize("delta", [1.0, -1e-9, math.nan, math.inf])
def test_a_budget_needs_a_delta_below_one(delta):
    with pytest.raises(ValueError, match="`delta` must be at least 0 and below 1"):
        Budget(1.0, delta)


@pytest.mark.parametrize("value", [np.float32(0.125), np.float64(0.125), Decimal("0.125"), Fraction(1, 8)], ids=repr)
def test_a_budget_takes_numbers_of_any_real_type(value):
    budget = Budget(value, value)
    assert budget == Budget(0.125, 0.125)
    assert type(budget.epsilon) is type(budget.delta) is float
    assert json.dumps([budget.epsilon, Budget(np.int64(2)).epsilon]) == "[0.125, 2]"
    assert Budget(Decimal("0.1")).epsilon == 0.1


@pytest.mark.parametrize(
    ("value", "found"),
    [("1", "str '1'"), (True, "bool True"), (np.True_, "bool"), (None, "NoneType"), (1j, "complex"), ([1], "list")],
    ids=repr,
)
def test_what_is_no_number_is_refused_for_its_type(value, found):
    with pytest.raises(ValueError, match=rf"`epsilon` must be a number, such as 1\.0\. Found {found}"):
        Budget(value, 1e-9)
    with pytest.raises(ValueError, match=rf"`delta` must be a number, such as 1e-9\. Found {found}"):
        Budget(1.0, value)
    with pytest.raises(ValueError, match="`epsilon` must be a number"):
        Budget.unrestricted(value, 0.0)


def test_each_relation_knows_the_other():
    one, other = NeighboringRelation
    assert one.other is other
    assert other.other is one


@pytest.mark.parametrize("epsilon", [1.01e9, 1e300, 10**400])
def test_an_epsilon_beyond_the_arithmetic_is_refused(epsilon):
    with pytest.raises(ValueError, match=r"`epsilon` must be at most 1e\+09, .* Found .*: lower it"):
        Budget(epsilon, 1e-9)


@pytest.mark.parametrize("delta", [9.9e-291, 1e-300, 5e-324])
def test_a_delta_beyond_the_arithmetic_is_refused(delta):
    with pytest.raises(ValueError, match=r"`delta` must be 0 or at least 1e-290, .* Found .*: raise it, or give 0"):
        Budget(1.0, delta)


@pytest.mark.parametrize("rule", [GaussianFilter(), ConcentratedFilter(), PureFilter()])
@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 700.0, LARGEST_EPSILON])
@pytest.mark.parametrize("delta", [LEAST_DELTA, 1e-9])
@pytest.mark.parametrize("parts", [1, 7])
def test_up_to_the_bounds_what_is_planned_is_afforded_and_stays_within(
    rule: Filter, epsilon: float, delta: float, parts: int
):
    """What a method spends in equal parts of the divisible capacity; a guarantee must not cost less than it says."""
    budget = Budget(epsilon, delta)
    spent = [rule.event(rule.divisible(budget) / parts)] * parts
    assert rule.affords(budget, spent)
    assert 0.99 * epsilon < rule.epsilon(spent, rule.delta(budget)) <= epsilon
    assert not rule.affords(budget, [*spent, rule.event(rule.capacity(budget) * 0.01)])


def test_what_an_older_version_wrote_down_is_still_read():
    assert Budget.unrestricted(1e300, 5e-324).epsilon == 1e300
    assert Budget.unrestricted(1.0, 1e-9) == Budget(1.0, 1e-9)
    for epsilon, delta in ((math.inf, 0.0), (0.0, 0.0), (1.0, 1.0), (1.0, math.nan)):
        with pytest.raises(ValueError, match="must be"):
            Budget.unrestricted(epsilon, delta)
