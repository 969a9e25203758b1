"""Many draws from a discrete Gaussian or Laplace at once: a cumulative table searched with 128 uniform bits a draw.

OpenDP's samplers are exact and take 10 to 20 microseconds a draw, which dominates once hundreds of thousands of
cells are measured. This one is exact up to a total-variation distance that is proved and accounted for.

Formal guarantee: let P be the exact distribution and Q that of a draw. The table holds, for the support -b..b, the
cumulative probabilities of P, conditioned on the support, rounded to multiples of 2**-128, each computed with 60
digits. P puts at most 2**-130 outside the support (`_radius`). Each of the 2 b + 1 probabilities of Q is off by at
most 2**-127, so TV(P, Q) <= 2**-130 + (2 b + 1) 2**-127 <= 2**-104 for b < 2**17. By the coupling of n draws the
output of a mechanism with n draws is within n 2**-104 of the exact one, which adds (1 + e**epsilon) n 2**-104 to
delta; `accounting.DELTA_SLACK` holds a millionth of delta back, which covers 10**9 draws for delta > 1e-15 and
epsilon < 10. `TableSampler` refuses larger scales, which go to OpenDP.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np

UniformWords = Callable[[int], np.ndarray]
"""Takes n, gives n independent uniform 64-bit words as uint64[n]."""

LARGEST_RADIUS = 2**17
_DIGITS = 60


class TableSampler:
    """Draws an integer from -b..b by inverting its cumulative distribution.

    Args:
        cumulative: [2 b + 1] nondecreasing integers, the probabilities of being at most -b, ..., b in units of 2**-128.
    """

    def __init__(self, cumulative: list[int]) -> None:
        self._radius = len(cumulative) // 2
        mask = 2**64 - 1
        # The last entry is 2**128 and is never compared: a word pair below it always lands at or before the end.
        self._high = np.array([value >> 64 for value in cumulative[:-1]], dtype=np.uint64)
        self._low = np.array([value & mask for value in cumulative[:-1]], dtype=np.uint64)

    def draw(self, size: int, words: UniformWords) -> np.ndarray:
        """`size` independent draws as int64[size]."""
        bits = words(2 * size)
        high, low = bits[:size], bits[size:]
        # The outcome is the number of cumulative values at or below the uniform number (high, low).
        index = np.searchsorted(self._high, high, side="left")
        tied = np.flatnonzero((index < len(self._high)) & (self._high[np.minimum(index, len(self._high) - 1)] == high))
        for draw in tied:  # with probability below 2**-40 a draw
            while index[draw] < len(self._high) and self._at_most(index[draw], high[draw], low[draw]):
                index[draw] += 1
        return index.astype(np.int64) - self._radius

    def _at_most(self, entry: int, high: np.uint64, low: np.uint64) -> bool:
        return bool(self._high[entry] < high or (self._high[entry] == high and self._low[entry] <= low))


@lru_cache(maxsize=32)
def gaussian_sampler(scale: float) -> TableSampler | None:
    """A sampler of the discrete Gaussian, P(x) proportional to exp(-x**2 / (2 scale**2)); None if too wide."""
    return _sampler(math.ceil(13.6 * scale) + 14, 1 / (2 * Fraction(scale) ** 2), 1 / Fraction(scale) ** 2)


@lru_cache(maxsize=32)
def laplace_sampler(scale: float) -> TableSampler | None:
    """A sampler of the discrete Laplace, P(x) proportional to exp(-abs(x) / scale); None if too wide."""
    return _sampler(math.ceil(92 * scale) + 2, 1 / Fraction(scale), Fraction(0))


def _sampler(radius: int, decay: Fraction, growth: Fraction) -> TableSampler | None:
    """Tabulates on -radius..radius the law with P(x + 1) / P(x) = exp(-decay - growth x) for x >= 0, symmetric.

    Outside the radius both laws above have less than 2**-130. Gaussian: P(abs(X) > b) <= 2 exp(-b**2 / (2 scale**2))
    for the discrete law as for the continuous one (Canonne, Kamath and Steinke 2020, Proposition 25), and
    13.6**2 / 2 > 131 log 2. Laplace: P(abs(X) > b) <= 2 exp(-(b + 1) / scale), and 92 > 131 log 2.
    """
    if radius > LARGEST_RADIUS:
        return None
    import mpmath

    with mpmath.workdps(_DIGITS):
        ratio, shrink = (mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) for x in (decay, growth))
        weights = [mpmath.mpf(1)]
        for _ in range(radius):
            weights.append(weights[-1] * ratio)
            ratio *= shrink
        unit = mpmath.mpf(2) ** 128 / (weights[0] + 2 * mpmath.fsum(weights[1:]))
        cumulative, running = [], mpmath.mpf(0)
        for x in range(-radius, radius + 1):
            running += weights[abs(x)]
            cumulative.append(min(int(running * unit), 2**128 - 1))
    return TableSampler(cumulative)
