"""Noisy counts of an ordered attribute, smoothed where they do not stand out from their noise.

Many fine cells of a column hold fewer records than the noise. Counts below zero can't be kept, and those above it put
records where there are none: at an income of a million, that moves the mean. So neighbors are joined until together
they stand out. Within such a run counts follow a log-linear density that its neighbors suggest. What never stands out
is a tail or a gap: what the noisy counts say of it is weighed against the line along which the density falls towards
it. Post-processing of noisy counts: no record is read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx

from counterfoil.domain.log_linear import shares_below, tilts
from counterfoil.graphical_model.leverage import demanding, with_densest
from counterfoil.graphical_model.runs import Runs

_SPIKE = 3.0
"""How often denser than both neighbors a cell is that says nothing about them."""
_TREND = 8.0
"""How many cells of mean width the runs reach whose densities say how fast a tail falls."""
_SLOWEST = 0.05
"""A tail falls at least by that log density in a cell of mean width."""
_STEEPEST = 8.0
"""The most by which it falls there."""
_STEEPER = 1.6
"""How many times as fast as where it begins a tail is taken to fall, before its own counts are looked at."""
_APART = 0.5
"""The standard deviation of the log of a tail's slope around what it is taken to be."""
_SLOPES = 80
"""How many slopes are tried."""
_TINY = 1e-9
_FAR = 1e3
"""Deviations from which on the tail of the normal distribution is exponential to all digits that matter."""


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Smoothed counts of cells that lie side by side.

    Args:
        runs: the runs of cells.
        counts: float64 [n], none below zero.
        spikes: bool [runs], single cells that say nothing about their neighbors.
    """

    runs: Runs
    counts: np.ndarray
    spikes: np.ndarray


def spread(runs: Runs, spans: np.ndarray, centers: np.ndarray | None = None) -> Smoothed:
    """The counts of the cells of each run, by log-linear densities.

    Args:
        runs: of n cells.
        spans: float64 [n], the width of each cell on the scale on which counts vary smoothly; 0 for a single point.
        centers: float64 [n], the number in the middle of each cell: what stands out far from the rest must then do so
            by more, as it moves the mean by more. None where cells are no numbers.
    """
    if centers is not None:
        runs = demanding(runs, centers) if runs.stands_out.any() else with_densest(runs, centers)
    pieces, runs = runs, runs.with_joined_rest()
    line = _Line.of(runs, pieces, spans, centers)
    masses, tilt = runs.totals.copy(), line.tilts
    for run in np.flatnonzero(~runs.stands_out).tolist():
        masses[run], tilt[run] = line.of_rest(run)
    counts = np.empty(len(spans))
    for run, (mass, slope) in enumerate(zip(masses, tilt, strict=True)):
        inside = np.flatnonzero(runs.of_cell == run)
        widths = np.maximum(spans[inside], _TINY * line.mean_span)
        borders = np.append(0.0, np.cumsum(widths)) / widths.sum()
        counts[inside] = mass * np.diff(shares_below(float(slope), borders))
    spikes = np.isin(np.arange(len(masses)), line.spikes)
    return Smoothed(runs, np.maximum(counts, 0.0), spikes)


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Parts of runs, on the line of `_Line`: the run, the ends, the noisy count of each, and the deviation of that."""

    run: np.ndarray
    ends: np.ndarray
    totals: np.ndarray
    noise: np.ndarray


