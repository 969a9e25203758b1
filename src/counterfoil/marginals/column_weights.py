"""How another measurement of all columns is divided: more of it for those that noise leaves more in doubt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterfoil.domain.coarsening import Coarsening
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.marginals.measure import SIZE_EXPONENT, size_of, weights_for

LEAST_SHARE = 0.5
"""What each column gets at least, in equal shares: small columns tell the number of records."""

_MOST_SHARE = 16.0


def column_weights(known: Sequence[NoisyMarginal], coarsening: Coarsening, deviation: float) -> tuple[int, ...]:
    """The weights with which all measurements of the columns together leave the least error.

    The arguments are those of `wanted_shares`. Post-processing: they follow from noisy counts.
    """
    return weights_for(wanted_shares(known, coarsening, deviation))


def wanted_shares(known: Sequence[NoisyMarginal], coarsening: Coarsening, deviation: float) -> np.ndarray:
    """float64 [columns], with mean 1: how another measurement is divided.

    The error that noise leaves in a column is its size times the deviation of its cells: the size is the number of
    coarse cells that exceed the noise which equal shares would leave (`measure.size_of`).
    Minimizing sum(size / sqrt(precision)) over precisions with a fixed sum gives ones in proportion to
    size ** (2/3); what was measured before counts.

    Args:
        known: the noisy counts of each column so far.
        coarsening: what will be counted together.
        deviation: of a cell in the new measurement, were it divided equally, in records.
    """
    before = np.array([one.scale for one in known]) ** -2.0 * deviation**2  # precisions, in equal shares of the new
    left = deviation / np.sqrt(before + 1)
    sums = [np.bincount(coarsening.codes[one.clique[0]], one.counts) for one in known]
    sizes = [size_of(one, its) for one, its in zip(sums, left.tolist(), strict=True)]
    needs = np.array(sizes) ** SIZE_EXPONENT
    low, high = 0.0, float((before + _MOST_SHARE).max() / needs.min())
    for _ in range(60):  # the level at which the shares add up
        level = (low + high) / 2
        short = np.clip(level * needs - before, LEAST_SHARE, _MOST_SHARE).sum() < len(known)
        low, high = (level, high) if short else (low, level)
    return np.clip(high * needs - before, LEAST_SHARE, _MOST_SHARE)
