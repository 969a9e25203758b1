"""What lies between two columns of days or moments, counted in intervals that earlier answers chose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from counterfoil.schema import compact_dates, midnight
from counterfoil.schema.month_first import month_first
from counterfoil.schema.raw_cell import CLASSES, CODES, MOMENTS

_MOMENTS = [CODES[name] for name in MOMENTS]


@dataclass(frozen=True)
class Dated:
    """A column of days or moments, and how they are written.

    Args:
        column: its name.
        codes: of the classes of cells that are read (`schema.raw_cell.CODES`), of days or of moments; of integers those
            count that read as days.
        month_first: whether 3/4/2020, which has two readings, is a day of March.
        of_days: whether moments count as their days.
    """

    column: str
    codes: tuple[int, ...]
    month_first: bool = False
    of_days: bool = False

    def numbers(self, codes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """float64 [n]: days, or microseconds, since 1970-01-01; NaN where a cell has none."""
        read = np.isin(codes, self.codes)
        if self.month_first:
            numbers = month_first(codes, numbers)
        if (whole := CODES["integer"]) in self.codes:
            numbers = np.where(codes == whole, compact_dates.days_of(numbers), numbers)
        if self.of_days:
            numbers = np.where(np.isin(codes, _MOMENTS), midnight.days_of(numbers), numbers)
        return np.where(read, numbers, np.nan)


@dataclass(frozen=True)
class Apart:
    """Two columns, and in which intervals it is counted how far the second lies after the first.

    Args:
        first, last: both of days, or both of moments.
        edges: ascending, in days or microseconds; the intervals are below the first, from each up to the next, and from
            the last on.
    """

    first: Dated
    last: Dated
    edges: tuple[float, ...]

    @property
    def size(self) -> int:
        """Number of intervals."""
        return len(self.edges) + 1

    @property
    def columns(self) -> tuple[str, str]:
        """The names of both."""
        return self.first.column, self.last.column

    def counts(self, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """int64 [size]: in how many records both have a number, and the difference lies in each.

        Args:
            first, last: float64 [n], the numbers of both.
        """
        differences = last - first
        places = np.searchsorted(np.array(self.edges), differences[~np.isnan(differences)], side="right")
        return np.bincount(places, minlength=self.size).astype(np.int64)


def require_apart(pairs: Iterable[Apart]) -> None:
    """Refuses what can't be counted, or twice.

    Raises:
        ValueError: which names the columns.
    """
    found: set[tuple[str, str]] = set()
    for pair in pairs:
        edges = np.array(pair.edges, dtype=float)
        named = " and ".join(map(repr, pair.columns))
        if pair.first.column == pair.last.column or pair.columns in found:
            raise ValueError(f"`apart` must hold pairs of two columns, and none twice. Found {named}.")
        if not len(edges) or not np.isfinite(edges).all() or any(low >= high for low, high in pairwise(edges.tolist())):
            raise ValueError(f"The edges of {named} must be finite and ascending, and at least one.")
        if any(not end.codes or not {*end.codes} <= {*range(len(CLASSES))} for end in (pair.first, pair.last)):
            raise ValueError(f"The codes of {named} must be those of classes of cells.")
        found.add(pair.columns)
