"""Budgets and neighboring relations."""

from __future__ import annotations

import math

import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, "1"])
def test_a_budget_needs_a_positive_epsilon(epsilon):
    with pytest.raises(ValueError, match="`epsilon` must be positive and finite"):
        Budget(epsilon, 1e-9)


@pytest.mark.parametrize("delta", [1.0, -1e-9, math.nan, math.inf, None])
def test_a_budget_needs_a_delta_below_one(delta):
    with pytest.raises(ValueError, match="`delta` must be at least 0 and below 1"):
        Budget(1.0, delta)


def test_each_relation_knows_the_other():
    one, other = NeighboringRelation
    assert one.other is other
    assert other.other is one
