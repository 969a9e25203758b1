"""Repeats until a run passes: their cost against exact laws of small mechanisms, of Gaussian ones, and of twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from accounting_laws import worst_gaussian_delta
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.composition import COMPOSITIONS
from counterfoil.accounting.curve import gaussian_delta, gaussian_epsilon, largest_mu
from counterfoil.accounting.event import GaussianEvent, PureEvent
from counterfoil.accounting.filter import ConcentratedFilter, GaussianFilter, PureFilter
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.accounting.repeated import (
    RepeatedConcentrated,
    RepeatedFilter,
    RepeatedGaussian,
    RepeatedPure,
    repeated,
    repeated_named,
)
from counterfoil.accounting.trade_off import trade_off

DELTA = 1e-9


def law_of_repeats(run: np.ndarray, passes: np.ndarray, attempts: int) -> np.ndarray:
    """The law of what is released, by adding up runs one by one: passing outputs, then "withheld"."""
    released, still = np.zeros(len(run) + 1), 1.0
    while still > 1e-15:
        released[:-1] += still * run * passes
        failed = still * float(run[~passes].sum())
        released[-1] += failed / attempts
        still = failed * (1 - 1 / attempts)
    return released


def delta_of(law: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    """The exact hockey-stick divergence."""
    return float(np.maximum(law - math.exp(epsilon) * other, 0).sum())


def laws(epsilon: float, cells: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two laws whose ratios are e**epsilon or e**-epsilon: extreme points of what pure privacy admits."""
    rng = np.random.default_rng(seed)
    signs = np.concatenate(([1, -1], rng.choice([-1, 1], cells - 2)))
    free = rng.dirichlet(np.ones(cells) * 0.3) + 1e-6
    up = signs > 0
    # With masses w on the up cells and v on the down cells of the first law, e**-epsilon w + e**epsilon v must be 1.
    first = np.where(up, free / free[up].sum(), free / free[~up].sum())
    high = (math.exp(epsilon) - 1) / (math.exp(epsilon) - math.exp(-epsilon))
    first = first * np.where(up, high, 1 - high)
    return first, first * np.exp(-epsilon * signs)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.sampled_from([0.1, 0.5, 1.0, 3.0]),
    st.integers(2, 6),
    st.integers(0, 2**32),
    st.sampled_from([2, 3, 7]),
    st.data(),
)
def test_repeats_of_pure_runs_are_as_private_as_stated(epsilon, cells, seed, attempts, data):
    law, other = laws(epsilon, cells, seed)
    assert np.allclose([law.sum(), other.sum()], 1)
    passes = np.array(data.draw(st.lists(st.booleans(), min_size=cells, max_size=cells)))
    stated = RepeatedPure(attempts).epsilon_of(epsilon, 0.0)
    assert epsilon <= stated <= 2 * epsilon + 1e-6
    one, two = (law_of_repeats(of, passes, attempts) for of in (law, other))
    for here, there in ((one, two), (two, one)):
        both = (here > 1e-12) & (there > 1e-12)
        assert np.log(here[both] / there[both]).max() <= stated + 1e-6


def test_the_stated_cost_of_pure_runs_is_nearly_attained():
    """Two outputs pass, one of them rare: its ratio and that of the probabilities of passing go the same way."""
    epsilon, attempts, least, most = 1.0, 50, 0.0, RepeatedPure(50).epsilon_of(1.0, 0.0)
    for share in np.linspace(0.01, 0.268, 60):
        # The rare output is e times as likely under the first law, and the rest of what passes e times less.
        rare = 1e-9
        law, other = np.array([rare * math.e, share]), np.array([rare, share * math.e])
        law, other = (np.append(of, 1 - of.sum()) for of in (law, other))
        assert np.abs(np.log(law / other)).max() <= epsilon + 1e-9
        passes = np.array([True, True, False])
        one, two = (law_of_repeats(of, passes, attempts) for of in (law, other))
        least = max(least, float(np.log(one[:2] / two[:2]).max()))
    assert 0.9 * most < least <= most


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("attempts", [2, 10])
def test_repeats_of_gaussian_runs_are_as_private_as_stated_and_twins_are_caught(epsilon, attempts):
    """The exact law of the worst of 1,711 rules for passing; at delta 1e-5, where floats keep their digits."""
    delta = 1e-5
    rule = RepeatedGaussian(attempts)
    mu = math.sqrt(rule.capacity(Budget(epsilon, delta)))
    assert rule.epsilon_of(mu * mu, delta) <= epsilon
    assert worst_gaussian_delta(mu, attempts, epsilon) <= delta
    # Attempts that are not charged: each run has the whole budget.
    whole = largest_mu(Budget(epsilon, delta))
    assert worst_gaussian_delta(whole, attempts, epsilon) > 1.2 * delta
    # Repeats without end, charged as if there were `attempts`.
    assert worst_gaussian_delta(mu, math.inf, epsilon) > 2 * delta


@pytest.mark.parametrize("mu", [1e-3, 0.16, 1.0, 8.0])
@pytest.mark.parametrize("attempts", [2, 20, 1000])
def test_the_ratio_of_chances_is_bounded_closely(mu, attempts):
    """By a grid of a million probabilities of passing."""
    points = np.linspace(-12 - mu, 10, 1_000_001)
    stop = 1 / attempts
    largest = np.log((stop + (1 - stop) * ndtr(points + mu)) / (stop + (1 - stop) * ndtr(points))).max()
    rule = RepeatedGaussian(attempts)
    ratio = rule.epsilon_of(mu * mu, DELTA) - GaussianFilter().epsilon_of(mu * mu, DELTA / attempts)
    assert largest <= ratio <= largest + 1e-5


