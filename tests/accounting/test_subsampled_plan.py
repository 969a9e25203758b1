"""Runs on random batches in a plan: against simulation, another library's composition, and what is attained."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from dp_accounting.pld import pld_pmf
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import norm

from counterfoil.accounting.budget import DELTA_SLACK, Budget
from counterfoil.accounting.event import (
    ApproximateEvent,
    BoundedRangeEvent,
    GaussianEvent,
    PureEvent,
    SubsampledGaussianEvent,
    event_from_json,
)
from counterfoil.accounting.filter import ConcentratedFilter, GaussianFilter, PureFilter
from counterfoil.accounting.plan import PrivacyLossPlan

PLAN = PrivacyLossPlan()
runs = st.builds(SubsampledGaussianEvent, st.floats(0.4, 20.0), st.floats(0.001, 1.0), st.integers(1, 300))
deltas = st.floats(-12.0, -3.0).map(lambda power: 10.0**power)

# At T = 500, q = 0.2 and delta 1e-6, noise for which the central limit says 1, 2 and 8; what was reached elsewhere.
GOALS = [(19.292888926462286, 1, 0.9956), (10.375104441726092, 2, 1.983), (3.323110389787958, 8, 7.732)]


def attained_epsilon(multiplier: float, q: float, steps: int, delta: float, width: float) -> float:
    """Less than the epsilon of (1 - q) N(0) + q N(mu) against N(0), which a replaced record attains.

    Losses are rounded down to multiples of `width`, and composed by a transform, whose error is far below delta.
    """
    mu, size = 1 / multiplier, 2**19
    x = np.linspace(-12, 12 + mu, 300_001)
    middle = (x[1:] + x[:-1]) / 2
    masses = (1 - q) * np.diff(ndtr(x)) + q * np.diff(ndtr(x - mu))
    losses = np.log1p(q * np.expm1(mu * (middle - (x[1] - x[0]) / 2) - mu * mu / 2))
    index = np.floor(losses / width).astype(np.int64)
    one = np.bincount(index % size, masses, size)
    total = np.fft.irfft(np.fft.rfft(one) ** steps, size)
    at = np.arange(size)
    at[at > size // 2] -= size

    def delta_of(epsilon):
        return float((total * np.maximum(0, -np.expm1(np.minimum(epsilon - at * width, 0)))).sum())

    return brentq(lambda epsilon: delta_of(epsilon) - delta, 1e-3, 30.0)


@pytest.mark.parametrize(("multiplier", "limit", "reached"), GOALS)
def test_a_run_of_500_steps_is_near_its_central_limit_and_above_what_is_attained(multiplier, limit, reached):
    planned = PLAN.epsilon([SubsampledGaussianEvent(multiplier, 0.2, 500)], 1e-6)
    assert planned == pytest.approx(reached, rel=3e-4)
    if limit < 8:
        assert planned == pytest.approx(limit, rel=0.02)
    attained = attained_epsilon(multiplier, 0.2, 500, 1e-6, 1e-5 if limit < 8 else 1e-4)
    assert 0.9 * planned < attained < planned


def test_one_step_is_far_above_its_central_limit():
    """Where the limit says 1, a single step of q = 0.2 costs about 2, which is attained."""
    multiplier = 1.2568495076627733
    planned = PLAN.epsilon([SubsampledGaussianEvent(multiplier, 0.2, 1)], 1e-6)
    assert planned == pytest.approx(1.9987, rel=1e-3)
    assert planned >= attained_epsilon(multiplier, 0.2, 1, 1e-6, 1e-5)


@settings(max_examples=40, deadline=None)
@example(0.5, 1e-4, 1e-5)
@given(st.floats(0.2, 20.0), st.floats(1e-4, 1.0), deltas)
def test_one_step_costs_what_its_profile_says(multiplier, q, delta):
    planned = PLAN.epsilon([SubsampledGaussianEvent(multiplier, q, 1)], delta)
    mu = 1 / multiplier

    def profile(epsilon):
        x = math.log1p(math.expm1(epsilon) / q)
        return q * float(ndtr(mu / 2 - x / mu) - math.exp(x + norm.logcdf(-mu / 2 - x / mu)))

    if planned > 1e-6:
        assert profile(planned) <= delta * (1 + 1e-6)
        # Losses lie on a grid and are rounded up: where epsilon is below .01, that is most of what is planned too much.
        assert profile(max(0.995 * planned - 2e-4, 0.0)) >= delta * (1 - DELTA_SLACK) * (1 - 1e-6)
    else:
        assert profile(0.0) <= delta * (1 + 1e-6)


@settings(max_examples=20, deadline=None)
@given(runs, deltas)
def test_without_sampling_it_is_gaussian_noise(run, delta):
    whole = SubsampledGaussianEvent(run.noise_multiplier, 1.0, run.steps)
    gaussian = [GaussianEvent(run.noise_multiplier)] * run.steps
    assert PLAN.epsilon([whole], delta) == pytest.approx(PLAN.epsilon(gaussian, delta), rel=1e-12)
    nearly = SubsampledGaussianEvent(run.noise_multiplier, 1 - 1e-9, run.steps)
    assert PLAN.epsilon([nearly], delta) <= PLAN.epsilon(gaussian, delta) * (1 + 1e-12)
    assert PLAN.epsilon([nearly], delta) == pytest.approx(PLAN.epsilon(gaussian, delta), rel=1e-3)


@pytest.mark.parametrize(
    ("multiplier", "q", "steps", "width"), [(1.0, 0.05, 20, 2e-3), (2.0, 0.3, 100, 1e-3), (0.7, 0.01, 300, 2e-3)]
)
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_another_librarys_composition_agrees_within_a_percent(multiplier, q, steps, width, delta):
    """dp-accounting's connect-the-dots of the same profile, composed by its transforms."""
    mu = 1 / multiplier
    points = np.arange(-8000, 8001)
    a = np.exp(np.abs(points) * width)
    x = np.log1p((a - 1) / q)
    sticks = q * (ndtr(mu / 2 - x / mu) - np.exp(x + norm.logcdf(-mu / 2 - x / mu)))
    # For a < 1: 1 - a + a h(1 / a).
    sticks = np.where(points < 0, 1 - 1 / a + sticks / a, sticks)
    one = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(width, -8000, 8000, np.maximum(sticks, 0))
    theirs = one.self_compose(steps, 1e-15).get_epsilon_for_delta(delta)
    assert PLAN.epsilon([SubsampledGaussianEvent(multiplier, q, steps)], delta) == pytest.approx(theirs, rel=0.01)


