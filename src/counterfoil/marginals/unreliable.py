"""Sentences for the receipt on columns whose means noise hides, and on tables that are too small for their budget.

Public: they follow from noisy counts and from the plan alone. No record is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.accounting.row_counts import DEVIATIONS
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.runs import LONGEST, Runs, deviations_to_stand_out
from counterfoil.graphical_model.smoothing import Smoothed
from counterfoil.marginals.column_sums import ColumnSum

_ERROR = 0.25
"""A mean whose standard error is a larger part of it, or of the typical distance from it, is unreliable, and so is a
deviation whose standard error is a larger part of it."""
_UNSEEN = 0.5
"""A tail is unreliable where a group that noise hides at the end of the range would move the mean by more of it."""
_BODY = 0.25
"""A column of whose records a larger share is in no run that stands out is a guess, not its tail alone."""
_WIDE = 0.2
"""A run that stands out does not say where its records are if it has a larger part of the cells, and more than a few.
Only those that were joined because nothing else stood out have."""
_MOST_NAMED = 20
"""So many columns are named in one sentence."""
_LOST = 0.02
"""A larger share of the rows, of numbers on the other side of 0 that noise may hide, is said."""
_NEAR_NOISE = 0.4
"""Rows are near noise where noise moves columns so far in the mean, in an L1 distance of at most 2."""
_MEAN_ABSOLUTE = math.sqrt(2 / math.pi)
"""The mean absolute value of a normal distribution, over its deviation."""


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """What noisy counts say about a column of numbers.

    Args:
        marginal: the noisy counts of its codes; those of its numbers come first.
        runs: in which they were joined, with the noise of the sums.
        smoothed: the counts after smoothing.
        centers: float64 [n], the number in the middle of each cell.
        of_sum: what is known of the sum of its numbers, where it was asked for.
    """

    marginal: NoisyMarginal
    runs: Runs
    smoothed: Smoothed
    centers: np.ndarray
    of_sum: ColumnSum | None = None

    @property
    def mean_error(self) -> float:
        """The standard error of the mean, over the mean or over the mean distance from it, whichever is larger.

        From the noise of each run's sum times the distance of the run from the mean, and of hidden runs from all that
        may be true of them. A noisy sum of the numbers leaves less of it. Infinite where no run stands out.
        """
        counts, runs = self.smoothed.counts, self.smoothed.runs
        records = float(counts.sum())
        if records <= 0 or not self.runs.stands_out.any():
            return math.inf
        mean = float(counts @ self.centers) / records
        far = self.centers - mean
        scale = max(abs(mean), float(counts @ np.abs(far)) / records) * records
        known = 0.0
        if self.of_sum is not None:  # of what its range cuts off, counts alone say something
            known, clip = self.of_sum.noise, self.of_sum.clip
            far = self.centers - np.clip(self.centers, clip.lower, clip.upper)
        if scale <= 0:
            return 0.0
        left = np.bincount(runs.of_cell, counts)
        of_run = np.bincount(runs.of_cell, counts * far) / np.where(left > 0, left, 1.0)
        errors = runs.noise * of_run / scale
        for run, believed in self.smoothed.hidden.items():
            errors[run] = believed.error(far[runs.of_cell == run] / scale)
        return math.sqrt(float(errors @ errors) + (known / scale) ** 2)

    @property
    def deviation_error(self) -> float:
        """The standard error of the standard deviation, as a part of it, as noise leaves it: half that of the variance.

        From the noise of each run's count times what a record there adds to the variance, and of hidden runs from all
        that may be true of them. Infinite where no run stands out, and 0 for a column of one number.
        """
        counts, runs = self.smoothed.counts, self.smoothed.runs
        records = float(counts.sum())
        if records <= 0 or not self.runs.stands_out.any():
            return math.inf
        squares = (self.centers - float(counts @ self.centers) / records) ** 2
        variance = float(counts @ squares) / records
        if variance <= 0:
            return 0.0
        added = (squares / variance - 1.0) / (2 * records)
        left = np.bincount(runs.of_cell, counts)
        of_run = np.bincount(runs.of_cell, counts * added) / np.where(left > 0, left, 1.0)
        errors = runs.noise * of_run
        for run, believed in self.smoothed.hidden.items():
            errors[run] = believed.error(added[runs.of_cell == run])
        return float(np.linalg.norm(errors))

    @property
    def unseen_group(self) -> float:
        """By how much a group at one number that noise hides may move the mean, in the same parts as `mean_error`.

        The most rows that do not stand out in one cell, at the end of the range that is farther from the mean.
        """
        counts = self.smoothed.counts
        records = float(counts.sum())
        if records <= 0:
            return math.inf
        mean = float(counts @ self.centers) / records
        far = np.abs(self.centers - mean)
        scale = max(abs(mean), float(counts @ far) / records) * records
        return self.rows_unseen * float(far.max()) / scale if scale > 0 else 0.0

    @property
    def rows_unseen(self) -> float:
        """The most rows at one number that do not stand out from the noise."""
        return deviations_to_stand_out(len(self.centers), laplace=self.marginal.laplace) * self.marginal.scale

    @property
    def has_unreliable_tail(self) -> bool:
        """Whether noise hides much of its deviation, or a group of rows that would multiply its mean."""
        return self.deviation_error > _ERROR or self.unseen_group > _UNSEEN

    @property
    def hidden_share(self) -> float:
        """The share of the records of which a smooth curve alone says in which cells they are, or nothing at all."""
        counts, runs, unplaced = self.smoothed.counts, self.smoothed.runs, self.smoothed.unplaced
        records = float(counts.sum())
        if records <= 0 or not self.runs.stands_out.any():
            return 1.0
        cells = np.bincount(runs.of_cell)
        narrow = cells <= max(LONGEST, _WIDE * len(counts))
        guessed = float(counts[~(self.smoothed.stands_out & narrow)[runs.of_cell]].sum())
        return (guessed + unplaced) / (records + unplaced)

    @property
    def cells_that_stand_out(self) -> int:
        """How many cells have a noisy count that by itself is more than noise.

        Cells that were counted again together have more noise, each by itself, than the marginal's deviation.
        """
        return int((self.runs.stands_out & (np.bincount(self.runs.of_cell) == 1)).sum())


def unreliable_means(columns: Sequence[NumberColumn], total: float) -> list[str]:
    """What is said of the columns whose means and tails the noise hides, and their bodies; nothing where it hides none.

    Args:
        columns: all columns of numbers.
        total: the number of records, as noise leaves it.
    """
    # The worst first, for the others may go unnamed.
    columns = sorted(columns, key=lambda column: (-column.hidden_share, -column.mean_error))
    doubtful = [column for column in columns if column.mean_error > _ERROR]
    guessed = [column for column in columns if column.hidden_share > _BODY]
    tails = [column for column in columns if column not in doubtful + guessed and column.has_unreliable_tail]
    said = _doubt(doubtful, total) + _guess(guessed) + _tails(tails, total)
    return [" ".join(said)] if said else []


def _doubt(doubtful: Sequence[NumberColumn], total: float) -> list[str]:
    if not doubtful:
        return []
    deviation = max(column.marginal.scale for column in doubtful)
    named = first_few(
        [
            f"{column.marginal.clique[0]} ({column.cells_that_stand_out} of its {len(column.centers)} cells)"
            for column in doubtful
        ]
    )
    its = "its mean and tail are" if len(doubtful) == 1 else "their means and tails are"
    return [
        f"Few cells stand out from the noise (deviation {deviation:,.0f} of about {total:,.0f} rows) in {named}: {its} "
        f"unreliable, with a standard error of more than {_ERROR:.0%}."
    ]


def _guess(guessed: Sequence[NumberColumn]) -> list[str]:
    if not guessed:
        return []
    shares = first_few([f"{column.hidden_share:.0%} of the rows of {column.marginal.clique[0]}" for column in guessed])
    its = "its mean and quantiles are" if len(guessed) == 1 else "their means and quantiles are"
    return [f"No count that stands out from the noise says where {shares} lie, which is guessed: {its} unreliable."]


def _tails(tails: Sequence[NumberColumn], total: float) -> list[str]:
    if not tails:
        return []
    unseen = min(max(column.rows_unseen for column in tails), max(total, 1.0))  # noise may hide more than there are
    named = first_few([column.marginal.clique[0] for column in tails])
    its, mean = ("Its deviation and outer quantiles", "its mean")
    if len(tails) > 1:
        its, mean = "Their deviations and outer quantiles", "their means"
    return [
        f"Few rows decide the tail of {named}, and noise hides up to "
        f"{unseen:,.0f} of them at one number. {its} may be far off, and so may {mean}, where such a group lies near a "
        "bound. Closer bounds, where the public knows them, or more epsilon hide less."
    ]


def hidden_sides(columns: Sequence[NumberColumn], total: float) -> list[str]:
    """What is said of columns with records on one side of 0, where noise hides whether there are any on the other.

    Args:
        columns: all columns of numbers.
        total: the number of records, as noise leaves it.
    """
    most: dict[str, float] = {}
    for column in columns:
        for side in column.smoothed.other_sides:
            if not side.is_sure and side.most > _LOST * total:
                seen = " beside those that stand out" if _shows(column, side.words) else ""
                side_of = f"{column.marginal.clique[0]} {side.words} 0{seen}"
                most[side_of] = most.get(side_of, 0.0) + side.most
    shares = {side_of: min(rows / max(total, 1.0), 1.0) for side_of, rows in most.items()}  # noise may hide more
    hidden = [f"{side_of} (up to {share:.0%})" for side_of, share in shares.items()]
    if not hidden:
        return []
    return [
        f"Noise hides how many of the rows have numbers of {first_few(hidden)}: these rows may have too few of them, "
        "or some that no record has."
    ]


def _shows(column: NumberColumn, side: str) -> bool:
    """Whether a number on this side of 0 stands out, such as -1 for what was not asked."""
    there = column.centers < 0 if side == "below" else column.centers > 0
    return bool(column.runs.stands_out[column.runs.of_cell[there]].any())


def first_few(names: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def near_noise(marginals: Sequence[NoisyMarginal], runs: Mapping[str, Runs], total: float) -> list[str]:
    """One sentence where a table is too small for its budget; none where it is not.

    Noise of deviation s in the counts of k values moves k s sqrt(2 / pi) records in the mean, and an L1 distance is
    that over the number of records, at most 2. For a column of numbers k is the number of its runs. What decides is the
    mean over columns.

    Args:
        marginals: of all columns.
        runs: of the columns of numbers.
        total: the number of records, as noise leaves it.
    """
    moved = []
    for one in marginals:
        name, cells = one.clique[0], one.counts.size
        if name in runs:
            cells += len(runs[name].totals) - len(runs[name].of_cell)
        moved.append(min(cells * one.scale * _MEAN_ABSOLUTE / max(total, 1.0), 2.0))
    apart = float(np.mean(moved)) if moved else 0.0
    if apart < _NEAR_NOISE:
        return []
    deviation = max(one.scale for one in marginals)
    drowned = total < DEVIATIONS * min(one.scale * math.sqrt(one.counts.size) for one in marginals)
    known = "The records can't be seen for the noise, and are" if drowned else f"About {total:,.0f} records are"
    return [
        f"{known} too few for this budget: the noise of the counts (deviation "
        f"{deviation:,.0f} each) moves about {apart / 2:.0%} of the rows of a column to other values, so that rows are "
        "near noise. Give more epsilon, or fewer columns."
    ]
