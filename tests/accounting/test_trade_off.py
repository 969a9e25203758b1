"""The trade-off curve of a guarantee against exact tests between the laws of mechanisms, by Neyman and Pearson."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.event import GaussianEvent, PureEvent, SubsampledGaussianEvent
from counterfoil.accounting.filter import ConcentratedFilter, GaussianFilter, PureFilter
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.accounting.renyi_filter import RenyiFilter
from counterfoil.accounting.repeated import repeated
from counterfoil.accounting.trade_off import TradeOff, trade_off
from counterfoil.receipt.text import odds

ALARMS = np.unique(np.concatenate([np.geomspace(1e-6, 0.05, 40), np.linspace(0.05, 1, 60)]))
BUDGETS = [Budget(epsilon, delta) for epsilon in (0.1, 1.0, 5.0) for delta in (1e-9, 1e-3)]
FILTERS = [GaussianFilter(), ConcentratedFilter(), RenyiFilter(16)]


def least_misses(first: np.ndarray, second: np.ndarray, alarms: np.ndarray) -> np.ndarray:
    """The fewest misses of any test between two laws on the same outcomes: the likeliest under the second go first.

    A test that takes the second law to be there raises false alarms with the probability of the first.
    """
    order = np.argsort(-second / np.maximum(first, 1e-300), kind="stable")
    raised = np.concatenate([[0.0], np.cumsum(first[order])])
    missed = 1 - np.concatenate([[0.0], np.cumsum(second[order])])
    return np.interp(alarms, raised, missed)


def response(epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Randomized response, the worst mechanism of its epsilon."""
    true = 1 / (1 + math.exp(-epsilon))
    return np.array([true, 1 - true]), np.array([1 - true, true])


def normals(mu: float) -> tuple[np.ndarray, np.ndarray]:
    """N(0, 1) and N(mu, 1) in cells so narrow that cutting changes a curve by less than 1e-4."""
    edges = np.linspace(-8, 8 + mu, 8000)
    return np.diff(norm.cdf(edges)), np.diff(norm.cdf(edges - mu))


def normals_at(mu: float) -> tuple[np.ndarray, np.ndarray]:
    """The same on one grid that a threshold can be laid on."""
    edges = np.linspace(-8, 8, 8000)
    return np.diff(norm.cdf(edges)), np.diff(norm.cdf(edges - mu))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_a_gaussian_budget_has_the_curve_of_one_gaussian(epsilon: float) -> None:
    budget = Budget(epsilon, 1e-9)
    mu = math.sqrt(GaussianFilter().capacity(budget))
    found = trade_off(GaussianFilter(), budget).misses(ALARMS)
    exact = norm.cdf(norm.ppf(1 - ALARMS) - mu)
    assert (found <= exact).all()
    assert found == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("times", [1, 3])
def test_no_test_between_responses_beats_a_pure_budget(times: int) -> None:
    first, second = (np.ones(1), np.ones(1))
    for _ in range(times):
        one, other = response(1.2 / times)
        first, second = np.outer(first, one).ravel(), np.outer(second, other).ravel()
    exact = least_misses(first, second, ALARMS)
    curve = trade_off(PureFilter(), Budget(1.2)).misses(ALARMS)
    assert (curve <= exact + 1e-9).all()
    if times == 1:
        assert curve == pytest.approx(exact, abs=1e-9), "one response is the worst mechanism there is"
    cheaper = trade_off(PureFilter(), Budget(0.9)).misses(ALARMS)
    assert (cheaper > exact + 1e-6).any(), "a curve of three quarters of the budget is caught"


@pytest.mark.parametrize(
    ("rule", "budget"),
    [(ConcentratedFilter(), budget) for budget in BUDGETS]
    + [(RenyiFilter(64), budget) for budget in BUDGETS if budget.epsilon >= 1],  # it promises nothing below
)
def test_no_test_between_normals_beats_a_concentrated_budget(rule, budget: Budget) -> None:
    capacity = rule.capacity(budget)
    rho = capacity if rule.name == "zcdp" else capacity / rule.order  # N(0, 1) against N(mu, 1): order * mu**2 / 2
    exact = norm.cdf(norm.ppf(1 - ALARMS) - math.sqrt(2 * rho))
    curve = trade_off(rule, budget).misses(ALARMS)
    assert (curve <= exact + 1e-12).all()
    own = np.maximum(1 - budget.delta - math.exp(budget.epsilon) * ALARMS, 0)
    assert (curve >= own - 1e-6).all(), "no worse than the budget itself"


