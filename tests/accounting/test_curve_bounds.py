"""Bounds of delta in decimals, against another library's digits; and figures that floats got wrong."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal

import mpmath
import pytest
import scipy.special
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr

from counterfoil.accounting import event as privacy_event
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve import concentrated_epsilon, gaussian_epsilon, largest_mu, largest_rho
from counterfoil.accounting.curve_bounds import _PI, concentrated_delta_bound, gaussian_delta_bound
from counterfoil.accounting.event import BoundedRangeEvent, PureEvent

powers = st.floats(-9.0, 1.7).map(lambda power: 10.0**power)


def true_gaussian_delta(epsilon, mu):
    with mpmath.workdps(150):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(-e / m + m / 2) - mpmath.exp(e) * mpmath.ncdf(-e / m - m / 2)


def true_concentrated_delta(epsilon, rho):
    """At its best order, which is where the derivative of its logarithm is zero."""
    with mpmath.workdps(150):
        e, r = mpmath.mpf(epsilon), mpmath.mpf(rho)

        def slope(a):
            return (2 * a - 1) * r - e + mpmath.log1p(-1 / a)

        low, high = 1 + mpmath.mpf(10) ** -40, 10 + (e / r + 1) + 1 / mpmath.sqrt(r)
        assert slope(low) < 0 < slope(high)
        for _ in range(400):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) < 0 else (low, middle)
        return mpmath.exp((low - 1) * (low * r - e)) * (1 - 1 / low) ** low / (low - 1)


def exactly(value: Decimal):
    with mpmath.workdps(150):
        return mpmath.mpf(str(value))


def test_pi_has_all_its_digits():
    with mpmath.workdps(100):
        assert abs(exactly(_PI) - mpmath.pi) < mpmath.mpf(10) ** -80


@settings(deadline=None)
@given(st.one_of(st.just(0.0), powers), powers)
@example(1.0, 1.0)
@example(0.5 - 1e-9, 1.0)
@example(1.5, 1.0)
@example(40.0, 9.0)
def test_the_bound_of_a_gaussian_is_above_the_truth_and_nearly_there(epsilon, mu):
    if epsilon / mu > 1e3:
        assert gaussian_delta_bound(epsilon, mu) < Decimal("1e-10000")
        return
    true, bound = true_gaussian_delta(epsilon, mu), exactly(gaussian_delta_bound(epsilon, mu))
    assert bound >= true
    assert bound <= true * (1 + mpmath.mpf(10) ** -15) or true < mpmath.mpf(10) ** -300


def test_the_bound_of_a_gaussian_is_safe_where_it_is_not_computed():
    assert gaussian_delta_bound(1.0, 0.0) == 0
    assert 0 < gaussian_delta_bound(1e10, 1e-10) < Decimal("1e-999999")
    assert gaussian_delta_bound(1.0, 1e10) == 1
    assert 1 <= gaussian_delta_bound(0.0, 1.99e9) < 1.000001


@settings(deadline=None)
@given(powers, powers, powers)
def test_the_bound_of_zcdp_is_that_of_its_order(epsilon, rho, excess):
    with mpmath.workdps(150):
        e, a = mpmath.mpf(excess), 1 + mpmath.mpf(excess)
        exact = mpmath.exp(e * (a * mpmath.mpf(rho) - mpmath.mpf(epsilon))) * (1 - 1 / a) ** a / e
        bound = exactly(concentrated_delta_bound(epsilon, rho, excess))
        assert min(exact, mpmath.mpf(1)) <= bound <= exact * (1 + mpmath.mpf(10) ** -29)
    assert concentrated_delta_bound(epsilon, rho, 0.0) == concentrated_delta_bound(epsilon, rho, math.inf) == 1


def test_bounds_do_not_depend_on_the_precision_of_the_caller():
    bounds = gaussian_delta_bound(1.0, 0.3), concentrated_delta_bound(1.0, 0.05, 9.0)
    with decimal.localcontext(prec=3, rounding=decimal.ROUND_FLOOR):
        assert (gaussian_delta_bound(1.0, 0.3), concentrated_delta_bound(1.0, 0.05, 9.0)) == bounds


@pytest.mark.parametrize("error", [1e-8, 1e-5, 1e-3])
@pytest.mark.parametrize("mu", [1e-4, 0.1, 3.0])
def test_a_wrong_logarithm_cannot_make_a_figure_too_small(monkeypatch, error, mu):
    """As if scipy's were worse than thought, in the direction that hides delta."""
    monkeypatch.setattr(scipy.special, "log_ndtr", lambda z: log_ndtr(z) - error)
    delta = 1e-9
    epsilon = gaussian_epsilon.__wrapped__(mu, delta)
    assert true_gaussian_delta(epsilon, mu) <= delta
    assert true_gaussian_delta(epsilon / (1 + 1e-9 + 10 * error), mu) > delta or mu < 1e-3
    largest = largest_mu.__wrapped__(Budget(epsilon, delta))
    assert true_gaussian_delta(epsilon, largest) <= delta


@pytest.mark.parametrize("delta", [1e-15, 1e-9, 1e-5])
@pytest.mark.parametrize("epsilon", [1e-8, 1e-7, 1e-6])
def test_tiny_budgets_of_zcdp_lose_nothing_to_rounding(epsilon, delta):
    """Orders are in the millions there: floats alone hid up to a millionth of delta."""
    rho = largest_rho(Budget(epsilon, delta))
    assert true_concentrated_delta(epsilon, rho) <= delta
    cost = 1e-4 * rho
    assert true_concentrated_delta(concentrated_epsilon(cost, delta), cost) <= delta


@pytest.mark.parametrize("epsilon", [1e-40, 1e-20, 1e-9, 0.01, 0.999, 1.0, 5.0, 700.0, 1e6])
def test_wrong_quantiles_cannot_make_an_event_too_cheap(monkeypatch, epsilon):

    def is_enough(mu):
        with mpmath.workdps(100):
            corner = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
            return mpmath.ncdf(-mpmath.mpf(mu) * (1 + mpmath.mpf("1e-13")) / 2) <= corner

    right = PureEvent(epsilon).mu
    assert is_enough(right)
    privacy_event._symmetric_mu.cache_clear()
    for name in ("erfinv", "ndtri_exp"):
        quantile = getattr(scipy.special, name)
        monkeypatch.setattr(scipy.special, name, lambda value, quantile=quantile: quantile(value) * 0.999)
    assert is_enough(PureEvent(epsilon).mu)
    assert PureEvent(epsilon).mu <= right * 1.002
    assert BoundedRangeEvent(2 * epsilon).mu == PureEvent(epsilon).mu
    privacy_event._symmetric_mu.cache_clear()


def test_an_event_beyond_all_budgets_has_no_mu():
    assert PureEvent(1e300).mu == math.inf
