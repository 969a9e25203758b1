"""Ordinary least squares from bought moments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from counterfoil.inference.caveats import with_caveats
from counterfoil.inference.evidence import Evidence
from counterfoil.inference.finding import Finding, Unanswerable
from counterfoil.inference.moment_basis import Variable, scale_of
from counterfoil.inference.moment_matrix import MomentMatrix
from counterfoil.inference.noise_law import NoiseLaw
from counterfoil.inference.noise_matrices import FEW_DRAWS, inflation, public_generator
from counterfoil.inference.ratio import require_level
from counterfoil.inference.related_rows import most_related, with_related


@with_caveats()
def ols(release: Any, target: str, predictors: Sequence[str], *, level: float = 0.95) -> list[Finding]:
    """The coefficients of the least-squares prediction of `target` by `predictors`, in the columns' own units.

    The constant comes first. A category counts against the first one of its column. Where a predictor may be missing it
    counts as 0 there, and "is missing" is a predictor too. A target of two categories counts as 1 for the second one.

    Args:
        release: an `Evidence`, or what `Evidence.of` takes.
        target: ordered, or of two categories; never missing.
        predictors: other columns.
        level: of each interval.

    Raises:
        Unanswerable: where products were never measured, or the noise is too large to invert the predictors' moments.
        ValueError: for a level outside (0, 1), an unknown column, one that is named twice, or a target that is no
            number, or a predictor of one value.
    """
    require_level(level)
    evidence = Evidence.of(release)
    named = (predictors,) if isinstance(predictors, str) else tuple(predictors)
    if not named:
        raise ValueError("`predictors` must name at least one column. Found none.")
    moments = MomentMatrix.of(evidence.answers, (*named, target))
    for name in named:
        column = evidence.schema[name]
        if column.is_ordered and scale_of(column)[1] == 0:
            raise ValueError(f"`predictors` must vary. Column {name!r} has one value: leave it out.")
    answer = moments.basis.variable(target, "Least squares")
    if answer.absent is not None:
        raise Unanswerable(
            f"The target {target!r} may be missing, and the products of the predictors where it is present were never "
            "measured: predict another column, or declare that it is never missing."
        )
    unit = evidence.answers.unit
    fit = LeastSquares(moments, answer, named, most_related(unit))
    larger = inflation(fit.matrix, fit.errors(FEW_DRAWS), f"these predictors of {target!r}")
    found = (fit.finding(row, level, larger) for row in range(len(fit.labels)))
    return with_related(found, unit)


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The solution b of G b = g for noisy sums G of products of the p predictors, and g with the target.

    With E and e the noise in G and g, b errs by exactly G^-1 (e - E b_0), b_0 being the solution without noise. The
    intervals take the law of G^-1 (e - E b) for it: a linear function of independent noises, in which each entry off
    the diagonal of G counts twice. What is left out is of second order in the noise: where that is not small,
    `inflation` makes the intervals wider or refuses.

    Args:
        moments: of the predictors and the target.
        target: the target.
        predictors: the columns.
        related: how many records may be one and the same draw (related_rows.py).
    """

    moments: MomentMatrix
    target: Variable
    predictors: tuple[str, ...]
    related: int = 1

    @cached_property
    def places(self) -> np.ndarray:
        """int64 [p]: the features of the predictors, the constant first."""
        return np.array([0, *(i for name in self.predictors for i in self.moments.basis.indices(name))])

    @property
    def labels(self) -> list[str]:
        """The names of the predictors' features."""
        return [self.moments.basis.names[i] for i in self.places]

    @property
    def matrix(self) -> np.ndarray:
        """float64 [p, p]: G."""
        return self._among(self.moments.matrix)

    def errors(self, count: int) -> np.ndarray:
        """float64 [count, p, p]: draws of E."""
        return self._among(self.moments.filled(self.moments.draws(count, public_generator())))

    def _among(self, matrices: np.ndarray) -> np.ndarray:
        return np.asarray(matrices[..., self.places, :][..., self.places])

    @cached_property
    def scaled(self) -> np.ndarray:
        """float64 [p]: b, for features and target as they are in the moments."""
        return np.asarray(np.linalg.solve(self.matrix, self.moments.matrix[self.places, self.target.feature]))

    @cached_property
    def _residual(self) -> np.ndarray:
        """float64 [features]: what the error target - prediction is of the features."""
        residual = np.zeros(len(self.moments.basis.names))
        residual[self.places] = -self.scaled
        residual[self.target.feature] = 1.0
        return residual

    @cached_property
    def error_variance(self) -> float:
        """The mean square of the errors, 0 where noise makes it negative; divided by n - p, or n - K p."""
        total = float(self._residual @ self.moments.matrix @ self._residual)
        return max(total, 0.0) / max(self.moments.records - self.related * len(self.places), 1.0)

    @cached_property
    def _own(self) -> np.ndarray:
        """float64 [p, p]: from b to coefficients in the columns' own units, but for the target's middle.

        A number x scaled as (x - middle) / half adds -middle / half times its coefficient to the constant; where it is
        missing it counts as the middle on the scale and as 0 in its own unit, which the indicator makes up for.
        """
        change = np.eye(len(self.places))
        where = {int(feature): row for row, feature in enumerate(self.places)}
        for name in self.predictors:
            column, features = self.moments.basis.schema[name], self.moments.basis.indices(name)
            if not column.is_ordered:
                continue
            middle, half = scale_of(column)
            row = where[features[0]]
            change[[row, 0], row] = 1 / half, -middle / half
            if column.missing:
                change[where[features[1]], row] = middle / half
        unit = self.target.half if self.target.stretch == 1 else 1.0
        return unit * change

    def finding(self, row: int, level: float, larger: float = 1.0) -> Finding:
        """The coefficient of one feature.

        Args:
            row: which, from 0 to p - 1.
            level: of its interval.
            larger: the factor by which its noise is taken to be larger than linear.
        """
        contrast = np.linalg.solve(self.matrix, self._own[row])
        spread = np.zeros(len(self.moments.basis.names))
        spread[self.places] = contrast
        law = self.moments.law(larger * self.moments.gradient(np.outer(spread, self._residual)))
        variance = self.related * max(float(contrast @ self.matrix @ contrast), 0.0) * self.error_variance
        shift = self.target.middle if row == 0 and self.target.stretch == 1 else 0.0
        estimate = float(self._own[row] @ self.scaled) + shift
        half = law.plus_normal(variance).quantile(level)
        sampling = NoiseLaw(variance, np.zeros(0), np.zeros(0)).quantile(level)
        return Finding(
            about=self._about(row),
            estimate=estimate,
            lower=estimate - half,
            upper=estimate + half,
            level=level,
            noise=law.quantile(level),
            sampling=sampling,
            charges=self.moments.charges,
            basis=(*self.moments.sentences, *self._assumption(row, spread, sampling, variance)),
        )

    def _assumption(self, row: int, spread: np.ndarray, sampling: float, variance: float) -> tuple[str, ...]:
        """What sampling assumes, and what it can be without: the mean error of a coefficient is that of c(z) times the
        error u, and E c^2 u^2 is at most max c^2 E u^2 and max u^2 E c^2."""
        sentence = "sampling takes the errors to have one variance, whatever the predictors"
        if variance == 0:
            return (sentence,)
        records, basis = self.moments.records, self.moments.basis
        mean_square = float(spread @ self.moments.matrix @ spread) * records
        largest = basis.largest(spread * records) ** 2, basis.largest(self._residual) ** 2
        widest = self.related * min(largest[0] * self.error_variance, largest[1] * mean_square) / records
        otherwise = sampling * math.sqrt(widest / variance)
        return sentence, f"{self._about(row)}: were it otherwise, sampling alone could be up to {otherwise:.3g}"

    def _about(self, row: int) -> str:
        return "constant" if row == 0 else f"coefficient of {self.labels[row]}"
