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

QUIET = 0.005
"""The same from which generators are as good as they get. Two clusters in a box from -1 to 1: points made of noise in
four columns were .11 from the records by the sliced distance at a ratio of .03, .09 at .017, .05 at .005 and .03 at
.002, and normal columns with the right means and deviations .055. Points that were moved onto others missed by .04 to
.07 at .03, .03 to .06 at .017, and .02 from .005 on, as without noise."""


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
        return _moved_roughly(query, noise, of_loss)
    wanted = f" {_wanted(query, noise / of_loss)}" if hasattr(query, "bound") and of_loss else ""
    return [
        f"{_compared(noise, of_loss, 'loss')} the model may be "
        f"no better than a guess, and its noisy loss says little. {_help(query)} or a larger epsilon help; a small "
        f"table says more to a model of its synthetic copy.{wanted}"
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
    if noise <= QUIET * largest:
        return []
    worse = "a table of columns with the right means and deviations, drawn by themselves, may be as near"
    if noise > LOUD_OF_POINTS * largest:
        worse = "the points may be little better than uniform ones, and the last distance says little"
    return [
        f"{_compared(noise, largest, 'distance')} {worse}. {_wanted(query, noise / largest)} A larger epsilon or a "
        "smaller `bound` or `jacobian_norm` help too; in up to six columns `measure-tree` gets along with fewer "
        "records, and in more `aim` does."
    ]


def _moved_roughly(query: GradientQuery, noise: float, largest: float) -> list[str]:
    """The same of records that a generator moves onto others, where noise does not drown all; nothing of other models.

    Args:
        query: what each step asks.
        noise: the norm of the noise in the mean of all gradients.
        largest: gradient that the distance can have.
    """
    if not hasattr(query, "bound") or noise <= QUIET * largest:
        return []
    return [
        f"{_compared(noise, largest, 'distance')} what is moved may miss where it should be by some hundredths of the "
        f"columns' ranges, and samples that are as near get no nearer. {_wanted(query, noise / largest)} A larger "
        "epsilon or a smaller `bound` or `jacobian_norm` help too."
    ]


def _wanted(query: GradientQuery, ratio: float) -> str:
    """How many records a generator wants: for a fixed share of them in a batch, noise falls as their number grows."""
    has = sum(size for size, batch in zip(query.group_sizes, query.batch_sizes, strict=True) if batch)
    return f"At this epsilon it wants some {float(f'{has * ratio / QUIET:.2g}'):,.0f} records, and has {has:,}."


def _compared(noise: float, largest: float, of: str) -> str:
    by = f"{noise / largest:.0%} of" if largest else "more than"
    return f"The noise in the mean of all gradients is {by} the largest gradient that the {of} can have:"
