"""Renyi divergences against direct sums, what is attained, and another library; the filter against exact curves."""

from __future__ import annotations

import math

import dp_accounting
import mpmath
import numpy as np
import pytest
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import norm

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.curve import gaussian_delta
from counterfoil.accounting.event import (
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    PureEvent,
    SubsampledGaussianEvent,
)
from counterfoil.accounting.filter import ConcentratedFilter, GaussianFilter
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.accounting.renyi import renyi_divergence
from counterfoil.accounting.renyi_filter import RenyiFilter

orders = st.integers(2, 64)
epsilons = st.floats(1e-6, 20.0)


def attained(mu: float, q: float, order: int) -> float:
    """(1 - q) N(0) + q N(mu) against N(0), by the binomial theorem, with many digits."""
    with mpmath.workdps(60):
        m, share = mpmath.mpf(mu), mpmath.mpf(q)
        terms = (
            mpmath.binomial(order, k) * (1 - share) ** (order - k) * share**k * mpmath.exp(k * (k - 1) * m * m / 2)
            for k in range(order + 1)
        )
        return float(mpmath.log(mpmath.fsum(terms)) / (order - 1))


def of_covering_pair(mu: float, q: float, order: int) -> float:
    """An integral over a fine grid; good where the divergence is not tiny."""
    x = np.linspace(mu / 2, order * mu + 15, 400_001)
    x = (x[1:] + x[:-1]) / 2
    ratio = np.log1p(q * np.expm1(mu * x - mu * mu / 2))
    log_density = norm.logpdf(x) + math.log(x[1] - x[0])
    logs = np.concatenate([order * ratio + log_density, (1 - order) * ratio + log_density])
    middle = (1 - q) * (1 - 2 * ndtr(-mu / 2))
    return float(np.logaddexp(np.logaddexp.reduce(logs), math.log(middle) if middle else -math.inf) / (order - 1))


@settings(max_examples=15, deadline=None)
@given(st.floats(0.01, 4.0), st.floats(1e-4, 1.0), orders)
def test_a_step_costs_no_less_than_is_attained_and_no_more_than_without_sampling(mu, q, order):
    cost = renyi_divergence(SubsampledGaussianEvent(1 / mu, q, 1), order)
    assert attained(1 / (1 / mu) * (1 - 1e-14), q, order) * (1 - 1e-12) <= cost <= order * mu * mu / 2 * (1 + 1e-11)
    assert renyi_divergence(SubsampledGaussianEvent(1 / mu, q, 7), order) == pytest.approx(7 * cost, rel=1e-12)


@pytest.mark.parametrize("mu", [0.1, 0.7, 3.0])
@pytest.mark.parametrize("q", [0.01, 0.2, 0.9])
@pytest.mark.parametrize("order", [2, 5, 32])
def test_a_step_costs_what_its_covering_pair_has_and_less_than_in_another_library(mu, q, order):
    cost = renyi_divergence(SubsampledGaussianEvent(1 / mu, q, 1), order)
    # The cells of 1/64 add 1/24,000 to a variance.
    assert cost == pytest.approx(of_covering_pair(mu, q, order), rel=2e-3)
    accountant = RdpAccountant([order], dp_accounting.NeighboringRelation.REPLACE_ONE)
    step = dp_accounting.SampledWithoutReplacementDpEvent(1000, round(1000 * q), dp_accounting.GaussianDpEvent(1 / mu))
    accountant.compose(step)
    theirs = accountant.get_epsilon_and_optimal_order(1e-6)[0]
    ours = RenyiFilter(order).epsilon([SubsampledGaussianEvent(1 / mu, q, 1)], 1e-6)
    assert ours <= theirs * (1 + 1e-6) + 1e-8


@settings(max_examples=60)
@given(epsilons, orders)
def test_a_pure_event_costs_what_randomized_response_does(epsilon, order):
    with mpmath.workdps(60):
        keep = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
        moments = keep**order * (1 - keep) ** (1 - order) + (1 - keep) ** order * keep ** (1 - order)
        exact = float(mpmath.log(moments) / (order - 1))
    cost = renyi_divergence(PureEvent(epsilon), order)
    assert exact <= cost <= min(epsilon, order * epsilon**2 / 2) * (1 + 1e-6)
    # Small ones are bounded by their Taylor term, which is above by a share of order**2 epsilon**2.
    assert cost <= exact * (1 + 1e-6 + (order * epsilon) ** 2 * (epsilon < 1e-4))


@settings(max_examples=60)
@given(st.floats(1e-3, 20.0), st.floats(1e-3, 1 - 1e-3), orders)
def test_a_bounded_range_event_covers_its_two_outcomes(epsilon, place, order):
    top = place * epsilon  # losses are top and top - epsilon
    other = -math.expm1(top - epsilon) / (math.exp(top) - math.exp(top - epsilon))
    p = math.exp(top) * other
    logs = [order * math.log(p) + (1 - order) * math.log(other)]
    if p < 1:
        logs.append(order * math.log1p(-p) + (1 - order) * math.log1p(-other))
    divergence = float(np.logaddexp.reduce(logs)) / (order - 1)
    assert divergence <= renyi_divergence(BoundedRangeEvent(epsilon), order) * (1 + 1e-9) + 1e-9


