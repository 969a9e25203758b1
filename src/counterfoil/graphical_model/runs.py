"""Cells that lie side by side, joined until together they stand out from the noise of their counts.

Post-processing of noisy counts: no record is read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

ANY_CHANCE = 0.05
"""About the chance that any cell of an empty column seems to stand out, in each measurement of it."""
LONGEST = 6
"""The most cells in a run: a second measurement tells in which of them a tail or a gap holds records."""
BLOCKS = 96
"""Into about so many runs a column is cut at first, however fine its cells are."""
MANY = 2 * BLOCKS
"""So many cells leave few records in each, and are measured once more than others."""
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
        laplace: whether the noise is Laplace noise, and not normal.
    """

    of_cell: np.ndarray
    totals: np.ndarray
    noise: np.ndarray
    threshold: float | np.ndarray
    laplace: bool = False

    @property
    def stands_out(self) -> np.ndarray:
        """bool [runs]: which totals are more than their noise."""
        return np.asarray(self.totals >= self.threshold * self.noise)

    @staticmethod
    def single(counts: np.ndarray, scale: float, threshold: float, *, laplace: bool = False) -> Runs:
        """Each cell as a run of its own.

        Args:
            counts: float64 [n], noisy.
            scale: the standard deviation of the noise in one cell.
            threshold: how many deviations of its noise a count must reach to stand out.
            laplace: whether it is Laplace noise, and not normal.
        """
        return Runs(np.arange(len(counts)), counts, np.full(len(counts), scale), threshold, laplace)

    @property
    def first_cells(self) -> np.ndarray:
        """int64 [runs]: the cell with which each begins."""
        return np.flatnonzero(np.diff(self.of_cell, prepend=-1))

    @property
    def longer_ones_stand_out(self) -> bool:
        """Whether any run of more than one cell stands out, so that something says where its records' neighbors are."""
        return bool((self.stands_out & (np.bincount(self.of_cell) > 1)).any())

    def with_more(self, totals: np.ndarray, noise: float) -> Runs:
        """The same runs, their totals averaged with others that were measured with `noise`, by precision."""
        weights, more = self.noise**-2, noise**-2
        averaged = (weights * self.totals + more * totals) / (weights + more)
        return replace(self, totals=averaged, noise=(weights + more) ** -0.5)

    def split(self, begins: np.ndarray) -> Runs:
        """The same cells in more runs: totals and variances are divided by the numbers of cells.

        Args:
            begins: bool [n], whether a run begins at each cell; where one of these runs begins, it does.
        """
        of_cell = np.cumsum(begins) - 1
        old = self.of_cell[np.flatnonzero(begins)]
        part = np.bincount(of_cell) / np.bincount(self.of_cell)[old]
        threshold = np.broadcast_to(self.threshold, len(self.totals))[old]
        return Runs(of_cell, self.totals[old] * part, self.noise[old] * np.sqrt(part), threshold, self.laplace)

    def between(self, start: int, stop: int) -> Runs:
        """The runs from one to before another, with their cells."""
        inside = self.of_cell[(self.of_cell >= start) & (self.of_cell < stop)] - start
        threshold = np.broadcast_to(self.threshold, len(self.totals))[start:stop]
        return Runs(inside, self.totals[start:stop], self.noise[start:stop], threshold, self.laplace)

    def joined(self, number: np.ndarray) -> Runs:
        """Runs of these runs.

        Args:
            number: int64 [runs], the new run of each, counted up from 0.
        """
        noise = np.sqrt(np.bincount(number, self.noise**2))
        threshold = np.zeros(len(noise))
        np.maximum.at(threshold, number, np.broadcast_to(self.threshold, len(number)))
        return Runs(number[self.of_cell], np.bincount(number, self.totals), noise, threshold, self.laplace)

    def with_joined_rest(self) -> Runs:
        """Neighboring runs that do not stand out as one."""
        out = self.stands_out
        begins = np.append(True, out[1:] | out[:-1])
        return self.joined(np.cumsum(begins) - 1)


