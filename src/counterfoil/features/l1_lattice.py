"""The points of a cubic lattice within an l1 ball: a net of parameters that is symmetric and of a known mesh."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np


def lattice_size(dimensions: int, steps: int) -> int:
    """How many points of Z^d have l1 norm at most `steps`: the sum over i of 2^i C(d, i) C(steps, i).

    i coordinates are not 0: C(d, i) choices, 2^i signs, and C(steps, i) lists of i positive numbers of sum at most
    `steps`.
    """
    return sum(2**i * math.comb(dimensions, i) * math.comb(steps, i) for i in range(min(dimensions, steps) + 1))


def most_steps(dimensions: int, points: int) -> int:
    """The largest number of steps whose lattice has at most `points` points; 0 where none has."""
    steps = 0
    while lattice_size(dimensions, steps + 1) <= points:
        steps += 1
    return steps


def lattice(
    dimensions: int,
    steps: int,
    lows: Sequence[int] | np.ndarray | None = None,
    highs: Sequence[int] | np.ndarray | None = None,
) -> np.ndarray:
    """int64 [points, d]: the points of Z^d with l1 norm at most `steps`, in lexicographic order.

    They cover: each real theta with norm1(theta) <= steps is a weighted average of d + 1 of the points that lie in its
    own orthant, of which no two differ by more than 1 in a coordinate or by more than d in l1 norm; and one of them is
    within d / 2 of it in l1 norm. Proof: by symmetry let theta >= 0, and let y_i be the sum of its first i coordinates,
    0 <= y_1 <= ... <= y_d <= steps. Where U is uniform on [0, 1), Y = ceil(y - U) has whole entries of mean y, that
    grow with i and end at most at `steps`, so that V_i = Y_i - Y_(i-1) >= 0 are points of the lattice of mean theta. As
    U falls Y changes d times at most, by adding 1 to one entry, which adds 1 to an entry of V and takes 1 from the
    next: the d + 1 values of V differ by at most 1 in a coordinate, and by at most d in l1 norm, because an entry of
    the difference of two values of Y is 0 or 1. An entry of V takes two adjacent values of mean theta_i, hence E
    abs(V_i - theta_i) = 2 f (1 - f) <= 1/2 with f the fraction of theta_i, and some value is no farther than the mean
    distance, at most d / 2.

    Args:
        dimensions: d.
        steps: the largest l1 norm.
        lows, highs: the least and the largest entry in each coordinate; no such bounds where None.
    """
    lows = [-steps] * dimensions if lows is None else lows
    highs = [steps] * dimensions if highs is None else highs
    points, left = np.zeros((1, 0), dtype=np.int64), np.full(1, steps, dtype=np.int64)
    for low, high in zip(lows, highs, strict=True):
        first, last = np.maximum(-left, low), np.minimum(left, high)
        times = np.maximum(last - first + 1, 0)
        starts = np.repeat(np.cumsum(times) - times, times)
        entries = np.arange(times.sum()) - starts + np.repeat(first, times)
        points = np.column_stack([np.repeat(points, times, axis=0), entries])
        left = np.repeat(left, times) - np.abs(entries)
    return points


@cache
def lattice_sums(dimensions: int, steps: int) -> tuple[int, int]:
    """Over the lattice: the sum of the squares of the first coordinate, and of the absolute sum of all coordinates.

    For a vector x the sum of <k, x>^2 over the lattice is the first number times norm(x)^2, because the lattice is
    symmetric in each coordinate and in their order. The second is the largest sum of abs(<k, x>) over x in [-1, 1]^d:
    that sum is convex in x, hence largest at a corner, and the same at all corners.
    """
    points = lattice(dimensions, steps)
    return int((points[:, 0] ** 2).sum()), int(np.abs(points.sum(axis=1)).sum())
