"""What the noisy sum of a column's numbers says about its noisy counts.

The mean of a column with a long tail hangs on few records: at a hundred times the typical number, the noise of one
count moves the mean as much as a hundred records do. The sum of all numbers, each moved into a range, is one noisy
number in place of many, and holds the numbers themselves where a count only tells the cell. What the range cuts off is
known from the counts alone, so that a wide range has more noise, and a narrow one leaves more to them.

Post-processing of noisy counts and of a noisy sum: no record is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from counterfoil.graphical_model.smoothing import Smoothed

ENOUGH = 0.03
"""A mean whose standard error is at most this part of it is known well enough."""
LEAST_SHARE = 0.02
"""The least part of the budget for a sum: a wide range costs little where the noise is small."""
_OF_SPREAD = 0.5
"""Where the mean is near 0, that part of this part of the mean distance from it."""
_TWICE = 2
"""How often counts follow the sum: the numbers that are drawn within cells follow the counts."""
_LEAST = 1e-9
"""Records that are left in a run that the sum leaves none: less than any that matter."""


@dataclass(frozen=True)
class Clip:
    """The range into which numbers are moved before they are added up."""

    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class SumQuestion:
    """What is known of a column before its sum is asked for.

    Args:
        smoothed: the counts of its cells.
        numbers: float64 [n], the mean number in each cell.
        lows: float64 [n], the least number in each.
        highs: float64 [n], the greatest.
        noise: the standard deviation of a sum whose range has the width 1, for all of the budget that is divided.
    """

    smoothed: Smoothed
    numbers: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    noise: float

    def share_wanted(self, better: float = 1.0) -> float:
        """The least part of the budget at which the noise of the sum, and what its range cuts off, are within `ENOUGH`.

        0 where the counts alone are, else at least `LEAST_SHARE`, and infinite where no part is enough.

        Args:
            better: by what the variances of the counts will be multiplied before the sum is asked for.
        """
        goal = ENOUGH * self._scale
        if math.sqrt(better) * self._error_of_counts <= goal:
            return 0.0
        widths, lost = self._ranges[2:]
        room = goal**2 - lost**2
        fits = (room > 0) & (widths > 0)
        least = float(np.min((self.noise * widths[fits]) ** 2 / room[fits])) if fits.any() else math.inf
        return max(least, LEAST_SHARE)

    def error_left(self, share: float, better: float = 1.0) -> float:
        """What the sum leaves of the standard error of the mean, as a part of it, for that part of the budget.

        Args:
            share: of the budget.
            better: as for `share_wanted`.
        """
        clip, before = self.best_range(share), self._error_of_counts**2 * better
        if clip is None or not before:
            return 1.0
        noise = self.noise * (clip.upper - clip.lower) / math.sqrt(share)
        clipped = self._far(np.clip(self.numbers, clip.lower, clip.upper))
        variance = variances(self.smoothed) * better
        return math.sqrt(squared_error_left(variance, self._far(self.numbers), clipped, noise) / before)

    def best_range(self, share: float) -> Clip | None:
        """The range whose noise and losses are least together, for that part of the budget; None for one number."""
        lows, highs, widths, lost = self._ranges
        cost = np.where(widths > 0, (self.noise * widths) ** 2 / share + lost**2, math.inf)
        low, high = np.unravel_index(np.argmin(cost), cost.shape)
        return Clip(float(lows[low]), float(highs[high])) if widths[low, high] > 0 else None

    @property
    def _scale(self) -> float:
        """What an error of the sum is compared with."""
        counts = self.smoothed.counts
        mean = counts @ self.numbers / max(counts.sum(), 1.0)
        return max(abs(float(counts @ self.numbers)), _OF_SPREAD * float(counts @ np.abs(self.numbers - mean)))

    @cached_property
    def _error_of_counts(self) -> float:
        """The standard error of the sum of all numbers around their mean, by the noise of the counts."""
        return float(np.sqrt(variances(self.smoothed) @ self._far(self.numbers) ** 2))

    def _far(self, numbers: np.ndarray) -> np.ndarray:
        """float64 [runs]: the mean number in each run less that of all."""
        counts = self.smoothed.counts
        mean = counts @ numbers / max(counts.sum(), 1.0)
        return np.bincount(self.smoothed.runs.of_cell, shares_in_runs(self.smoothed) * (numbers - mean))

    @cached_property
    def _ranges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Lower ends [a], upper ends [b], and of each pair [a, b] the width and the error of what is cut off.

        Of a run that stands out, as much is in doubt as its noise. Of any other all of it, and where less is left than
        the noise, the geometric mean of both: what is believed of a tail may be wrong.
        """
        runs, counts, numbers = self.smoothed.runs, self.smoothed.counts, self.numbers
        left = np.maximum(np.bincount(runs.of_cell, counts), _LEAST)
        hidden = np.maximum(np.sqrt(runs.noise / left), 1.0)
        doubt = np.where(self.smoothed.stands_out, np.minimum(runs.noise / left, 1.0), hidden)
        doubtful = counts * doubt[runs.of_cell]
        middle = min(int(np.searchsorted(np.cumsum(counts), counts.sum() / 2)), len(counts) - 1)
        order = np.argsort(numbers, kind="stable")
        lows = np.unique(self.lows[numbers <= numbers[middle]])
        highs = np.unique(self.highs[numbers >= numbers[middle]])
        below = np.maximum(lows[:, None] - numbers[order], 0.0) @ doubtful[order]
        above = np.maximum(numbers[order] - highs[:, None], 0.0) @ doubtful[order]
        return lows, highs, highs - lows[:, None], below[:, None] + above