@pytest.mark.parametrize(("multiplier", "q", "steps"), [(1.0, 0.2, 30), (0.5, 0.02, 25)])
def test_simulated_losses_have_the_delta_of_the_plan(multiplier, q, steps):
    """Sums of losses drawn from the covering pair. False alarms: 1e-6 for each side (Bernstein's inequality)."""
    random, mu, trials, delta = np.random.default_rng(11), 1 / multiplier, 300_000, 0.01
    epsilon = PLAN.epsilon([SubsampledGaussianEvent(multiplier, q, steps)], delta)
    upper = (1 - q) * ndtr(-mu / 2) + q * ndtr(mu / 2)
    total = np.zeros(trials)
    for _ in range(steps):
        x = random.normal(size=trials) + mu * (random.random(trials) < q)
        share = random.random(trials) * (1 - upper)
        negative = ndtri(np.minimum(share, ndtr(-mu / 2)))  # -x, for those below Phi(-mu/2)
        loss = np.where(share < ndtr(-mu / 2), -np.log1p(q * np.expm1(-mu * negative - mu * mu / 2)), 0.0)
        total += np.where(x > mu / 2, np.log1p(q * np.expm1(mu * x - mu * mu / 2)), loss)

    def within(at, value):
        found = float(np.maximum(0, -np.expm1(np.minimum(at - total, 0))).mean())
        log = math.log(1e6)
        return abs(found - value) <= math.sqrt(2 * value * log / trials) + log / trials

    assert within(epsilon, delta)
    assert not within(0.9 * epsilon, delta)
    assert not within(1.1 * epsilon, delta)