def test_gaussian_noise_costs_its_divergence_and_an_approximate_event_has_none():
    assert renyi_divergence(GaussianEvent(2.0), 6) == pytest.approx(6 / 8, rel=1e-11)
    assert renyi_divergence(ApproximateEvent(0.1, 1e-9), 6) == math.inf
    assert renyi_divergence(SubsampledGaussianEvent(1e-200, 0.5, 10), 6) == math.inf
    assert renyi_divergence(SubsampledGaussianEvent(0.1, 0.5, 10), 100) == pytest.approx(10 * 50 * 100, rel=1e-11)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.05, 20.0), st.floats(-14.0, -3.0).map(lambda power: 10.0**power), st.integers(2, 256))
def test_the_capacity_is_certified_and_all_that_is_left(epsilon, delta, order):
    budget, rule = Budget(epsilon, delta), RenyiFilter(order)
    try:
        capacity = rule.capacity(budget)
    except ValueError:
        # The bound on delta of a divergence of 0, e**((1 - a) epsilon) (1 - 1/a)**a / (a - 1), is above delta.
        bound = (1 - order) * epsilon + order * math.log1p(-1 / order) - math.log(order - 1)
        assert bound >= math.log(delta) - 1e-5
        return
    with mpmath.workdps(50):
        a = mpmath.mpf(order)
        bound = mpmath.exp((a - 1) * (mpmath.mpf(capacity) - epsilon)) * (1 - 1 / a) ** a / (a - 1)
        assert bound <= delta
        assert mpmath.exp((a - 1) * (capacity * mpmath.mpf(1e-8) + mpmath.mpf(1e-8))) * bound >= delta * (1 - 1e-5)
    assert rule.epsilon_of(capacity, delta) <= epsilon * (1 + 1e-9)
    assert rule.affords(budget, [rule.event(capacity)])
    assert rule.cost(rule.event(capacity)) == pytest.approx(capacity, rel=1e-9)
    assert rule.epsilon_within(budget, 2.0) == math.inf
    assert rule.epsilon_within(budget, 0.5) <= epsilon * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.1, 5.0), st.floats(-12.0, -3.0).map(lambda power: 10.0**power), orders)
def test_the_conversion_is_never_below_the_exact_curve(mu, delta, order):
    epsilon = RenyiFilter(order).epsilon([GaussianEvent(1 / mu)], delta)
    assert gaussian_delta(epsilon, mu) <= delta * (1 + 1e-9)


def test_the_order_for_a_run_is_about_the_best():
    run, delta = [SubsampledGaussianEvent(2.0, 0.05, 400)], 1e-6
    chosen = RenyiFilter.for_run(run, delta)
    every = {order: RenyiFilter(order).epsilon(run, delta) for order in range(2, 40)}
    assert chosen.epsilon(run, delta) <= min(every.values()) * 1.02
    planned = PrivacyLossPlan().epsilon(run, delta)
    assert planned < chosen.epsilon(run, delta) < 1.35 * planned
    assert chosen.epsilon(run, delta) < 0.2 * GaussianFilter().epsilon(run, delta)


def test_for_gaussian_noise_it_is_near_the_concentrated_filter():
    """Whose conversion is the same with the best real order."""
    run, delta = [GaussianEvent(5.0)] * 3, 1e-9
    rule = RenyiFilter.for_run(run, delta)
    best = ConcentratedFilter().epsilon(run, delta)
    assert best * (1 - 1e-9) <= rule.epsilon(run, delta) <= 1.02 * best


def test_what_no_order_covers_is_refused():
    with pytest.raises(ValueError, match="`events` must be covered"):
        RenyiFilter.for_run([ApproximateEvent(0.1, 1e-9)], 1e-6)
    with pytest.raises(ValueError, match="`order` must be larger"):
        RenyiFilter(2).capacity(Budget(0.1, 1e-9))


@pytest.mark.parametrize("order", [1, 0, 2.0, True, 1025, "8"])
def test_an_order_that_is_no_whole_number_in_range_is_refused(order):
    with pytest.raises(ValueError, match="`order` must be a whole number"):
        RenyiFilter(order)


def test_rules_are_found_by_the_name_that_receipts_write():
    assert COMPOSITIONS["renyi-8"] == RenyiFilter(8)
    assert COMPOSITIONS["renyi-8"].name == "renyi-8"
    assert COMPOSITIONS["zcdp"].name == "zcdp"
    assert set(COMPOSITIONS) == {"gaussian", "zcdp", "pure", "privacy_loss_distribution"}
    for name in ("renyi", "renyi-", "renyi-1", "renyi-08", "renyi-8.0", "renyi--8", "renyi-٨", "renyi-9999", "magic"):
        with pytest.raises(KeyError):
            COMPOSITIONS[name]
