"""What events cost, against the definition of each currency and the exact probabilities of mechanisms."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.event import (
    BoundedRangeEvent,
    GaussianEvent,
    PureEvent,
    bounded_range_of_mu,
    event_from_json,
)
from counterfoil.accounting.filter import GaussianFilter, PureFilter

multipliers = st.floats(0.5, 1e4)
epsilons = st.floats(1e-4, 5.0)
events = st.one_of(
    st.builds(GaussianEvent, multipliers), st.builds(PureEvent, epsilons), st.builds(BoundedRangeEvent, epsilons)
)


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
    sticks = np.maximum(p - np.exp(losses)[:, None] * q, 0).sum(axis=1)
    return float((sticks / signed_delta(losses, mu)).max())


def signed_delta(epsilon: np.ndarray, mu: float) -> np.ndarray:
    return ndtr(-epsilon / mu + mu / 2) - np.exp(epsilon) * ndtr(-epsilon / mu - mu / 2)


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
