"""How tails may fall that noise hides: shapes that are tried, and how probable each is before its counts are looked at.

A tail begins about as high as what lies beside it, and falls about as fast there, or a few times faster or slower: the
slope changes in the middle of the last cell that stands out, so that of single numbers the first hidden one may be any
part of the last that stands out. From there on it falls exponentially, or as a power, as visits and claims do of which
few persons have many: that is less probable, and only where numbers are as far apart as they are on the scale of the
cells. Where those grow with the numbers, an exponential law is a power of them already.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

AS_IT_BEGINS = np.zeros(1)
"""A tail that begins as high as what lies beside it suggests."""
LIFTS = np.arange(-2, 3)
"""How many deviations of the log of its height a tail may begin higher."""

_HALF = 0.5
"""How much of what lies beside a tail may have its slope, in cells of mean width."""
_LIFT = 0.5
"""That deviation."""
_APART = 1.5
"""The standard deviation of the log of a tail's slope around that of what lies beside it."""
_FROM_ONE = 3.0
"""How many of these deviations lie between the least slope and one in a cell, where one run is all of the body."""
_STEEPEST = 8.0
"""The most by which the log density of a tail falls in a cell of mean width."""
_SLOPES = 80
"""How many slopes are tried."""
_POWER = 2.0
"""That of a tail which falls as (1 + x / 2)^-2 in place of exp(-x)."""
_OF_POWER = math.exp(-2)
"""How many times as probable as an exponential tail that is."""


@dataclass(frozen=True)
class TailShapes:
    """The shapes that are tried of one tail.

    Args:
        slowest: the least slope of the log density where the tail begins.
        trend: that of what lies beside it.
        lone: whether one run is all that lies there, of which only the width says something about the slope.
        even: whether numbers are as far apart as they are on the scale of the cells.
    """

    slowest: float
    trend: float
    lone: bool
    even: bool

    def tried(self, away: np.ndarray, lifts: np.ndarray, before: float) -> tuple[np.ndarray, np.ndarray]:
        """The counts of the cells, if by the trend the density begins with 1, and how unusual each shape is.

        Args:
            away: float64 [cells + 1], how far from there cells begin and end, rising or falling.
            lifts: int64 [lifts], of `LIFTS`.
            before: how far from where it begins the middle of what lies beside it is.

        Returns:
            float64 [lifts, shapes, cells], and float64 [lifts, shapes]: minus twice the log of how probable each is
            before anything is counted, but for a constant.
        """
        slopes = np.geomspace(self.slowest, max(_STEEPEST, self.slowest), _SLOPES)
        apart = -math.log(self.slowest) / _FROM_ONE if self.lone else _APART
        unusual = (np.log(slopes / self.trend) / apart) ** 2
        begins = np.exp((self.trend - slopes[:, None]) * min(before, _HALF))
        shapes = begins * _exponential(slopes[:, None], away)
        if self.even:
            shapes = np.concatenate([shapes, begins * _as_power(slopes[:, None], away)])
            unusual = np.concatenate([unusual, unusual - 2 * math.log(_OF_POWER)])
        return np.exp(_LIFT * lifts)[:, None, None] * shapes, unusual + lifts[:, None] ** 2


def are_even(spans: np.ndarray, centers: np.ndarray | None) -> bool:
    """Whether numbers are as far apart as they are on the scale of the cells, as all are that have no sizes.

    Args:
        spans: float64 [n], the width of each cell on that scale.
        centers: float64 [n], the number in the middle of each; None where they have no sizes.
    """
    if centers is None:
        return True
    return bool(np.allclose(np.diff(centers), (spans[1:] + spans[:-1]) / 2, rtol=0.1))


def _exponential(slopes: np.ndarray, away: np.ndarray) -> np.ndarray:
    """float64 [slopes, cells]: the integrals of exp(-slope x) over each cell, for slopes [slopes, 1]."""
    return np.asarray(np.abs(np.diff(np.exp(-slopes * away) / slopes, axis=1)))


def _as_power(slopes: np.ndarray, away: np.ndarray) -> np.ndarray:
    """float64 [slopes, cells]: the integrals of a density that falls as a power, by the same slope where it begins."""
    beyond = (1 + slopes * away / _POWER) ** (1 - _POWER) * _POWER / (_POWER - 1) / slopes
    return np.asarray(np.abs(np.diff(beyond, axis=1)))