def deviations_to_stand_out(cells: int, *, laplace: bool = False) -> float:
    """Above how many deviations of its noise a count stands out among so many cells.

    Each of n counts without records does with probability at most ANY_CHANCE / 2 n: one with normal noise exceeds r of
    its deviations with probability at most exp(-r^2 / 2) / 2, one with Laplace noise with exp(-sqrt(2) r) / 2.
    """
    nats = math.log(max(cells, 2) / ANY_CHANCE)
    return nats / math.sqrt(2) if laplace else math.sqrt(2 * nats)


def find_runs(cells: Runs, longest: int = LONGEST) -> Runs:
    """Longer runs of what lies side by side.

    What stands out is a run of its own. Between such runs, longer ones are closed as soon as their sum stands out from
    its noise; what is left over before the next one does not stand out, in runs of a few cells.

    Args:
        cells: single ones, or runs of them.
        longest: the most cells in a run that is joined of several.
    """
    thresholds = np.broadcast_to(cells.threshold, len(cells.totals))
    shown = zip(
        cells.totals.tolist(),
        (cells.noise**2).tolist(),
        thresholds.tolist(),
        np.bincount(cells.of_cell).tolist(),
        cells.stands_out.tolist(),
        strict=True,
    )
    number, run, empty = [], 0, (0.0, 0.0, 0.0, 0)
    total, variance, least, length = empty
    for count, noise, threshold, cell, out in shown:
        if length and (out or length + cell > longest):
            run, (total, variance, least, length) = run + 1, empty
        number.append(run)
        total, variance, least, length = total + count, variance + noise, max(least, threshold), length + cell
        if total >= least * math.sqrt(variance) or length >= longest:
            run, (total, variance, least, length) = run + 1, empty
    return cells.joined(np.array(number))


def runs_of(counts: np.ndarray, scale: float, *, laplace: bool = False) -> Runs:
    """Runs of all cells of a column, longer ones where short ones do not stand out.

    The first runs have few cells, or a part of a column of many. Where nothing at all stands out, runs of twice that
    length are left, whose sums can be measured again. The threshold stays that of so many cells: a lower one lets noise
    stand out, far from where the records are.

    Args:
        counts: float64 [n], noisy.
        scale: the standard deviation of the noise in one cell.
        laplace: whether it is Laplace noise, and not normal.
    """
    n = len(counts)
    cells = Runs.single(counts, scale, deviations_to_stand_out(n, laplace=laplace), laplace=laplace)
    first = max(LONGEST, n // BLOCKS)
    runs = _with_longer(find_runs(cells, first), cells, first)
    if not runs.stands_out.any():
        return find_runs(cells, max(min(2 * first, n // _PARTS), 1))
    return runs


def joined_again(runs: Runs) -> Runs:
    """Runs whose sums were measured again, joined where more of them stand out together.

    Where only single cells stand out, the others are left as they are: they say together how dense the rest is
    (`hidden_mass`), and a part of it that stood out would hide that.
    """
    if runs.stands_out.any() and not runs.longer_ones_stand_out:
        return runs
    return _with_longer(runs, runs, LONGEST)


def joined_for_another(runs: Runs) -> Runs:
    """Runs of a column of many cells, for another measurement: long ones where nothing but single cells stands out."""
    n = len(runs.of_cell)
    return runs if n < MANY or runs.longer_ones_stand_out else find_runs(runs, n // _PARTS)


def _with_longer(runs: Runs, cells: Runs, longest: int) -> Runs:
    """Runs of twice as many cells, and of twice as many as these, between those that stand out, where these then do.

    Args:
        runs: joined of `cells`.
        cells: single ones, or runs of them.
        longest: the most cells that runs had till now.
    """
    while (longest := 2 * longest) <= len(cells.of_cell) // _PARTS:
        number = runs.of_cell[cells.first_cells]
        out, begins = runs.stands_out[number], np.diff(number, prepend=-1) > 0
        borders = np.flatnonzero(np.diff(out, prepend=not out[0]))
        for start, stop in zip(borders.tolist(), [*borders[1:].tolist(), len(out)], strict=True):
            if out[start]:
                continue
            part = cells.between(start, stop)
            longer = find_runs(part, longest)
            if longer.stands_out.any():
                begins[start:stop] = np.diff(longer.of_cell[part.first_cells], prepend=-1) > 0
        runs = cells.joined(np.cumsum(begins) - 1)
    return runs
