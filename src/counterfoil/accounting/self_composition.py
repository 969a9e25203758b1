"""The loss of many independent steps of the same kind, by repeated squaring."""

from __future__ import annotations

import math

import numpy as np

from counterfoil.accounting.privacy_loss import LossAtoms, LossGrid

MOST_STEPS = 2**30
"""The count of roundings stays below 2**50; the caller must treat more steps."""

_POINTS = 2**14
_ADDED = 2e-5  # what one doubling of the step may add to the variance of the loss, relative to it


def self_composed(step: LossAtoms, times: int, tail: float) -> LossAtoms:
    """Masses that cover the sum of `times` independent losses, each covered by `step`; about `tail` becomes infinite.

    The digits of `times` are read from the first: the sum is doubled at each, and one more loss added at a 1. As all
    of this is `LossGrid`'s arithmetic, its proof holds. What is trimmed after c losses is counted times / c times in
    the end, so that it may be c / times of what each digit is allowed.

    Args:
        times: at most `MOST_STEPS`.
        tail: above 2**-850.
    """
    digits = bin(times)[3:]
    share = tail / (times * (len(digits) + 1))
    trimmed = step.trimmed(share)
    total = one = LossGrid.of(trimmed, max(_fine(trimmed.losses, trimmed.masses), _least(trimmed.extent)))
    count = 1
    for digit in digits:
        total, count = total.convolved(total), 2 * count
        if digit == "1":
            total, count = total.convolved(one.coarsened(total.step)), count + 1
        total = total.trimmed(share * count)
        total = total.coarsened(max(_fine(_losses(total), total.masses), _least(total.extent)))
    return LossAtoms(_losses(total), total.masses, total.infinite, total.roundings)


def _losses(grid: LossGrid) -> np.ndarray:
    return grid.step * np.arange(grid.first, grid.first + len(grid.masses), dtype=np.float64)


def _fine(losses: np.ndarray, masses: np.ndarray) -> float:
    """The largest step that adds at most its share to the variance: a split adds a quarter of its square or less."""
    whole = masses.sum()
    mean = (losses * masses).sum() / whole
    variance = float(((losses - mean) ** 2 * masses).sum() / whole)
    return 2.0 ** math.floor(math.log2(2 * math.sqrt(_ADDED * variance))) if variance > 0 else 0.0


def _least(extent: float) -> float:
    """The smallest step with which the losses have no more than the largest number of points."""
    return 2.0 ** math.ceil(math.log2(extent / _POINTS))
