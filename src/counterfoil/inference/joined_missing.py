"""Missing cells that were counted together with values, as if each had one: what they leave open of a mean or a share.

In shares, cells that count as `other` are treated likewise where they were counted with a category.

Of B records of a group, m lack a number and were counted with those whose numbers lie between l and h. Let mu be the
mean of the least numbers that the B records have by what was counted, where the m have l; the others' is then

    (mu - a l) / (1 - a), with a = m / B.

It grows with mu, and with `a` it only grows or only falls, so that over all `a` up to a_max it is least at 0 or at
a_max; likewise the mean of the greatest numbers, with h. How many cells are missing is known, with noise, where they
were counted apart: a group has no more of them than all records have.

In the population, a is at most theta = P(missing) / P(in the group). `Ratio` bounds theta by the sum over records of
X = 1[missing] - theta 1[in the group], which has mean 0 and a variance of at most P(in the group) theta (1 + theta) for
each: at most twice the theta (1 - theta) that `Ratio` counts, where theta is at most 1/3. Beyond that nothing is said.
With the missing cells of J columns, added up, the square of their sum is at most J times the sum of their squares, and
the variance at most P(in the group) theta (J + theta): at most 2 J times theta (1 - theta).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from counterfoil.inference.linear_answer import LinearAnswer
from counterfoil.inference.pooled_marginal import pooled_marginals
from counterfoil.inference.ratio import Ratio
from counterfoil.receipt.answers import RecordedAnswers

_LARGEST_SHARE = 1 / 3


@dataclass(frozen=True, eq=False)
class Joined(ABC):
    """Records with a missing cell that a table counts with those of other values.

    Args:
        missing: how many there are in all groups, added up over columns.
        columns: of so many columns.
    """

    missing: LinearAnswer
    columns: int

    def widened(
        self,
        ends: tuple[float, float],
        counted: LinearAnswer,
        level: float,
        related: int,
        *,
        noise: bool,
        sampling: bool,
    ) -> tuple[float, float]:
        """The ends of an interval that allows for them.

        Args:
            ends: in [0, 1], of an interval for what is asked of all that were counted, the missing ones with a value.
            counted: how many of the group were.
            level: with which the share of the missing ones is bounded.
            related: how many records may be one and the same draw.
            noise, sampling: whether the bound is for the noise, and for the sampling.
        """
        share = Ratio(self.missing, counted, related=2 * self.columns * related)
        most = share.interval(level, noise=noise, sampling=sampling).upper
        if most > _LARGEST_SHARE:
            return 0.0, 1.0
        least, greatest = self._moved(ends, most)
        return max(least, 0.0), min(greatest, 1.0)

    @abstractmethod
    def _moved(self, ends: tuple[float, float], most: float) -> tuple[float, float]:
        """The ends where up to a part `most` of those that were counted are missing."""


@dataclass(frozen=True, eq=False)
class JoinedInMean(Joined):
    """Those without a number, where the mean of the others is asked for.

    Args:
        low, high: in [0, 1], the ends of the numbers with which they were counted.
    """

    low: float
    high: float

    def _moved(self, ends: tuple[float, float], most: float) -> tuple[float, float]:
        least, greatest = (
            [(end - share * number) / (1 - share) for share in (0.0, most)]
            for end, number in zip(ends, (self.low, self.high), strict=True)
        )
        return min(least), max(greatest)


@dataclass(frozen=True, eq=False)
class JoinedInShare(Joined):
    """Those with a missing cell, where a share of all that were counted is asked for."""

    def _moved(self, ends: tuple[float, float], most: float) -> tuple[float, float]:
        return ends[0] - most, ends[1] + most


def missing_apart(answers: RecordedAnswers, name: str) -> LinearAnswer | None:
    """How many cells of a column are missing, from the most exact table that counts them apart; None without one."""
    return counted_apart(answers, name, answers.schema[name].missing_code)


def counted_apart(answers: RecordedAnswers, name: str, code: int | None) -> LinearAnswer | None:
    """The same of any code; None where the column has it not."""
    counted = []
    for pooled in pooled_marginals(answers, (name,)) if code is not None else ():
        groups = pooled.groups[name]
        if (groups == groups[code]).sum() == 1:
            counted.append(pooled.of((np.arange(pooled.counts.size) == groups[code]).astype(float)))
    return min(counted, key=lambda one: one.covariance(one), default=None)


def joined_sentence(name: str, missing: LinearAnswer, values: str, *, cells: str = "Missing cells") -> str:
    """That missing cells were counted with others, and how many they may be.

    Args:
        name: of the column.
        missing: how many they are.
        values: with which they were counted, in words.
        cells: in words, where they are others.
    """
    return (
        f"{cells} of {name}, {max(missing.value, 0.0):,.0f} with standard deviation "
        f"{missing.covariance(missing) ** 0.5:.3g}, were counted with {values}: the intervals allow for them."
    )
