"""Privacy accounting against other accountants, against high-precision arithmetic, and against its own definitions."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr
from scipy.stats import norm

from counterfoil.curator.accounting import (
    COMPOSITIONS,
    BoundedRangeEvent,
    ConcentratedFilter,
    GaussianEvent,
    GaussianFilter,
    PrivacyLossPlan,
    PureEvent,
    PureFilter,
    bounded_range_of_mu,
    concentrated_delta,
    concentrated_epsilon,
    event_from_json,
    gaussian_delta,
    gaussian_epsilon,
    largest_mu,
    largest_rho,
)
from counterfoil.curator.budget import Budget, NeighboringRelation

FILTERS = [GaussianFilter(), ConcentratedFilter(), PureFilter()]

multipliers = st.floats(0.5, 1e4)
epsilons = st.floats(1e-4, 5.0)
events = st.one_of(
    st.builds(GaussianEvent, multipliers), st.builds(PureEvent, epsilons), st.builds(BoundedRangeEvent, epsilons)
)
budgets = st.builds(Budget, st.floats(1e-3, 20.0), st.floats(1e-14, 1e-3))


def true_gaussian_delta(epsilon: float, mu: float) -> mpmath.mpf:
    with mpmath.workdps(50):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(-e / m + m / 2) - mpmath.exp(e) * mpmath.ncdf(-e / m - m / 2)


# Conversions


@given(st.floats(1e-9, 50.0), st.floats(1e-9, 20.0))
def test_gaussian_delta_is_exact_and_never_below(epsilon, mu):
    true = true_gaussian_delta(epsilon, mu)
    found = gaussian_delta(epsilon, mu)
    if true > 1e-250:
        assert found >= true
        # What is added for rounding is at most 2**-49 (1 + z**2 + ...) of Phi(-eps / mu + mu / 2).
        assert found <= true + 1e-14 * (10 + (epsilon / mu) ** 2 + mu**2 + epsilon) * norm.cdf(-epsilon / mu + mu / 2)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-6, 1e-4, 0.01, 0.5, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("delta", [1e-15, 1e-9, 1e-5, 0.01])
def test_the_largest_mu_is_private_and_hardly_smaller_than_it_could_be(epsilon, delta):
    mu = largest_mu(Budget(epsilon, delta))
    assert true_gaussian_delta(epsilon, mu) <= delta
    assert true_gaussian_delta(epsilon, mu * (1 + 1e-6 + 1e-13 / epsilon)) > delta
    assert mu < largest_mu(Budget(epsilon * 1.001, delta))
    assert mu < largest_mu(Budget(epsilon, delta * 1.001))


@pytest.mark.parametrize("epsilon", [1e-8, 1e-6, 1e-4, 0.01, 0.5, 1.0, 4.0, 30.0])
@pytest.mark.parametrize("delta", [1e-15, 1e-9, 1e-5, 0.01])
def test_the_largest_rho_is_private_for_some_order(epsilon, delta):
    rho = largest_rho(Budget(epsilon, delta))
    with mpmath.workdps(40):

        def log_bound(log_excess):
            excess = mpmath.exp(log_excess)
            order = 1 + excess
            return excess * (order * rho - epsilon) + order * mpmath.log(excess / order) - log_excess

        grid = np.linspace(-30, 40, 1401)
        best = min(grid, key=lambda x: float(log_bound(mpmath.mpf(x))))
        fine = min(np.linspace(best - 0.05, best + 0.05, 201), key=lambda x: float(log_bound(mpmath.mpf(x))))
        # The grid is 5e-4 wide and the bound quadratic in it, with curvature of the order of log(1 / delta).
        assert log_bound(mpmath.mpf(fine)) <= mpmath.log(delta) + 1e-5
    assert rho < largest_rho(Budget(epsilon * 1.001, delta))
    assert rho < largest_rho(Budget(epsilon, delta * 1.001))


@given(budgets)
def test_conversions_invert_each_other_on_the_private_side(budget):
    mu, rho = largest_mu(budget), largest_rho(budget)
    assert gaussian_epsilon(mu, budget.delta) <= budget.epsilon
    assert gaussian_epsilon(mu * (1 + 1e-6), budget.delta) > budget.epsilon
    assert concentrated_epsilon(rho, budget.delta) <= budget.epsilon
    assert concentrated_epsilon(rho * (1 + 1e-4), budget.delta) > budget.epsilon


@given(st.floats(1e-6, 20.0), st.floats(1e-6, 20.0), st.floats(1e-14, 0.1))
def test_epsilon_rises_with_the_cost(one, other, delta):
    small, large = sorted((one, other))
    assert gaussian_epsilon(small, delta) <= gaussian_epsilon(large, delta) * (1 + 1e-9)
    assert concentrated_epsilon(small, delta) <= concentrated_epsilon(large, delta) * (1 + 1e-6)


@pytest.mark.parametrize("mu", [0.05, 0.2, 1.0, 3.0])
def test_zcdp_is_looser_than_the_gaussian_curve(mu):
    for delta in (1e-12, 1e-9, 1e-5):
        exact, concentrated = gaussian_epsilon(mu, delta), concentrated_epsilon(mu**2 / 2, delta)
        assert exact < concentrated < 1.25 * exact + 0.1


def test_the_classical_gaussian_is_wrong_where_a_paper_uses_it():
    """sigma = sqrt(2 log(1.25 / delta)) / epsilon is proved for epsilon < 1, and overspends delta when it is large."""
    delta = 1e-5
    classical = {epsilon: math.sqrt(2 * math.log(1.25 / delta)) / epsilon for epsilon in (0.5, 2.0, 20.0)}
    assert gaussian_delta(0.5, 1 / classical[0.5]) < delta
    assert 1 / largest_mu(Budget(2.0, delta)) < 0.96 * classical[2.0], "at epsilon 2 it is private, and wasteful"
    assert gaussian_delta(20.0, 1 / classical[20.0]) > delta


# Events


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.5, 1.0, 4.0, 30.0])
def test_symmetric_mu_is_accurate(epsilon):
    with mpmath.workdps(40):
        half = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
        true = -2 * mpmath.sqrt(2) * mpmath.erfinv(2 * half - 1)
    assert PureEvent(epsilon).mu == pytest.approx(float(true), rel=1e-13)
    assert BoundedRangeEvent(2 * epsilon).mu == pytest.approx(float(true), rel=1e-13)


@pytest.mark.parametrize("epsilon", [800.0, 1e4, 1e6])
def test_symmetric_mu_of_a_probability_too_small_to_hold(epsilon):
    """log Phi(-mu / 2) = -epsilon, up to a vanishing part: where e**-epsilon is zero in floating point."""
    assert float(log_ndtr(-PureEvent(epsilon).mu / 2)) == pytest.approx(-epsilon, rel=1e-11)
    assert bounded_range_of_mu(BoundedRangeEvent(2 * epsilon).mu) == pytest.approx(2 * epsilon, rel=1e-11)


def worst_ratio(p: np.ndarray, q: np.ndarray, mu: float) -> float:
    """The largest of (hockey stick of p and q) / (its value for mu-Gaussian privacy), over many epsilons."""
    losses = np.linspace(-3 * mu - 0.5, mu * mu / 2 + 4 * mu, 400)
    return max(np.maximum(p - math.exp(x) * q, 0).sum() / signed_delta(x, mu) for x in losses)


def signed_delta(epsilon: float, mu: float) -> float:
    return norm.cdf(-epsilon / mu + mu / 2) - math.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 4.0])
def test_mu_of_a_pure_mechanism_is_that_of_randomized_response_and_no_less(epsilon):
    p = np.array([1, math.exp(-epsilon)]) / (1 + math.exp(-epsilon))
    mu = PureEvent(epsilon).mu
    assert worst_ratio(p, p[::-1], mu) <= 1 + 1e-9
    assert worst_ratio(p, p[::-1], mu * 0.99) > 1


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 4.0])
def test_mu_of_a_bounded_range_mechanism_is_attained_in_the_middle_and_covers_every_range(epsilon):
    mu, worst = BoundedRangeEvent(epsilon).mu, 0.0
    for top in np.linspace(1e-3, 1 - 1e-3, 41) * epsilon:  # losses are top and top - epsilon
        q = (1 - math.exp(top - epsilon)) / (math.exp(top) - math.exp(top - epsilon))
        p = math.exp(top) * q
        needed = norm.ppf(p) - norm.ppf(q)
        assert needed <= mu * (1 + 1e-12)
        assert worst_ratio(np.array([p, 1 - p]), np.array([q, 1 - q]), mu) <= 1 + 1e-9
        worst = max(worst, needed)
    assert worst == pytest.approx(mu, rel=1e-6)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.floats(-3, 3), st.floats(-1, 1)), min_size=2, max_size=6),
    st.sampled_from([0.2, 1.0, 3.0]),
)
def test_the_exponential_mechanism_costs_no_more_than_its_event(scores, epsilon):
    """Scores of sensitivity 1 that rise and fall: mu, rho and the range of the loss, from exact probabilities."""
    before = np.array([score for score, _ in scores])
    after = before + np.array([move for _, move in scores])
    p, q = (np.exp(epsilon * s / 2) / np.exp(epsilon * s / 2).sum() for s in (before, after))
    event = BoundedRangeEvent(epsilon)
    losses = np.log(p / q)
    assert losses.max() - losses.min() <= epsilon + 1e-12
    assert worst_ratio(p, q, event.mu) <= 1 + 1e-9
    for order in (1.01, 1.5, 2.0, 5.0, 50.0):
        renyi = math.log((p**order * q ** (1 - order)).sum()) / (order - 1)
        assert renyi <= order * event.rho + 1e-12


def test_the_exponential_mechanism_attains_its_range():
    p, q = (np.exp(s) / np.exp(s).sum() for s in (np.array([0.5, 0.0]), np.array([0.0, 0.5])))
    assert np.ptp(np.log(p / q)) == pytest.approx(2 * 0.5), "epsilon 1, scores that move by 1 in opposite directions"


@given(events)
def test_events_survive_json(event):
    assert event_from_json(event.to_json()) == event


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"kind": "magic", "epsilon": 1.0},
        {"kind": "gaussian"},
        {"kind": "gaussian", "noise_multiplier": 0},
        {"kind": "gaussian", "noise_multiplier": math.nan},
        {"kind": "gaussian", "noise_multiplier": math.inf},
        {"kind": "gaussian", "noise_multiplier": "1"},
        {"kind": "pure", "epsilon": -1.0},
        {"kind": "pure", "epsilon": 1.0, "delta": 0.1},
        {"kind": "bounded_range", "epsilon": None},
    ],
)
def test_a_record_that_is_no_event_is_refused(record):
    with pytest.raises(ValueError, match=r"must be|wrong parameters"):
        event_from_json(record)


def test_extreme_parameters_give_infinities_rather_than_errors():
    event = GaussianEvent(1e-200)
    assert event.rho == math.inf
    assert GaussianFilter().cost(event) == math.inf
    assert not GaussianFilter().affords(Budget(1e6, 0.1), [event])
    assert not PureFilter().affords(Budget(1e6, 0.1), [GaussianEvent(1e9)]), "Gaussian noise has no pure epsilon"


# Composition


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


@pytest.mark.parametrize(("multiplier", "count"), [(3.0, 1), (30.0, 100), (60.0, 1000), (100.0, 10_000)])
@pytest.mark.parametrize("delta", [1e-5, 1e-9, 1e-11])
def test_the_plan_never_undercounts_gaussians(multiplier, count, delta):
    """Fourier transforms hide a little delta; without an allowance, 10,000 events at 1e-11 are undercounted."""
    sequence = [GaussianEvent(multiplier)] * count
    exact = GaussianFilter().epsilon(sequence, delta)
    planned = PrivacyLossPlan().epsilon(sequence, delta)
    assert exact <= planned
    if delta > 1e-10:
        assert planned <= 1.01 * exact


def test_the_plan_knows_randomized_response_exactly():
    """Two uses of randomized response, enumerated."""
    epsilon, delta = 0.7, 1e-3
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    p = np.outer([keep, 1 - keep], [keep, 1 - keep]).ravel()

    def true_delta(e: float) -> float:
        return float(np.maximum(p - math.exp(e) * p[::-1], 0).sum())

    planned = PrivacyLossPlan().epsilon([PureEvent(epsilon)] * 2, delta)
    assert true_delta(planned) <= delta
    assert true_delta(planned - 1e-3) > delta
    assert PrivacyLossPlan().epsilon([BoundedRangeEvent(epsilon)] * 2, delta) == planned


@settings(max_examples=15, deadline=None)
@given(st.lists(events, min_size=1, max_size=6))
def test_the_plan_never_exceeds_pure_composition(sequence):
    pure = [event for event in sequence if not isinstance(event, GaussianEvent)]
    if pure:
        assert PrivacyLossPlan().epsilon(pure, 1e-9) <= PureFilter().epsilon(pure, 1e-9) + 1e-3


def test_the_plan_refuses_what_it_cannot_resolve():
    assert PrivacyLossPlan().epsilon([], 1e-9) == 0.0
    assert PrivacyLossPlan().epsilon([GaussianEvent(100.0)], 0.0) == math.inf
    assert PrivacyLossPlan().epsilon([GaussianEvent(100.0)] * 100, 1e-14) == math.inf


# Filters


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


def test_nothing_asked_costs_nothing():
    for rule in COMPOSITIONS.values():
        assert rule.epsilon([], 1e-9) == 0.0
        assert rule.affords(Budget(0.1, 1e-9), [])


def test_delta_of_zcdp_is_at_most_one():
    assert 0 < concentrated_delta(0.0, 100.0) <= 1 + 1e-11
    assert concentrated_delta(1.0, 0.0) == 0.0


# Budgets


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
