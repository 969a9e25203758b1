"""How large a number that is at least 0 may be, by a noisy answer that may lie far below it.

The one-sided bound, of the answer and a quantile of the noise, holds with probability 1 - beta over the noise. Where
the noise is larger than all that the number can be, most of these bounds say nothing, and those that do are the ones
that failed: of the error bars below 2 that MST had on 300 rows at epsilon .1, 22 of 100 held for single columns.

The number d is at least 0, so that the noise z in the answer y = d + z is at most y. The bound here is the d for which

    P(z <= y - d) = beta P(z <= y).

It is never below the one-sided bound, which lacks the second factor, so that it holds with probability 1 - beta
whatever d is. It is positive for any answer, grows with the noise, and is the one-sided bound where the answer is far
above the noise.

Sources: Zech 1989, Upper limits in experiments with background or measurement errors; Read 2002, Presentation of search
results: the CLs technique.
"""

from __future__ import annotations

import math


def most_by_gaussian(answer: float, scale: float, beta: float) -> float:
    """The bound where the noise is discrete Gaussian of this scale, and answer and number are whole.

    For whole k > 0 the noise is -k or less with probability at most Phi(-(k - 1) / scale): the sum over integers from k
    on is at most the integral from k - 1 (Canonne, Kamath and Steinke 2020, Proposition 25).
    """
    from scipy.special import log_ndtr, ndtri_exp

    there = float(log_ndtr((answer + 1) / scale))
    return max(answer + 1 - scale * min(float(ndtri_exp(math.log(beta) + there)), 0.0), 0.0)


def most_by_laplace(answer: float, scale: float, beta: float) -> float:
    """The bound where the noise is discrete Laplace of this scale: -k or less with probability at most exp(-k / scale).

    Below 0 its tail is a geometric law, which forgets where it begins.
    """
    return max(answer, 0.0) + scale * math.log(1 / beta)