def fair_shares(wanted: np.ndarray, whole: float) -> np.ndarray:
    """`whole` divided so that small wishes are met first, and no larger one gets less than an equal part of the rest.

    What is left when all are met is divided in proportion.

    Args:
        wanted: float64 [k], at least 0, infinite where no part is enough.
        whole: what is divided.
    """
    shares, left = np.zeros(len(wanted)), whole
    order = np.argsort(wanted, kind="stable")
    for place, one in enumerate(order.tolist()):
        shares[one] = min(float(wanted[one]), left / (len(wanted) - place))
        left -= shares[one]
    total = float(shares.sum())
    return whole * (shares / total) if total > 0 else np.full(len(wanted), whole / max(len(wanted), 1))


def variances(smoothed: Smoothed) -> np.ndarray:
    """float64 [runs]: how far the smoothed count of each run may be off.

    Of one that stands out by its noise. Any other was taken for a tail or a gap: by what is believed of it, where that
    is less than its noise.
    """
    runs = smoothed.runs
    left = np.bincount(runs.of_cell, smoothed.counts)
    return np.asarray(np.where(smoothed.stands_out, runs.noise, np.minimum(runs.noise, left)) ** 2)


def shares_in_runs(smoothed: Smoothed) -> np.ndarray:
    """float64 [n]: the share of each cell in the smoothed count of its run."""
    of_cell = smoothed.runs.of_cell
    left = np.bincount(of_cell, smoothed.counts)[of_cell]
    members = np.bincount(of_cell)[of_cell]
    return np.asarray(np.where(left > 0, smoothed.counts / np.where(left > 0, left, 1.0), 1.0 / members))


def squared_error_left(variance: np.ndarray, far: np.ndarray, clipped: np.ndarray, noise: float) -> float:
    """The variance of sum(far * counts) once a noisy sum(clipped * counts) is known, for normal counts.

    Args:
        variance: float64 [k], of each count.
        far: float64 [k].
        clipped: float64 [k].
        noise: the standard deviation of the noisy sum.
    """
    together, noisy = float(variance @ (far * clipped)), float(variance @ clipped**2) + noise**2
    return max(float(variance @ far**2) - together**2 / noisy, 0.0)


def follow_sum(
    smoothed: Smoothed, numbers: Callable[[np.ndarray], np.ndarray], clip: Clip, total: float, noise: float
) -> Smoothed:
    """The counts that the sum makes most probable, were counts normal around what they are with `variances`.

    How many records there are together stays. Each run moves by its variance times how far its numbers are from the
    mean: mostly what lies far out and is little known. Within a run, counts keep their proportions. None falls below 0.

    Args:
        smoothed: the counts before.
        numbers: from counts, the mean of the numbers in each cell, float64 [n].
        clip: the range into which numbers were moved.
        total: the noisy sum of what they then exceed the lower end by.
        noise: its standard deviation.
    """
    runs, share, variance = smoothed.runs, shares_in_runs(smoothed), variances(smoothed)
    records = float(smoothed.counts.sum())
    if records <= 0:
        return smoothed
    left = np.bincount(runs.of_cell, smoothed.counts)
    counts = smoothed.counts
    for _ in range(_TWICE):
        far = np.clip(numbers(counts), clip.lower, clip.upper) - clip.lower
        # Counts are scaled to the same number of records in the end, so that a record moves the sum from the mean on.
        of_run = np.bincount(runs.of_cell, share * far) - total / records
        moved = variance * of_run / (of_run @ (variance * of_run) + noise**2)
        counts = share * np.maximum(left + moved * (total - smoothed.counts @ far), _LEAST)[runs.of_cell]
        counts *= records / counts.sum()
    return replace(smoothed, counts=counts)
