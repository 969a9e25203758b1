"""Variances, covariances and correlations from bought moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
from scipy.optimize import brentq

from counterfoil.inference.caveats import with_caveats
from counterfoil.inference.centered_moments import CenteredMoment, CovarianceMatrix, centered
from counterfoil.inference.evidence import Evidence
from counterfoil.inference.finding import Finding, Unanswerable
from counterfoil.inference.group_means import cut_sentence
from counterfoil.inference.moment_basis import Variable
from counterfoil.inference.moment_matrix import MomentMatrix
from counterfoil.inference.noise_law import NoiseLaw
from counterfoil.inference.ratio import require_level
from counterfoil.inference.related_rows import most_related, with_related

_COVARIANCE_BASIS = (
    "sampling is bounded without fourth moments: the variance of (u - mean)(v - mean) is at most the variance of one "
    "times the largest squared distance of the other from its mean that the declared bounds allow"
)
_CORRELATION_BASIS = (
    "sampling is bounded without fourth moments, by what correlation and declared bounds allow, for large samples"
)
_TRIED = 17
"""Correlations on either side of the estimate among which the outermost that it allows is sought."""


@with_caveats()
def covariance(release: Any, columns: Sequence[str], *, level: float = 0.95) -> list[Finding]:
    """The variances and covariances of columns, in their own units, of the records that have both.

    A column of two categories counts as 1 for the second one and 0 for the first.

    Args:
        release: an `Evidence`, or what `Evidence.of` takes.
        columns: ordered, or of two categories.
        level: of each interval.

    Raises:
        Unanswerable: where a product of two of them was never measured.
        ValueError: for a level outside (0, 1), an unknown column, or one that is no number.
    """
    require_level(level)
    evidence = Evidence.of(release)
    moments = MomentMatrix.of(evidence.answers, columns)
    variables = [moments.basis.variable(name, "A covariance") for name in moments.basis.columns]
    own = {one: centered(moments, one, one) for one in variables}
    pairs = combinations_with_replacement(variables, 2)
    unit = evidence.answers.unit
    related = most_related(unit)
    found = (_covariance(moments, (one, other), (own[one], own[other]), level, related) for one, other in pairs)
    return with_related(found, unit)


def _covariance(
    moments: MomentMatrix,
    of: tuple[Variable, Variable],
    own: tuple[CenteredMoment, CenteredMoment],
    level: float,
    related: int,
) -> Finding:
    one, other = of
    part = own[0] if one == other else centered(moments, one, other)
    law = moments.law(part.gradient).plus_normal(part.quadratic)
    sampling = related * _sampling_variance(moments, part, own, law)
    unit = one.half * other.half
    lowest, highest = (0.0 if one == other else -1.0), 1.0
    half = law.plus_normal(sampling).quantile(level)
    ends = np.clip([part.value - half, part.value + half], lowest, highest) * unit
    about = f"variance of {one.label}" if one == other else f"covariance of {one.label} and {other.label}"
    estimate = float(np.clip(part.value, lowest, highest))
    cut = () if estimate == part.value else (cut_sentence(f"{about}: the", estimate * unit),)
    return Finding(
        about=about,
        estimate=estimate * unit,
        lower=float(ends[0]),
        upper=float(ends[1]),
        level=level,
        noise=law.quantile(level) * unit,
        sampling=NoiseLaw(sampling, np.zeros(0), np.zeros(0)).quantile(level) * unit,
        charges=moments.charges,
        basis=(*moments.sentences, *cut, _COVARIANCE_BASIS),
    )


def _sampling_variance(
    moments: MomentMatrix,
    part: CenteredMoment,
    own: tuple[CenteredMoment, CenteredMoment],
    law: NoiseLaw,
) -> float:
    """A bound on the variance of the mean over n records of the centered product, scaled.

    E (u - a)^2 (v - b)^2 <= max (u - a)^2 Var v, and the same with the two exchanged; the square of the covariance is
    taken off. Each quantity is moved by three standard deviations of its noise so that the bound grows.
    """
    slack = [3 * moments.law(one.gradient).deviation for one in own]
    reach = [min(1 + abs(mean) + more, 2.0) for mean, more in zip(part.means, slack, strict=True)]
    spread = [min(max(one.value, 0.0) + more, 1.0) for one, more in zip(own, slack, strict=True)]
    second = min(reach[0] ** 2 * spread[1], reach[1] ** 2 * spread[0])
    least = max(abs(part.value) - 3 * law.deviation, 0.0)
    return max(second - least**2, 0.0) / part.records


@with_caveats()
def correlation(release: Any, columns: Sequence[str], *, level: float = 0.95) -> list[Finding]:
    """The correlations of columns that are never missing; each interval holds the r that the estimate allows.

    Args:
        release: an `Evidence`, or what `Evidence.of` takes.
        columns: at least two, ordered or of two categories.
        level: of each interval.

    Raises:
        Unanswerable: where a product of two of them was never measured, or a variance, or the number of records, can't
            be distinguished from 0.
        ValueError: for a level outside (0, 1), an unknown column, or one that is no number.
    """
    require_level(level)
    evidence = Evidence.of(release)
    matrix = CovarianceMatrix.of(evidence, columns, "A correlation")
    _require_variances(matrix)
    unit = evidence.answers.unit
    pairs = combinations(range(len(matrix.variables)), 2)
    return with_related((_correlation(matrix, pair, level, most_related(unit)) for pair in pairs), unit)


def _require_variances(matrix: CovarianceMatrix) -> None:
    """Refuses what is noise.

    Sums are divided by the number of records. Of a noisy one that is near 0 all variances are thousands of times what
    the bounds admit, and stand out from their noise to first order, which is no measure of it there.
    """
    number = np.zeros(len(matrix.moments.sums))
    number[0] = 1.0
    if matrix.records <= 3 * matrix.moments.law(number).deviation:
        raise Unanswerable(
            "The number of records is within the noise of the bought moments, so that nothing can be said of "
            "correlations: buy the moments with more budget."
        )
    for u, variable in enumerate(matrix.variables):
        law = matrix.moments.law(matrix.gradients[u, u])
        if matrix.values[u, u] <= 3 * law.deviation:
            raise Unanswerable(
                f"The variance of {variable.name!r} is within the noise of the bought moments, so that nothing can be "
                "said of its correlations: leave it out, or buy the moments with more budget."
            )


def _correlation(matrix: CovarianceMatrix, pair: tuple[int, int], level: float, related: int) -> Finding:
    u, v = pair
    deviations = np.sqrt(np.diag(matrix.values))
    raw = float(matrix.values[u, v] / (deviations[u] * deviations[v]))
    estimate = min(max(raw, -1.0), 1.0)
    about = f"correlation of {matrix.variables[u].label} and {matrix.variables[v].label}"
    cut = () if estimate == raw else (cut_sentence(f"{about}: the", estimate),)
    means, spreads = matrix.means[[u, v]], deviations[[u, v]]
    product, own = np.zeros_like(matrix.values), np.zeros_like(matrix.values)
    product[u, v] = 1 / (deviations[u] * deviations[v])
    own[[u, v], [u, v]] = -1 / 2 / spreads**2
    fixed, per_r = matrix.gradient(product), matrix.gradient(own)
    return _finding(
        about,
        estimate,
        lambda r: matrix.moments.law(fixed + r * per_r),
        lambda r: related * _spread_of_correlation(r, means, spreads) / matrix.records,
        level,
        charges=matrix.moments.charges,
        basis=(*matrix.moments.sentences, *cut, _CORRELATION_BASIS),
    )


def _spread_of_correlation(r: float, means: np.ndarray, deviations: np.ndarray) -> float:
    """A bound on n times the variance of the correlation of n records, for large n.

    It is the variance of q = X Y - r (X^2 + Y^2) / 2 for the standardized X and Y, whose mean is 0. With A and B =
    (X +- Y) / sqrt 2, whose mean squares are 1 + r and 1 - r, q = (1 - r) A^2 / 2 - (1 + r) B^2 / 2, hence E abs(q) <=
    1 - r^2 and E q^2 <= max abs(q) (1 - r^2); and E q^2 <= -min q max q (Bhatia and Davis 2000). q has no extreme
    value inside the rectangle that the bounds leave to (X, Y): on an edge it is at a corner or where its slope is 0.
    """
    low, high = ((-1 - means) / deviations).tolist(), ((1 - means) / deviations).tolist()
    points = [(x, y) for x in (low[0], high[0]) for y in (low[1], high[1])]
    if r:
        points += [(x, min(max(x / r, low[1]), high[1])) for x in (low[0], high[0])]
        points += [(min(max(y / r, low[0]), high[0]), y) for y in (low[1], high[1])]
    values = [x * y - r / 2 * (x * x + y * y) for x, y in points]
    least, most = min(*values, 0.0), max(*values, 0.0)
    return min(-least * most, max(-least, most) * (1 - r * r))


def _finding(
    about: str,
    estimate: float,
    law_at: Callable[[float], NoiseLaw],
    sampling_at: Callable[[float], float],
    level: float,
    *,
    charges: tuple[int, ...],
    basis: tuple[str, ...],
) -> Finding:
    """A finding on a correlation: all r from which the estimate is no further than noise and sampling take it.

    Noise and sampling are those at r itself, as in a score interval. Those at the estimate mislead near 1, where
    sampling vanishes and noise does not: an interval that is symmetric for Fisher's z held a correlation of 1 in half
    of the cases.

    Args:
        estimate: in [-1, 1].
        law_at: of the noise in the estimate, where r is the correlation.
        sampling_at: the variance that sampling gives the estimate there.
    """
    nothing = NoiseLaw(0.0, np.zeros(0), np.zeros(0))
    ends = _within(estimate, lambda r: law_at(r).plus_normal(sampling_at(r)).quantile(level))
    noise = _within(estimate, lambda r: law_at(r).quantile(level))
    alone = _within(estimate, lambda r: nothing.plus_normal(sampling_at(r)).quantile(level))
    return Finding.between(
        ends, noise=noise, sampling=alone, about=about, estimate=estimate, level=level, charges=charges, basis=basis
    )


def _within(estimate: float, half_at: Callable[[float], float]) -> tuple[float, float]:
    """The least and the greatest r in [-1, 1] that are no further from the estimate than `half_at(r)`."""

    def excess(r: float) -> float:
        return abs(estimate - r) - half_at(r)

    def end(bound: float) -> float:
        outside = bound
        for r in np.linspace(bound, estimate, _TRIED).tolist():
            if excess(r) <= 0:
                return bound if r == bound else float(brentq(excess, outside, r, xtol=1e-9))
            outside = r
        return estimate

    return end(-1.0), end(1.0)
