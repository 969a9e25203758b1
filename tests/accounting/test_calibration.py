"""Noise and steps for a budget: the plan affords them, and hardly any more."""

from __future__ import annotations

import math

import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.calibration import largest_steps, subsampled_noise_multiplier
from counterfoil.accounting.curve import gaussian_epsilon
from counterfoil.accounting.event import SubsampledGaussianEvent
from counterfoil.accounting.plan import PrivacyLossPlan

PLAN = PrivacyLossPlan()


@pytest.mark.parametrize(
    ("epsilon", "delta", "q", "steps"),
    [
        (1.0, 1e-6, 0.2, 500),
        (8.0, 1e-6, 0.2, 500),
        (1.0, 1e-6, 0.2, 1),
        (0.5, 1e-9, 0.01, 3000),
        (100.0, 1e-6, 0.05, 200),
        (1.0, 1e-6, 1.0, 10),
        (0.01, 1e-12, 1e-4, 5000),
    ],
)
def test_the_noise_is_enough_and_hardly_more(epsilon, delta, q, steps):
    multiplier = subsampled_noise_multiplier(epsilon, delta, q, steps)
    budget = Budget(epsilon, delta)
    assert PLAN.affords(budget, [SubsampledGaussianEvent(multiplier, q, steps)])
    assert not PLAN.affords(budget, [SubsampledGaussianEvent(multiplier * (1 - 3e-4), q, steps)])
    # The same noise affords those steps, and few others.
    allowed = largest_steps(epsilon, delta, multiplier, q)
    assert steps * (1 - 1e-4) <= allowed <= steps * (1 + 1e-3)
    assert PLAN.affords(budget, [SubsampledGaussianEvent(multiplier, q, allowed)])


def test_the_largest_number_of_steps_is_exact_where_it_is_small():
    event, budget = SubsampledGaussianEvent(1.0, 0.1, 1), Budget(3.0, 1e-5)
    steps = largest_steps(budget.epsilon, budget.delta, event.noise_multiplier, event.sampling_probability)
    affordable = [PLAN.affords(budget, [SubsampledGaussianEvent(1.0, 0.1, count)]) for count in range(1, steps + 2)]
    assert affordable == [True] * steps + [False]


def test_steps_range_from_none_to_all_that_are_considered():
    assert largest_steps(0.1, 1e-9, 0.5, 0.5) == 0
    assert largest_steps(1.0, 1e-6, 1e9, 1e-6) == 2**30


def test_without_sampling_it_is_the_noise_of_the_gaussian_curve():
    multiplier = subsampled_noise_multiplier(2.0, 1e-5, 1.0, 9)
    assert gaussian_epsilon(3 / multiplier, 1e-5) == pytest.approx(2.0, rel=5e-4)


def test_where_delta_is_above_the_chance_to_be_drawn_hardly_any_noise_is_needed():
    assert subsampled_noise_multiplier(1.0, 1e-3, 1e-4, 1) < 0.03


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0.0, 1e-6, 0.1, 5), "epsilon"),
        ((1.0, 0.0, 0.1, 5), "delta"),
        ((1.0, 1.0, 0.1, 5), "delta"),
        ((1.0, 1e-6, 0.0, 5), "sampling_probability"),
        ((1.0, 1e-6, 1.1, 5), "sampling_probability"),
        ((1.0, 1e-6, 0.1, 0), "steps"),
        ((1.0, 1e-6, 0.1, 2.5), "steps"),
    ],
)
def test_parameters_out_of_range_are_refused(arguments, name):
    with pytest.raises(ValueError, match=f"`{name}`"):
        subsampled_noise_multiplier(*arguments)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((-1.0, 1e-6, 1.0, 0.1), "epsilon"), ((1.0, 0.0, 1.0, 0.1), "delta"), ((1.0, 1e-6, math.nan, 0.1), "noise")],
)
def test_steps_are_not_sought_for_parameters_out_of_range(arguments, name):
    with pytest.raises(ValueError, match=f"`{name}"):
        largest_steps(*arguments)