@settings(max_examples=6, deadline=None)
@given(runs, deltas, st.floats(1.05, 3.0))
def test_epsilon_rises_with_noise_removed_with_sampling_and_with_steps_and_falls_with_delta(run, delta, factor):
    multiplier, q, steps = run.noise_multiplier, run.sampling_probability, run.steps
    least = PLAN.epsilon([run], delta) * (1 - 2e-3) - 2e-9
    assert least <= PLAN.epsilon([SubsampledGaussianEvent(multiplier / factor, q, steps)], delta)
    assert least <= PLAN.epsilon([SubsampledGaussianEvent(multiplier, min(1.0, q * factor), steps)], delta)
    assert least <= PLAN.epsilon([SubsampledGaussianEvent(multiplier, q, math.ceil(steps * factor))], delta)
    assert least <= PLAN.epsilon([run], delta / factor)
    assert PLAN.epsilon([run], delta) <= PLAN.epsilon([GaussianEvent(multiplier)] * steps, delta) * (1 + 1e-12)


@settings(max_examples=12, deadline=None)
@given(st.floats(0.5, 5.0), st.floats(0.01, 0.9), st.integers(1, 40), st.integers(1, 40), deltas)
def test_runs_of_one_kind_add_their_steps(multiplier, q, one, other, delta):
    parts = [SubsampledGaussianEvent(multiplier, q, one), SubsampledGaussianEvent(multiplier, q, other)]
    whole = SubsampledGaussianEvent(multiplier, q, one + other)
    assert PLAN.epsilon(parts, delta) == PLAN.epsilon([whole], delta)


@settings(max_examples=12, deadline=None)
@given(st.floats(0.5, 4.0), st.floats(0.01, 0.9), st.floats(0.5, 4.0), st.floats(0.05, 2.0), deltas)
def test_mixtures_with_other_events_are_what_an_integral_says(multiplier, q, other, epsilon, delta):
    """One step, one Gaussian and one pure event: the delta is an integral over x of that of the Gaussian."""
    delta = max(delta, 1e-9)
    mu, one = 1 / multiplier, 1 / other
    x = np.linspace(mu / 2, 14 + mu, 20_001)
    x = (x[1:] + x[:-1]) / 2
    ratio = np.log1p(q * np.expm1(mu * x - mu * mu / 2))
    density = norm.pdf(x) * (x[1] - x[0])
    losses = np.concatenate([-ratio, ratio, [0.0]])
    masses = np.concatenate([density, density * np.exp(ratio), [(1 - q) * (1 - 2 * ndtr(-mu / 2))]])
    keep = 1 / (1 + math.exp(-epsilon))

    def delta_of(at):
        def of_gaussian(e):
            return ndtr(one / 2 - e / one) - np.exp(e + norm.logcdf(-one / 2 - e / one))

        finite = keep * of_gaussian(at - losses - epsilon) + (1 - keep) * of_gaussian(at - losses + epsilon)
        return float((masses * finite).sum())

    events = [SubsampledGaussianEvent(multiplier, q, 1), GaussianEvent(other), PureEvent(epsilon)]
    planned = PLAN.epsilon(events, delta)
    if planned > 1e-6:
        assert delta_of(planned) <= delta * (1 + 1e-6)
        assert delta_of(0.995 * planned - 1e-4) >= delta * (1 - 1e-6)
    assert PLAN.epsilon([events[0], events[1], BoundedRangeEvent(epsilon)], delta) == planned
    also = PLAN.epsilon([*events[:2], ApproximateEvent(epsilon, delta / 2)], delta)
    remaining = (delta * (1 - DELTA_SLACK) - delta / 2) / (1 - delta / 2) / (1 - DELTA_SLACK)
    assert also == pytest.approx(PLAN.epsilon(events, remaining), rel=1e-6)


def test_two_runs_of_different_kinds_cost_more_than_each_and_less_than_both():
    one, other = SubsampledGaussianEvent(2.0, 0.1, 200), SubsampledGaussianEvent(2.0, 0.2, 100)
    both = PLAN.epsilon([one, other], 1e-6)
    assert max(PLAN.epsilon([one], 1e-6), PLAN.epsilon([other], 1e-6)) < both
    assert both < PLAN.epsilon([one], 5e-7) + PLAN.epsilon([other], 5e-7)
    # Each of 300 steps with the larger probability costs as much or more.
    assert both < PLAN.epsilon([SubsampledGaussianEvent(2.0, 0.2, 300)], 1e-6)


