"""Cells of a pair that are most likely empty together, though the noise of each hides it.

Where one column follows from another, as a region's density from the region, most cells of the pair are empty. A fit
leaves records in each: what the noise lifts above 0 stays, and the entropy draws the rest towards independence, so that
a fifth of the rows may have another region's density. Together these cells are far better known: they hold all records
but those of the few cells that stand out. Where so little is left that the noise of each cell would leave more, what is
believed of the rest is spread over these cells as independent columns would have it, and the entropy draws them there
and not towards independence. Post-processing of noisy counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.precautions import believed

STANDS_OUT = 3.0
"""Deviations of noise beyond which a cell is not empty."""

LEFT_BY_NOISE = 0.4
"""Deviations that the noise of an empty cell leaves in it, as counts are not negative."""

MOST_LEFT = 0.5
"""Cells are taken for empty where they hold at most this part of what the noise would leave in them."""

SURPRISING = 0.25
"""And at most this part of what independent columns would have there."""

EMPTY, MEAN = 0.5, 5.0
"""How probable it is, before, that they are empty, and how many deviations of the rest they hold in the mean if not."""

_LEAST = 0.1
"""Deviations of the rest that are left in these cells at least, so that none is impossible."""


def with_empty_cells(
    measurements: Sequence[NoisyMarginal], total: float
) -> tuple[tuple[NoisyMarginal, ...], dict[Clique, np.ndarray]]:
    """The measurements with what is believed of cells that are most likely empty, and by pair what they tend to.

    Args:
        measurements: each clique once, with the pairs' columns among them.
        total: the number of records.

    Returns:
        the measurements, and float64 tables of logarithms, at most 0: what independence is multiplied by.
    """
    columns = {one.clique[0]: one for one in measurements if len(one.clique) == 1}
    found, tables = [], {}
    for one in measurements:
        if len(one.clique) == 2 and all(name in columns for name in one.clique):
            own = [columns[name] for name in one.clique]
            expected = np.multiply.outer(*(np.maximum(column.counts, 0.0) for column in own)) / total
            if (share := _share_of_independence(one, own, expected, total)) is not None:
                one = replace(one, counts=np.where(share < 1.0, share * expected, one.counts))
                tables[one.clique] = np.log(share)
        found.append(one)
    return tuple(found), tables


def _share_of_independence(
    pair: NoisyMarginal, columns: Sequence[NoisyMarginal], expected: np.ndarray, total: float
) -> np.ndarray | None:
    """float64 [table]: below 1 in cells that are taken for empty, of which there must be some; else None."""
    out = pair.counts > STANDS_OUT * pair.scale
    rows, others = out.any(axis=1), out.any(axis=0)
    empty = ~out & np.multiply.outer(rows, others)
    if not empty.any():
        return None
    rest, deviation = _rest(pair, columns, total, out, empty)
    held = max(believed(rest / deviation, empty=EMPTY, most=MEAN), _LEAST) * deviation
    by_chance = float(expected[empty].sum())
    if held > MOST_LEFT * LEFT_BY_NOISE * pair.scale * int(empty.sum()) or held > SURPRISING * by_chance:
        return None
    return np.where(empty, held / by_chance, 1.0)


def _rest(
    pair: NoisyMarginal, columns: Sequence[NoisyMarginal], total: float, out: np.ndarray, empty: np.ndarray
) -> tuple[float, float]:
    """How many records the cells hold together, and the deviation of that: their sum, and what all others leave."""
    beside = [one.counts[~has] for one, has in zip(columns, (out.any(axis=1), out.any(axis=0)), strict=True)]
    sums = [max(float(counts.sum()), 0.0) for counts in beside]
    # Records that are in none of these rows and columns are counted once, though both sums may have them.
    left = total - float(pair.counts[out].sum()) - sum(sums) + min(sums)
    variance = out.sum() * pair.scale**2
    variance += sum(len(counts) * one.scale**2 for counts, one in zip(beside, columns, strict=True))
    direct, own = float(pair.counts[empty].sum()), int(empty.sum()) * pair.scale**2
    return (left * own + direct * variance) / (own + variance), math.sqrt(own * variance / (own + variance))
