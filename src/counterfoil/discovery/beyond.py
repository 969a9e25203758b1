"""How many numbers may lie beyond the bounds of a column: each interval there holds few, and all of them may not."""

from __future__ import annotations

import math

import numpy as np

from counterfoil.discovery.votes import Votes
from counterfoil.schema.discovered import AT_MOST
from counterfoil.schema.value_grid import CELLS, bounds_of, places_of


def beyond_bounds(
    edges: np.ndarray,
    counts: np.ndarray,
    deviations: np.ndarray,
    vote: Votes,
    bounds: tuple[float, float],
    *,
    whole: bool,
) -> tuple[float, float]:
    """The upper ends of 95% intervals of how many cells have a number below the bounds, and above them.

    Post-processing of two noisy answers that count the same cells: in intervals, and in the places of the grid. What
    lies beyond a bound is the sum of all intervals there, or of those at the bound's own place and of all places
    beyond. Of these two sums that with less noise is taken, which no answer decides.

    Args:
        edges: float64 [n], of the intervals, ascending; none where places alone were counted.
        counts: float64 [n + 1], noisy: below the first edge, between two edges each, and above the last.
        deviations: float64 [n + 1], of the noise of each.
        vote: the noisy places of the cells.
        bounds: the least and the greatest number within.
        whole: whether numbers are whole: the greatest one begins an interval that is not beyond.
    """
    lower, upper = bounds
    starts, stops = np.append(-np.inf, edges), np.append(edges, np.inf)
    first, last = (int(place) for place in places_of(np.array([lower, upper])))
    (bottom, first_end), (last_start, top) = bounds_of(first, first), bounds_of(last, last)
    if not len(edges) or lower < edges[0]:
        least = _most([vote.numbers_between(0, first if lower == first_end < 0 else first - 1)])
    else:
        below = stops <= lower
        further = vote.numbers_between(0, first - 1) if bottom in edges else None
        least = _most(_sums(counts, deviations, below, below & (starts >= bottom), further))
    if not len(edges) or upper > edges[-1]:
        most = _most([vote.numbers_between(last if upper == last_start > 0 and not whole else last + 1, CELLS - 1)])
    else:
        above = (starts > upper) if whole else (starts >= upper)
        further = vote.numbers_between(last + 1, CELLS - 1) if top in edges else None
        most = _most(_sums(counts, deviations, above, above & (stops <= top), further))
    return least, most


def _sums(
    counts: np.ndarray,
    deviations: np.ndarray,
    beyond: np.ndarray,
    at_place: np.ndarray,
    further: tuple[float, float] | None,
) -> list[tuple[float, float]]:
    """What adds up to all cells beyond a bound, each sum with the deviation of its noise.

    Args:
        counts, deviations: as above.
        beyond: bool [n + 1]: the intervals beyond the bound.
        at_place: bool [n + 1]: those of them at the bound's own place.
        further: the noisy number at all places beyond; None where no interval ends with the bound's own.
    """
    sums = [(float(counts[beyond].sum()), _noise(deviations[beyond]))]
    if further is not None:
        sums.append((further[0] + float(counts[at_place].sum()), math.hypot(further[1], _noise(deviations[at_place]))))
    return sums


def _most(sums: list[tuple[float, float]]) -> float:
    count, noise = min(sums, key=lambda one: one[1])
    return max(count, 0.0) + AT_MOST * noise


def _noise(deviations: np.ndarray) -> float:
    return float(np.sqrt(np.square(deviations).sum()))
