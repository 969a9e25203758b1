"""Nearest-neighbor assignment with exact ties: among the nearest candidates, the one with the smallest index.

*The* Euclidean distance here is the float64 sum of squared differences, coordinate after coordinate, so that any
implementation can reproduce every tie. Up to four dimensions a k-d tree finds the neighbors; above, products of
blocks with the candidates, shifted to the candidates' mean (without the shift, float32 picks wrong neighbors as
soon as the points lie a few deviations from the origin). Both are only a screen: where two candidates are too
close for the screen to tell apart, by a proven bound on its rounding error, the distances are computed as above.
So whatever finds them, the neighbors are the same.

Privacy does not depend on that: any rule that takes each record by itself has the same sensitivity. Repeating a seeded
run does. Whole numbers, ranks and categories tie by the thousand, and their distances are equal but for rounding: of
3,000 points with eight coordinates in {0, 1/3, 2/3, 1}, 808 got another of 10,000 candidates from faiss than from
products in float32, and 25 got another from the same products in blocks of another size on two threads
(`docs/decisions.md`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from counterfoil.threads import on_one_thread
from counterfoil.transport.flat_screen import FEWEST_ENTRIES, flat_screen
from counterfoil.transport.metric import BLOCK_ENTRIES, Array, Indices, Metric, as_points, pairwise

TREE_DIMENSIONS = 4
TREE_ROWS = 8192
BLOCK_ROWS = 1024


class Nearest:
    """Finds the nearest of some candidates [m, d] for any number of points; what that takes is prepared once.

    Args:
        candidates: where to look; ties go to the smallest index.
        metric: "euclidean", or a function of two sets of points, which returns the matrix [n, m], or of two points.

    Source: Algorithm 4 of "Private Evolution Converges".

    Raises:
        ValueError: for no candidates, values that are not finite, an unknown metric.
    """

    def __init__(self, candidates: Any, *, metric: Metric = "euclidean") -> None:
        self._given = candidates, metric
        if callable(metric):
            self._find: Callable[[Any], Indices] = partial(_by_metric, candidates=np.asarray(candidates), metric=metric)
            return
        if metric != "euclidean":
            raise ValueError(f'`metric` must be "euclidean", "precomputed" or a function. Found {metric!r}.')
        public = as_points(candidates, name="candidates")
        # Populations drawn with replacement repeat points; only the first copy can ever be chosen.
        firsts = np.sort(np.unique(public, axis=0, return_index=True)[1])
        search = (_Tree if public.shape[1] <= TREE_DIMENSIONS else _Products)(public[firsts])
        self._find = partial(_among, dimension=public.shape[1], firsts=firsts, search=search)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process gets the candidates, and prepares its own search of them."""
        return _nearest, self._given

    def of(self, points: Any) -> Indices:
        """The index [n] of the candidate nearest to each of `points` [n, d].

        Raises:
            ValueError: for no points, values that are not finite, another dimension than that of the candidates.
        """
        return self._find(points)


def _nearest(candidates: Any, metric: Metric) -> Nearest:
    return Nearest(candidates, metric=metric)


