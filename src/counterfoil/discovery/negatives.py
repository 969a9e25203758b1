"""How many negative numbers noise may hide in a column whose bounds have none, such as the refunds among amounts."""

from __future__ import annotations

import numpy as np

from counterfoil.discovery.votes import Votes
from counterfoil.schema.discovered import AT_MOST
from counterfoil.schema.value_grid import REACH, bounds_of


def negatives_hidden(
    edges: np.ndarray, counts: np.ndarray, deviations: np.ndarray, vote: Votes, last: int
) -> float | None:
    """The upper end of a 95% interval of how many cells have a negative number that is no larger than the others.

    Post-processing of two noisy answers that count the same cells: in the places of the grid, and in intervals. Each is
    summed up over the negative numbers down to those opposite the last place that shows, and both are weighted by their
    precision. The noise of what is summed did not choose that place, for it is that of positive numbers; more negative
    ones than said are there with probability at most 1/40, whether or not the bounds leave them out.

    Args:
        edges: float64 [n + 1], of the intervals, ascending.
        counts: float64 [n], noisy.
        deviations: float64 [n], of the noise of each.
        vote: the noisy places of the cells.
        last: the last place that shows, on the positive side.

    Returns:
        None where nothing positive shows.
    """
    if last <= REACH:
        return None
    lowest, _ = bounds_of(2 * REACH - last, REACH)
    inside = (edges[:-1] >= lowest) & (edges[1:] <= 0)
    answers = [vote.numbers_between(2 * REACH - last, REACH - 1)]
    if inside.any() and lowest in edges:
        answers.append((float(counts[inside].sum()), float(np.square(deviations[inside]).sum()) ** 0.5))
    weights = np.array([deviation**-2.0 for _, deviation in answers])
    count = float(weights @ [count for count, _ in answers] / weights.sum())
    return max(count, 0.0) + AT_MOST * float(weights.sum()) ** -0.5
