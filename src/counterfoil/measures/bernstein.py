"""Densities on the unit cube that are Bernstein polynomials, iterated or not, of values at the points of a lattice."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from counterfoil.synthesis.resampling import independent
from counterfoil.threads import on_one_thread

_MOST_LOCAL = 1 << 21
"""Local coefficients of a density in all of its cells: 16 MiB."""

_MOST_CELLS = 64
"""Along one side."""

_NUMBERS_AT_ONCE = 1 << 21
_MOST_TRIED = 1 << 18

_LEAST_SHARE = 1e-3
"""Of the mass of the envelope, that must be shown to be mass of the density."""


def bernstein_basis(k: int, y: np.ndarray) -> np.ndarray:
    """float64 [n, k + 1]: b_l(y) = C(k, l) y**l (1 - y)**(k - l) for l = 0, ..., k at each of `y` [n].

    Formed from logarithms: good to 1e-11 of the result for k up to 1000.

    Source: Bojkovic and Loh, Definition D.1.

    Raises:
        ValueError: for numbers outside [0, 1] or a degree below 1.
    """
    if k < 1 or not ((y >= 0) & (y <= 1)).all():
        raise ValueError("`k` must be at least 1 and `y` in [0, 1], where these polynomials are a basis of densities.")
    orders = np.arange(k + 1)
    choices = gammaln(k + 1) - gammaln(orders + 1) - gammaln(k - orders + 1)
    y = y[:, None]
    return np.asarray(np.exp(choices + xlogy(orders, y) + xlog1py(k - orders, -y)))


@on_one_thread
def iterated_coefficients(values: np.ndarray, order: int) -> np.ndarray:
    """The Bernstein coefficients of the iterated Bernstein polynomial of `values`, float64 of the same shape.

    Let B be the matrix of b_l(m / k). The Bernstein polynomial of degree k with coefficients f takes the values B f at
    the lattice, so that the operator of order j, I - (I - B)**j = B sum_{i < j} (I - B)**i, gives the polynomial of
    degree k with the coefficients sum_{i < j} (I - B)**i f. The sum is formed by adding what is missing j times. (The
    alternating sum of binomial coefficients by which the basis is defined loses all digits at order 60.) In p
    dimensions each side is treated so in turn, which is the tensor product: p nested sums, misprinted in the source.
    Order 1 gives the values themselves; high orders tend to the polynomial that interpolates them.

    Args:
        values: [k_1 + 1, ..., k_p + 1], at the lattice points (l_1 / k_1, ..., l_p / k_p).
        order: j, at least 1.

    Source: Bojkovic and Loh, Definitions D.2 and D.3.

    Raises:
        ValueError: for an order below 1, or a side with less than two lattice points.
    """
    if order < 1 or values.ndim == 0 or min(values.shape) < 2:
        raise ValueError(
            "`order` must be at least 1, and `values` must have two lattice points along each side, at least. "
            f"Found {order} and {values.shape}."
        )
    coefficients = np.asarray(values, dtype=np.float64)
    for side, points in enumerate(values.shape):
        operator = bernstein_basis(points - 1, np.linspace(0, 1, points))
        missing = np.moveaxis(coefficients, side, 0).reshape(points, -1)
        total = missing.copy()
        for _ in range(order - 1):
            missing = missing - operator @ missing
            total += missing
        coefficients = np.moveaxis(total.reshape(points, *np.delete(values.shape, side)), 0, side)
    return coefficients


@dataclass(frozen=True, eq=False)
class BernsteinMeasure:
    """The positive part of a Bernstein polynomial on the unit cube, over its mass.

    The polynomial is P(y) = sum_l c_l b_{l_1}(y_1) ... b_{l_p}(y_p). Where no coefficient is negative, it is a mixture
    of products of Beta(l + 1, k - l + 1) laws. Else the cube is cut into equal cells. On a cell P is again a Bernstein
    polynomial, whose local coefficients follow by de Casteljau's algorithm. A point is drawn from the mixture of Beta
    laws with the positive parts of the local coefficients, and kept with probability max(P, 0) over that mixture's
    density: exactly the law of the positive part, up to the rounding of float64. Where the local coefficients of a cell
    are all positive, which is so for most of the mass, every point is kept.

    Args:
        coefficients: c, float64 [k_1 + 1, ..., k_p + 1], of any sign and scale.

    Raises:
        ValueError: for coefficients that are not finite, or a side with less than two.
    """

    coefficients: np.ndarray

    def __post_init__(self) -> None:
        shape = self.coefficients.shape
        if not shape or min(shape) < 2 or not np.isfinite(self.coefficients).all():
            raise ValueError(f"`coefficients` must be finite, and at least two along each side. Found shape {shape}.")

    @classmethod
    def of_lattice(cls, values: np.ndarray, order: int = 1) -> BernsteinMeasure:
        """The density of the iterated Bernstein polynomial of noisy `values` [k_1 + 1, ..., k_p + 1] at the lattice.

        At order 1 negative values count as 0, and draws are from a mixture of Beta laws; at higher orders the positive
        part is that of the polynomial, since what iteration adds may be negative whatever the values are.
        """
        coefficients = iterated_coefficients(values, order)
        return cls(np.maximum(coefficients, 0.0) if order == 1 else coefficients)

    @property
    def dimension(self) -> int:
        """p."""
        return self.coefficients.ndim

    @property
    def integral(self) -> float:
        """The integral of P: the mean of its coefficients, since each b_l has the integral 1 / (k + 1)."""
        return float(self.coefficients.mean())

    @property
    def is_uniform(self) -> bool:
        """Whether the density is uniform for want of a positive part: less than a thousandth of the envelope is shown.

        That is so where no coefficient is positive.
        """
        least, most = self.mass_bounds
        return not least > _LEAST_SHARE * most

    @property
    def mass(self) -> float:
        """The integral of max(P, 0), by which the density is divided: the middle of `mass_bounds`."""
        least, most = self.mass_bounds
        return (least + most) / 2

    @cached_property
    def mass_bounds(self) -> tuple[float, float]:
        """Proved bounds of the integral of max(P, 0), but for rounding; equal where no coefficient is negative.

        On each cell it is at least the positive part of the mean of the local coefficients, which is the integral of P
        over the volume of the cell, and at most the mean of their positive parts.
        """
        local = self._local
        least = np.maximum(local.mean(axis=1), 0.0).mean()
        return float(least), float(np.maximum(local, 0.0).mean())

    @on_one_thread
    def density(self, points: np.ndarray) -> np.ndarray:
        """float64 [n]: max(P, 0) over its mass at `points` [n, p] of the unit cube; 1 where the density is uniform.

        The error of `mass` is that of the density; it is 0 where no coefficient is negative.
        """
        if points.ndim != 2 or points.shape[1] != self.dimension:
            raise ValueError(f"`points` must be [n, {self.dimension}]. Found shape {points.shape}.")
        if self.is_uniform:
            return np.ones(len(points))
        found = [_evaluated(self.coefficients[None], part) for part in _parts(points, self.coefficients.size)]
        return np.maximum(np.concatenate([np.zeros(0), *found]), 0.0) / self.mass

    @on_one_thread
    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """[n, p]: independent points with this density."""
        if self.is_uniform:
            return rng.random((n, self.dimension))
        kept, missing = [np.zeros((0, self.dimension))], n
        least, most = self.mass_bounds
        while missing:
            tried = math.ceil(1.1 * missing * 2 * most / (least + most)) + 16
            kept.append(self._kept(min(tried, _MOST_TRIED), rng)[:missing])
            missing -= len(kept[-1])
        return np.concatenate(kept)

    def _kept(self, tried: int, rng: np.random.Generator) -> np.ndarray:
        """What is kept of `tried` points from the envelope."""
        envelope = np.maximum(self._local, 0.0)
        chosen = independent(envelope.ravel(), tried, rng)
        cells, orders = np.divmod(chosen, self.coefficients.size)
        successes = np.stack(np.unravel_index(orders, self.coefficients.shape), axis=1)
        inside = rng.beta(successes + 1, np.subtract(self.coefficients.shape, successes))
        uniform = rng.random(tried)
        keep = np.ones(tried, dtype=bool)
        mixed = np.flatnonzero(self._local.min(axis=1)[cells] < 0)
        for part in _parts(mixed, self.coefficients.size):
            local = self._local[cells[part]].reshape(-1, *self.coefficients.shape)
            allowed = uniform[part] * _evaluated(np.maximum(local, 0.0), inside[part])
            keep[part] = allowed < _evaluated(local, inside[part])
        places = np.stack(np.unravel_index(cells, (self._cells,) * self.dimension), axis=1)
        return ((places + inside) / self._cells)[keep]

    @property
    def _cells(self) -> int:
        """Into how many cells each side is cut."""
        if self.coefficients.min() >= 0:
            return 1
        afforded = (_MOST_LOCAL / self.coefficients.size) ** (1 / self.dimension)
        tables = 2 * _MOST_LOCAL / max(self.coefficients.shape) ** 2  # of `_subdivision`
        return int(max(min(afforded, tables, _MOST_CELLS), 1))

    @cached_property
    def _local(self) -> np.ndarray:
        """[cells, coefficients]: the Bernstein coefficients of P on each cell, both in C order."""
        local, m, shape = self.coefficients, self._cells, self.coefficients.shape
        if m > 1:
            for side, points in enumerate(shape):
                cut = _subdivision(points - 1, m) @ np.moveaxis(local, 2 * side, 0).reshape(points, -1)
                rest = np.delete(local.shape, 2 * side)
                local = np.moveaxis(cut.reshape(m, points, *rest), (0, 1), (2 * side, 2 * side + 1))
            p = self.dimension
            local = local.transpose(*range(0, 2 * p, 2), *range(1, 2 * p, 2))
        return local.reshape(m**self.dimension, -1)


def _subdivision(k: int, cells: int) -> np.ndarray:
    """[cells, k + 1, k + 1]: takes Bernstein coefficients on [0, 1] to those on [c / cells, (c + 1) / cells].

    The local coefficient i is the blossom of the polynomial at k - i times the left end a and i times the right end b
    of the cell: a mean of the coefficients, with the chances of a sum of k - i coins of chance a and i of chance b. All
    are positive, so that nothing cancels.
    """
    ends = np.linspace(0, 1, cells + 1)
    coins = [np.ones((cells + 1, 1)), *(bernstein_basis(i, ends) for i in range(1, k + 1))]
    means = [[np.convolve(coins[k - i][c], coins[i][c + 1]) for i in range(k + 1)] for c in range(cells)]
    return np.array(means)


def _evaluated(coefficients: np.ndarray, points: np.ndarray) -> np.ndarray:
    """float64 [n]: for each of `points` [n, p] the polynomial of its own `coefficients` [n or 1, ...] there."""
    values = coefficients.reshape(len(coefficients), -1)
    for side in reversed(range(points.shape[1])):
        basis = bernstein_basis(coefficients.shape[side + 1] - 1, points[:, side])
        values = (values.reshape(len(values), -1, basis.shape[1]) @ basis[:, :, None])[:, :, 0]
    return values[:, 0]


def _parts(rows: np.ndarray, numbers: int) -> Iterator[np.ndarray]:
    """`rows`, so few at once that `numbers` for each of them fit in memory."""
    step = max(_NUMBERS_AT_ONCE // numbers, 1)
    for start in range(0, len(rows), step):
        yield rows[start : start + step]
