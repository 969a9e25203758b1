"""Many draws from a discrete Gaussian that is too wide for one table: a sum of narrow ones, each on a coarser lattice.

A gradient is answered in fixed-point numbers, millions of units wide, with a draw for each parameter and step. OpenDP
takes 10 to 20 microseconds for one, which would cost more than the gradient itself.

Formal guarantee: let DG(s) be the law on the integers with P(x) proportional to exp(-x**2 / (2 s**2)). For independent
X ~ DG(r) on the integers and Y ~ DG(s), B a whole number and t**2 = r**2 + (B s)**2, completing the square gives

    P(X + B Y = z) proportional to exp(-z**2 / (2 t**2)) sum over y of exp(-(y - c(z))**2 / (2 w**2)),  w = r s / t,

where c(z) = z B s**2 / t**2. By Poisson summation the sum lies in w sqrt(2 pi) [1 - h, 1 + h] with
h = 2.1 exp(-2 pi**2 w**2), whatever c is, so that X + B Y has the law DG(t) up to a factor in
[(1 - h) / (1 + h), (1 + h) / (1 - h)] at each z. Here X is the sum of all levels below, r >= 3 B, and s >= `_LEAST`, so
that w >= 3 s / sqrt(9 + s**2) > 2.98 and h < 2**-250. With at most `_MOST_LEVELS` levels, each of whose draws is within
2**-(k - 57) of its law in total variation (`sampler`), a sum is within 2**-(k - 60) of DG(t): the budget's
`DELTA_SLACK` holds back enough for 2**41 such draws where it is for 2**44 from tables (`sampler.precision_for`).

The scale of the last level is rounded to a float, so that t**2 is the square of the wanted scale up to a factor
1 +- 2**-50; it is raised by 2**-48 first: the noise is never smaller than what was asked for.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from counterfoil.noise.sampler import USUAL, Precision, TableSampler, UniformWords, gaussian_sampler

_BASE = 64
_LOWER = 3.0 * _BASE
"""The scale of each level but the last, in units of its lattice."""

_LEAST = 32.0
_WIDEST = 2100.0
"""Of the last level: beyond where another one below it leaves at least `_LEAST`."""

_MOST_LEVELS = 8
_RAISED = 1 + 2.0**-48


class WideGaussian:
    """Draws a discrete Gaussian as a sum over levels.

    Args:
        levels: the sampler of each level, the finest first; level i counts in units of 64**i.
    """

    def __init__(self, levels: tuple[TableSampler, ...]) -> None:
        self.levels = levels

    def draw(self, size: int, words: UniformWords) -> np.ndarray:
        """`size` independent draws as int64[size]."""
        total = np.zeros(size, dtype=np.int64)
        for level in reversed(self.levels):
            total = total * _BASE + level.draw(size, words)
        return total


@lru_cache(maxsize=32)
def wide_gaussian_sampler(scale: float, precision: Precision = USUAL) -> WideGaussian | None:
    """A sampler of the discrete Gaussian of `scale`; None where it is too narrow (below 2,057) or beyond 2**53."""
    below, unit, levels = 0.0, 1.0, list[TableSampler]()
    for _ in range(_MOST_LEVELS - 1):
        below = math.hypot(below, _LOWER * unit)
        unit *= _BASE
        lower = gaussian_sampler(_LOWER, precision)
        assert lower is not None
        levels.append(lower)
        top = math.sqrt(max(scale - below, 0.0)) * math.sqrt(scale + below) / unit
        if top < _LEAST:
            return None
        if top < _WIDEST:
            last = gaussian_sampler(top * _RAISED, precision)
            assert last is not None
            return WideGaussian((*levels, last))
    return None
