"""Sentences on noisy gradients that drown what the records say: public, and known before the first record is read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # commands catch the warning, and import no more than they need
    from counterfoil.curator.queries.generator_gradient import GeneratorGradient
    from counterfoil.curator.queries.gradient import GradientQuery

LOUD = 0.1
"""Noise in the mean of all gradients, over the largest that the loss can have, from which models were bad: on six
tables and several penalties, they lost five points of accuracy and more."""

LOUD_OF_POINTS = 0.25
"""The same for points that are made of noise: of three clusters in 1, 2 and 4 columns, at epsilon 1, a ratio of 1 left
a sliced distance of 28% to 93% of that of uniform points, .3 28% to 80%, .1 10% to 56% and .03 8% to 42%."""


class NoisyGradientsWarning(UserWarning):
    """The noise of a run will drown its gradients, which is said before it is charged."""


def mean_noise(query: GradientQuery, multiplier: float, iterations: int) -> float:
    """The norm of the noise in the mean of all gradients.

    Args:
        query: what each step asks.
        multiplier: of its noise.
        iterations: how many steps.
    """
    return multiplier * query.gradient_change * math.sqrt(query.size / iterations)


def noise_warnings(query: GradientQuery, multiplier: float, iterations: int) -> list[str]:
    """What is known of a model before the first record is read: that noise may drown what the records say.

    Args:
        query: what each step asks.
        multiplier: of its noise.
        iterations: how many steps.
    """
    of_loss = (1 - getattr(query, "alpha", 0.0)) * query.loss.clip_norm
    noise = mean_noise(query, multiplier, iterations)
    if noise <= LOUD * of_loss:
        return []
    return [
        f"{_compared(noise, of_loss, 'loss')} the model may be "
        f"no better than a guess, and its noisy loss says little. {_help(query)} or a larger epsilon help; a small "
        "table says more to a model of its synthetic copy."
    ]


def _help(query: GradientQuery) -> str:
    """What makes the noise of a query less, of what it has."""
    if hasattr(query, "alpha"):
        return "Fewer inputs, larger groups, a smaller `alpha` or `jacobian_norm`,"
    return (
        "More records, a smaller `bound` or `jacobian_norm`,"
        if hasattr(query, "bound")
        else "Fewer inputs, more records"
    )


def points_noise_warnings(query: GeneratorGradient, multiplier: float, iterations: int) -> list[str]:
    """The same of points that a generator makes of random numbers; no gradient of their distance is above 4 M L.

    Args:
        query: what each step asks.
        multiplier: of its noise.
        iterations: how many steps.
    """
    noise, largest = mean_noise(query, multiplier, iterations), 4 * query.bound * query.jacobian_norm
    if noise <= LOUD_OF_POINTS * largest:
        return []
    return [
        f"{_compared(noise, largest, 'distance')} the points may be "
        "little better than uniform ones, and the last distance says little. More records, a larger epsilon or a "
        "smaller `bound` or `jacobian_norm` help; in up to six columns `measure-tree` gets along with fewer records."
    ]


def _compared(noise: float, largest: float, of: str) -> str:
    by = f"{noise / largest:.0%} of" if largest else "more than"
    return f"The noise in the mean of all gradients is {by} the largest gradient that the {of} can have:"
