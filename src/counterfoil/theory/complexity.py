"""Gaussian and Laplace complexity of bounded Lipschitz functions, and the distance of a sample from its source.

For n points of a set of diameter D in R^d and independent x_i, the complexity is the mean of the supremum of
|sum x_i f(z_i)| / n over functions f that are 1-Lipschitz and at most D. The published bounds chain over coverings
of the function class and leave a constant open; those here follow mass down a dyadic partition of a cube, and have
none. Proofs: docs/theory/private_evolution.md, section 4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from counterfoil.theory.bound import Bound

PROOFS = "docs/theory/private_evolution.md, section 4"
PAPER = "Gonzalez, Fanti, Ramdas, Private Evolution Converges"
DEPTHS = range(64)

# E |x_1 + ... + x_k| is at most this times sqrt(k): exact for normal variables, the deviation for Laplace ones.
SPREAD = {"gaussian": math.sqrt(2 / math.pi), "laplace": math.sqrt(2)}


def complexity(n_points: int, *, dimension: int, diameter: float, noise: Literal["gaussian", "laplace"]) -> Bound:
    """min over L of c (D / sqrt n + sum_(l<=L) h_l sqrt(min(2^(dl), n) / n) + h_L), h_l = sqrt(d) D 2^(-l-1).

    c is sqrt(2/pi) for standard normal and sqrt 2 for standard Laplace noise. Orders: n^(-1/2) for d = 1,
    log(n) n^(-1/2) for d = 2, n^(-1/d) above. Raises ValueError for a size below 1 or a diameter not positive.
    """
    _check(n_points, dimension, diameter)
    steps = (
        _step(level, dimension, diameter) * math.sqrt(min(_cubes(level, dimension), n_points) / n_points)
        for level in DEPTHS[1:]
    )
    best = SPREAD[noise] * min(
        diameter, diameter / math.sqrt(n_points) + _least(steps, dimension, diameter, leaves=1.0)
    )
    return Bound({"complexity": best}, SPREAD[noise] * diameter, ("Euclidean distance",), PROOFS)


def sampling_error(n_samples: int, *, dimension: int, diameter: float) -> Bound:
    """E W_1 of n_s independent draws from their source: min over L of sum h_l min(2, sqrt((2^(dl)-1)/n_s)) + 2 h_L.

    Any source on a set of diameter D in R^d; no unknown constant. Never above D.
    """
    _check(n_samples, dimension, diameter)
    steps = (
        _step(level, dimension, diameter) * min(2.0, math.sqrt((_cubes(level, dimension) - 1) / n_samples))
        for level in DEPTHS[1:]
    )
    least = min(diameter, _least(steps, dimension, diameter, leaves=2.0))
    return Bound({"sampling": least}, diameter, ("independent draws", "Euclidean distance"), PROOFS)


def published_complexity(n_points: int, *, dimension: int, diameter: float) -> Bound:
    """Corollary D.1 as printed. Its proof sets the constant of Lemma D.4 to one without saying why."""
    _check(n_points, dimension, diameter)
    if dimension <= 2:
        log = math.log(2 * math.sqrt(n_points))
        factor = 9 * math.sqrt(log) if dimension == 1 else 10 * log**1.5
        value = factor / math.sqrt(n_points)
    else:
        size = n_points ** (1 / dimension) * (dimension / 2 - 1) ** (2 / dimension)
        value = 10 * math.sqrt(math.log(2 * size)) / size
    assumptions = ("the constant of Lemma D.4 is at most 1 (not proved)", "Euclidean distance")
    return Bound({"complexity": value * diameter}, SPREAD["gaussian"] * diameter, assumptions, f"{PAPER}, Cor. D.1")


def published_sampling_error(n_samples: int, *, dimension: int, diameter: float, constant: float) -> Bound:
    """Lemma D.5 with `constant` for its unknown C: C D n^(-1/2), C D log(1 + n) n^(-1/2), C D n^(-1/d).

    For d = 2 the lemma has log(n), which is zero for one sample, whose distance from its source is not.
    """
    _check(n_samples, dimension, diameter)
    if not constant > 0:
        raise ValueError(f"`constant` must be positive. Found {constant}.")
    growth = math.log1p(n_samples) if dimension == 2 else 1.0
    value = constant * diameter * growth * n_samples ** (-1 / max(dimension, 2))
    assumptions = (f"the constant of Lemma D.5 is at most {constant:g} (unknown)", "independent draws")
    return Bound({"sampling": value}, diameter, assumptions, f"{PAPER}, Lemma D.5; Fournier and Guillin 2015")


def _cubes(level: int, dimension: int) -> float:
    return 2.0 ** min(dimension * level, 1000)


def _step(level: int, dimension: int, diameter: float) -> float:
    """From the center of a cube of this level to its parent's; also the farthest from a center in its cube."""
    return math.sqrt(dimension) * diameter * 2.0 ** (-level - 1)


def _least(steps: Iterable[float], dimension: int, diameter: float, *, leaves: float) -> float:
    """The least over depths of the steps down to there, plus `leaves` times the size of what is left."""
    total, best = 0.0, leaves * _step(0, dimension, diameter)
    for level, step in enumerate(steps, start=1):
        total += step
        best = min(best, total + leaves * _step(level, dimension, diameter))
    return best


def _check(size: int, dimension: int, diameter: float) -> None:
    if not (size >= 1 and dimension >= 1):
        raise ValueError(f"Numbers of points and the dimension must be at least 1. Found {size} and {dimension}.")
    if not 0 < diameter < math.inf:
        raise ValueError(f"`diameter` must be positive and finite. Found {diameter}.")
