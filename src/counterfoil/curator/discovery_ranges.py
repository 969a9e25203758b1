"""From noisy counts in intervals to the bounds of a column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterfoil.curator.discovery_support import extended, support
from counterfoil.curator.discovery_votes import Votes, codes_counted
from counterfoil.curator.queries.column_ranges import Intervals
from counterfoil.schema.discovered import Kind
from counterfoil.schema.raw_cell import MICROSECONDS_PER_DAY
from counterfoil.schema.value_grid import bounds_of, fine_edges, year_edges

_MOST = 256
_FEWEST = 32
_PER_RECORD = 0.25
"""Intervals, per record over the deviation of the noise: finer ones would hold little but noise."""


@dataclass(frozen=True)
class Bounds:
    """Where the numbers of a column lie.

    Args:
        lower, upper: both ends included; None where nothing shows.
        tails: noisy shares of the records below and above.
    """

    lower: float | None = None
    upper: float | None = None
    tails: tuple[float, float] = (0.0, 0.0)


def intervals_of(
    name: str, kind: Kind, date_format: str, vote: Votes, *, records: float, deviation: float
) -> Intervals | None:
    """Where the numbers or days of a column are to be counted; None where no numbers show.

    Args:
        name, kind, date_format: of the column.
        vote: the noisy places of its cells.
        records: about how many cells are not missing.
        deviation: of the noise that a count will have.
    """
    codes = codes_counted(kind, date_format)
    if kind in ("date", "datetime"):
        unit = 1 if kind == "date" else MICROSECONDS_PER_DAY
        return Intervals(name, codes, tuple(edge * unit for edge in year_edges()))
    if (coarse := vote.coarse_range(kind)) is None:
        return None
    cells = int(np.clip(_PER_RECORD * records / deviation, _FEWEST, _MOST))
    return Intervals(name, codes, fine_edges(*coarse, cells, whole=kind == "integer"))


def bounds_from(
    intervals: Intervals, counts: np.ndarray, deviation: float, kind: Kind, vote: Votes, records: float
) -> Bounds:
    """From the first to the last interval that shows, further out where the coarse answer shows more.

    Args:
        intervals: where numbers were counted.
        counts: int64 [intervals], noisy.
        deviation: of the noise of each.
        kind: of the column.
        vote: the noisy places of its cells.
        records: about how many cells are not missing.
    """
    edges, inner = np.array(intervals.edges), counts[1:-1]
    if kind in ("date", "datetime"):
        if (found := support(inner, deviation)) is None:
            return Bounds()
        first, last = extended(inner, found, (0, len(inner) - 1), deviation, records)
    else:
        first, last = _of_numbers(edges, inner, deviation, records, vote.coarse_range(kind))
    # Of the whole numbers, days and microseconds below an edge, the greatest is the one before it.
    upper = float(edges[last + 1]) - (0.0 if kind == "real" else 1.0)
    tails = counts[: first + 1].sum() / records, counts[last + 2 :].sum() / records
    return Bounds(float(edges[first]), upper, (float(np.clip(tails[0], 0, 1)), float(np.clip(tails[1], 0, 1))))


def _of_numbers(
    edges: np.ndarray, counts: np.ndarray, deviation: float, records: float, coarse: tuple[int, int] | None
) -> tuple[int, int]:
    """The first and the last interval that shows, or that is likely among the fine ones."""
    assert coarse is not None, "intervals were made of coarse bounds"
    lower, upper = bounds_of(*coarse)
    fine = int(np.searchsorted(edges, lower)), max(min(int(np.searchsorted(edges, upper)), len(counts)) - 1, 0)
    if (found := support(counts, deviation)) is None:
        return fine
    first, last = extended(counts, found, fine, deviation, records)
    (_, bottom), (top, _) = bounds_of(coarse[0], coarse[0]), bounds_of(coarse[1], coarse[1])
    # What shows altogether and in none of the parts is left in all of them.
    return (fine[0] if edges[first] > bottom else first), (fine[1] if edges[last + 1] <= top else last)
