"""Distances between points, block by block, so that no m x m matrix has to be held."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Metric = Literal["euclidean", "precomputed"] | Callable[[Any, Any], Any]

BLOCK_ENTRIES = 1 << 22
"""How many distances one block holds: 32 MiB of float64."""


def as_points(points: Any, *, name: str = "points") -> Array:
    """`points` as a finite float64 array [n, d]; a vector [n] is n points on the line.

    Raises ValueError for an empty set, more than two dimensions, or a value that is not finite.
    """
    array = np.asarray(points, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"`{name}` must be a non-empty array [n, d]. Found shape {np.shape(points)}. "
            "Give one row per point and one column per coordinate."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"`{name}` must be finite. Found NaN or infinity. Remove or replace those points.")
    return array


def as_weights(weights: Any, count: int, *, name: str = "weights") -> Array:
    """`weights` as a finite float64 vector [count]; signs are not looked at.

    Raises ValueError where the shape differs or a value is not finite.
    """
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (count,):
        raise ValueError(f"`{name}` must be a vector with one entry per point, [{count}]. Found shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"`{name}` must be finite. Found NaN or infinity.")
    return array


def pairwise(metric: Callable[[Any, Any], Any], points: Any) -> Callable[[Any, Any], Array]:
    """The user's `metric` as a function from [n, ...] and [m, ...] to a matrix [n, m].

    A metric may take two sets of points and return the matrix, which is fast, or two points and return a
    number (scipy's convention), which costs a call in Python for every pair. Asking for two points against
    three tells them apart: only the first kind answers with a 2 x 3 matrix.
    """
    two, three = (points[np.zeros(count, dtype=np.intp)] for count in (2, 3))
    try:
        takes_blocks = np.shape(metric(two, three)) == (2, 3)
    except (TypeError, ValueError, IndexError, AttributeError):
        takes_blocks = False
    if takes_blocks:
        return lambda rows, columns: np.asarray(metric(rows, columns), dtype=np.float64)
    return lambda rows, columns: np.array([[float(metric(x, y)) for y in columns] for x in rows])


@dataclass(frozen=True)
class FiniteSpace:
    """m points with a metric; distances are computed when asked for.

    `between(rows, columns)` takes two index vectors and returns the matrix [rows, columns] of distances,
    checked to be finite and not negative. `coordinates` is the array [m, d] where the metric is Euclidean.
    """

    size: int
    between: Callable[[Indices, Indices], Array]
    coordinates: Array | None

    def blocks(self, rows: Indices, columns: Indices) -> Iterator[tuple[slice, Array]]:
        """The matrix [rows, columns], a few rows at a time: (which rows, their distances)."""
        step = max(1, BLOCK_ENTRIES // max(1, len(columns)))
        for start in range(0, len(rows), step):
            part = slice(start, min(start + step, len(rows)))
            yield part, self.between(rows[part], columns)

    def diameter(self) -> float:
        """The largest distance between two of the points."""
        if self.coordinates is not None:
            return euclidean_diameter(self.coordinates)
        everything = np.arange(self.size)
        return max(float(block.max()) for _, block in self.blocks(everything, everything))


def finite_space(points: Any, metric: Metric) -> FiniteSpace:
    """The space of `points` under `metric`.

    `metric` is "euclidean" (points [m, d]), a function (see `pairwise`; any array of m points), or
    "precomputed" (points is the matrix [m, m] of distances). It must be a metric: the triangle inequality
    is relied on and not checked. Raises ValueError for another name, a matrix that is not square, not
    symmetric or not zero on its diagonal, and for distances that are negative or not finite.
    """
    if callable(metric):
        points = np.asarray(points)
        if points.ndim == 0 or len(points) == 0:
            raise ValueError("`points` must hold at least one point. Found none.")
        distances = pairwise(metric, points)
        return FiniteSpace(len(points), lambda i, j: _checked(distances(points[i], points[j]), i, j), None)
    if metric == "euclidean":
        from scipy.spatial.distance import cdist

        array = as_points(points)
        return FiniteSpace(len(array), lambda i, j: cdist(array[i], array[j]), array)
    if metric == "precomputed":
        matrix = np.asarray(points, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
            raise ValueError(
                'With metric="precomputed", `points` must be the square matrix [m, m] of distances. '
                f"Found shape {matrix.shape}."
            )
        if np.diagonal(matrix).any():
            raise ValueError("A point must be at distance zero from itself. Found a diagonal that is not zero.")
        if not all(np.allclose(matrix[i], matrix[:, i], rtol=1e-9) for i in range(len(matrix))):
            raise ValueError("Distances must be the same both ways. Found a matrix that is not symmetric.")
        return FiniteSpace(len(matrix), lambda i, j: _checked(matrix[np.ix_(i, j)], i, j), None)
    raise ValueError(f'`metric` must be "euclidean", "precomputed" or a function. Found {metric!r}.')


def euclidean_diameter(points: Array) -> float:
    """The largest distance between two rows of `points` [m, d], exactly.

    Points are taken from the farthest from the middle inwards: once the largest two radii that are left
    can't add up to the best distance so far, nothing closer to the middle can, which ends most searches
    after a few rows.
    """
    from scipy.spatial.distance import cdist

    radii = np.linalg.norm(points - (points.max(axis=0) + points.min(axis=0)) / 2, axis=1)
    order = np.argsort(-radii, kind="stable")
    points, radii = points[order], radii[order]
    best, start, step = 0.0, 0, 64
    while start < len(points) and radii[start] + radii[0] > best * (1 - 1e-12):
        columns = points[: start + step]
        best = max(best, float(cdist(points[start : start + step], columns).max()))
        start += step
    return best


def _checked(distances: Array, rows: Indices, columns: Indices) -> Array:
    if distances.shape != (len(rows), len(columns)):
        raise ValueError(
            f"The metric must return a matrix [{len(rows)}, {len(columns)}] for that many points, or one "
            f"number for two points. Found shape {distances.shape}."
        )
    if not np.isfinite(distances).all() or (distances < 0).any():
        raise ValueError("Distances must be finite and not negative. Found one that is not; check the metric.")
    return distances