@dataclass(frozen=True, eq=False)
class _Line:
    """Runs side by side on a line whose unit is the mean width of a cell.

    Args:
        totals: float64 [runs], noisy counts.
        ends: float64 [runs + 1], where runs begin and end.
        noise: float64 [runs], the standard deviation of each total.
        body: the runs that stand out and are no spikes, from left to right.
        spikes: the runs that stand out and are.
        tilts: float64 [runs], of the density within runs that stand out.
        mean_span: of a cell, in the column's scale.
        pieces: of which the runs that do not stand out were joined.
        sizes: float64 [runs, 2], how far from 0 the first and the last cell of each run lie; ones for no numbers.
    """

    totals: np.ndarray
    ends: np.ndarray
    noise: np.ndarray
    body: np.ndarray
    spikes: np.ndarray
    tilts: np.ndarray
    mean_span: float
    pieces: _Pieces
    sizes: np.ndarray

    @staticmethod
    def of(runs: Runs, pieces: Runs, spans: np.ndarray, centers: np.ndarray | None) -> _Line:
        mean_span = float(spans.mean()) if spans.any() else 1.0
        widths = np.bincount(runs.of_cell, np.maximum(spans / mean_span, _TINY))
        cells, stands_out = np.bincount(runs.of_cell), runs.stands_out
        spiky = _spikes(runs.totals, widths, cells, stands_out)
        body = np.flatnonzero(stands_out & ~spiky)
        tilt = np.zeros(len(widths))
        tilt[body] = np.where(cells[body] > 1, tilts(widths[body], runs.totals[body]), 0.0)
        ends, spikes = np.append(0.0, np.cumsum(widths)), np.flatnonzero(stands_out & spiky)
        parts = np.append(0.0, np.cumsum(np.bincount(pieces.of_cell, np.maximum(spans / mean_span, _TINY))))
        owner = runs.of_cell[np.flatnonzero(np.diff(pieces.of_cell, prepend=-1))]
        kept = _Pieces(owner, parts, pieces.totals, pieces.noise)
        away = np.ones(len(spans)) if centers is None else np.abs(centers)
        last = np.cumsum(cells) - 1
        sizes = np.stack([away[last - cells + 1], away[last]], axis=1)
        return _Line(runs.totals, ends, runs.noise, body, spikes, tilt, mean_span, kept, sizes)

    def of_rest(self, run: int) -> tuple[float, float]:
        """The expected count and the tilt of a run that does not stand out."""
        left, right = self.body[self.body < run][::-1], self.body[self.body > run]
        width = self.ends[run + 1] - self.ends[run]
        if len(left) and len(right):  # a gap: as low as the lower side, and lower than what would have stood out
            height = min(self._height(left[0]), self._height(right[0]), self.noise[run] / math.sqrt(width))
            return _expected(self.totals[run], self.noise[run], max(height * width, _TINY)), 0.0
        if not len(left) and not len(right):
            return self._beside_spikes(run, width)
        return self._tail(run, left, 1.0) if len(left) else self._tail(run, right, -1.0)

    def _tail(self, run: int, side: np.ndarray, sign: float) -> tuple[float, float]:
        """The count and the tilt of a tail next to the runs of `side`, to their right where `sign` is 1.

        From the end of the nearest of them, beyond spikes and gaps, the density falls log-linearly, by the slope that
        is most probable given the noisy counts of all its pieces, and given that the slope is near the trend of `side`.
        """
        width = self.ends[run + 1] - self.ends[run]
        begin = self.ends[side[0] + 1] if sign > 0 else self.ends[side[0]]
        slowest = _SLOWEST + self._growth(run, sign, width)
        trend = max(self._trend(side), slowest)
        height = self._height(side[0]) * math.exp(-trend * sign * (begin - self._middle(side[0])))
        inside = np.flatnonzero(self.pieces.run == run)
        slopes = np.geomspace(slowest, max(_STEEPEST, slowest), _SLOPES)[:, None]
        reached = np.exp(-slopes * np.abs(self.pieces.ends[np.append(inside, inside[-1] + 1)] - begin))
        masses = height / slopes * np.abs(np.diff(reached, axis=1))
        misfit = ((self.pieces.totals[inside] - masses) / self.pieces.noise[inside]) ** 2
        best = int(np.argmin(misfit.sum(axis=1) + (np.log(slopes[:, 0] / (_STEEPER * trend)) / _APART) ** 2))
        believed = max(float(masses[best].sum()), _TINY)
        # Slopes end somewhere: a tail whose noisy count is far below the steepest has what that count leaves it.
        mass = min(believed, _expected(float(self.totals[run]), float(self.noise[run]), believed))
        return mass, -sign * float(slopes[best, 0]) * width

    def _growth(self, run: int, sign: float, width: float) -> float:
        """How fast the log of numbers grows outward in a tail; one that fell no faster would have no mean."""
        inner, outer = self.sizes[run][:: int(sign)].tolist()
        return max(math.log(outer / inner) / width, 0.0) if inner > 0 and outer > 0 else 0.0

    def _beside_spikes(self, run: int, width: float) -> tuple[float, float]:
        """Nothing but single cells stand out: what lies between them is little, and near to them."""
        if not len(self.spikes):
            return max(self.totals[run], 1.0), 0.0
        mass = _expected(self.totals[run], self.noise[run], self.noise[run] / math.sqrt(width))
        before, after = (self.spikes < run).any(), (self.spikes > run).any()
        return mass, (int(after) - int(before)) * width

    def _height(self, run: int) -> float:
        return float(self.totals[run] / (self.ends[run + 1] - self.ends[run]))

    def _middle(self, run: int) -> float:
        return float(self.ends[run] + self.ends[run + 1]) / 2

    def _trend(self, side: np.ndarray) -> float:
        """How much the log density falls in a cell, by the runs nearest to the end: by weighted least squares."""
        if len(side) < 2:
            return 1.0
        reached = np.abs(self.ends[side + int(side[0] < side[1])] - self._middle(side[0])) < _TREND
        runs = side[: max(int(reached.sum()), 2)]
        away = np.array([abs(self._middle(run) - self._middle(runs[0])) for run in runs])
        logs = np.log([self._height(run) for run in runs])
        weights = self.totals[runs] / self.totals[runs].sum()
        away, logs = away - weights @ away, logs - weights @ logs
        return max(float(weights @ (away * logs) / (weights @ away**2)), _SLOWEST)


def _spikes(totals: np.ndarray, widths: np.ndarray, cells: np.ndarray, stands_out: np.ndarray) -> np.ndarray:
    """bool [runs]: single cells far above what stands out beside them, and those that lie alone."""
    spiky, density = np.zeros(len(totals), dtype=bool), totals / widths
    bounded = [-1, *np.flatnonzero(stands_out).tolist(), len(totals) + 1]
    for before, run, after in zip(bounded, bounded[1:-1], bounded[2:], strict=False):
        beside = [other for other in (before, after) if 0 <= other < len(totals)]
        denser = all(density[run] > _SPIKE * density[other] for other in beside)
        narrower = all(_SPIKE * widths[run] < widths[other] / np.sqrt(cells[other]) for other in beside)
        alone = before < run - 1 and after > run + 1
        # At an end of the line, a cell that a gap follows.
        at_end = len(beside) < 2 and (after > run + 1 if before < 0 else before < run - 1)
        spiky[run] = cells[run] == 1 and ((denser and (len(beside) == 2 or narrower)) or alone or at_end)
    return spiky


def _expected(total: float, noise: float, believed: float) -> float:
    """The mean of a count that is exponential with mean `believed` before it is measured with Gaussian noise."""
    center = total - noise**2 / believed
    if center < -_FAR * noise:
        return noise**2 / -center
    # The mean of a normal distribution cut off at 0: by the ratio of Mills, which is stable far below 0.
    return float(center + noise * math.sqrt(2 / math.pi) / erfcx(-center / (noise * math.sqrt(2))))