@pytest.mark.parametrize("cost", [1e-4, 0.01, 0.5, 4.0])
@pytest.mark.parametrize("attempts", [2, 20])
def test_concentrated_runs_cover_gaussian_ones_and_randomized_response(cost, attempts):
    """Both are rho-zCDP; the largest ratio of the chances of passing of each is below the bound for rho."""
    rule, stop = RepeatedConcentrated(attempts), 1 / attempts
    ratio = rule.epsilon_of(cost, DELTA) - ConcentratedFilter().epsilon_of(cost, DELTA / attempts)
    mu, epsilon = math.sqrt(2 * cost), math.sqrt(2 * cost)
    p = ndtr(np.linspace(-12, 8, 10_001))
    for q in (ndtr(ndtri(p) + mu), np.minimum(math.exp(epsilon) * p, 1 - math.exp(-epsilon) * (1 - p))):
        assert np.log((stop + (1 - stop) * q) / (stop + (1 - stop) * p)).max() <= ratio
    assert ratio <= 4 * math.sqrt(cost) + 3 * cost


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_repeats_cost_less_than_runs_of_which_all_are_released(epsilon):
    """For each number of attempts: K Gaussian runs compose to one with sqrt(K) mu."""
    mu = largest_mu(Budget(epsilon, DELTA))
    for attempts in range(2, 21):
        together = gaussian_epsilon(mu * math.sqrt(attempts), DELTA)
        assert RepeatedGaussian(attempts).epsilon_of(mu * mu, DELTA) < together
        pure = PureFilter().epsilon_of(epsilon * attempts, 0.0)
        assert RepeatedPure(attempts).epsilon_of(epsilon, 0.0) < pure


@pytest.mark.parametrize("base", [GaussianFilter(), ConcentratedFilter(), PureFilter()])
def test_a_rule_is_known_by_its_name_and_spends_no_more_than_its_budget(base):
    rule = repeated(base, 5)
    assert isinstance(rule, RepeatedFilter)
    assert repeated_named(rule.name) == rule == COMPOSITIONS[rule.name]
    assert repeated(base, 1) is base
    budget = Budget(1.0, 0.0 if isinstance(base, PureFilter) else DELTA)
    capacity = rule.capacity(budget)
    assert 0.3 * base.capacity(budget) < capacity < base.capacity(budget)
    event = PureEvent(capacity * 1.0001) if isinstance(base, PureFilter) else base.event(capacity * 1.0001)
    assert rule.affords(budget, [rule.event(capacity * 0.9999)])
    assert not rule.affords(budget, [event])
    assert rule.epsilon([rule.event(capacity)], rule.delta(budget)) == pytest.approx(1.0, abs=1e-6)
    assert rule.epsilon([], rule.delta(budget)) == 0
    assert rule.epsilon_within(budget, 2.0) > 1.9


def test_the_trade_off_of_repeats_is_not_that_of_one_run():
    """Whoever draws the curve of a release must not draw that of a single run."""
    budget = Budget(1.0, DELTA)
    alarms = np.array([0.001, 0.01, 0.1])
    one = trade_off(GaussianFilter(), Budget(1.0, DELTA)).misses(alarms)
    all_of_them = trade_off(RepeatedGaussian(10), budget).misses(alarms)
    run = largest_mu(budget) ** 2
    assert RepeatedGaussian(10).capacity(budget) < run
    single = ndtr(ndtri(1 - alarms) - math.sqrt(RepeatedGaussian(10).capacity(budget)))
    assert (all_of_them < single - 1e-3).any()
    assert (one >= 0).all()


@pytest.mark.parametrize("attempts", [0, -1, 1001, 2.0, True, "3"])
def test_a_wrong_number_of_attempts_is_refused(attempts):
    with pytest.raises(ValueError, match="`attempts` must be a whole number from 1 to 1,000"):
        repeated(GaussianFilter(), attempts)


def test_rules_that_do_not_repeat_are_refused():
    with pytest.raises(ValueError, match="made once"):
        RepeatedGaussian(1)
    with pytest.raises(ValueError, match="attempt once"):
        repeated(RepeatedGaussian(2), 2)
    with pytest.raises(ValueError, match="attempt once"):
        repeated(COMPOSITIONS["renyi-8"], 2)
    for name in ("gaussian-repeated-1", "gaussian-repeated-05", "gaussian-repeated-", "renyi-8-repeated-2", "gaussian"):
        with pytest.raises(ValueError):
            repeated_named(name)
    with pytest.raises(KeyError):
        COMPOSITIONS["privacy_loss_distribution-repeated-2"]
    with pytest.raises(ValueError, match="`delta` must be positive"):
        RepeatedGaussian(3).capacity(Budget(1.0, 0.0))
    assert RepeatedGaussian(3).epsilon([PureEvent(0.1)], DELTA) < math.inf
    assert RepeatedPure(3).epsilon([GaussianEvent(5.0)], 0.0) == math.inf
    assert PrivacyLossPlan().name not in {repeated(GaussianFilter(), 2).name}


def test_a_gaussian_run_of_any_size_has_a_finite_cost():
    for mu in (1e-2, 10.0):
        rule = RepeatedGaussian(7)
        assert 0 < rule.epsilon_of(mu * mu, DELTA) < math.inf
        assert gaussian_delta(rule.epsilon_of(mu * mu, DELTA), mu) < DELTA
