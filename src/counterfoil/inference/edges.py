"""Edges of the Gaussian graphical model of some columns: partial correlations from bought moments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from counterfoil.inference.caveats import with_caveats
from counterfoil.inference.centered_moments import CovarianceMatrix
from counterfoil.inference.evidence import Evidence
from counterfoil.inference.finding import Finding, Unanswerable
from counterfoil.inference.noise_law import NoiseLaw
from counterfoil.inference.noise_matrices import FEW_DRAWS, inflation, public_generator
from counterfoil.inference.ratio import require_level
from counterfoil.inference.related_rows import most_related, with_related

_BASIS = (
    "sampling is that of normal columns (Fisher's z); of others, an edge is a linear relation given the other columns",
    "the intervals of all pairs hold together; where no edge is found, none is excluded either",
)


@with_caveats()
def graph(release: Any, columns: Sequence[str], *, level: float = 0.95) -> list[Finding]:
    """The partial correlation of each pair of columns given the others, an edge where its interval excludes 0.

    The intervals hold together with probability `level` (Bonferroni), so that with that probability no edge is false.

    Args:
        release: an `Evidence`, or what `Evidence.of` takes.
        columns: at least two, ordered or of two categories, never missing.
        level: the probability that all intervals hold.

    Raises:
        Unanswerable: where a product of two of them was never measured, the noise is too large to invert their
            covariances, or there are too few records.
        ValueError: for a level outside (0, 1), an unknown column, or one that is no number.
    """
    require_level(level)
    evidence = Evidence.of(release)
    matrix = CovarianceMatrix.of(evidence, columns, "A graph")
    size = len(matrix.variables)
    unit = evidence.answers.unit
    related = most_related(unit)
    if matrix.records <= related * (size + 2):
        alike = "" if related == 1 else f", where up to {related:,} may be alike"
        raise Unanswerable(
            f"{matrix.records:,.0f} records are too few for the graph of {size} columns{alike}: name fewer."
        )
    larger = inflation(matrix.values, matrix.errors(FEW_DRAWS, public_generator()), "the graph of these columns")
    each = 1 - (1 - level) / (size * (size - 1) / 2)
    precision = np.linalg.inv(matrix.values)
    found = [_pair(matrix, precision, pair, each, larger, related) for pair in combinations(range(size), 2)]
    return with_related((replace(finding, level=level) for finding in found), unit)


def _pair(
    matrix: CovarianceMatrix, precision: np.ndarray, pair: tuple[int, int], level: float, larger: float, related: int
) -> Finding:
    """The partial correlation r = -P_uv / sqrt(P_uu P_vv) for the inverse P, of which dP = -P dC P.

    Sampling is that of as many independent records as there are where `related` at a time are one.
    """
    u, v = pair
    deviations = np.sqrt(np.diag(precision))
    estimate = float(-precision[u, v] / (deviations[u] * deviations[v]))
    of_precision = np.zeros_like(precision)
    of_precision[u, v] = -1 / (deviations[u] * deviations[v])
    of_precision[[u, v], [u, v]] = -estimate / 2 / deviations[[u, v]] ** 2
    law = matrix.law(-larger * precision @ of_precision @ precision)
    names = f"{matrix.variables[u].label} and {matrix.variables[v].label}"
    finding = _fisher_finding(
        f"partial correlation of {names}",
        estimate,
        law,
        (1 - estimate**2) ** 2 / (matrix.records / related - len(precision) - 1),
        level,
        charges=matrix.moments.charges,
        basis=(*matrix.moments.sentences, *_BASIS),
    )
    verdict = "an edge" if finding.lower > 0 or finding.upper < 0 else "no edge found"
    return replace(finding, about=f"{finding.about}: {verdict}")


def _fisher_finding(
    about: str,
    estimate: float,
    law: NoiseLaw,
    sampling: float,
    level: float,
    *,
    charges: tuple[int, ...],
    basis: tuple[str, ...],
) -> Finding:
    """A finding on a correlation whose interval is symmetric for artanh r.

    Args:
        estimate: r.
        law: of its noise.
        sampling: the variance that sampling gives it.
    """
    bent = max(1 - estimate**2, 1e-9)
    z = math.atanh(min(max(estimate, -1 + 1e-9), 1 - 1e-9))

    def within(of: NoiseLaw) -> tuple[float, float]:
        half = of.quantile(level) / bent
        return math.tanh(z - half), math.tanh(z + half)

    nothing = NoiseLaw(0.0, np.zeros(0), np.zeros(0))
    ends, noise, alone = (within(one) for one in (law.plus_normal(sampling), law, nothing.plus_normal(sampling)))
    return Finding.between(
        ends, noise=noise, sampling=alone, about=about, estimate=estimate, level=level, charges=charges, basis=basis
    )