@pytest.mark.parametrize("attempts", [2, 20])
@pytest.mark.parametrize("threshold", [-1.0, 1.0, 2.5])
def test_no_test_between_repeated_runs_beats_their_budget(attempts: int, threshold: float) -> None:
    """A run is a normal number that passes above a threshold; the first that passes is released, or that none did."""
    rule, budget = repeated(GaussianFilter(), attempts), Budget(3.0, 1e-3)
    laws = []
    passing = np.linspace(-8, 8, 8000)[1:] > threshold
    for law in normals_at(math.sqrt(rule.capacity(budget))):
        going_on = 1 / (1 / attempts + (1 - 1 / attempts) * law[passing].sum())
        laws.append(np.append(law[passing], law[~passing].sum() / attempts) * going_on)
    assert laws[0].sum() == pytest.approx(1)
    curve = trade_off(rule, budget).misses(ALARMS)
    for first, second in (laws, laws[::-1]):
        assert (curve <= least_misses(first, second, ALARMS) + 2e-4).all()


def test_a_plan_of_several_noises() -> None:
    events = [GaussianEvent(2.0), GaussianEvent(3.0), PureEvent(0.4)]
    rule = PrivacyLossPlan()
    budget = Budget(rule.epsilon(events, 1e-6), 1e-6)
    curve = trade_off(rule, budget, events).misses(ALARMS)
    one, other = normals(math.sqrt(1 / 4 + 1 / 9))
    first, second = (
        np.outer(normal, answer).ravel() for normal, answer in zip((one, other), response(0.4), strict=True)
    )
    exact = least_misses(first, second, ALARMS)
    assert (curve <= exact + 2e-4).all()
    assert (curve >= exact - 0.06).all(), "and it says nearly as much"
    without = trade_off(rule, budget, events[:1]).misses(ALARMS)
    assert (without > exact + 0.01).any(), "a plan that leaves out two answers is caught"


def test_a_plan_that_nobody_recorded_has_the_curve_of_its_budget() -> None:
    assert trade_off(PrivacyLossPlan(), Budget(1.0, 1e-6)).pairs == ((1.0, 1e-6),)
    sampled = trade_off(PrivacyLossPlan(), Budget(1.0, 1e-6), [SubsampledGaussianEvent(4.0, 0.1, 20)])
    assert sampled.mu == pytest.approx(math.sqrt(20) / 4)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.3, 0.5), (1.0, 0.2)])
def test_what_was_answered_before_counts(epsilon: float, mu: float) -> None:
    """A bought schema first, a response here, then a release that depends on it, a Gaussian of twice the shift or half.

    The release's own curve is that of the larger shift, whichever answer the first step gave.
    """
    first, second = [], []
    for (one, other), shift in zip(zip(*response(epsilon), strict=True), (mu, mu / 2), strict=True):
        before, after = normals(shift)
        first.append(one * before)
        second.append(other * after)
    exact = least_misses(np.concatenate(first), np.concatenate(second), ALARMS)
    backwards = least_misses(np.concatenate(second), np.concatenate(first), ALARMS)
    whole = TradeOff(mu, (), before=Budget(epsilon)).misses(ALARMS)
    assert (whole <= np.minimum(exact, backwards) + 2e-4).all()
    alone = TradeOff(mu, ()).misses(ALARMS)
    assert (alone > np.minimum(exact, backwards) + 0.01).any(), "leaving out the schema is caught"


@given(
    st.sampled_from(FILTERS),
    st.floats(0.05, 8),
    st.sampled_from([1e-12, 1e-6, 1e-2]),
    st.sampled_from([None, Budget(0.3, 1e-6)]),
)
def test_every_curve_is_one(rule, epsilon: float, delta: float, before: Budget | None) -> None:
    """Between 0 and guessing, falling, convex, and in line with the odds that the receipt's page states."""
    budget = Budget(epsilon, delta)
    try:
        made = trade_off(rule, budget)
    except ValueError:
        return  # an order that promises nothing at this budget
    made = TradeOff(made.mu, made.pairs, made.slack, before)
    even = np.linspace(0, 1, 201)
    misses = made.misses(even)
    assert (misses >= 0).all()
    assert (misses <= 1 - even).all()
    assert (np.diff(misses) <= 1e-9).all()
    if before is None:
        assert (np.diff(misses, 2) >= -1e-9).all()
        rights = (1 - even + 1 - misses) / 2
        assert rights.max() <= odds(epsilon, delta) + 1e-6


def test_what_is_held_back_lowers_the_curve() -> None:
    lowered = TradeOff(0.5, (), slack=1e-3).misses(ALARMS)
    plain = TradeOff(0.5, ()).misses(ALARMS)
    assert (lowered <= plain).all()
    assert lowered[10] < plain[10] - 1e-3
    assert TradeOff(math.inf, ()).found(0.05) == 1.0, "nothing is known: all may be found"
