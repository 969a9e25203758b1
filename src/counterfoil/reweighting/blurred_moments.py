"""What noise and a prior leave of relations of which second moments were bought."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from counterfoil.features.moments import Moments
from counterfoil.marginals.weak_relations import Blurred, blurred_average
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.reweighting.noisy_answers import NoisyAverages
from counterfoil.reweighting.support import Support

_LEAST = 1e-3
"""Columns with less than this standard deviation, of features in [-1, 1], have no relation to keep."""


def blurred_moments(averages: NoisyAverages, support: Support, total: float, prior_weight: float) -> list[Blurred]:
    """What is left of each pair, by the feature of each column that varies most among draws from the reference.

    Args:
        averages: of moments of order 2.
        support: draws from the reference.
        total: the number of records, as noise leaves it.
        prior_weight: see `weak_relations`.
    """
    family, answer = averages.family, averages.answer
    assert isinstance(family, Moments)
    features, matrix = family.features, support.matrix(family) / family.unit
    first = [[family.place((u, i)) for i in range(size)] for u, size in enumerate(features.sizes)]
    best = []
    for u, places in enumerate(first):
        block = matrix[places]
        mean = block @ support.prior
        deviations = np.sqrt(np.maximum(block.multiply(block) @ support.prior - mean**2, 0.0))
        i = int(np.argmax(deviations))
        best.append((u, i, float(deviations[i])))
    laplace = isinstance(answer.noise, LaplaceNoise)
    scale = (answer.scale if laplace else answer.deviation) / family.unit / total
    return [
        blurred_average(
            (features.columns[u].name, features.columns[v].name), scale / (one * other), prior_weight, laplace=laplace
        )
        for (u, _, one), (v, _, other) in combinations(best, 2)
        if min(one, other) > _LEAST
    ]
