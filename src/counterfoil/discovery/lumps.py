"""Numbers that lie at few places, far apart or side by side, as codes and short lists of values do."""

from __future__ import annotations

import math

import numpy as np

_LUMPS = (3, 50)
"""Places of integers, each surely with records and empty ones around it: fewer may be one body with a value apart, and
more are none that are likely to be codes."""
_LUMPED = 0.9
"""A share of the records, from which on those at such places are nearly all."""
_APART = 0.15
"""Of the intervals between the bounds, the most that such places may be."""
_NARROWLY, _NARROW_PART = 8, 0.25
"""The most intervals that few numbers may lie in, and the most of them all: these may lie side by side."""


def lumps_in(
    edges: np.ndarray,
    counts: np.ndarray,
    deviation: float | np.ndarray,
    records: float,
    least: float,
    *,
    whole: bool = True,
) -> int:
    """At how many places, intervals or runs of them, nearly all numbers lie that may be codes; 0 where they do not.

    Codes of many digits, postal ones or those of trades, are too far apart to be counted one by one. A place is a run
    of at most two intervals that surely hold records: a body of amounts fills a longer one.

    Args:
        edges: float64 [n + 1], of the intervals between the bounds.
        counts: float64 [n], noisy.
        deviation: of the noise of each, one for all or float64 [n].
        records: about how many cells are not missing.
        least: how many deviations a count must exceed to be surely none of noise.
        whole: whether they are integers: where each has an interval of its own, its count is known.
    """
    held = counts > least * deviation
    starts = np.flatnonzero(np.diff(held.astype(int), prepend=0) == 1)
    stops = np.flatnonzero(np.diff(held.astype(int), append=0) == -1) + 1
    fewest, most = _LUMPS
    if not fewest <= len(starts) <= most or (stops - starts).max() > 2:
        return 0
    if whole and (np.diff(edges)[held] <= 1).all():
        return 0
    return len(starts) if held.mean() <= _APART and _hold_nearly_all(counts, held, deviation, records) else 0


def is_narrow(counts: np.ndarray, deviation: float | np.ndarray, records: float, least: float) -> bool:
    """Whether few intervals hold nearly all reals: they may be few numbers, which a question about texts can tell.

    Args:
        counts, deviation, records, least: as for `lumps_in`.
    """
    held = counts > least * deviation
    if not 2 <= held.sum() <= _NARROWLY or held.mean() > _NARROW_PART:
        return False
    return _hold_nearly_all(counts, held, deviation, records)


def _hold_nearly_all(counts: np.ndarray, held: np.ndarray, deviation: float | np.ndarray, records: float) -> bool:
    """Whether the intervals that are `held`, bool [n], hold nearly all records, also without the fullest of them.

    The amounts of few people beside the zeros of many are no codes.
    """
    error = math.sqrt(float(np.broadcast_to(np.square(deviation), counts.shape)[held].sum()))
    most = float(counts.max())
    return float(counts[held].sum()) - most + error >= _LUMPED * (records - most)
