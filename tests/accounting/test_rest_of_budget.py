"""What a purchase leaves of a budget: against plans of both together, another library, and a twin that forgets."""

from __future__ import annotations

import json
import math

import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.event import ApproximateGaussianEvent, GaussianEvent, PureEvent
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.discovery.plan import plan_discovery
from counterfoil.schema.bought import Bought, ShareOf

budgets = st.builds(Budget, st.floats(0.01, 30.0), st.floats(-14, -3).map(lambda power: 10.0**power))
shares = st.floats(0.001, 0.999)


def planned(budget: Budget, share: float, texts: bool = True):
    return [noise.event() for noise in plan_discovery(budget, ranges=True, texts=texts, share=share).noises]


@settings(deadline=None)
@given(budget=budgets, share=shares, texts=st.booleans())
def test_both_together_cost_the_budget_and_no_more(budget, share, texts):
    plan = planned(budget, share, texts)
    rule = RestOfBudget.after(plan)
    left = rule.capacity(budget)
    later = [rule.event(left / 3)] * 3
    assert rule.affords(budget, later) or math.fsum(map(rule.cost, later)) <= left * (1 + 1e-11)
    whole = PrivacyLossPlan().epsilon([*plan, *later], budget.delta)
    assert whole <= budget.epsilon + 1e-8
    assert whole >= budget.epsilon * 0.97, "little is wasted"
    assert rule.epsilon(later, budget.delta) <= budget.epsilon * (1 + 1e-9)


@settings(deadline=None)
@given(budget=budgets, share=shares)
def test_the_share_is_one_of_the_squares_of_mu(budget, share):
    rule = RestOfBudget.after(planned(budget, share))
    whole = RestOfBudget.after(planned(budget, 1.0)).mu_squared
    assert rule.mu_squared == pytest.approx(share * whole, rel=1e-6)
    assert rule.capacity(budget) == pytest.approx((1 - share) * whole, rel=1e-5)
    assert rule.threshold_delta == pytest.approx(0.3 * budget.delta, rel=1e-5)


@settings(deadline=None)
@given(budget=budgets, share=shares, texts=st.booleans())
def test_a_plan_is_read_as_a_ledger_has_it(budget, share, texts):
    noises = plan_discovery(budget, ranges=True, texts=texts, share=share).noises
    written = json.loads(json.dumps([noise.to_json() for noise in noises]))
    assert RestOfBudget.planned(written) == RestOfBudget.after([noise.event() for noise in noises])


@pytest.mark.parametrize(
    "noise",
    [
        {"kind": "laplace", "epsilon": 0.1},
        {"kind": "discrete_gaussian"},
        {"kind": "discrete_gaussian", "noise_multiplier": 1.0, "delta": 0.1},
        {"kind": "discrete_gaussian", "noise_multiplier": -1.0},
        {},
    ],
)
def test_no_other_plan_leaves_a_rest(noise):
    with pytest.raises(ValueError, match=r"Gaussian noise|must be positive"):
        RestOfBudget.planned([noise])


@settings(deadline=None, max_examples=300)
@given(
    epsilon=st.floats(-7, 3).map(lambda power: 10.0**power),
    delta=st.floats(-60, -0.05).map(lambda power: 10.0**power),
    share=shares | st.floats(-9, -1).map(lambda power: 1 - 10.0**power),
    texts=st.booleans(),
)
def test_what_a_schema_says_of_its_share_is_never_refused_after_the_charge(epsilon, delta, share, texts):
    """Small epsilons beside large deltas are where two ways to compose differ most."""
    budget = Budget(epsilon, delta)
    try:
        rule = RestOfBudget.after(planned(budget, share, texts))
        rule.capacity(budget)
    except ValueError:
        return  # refused before the charge
    of = ShareOf(epsilon, rule.mu_squared, rule.threshold_delta)
    Bought(rule.epsilon_of(0.0, delta), delta, "add_or_remove_one", "0" * 64, None, of)


def test_another_library_agrees():
    budget = Budget(1.0, 1e-6)
    plan = planned(budget, 0.1)
    rule = RestOfBudget.after(plan)
    multipliers = [event.noise_multiplier for event in plan] + [rule.capacity(budget) ** -0.5]
    composed = None
    for multiplier in multipliers:
        one = pld.from_gaussian_mechanism(multiplier, value_discretization_interval=1e-4)
        composed = one if composed is None else composed.compose(one)
    assert composed.get_epsilon_for_delta(budget.delta - rule.threshold_delta) == pytest.approx(1.0, abs=2e-3)


def test_a_rule_that_forgets_the_purchase_is_caught():
    budget = Budget(1.0, 1e-9)
    plan = planned(budget, 0.1)
    forgetful = GaussianFilter()
    whole = PrivacyLossPlan().epsilon([*plan, forgetful.event(forgetful.capacity(budget))], budget.delta)
    assert whole > 1.05
    forgets_thresholds = RestOfBudget(RestOfBudget.after(plan).mu_squared, 0.0)
    later = forgets_thresholds.event(forgets_thresholds.capacity(budget))
    assert PrivacyLossPlan().epsilon([*plan, later], budget.delta) > 1.001


@settings(deadline=None)
@given(mu_squared=st.floats(1e-12, 1e6), delta=st.just(0.0) | st.floats(1e-290, 0.9))
def test_it_is_named_after_its_numbers_to_the_last_bit(mu_squared, delta):
    rule = RestOfBudget(mu_squared, delta)
    assert RestOfBudget.named(rule.name) == rule == COMPOSITIONS[rule.name]


@pytest.mark.parametrize(
    "name",
    ["gaussian", "gaussian-after", "gaussian-after_1", "gaussian-after_1_0", "gaussian-after_0.0_0.0",
     "gaussian-after_nan_0.0", "gaussian-after_inf_0.0", "gaussian-after_1.0_1.0", "gaussian-after_1.0_0.0_2.0",
     "gaussian-after_-1.0_0.0", "gaussian-after_1e0_0.0", "gaussian-after_a_b"],
)  # fmt: skip
def test_no_other_name_is_one(name):
    with pytest.raises(ValueError, match=r"called like|must be|could not convert"):
        RestOfBudget.named(name)


def test_a_purchase_that_took_everything_leaves_nothing():
    budget = Budget(1.0, 1e-9)
    with pytest.raises(ValueError, match="leave nothing of epsilon 1"):
        RestOfBudget.after([GaussianEvent(0.1)]).capacity(budget)
    with pytest.raises(ValueError, match="leave nothing of delta"):
        RestOfBudget.after([ApproximateGaussianEvent(100.0, 1e-9)]).capacity(budget)
    with pytest.raises(ValueError, match="Gaussian noise"):
        RestOfBudget.after([PureEvent(0.1)])
    with pytest.raises(ValueError, match="positive"):
        RestOfBudget.after([])


def test_under_other_neighbors_it_promises_nothing_by_itself():
    """Thresholds are set for the stated neighbors: what passes them elsewhere is not known here."""
    rule, budget = RestOfBudget.after(planned(Budget(1.0, 1e-9), 0.1)), Budget(1.0, 1e-9)
    assert rule.epsilon_within(budget, 1.0) <= 1.0 + 1e-9
    assert rule.epsilon_within(budget, 2.0) == math.inf
    assert rule.epsilon_of(0.001, 1e-10) == math.inf, "less delta than thresholds took"