def assign(points: Any, candidates: Any, *, metric: Metric = "euclidean") -> Indices:
    """The index [n] of the candidate [m, d] nearest to each of `points` [n, d]; ties go to the smallest index.

    `metric` is that of `Nearest`, or "precomputed", which takes the matrix of distances [n, m] as `points` and None as
    `candidates`. Otherwise the matrix n x m is never held.

    Raises ValueError for empty sets, dimensions that differ, values that are not finite, an unknown metric.
    """
    if metric == "precomputed":
        matrix = np.asarray(points, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[1] == 0 or np.isnan(matrix).any():
            raise ValueError(f"Distances must be a matrix [n, m] without NaN. Found shape {matrix.shape}.")
        return matrix.argmin(axis=1)
    return Nearest(candidates, metric=metric).of(points)


def _among(points: Any, *, dimension: int, firsts: Indices, search: Callable[[Array], Indices]) -> Indices:
    private = as_points(points)
    if private.shape[1] != dimension:
        raise ValueError(
            f"`points` and `candidates` must have the same dimension. Found {private.shape[1]} and {dimension}."
        )
    return firsts[search(private)]


def _squared(points: Array, candidates: Array) -> Array:
    """The squared distances [n, m] that define nearest; the arrays broadcast over leading axes."""
    total = np.zeros(np.broadcast_shapes(points.shape[:-1], candidates.shape[:-1]))
    for k in range(points.shape[-1]):
        total += np.square(points[..., k] - candidates[..., k])
    return total


class _Tree:
    """A k-d tree, asked for more neighbors until the farthest is surely not among the nearest."""

    def __init__(self, candidates: Array) -> None:
        from scipy.spatial import cKDTree

        self._candidates, self._tree = candidates, cKDTree(candidates)

    def __call__(self, points: Array) -> Indices:
        parts = [self._near(points[start : start + TREE_ROWS]) for start in range(0, len(points), TREE_ROWS)]
        return np.concatenate(parts)

    def _near(self, points: Array) -> Indices:
        """Ask for two neighbors, then for more while the last one is as near as the first up to rounding."""
        candidates, n_candidates = self._candidates, len(self._candidates)
        chosen = np.empty(len(points), dtype=np.intp)
        open_rows, asked = np.arange(len(points)), 2
        while len(open_rows):
            asked = min(asked, n_candidates)
            distances, indices = self._tree.query(points[open_rows], k=range(1, asked + 1))
            limit = distances[:, :1] * (1 + 1e-14 * (points.shape[1] + 4))
            closed = (distances[:, -1:] > limit).ravel() | (asked == n_candidates)
            rows, indices = open_rows[closed], indices[closed]
            exact = _squared(points[rows][:, None, :], candidates[indices])
            # Candidates that are equally near in float64 are told apart by index alone.
            tied = exact == exact.min(axis=1, keepdims=True)
            chosen[rows] = np.where(tied, indices, n_candidates).min(axis=1)
            open_rows, asked = open_rows[~closed], asked * 4
        return chosen


class _Products:
    """Screens, quick ones first, each for what the last one left open; then distances, where all are too close."""

    def __init__(self, candidates: Array) -> None:
        self._candidates, self._middle = candidates, candidates.mean(axis=0)
        # A power of two, so that scaling is exact and float32 cannot overflow.
        self._scale = 2.0 ** -np.ceil(np.log2(max(float(np.abs(candidates - self._middle).max()), 1e-300)))
        self._centered = (candidates - self._middle) * self._scale
        self._single = self._centered.astype(np.float32)
        self._flat = flat_screen(self._centered)

    def __call__(self, points: Array) -> Indices:
        chosen = np.zeros(len(points), dtype=np.intp)
        if len(self._candidates) == 1:
            return chosen
        again = np.arange(len(points))
        if self._flat is not None and points.size >= FEWEST_ENTRIES:
            chosen, unsure = self._flat(self._shifted(points))
            again = again[unsure]
        step = min(BLOCK_ROWS, max(1, 4 * BLOCK_ENTRIES // len(self._candidates)))
        for start in range(0, len(again), step):
            rows = again[start : start + step]
            chosen[rows] = self._near(points[rows])
        return chosen

    def _near(self, block: Array) -> Indices:
        shifted = self._shifted(block)
        nearest, unsure = _screen(shifted, self._single)
        again = np.flatnonzero(unsure)
        if len(again):
            nearest[again], still = _screen(shifted[again], self._centered)
            again = again[still]
        width = max(1, BLOCK_ENTRIES // len(self._candidates))
        for low in range(0, len(again), width):
            rows = again[low : low + width]
            nearest[rows] = _squared(block[rows][:, None, :], self._candidates).argmin(axis=1)
        return nearest

    def _shifted(self, points: Array) -> Array:
        with np.errstate(over="ignore"):
            return (points - self._middle) * self._scale


@on_one_thread
def _screen(shifted: Array, candidates: npt.NDArray[np.floating]) -> tuple[Indices, npt.NDArray[np.bool_]]:
    """The candidate of least |c|^2 / 2 - x.c in the candidates' precision, and where it may not be the nearest.

    With unit roundoff e, a score is off by at most (d + 4) e (|x| R + R^2) for R = max |c|: e for each of the
    d products and sums, and for rounding x, c and the score. The distance that defines nearest is off by
    (d + 4) 2^-53 (|x| + R)^2. A second score within twice the sum of both can't be distinguished from the first.
    """
    d = shifted.shape[1]
    half_squares = np.square(candidates, dtype=np.float64).sum(axis=1) / 2
    radius = np.sqrt(2 * half_squares.max())
    norms = np.linalg.norm(shifted, axis=1)
    unit = float(np.finfo(candidates.dtype).eps)
    error = (d + 4) * (unit * (norms * radius + radius**2) + 2.0**-53 * (norms + radius) ** 2)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = shifted.astype(candidates.dtype) @ candidates.T
        np.subtract(half_squares.astype(candidates.dtype), scores, out=scores)
        nearest = scores.argmin(axis=1)
        everyone = np.arange(len(shifted))
        best = scores[everyone, nearest].astype(np.float64)
        scores[everyone, nearest] = np.inf
        second = scores.min(axis=1).astype(np.float64)
        return nearest, ~(second - best > 2 * error)


def _by_metric(points: Any, candidates: Any, metric: Any) -> Indices:
    points = np.asarray(points)
    if points.ndim == 0 or candidates.ndim == 0 or 0 in (len(points), len(candidates)):
        raise ValueError("`points` and `candidates` must each hold at least one point. Found none.")
    distances = pairwise(metric, candidates)
    step = max(1, BLOCK_ENTRIES // len(candidates))
    chosen = np.empty(len(points), dtype=np.intp)
    for start in range(0, len(points), step):
        block = distances(points[start : start + step], candidates)
        if block.shape != (len(points[start : start + step]), len(candidates)) or np.isnan(block).any():
            raise ValueError(
                "The metric must return a matrix [n, m] of distances without NaN for n and m points, or one number "
                f"for two points. Found shape {block.shape}."
            )
        chosen[start : start + step] = block.argmin(axis=1)
    return chosen
