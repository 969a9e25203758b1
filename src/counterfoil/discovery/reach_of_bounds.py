"""How far the bounds of a number column are worth reaching: what clamping loses, against what stretching does."""

from __future__ import annotations

import numpy as np

from counterfoil.schema.value_grid import REACH

BLURRED = 4
"""Places of the grid. The hundred cells of a column grow with the distance from zero over four decades (`schema.scale`,
`_DECADES`), and are equal nearer to zero: of numbers four places, a factor of 65,536, below the larger bound, all but
zero itself share one cell."""

PLACE = 0.003
"""What each further place costs, as a share of records that are clamped: the cells of all others are coarser by it."""


def worthwhile(masses: np.ndarray) -> tuple[int, int] | None:
    """The first and the last place of the bounds that lose least; None where no records show.

    Records beyond the bounds are clamped, and lose their numbers. Records so much nearer to zero than the larger bound
    that they share a cell lose theirs. Of all bounds with records at both ends those are taken for which both together
    are the smallest share, each place further from zero counting as `PLACE`.

    Args:
        masses: float64 [CELLS]: about how many records are at each place, 0 where none show.
    """
    ends = np.flatnonzero(masses > 0)
    if not len(ends):
        return None
    shares = np.append(0.0, np.cumsum(masses / masses.sum()))
    losses = {
        (int(first), int(last)): _loss(int(first), int(last), shares)
        for i, first in enumerate(ends)
        for last in ends[i:]
    }
    return min(losses, key=lambda one: (losses[one], one[0] - one[1]))


def _loss(first: int, last: int, shares: np.ndarray) -> float:
    """Of the bounds at the places `first` and `last`; `shares` [CELLS + 1] are those of the places below each."""
    reach = max(REACH - first, last - REACH)
    low, high = max(first, REACH - (reach - BLURRED)), min(last, REACH + (reach - BLURRED))
    blurred = 0.0
    if low <= high:
        zero = shares[REACH + 1] - shares[REACH] if low <= REACH <= high else 0.0
        blurred = float(shares[high + 1] - shares[low] - zero)
    return 1 - float(shares[last + 1] - shares[first]) + blurred + PLACE * reach
