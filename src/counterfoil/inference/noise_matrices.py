"""How large a symmetric matrix of noise is: in spectral norm, and against the matrix that it is part of."""

from __future__ import annotations

import numpy as np

from counterfoil.inference.finding import Unanswerable
from counterfoil.threads import on_one_thread

DRAWS = 2000
"""Draws of the noise that a width is simulated with, from a public seed: two calls give the same interval."""

FEW_DRAWS = 500
"""Draws of the noise that decide whether a matrix may be inverted."""

_SEED = 20
_LEVEL = 0.95


def public_generator() -> np.random.Generator:
    """The public randomness that widths are simulated with."""
    return np.random.default_rng(_SEED)


@on_one_thread
def spectral_norms(errors: np.ndarray) -> np.ndarray:
    """float64 [draws], growing: the spectral norms of symmetric matrices [draws, d, d]."""
    return np.sort(np.abs(np.linalg.eigvalsh(errors)).max(axis=-1))


def quantile_of(norms: np.ndarray, level: float) -> float:
    """The quantile of growing draws: the next larger order statistic, the largest where they can't tell it."""
    return float(norms[min(int(np.ceil(level * (len(norms) + 1))), len(norms)) - 1])


@on_one_thread
def relative_noise(matrix: np.ndarray, errors: np.ndarray) -> float:
    """The 95% quantile of norm(A^-1/2 E A^-1/2) for the noisy matrix A [d, d] and draws E [draws, d, d] of its noise.

    The matrix without noise is A - E = A^1/2 (I - A^-1/2 E A^-1/2) A^1/2, hence positive definite where that norm is
    below 1. It does not depend on the units of single features. Infinite where A is not positive definite.
    """
    values, vectors = np.linalg.eigh(matrix)
    if values[0] <= 1e-12 * values[-1]:
        return np.inf
    half = vectors / np.sqrt(values)
    return quantile_of(spectral_norms(half.T @ errors @ half), _LEVEL)


def inflation(matrix: np.ndarray, errors: np.ndarray, columns: str) -> float:
    """The factor by which the noise in what the inverse of a noisy matrix gives is taken to be larger than linear.

    With the relative noise rho it is 1 up to rho = 1/2 and 2 rho beyond, where terms of second order are no longer
    small. Where noise is that large, answers are given mostly by releases whose noise made the matrix larger than it
    is; the factor makes up for a part of that.

    Args:
        matrix: float64 [d, d].
        errors: float64 [draws, d, d]: draws of the noise.
        columns: what the matrix is of, for the error's sentence.

    Raises:
        Unanswerable: where rho is at least 1: a singular matrix can't be told from this one.
    """
    relative = relative_noise(matrix, errors)
    if relative < 1:
        return max(1.0, 2 * relative)
    raise Unanswerable(
        f"The noise in the bought moments is too large for {columns}: by what is known, one of them may be a linear "
        "function of the others. Name fewer, or buy the moments with more budget."
    )
