"""Filters against other accountants, step by step, and at the edge of their budgets."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve import gaussian_epsilon, largest_mu, largest_rho
from counterfoil.accounting.event import BoundedRangeEvent, GaussianEvent, PureEvent
from counterfoil.accounting.filter import ConcentratedFilter, GaussianFilter, PureFilter

FILTERS = [GaussianFilter(), ConcentratedFilter(), PureFilter()]
multipliers = st.floats(0.5, 1e4)
epsilons = st.floats(1e-4, 5.0)
events = st.one_of(
    st.builds(GaussianEvent, multipliers), st.builds(PureEvent, epsilons), st.builds(BoundedRangeEvent, epsilons)
)
budgets = st.builds(Budget, st.floats(1e-3, 20.0), st.floats(1e-14, 1e-3))


@given(st.lists(st.builds(GaussianEvent, st.floats(2.0, 50.0)), min_size=1, max_size=20), st.floats(1e-12, 1e-4))
def test_gaussians_compose_step_by_step_as_at_once(sequence, delta):
    squared = 0.0
    for event in sequence:
        squared = math.hypot(math.sqrt(squared), event.mu) ** 2
    one_by_one = gaussian_epsilon(math.sqrt(squared), delta)
    assert GaussianFilter().epsilon(sequence, delta) == pytest.approx(one_by_one, rel=1e-5)
    assert GaussianFilter().epsilon(sequence[::-1], delta) == pytest.approx(one_by_one, rel=1e-5)


@pytest.mark.parametrize("multiplier", [3.0, 20.0])
@pytest.mark.parametrize("count", [1, 7, 40])
def test_gaussian_filter_agrees_with_privacy_loss_distributions(multiplier, count):
    delta = 1e-9
    accountant = PLDAccountant()
    for _ in range(count):  # one at a time: a count given at once has been forgotten by accountants before
        accountant.compose(dp_event.GaussianDpEvent(multiplier))
    ours = GaussianFilter().epsilon([GaussianEvent(multiplier)] * count, delta)
    theirs = accountant.get_epsilon(delta)
    assert theirs == pytest.approx(ours, rel=1e-4)


@pytest.mark.parametrize("count", [1, 12])
def test_concentrated_filter_is_tighter_than_renyi_orders_and_looser_than_the_truth(count):
    multiplier, delta = 10.0, 1e-9
    ours = ConcentratedFilter().epsilon([GaussianEvent(multiplier)] * count, delta)
    accountant = RdpAccountant(orders=np.concatenate([1 + np.geomspace(0.05, 1e3, 400)]))
    for _ in range(count):
        accountant.compose(dp_event.GaussianDpEvent(multiplier))
    theirs = accountant.get_epsilon(delta)
    assert GaussianFilter().epsilon([GaussianEvent(multiplier)] * count, delta) < ours
    assert ours == pytest.approx(theirs, rel=1e-3), "the same formula over a grid of orders"


@pytest.mark.parametrize("count", [1, 5, 30])
def test_selections_cost_what_step_by_step_renyi_accounting_says_at_most(count):
    epsilon, delta = 0.3, 1e-9
    accountant = RdpAccountant(orders=np.concatenate([1 + np.geomspace(0.05, 1e3, 400)]))
    for _ in range(count):
        accountant.compose(dp_event.ZCDpEvent(epsilon**2 / 8))
    ours = ConcentratedFilter().epsilon([BoundedRangeEvent(epsilon)] * count, delta)
    assert ours >= accountant.get_epsilon(delta) * (1 - 1e-3)
    assert ours > ConcentratedFilter().epsilon([BoundedRangeEvent(epsilon)] * max(count - 1, 0), delta)


@settings(deadline=None)
@given(st.sampled_from(FILTERS), budgets, st.lists(events, min_size=1, max_size=40))
def test_a_filter_never_lets_more_than_the_budget_through(rule, budget, wanted):
    granted = []
    for event in wanted:
        if rule.affords(budget, [*granted, event]):
            granted.append(event)
            assert rule.epsilon(granted, budget.delta) <= budget.epsilon
        else:
            assert rule.epsilon([*granted, event], budget.delta) > budget.epsilon * (1 - 1e-6)


@settings(deadline=None)
@given(budgets)
def test_capacity_can_be_spent_and_a_millionth_more_cannot(budget):
    mu = math.sqrt(GaussianFilter().capacity(budget))
    assert GaussianFilter().affords(budget, [GaussianEvent(1 / mu * (1 + 1e-12))])
    assert not GaussianFilter().affords(budget, [GaussianEvent(1 / mu / (1 + 1e-6))])
    rho = ConcentratedFilter().capacity(budget)
    assert ConcentratedFilter().affords(budget, [GaussianEvent(math.sqrt(0.5 / rho) * (1 + 1e-12))])
    assert not ConcentratedFilter().affords(budget, [GaussianEvent(math.sqrt(0.5 / rho) / (1 + 1e-6))])
    assert PureFilter().affords(budget, [PureEvent(budget.epsilon)])
    assert not PureFilter().affords(budget, [PureEvent(budget.epsilon * (1 + 1e-6))])


def test_a_filter_holds_back_what_is_proved_only_nearly():
    budget = Budget(1.0, 1e-9)
    assert GaussianFilter().capacity(budget) < largest_mu(budget) ** 2
    assert ConcentratedFilter().capacity(budget) < largest_rho(budget)


@pytest.mark.parametrize("rule", [GaussianFilter(), ConcentratedFilter()], ids=lambda rule: rule.name)
def test_delta_zero_and_tiny_epsilons_are_refused_with_a_remedy(rule):
    with pytest.raises(ValueError, match="give a delta"):
        rule.capacity(Budget(1.0))
    with pytest.raises(ValueError, match="must be above"):
        rule.capacity(Budget(1e-9, 1e-9))
