"""Sliced Wasserstein distance: the mean over directions of the distance between projections on a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterfoil.transport import equal_weights
from counterfoil.transport.metric import Array, as_points
from counterfoil.transport.wasserstein import line_costs, probabilities


def distance(
    points_a: Any,
    points_b: Any,
    *,
    rng: np.random.Generator,
    n_projections: int = 128,
    weights_a: Any = None,
    weights_b: Any = None,
    p: float = 1,
) -> float:
    """(mean over directions theta of W_p(<theta, a>, <theta, b>)^p)^(1/p), a Monte Carlo estimate.

    Args:
        points_a, points_b: [n, d] and [m, d]. In one dimension the result is W_p itself, whatever the directions.
        rng: draws `n_projections` directions, uniform on the unit sphere.
        weights_a, weights_b: [n] and [m], non-negative; normalized to sum to one; equal by default.
        p: at least 1.

    Never above W_p. Source: Bonneel, Rabin, Peyre, Pfister 2015, "Sliced and Radon Wasserstein barycenters".
    Raises ValueError for shapes that differ, values that are not finite, p < 1, fewer than one projection.
    """
    if n_projections < 1:
        raise ValueError(f"`n_projections` must be at least 1. Found {n_projections}.")
    if not p >= 1:
        raise ValueError(f"`p` must be at least 1. Found {p}.")
    a, b = as_points(points_a, name="points_a"), as_points(points_b, name="points_b")
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            f"`points_a` and `points_b` must have the same dimension. Found {a.shape[1]} and {b.shape[1]}."
        )
    directions = _directions(rng, n_projections, a.shape[1])
    if weights_a is None and weights_b is None:
        equal = [equal_weights.line_costs(a @ direction, b @ direction, p=p) for direction in directions]
        return float(np.mean(equal) ** (1 / p))
    mass_a, mass_b = probabilities(weights_a, len(a), "weights_a"), probabilities(weights_b, len(b), "weights_b")
    costs = [line_costs(a @ direction, b @ direction, mass_a, mass_b, p=p) for direction in directions]
    return float(np.mean(costs) ** (1 / p))


def _directions(rng: np.random.Generator, count: int, dimension: int) -> Array:
    normals = rng.standard_normal((count, dimension))
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)
