"""Means of a number between bounds, over a population or its groups, from the answers that tell them most narrowly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.inference.finding import Finding
from counterfoil.inference.linear_answer import LinearAnswer
from counterfoil.inference.pooled_marginal import PooledMarginal
from counterfoil.inference.ratio import Ratio

POPULATION = (
    "Assumed: the records are independent draws from the population; the noise alone speaks of the table itself."
)


@dataclass(frozen=True, eq=False)
class GroupMean:
    """The mean of one group, which lies between two ratios where what was counted leaves the number open.

    Args:
        group: what the group is, in words; empty for all records.
        low: the mean of the least numbers that the records can have by what was counted.
        high: the mean of the greatest; `low` itself where both are the same.
    """

    group: str
    low: Ratio
    high: Ratio


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """One way to tell the means of all groups from the answers. Numbers are scaled to [0, 1].

    Args:
        means: one for each group.
        open_cells: the share of cells in which the number is left open; public.
        basis: the sentences that say what the answers are.
    """

    means: tuple[GroupMean, ...]
    open_cells: float
    basis: tuple[str, ...]

    @property
    def preference(self) -> tuple[float, int, float]:
        """Smaller is better; made of public numbers alone, so that the choice does not look at the noise."""
        variance = sum(mean.low.public_variance + mean.high.public_variance for mean in self.means)
        return self.open_cells, -len(self.means), variance


def from_marginal(
    pooled: PooledMarginal,
    low: np.ndarray,
    high: np.ndarray,
    groups: Sequence[tuple[str, np.ndarray]],
    *,
    indicator: bool,
) -> GroupMeans:
    """The means by a pooled table.

    Args:
        pooled: the table.
        low, high: float64, shaped like its counts: the least and greatest number, in [0, 1], of a record in each cell.
        groups: for each group its name and float64, shaped likewise: 1 for the cells in it, else 0.
        indicator: whether the number is 0 or 1 for each record, which then says how it varies.
    """
    means = []
    for name, members in groups:
        below = pooled.of(members)
        ratios = [_ratio(pooled, numbers * members, below, indicator=indicator) for numbers in (low, high)]
        means.append(GroupMean(name, *ratios))
    counted = np.sum([members for _, members in groups], axis=0) > 0
    open_cells = float((counted & (low < high)).sum() / max(counted.sum(), 1))
    return GroupMeans(tuple(means), open_cells, (f"{pooled.sentence[0].upper()}{pooled.sentence[1:]}.",))


def _ratio(pooled: PooledMarginal, numbers: np.ndarray, below: LinearAnswer, *, indicator: bool) -> Ratio:
    top = pooled.of(numbers)
    if indicator:
        return Ratio(top, below)
    return Ratio(top, below, spread_of(top, below, pooled.of(numbers**2)))


def spread_of(top: LinearAnswer, below: LinearAnswer, squares: LinearAnswer) -> float | None:
    """The variance of a number in [0, 1] from its noisy sum, the number of records, and its noisy sum of squares.

    It is at most mean (1 - mean). None where there is no positive number of records to divide by.
    """
    if below.value <= 0:
        return None
    mean = min(max(top.value / below.value, 0.0), 1.0)
    return min(max(squares.value / below.value - mean**2, 0.0), mean * (1 - mean))


def total_sentence(total: LinearAnswer) -> str:
    """How the number of records is known."""
    if not total.terms:
        return f"The number of records is public: {total.value:,.0f}."
    deviation = math.sqrt(total.covariance(total))
    return (
        f"The number of records is taken to be {total.value:,.0f}, with standard deviation {deviation:.3g}, from all "
        "counts of the release."
    )


def findings(
    answer: GroupMeans, level: float, *, about: str, bounds: tuple[float, float], total: LinearAnswer, share: bool
) -> list[Finding]:
    """The findings of one way to tell the means.

    Args:
        answer: the way.
        level: of each interval.
        about: what the number is, in words.
        bounds: the numbers that 0 and 1 stand for.
        total: the number of records.
        share: whether the number says if a record has an event.
    """
    return [_finding(one, answer, level, about=about, bounds=bounds, total=total, share=share) for one in answer.means]


def _finding(
    mean: GroupMean,
    answer: GroupMeans,
    level: float,
    *,
    about: str,
    bounds: tuple[float, float],
    total: LinearAnswer,
    share: bool,
) -> Finding:
    (both, noise, sampling), opened = _intervals(mean, level), mean.high.estimate - mean.low.estimate
    width = bounds[1] - bounds[0]
    middle, lower, upper = (bounds[0] + width * number for number in both)
    basis = [*answer.basis, total_sentence(total)]
    if opened > 0:
        ends = " and ".join(f"{bounds[0] + width * ratio.estimate:.4g}" for ratio in (mean.low, mean.high))
        what = "the share" if share else "the mean"
        values = f"{mean.group}: values" if mean.group else "Values"
        basis.append(
            f"{values} were counted in bins or groups, which leaves {what} "
            f"between {ends} even without noise; the interval covers both, and the estimate is their middle."
        )
    below = mean.low.below
    if both[1:] == (0.0, 1.0) and below.terms:
        records = f"The records with {mean.group}" if mean.group else "The records"
        basis.append(
            f"{records}, {below.value:,.0f}, can't be told from none with this noise (standard deviation "
            f"{math.sqrt(below.covariance(below)):.3g}): nothing is known of the {'share' if share else 'mean'} "
            "among them."
        )
        middle = sampling = math.nan
    charges = tuple(sorted({*mean.low.top.charges, *mean.high.top.charges, *below.charges}))
    said = f"{about}, where {mean.group}" if mean.group else about
    said_of_all = (*basis, POPULATION)
    return Finding(said, middle, lower, upper, level, width * noise, width * sampling, charges, said_of_all)


def _intervals(mean: GroupMean, level: float) -> tuple[tuple[float, float, float], float, float]:
    """The estimate with the ends of its interval; half the widths for noise alone and for sampling alone.

    Each end is that of an interval of its own ratio, of which one side counts: where the two ratios differ, each side
    fails with half of 1 - level.
    """
    middle = (mean.low.estimate + mean.high.estimate) / 2
    halves = []
    for noise, sampling in ((True, True), (True, False), (False, True)):
        low = mean.low.interval(level, noise=noise, sampling=sampling)
        high = low if mean.high is mean.low else mean.high.interval(level, noise=noise, sampling=sampling)
        halves.append((low.lower, high.upper, (low.estimate - low.lower + high.upper - high.estimate) / 2))
    (lower, upper, _), (_, _, noise_half), (_, _, sampling_half) = halves
    return (middle, lower, upper), noise_half, sampling_half
