"""Conversions between costs and (epsilon, delta), against high-precision arithmetic."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve import (
    concentrated_delta,
    concentrated_epsilon,
    gaussian_delta,
    gaussian_epsilon,
    largest_mu,
    largest_rho,
)

budgets = st.builds(Budget, st.floats(1e-3, 20.0), st.floats(1e-14, 1e-3))


def true_gaussian_delta(epsilon: float, mu: float) -> mpmath.mpf:
    with mpmath.workdps(50):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(-e / m + m / 2) - mpmath.exp(e) * mpmath.ncdf(-e / m - m / 2)


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


def test_delta_of_zcdp_is_at_most_one():
    assert 0 < concentrated_delta(0.0, 100.0) <= 1 + 1e-11
    assert concentrated_delta(1.0, 0.0) == 0.0
