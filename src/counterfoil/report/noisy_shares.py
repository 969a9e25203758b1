"""What the noisy counts on a receipt say about the shares of one column's values in the real table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.inference.pooled_marginal import CountedTogether, PooledMarginal

DEVIATIONS = 2.0
"""Standard errors of the noise that an error bar reaches to each side."""


@dataclass(frozen=True, eq=False)
class NoisyShares:
    """The shares of groups of codes by their noisy counts c over the noisy number of records n.

    A group of k of the m counted cells has the estimate x = sum of its counts + (k / m) (n - sum of all counts), whose
    error has the variance v k (1 - k / m) + v_n (k / m)**2, with v the variance of a cell's noise and v_n that of n;
    see `PooledMarginal`. The error of the share theta = x / n is that of (x - theta n) / n to first order, with the
    variance (v k (1 - k / m) + v_n (k / m - theta)**2) / n**2.

    Args:
        groups: int64 [codes]: the cell in which each code was counted.
        counts: float64 [m]: the pooled noisy counts.
        variance: v, in records squared.
        records: n.
        records_variance: v_n; 0 where the number of records is public.
    """

    groups: np.ndarray
    counts: np.ndarray
    variance: float
    records: float
    records_variance: float

    def intervals(self, sets: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """float64 [sets] twice: the ends of two standard errors around the share of each set of codes.

        A share below 0 or above 1 is moved there first, which never leads away from the real one: two standard errors
        around a count far below 0 would hold no share at all. NaN for a set that is no union of counted cells.
        """
        ends = [self._interval(codes) for codes in sets]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])

    def estimate(self, cells: int, counted: float) -> tuple[float, float]:
        """The share of `cells` cells with the noisy sum `counted`, and its standard error."""
        part = cells / len(self.counts)
        share = (counted + part * (self.records - float(self.counts.sum()))) / self.records
        variance = self.variance * cells * (1 - part) + self.records_variance * (part - share) ** 2
        return share, math.sqrt(max(variance, 0.0)) / self.records

    @property
    def lost(self) -> np.ndarray:
        """bool [m]: cells whose noisy count is within two standard errors of none at all."""
        return np.asarray(self.counts < DEVIATIONS * math.sqrt(self.variance))

    @property
    def moved(self) -> float:
        """The share of the records that the noise alone puts into other cells, on average: half of E sum abs(noise).

        The noise of a cell is taken as normal.
        """
        spread = self.variance * (1 - 1 / len(self.counts))
        return min(len(self.counts) * math.sqrt(2 / math.pi * spread) / (2 * self.records), 1.0)

    def _interval(self, codes: np.ndarray) -> tuple[float, float]:
        inside = np.unique(self.groups[codes])
        if not len(inside) or len(codes) != int(np.isin(self.groups, inside).sum()):
            return math.nan, math.nan
        share, error = self.estimate(len(inside), float(self.counts[inside].sum()))
        possible = min(max(share, 0.0), 1.0)
        return max(possible - DEVIATIONS * error, 0.0), min(possible + DEVIATIONS * error, 1.0)


def noisy_shares(counted: CountedTogether | None, name: str) -> NoisyShares | None:
    """The noisy counts of a column: of the finest way in which its codes were counted, the most exact.

    None where it was never counted, or where no record can be told from the noise.
    """
    known = [] if counted is None else counted.pooled((name,))
    if counted is None or not known:
        return None
    best: PooledMarginal = max(known, key=lambda pooled: (pooled.counts.size, -pooled.variance))
    records = best.total.value
    if records < 1:
        return None
    return NoisyShares(best.groups[name], best.counts, best.variance, records, counted.total_variance)
