"""Polynomials in the weights of a linear model, fitted to losses at a net: how errors at the net move the fit."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import chebyshev

from counterfoil.features.convex_loss import ConvexLoss
from counterfoil.features.losses import LossNet
from counterfoil.threads import on_one_thread

MOST_DEGREES = 10

_CELLS = 1 << 15
"""Of the grid on which what a polynomial leaves out is looked at: its middle, where losses have kinks, is a point."""


@dataclass(frozen=True)
class LeftOut:
    """Bounds on e = psi - P over the arguments that a ball of models can have, P being a polynomial.

    Args:
        spread: the largest difference of two values of e.
        slope: a Lipschitz constant of e.
    """

    spread: float
    slope: float

    def between(self, distance: np.ndarray) -> np.ndarray:
        """The most that e differs between two models whose weights are that far apart in l1 norm."""
        return np.minimum(self.spread, self.slope * distance)


def left_out(loss: ConvexLoss, radius: float, degree: int) -> LeftOut:
    """What the Chebyshev interpolant of degree `degree` leaves out; nothing of a squared loss from degree 2 on.

    e is twice differentiable but at 0 and, for Huber's loss, at two kinks of its slope; with B a bound on abs(e'')
    elsewhere, and h the width of a cell of the grid, e is at most B h^2 / 8 beyond the grid's values and its slopes at
    most B h beyond those that the grid has, from either side.
    """
    if loss.kind == "squared" and degree >= 2:
        return LeftOut(0.0, 0.0)
    reach = loss.reach(radius)
    nodes = chebyshev.chebpts1(degree + 1)
    series = chebyshev.chebfit(nodes, loss(reach * nodes), degree)
    grid = np.linspace(-1, 1, _CELLS + 1)
    width = 2 * reach / _CELLS
    orders = np.arange(degree + 1)
    smooth = 0.0 if loss.kind == "absolute" else loss.curvature
    bend = smooth + float(np.abs(series) @ (orders**2 * (orders**2 - 1) / 3)) / reach**2
    rest = loss(reach * grid) - chebyshev.chebval(grid, series)
    slopes = chebyshev.chebval(grid, chebyshev.chebder(series)) / reach
    steepest = float(np.abs(loss.slope(reach * grid) - slopes).max())
    if loss.kind == "absolute":  # the slope from the left at the kink
        steepest = max(steepest, float(abs(-1 - slopes[_CELLS // 2])))
    return LeftOut(float(np.ptp(rest)) + bend * width**2 / 4, steepest + bend * width)


@dataclass(frozen=True, eq=False)
class PolynomialFit:
    """The least-squares fit to numbers at the net, in an orthonormal basis of polynomials that vanish at 0.

    With Q [points, m] the orthonormal values of the basis at the net and b(theta) [m] those at theta, the fit to v is
    <b(theta), Q' v>; an error of v whose part Q' v has norm at most E moves the difference of the fits at two models by
    at most E norm(b(theta) - b(theta')).

    Args:
        net: the net.
        degree: of the polynomials.
    """

    net: LossNet
    degree: int

    @staticmethod
    def degrees(net: LossNet) -> list[int]:
        """The degrees of at most half as many polynomials as the net has models, or 1; no others tell more."""
        most = 2 if net.loss.kind == "squared" else MOST_DEGREES
        sizes = (math.comb(net.dimensions + degree, degree) - 1 for degree in range(1, min(most, net.steps) + 1))
        return [degree for degree, size in enumerate(sizes, 1) if degree == 1 or 2 * size <= len(net.lattice)]

    @cached_property
    def left_out(self) -> LeftOut:
        """What the polynomials can't express of the loss of a record."""
        return left_out(self.net.loss, self.net.radius, self.degree)

    @cached_property
    def values(self) -> np.ndarray:
        """float64 [points, m]: Q."""
        return self._factors[0]

    @on_one_thread
    def at(self, weights: np.ndarray) -> np.ndarray:
        """float64 [models, m]: b at weights [models, d] within the ball."""
        return np.asarray(np.linalg.solve(self._factors[1].T, self._products(weights).T).T)

    @cached_property
    def _factors(self) -> tuple[np.ndarray, np.ndarray]:
        products = self._products(self.net.lattice * self.net.step)
        return np.linalg.qr(products)

    def _products(self, weights: np.ndarray) -> np.ndarray:
        """float64 [models, m]: products of Chebyshev polynomials of the weights, less their values at 0."""
        exponents = _exponents(self.net.dimensions, self.degree)
        series = chebyshev.chebvander(weights / self.net.radius, self.degree)
        origin = chebyshev.chebvander(np.zeros(1), self.degree)[0]
        products = np.ones((len(weights), len(exponents)))
        for axis in range(self.net.dimensions):
            products *= series[:, axis, exponents[:, axis]]
        return products - np.prod(origin[exponents], axis=1)


def _exponents(dimensions: int, degree: int) -> np.ndarray:
    """int64 [m, d]: all exponents of sum 1 to `degree`."""
    found = []
    for total in range(1, degree + 1):
        for chosen in itertools.combinations_with_replacement(range(dimensions), total):
            found.append(np.bincount(chosen, minlength=dimensions))
    return np.array(found, dtype=np.int64)