@pytest.mark.parametrize("delta", [1e-12, 1e-3])
@pytest.mark.parametrize("mu", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("q", [1e-4, 0.5])
@pytest.mark.parametrize("steps", [1, 20_000])
def test_the_whole_range_is_computed(delta, mu, q, steps):
    """And is at least what one step attains at that delta, and the Gaussian limit's order of magnitude at most."""
    event = SubsampledGaussianEvent(1 / mu, q, steps)
    planned = PLAN.epsilon([event], delta)
    assert PLAN.epsilon([SubsampledGaussianEvent(1 / mu, q, 1)], delta) <= planned * (1 + 1e-9)
    assert planned <= PLAN.epsilon([GaussianEvent(1 / (mu * math.sqrt(steps)))], delta)


def test_extreme_runs_give_infinities_rather_than_errors():
    for event in (
        SubsampledGaussianEvent(1e-300, 0.5, 2**53),
        SubsampledGaussianEvent(1e-6, 1e-9, 10**6),
        SubsampledGaussianEvent(0.02, 1e-300, 2**53),
    ):
        assert PLAN.epsilon([event], 1e-9) == math.inf or PLAN.epsilon([event], 1e-9) > 1e5
    assert PLAN.epsilon([SubsampledGaussianEvent(1.0, 0.5, 10)], 0.0) == math.inf
    assert PLAN.epsilon([SubsampledGaussianEvent(1e200, 1e-200, 10)], 1e-200) < 1e-3
    assert PLAN.affords(Budget(1.0, 1e-6), [SubsampledGaussianEvent(1e9, 1e-12, 2**30)])


@given(runs)
def test_runs_survive_json_and_are_keys(run):
    restored = event_from_json(json.loads(json.dumps(run.to_json())))
    assert restored == run
    assert {restored: 1}[run] == 1
    assert set(run.to_json()) == {"kind", "noise_multiplier", "sampling_probability", "steps"}


@pytest.mark.parametrize(
    "changed",
    [
        {"steps": 3.0},
        {"steps": True},
        {"steps": 0},
        {"steps": 2**53 + 1},
        {"steps": "3"},
        {"sampling_probability": 0.0},
        {"sampling_probability": 1.0000001},
        {"sampling_probability": True},
        {"sampling_probability": math.nan},
        {"noise_multiplier": 0.0},
        {"noise_multiplier": True},
        {"noise_multiplier": math.inf},
    ],
)
def test_a_run_out_of_range_is_refused(changed):
    record = {"kind": "subsampled_gaussian", "noise_multiplier": 1.0, "sampling_probability": 0.5, "steps": 3}
    assert event_from_json(record) == SubsampledGaussianEvent(1.0, 0.5, 3)
    (name,) = changed
    with pytest.raises(ValueError, match=f"`{name}` must be"):
        event_from_json({**record, **changed})


@settings(max_examples=15, deadline=None)
@given(runs, deltas)
def test_filters_count_a_run_without_its_sampling(run, delta):
    gaussian = [GaussianEvent(run.noise_multiplier)] * run.steps
    for rule in (GaussianFilter(), ConcentratedFilter()):
        assert rule.epsilon([run], delta) == pytest.approx(rule.epsilon(gaussian, delta), rel=1e-9)
    assert PureFilter().cost(run) == math.inf


@pytest.mark.parametrize("q", [0.05, 0.5])
def test_no_smaller_mu_holds_for_a_run(q):
    """Far in the tail, one step's trade-off is that of its noise: for 0.9 mu the delta would be exceeded."""
    event, mu = SubsampledGaussianEvent(0.5, q, 1), 2.0
    epsilon = 40.0
    x = math.log1p(math.expm1(epsilon) / q)
    delta = (
        math.log(q)
        + norm.logcdf(mu / 2 - x / mu)
        + math.log1p(-math.exp(x + norm.logcdf(-mu / 2 - x / mu) - norm.logcdf(mu / 2 - x / mu)))
    )
    assert event.mu == mu
    assert delta > norm.logcdf(0.9 * mu / 2 - epsilon / (0.9 * mu))
    assert delta < norm.logcdf(mu / 2 - epsilon / mu)
