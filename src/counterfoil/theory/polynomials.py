"""Polynomials that stand in for a loss on [-R, R], each with a certified range of what is left over.

A polynomial of degree k turns the risk of a linear model into moments of order k and below, which is what a synthetic
table preserves (`excess_risk`). Four families are here, as Figure 1 of Zhou et al., "Bounding the Excess Risk for
Linear Models Trained on Marginal-Preserving, Differentially-Private, Synthetic Data" (2024), compares them, and a
fifth, `tailored`, which weighs the error against the size of the coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev as chebyshev_basis
from numpy.polynomial import polynomial as monomial_basis

from counterfoil.theory.loss import Array, Loss

_MAX_DEGREE = 30  # beyond it the monomial coefficients lose their digits
_GRID = np.linspace(-1.0, 1.0, 8193)
_QUADRATURE_NODES = 1024
_MAX_EXCHANGES = 30


@dataclass(frozen=True, slots=True)
class PolynomialApproximation:
    """P(t) = sum_k a_k t^k in place of phi on [-radius, radius].

    Attributes:
      name: family and degree.
      coefficients: a_0, ..., a_k.
      radius: R.
      residual_low, residual_high: a certified range: low <= phi(t) - P(t) <= high for every t in the interval.
      source: where the construction comes from.
    """

    name: str
    coefficients: tuple[float, ...]
    radius: float
    residual_low: float
    residual_high: float
    source: str

    @property
    def degree(self) -> int:
        """k."""
        return len(self.coefficients) - 1

    @property
    def error(self) -> float:
        """An upper bound on the largest abs(phi - P) over the interval, E_k."""
        return max(-self.residual_low, self.residual_high)

    @property
    def spread(self) -> float:
        """The width of the range of phi - P, at most 2 E_k: two averages of phi - P differ by no more."""
        return self.residual_high - self.residual_low

    def __call__(self, margins: Array) -> Array:
        """P at `margins`, same shape."""
        return np.asarray(monomial_basis.polyval(margins, np.array(self.coefficients)))

    def weighted_sum(self, gaps: Sequence[float]) -> float:
        """sum_{k >= 1} abs(a_k) R^k gaps[k - 1]."""
        if len(gaps) < self.degree:
            raise ValueError(f"`gaps` must reach order {self.degree}. Found {len(gaps)} orders.")
        pairs = enumerate(self.coefficients[1:], start=1)
        return math.fsum(abs(a) * self.radius**k * gaps[k - 1] for k, a in pairs)


def chebyshev(loss: Loss, degree: int, radius: float) -> PolynomialApproximation:
    """The Chebyshev series of the loss on [-radius, radius], cut off after `degree`.

    The series, not the interpolant: at degree 2 on [-1, 1] its error for the logistic loss is 6.0e-4, half the
    interpolant's. Its coefficients come from Gauss-Chebyshev quadrature with 1024 nodes; what quadrature misses is
    part of the certified range.

    Raises:
      ValueError: `degree` is not in 0..30 or `radius` is not positive.
    """
    _check(degree, radius)
    series = _chebyshev_series(loss, degree, radius)
    source = "Mason and Handscomb, Chebyshev Polynomials (2003), section 5.2"
    return _certify(loss, f"Chebyshev series of degree {degree}", _monomials(series), radius, source)


def bernstein(loss: Loss, degree: int, radius: float, *, iterations: int = 1) -> PolynomialApproximation:
    """Bernstein polynomial B phi, or its iterate (I - (I - B)^j) phi for j = `iterations`.

    Each iterate adds the Bernstein polynomial of what is still missing at the nodes; as j grows it tends to the
    interpolant at equally spaced nodes. For a convex loss and j = 1 the polynomial lies above the loss.

    Raises:
      ValueError: `degree` is not in 1..30, `radius` is not positive, or `iterations` is not at least 1.
    """
    _check(degree, radius, lowest=1)
    if iterations < 1:
        raise ValueError(f"`iterations` must be at least 1. Found {iterations}.")
    nodes = np.arange(degree + 1) / degree
    index = np.arange(degree + 1)
    binomials = np.array([math.comb(degree, i) for i in index], dtype=np.float64)
    operator = binomials * nodes[:, None] ** index * (1 - nodes[:, None]) ** (degree - index)
    missing = loss(radius * (2 * nodes - 1))
    values = np.zeros(degree + 1)
    for _ in range(iterations):
        values += missing
        missing = missing - operator @ missing
    scaled = values * binomials / 2.0**degree @ _two_sided_powers(degree)
    name = f"Bernstein polynomial of degree {degree}" + (f", iterated {iterations} times" if iterations > 1 else "")
    source = "Guan, Iterated Bernstein polynomial approximations (2009), arXiv:0909.0684"
    return _certify(loss, name, scaled, radius, source)


def minimax(loss: Loss, degree: int, radius: float) -> PolynomialApproximation:
    """The polynomial of smallest largest error on [-radius, radius], by linear programming with exchange.

    Raises:
      ValueError: `degree` is not in 0..30 or `radius` is not positive.
      RuntimeError: the linear program was not solved.
    """
    _check(degree, radius)
    source = "Davis, Interpolation and Approximation (1975), chapter 7"
    scaled = _exchange(loss, radius, np.zeros(degree + 1))
    return _certify(loss, f"minimax polynomial of degree {degree}", scaled, radius, source)


def tailored(loss: Loss, radius: float, gaps: Sequence[float]) -> PolynomialApproximation:
    """The polynomial P of degree len(gaps) with the smallest 2 E + sum_{k >= 1} abs(a_k) radius^k gaps[k - 1].

    That sum is the certificate of `excess_risk`, so no other polynomial of this degree gives a better one (up to the
    tolerance of the linear program, which enters the certified range).

    Raises:
      ValueError: more than 30 gaps, none, one that is negative, or `radius` is not positive.
      RuntimeError: the linear program was not solved.
    """
    _check(len(gaps), radius, lowest=1)
    weights = np.array([0.0, *gaps])
    if not np.all((weights >= 0) & np.isfinite(weights)):
        raise ValueError(f"`gaps` must be finite and not negative. Found {list(gaps)}.")
    scaled = _exchange(loss, radius, weights)
    source = "docs/theory/excess_risk.md, section 6"
    return _certify(loss, f"tailored polynomial of degree {len(gaps)}", scaled, radius, source)


def _check(degree: int, radius: float, lowest: int = 0) -> None:
    if not lowest <= degree <= _MAX_DEGREE:
        raise ValueError(f"The degree of a polynomial must be in {lowest}..{_MAX_DEGREE}. Found {degree}.")
    if not 0 < radius < math.inf:
        raise ValueError(f"`radius` must be positive and finite. Found {radius}.")


def _chebyshev_series(loss: Loss, degree: int, radius: float) -> Array:
    nodes = chebyshev_basis.chebpts1(_QUADRATURE_NODES)
    sums = loss(radius * nodes) @ chebyshev_basis.chebvander(nodes, degree)
    sums[0] /= 2
    return np.asarray(2 * sums / _QUADRATURE_NODES)


def _monomials(series: Array) -> Array:
    """Chebyshev coefficients to monomial ones, of the same length."""
    converted = chebyshev_basis.cheb2poly(series)
    return np.pad(converted, (0, len(series) - len(converted)))


def _two_sided_powers(degree: int) -> Array:
    """Row i: the coefficients of (1 + s)^i (1 - s)^(degree - i), which are integers."""
    powers = monomial_basis.polypow
    rows = [monomial_basis.polymul(powers([1, 1], i), powers([1, -1], degree - i)) for i in range(degree + 1)]
    return np.array(rows, dtype=np.float64)


def _certify(loss: Loss, name: str, scaled: Array, radius: float, source: str) -> PolynomialApproximation:
    """Bound phi - P between grid points, where P(t) = sum_k scaled[k] (t / radius)^k.

    On a cell of width h a function strays from its chord by at most h^2/8 times a bound on its second derivative,
    and a K-Lipschitz one by at most K h / 2; so the range over the grid, widened by that for phi and for P and by the
    rounding of the evaluation, is a range over the interval.
    """
    orders = np.arange(len(scaled))
    coefficients = tuple(float(a) for a in scaled / float(radius) ** orders)
    stored = np.abs(coefficients) * float(radius) ** orders
    residual = loss(radius * _GRID) - monomial_basis.polyval(radius * _GRID, np.array(coefficients))
    step = radius * float(_GRID[1] - _GRID[0])
    curvature = float(np.sum(orders * (orders - 1) * stored)) / radius**2
    slack = min(loss.smoothness * step**2 / 8, loss.lipschitz * step / 2) + curvature * step**2 / 8
    largest = float(np.abs(loss(radius * _GRID)).max())
    slack += float(np.finfo(float).eps) * (8 * (len(scaled) + 1) * float(stored.sum()) + 8 * largest)
    low, high = float(residual.min()) - slack, float(residual.max()) + slack
    return PolynomialApproximation(name, coefficients, float(radius), low, high, source)


def _exchange(loss: Loss, radius: float, weights: Array) -> Array:
    """Scaled coefficients that minimise 2 E + sum_k weights[k] abs(scaled[k]), E the largest error on the grid.

    The unknown is a correction to the Chebyshev series. Without weights it is measured in units of the series'
    error, which keeps the program well scaled however small that error is. Points where the solution errs most
    enter the program until none errs more than the program knows. Where the exchanges run out first, the polynomial is
    not the best one; what it errs by is certified afterwards in either case.
    """
    degree = len(weights) - 1
    series = _chebyshev_series(loss, degree, radius)
    residual = loss(radius * _GRID) - chebyshev_basis.chebval(_GRID, series)
    unit = 1.0 if weights.any() else float(np.abs(residual).max())
    if unit < 1e-13:  # nothing but rounding is left to improve
        return _monomials(series)
    residual /= unit
    basis = chebyshev_basis.chebvander(_GRID, degree)
    extrema = np.cos(np.linspace(0, np.pi, 4 * degree + 9))
    chosen = np.unique(np.searchsorted(_GRID, extrema).clip(0, len(_GRID) - 1))
    for _ in range(_MAX_EXCHANGES):
        correction, error = _solve(basis[chosen], residual[chosen], weights, _monomials(series) / unit)
        left = np.abs(residual - basis @ correction)
        if left.max() <= error + 2e-7:  # the solver's own tolerance is 1e-7
            break
        inner = (left[1:-1] >= left[:-2]) & (left[1:-1] >= left[2:]) & (left[1:-1] > error)
        worst = np.concatenate([np.flatnonzero(inner) + 1, [int(left.argmax())]])
        chosen = np.unique(np.concatenate([chosen, worst]))
    return _monomials(series + unit * correction)


def _solve(basis: Array, residual: Array, weights: Array, start: Array) -> tuple[Array, float]:
    """The linear program on the chosen points: the correction [degree + 1] and the largest error on them.

    Variables: the correction c, the error E, and u_k >= abs(start_k + (M c)_k), M the change to monomials.
    """
    from scipy.optimize import linprog

    points, size = basis.shape
    one, none = np.ones((points, 1)), np.zeros((points, size))
    to_monomials = np.array([_monomials(row) for row in np.eye(size)]).T
    no_error, bounds_u = np.zeros((size, 1)), np.eye(size)
    rows = np.block(
        [
            [basis, -one, none],
            [-basis, -one, none],
            [to_monomials, no_error, -bounds_u],
            [-to_monomials, no_error, -bounds_u],
        ]
    )
    limits = np.concatenate([residual, -residual, -start, start])
    objective = np.concatenate([np.zeros(size), [2.0], weights])
    signs = [(None, None)] * size + [(0, None)] * (size + 1)
    solution = linprog(objective, A_ub=rows, b_ub=limits, bounds=signs, method="highs")
    if solution.status != 0:
        raise RuntimeError(f"The linear program for a polynomial of degree {size - 1} failed: {solution.message}")
    return np.asarray(solution.x[:size]), float(solution.x[size])
