"""Principal components from bought moments, with bounds that hold for all components together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfoil.inference.caveats import with_caveats
from counterfoil.inference.centered_moments import STEPS, CovarianceMatrix, bernstein_norm, bernstein_of_units
from counterfoil.inference.evidence import Evidence
from counterfoil.inference.finding import Finding
from counterfoil.inference.noise_matrices import DRAWS, public_generator, quantile_of, spectral_norms
from counterfoil.inference.ratio import require_level
from counterfoil.inference.related_rows import most_related, with_related

_SMALLEST_LOADING = 0.1
_SHARE_OF_THE_MEANS = 0.1
"""Of the probability that the bound on sampling may fail: for the means."""


@with_caveats()
def pca(release: Any, columns: Sequence[str], *, level: float = 0.95) -> list[Finding]:
    """The principal components of columns scaled to [-1, 1] by their declared bounds: variances and directions.

    For each component, from the largest: its variance, and the sine of the angle between its measured direction and the
    population's, of which an upper bound is known. All intervals hold together with probability `level`. A bound of 1
    says that the direction is unknown: noise and sampling can move the variance next to it that far.

    Args:
        release: an `Evidence`, or what `Evidence.of` takes.
        columns: at least two, ordered or of two categories, never missing.
        level: the probability that all intervals hold.

    Raises:
        Unanswerable: where a product of two of them was never measured.
        ValueError: for a level outside (0, 1), an unknown column, or one that is no number.

    Sources: Weyl's inequality for the variances; Davis and Kahan 1970 for the directions; Tropp 2015 for sampling.
    """
    require_level(level)
    evidence = Evidence.of(release)
    matrix = CovarianceMatrix.of(evidence, columns, "A principal component analysis")
    unit = evidence.answers.unit
    together, noise, sampling = _bounds(matrix, level, most_related(unit))
    values, vectors = np.linalg.eigh(matrix.values)
    findings = []
    for number, k in enumerate(reversed(range(len(values))), 1):
        component = _Component(matrix, number, values, vectors[:, k], k, level)
        findings += [component.variance(together, noise, sampling), component.angle(together, noise, sampling)]
    return with_related(findings, unit)


def _bounds(matrix: CovarianceMatrix, level: float, related: int = 1) -> tuple[float, float, float]:
    """Bounds on the spectral norm of the matrix's error: in all, from noise alone, and from sampling alone.

    In all, noise and sampling may each exceed their part with half of the probability.
    """
    norms = spectral_norms(matrix.errors(DRAWS, public_generator()))
    failure = 1 - level
    half = quantile_of(norms, 1 - failure / 2)
    noise = quantile_of(norms, level)
    both = half + _sampling_norm(matrix, half, failure / 2, related)
    return both, noise, _sampling_norm(matrix, noise, failure, related)


def _sampling_norm(matrix: CovarianceMatrix, noise: float, failure: float, related: int) -> float:
    """A bound on the spectral norm of the covariances' sampling error, which fails with probability `failure`.

    The covariance of n records is the mean of x x', x being centered at the population's mean, minus m m' with the mean
    m of x. For the first see `bernstein_norm`. The norm of m has mean at most sqrt(tr C / n) and moves by at most 2
    sqrt(d) / n with one record (McDiarmid), so that it exceeds that by t with probability exp(-n t^2 / (2 d)). Where up
    to K records are of one unit, both are sums over units, of matrices and of vectors (`bernstein_of_units`).
    """
    size, records = len(matrix.values), matrix.records
    of_means = _SHARE_OF_THE_MEANS * failure
    largest = max(float(np.linalg.eigvalsh(matrix.values)[-1]), 0.0) + noise
    reach = float(np.sum(matrix.reaches**2))
    if related > 1:
        return _sampling_norm_of_units(largest, reach, (size, records), (of_means, failure - of_means), related)
    mean = math.sqrt(size * largest / records) + math.sqrt(2 * size * math.log(1 / of_means) / records)
    return bernstein_norm(reach, largest, size, records, failure - of_means) + mean**2


def _sampling_norm_of_units(
    largest: float, reach: float, shape: tuple[int, float], failures: tuple[float, float], related: int
) -> float:
    """The same where up to `related` records are of one unit, improved step by step as in `products_of_units`.

    The sum of the variances is at most as many times the largest one, and at most `reach`.
    """
    (size, records), (of_means, of_products), bound = shape, failures, math.inf
    for _ in range(STEPS):
        most = min(largest + bound, reach)
        length = bernstein_of_units(math.sqrt(reach), min(size * most, reach), size + 1, records, of_means, related)
        bound = bernstein_of_units(reach, reach * most, 2 * size, records, of_products, related) + length**2
    return bound


@dataclass(frozen=True, eq=False)
class _Component:
    """One principal component.

    Args:
        matrix: the covariances.
        number: from 1, by variance from the largest.
        values: float64 [d]: all variances, growing.
        vector: float64 [d]: its direction.
        k: its place among `values`.
        level: of all intervals together.
    """

    matrix: CovarianceMatrix
    number: int
    values: np.ndarray
    vector: np.ndarray
    k: int
    level: float

    def variance(self, together: float, noise: float, sampling: float) -> Finding:
        value = float(self.values[self.k])
        return self._finding(
            f"variance of component {self.number}, along {self._direction}",
            (max(value, 0.0), max(value - together, 0.0), max(value + together, 0.0)),
            (noise, sampling),
            "columns are scaled to [-1, 1] by their declared bounds; all intervals hold together",
        )

    def angle(self, together: float, noise: float, sampling: float) -> Finding:
        upper = self._sine(together)
        sentence = (
            f"component {self.number}: the direction is unknown, for the variance of another component is no further "
            "away than noise and sampling can move it"
            if upper == 1
            else "an estimate 0 takes the measured direction for the population's; only the upper end is a statement"
        )
        alone = self._sine(noise) / 2, self._sine(sampling) / 2
        about = f"sine of the angle of component {self.number} to the population's"
        return self._finding(about, (math.nan if upper == 1 else 0.0, 0.0, upper), alone, sentence)

    def _sine(self, error: float) -> float:
        """With the gap g of the measured variance to the next one, the population's others are at least g - error away
        from it: the sine is at most error / (g - error) (Davis and Kahan)."""
        others = np.delete(self.values, self.k)
        gap = float(np.abs(others - self.values[self.k]).min())
        return error / (gap - error) if gap > 2 * error else 1.0

    @property
    def _direction(self) -> str:
        """Its loadings, the largest one positive; those below a tenth are left out."""
        largest = int(np.argmax(np.abs(self.vector)))
        signed = self.vector * np.sign(self.vector[largest])
        order = [int(u) for u in np.argsort(-np.abs(signed), kind="stable") if abs(signed[u]) >= _SMALLEST_LOADING]
        return " ".join(f"{signed[u]:+.2f} {self.matrix.variables[u].label}" for u in order)

    def _finding(
        self, about: str, ends: tuple[float, float, float], alone: tuple[float, float], sentence: str
    ) -> Finding:
        bounds = "sampling is bounded by the declared bounds of the columns, whatever their law"
        return Finding(
            about=about,
            estimate=ends[0],
            lower=ends[1],
            upper=ends[2],
            level=self.level,
            noise=alone[0],
            sampling=alone[1],
            charges=self.matrix.moments.charges,
            basis=(*self.matrix.moments.sentences, bounds, sentence),
        )
