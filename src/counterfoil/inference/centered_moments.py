"""Covariances of columns on the scale of their bounds, as functions of noisy sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from counterfoil.inference.evidence import Evidence
from counterfoil.inference.finding import Unanswerable
from counterfoil.inference.moment_basis import Variable
from counterfoil.inference.moment_matrix import MomentMatrix
from counterfoil.inference.noise_law import NoiseLaw


@dataclass(frozen=True, eq=False)
class CenteredMoment:
    """The covariance of two variables among the records where neither is missing, scaled to [-1, 1].

    With noisy means m_hat = m + e and a noisy mean product, the estimate errs by the product's noise minus m_hat_u e_v
    + m_hat_v e_u, which is linear, and plus e_u e_v, whose mean is subtracted.

    Args:
        value: the estimate.
        gradient: float64 [K]: by how much it grows with each distinct sum.
        quadratic: the variance of e_u e_v.
        means: the estimated means of the two.
        records: how many records have both, estimated.
    """

    value: float
    gradient: np.ndarray
    quadratic: float
    means: tuple[float, float]
    records: float


def centered(moments: MomentMatrix, one: Variable, other: Variable) -> CenteredMoment:
    """The scaled covariance of two variables.

    Raises:
        Unanswerable: where noise leaves fewer than two records that have both.
    """
    both, first, second, present = _sums(moments, one, other)
    records = float(present @ moments.sums)
    if records < 2:
        raise Unanswerable(
            f"By its noisy answers the release has fewer than two records with both {one.name!r} and {other.name!r}."
        )
    scale = one.stretch * other.stretch
    means = float(first @ moments.sums) / records, float(second @ moments.sums) / records
    mean_product = float(both @ moments.sums) / records
    gradient = both - means[0] * second - means[1] * first + (2 * means[0] * means[1] - mean_product) * present
    errors = np.array([first - means[0] * present, second - means[1] * present]) / records
    covariance = errors @ moments.covariance @ errors.T
    return CenteredMoment(
        scale * (mean_product - means[0] * means[1] + float(covariance[0, 1])),
        scale * gradient / records,
        scale**2 * float(covariance[0, 0] * covariance[1, 1] + covariance[0, 1] ** 2),
        (_scaled(one, means[0]), _scaled(other, means[1])),
        records,
    )


def _scaled(variable: Variable, mean: float) -> float:
    """The mean of the variable on its scale from that of its feature, which for an indicator goes from 0 to 1."""
    return mean if variable.stretch == 1 else variable.stretch * mean - 1


def _sums(moments: MomentMatrix, one: Variable, other: Variable) -> tuple[np.ndarray, ...]:
    """float64 [K] each: the sums of the product, of either feature, and of 1, over records that have both columns.

    A number counts as 0 where it is missing, so that only the other one's absence has to be taken off.
    """
    present = [{0: 1.0} if variable.absent is None else {0: 1.0, variable.absent: -1.0} for variable in (one, other)]
    left, right = {one.feature: 1.0}, {other.feature: 1.0}
    pairs = [(left, right), (left, present[1]), (present[0], right), (present[0], present[1])]
    return tuple(_sum_of(moments, first, second) for first, second in pairs)


def _sum_of(moments: MomentMatrix, first: dict[int, float], second: dict[int, float]) -> np.ndarray:
    """float64 [K]: the sum of a product of two functions, each given by what few features count for in it."""
    gradient = np.zeros(moments.basis.size)
    for (i, one), (j, other) in product(first.items(), second.items()):
        place = moments.basis.place[i, j]
        if place >= 0:
            gradient[place] += one * other
    return gradient


@dataclass(frozen=True, eq=False)
class CovarianceMatrix:
    """The covariances of several variables that are never missing, scaled to [-1, 1].

    Args:
        moments: what it is made of.
        variables: d of them.
        values: float64 [d, d].
        gradients: float64 [d, d, K].
        means: float64 [d].
    """

    moments: MomentMatrix
    variables: tuple[Variable, ...]
    values: np.ndarray
    gradients: np.ndarray
    means: np.ndarray

    @staticmethod
    def of(evidence: Evidence, columns: Sequence[str], purpose: str) -> CovarianceMatrix:
        """The covariances of columns.

        Args:
            purpose: what needs them, for the sentences of errors.

        Raises:
            ValueError: for fewer than two columns, an unknown one, or one that is no number.
            Unanswerable: where products were never measured, as those of squares with "is missing" are not.
        """
        moments = MomentMatrix.of(evidence.answers, columns)
        variables = tuple(moments.basis.variable(name, purpose) for name in moments.basis.columns)
        if len(variables) < 2:
            raise ValueError(f"{purpose} needs at least two columns. Found {len(variables)}.")
        for variable in variables:
            if variable.absent is not None:
                raise Unanswerable(
                    f"Column {variable.name!r} may be missing, and the squares of the others where it is present were "
                    f"never measured, which {purpose[0].lower()}{purpose[1:]} needs. Leave it out."
                )
        parts = [[centered(moments, one, other) for other in variables] for one in variables]
        return CovarianceMatrix(
            moments,
            variables,
            np.array([[part.value for part in row] for row in parts]),
            np.array([[part.gradient for part in row] for row in parts]),
            np.array([row[0].means[0] for row in parts]),
        )

    @property
    def records(self) -> float:
        """The number of records."""
        return self.moments.records

    def law(self, weights: np.ndarray) -> NoiseLaw:
        """The law of the noise in the sum over u, v of weights[u, v] times the covariances."""
        return self.moments.law(self.gradient(weights))

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        """float64 [K]: by how much the sum over u, v of weights[u, v] times the covariances grows with each sum."""
        return np.asarray(np.tensordot(weights, self.gradients, axes=2))

    def errors(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """float64 [count, d, d]: draws of the noise in the matrix, with what is quadratic in the noise of the means."""
        draws = self.moments.draws(count, rng)
        linear = np.tensordot(draws, self.gradients, axes=([1], [2]))
        means = np.stack([self._mean_gradient(u) for u in range(len(self.variables))])
        shifts = draws @ means.T
        return linear + shifts[:, :, None] * shifts[:, None, :] - means @ self.moments.covariance @ means.T

    def _mean_gradient(self, u: int) -> np.ndarray:
        """float64 [K]: by how much the mean of variable u grows with each sum."""
        variable, place = self.variables[u], self.moments.basis.place
        mean = self.means[u] if variable.stretch == 1 else (self.means[u] + 1) / 2
        gradient = np.zeros(self.moments.basis.size)
        gradient[place[0, variable.feature]] = 1.0
        gradient[0] -= mean
        return variable.stretch / self.records * gradient

    @property
    def reaches(self) -> np.ndarray:
        """float64 [d]: upper bounds on how far a value can be from its mean, three standard errors allowed for."""
        errors = [self.moments.law(self._mean_gradient(u)).deviation for u in range(len(self.variables))]
        return np.minimum(1 + np.abs(self.means) + 3 * np.array(errors), 2.0)


def bernstein_norm(reach: float, largest: float, size: int, records: float, failure: float) -> float:
    """By how much the mean of n independent matrices x x' may differ in spectral norm from its expectation A [d, d].

    Matrix Bernstein inequality (Tropp 2015, Theorem 6.1.1): x x' - A has norm at most R where norm(x)^2 <= R and the
    norm of A is at most R, its square has expectation at most E norm(x)^2 x x' <= R A. So with l = ln(2 d / failure) /
    n, the t with t^2 / 2 = l R (norm(A) + t / 3) is exceeded with probability at most `failure`.

    Args:
        reach: R.
        largest: an upper bound on the norm of A.
        size: d.
        records: n.
        failure: the probability that the bound may fail.
    """
    rate = reach * math.log(2 * size / failure) / records
    return rate / 3 + math.sqrt((rate / 3) ** 2 + 2 * rate * largest)


_COUNTED = 0.01
"""Of the probability that a bound on sums over units may fail: for the number of records."""
STEPS = 10
"""In which bounds on the norm of an expectation are improved; each changes a fraction of what the one before did."""


def bernstein_of_units(reach: float, spread: float, size: int, records: float, failure: float, related: int) -> float:
    """By how much the mean over n records of centered matrices X may differ in spectral norm from 0, in units of rows.

    Matrix Bernstein inequality (Tropp 2015, Theorem 6.1.1) for the sums over independent units, of up to K records
    each: a norm of at most K R, and K E(n) V as the variance (`related_rows`). So with l = ln(size / failure) the t
    with (n t)^2 / 2 = l K (E(n) V + R n t / 3) is exceeded with probability at most `failure`. The expectation of n, a
    sum of independent numbers from 0 to K, is at most m with probability 1 - c, where m = n + sqrt(2 K ln(1 / c) m)
    (Chernoff).

    Args:
        reach: R, the largest norm of X.
        spread: V, an upper bound on the norms of E X X' and E X' X.
        size: the number of rows and columns of X together.
        records: n.
        failure: the probability that the bound may fail.
        related: K.
    """
    counted = _COUNTED * failure
    slack = math.sqrt(2 * related * math.log(1 / counted))
    expected = ((slack + math.sqrt(slack**2 + 4 * records)) / 2) ** 2
    rate = related * math.log(size / (failure - counted)) / records
    third = rate * reach / 3
    return third + math.sqrt(third**2 + 2 * rate * spread * expected / records)


def products_of_units(reach: float, largest: float, size: int, records: float, failure: float, related: int) -> float:
    """By how much the mean of n matrices x x' [d, d] may differ in spectral norm from its expectation A.

    Where the mean has a norm of at most `largest`, and errs by what the norm of A allows, A has a norm of at most
    `largest` plus any bound on that error: the first one takes the squared norm of x for it, and each further one the
    bound before.

    Args:
        reach: an upper bound on the squared norm of x.
        largest: that of the mean.
        size: d.
        records, failure, related: as for `bernstein_of_units`.
    """
    bound = math.inf
    for _ in range(STEPS):
        most = min(largest + bound, reach)
        bound = bernstein_of_units(reach, reach * most, 2 * size, records, failure, related)
    return bound
