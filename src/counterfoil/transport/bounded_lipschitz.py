"""The bounded-Lipschitz distance between signed measures, and the projection on probability measures.

D_BL(mu, nu) is the supremum of the integral of f against mu - nu over the functions f that are 1-Lipschitz and
bounded in absolute value by the diameter D of the space; between probability measures it is W_1 (Gonzalez,
Fanti, Ramdas, "Private Evolution Converges", section 2). By duality it is the least cost of turning mu into nu
where moving mass costs its distance, and creating or removing it costs D a unit.

The projection of a signed measure p - q (Algorithm 2, line 8) is then a partial transport: its negative part q
must be covered, from p or by creation, and what is left of p stays where it is, free of charge.
Derivation: docs/theory/private_evolution.md, section 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfoil.transport.metric import Array, FiniteSpace, Metric, as_weights, finite_space
from counterfoil.transport.partial import CoverProblem


@dataclass(frozen=True)
class Projection:
    """The probability measure nearest to a signed one.

    weights: [m], non-negative, summing to one.
    distance: D_BL between the signed measure and `weights`, in the units of the metric.
    gap: `distance - gap` is proven to be a lower bound for every probability measure on the points; zero up
        to rounding unless the solver stopped early. In the units of the metric.
    """

    weights: Array
    distance: float
    gap: float


def project(
    points: Any, signed_weights: Any, *, metric: Metric = "euclidean", diameter: float | None = None
) -> Projection:
    """A probability measure on `points` that is nearest in D_BL to the signed measure `signed_weights`.

    Args:
        points: [m, d]; any array of m points for a metric that is a function; the matrix [m, m] of distances
            for "precomputed".
        signed_weights: [m], of any sign and sum.
        metric: "euclidean", "precomputed", or a function of two sets of points (returning the matrix [n, m]
            of distances) or of two points. It must obey the triangle inequality.
        diameter: D, the bound on the test functions and the cost of a unit of mass that is created or removed;
            by default the largest distance between two of the points.

    Where several measures are nearest, as when mass is to be removed, it is removed everywhere in proportion.

    Raises:
        ValueError: shapes differ, a number is not finite, a distance is negative, `diameter` is not positive.
        ImportError: without POT (`counterfoil[transport]`), unless the positive part has mass at most one.
    """
    space = finite_space(points, metric)
    signed = as_weights(signed_weights, space.size, name="signed_weights")
    price = _diameter(space, diameter)
    positive, negative = np.flatnonzero(signed > 0), np.flatnonzero(signed < 0)
    supply, excess = signed[positive].sum(), signed.sum() - 1
    if supply <= 1 or len(negative) == 0 or price == 0:
        # Creating 1 - p + q (or removing p - 1) cannot be avoided, and suffices.
        return Projection(_normalized(np.maximum(signed, 0.0)), price * abs(excess), 0.0)
    problem = CoverProblem(space, positive, negative, signed[positive], -signed[negative], free=1.0, price=price)
    cover = problem.solve()
    left = np.zeros(space.size)
    left[positive] = signed[positive] - cover.used
    return Projection(_normalized(left), cover.cost, max(0.0, cover.cost - cover.bound))


def distance(points_a: Any, weights_a: Any, points_b: Any, weights_b: Any, *, metric: Metric = "euclidean",
             diameter: float | None = None) -> float:  # fmt: skip
    """D_BL between the signed measures `weights_a` on `points_a` and `weights_b` on `points_b`.

    Args:
        points_a, points_b: [n, d] and [m, d]; for "precomputed", `points_a` is the matrix [n + m, n + m] of the
            distances between all of them, those of a first, and `points_b` is None.
        weights_a, weights_b: [n] and [m], of any sign and sum.
        metric, diameter: as for `project`; by default the diameter of all the points together.

    Raises:
        ValueError, ImportError: as `project`. ArithmeticError: the solver stopped before its bounds met.
    """
    first = np.asarray(weights_a, dtype=np.float64).ravel()
    second = np.asarray(weights_b, dtype=np.float64).ravel()
    space = finite_space(points_a if points_b is None else _together(points_a, points_b), metric)
    signed = as_weights(np.concatenate([first, -second]), space.size, name="weights_a, weights_b")
    price = _diameter(space, diameter)
    positive, negative = np.flatnonzero(signed > 0), np.flatnonzero(signed < 0)
    if len(positive) == 0 or len(negative) == 0 or price == 0:
        return price * abs(float(signed.sum()))
    problem = CoverProblem(space, positive, negative, signed[positive], -signed[negative], free=0.0, price=price)
    return problem.exact_cost()


def _together(points_a: Any, points_b: Any) -> Any:
    a, b = np.asarray(points_a), np.asarray(points_b)
    if a.ndim == 0 or b.ndim == 0 or a.shape[1:] != b.shape[1:]:
        raise ValueError(
            "`points_a` and `points_b` must be arrays of points of the same dimension. "
            f"Found shapes {a.shape} and {b.shape}."
        )
    return np.concatenate([a, b])


def _diameter(space: FiniteSpace, diameter: float | None) -> float:
    if diameter is None:
        return space.diameter()
    if not 0 < diameter < math.inf:
        raise ValueError(f"`diameter` must be positive and finite. Found {diameter}.")
    return float(diameter)


def _normalized(weights: Array) -> Array:
    total = weights.sum()
    if total <= 0:
        return np.full(len(weights), 1 / len(weights))
    return weights / total
