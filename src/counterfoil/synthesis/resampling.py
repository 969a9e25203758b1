"""From weights on points to points."""

from __future__ import annotations

import numpy as np


def independent(weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """int64 [n]: indices drawn independently with chances proportional to float64[m] `weights`."""
    return np.searchsorted(_steps(weights), rng.random(n), side="right")


def systematic(weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """int [n]: increasing indices, each `floor` or `ceil` of n times its share of float64[m] `weights`.

    Draws lie at equal steps along the cumulative weights, from a single random start. Their variance is far below that
    of independent draws, all the more where points near in index are near in space: what one rounding adds the next
    takes away. (COMPAS, 7214 rows: pairs are .0016 worse in L1 than those of the weights where codes are sorted, .0030
    in random order, and .0102 drawn independently.) The integers have the smallest type that holds m - 1.
    """
    # Draws lie at (k + start) / n for k = 0, 1, ...: so many of them are below the end of each share.
    ends = np.ceil(n * _steps(weights) - rng.random()).astype(np.int64).clip(0, n)
    indices = np.arange(len(ends) + 1, dtype=np.min_scalar_type(len(ends)))
    return np.repeat(indices, np.diff(ends, prepend=0, append=n))


def _steps(weights: np.ndarray) -> np.ndarray:
    """The cumulative shares below 1 at which the next index starts; indices of weight zero are never reached."""
    total = weights.sum()
    if not (total > 0 and (weights >= 0).all()):
        raise ValueError("`weights` must be non-negative and not all zero.")
    last = int(np.flatnonzero(weights)[-1])
    return np.cumsum(weights[:last] / total)
