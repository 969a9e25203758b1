"""Many draws from a discrete Gaussian or Laplace at once: a cumulative table, inverted with uniform bits.

OpenDP's samplers are exact and take 10 to 20 microseconds a draw, which dominates once hundreds of thousands of
cells are measured. This one is exact up to a total-variation distance that is proved and accounted for.

Formal guarantee: let P be the exact distribution and Q that of a draw. The table holds, for the support -b..b, the
cumulative probabilities of P, conditioned on the support, rounded down to multiples of 2**-k, where k is 256 (`USUAL`)
or 768 (`FINER`); they are computed with so many digits that each is off by less than 2**-(k - 1). P puts at most
2**-(k - 56) outside the support (`_sampler`). A draw compares a uniform number of k bits with the table, so that each
of the 2 b + 1 probabilities of Q is the difference of two entries: TV(P, Q) <= 2**-(k - 56) + (2 b + 1) 2**-(k - 1) <=
2**-(k - 57), as b <= 2**17. Two mechanisms that differ only in
n such draws have outputs within n 2**-(k - 57) (couple the draws), whatever is asked between them, which adds
(1 + e**epsilon) n 2**-(k - 57) to delta. `budget.DELTA_SLACK` holds 2**-20 of delta back, of which
`precision_for` asks whether half is enough for 2**44 draws, at each epsilon that a receipt states: it is for `USUAL`
tables at the usual budgets, such as epsilon 18 and delta 1e-9, and for `FINER` ones at epsilon 100 and delta 1e-12,
whose narrow laws make them short. Where it is for neither, all noise is OpenDP's: a table ends, and shows by an answer
beyond the end of one neighbor's that it is the other one's. Wider laws, which no table of this size holds, go to
`wide_gaussian` or to OpenDP.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from dataclasses import dataclass
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
_MORE_BITS = 64
"""Of each probability before they are added up: a sum of k-bit parts that are rounded down lacks less than
2**-(k + 44)."""


@dataclass(frozen=True)
class Precision:
    """How finely a table says probabilities, and where it ends.

    Args:
        bits: k, of each entry and of the uniform number that is compared with it; a multiple of 64.
        digits: with which entries are computed.
        deviations: of a Gaussian, at which its table ends: more than sqrt(2 (k - 55) log 2).
        scales: of a Laplace law, at which its table ends: more than (k - 55) log 2.
    """

    bits: int
    digits: int
    deviations: float
    scales: int

    @property
    def log_distance(self) -> float:
        """The log of a bound of the total variation between a draw and the exact law."""
        return -(self.bits - 57) * math.log(2)


USUAL = Precision(256, 100, 16.7, 140)
FINER = Precision(768, 254, 31.5, 495)


def precision_for(budget: Budget) -> Precision | None:
    """Of the tables for which half of what is held back of the budget's delta pays, for `MOST_DRAWS` draws.

    None where it pays for no table: all noise must be exact.

    Under the other relation an answer moves at most twice as far, so that mu is at most twice and rho at most four
    times as large, and the epsilon which is stated for it, at the same delta, at most four times the budget's.
    """
    if budget.delta <= 0:
        return None
    stated = 4 * budget.epsilon
    draws = stated + math.log1p(math.exp(-stated)) + math.log(MOST_DRAWS)
    held_back = math.log(budget.delta) + math.log(DELTA_SLACK / 2)
    return next((one for one in (USUAL, FINER) if draws + one.log_distance <= held_back), None)


class TableSampler:
    """Draws an integer from -b..b by inverting its cumulative distribution.

    Args:
        cumulative: [2 b + 1] nondecreasing integers, the probabilities of being at most -b, ..., b in units of
            2**-bits.
        bits: of a probability.
    """

    def __init__(self, cumulative: list[int], bits: int) -> None:
        self._radius, self._bits = len(cumulative) // 2, bits
        # The last entry, 1, is never compared: a number below it always lands at or before the end.
        self._cumulative = cumulative[:-1]
        self._first_words = np.array([value >> (bits - 64) for value in self._cumulative], dtype=np.uint64)

    def draw(self, size: int, words: UniformWords) -> np.ndarray:
        """`size` independent draws as int64[size].

        A uniform number is decided by its first 64 bits unless these equal those of an entry, which happens with
        probability below 2**-46; only then are its other bits drawn.
        """
        first = words(size)
        index = np.searchsorted(self._first_words, first, side="left")
        beyond = np.searchsorted(self._first_words, first, side="right")
        for draw in np.flatnonzero(beyond > index):
            rest = b"".join(int(word).to_bytes(8, "big") for word in words(self._bits // 64 - 1))
            uniform = (int(first[draw]) << (self._bits - 64)) | int.from_bytes(rest, "big")
            tied = self._cumulative[index[draw] : beyond[draw]]
            index[draw] += sum(value <= uniform for value in tied)
        return index.astype(np.int64) - self._radius


@lru_cache(maxsize=32)
def gaussian_sampler(scale: float, precision: Precision = USUAL) -> TableSampler | None:
    """A sampler of the discrete Gaussian, P(x) proportional to exp(-x**2 / (2 scale**2)); None if too wide."""
    radius, square = math.ceil(precision.deviations * scale) + 14, Fraction(scale) ** 2
    return _sampler(radius, 1 / (2 * square), 1 / square, precision)


@lru_cache(maxsize=32)
def laplace_sampler(scale: float, precision: Precision = USUAL) -> TableSampler | None:
    """A sampler of the discrete Laplace, P(x) proportional to exp(-abs(x) / scale); None if too wide."""
    return _sampler(math.ceil(precision.scales * scale) + 2, 1 / Fraction(scale), Fraction(0), precision)


def _sampler(radius: int, decay: Fraction, growth: Fraction, precision: Precision) -> TableSampler | None:
    """Tabulates on -radius..radius the law with P(x + 1) / P(x) = exp(-decay - growth x) for x >= 0, symmetric.

    Outside the radius both laws above have less than 2**-(k - 56), k the bits. Gaussian: P(abs(X) > b) <=
    2 exp(-b**2 / (2 scale**2)) for the discrete law as for the continuous one (Canonne, Kamath and Steinke 2020,
    Proposition 25), and half the square of its deviations exceeds (k - 55) log 2. Laplace: P(abs(X) > b) <=
    2 exp(-(b + 1) / scale), and its scales exceed that number.
    """
    if radius > LARGEST_RADIUS:
        return None
    with decimal.localcontext(prec=precision.digits, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX):
        ratio, shrink = ((-Decimal(x.numerator) / x.denominator).exp() for x in (decay, growth))
        weights = [Decimal(1)]
        for _ in range(radius):
            weights.append(weights[-1] * ratio)
            if growth:
                ratio *= shrink
        unit = Decimal(2 ** (precision.bits + _MORE_BITS)) / (weights[0] + 2 * sum(weights[1:]))
        parts = [int(weight * unit) for weight in weights]
    running = accumulate(chain(reversed(parts), parts[1:]))
    top = 2**precision.bits - 1
    return TableSampler([min(total >> _MORE_BITS, top) for total in running], precision.bits)
