"""Missing cells that were counted together with numbers, as if each had one: what they leave open of a mean.

Of B records of a group, m lack a number and were counted with those whose numbers lie between l and h. Let mu be the
mean of the least numbers that the B records have by what was counted, where the m have l; the others' is then

    (mu - a l) / (1 - a), with a = m / B.

It grows with mu, and with `a` it only grows or only falls, so that over all `a` up to a_max it is least at 0 or at
a_max; likewise the mean of the greatest numbers, with h. How many cells are missing is known, with noise, where they
were counted apart: a group has no more of them than all records have.

In the population, a is at most theta = P(missing) / P(in the group). `Ratio` tells theta by the sum over records of
X = 1[missing] - theta 1[in the group], which has mean 0 and a variance of at most P(in the group) theta (1 + theta) for
each: at most twice the theta (1 - theta) that `Ratio` counts, where theta is at most 1/3. Beyond that nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil.inference.linear_answer import LinearAnswer
from counterfoil.inference.ratio import Ratio

_LARGEST_SHARE = 1 / 3


@dataclass(frozen=True, eq=False)
class JoinedMissing:
    """The records without a number that were counted with those of some numbers.

    Args:
        missing: how many there are in all groups.
        low, high: in [0, 1], the ends of the numbers with which they were counted.
    """

    missing: LinearAnswer
    low: float
    high: float

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
        """The ends of an interval for the mean of those that have a number.

        Args:
            ends: in [0, 1], of an interval for the least and the greatest mean of all that were counted.
            counted: how many of the group were.
            level: with which the share of the missing ones is bounded.
            related: how many records may be one and the same draw.
            noise, sampling: whether the bound is for the noise, and for the sampling.
        """
        bound = Ratio(self.missing, counted, related=2 * related).interval(level, noise=noise, sampling=sampling)
        if bound.upper > _LARGEST_SHARE:
            return 0.0, 1.0
        least, most = (
            [(end - share * number) / (1 - share) for share in (0.0, bound.upper)]
            for end, number in zip(ends, (self.low, self.high), strict=True)
        )
        return max(min(least), 0.0), min(max(most), 1.0)
