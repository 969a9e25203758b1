"""The constants that certificates take from a loss."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.theory.loss import HINGE, LOGISTIC, Loss


@given(st.sampled_from([LOGISTIC, HINGE]), st.floats(-30, 30), st.floats(-30, 30))
def test_lipschitz_constants_hold(loss, s, t):
    assert abs(loss.at(s) - loss.at(t)) <= loss.lipschitz * abs(s - t) + 1e-12


@given(st.floats(-10, 10))
def test_the_logistic_derivative_is_a_quarter_lipschitz(t):
    second = (LOGISTIC.at(t + 1e-3) - 2 * LOGISTIC.at(t) + LOGISTIC.at(t - 1e-3)) / 1e-6
    assert -1e-6 <= second <= LOGISTIC.smoothness + 1e-6
    assert pytest.approx(0.25, abs=1e-6) == (LOGISTIC.at(1e-3) - 2 * LOGISTIC.at(0) + LOGISTIC.at(-1e-3)) / 1e-6


@given(st.floats(0.1, 20))
def test_steepness_bounds_the_slope_inside_and_is_sharp(radius):
    exact = 1 / (1 + math.exp(-radius))  # of the logistic loss, at the left end
    assert exact - 1e-12 <= LOGISTIC.steepness(radius) <= min(1.0, exact + 1e-4)


def test_steepness_of_a_loss_that_is_not_convex_is_its_lipschitz_constant():
    ramp = Loss("ramp", lambda t: np.clip(1 - t, 0, 1), lipschitz=1.0)
    assert ramp.steepness(0.1) == 1.0  # flat at the ends of the interval, steep elsewhere
    assert HINGE.steepness(0.5) == 1.0


def test_span_of_the_logistic_loss_is_the_radius():
    assert LOGISTIC.span(3.0) == pytest.approx(3.0)
    assert HINGE.span(3.0) == pytest.approx(4.0)


@pytest.mark.parametrize(
    "constants", [{"lipschitz": 0.0}, {"lipschitz": math.inf}, {"lipschitz": 1.0, "smoothness": 0.0}]
)
def test_impossible_constants_are_refused(constants):
    with pytest.raises(ValueError, match="Found"):
        Loss("bad", np.abs, **constants)
