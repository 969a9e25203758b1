"""Tails of whole numbers within bounds that were bought, which are rounded outwards and may lie far beyond all records.

Post-processing of noisy counts: no record is read.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from counterfoil.graphical_model.beside_one import of_side, only_code
from counterfoil.graphical_model.precautions import EMPTY, believed
from counterfoil.graphical_model.smoothing import Smoothed

_OF_FLAGS = 2
"""Codes: where so few stand out alone, they are mostly those of a flag, and most tails are empty."""
_EMPTY = 0.3
"""How probable it is that another tail is empty: most bounds cut one off, and do not lie beyond it."""
_BULK = 0.9
"""A part of a tail's records: the cells that hold them say whether it has any."""
_SURE = 5.0
"""Deviations of noise by which what stands out must do so, before anything is said of what lies beyond."""


def without_doubtful_tails(
    smoothed: Smoothed, counts: np.ndarray, scale: float, doubtful: tuple[bool, bool]
) -> Smoothed:
    """The smoothed counts of single whole numbers, where what lies beyond all that stands out holds what is believed.

    A tail falls as what lies beside it does, or there is none. One that its own counts show keeps its records.

    Args:
        smoothed: of numbers each of which has a code.
        counts: float64 [n], noisy, of the same.
        scale: the standard deviation of the noise of each.
        doubtful: whether the lower and the upper bound may be too wide, as one that is bought may.
    """
    out = np.flatnonzero(smoothed.stands_out)
    if not len(out):
        return smoothed
    runs, found = smoothed.runs.of_cell, smoothed.counts.copy()
    body = (runs >= out[0]) & (runs <= out[-1])
    if counts[body].sum() < _SURE * scale * math.sqrt(int(body.sum())):
        return smoothed
    if (at := only_code(smoothed)) is not None:
        body = np.arange(len(runs)) == at
    codes = np.flatnonzero(body)[[0, -1]]
    tails = (np.arange(codes[0])[::-1], np.arange(codes[1] + 1, len(runs)))
    for tail, may_be_empty in zip(tails, doubtful, strict=True):
        if may_be_empty and body.sum() == 1 and len(tail):
            found[tail] = of_side(smoothed, counts, scale, tail)
            continue
        mass = float(found[tail].sum())
        if mass <= 0 or not may_be_empty:
            continue
        bulk = tail[: int(np.searchsorted(np.cumsum(found[tail]), _BULK * mass)) + 1]
        noise = scale * math.sqrt(len(bulk))
        empty = EMPTY if body.sum() <= _OF_FLAGS else _EMPTY
        found[tail] *= min(believed(float(counts[bulk].sum()) / noise, empty=empty) * noise / mass, 1.0)
    return replace(smoothed, counts=found)
