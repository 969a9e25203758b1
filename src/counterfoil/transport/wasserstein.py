"""Exact Wasserstein distance between weighted points."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterfoil.transport import equal_weights
from counterfoil.transport.metric import Array, Metric, as_points, as_weights, finite_space
from counterfoil.transport.partial import CoverProblem, simplex

DENSE_COSTS = 4_000_000
"""Above this many costs, W_1 is computed by screening, which holds no matrix."""


def distance(
    points_a: Any,
    points_b: Any,
    *,
    weights_a: Any = None,
    weights_b: Any = None,
    p: float = 1,
    metric: Metric = "euclidean",
) -> float:
    """W_p: (the least total of mass times distance^p that turns one measure into the other)^(1/p).

    Args:
        points_a, points_b: [n, d] and [m, d] (or vectors, points on the line); any arrays of points for a metric
            that is a function; for "precomputed", `points_a` is the matrix [n, m] of distances and `points_b` None.
        weights_a, weights_b: [n] and [m], non-negative; normalized to sum to one; equal by default.
        p: at least 1.
        metric: "euclidean", "precomputed", or a function of two sets of points (returning the matrix [n, m]) or
            of two points.

    On the line the closed form by quantiles is used, in O((n + m) log(n + m)). Otherwise the transport is solved
    by POT's network simplex; for p = 1 and a metric, from 4 million costs on, without holding them.

    Raises:
        ValueError: shapes differ, a weight is negative, a number is not finite, p < 1.
        ImportError: without POT (`counterfoil[transport]`), unless on the line.
        ArithmeticError: the solver stopped before its bounds met.
    """
    if not p >= 1:
        raise ValueError(f"`p` must be at least 1. Found {p}.")
    if isinstance(metric, str) and metric == "precomputed":
        return _from_matrix(_matrix(points_a), weights_a, weights_b, p)
    if metric == "euclidean":
        points_a, points_b = as_points(points_a, name="points_a"), as_points(points_b, name="points_b")
    else:
        points_a, points_b = np.asarray(points_a), np.asarray(points_b)
    if points_a.shape[1:] != points_b.shape[1:]:
        raise ValueError(
            "`points_a` and `points_b` must have the same dimension. "
            f"Found shapes {points_a.shape} and {points_b.shape}."
        )
    if metric == "euclidean" and points_a.shape[1] == 1:
        if weights_a is None and weights_b is None:
            return equal_weights.line_costs(points_a[:, 0], points_b[:, 0], p=p) ** (1 / p)
        mass_a = probabilities(weights_a, len(points_a), "weights_a")
        mass_b = probabilities(weights_b, len(points_b), "weights_b")
        return line_costs(points_a[:, 0], points_b[:, 0], mass_a, mass_b, p=p) ** (1 / p)
    if p == 1 and len(points_a) * len(points_b) > DENSE_COSTS:
        return _by_screening(points_a, points_b, weights_a, weights_b, metric)
    space = finite_space(np.concatenate([points_a, points_b]), metric)
    n, m = len(points_a), len(points_b)
    return _from_matrix(space.between(np.arange(n), np.arange(n, n + m)), weights_a, weights_b, p)


def line_costs(a: Array, b: Array, mass_a: Array, mass_b: Array, *, p: float) -> float:
    """W_p^p on the line: the integral over (0, 1) of |quantile_a - quantile_b|^p.

    `a` [n], `b` [m] are positions in any order; `mass_a`, `mass_b` are non-negative and sum to one.
    Source: Villani 2008, Theorem 2.18 and Remark 2.19 (optimality of the monotone coupling).
    """
    order_a, order_b = np.argsort(a, kind="stable"), np.argsort(b, kind="stable")
    steps_a, steps_b = np.cumsum(mass_a[order_a]), np.cumsum(mass_b[order_b])
    # Both must end at the same level, or rounding would leave a sliver without a partner.
    steps_a[-1] = steps_b[-1] = max(steps_a[-1], steps_b[-1])
    levels = np.sort(np.concatenate([steps_a, steps_b]))
    heights = np.diff(levels, prepend=0.0)
    at_a = np.minimum(np.searchsorted(steps_a, levels, side="left"), len(a) - 1)
    at_b = np.minimum(np.searchsorted(steps_b, levels, side="left"), len(b) - 1)
    gaps = np.abs(a[order_a][at_a] - b[order_b][at_b])
    return float(heights @ gaps**p)


def probabilities(weights: Any, count: int, name: str) -> Array:
    """`weights` [count], non-negative, normalized to sum to one; equal where None. ValueError otherwise."""
    if weights is None:
        return np.full(count, 1 / count)
    array = as_weights(weights, count, name=name)
    if (array < 0).any() or array.sum() <= 0:
        raise ValueError(
            f"`{name}` must be non-negative and not all zero. For signed measures, use bounded_lipschitz.distance."
        )
    return array / array.sum()


def _matrix(distances: Any) -> Array:
    matrix = np.asarray(distances, dtype=np.float64)
    if matrix.ndim != 2 or 0 in matrix.shape or not np.isfinite(matrix).all() or (matrix < 0).any():
        raise ValueError(
            'With metric="precomputed", `points_a` must be a matrix [n, m] of finite, non-negative distances. '
            f"Found shape {matrix.shape}."
        )
    return matrix


def _from_matrix(distances: Array, weights_a: Any, weights_b: Any, p: float) -> float:
    mass_a = probabilities(weights_a, distances.shape[0], "weights_a")
    mass_b = probabilities(weights_b, distances.shape[1], "weights_b")
    rows, columns = np.flatnonzero(mass_a), np.flatnonzero(mass_b)
    # Scaled to [0, 1], so that a large p does not overflow.
    largest = max(float(distances.max()), np.finfo(float).tiny)
    costs = np.ascontiguousarray((distances[np.ix_(rows, columns)] / largest) ** p)
    _, record = simplex(mass_a[rows], mass_b[columns], costs)
    return float(largest * max(record["cost"], 0.0) ** (1 / p))


def _by_screening(points_a: Array, points_b: Array, weights_a: Any, weights_b: Any, metric: Metric) -> float:
    space = finite_space(np.concatenate([points_a, points_b]), metric)
    mass_a = probabilities(weights_a, len(points_a), "weights_a")
    mass_b = probabilities(weights_b, len(points_b), "weights_b")
    rows, columns = np.flatnonzero(mass_a), np.flatnonzero(mass_b)
    # Creating and removing a unit costs twice the diameter, so that it never pays.
    problem = CoverProblem(
        space,
        rows,
        len(points_a) + columns,
        supplies=mass_a[rows],
        demands=mass_b[columns],
        free=0.0,
        price=max(space.diameter(), np.finfo(float).tiny),
    )
    return problem.exact_cost()
