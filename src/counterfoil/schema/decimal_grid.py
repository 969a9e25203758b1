"""Numbers with so many digits after the point: the nearest to a number, those of each bin, and draws from them.

They are counted in units of the last digit, as floats, which hold whole numbers up to 2^53 exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

LARGEST = 2**50
"""Units from zero up to which a float that is multiplied by the units of 1 is nearest to its own place on a grid."""

_BESIDE = 1e-3
"""Units by which a bin starts right above a point, and not at another edge near it."""


@dataclass(frozen=True)
class DecimalGrid:
    """The numbers of `decimals` digits after the point from `lower` to `upper`.

    Args:
        decimals: digits after the point.
        lower, upper: the bounds, on the grid or not.
    """

    decimals: int
    lower: float
    upper: float

    @property
    def step(self) -> float:
        """Between two numbers."""
        return 1 / self._units

    @property
    def ends(self) -> tuple[float, float]:
        """The first and the last number within the bounds."""
        first, last = self._ends
        return first / self._units, last / self._units

    def nearest(self, numbers: np.ndarray) -> np.ndarray:
        """float64 [n]: the numbers of the grid nearest to numbers within the bounds; half-way, the upper one.

        Numbers so large that floats tell hardly more digits stay as they are.
        """
        scaled = numbers * self._units
        nearest = np.clip(np.floor(scaled + 0.5), *self._ends) / self._units
        return np.where(np.abs(scaled) < LARGEST, nearest, numbers)

    def places(self, lows: np.ndarray, highs: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """float64 [bins] twice: the first and the last number of the grid in each bin, in units.

        Args:
            lows, highs: float64 [bins], the least and the greatest number of each bin; the same for a point.
            points: the numbers that have a bin of their own, which no other bin holds.
        """
        least, greatest = np.rint(lows * self._units), np.rint(highs * self._units)
        least = np.where(least / self._units < lows, least + 1, least)
        greatest = np.where(greatest / self._units > highs, greatest - 1, greatest)
        own, before = self._points(points), (least, greatest)
        while (taken := (lows < highs) & (least <= greatest) & np.isin(least, own)).any():
            least = least + taken
        while (taken := (lows < highs) & (least <= greatest) & np.isin(greatest, own)).any():
            greatest = greatest - taken
        # Where points are all that a bin holds, they stay its numbers too, for it has no others; so does one at its
        # beginning, right above which it starts.
        some, first = least <= greatest, np.rint(lows * self._units)
        beside = np.abs(lows * self._units - first) < _BESIDE
        alone = (before[0] > before[1]) & (lows < highs) & np.isin(first, own) & beside
        least, greatest = np.where(some, least, before[0]), np.where(some, greatest, before[1])
        return np.where(alone, first, least), np.where(alone, first, greatest)

    def counts(self, least: np.ndarray, greatest: np.ndarray, points: np.ndarray) -> np.ndarray:
        """float64 [bins]: how many numbers lie in each bin, from its first to its last place without points."""
        own = self._points(points)
        inside = np.searchsorted(own, greatest, side="left") - np.searchsorted(own, least, side="right")
        return greatest - least + 1 - np.maximum(inside, 0)

    def count(self, low: float, high: float, *, closed: bool) -> int:
        """How many numbers lie from `low` to `high`, which is one of them where it is `closed`."""
        first, last = max(low * self._units, self._ends[0]), min(high * self._units, self._ends[1])
        end = math.floor(last + _BESIDE) if closed else math.ceil(last - _BESIDE) - 1
        return end - math.ceil(first - _BESIDE) + 1

    def drawn(self, least: np.ndarray, greatest: np.ndarray, points: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """float64 [n]: the numbers at `shares` of those in a bin, from 0 to 1, in equal parts.

        Args:
            least, greatest: float64 [n], the first and the last place of the bin of each.
            points: the numbers that have a bin of their own, which no other bin holds.
            shares: float64 [n].
        """
        places = least + np.floor(shares * self.counts(least, greatest, points))
        for point in self._points(points).tolist():
            places = places + ((least < point) & (point < greatest) & (places >= point))
        return self.number(np.clip(places, least, greatest))

    def number(self, places: np.ndarray) -> np.ndarray:
        """float64 [n]: units as the floats of their decimals, to which one division of whole numbers rounds."""
        return np.asarray(places / self._units)

    def _points(self, points: np.ndarray) -> np.ndarray:
        """The points in units, in order."""
        return np.sort(np.rint(points * self._units))

    @cached_property
    def _units(self) -> float:
        """How many are 1."""
        return 10.0**self.decimals

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """The first and the last number within the bounds, in units."""
        units = 10**self.decimals
        return float(math.ceil(Fraction(str(self.lower)) * units)), float(math.floor(Fraction(str(self.upper)) * units))
