"""Transport on the line between points of equal weights: by sorting alone, with levels that are whole numbers."""

from __future__ import annotations

import numpy as np

from counterfoil.compiled import compiled
from counterfoil.transport.metric import Array


def line_costs(a: Array, b: Array, *, p: float) -> float:
    """W_p^p on the line between `a` [n] of weights 1/n and `b` [m] of weights 1/m, in any order.

    Both quantile functions are constant between multiples of 1/(n m), at which they step in whole numbers of m and of
    n. Source: Villani 2008, Theorem 2.18 and Remark 2.19 (optimality of the monotone coupling).
    """
    a, b = np.sort(a), np.sort(b)
    if len(a) == len(b):
        gaps = np.abs(np.subtract(a, b, out=a), out=a)
        if p == 1:
            return float(gaps.mean())
        return float(gaps @ gaps / len(gaps)) if p == 2 else float((gaps**p).mean())
    return float(_merged(a, b, float(p)))


@compiled
def _merged(a: np.ndarray, b: np.ndarray, p: float) -> float:
    """The sum over steps of either quantile function of the step's height times the gap there to the power of p.

    Partial sums of a few thousand steps keep rounding errors from growing with the number of points.
    """
    n, m = len(a), len(b)
    i, j, left_a, left_b = 0, 0, m, n
    total, part, steps = 0.0, 0.0, 0
    while i < n and j < m:
        height = min(left_a, left_b)
        gap = abs(a[i] - b[j])
        part += height * (gap if p == 1.0 else gap * gap if p == 2.0 else gap**p)
        left_a -= height
        left_b -= height
        if left_a == 0:
            i += 1
            left_a = m
        if left_b == 0:
            j += 1
            left_b = n
        steps += 1
        if steps == 4096:
            total, part, steps = total + part, 0.0, 0
    return (total + part) / n / m
