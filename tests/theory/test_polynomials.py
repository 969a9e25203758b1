"""Polynomial stand-ins for a loss: against numpy, scipy, known best approximations and published coefficients."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Chebyshev, Polynomial
from scipy.interpolate import BPoly

from counterfoil.theory.loss import HINGE, LOGISTIC, Loss
from counterfoil.theory.polynomials import bernstein, chebyshev, minimax, tailored

ABSOLUTE = Loss("absolute", np.abs, lipschitz=1.0, convex=True)
CUBIC = Loss("cubic", lambda t: np.clip(t, -1, 1) ** 3, lipschitz=3.0, smoothness=6.0)
WAVE = Loss("wave", lambda t: np.sin(3 * t), lipschitz=3.0, smoothness=9.0)
LOSSES = [LOGISTIC, HINGE, ABSOLUTE, WAVE]


def families(loss, degree, radius):
    yield chebyshev(loss, degree, radius)
    yield bernstein(loss, degree, radius)
    yield bernstein(loss, degree, radius, iterations=5)
    yield minimax(loss, degree, radius)
    yield tailored(loss, radius, [0.01] * degree)


def weight(polynomial):
    return polynomial.weighted_sum([1.0] * polynomial.degree)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(LOSSES), st.integers(1, 9), st.floats(0.3, 8), st.integers(0, 2**32 - 1))
def test_the_certified_range_covers_the_residual_and_is_tight(loss, degree, radius, seed):
    points = radius * np.random.default_rng(seed).uniform(-1, 1, 4000)
    points = np.concatenate([points, [-radius, 0, radius, *np.clip([1.0, -1.0], -radius, radius)]])
    dense = radius * np.linspace(-1, 1, 50_001)
    for polynomial in families(loss, degree, radius):
        residual = loss(points) - polynomial(points)
        assert polynomial.residual_low <= residual.min()
        assert residual.max() <= polynomial.residual_high
        found = loss(dense) - polynomial(dense)
        allowance = 4 * loss.lipschitz * radius / 8192 + 1e-6 * (1 + weight(polynomial))
        assert polynomial.spread - (found.max() - found.min()) <= allowance


def test_the_certified_range_covers_a_kink_between_grid_points():
    kink = 0.5 / 8192 * 2  # half a cell from the grid point 0
    loss = Loss("off the grid", lambda t: np.abs(t - kink), lipschitz=1.0)
    polynomial = chebyshev(loss, 1, 1.0)
    at_the_kink = float(loss(np.array([kink]))[0] - polynomial(np.array([kink]))[0])
    on_the_grid = float((loss(np.array([0.0])) - polynomial(np.array([0.0])))[0])
    assert polynomial.residual_low <= at_the_kink < on_the_grid


@pytest.mark.parametrize("degree", [0, 1, 2, 5, 12])
def test_chebyshev_is_numpys_truncated_series(degree):
    series = Chebyshev.interpolate(LOGISTIC, 200, domain=[-3, 3])
    expected = Chebyshev(series.coef[: degree + 1], domain=[-3, 3]).convert(kind=Polynomial).coef
    found = np.array(chebyshev(LOGISTIC, degree, 3.0).coefficients)
    np.testing.assert_allclose(found[: len(expected)], expected, atol=1e-11)


@pytest.mark.parametrize(("radius", "error", "total"), [(1.0, 6.0e-4, 0.62), (2.0, 7.8e-3, 1.43)])
def test_degree_two_chebyshev_figures_of_the_certificate(radius, error, total):
    polynomial = chebyshev(LOGISTIC, 2, radius)
    assert polynomial.error == pytest.approx(error, rel=0.01)
    assert weight(polynomial) == pytest.approx(total, abs=0.005)
    assert polynomial.coefficients[1] == pytest.approx(-0.5, abs=1e-12)


@pytest.mark.parametrize("degree", [1, 3, 8])
def test_bernstein_is_scipys(degree):
    nodes = np.linspace(-2, 2, degree + 1)
    expected = BPoly(HINGE(nodes)[:, None], [-2, 2])
    points = np.linspace(-2, 2, 101)
    np.testing.assert_allclose(bernstein(HINGE, degree, 2.0)(points), expected(points), atol=1e-12)


@pytest.mark.parametrize("iterations", [2, 3, 7])
def test_iterated_bernstein_is_the_iterated_operator(iterations):
    degree, nodes = 4, np.linspace(-2, 2, 5)

    def operator(function):
        return BPoly(function(nodes)[:, None], [-2, 2])

    total, points = np.zeros(101), np.linspace(-2, 2, 101)
    left = LOGISTIC
    for _ in range(iterations):  # I - (I - B)^j = sum_{i < j} B (I - B)^i
        smooth = operator(left)
        total += smooth(points)
        left = lambda t, left=left, smooth=smooth: left(t) - smooth(t)  # noqa: E731
    np.testing.assert_allclose(bernstein(LOGISTIC, degree, 2.0, iterations=iterations)(points), total, atol=1e-11)


@pytest.mark.parametrize("loss", [LOGISTIC, HINGE, ABSOLUTE])
def test_bernstein_lies_above_a_convex_loss(loss):
    assert bernstein(loss, 6, 3.0).residual_high <= loss.lipschitz * 3.0 / 8192 + 1e-6


def test_minimax_of_functions_whose_best_approximation_is_known():
    assert minimax(CUBIC, 2, 1.0).error == pytest.approx(1 / 4, abs=2e-6)  # t^3 - T_3(t)/4
    np.testing.assert_allclose(minimax(CUBIC, 2, 1.0).coefficients, [0, 0.75, 0], atol=1e-5)
    assert minimax(ABSOLUTE, 2, 1.0).error == pytest.approx(1 / 8, abs=2e-4)  # t^2 + 1/8
    np.testing.assert_allclose(minimax(ABSOLUTE, 2, 1.0).coefficients, [1 / 8, 0, 1], atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("degree", [1, 4, 9])
def test_minimax_alternates_so_no_polynomial_is_better(loss, degree):
    """Where the residual takes degree + 2 values of alternating sign, the least of them bounds every error below."""
    polynomial = minimax(loss, degree, 4.0)
    points = np.linspace(-4, 4, 8193)
    residual = loss(points) - polynomial(points)
    runs = np.split(residual, np.flatnonzero(np.diff(np.sign(residual)) != 0) + 1)
    peaks = np.array([run[np.abs(run).argmax()] for run in runs])

    def alternations(level):
        return np.count_nonzero(np.diff(np.sign(peaks[np.abs(peaks) >= level]))) + 1

    lower = max(level for level in np.abs(peaks) if alternations(level) >= degree + 2)
    assert lower <= polynomial.error <= lower * (1 + 1e-4) + 1.1 * loss.lipschitz * 4 / 8192


# Coefficients and errors of the caption of Figure 1 (Zhou et al. 2024): degree 4 on [-5, 5], iterated 1, 4, 9 times.
FIGURE_1 = {
    1: ([1.2377, -0.5, 0.0544, 0, -0.0001], 0.545),
    4: ([0.7934, -0.5, 0.0812, 0, -0.0005], 0.100),
    9: ([0.7504, -0.5, 0.0931, 0, -0.0009], 0.057),
}
FIGURE_1_MINIMAX = ([0.71, -0.5, 0.1096, 0, -0.0015], 0.061)


@pytest.mark.parametrize("iterations", FIGURE_1)
def test_iterated_bernstein_gives_the_published_coefficients(iterations):
    coefficients, error = FIGURE_1[iterations]
    polynomial = bernstein(LOGISTIC, 4, 5.0, iterations=iterations)
    np.testing.assert_allclose(polynomial.coefficients, coefficients, atol=6e-5)
    assert polynomial.error == pytest.approx(error, abs=6e-4)


def test_the_published_minimax_polynomial_is_not_the_best_and_ours_is():
    coefficients, error = FIGURE_1_MINIMAX
    points = np.linspace(-5, 5, 20_001)
    published = np.abs(LOGISTIC(points) - np.polynomial.polynomial.polyval(points, coefficients)).max()
    best = minimax(LOGISTIC, 4, 5.0)
    assert published == pytest.approx(error, abs=2e-3)
    assert best.error == pytest.approx(0.0202, abs=1e-4)
    assert best.error < bernstein(LOGISTIC, 4, 5.0, iterations=9).error < published


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([LOGISTIC, HINGE]),
    st.lists(st.floats(0, 2), min_size=1, max_size=5),
    st.floats(0.5, 6),
)
def test_tailored_is_never_beaten(loss, gaps, radius):
    def cost(polynomial):
        return polynomial.spread + polynomial.weighted_sum(gaps)

    best = cost(tailored(loss, radius, gaps))
    allowance = 1e-5 * (1 + radius) + loss.lipschitz * radius / 4096
    for degree in range(1, len(gaps) + 1):
        assert best <= min(map(cost, families(loss, degree, radius))) + allowance


def test_tailored_trades_error_for_smaller_coefficients():
    sharp, cheap = minimax(LOGISTIC, 6, 5.0), tailored(LOGISTIC, 5.0, [0.05] * 6)
    assert cheap.error > sharp.error
    assert weight(cheap) < weight(sharp)
    assert tailored(LOGISTIC, 5.0, [0.0] * 6).error == pytest.approx(sharp.error, rel=1e-6)


def test_errors_fall_with_the_degree_and_the_iterations():
    for family in (chebyshev, minimax, bernstein):
        errors = [family(LOGISTIC, degree, 3.0).error for degree in (1, 2, 4, 8)]
        assert errors == sorted(errors, reverse=True)
    errors = [bernstein(LOGISTIC, 4, 5.0, iterations=j).error for j in (1, 2, 4, 9)]
    assert errors == sorted(errors, reverse=True)


def test_weighted_sum():
    polynomial = chebyshev(LOGISTIC, 2, 2.0)
    _, a_1, a_2 = polynomial.coefficients
    assert polynomial.weighted_sum([0.1, 0.3, 7.0]) == pytest.approx(abs(a_1) * 2 * 0.1 + abs(a_2) * 4 * 0.3)
    with pytest.raises(ValueError, match="must reach order 2"):
        polynomial.weighted_sum([0.1])


@pytest.mark.parametrize(
    "call",
    [
        lambda: chebyshev(LOGISTIC, 31, 1.0),
        lambda: chebyshev(LOGISTIC, 2, 0.0),
        lambda: minimax(LOGISTIC, -1, 1.0),
        lambda: minimax(LOGISTIC, 2, math.inf),
        lambda: bernstein(LOGISTIC, 0, 1.0),
        lambda: bernstein(LOGISTIC, 2, 1.0, iterations=0),
        lambda: tailored(LOGISTIC, 1.0, []),
        lambda: tailored(LOGISTIC, 1.0, [-0.1]),
        lambda: tailored(LOGISTIC, 1.0, [math.nan]),
    ],
)
def test_parameters_out_of_range_are_refused(call):
    with pytest.raises(ValueError, match="Found"):
        call()
