"""Cells that lie side by side, joined until together they stand out from the noise of their counts.

Post-processing of noisy counts: no record is read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

ANY_CHANCE = 0.05
"""About the chance that any cell of an empty column seems to stand out."""
LONGEST = 6
"""The most cells in a run: a second measurement tells in which of them a tail or a gap holds records."""
BLOCKS = 96
"""Into about so many runs a column without sizes is cut where nothing stands out, however fine its cells are."""
_PARTS = 8
"""A run is at most that part of its column, however little stands out."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Cells that lie side by side, joined where they do not stand out.

    Args:
        of_cell: int64 [n], the run of each cell, counted up from 0.
        totals: float64 [runs], the noisy number of records in each.
        noise: float64 [runs], the standard deviation of each total.
        threshold: how many deviations of its noise a total must reach to stand out; of all runs, or float64 [runs].
    """

    of_cell: np.ndarray
    totals: np.ndarray
    noise: np.ndarray
    threshold: float | np.ndarray

    @property
    def stands_out(self) -> np.ndarray:
        """bool [runs]: which totals are more than their noise."""
        return np.asarray(self.totals >= self.threshold * self.noise)

    def with_more(self, totals: np.ndarray, noise: float) -> Runs:
        """The same runs, their totals averaged with others that were measured with `noise`, by precision."""
        weights, more = self.noise**-2, noise**-2
        averaged = (weights * self.totals + more * totals) / (weights + more)
        return Runs(self.of_cell, averaged, (weights + more) ** -0.5, self.threshold)

    def split(self, begins: np.ndarray) -> Runs:
        """The same cells in more runs: totals and variances are divided by the numbers of cells.

        Args:
            begins: bool [n], whether a run begins at each cell; where one of these runs begins, it does.
        """
        of_cell = np.cumsum(begins) - 1
        old = self.of_cell[np.flatnonzero(begins)]
        part = np.bincount(of_cell) / np.bincount(self.of_cell)[old]
        threshold = np.broadcast_to(self.threshold, len(self.totals))[old]
        return Runs(of_cell, self.totals[old] * part, self.noise[old] * np.sqrt(part), threshold)

    def with_joined_rest(self) -> Runs:
        """Neighboring runs that do not stand out as one."""
        out = self.stands_out
        begins = np.append(True, out[1:] | out[:-1])
        joined = np.cumsum(begins) - 1
        noise = np.sqrt(np.bincount(joined, self.noise**2))
        threshold = np.zeros(len(noise))
        np.maximum.at(threshold, joined, np.broadcast_to(self.threshold, len(joined)))
        return Runs(joined[self.of_cell], np.bincount(joined, self.totals), noise, threshold)


def deviations_to_stand_out(cells: int) -> float:
    """Above how many deviations of its noise a count stands out among so many cells."""
    return math.sqrt(2 * math.log(max(cells, 2) / ANY_CHANCE))


def find_runs(counts: np.ndarray, scale: float, threshold: float, longest: int = LONGEST) -> Runs:
    """Runs of cells that lie side by side.

    A cell that stands out is a run of its own. Between such cells, runs are closed as soon as their sum stands out from
    the noise of so many cells; what is left over before the next one does not stand out, in runs of a few cells.

    Args:
        counts: float64 [n], noisy.
        scale: the standard deviation of the noise in one cell.
        threshold: how many deviations of its own noise a run must reach to stand out.
        longest: the most cells in a run.
    """
    least, runs = scale * threshold, np.zeros(len(counts), dtype=np.int64)
    number, start, total = 0, 0, 0.0
    for i, count in enumerate(counts):
        if count >= least and i > start:
            number, start, total = number + 1, i, 0.0
        runs[i] = number
        total += count
        if total >= least * math.sqrt(i + 1 - start) or i + 1 - start == longest:
            number, start, total = number + 1, i + 1, 0.0
    return Runs(runs, np.bincount(runs, counts), scale * np.sqrt(np.bincount(runs)), threshold)


def runs_of(counts: np.ndarray, scale: float, *, sized: bool = True) -> Runs:
    """Runs of all cells of a column, longer ones where short ones do not stand out.

    Where nothing between two runs that stand out does, runs of twice as many cells are tried there, up to a quarter of
    the column. Where nothing at all stands out, runs of twice the first length are left, whose sums can be measured
    again. The threshold stays that of so many cells: a lower one lets noise stand out, far from where the records are.

    Args:
        counts: float64 [n], noisy.
        scale: the standard deviation of the noise in one cell.
        sized: whether cells are numbers, of which few may be large; those without sizes, such as days, lie anywhere in
            a column of thousands, and its runs are longer from the first.
    """
    threshold, cells = deviations_to_stand_out(len(counts)), len(counts)
    first = LONGEST if sized else max(LONGEST, cells // BLOCKS)
    runs, longest = find_runs(counts, scale, threshold, first), 2 * first
    while longest <= cells // _PARTS:
        runs = _with_longer(runs, counts, scale, threshold, longest)
        longest *= 2
    if not runs.stands_out.any():
        return find_runs(counts, scale, threshold, max(min(2 * first, cells // _PARTS), 1))
    return runs


def _with_longer(runs: Runs, counts: np.ndarray, scale: float, threshold: float, longest: int) -> Runs:
    """The same runs where they stand out, and between them longer ones where these do."""
    out = runs.stands_out[runs.of_cell]
    borders = np.flatnonzero(np.diff(out, prepend=not out[0]))
    begins = np.diff(runs.of_cell, prepend=-1) > 0
    for start, stop in zip(borders.tolist(), [*borders[1:].tolist(), len(out)], strict=True):
        if out[start]:
            continue
        longer = find_runs(counts[start:stop], scale, threshold, longest)
        if longer.stands_out.any():
            begins[start:stop] = np.diff(longer.of_cell, prepend=-1) > 0
    of_cell = np.cumsum(begins) - 1
    return Runs(of_cell, np.bincount(of_cell, counts), scale * np.sqrt(np.bincount(of_cell)), threshold)
