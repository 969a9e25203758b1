"""Many draws from a discrete Gaussian or Laplace at once: a cumulative table, inverted with uniform bits.

OpenDP's samplers are exact and take 10 to 20 microseconds a draw, which dominates once hundreds of thousands of
cells are measured. This one is exact up to a total-variation distance that is proved and accounted for.

Formal guarantee: let P be the exact distribution and Q that of a draw. The table holds, for the support -b..b, the
cumulative probabilities of P, conditioned on the support, rounded down to multiples of 2**-256; they are computed with
100 digits, so that each is off by less than 2**-255. P puts at most 2**-200 outside the support (`_sampler`). A draw
compares a uniform number of 256 bits with the table, so that each of the 2 b + 1 probabilities of Q is the difference
of two entries: TV(P, Q) <= 2**-200 + (2 b + 1) 2**-255 <= 2**-199, as b <= 2**17. Two mechanisms that differ only in
n such draws have outputs within n 2**-199 (couple the draws), whatever is asked between them, which adds
(1 + e**epsilon) n 2**-199 to delta. `budget.DELTA_SLACK` holds 2**-20 of delta back, of which `pays_for_tables` asks
whether half is enough for 2**44 draws, at each epsilon that a receipt states: it is at the usual budgets, such as
epsilon 18 and delta 1e-9. At others all noise is OpenDP's: a table ends, and shows by an answer beyond the end of one
neighbor's that it is the other one's. Wider laws, which no table of this size holds, go to `wide_gaussian` or to
OpenDP.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, chain

import numpy as np

from counterfoil.accounting.budget import DELTA_SLACK, Budget

MOST_DRAWS = 2**44
"""Of all runs of a release: 1,000 that may be judged, each with at most 2e9 numbers, which take 8 draws at most."""

UniformWords = Callable[[int], np.ndarray]
"""Takes n, gives n independent uniform 64-bit words as uint64[n]."""

LARGEST_RADIUS = 2**17
_BITS = 256
_MORE_BITS = 64
"""Of each probability before they are added up: a sum of parts that are rounded down lacks less than 2**-300."""
_DIGITS = 100


def pays_for_tables(budget: Budget) -> bool:
    """Whether half of what is held back of the budget's delta covers `MOST_DRAWS` draws from tables.

    Under the other relation an answer moves at most twice as far, so that mu is at most twice and rho at most four
    times as large, and the epsilon which is stated for it, at the same delta, at most four times the budget's.
    """
    stated = 4 * budget.epsilon
    lost = max(stated, 0.0) + math.log1p(math.exp(-stated)) + math.log(MOST_DRAWS) - 199 * math.log(2)
    return budget.delta > 0 and lost <= math.log(budget.delta) + math.log(DELTA_SLACK / 2)


class TableSampler:
    """Draws an integer from -b..b by inverting its cumulative distribution.

    Args:
        cumulative: [2 b + 1] nondecreasing integers, the probabilities of being at most -b, ..., b in units of 2**-256.
    """

    def __init__(self, cumulative: list[int]) -> None:
        self._radius = len(cumulative) // 2
        # The last entry, 1, is never compared: a number below it always lands at or before the end.
        self._cumulative = cumulative[:-1]
        self._first_words = np.array([value >> (_BITS - 64) for value in self._cumulative], dtype=np.uint64)

    def draw(self, size: int, words: UniformWords) -> np.ndarray:
        """`size` independent draws as int64[size].

        A uniform number is decided by its first 64 bits unless these equal those of an entry, which happens with
        probability below 2**-46; only then are its other 192 bits drawn.
        """
        first = words(size)
        index = np.searchsorted(self._first_words, first, side="left")
        beyond = np.searchsorted(self._first_words, first, side="right")
        for draw in np.flatnonzero(beyond > index):
            rest = b"".join(int(word).to_bytes(8, "big") for word in words(_BITS // 64 - 1))
            uniform = (int(first[draw]) << (_BITS - 64)) | int.from_bytes(rest, "big")
            tied = self._cumulative[index[draw] : beyond[draw]]
            index[draw] += sum(value <= uniform for value in tied)
        return index.astype(np.int64) - self._radius


@lru_cache(maxsize=32)
def gaussian_sampler(scale: float) -> TableSampler | None:
    """A sampler of the discrete Gaussian, P(x) proportional to exp(-x**2 / (2 scale**2)); None if too wide."""
    return _sampler(math.ceil(16.7 * scale) + 14, 1 / (2 * Fraction(scale) ** 2), 1 / Fraction(scale) ** 2)


@lru_cache(maxsize=32)
def laplace_sampler(scale: float) -> TableSampler | None:
    """A sampler of the discrete Laplace, P(x) proportional to exp(-abs(x) / scale); None if too wide."""
    return _sampler(math.ceil(140 * scale) + 2, 1 / Fraction(scale), Fraction(0))


def _sampler(radius: int, decay: Fraction, growth: Fraction) -> TableSampler | None:
    """Tabulates on -radius..radius the law with P(x + 1) / P(x) = exp(-decay - growth x) for x >= 0, symmetric.

    Outside the radius both laws above have less than 2**-200. Gaussian: P(abs(X) > b) <= 2 exp(-b**2 / (2 scale**2))
    for the discrete law as for the continuous one (Canonne, Kamath and Steinke 2020, Proposition 25), and
    16.7**2 / 2 > 201 log 2. Laplace: P(abs(X) > b) <= 2 exp(-(b + 1) / scale), and 140 > 201 log 2.
    """
    if radius > LARGEST_RADIUS:
        return None
    with decimal.localcontext(prec=_DIGITS, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX):
        ratio, shrink = ((-Decimal(x.numerator) / x.denominator).exp() for x in (decay, growth))
        weights = [Decimal(1)]
        for _ in range(radius):
            weights.append(weights[-1] * ratio)
            if growth:
                ratio *= shrink
        unit = Decimal(2 ** (_BITS + _MORE_BITS)) / (weights[0] + 2 * sum(weights[1:]))
        parts = [int(weight * unit) for weight in weights]
    running = accumulate(chain(reversed(parts), parts[1:]))
    return TableSampler([min(total >> _MORE_BITS, 2**_BITS - 1) for total in running])
