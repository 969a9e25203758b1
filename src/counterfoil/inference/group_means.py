"""Means of a number between bounds, over a population or its groups, from the answers that tell them most narrowly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.inference.finding import Finding
from counterfoil.inference.joined_missing import Joined
from counterfoil.inference.linear_answer import LinearAnswer
from counterfoil.inference.pooled_marginal import PooledMarginal
from counterfoil.inference.ratio import Ratio
from counterfoil.inference.related_rows import most_related, population_sentence

_FIRST = 0.9
"""The share of the probability to fail that the way to tell a mean has which public numbers prefer; where missing cells
were counted with numbers, that the mean of all that were counted has, and the rest is for how many are missing."""


@dataclass(frozen=True, eq=False)
class GroupMean:
    """The mean of one group, which lies between two ratios where what was counted leaves the number open.

    Args:
        group: what the group is, in words; empty for all records.
        low: the mean of the least numbers that the records can have by what was counted.
        high: the mean of the greatest.
        drawn: the mean among the synthetic rows, which were drawn from the model; None where nobody said it.
        joined: missing cells that were counted as if they had a value; None where there are none.
    """

    group: str
    low: Ratio
    high: Ratio
    drawn: float | None = None
    joined: Joined | None = None

    @property
    def estimate(self) -> float:
        """The middle of the two ratios."""
        return (self.low.estimate + self.high.estimate) / 2

    @property
    def opened(self) -> float:
        """How far apart the ratios are: what is not known without noise either."""
        return max(self.high.estimate - self.low.estimate, 0.0)


@dataclass(frozen=True, eq=False)
class GroupMeans:
    """One way to tell the means of all groups from the answers. Numbers are scaled to [0, 1].

    Args:
        means: one for each group.
        width: how far apart the least and the greatest number are, on average over the cells; public.
        basis: the sentences that say what the answers are.
    """

    means: tuple[GroupMean, ...]
    width: float
    basis: tuple[str, ...]

    @property
    def preference(self) -> tuple[float, int, float]:
        """Smaller is better; made of public numbers alone, so that the choice does not look at the noise."""
        return self.width, -len(self.means), self.variance

    @property
    def variance(self) -> float:
        """Of the noise in all means together, as far as it depends on no answer."""
        return sum(mean.low.public_variance + mean.high.public_variance for mean in self.means)


def from_marginal(
    pooled: PooledMarginal,
    low: np.ndarray,
    high: np.ndarray,
    groups: Sequence[tuple[str, np.ndarray]],
    *,
    indicator: bool,
    drawn: Sequence[float | None] | None = None,
    joined: Joined | None = None,
) -> GroupMeans:
    """The means by a pooled table.

    Args:
        pooled: the table.
        low, high: float64, shaped like its counts: the least and greatest number, in [0, 1], of a record in each cell.
        groups: for each group its name and float64, shaped likewise: 1 for the cells in it, else 0.
        indicator: whether the number is 0 or 1 for each record, which then says how it varies.
        drawn: for each group its mean among the synthetic rows.
        joined: missing cells that the table counts with others.
    """
    means = []
    for (name, members), said in zip(groups, drawn or [None] * len(groups), strict=True):
        below = pooled.of(members)
        ratios = [_ratio(pooled, numbers * members, below, indicator=indicator) for numbers in (low, high)]
        means.append(GroupMean(name, ratios[0], ratios[1], said, joined))
    counted = np.sum([members for _, members in groups], axis=0) > 0
    width = float((high - low)[counted].mean()) if counted.any() else 0.0
    return GroupMeans(tuple(means), width, (f"{pooled.sentence[0].upper()}{pooled.sentence[1:]}.",))


def _ratio(pooled: PooledMarginal, numbers: np.ndarray, below: LinearAnswer, *, indicator: bool) -> Ratio:
    top = pooled.of(numbers)
    if indicator:
        return Ratio(top, below)
    return Ratio(top, below, spread_of(top, below, pooled.of(numbers**2)))


def spread_of(top: LinearAnswer, below: LinearAnswer, squares: LinearAnswer) -> float | None:
    """The variance of a number in [0, 1] from its noisy sum, the number of records, and its noisy sum of squares.

    It is at most mean (1 - mean), but for one deviation of its own noise, which is added: where noise hides the
    variance it may be estimated as 0, and sampling would not count at all: nominal 95% intervals then held in 90%. None
    where there is no positive number of records to divide by.
    """
    if below.value <= 0:
        return None
    mean = min(max(top.value / below.value, 0.0), 1.0)
    square = squares.value / below.value
    error = (squares - top * (2 * mean) + below * (2 * mean**2 - square)) * (1 / below.value)
    estimate = min(max(square - mean**2, 0.0), mean * (1 - mean))
    return min(estimate + math.sqrt(error.covariance(error)), 0.25)


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
    answer: GroupMeans,
    level: float,
    *,
    about: str,
    bounds: tuple[float, float],
    total: LinearAnswer,
    share: bool,
    unit: PrivacyUnit | None,
) -> list[Finding]:
    """The findings of one way to tell the means.

    Args:
        answer: the way.
        level: of each interval.
        about: what the number is, in words.
        bounds: the numbers that 0 and 1 stand for.
        total: the number of records.
        share: whether the number says if a record has an event.
        unit: whose records may be alike; None where records are independent draws.
    """
    return [
        _finding(one, answer, level, about=about, bounds=bounds, total=total, share=share, unit=unit)
        for one in answer.means
    ]


def narrowest(
    known: Sequence[GroupMeans],
    level: float,
    *,
    about: str,
    bounds: tuple[float, float],
    total: LinearAnswer,
    unit: PrivacyUnit | None,
) -> list[Finding]:
    """The findings of several ways to tell the same means: for each group, of the way that tells it most narrowly.

    Which of two intervals is narrower depends on the noise and on the records, so that the narrower of two intervals of
    level 1 - alpha, chosen after a look at both, need not hold with that probability. Here the intervals of the K ways
    fail with probabilities alpha_1 + ... + alpha_K = alpha that are fixed beforehand. Whichever is chosen, it fails
    only where at least one of the K fails: by the union bound with probability at most alpha, for each group. The ways,
    their order and their shares of alpha follow from the laws of the noise and from which values were counted together.
    The first noisy counts of the columns decide both, as they decide what a release measures later: intervals take
    these as given, and do not count that choice. The first way is that with the narrowest bins on average, and keeps
    most of alpha; a way that has wider bins and no less noise than another is left out.

    Args:
        known: the ways, at least one.
        level: of each interval.
        about, bounds, total, unit: as in `findings`.
    """
    ways: list[GroupMeans] = []
    for way in sorted(known, key=lambda one: one.preference):
        same = not ways or [one.group for one in way.means] == [one.group for one in ways[0].means]
        if same and all(way.variance < other.variance for other in ways):
            ways.append(way)
    rest = (1 - _FIRST) * (1 - level) / max(len(ways) - 1, 1)
    levels = [1 - _FIRST * (1 - level), *[1 - rest] * (len(ways) - 1)] if len(ways) > 1 else [level]
    found = [
        findings(way, one, about=about, bounds=bounds, total=total, share=False, unit=unit)
        for way, one in zip(ways, levels, strict=True)
    ]
    if len(ways) == 1:
        return found[0]
    return [_chosen(group, level) for group in zip(*found, strict=True)]


def _chosen(found: Sequence[Finding], level: float) -> Finding:
    """The narrowest of several findings of one mean, whose failures have probabilities that add up to 1 - `level`."""
    best = min(found, key=lambda one: one.upper - one.lower)
    sentence = (
        f"{len(found)} sets of answers tell this mean, and the narrowest of their intervals is given, that of level "
        f"{best.level:.4g}: all of them hold together with probability {level:.4g}."
    )
    return replace(best, level=level, basis=(*best.basis[:-1], sentence, best.basis[-1]))


def _finding(
    mean: GroupMean,
    answer: GroupMeans,
    level: float,
    *,
    about: str,
    bounds: tuple[float, float],
    total: LinearAnswer,
    share: bool,
    unit: PrivacyUnit | None,
) -> Finding:
    both, noise, sampling = _intervals(mean, level, most_related(unit))
    if mean.drawn is not None:
        # Sums of noisy counts are far off where the numbers of bins are: the rows keep counts from being negative.
        both = (min(max(mean.drawn, both[1]), both[2]), *both[1:])
    width = bounds[1] - bounds[0]
    estimate, lower, upper = (bounds[0] + width * number for number in both)
    basis = [*answer.basis, total_sentence(total)]
    unknown = both[1:] == (0.0, 1.0)
    if mean.opened > 0:
        ends = " and ".join(f"{bounds[0] + width * ratio.estimate:.4g}" for ratio in (mean.low, mean.high))
        what = "the share" if share else "the mean"
        values = f"{mean.group}: values" if mean.group else "Values"
        inside = "their middle" if mean.drawn is None else "the synthetic rows' own, moved into the interval"
        estimated = "" if unknown else f", and the estimate is {inside}"
        basis.append(
            f"{values} were counted in bins or groups, which leaves {what} open: between {ends} by the noisy counts; "
            f"the interval covers both and their noise{estimated}."
        )
    below = mean.low.below
    if unknown:
        basis.append(_unknown_sentence(mean, level, share=share))
        estimate = sampling = math.nan
    elif _is_cut(mean):
        basis.append(cut_sentence(f"{mean.group}: the" if mean.group else "The", estimate))
    charges = tuple(sorted({*mean.low.top.charges, *mean.high.top.charges, *below.charges}))
    said = f"{about}, where {mean.group}" if mean.group else about
    said_of_all = (*basis, population_sentence(unit))
    halves = width * noise, width * sampling
    return Finding(said, estimate, lower, upper, level, *halves, charges, said_of_all, bins=width * mean.opened / 2)


def _unknown_sentence(mean: GroupMean, level: float, *, share: bool) -> str:
    """Why nothing is known: too few records for the noise in their number, or else too much in what they add up to."""
    records = f"records with {mean.group}" if mean.group else "records"
    below, what = mean.low.below, "share" if share else "mean"
    if mean.joined is None and below.value > below.law.quantile(level):
        return f"Every {what} that is possible is in the interval: nothing is known of it among the {records}."
    none = "none" if mean.joined is None else "none, or from missing cells,"
    return (
        f"The {records}, {below.value:,.0f}, can't be distinguished from {none} with this noise (standard deviation "
        f"{math.sqrt(below.covariance(below)):.3g}): nothing is known of the {what} among them."
    )


def _is_cut(mean: GroupMean) -> bool:
    """Whether noise took an answer beyond what is possible, so that the estimate is the nearest that is."""
    tops = [ratio.top for ratio in (mean.low, mean.high) if ratio.top.terms]
    beyond = any(top.value < 0 or top.value > mean.low.below.value for top in tops)
    return beyond and mean.estimate in (0.0, 1.0)


def cut_sentence(the: str, estimate: float) -> str:
    """Of an estimate that would be a mystery otherwise: exactly 0, or exactly at a bound."""
    return (
        f"{the} noisy answer lies beyond what is possible, and the estimate is the nearest that is, {estimate:.4g}: "
        "read the interval."
    )


def _intervals(mean: GroupMean, level: float, related: int) -> tuple[tuple[float, float, float], float, float]:
    """The estimate with the ends of its interval; half the widths for noise alone and for sampling alone.

    The mean mu of the numbers lies between the means mu_low and mu_high of the least and the greatest numbers that the
    counted cells admit, whatever the density within the cells is: that part of the interval is not random. The lower
    end is that of the interval of the ratio for mu_low, and lies above mu only where it lies above mu_low, which has
    half of 1 - level; likewise the upper end. So the interval holds mu_low and mu_high, and all between them, with
    probability `level` where those of the ratios have it. It does not depend on the estimate, which lies in it. Where
    missing cells were counted with numbers it is that of all that were counted, widened by how many may be missing:
    both together fail with probability 1 - `level`.
    """
    estimate, joined = mean.estimate, mean.joined
    low_ratio = replace(mean.low, related=related)
    high_ratio = low_ratio if mean.high is mean.low else replace(mean.high, related=related)
    of_all = level if joined is None else 1 - _FIRST * (1 - level)
    halves = []
    for noise, sampling in ((True, True), (True, False), (False, True)):
        low = low_ratio.interval(of_all, noise=noise, sampling=sampling)
        high = low if high_ratio is low_ratio else high_ratio.interval(of_all, noise=noise, sampling=sampling)
        ends = low.lower, high.upper
        if joined is not None:
            of_missing = 1 - (1 - _FIRST) * (1 - level)
            ends = joined.widened(ends, mean.low.below, of_missing, related, noise=noise, sampling=sampling)
        halves.append((*ends, (low.estimate - ends[0] + ends[1] - high.estimate) / 2))
    (lower, upper, _), (_, _, noise_half), (_, _, sampling_half) = halves
    # Noise can order the two ratios the other way round; a wider interval covers no less.
    return (estimate, min(lower, estimate), max(upper, estimate)), noise_half, sampling_half
