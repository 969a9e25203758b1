"""W_2^2 between samples on the line, and its gradient in every point; the sliced form in d dimensions.

Samples u [n] and v [m] with weights 1/n and 1/m, in ascending order u_(1) .. u_(n) and v_(1) .. v_(m), are coupled by
rank: R_ij is the length of the intersection of ((i-1)/n, i/n] and ((j-1)/m, j/m], and

    W_2^2 = sum_ij R_ij (u_(i) - v_(j))^2,    its derivative in u_(i) = 2 sum_j R_ij (u_(i) - v_(j)).

Source: Rodriguez-Vitores, Lalanne and Loubes, "Learning with differentially private (sliced) Wasserstein gradients"
(Propositions 3.1 and 3.2). At most n + m - 1 of the R_ij are positive, and they are met one after the other in order of
rank; in units of 1/(n m) all ends of intervals are integers. No n x m matrix is made.

W_2^2 is the least of smooth functions, one for each order of the points. Where values are tied, several are least, and
a point's derivatives under them may differ by 2/n times the range of v. Each point of a tie gets the mean over all
orders of the tie, (2/n)(u - the mean of v's quantile function over the interval of all ranks of the tie). What a point
gets depends on its own value and on the two samples as multisets, to the last bit: permuting a sample permutes its
derivatives and changes nothing else, and any sorting algorithm will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfoil.compiled import compiled
from counterfoil.transport.metric import Array

MOST_POINTS = 2**31 - 1
"""In a sample: ranks are int32, and products of two sizes must be int64."""

_UNIT_TOLERANCE = 1e-12
_TOP = np.uint64(1 << 63)


@dataclass(frozen=True, eq=False)
class WassersteinGradient:
    """W_2^2 between two samples and its derivatives in the coordinates of each point.

    Attributes:
        value: W_2^2, or its mean over directions.
        of_u: the derivatives in the points of the first sample, float64 [n] or [n, d].
        of_v: those in the points of the second, float64 [m] or [m, d].
    """

    value: float
    of_u: Array
    of_v: Array


def squared_wasserstein(u: Any, v: Any) -> float:
    """W_2^2 between the samples u [n] and v [m] on the line, with equal weights 1/n and 1/m.

    Raises:
        ValueError: as for `squared_wasserstein_gradient`.
    """
    return squared_wasserstein_gradient(u, v).value


def squared_wasserstein_gradient(u: Any, v: Any) -> WassersteinGradient:
    """W_2^2 between the samples u [n] and v [m] on the line, and its derivatives, averaged over tied values.

    Takes O((n + m) log(n + m)) at most. Sums are compensated: for up to 2^24 points in [-M, M] each
    derivative in u is off by at most 12 * 2^-52 M / n, however long the ties are, and in v by 12 * 2^-52 M / m.

    Raises:
        ValueError: for an empty sample, NaN or infinity, or points so far apart that the square of it overflows.
    """
    first, second = _checked(u, "u", axes="n"), _checked(v, "v", axes="m")
    of_u, of_v = np.empty(len(first)), np.empty(len(second))
    value = _couple(first, second, of_u, of_v)
    return _finite_gradient(value, of_u, of_v)


def sliced_gradient(points_u: Any, points_v: Any, directions: Any) -> WassersteinGradient:
    """The mean over directions t of W_2^2 between the projections <t, u_i> and <t, v_j>, and its derivatives.

    The derivative in the point u_i is the mean over directions of t times the derivative in <t, u_i>. Projections are
    summed coordinate by coordinate in one order for every point, so that equal points have equal projections: a
    product of matrices may round equal rows differently, which would break their tie by their place in the array.

    Args:
        points_u, points_v: float64 [n, d] and [m, d], with equal weights 1/n and 1/m.
        directions: unit vectors, float64 [k, d], as from `random_directions`.

    Raises:
        ValueError: as for `squared_wasserstein_gradient`, or for dimensions that differ or directions of other length.
    """
    first, second = _checked(points_u, "points_u", axes="nd"), _checked(points_v, "points_v", axes="md")
    turned = _checked(directions, "directions", axes="kd")
    if not first.shape[1] == second.shape[1] == turned.shape[1]:
        raise ValueError(
            "`points_u`, `points_v` and `directions` must have the same number of columns. "
            f"Found {first.shape[1]}, {second.shape[1]} and {turned.shape[1]}."
        )
    lengths = np.linalg.norm(turned, axis=1)
    if not (np.abs(lengths - 1) <= _UNIT_TOLERANCE).all():
        raise ValueError(
            "`directions` must be vectors of length 1. "
            f"Found lengths from {lengths.min():.9g} to {lengths.max():.9g}. Divide each by its length."
        )
    # Coordinate by coordinate, the loops run along memory.
    columns_u, columns_v = np.ascontiguousarray(first.T), np.ascontiguousarray(second.T)
    of_u, of_v = np.zeros(columns_u.shape), np.zeros(columns_v.shape)
    value = _couple_projections(columns_u, columns_v, turned, of_u, of_v)
    return _finite_gradient(value, np.ascontiguousarray(of_u.T), np.ascontiguousarray(of_v.T))


def random_directions(rng: np.random.Generator, k: int, d: int) -> Array:
    """k independent directions, uniform on the unit sphere of R^d: float64 [k, d], drawn by normalized Gaussians.

    On the line both directions give the same distance: for d = 1 it is [[1.0]] whatever k, and `rng` is left alone.

    Raises:
        ValueError: unless k and d are at least 1.
    """
    if k < 1 or d < 1:
        raise ValueError(f"`k` and `d` must be at least 1. Found {k} and {d}.")
    if d == 1:
        return np.ones((1, 1))
    normals = rng.standard_normal((k, d))
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


_MOST_PROJECTIONS = 100_000
"""Beyond, memory ends in the first step, which was charged."""


def require_projections(count: int) -> int:
    """`count`, where as many directions can be drawn.

    Raises:
        ValueError: for anything but a whole number from 1 to 100,000.
    """
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MOST_PROJECTIONS:
        raise ValueError(
            f"`projections` must be a whole number from 1 to {_MOST_PROJECTIONS:,}. Found {count!r}: give one, such as "
            "50."
        )
    return count


def _checked(values: Any, name: str, *, axes: str) -> Array:
    """`values` as a new, contiguous, finite float64 array with these axes, none of them empty."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != len(axes) or not array.size or len(array) > MOST_POINTS:
        raise ValueError(
            f"`{name}` must be an array [{', '.join(axes)}] with at least one entry and at most 2**31 - 1 rows. "
            f"Found shape {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"`{name}` must be finite. Found NaN or infinity. Clip, replace or remove those entries.")
    # A copy always: the loops are compiled once, for writable arrays.
    return np.array(array, order="C")


def _finite_gradient(value: float, of_u: Array, of_v: Array) -> WassersteinGradient:
    if not np.isfinite(value):
        raise ValueError(
            "The squared distances between the two samples must be finite in float64. Found an overflow. "
            "Scale or clip both samples to below 1e140."
        )
    return WassersteinGradient(value, of_u, of_v)


@compiled
def _couple_projections(
    u: np.ndarray, v: np.ndarray, directions: np.ndarray, of_u: np.ndarray, of_v: np.ndarray
) -> float:
    """The mean of W_2^2 over directions [k, d]; adds its derivatives to of_u [d, n] and of_v [d, m], which are zero."""
    k = len(directions)
    along_u, along_v = np.empty(u.shape[1]), np.empty(v.shape[1])
    value = 0.0
    for direction in directions:
        value += _couple(_project(u, direction), _project(v, direction), along_u, along_v)
        for axis in range(len(direction)):
            for i in range(len(along_u)):
                of_u[axis, i] += along_u[i] * direction[axis]
            for j in range(len(along_v)):
                of_v[axis, j] += along_v[j] * direction[axis]
    of_u /= k
    of_v /= k
    return value / k


@compiled
def _project(columns: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """<direction, point> for each point of `columns` [d, n], each summed in the same order."""
    along = np.zeros(columns.shape[1])
    for axis in range(len(direction)):
        for i in range(len(along)):
            along[i] += columns[axis, i] * direction[axis]
    return along


@compiled
def _couple(u: np.ndarray, v: np.ndarray, of_u: np.ndarray, of_v: np.ndarray) -> float:
    """W_2^2 of u [n] and v [m]; writes its derivatives into of_u and of_v.

    Each pass of the loop takes one interval on which both quantile functions are constant. Its mass is a whole number
    of 1/(n m). The pulls, mass times gap, are added up over the ties on either side, which end at intervals' ends.
    """
    n, m = len(u), len(v)
    sorted_u, order_u = _ascending(u)
    sorted_v, order_v = _ascending(v)
    scale = float(n) * m
    total, total_rest, pull_u, rest_u, pull_v, rest_v = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    i, j, tie_u, tie_v, start = 0, 0, 0, 0, 0
    while i < n:
        end_u, end_v = (i + 1) * m, (j + 1) * n
        end = min(end_u, end_v)
        gap = sorted_u[i] - sorted_v[j]
        pull = float(end - start) * gap
        total, total_rest = _add(total, total_rest, pull * gap)
        pull_u, rest_u = _add(pull_u, rest_u, pull)
        pull_v, rest_v = _add(pull_v, rest_v, pull)
        start = end
        if end == end_u:
            i += 1
            if i == n or sorted_u[i] != sorted_u[tie_u]:
                share = 2.0 * (pull_u + rest_u) / (scale * (i - tie_u))
                for rank in range(tie_u, i):
                    of_u[order_u[rank]] = share
                tie_u, pull_u, rest_u = i, 0.0, 0.0
        if end == end_v:
            j += 1
            if j == m or sorted_v[j] != sorted_v[tie_v]:
                share = -2.0 * (pull_v + rest_v) / (scale * (j - tie_v))
                for rank in range(tie_v, j):
                    of_v[order_v[rank]] = share
                tie_v, pull_v, rest_v = j, 0.0, 0.0
    return (total + total_rest) / scale


@compiled
def _add(total: float, rest: float, term: float) -> tuple[float, float]:
    """Total + term, and to the rest what rounding took from it (Knuth's two-sum), which is exact."""
    added = total + term
    taken = added - total
    return added, rest + ((total - (added - taken)) + (term - taken))


@compiled
def _ascending(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`values` [n] in ascending order, with -0.0 next to 0.0, and the int32 place of each among `values`.

    A radix sort by bytes, from the lowest, of the bits: flipped where the sign is set, with the sign alone flipped
    elsewhere, they are unsigned integers in the order of the numbers. A byte that all share is skipped, so that values
    that were float32 take five rounds of eight. Bytes keep the 256 write positions in the fastest cache.
    """
    n = len(values)
    keys = values.copy().view(np.uint64)
    order = np.empty(n, dtype=np.int32)
    counts = np.zeros((8, 256), dtype=np.int64)
    for i in range(n):
        bits = keys[i]
        key = ~bits if bits & _TOP else bits | _TOP
        keys[i], order[i] = key, i
        for digit in range(8):
            counts[digit, (key >> np.uint64(8 * digit)) & np.uint64(255)] += 1
    other_keys, other_order = np.empty_like(keys), np.empty_like(order)
    for digit in range(8):
        shift, places = np.uint64(8 * digit), counts[digit]
        if places.max() == n:
            continue
        place = 0
        for byte in range(256):
            place, places[byte] = place + places[byte], place
        for i in range(n):
            found = np.intp((keys[i] >> shift) & np.uint64(255))
            place = places[found]
            places[found] = place + 1
            other_keys[place], other_order[place] = keys[i], order[i]
        keys, other_keys = other_keys, keys
        order, other_order = other_order, order
    for i in range(n):
        key = keys[i]
        keys[i] = key ^ _TOP if key & _TOP else ~key
    return keys.view(np.float64), order
