"""Exact laws of Gaussian runs that are repeated until one passes, for audits."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.special import ndtr


def gaussian_repeats(mu: float, attempts: float, low: float, high: float, epsilon: float) -> float:
    """The exact delta where a run releases x of N(0, 1) or N(mu, 1) and passes outside (low, high); closed form."""
    probabilities = [ndtr(low - at) + ndtr(at - high) for at in (0.0, mu)]
    p, q = (max(float(one), 1e-300) for one in probabilities)
    g, h = (1 / (1 / attempts + (1 - 1 / attempts) * one) if math.isfinite(attempts) else 1 / one for one in (p, q))
    cut = (math.log(g / h) - epsilon + mu * mu / 2) / mu  # where g phi(x) = e**epsilon h phi(x - mu)
    growth = math.exp(epsilon)
    left = min(low, cut)
    delta = g * ndtr(left) - growth * h * ndtr(left - mu)
    if cut > high:
        delta += g * (ndtr(-high) - ndtr(-cut)) - growth * h * (ndtr(mu - high) - ndtr(mu - cut))
    if math.isfinite(attempts):
        inside = [float(ndtr(high - at) - ndtr(low - at)) for at in (0.0, mu)]
        delta += max(g * inside[0] - growth * h * inside[1], 0.0) / attempts
    return float(max(delta, 0.0))


def worst_gaussian_delta(mu: float, attempts: float, epsilon: float) -> float:
    """The largest over what passes, both ways round; the worst is outside an interval, as the ratio is monotone."""
    edges = [-math.inf, *np.linspace(-7, 7, 57), math.inf]
    pairs = [(low, high) for low, high in itertools.combinations_with_replacement(edges, 2)]
    return max(
        max(gaussian_repeats(mu, attempts, low, high, epsilon), gaussian_repeats(mu, attempts, -high, -low, epsilon))
        for low, high in pairs
    )
