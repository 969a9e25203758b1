"""Noisy counts of an ordered attribute, smoothed where they do not stand out from their noise.

Many fine cells of a column hold fewer records than the noise. Counts below zero can't be kept, and those above it put
records where there are none: at an income of a million, that moves the mean. So neighbors are joined until together
they stand out. Within such a run counts follow a log-linear density that its neighbors suggest. What never stands out
is a gap, which is as low as what lies beside it, a tail, which falls as its noisy counts suggest, or all that lies
beside spikes: of both many shapes are tried (`hidden_mass`). Beyond 0, where all of the body lies on this
side, a tail may also have records of its own (`other_side`). Post-processing of noisy counts: no record is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import erfcx

from counterfoil.domain.log_linear import shares_below, tilts
from counterfoil.graphical_model.hidden_mass import Believed, HiddenCells
from counterfoil.graphical_model.leverage import shown
from counterfoil.graphical_model.other_side import Body, OtherSide, beyond_zero
from counterfoil.graphical_model.runs import BLOCKS, Runs
from counterfoil.graphical_model.tail_shapes import AS_IT_BEGINS, LIFTS, TailShapes, are_even

_SPIKE = 3.0
"""How often denser than both neighbors a cell is that says nothing about them."""
_TREND = 8.0
"""How many cells of mean width the runs reach whose densities say how fast a tail falls."""
_SLOWEST = 0.05
"""A tail falls at least by that log density in a cell of mean width."""
_SLOWEST_SIZELESS = 0.02
"""The same where cells have no sizes, of which a tail need not have a mean."""
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
        hidden: by run, what is believed of tails, and of what lies among spikes, whose pieces do not stand out.
        other_sides: what is believed of the cells beyond 0, where nothing but noise says what they hold.
        records: in all cells, as other counts than theirs say.
        records_error: the standard deviation of the error in it; infinite where they say nothing.
    """

    runs: Runs
    counts: np.ndarray
    spikes: np.ndarray
    hidden: Mapping[int, Believed] = field(default_factory=dict)
    other_sides: Sequence[OtherSide] = ()
    records: float = 0.0
    records_error: float = math.inf

    @property
    def stands_out(self) -> np.ndarray:
        """bool [runs]: which stand out by a part of them, not as a whole alone."""
        hidden = np.isin(np.arange(len(self.runs.totals)), list(self.hidden))
        return np.asarray(self.runs.stands_out & ~hidden)

    @property
    def unplaced(self) -> float:
        """How many records the counts lack, beyond twice the standard deviation of that."""
        error = math.hypot(self.records_error, float(np.linalg.norm(self.runs.noise[self.stands_out])))
        return max(self.records - float(self.counts.sum()) - 2 * error, 0.0) if math.isfinite(error) else 0.0

    def left_for(self, inside: np.ndarray) -> tuple[float, float]:
        """How many records all other runs leave for some, and the standard deviation of the error in it.

        Args:
            inside: bool [runs], which.
        """
        left = self.records - float(self.runs.totals[~inside].sum())
        return left, math.hypot(self.records_error, float(np.linalg.norm(self.runs.noise[~inside])))


def spread(
    runs: Runs,
    spans: np.ndarray,
    centers: np.ndarray | None = None,
    *,
    records: float = 0.0,
    records_error: float = math.inf,
) -> Smoothed:
    """The counts of the cells of each run, by log-linear densities.

    Args:
        runs: of n cells.
        spans: float64 [n], the width of each cell on the scale on which counts vary smoothly; 0 for a single point.
        centers: float64 [n], the number in the middle of each cell: what stands out far from the rest must then do so
            by more, as it moves the mean by more. None where cells have no sizes: no number of theirs is 0, as of days.
        records: in all cells, as other counts than theirs say.
        records_error: the standard deviation of the error in it; infinite where they say nothing.
    """
    runs, apart = shown(runs, spans, centers, records, records_error)
    pieces, joined = runs, runs.with_joined_rest()
    # What stands out as a whole alone says how many records it holds, and nothing of where they are.
    seen = np.bincount(joined.of_cell, pieces.stands_out[pieces.of_cell]) > 0
    runs = replace(joined, threshold=np.where(seen, joined.threshold, math.inf))
    line = _Line.of(runs, pieces, spans, centers, records, records_error, apart)
    others = line.other_sides()
    for run, other in others.items():
        line = line.without(run, other.counts)
    stands_out = line.totals >= joined.threshold * joined.noise
    masses, tilt, hidden = line.totals.copy(), line.tilts, {}
    for run in np.flatnonzero(~runs.stands_out).tolist():
        if line.is_hidden:
            hidden[run] = line.of_hidden(run)
        elif line.is_tail(run):
            hidden[run] = line.of_tail(run, float(masses[run]) if stands_out[run] else None)
        elif not stands_out[run]:
            masses[run] = line.of_rest(run)
    counts = np.empty(len(spans))
    for run, (mass, slope) in enumerate(zip(masses, tilt, strict=True)):
        inside = np.flatnonzero(runs.of_cell == run)
        if run in hidden:
            counts[inside] = hidden[run].counts
            continue
        widths = np.maximum(spans[inside], _TINY * line.mean_span)
        borders = np.append(0.0, np.cumsum(widths)) / widths.sum()
        counts[inside] = mass * np.diff(shares_below(float(slope), borders))
    counts = np.maximum(counts, 0.0)
    for run, other in others.items():
        counts[runs.of_cell == run] += other.counts
    spikes = np.isin(np.arange(len(masses)), line.spikes)
    made = Smoothed(joined, counts, spikes, hidden, tuple(others.values()), records, records_error)
    return _apart(made, others)


def _apart(smoothed: Smoothed, others: Mapping[int, OtherSide]) -> Smoothed:
    """The cells beyond 0 of each run as a run of their own, which stands out where they likely have records."""
    runs, hidden = smoothed.runs, dict(smoothed.hidden)
    begins, beyond = np.diff(runs.of_cell, prepend=-1) > 0, np.zeros(len(runs.of_cell), dtype=bool)
    for run, other in others.items():
        hidden[run] = hidden[run].beside(other.believed, other.far)
        if other.is_likely:
            beyond[runs.of_cell == run] = other.far
    split = runs.split(begins | (np.diff(beyond, prepend=beyond[0]) != 0))
    first = np.flatnonzero(np.diff(split.of_cell, prepend=-1))
    old, threshold = runs.of_cell[first], np.broadcast_to(split.threshold, len(first)).astype(np.float64)
    threshold[beyond[first]] = -math.inf
    parts = {
        run: hidden[before].of_cells(split.of_cell[runs.of_cell == before] == run)
        for run, before in enumerate(old.tolist())
        if before in hidden
    }
    return replace(smoothed, runs=replace(split, threshold=threshold), spikes=smoothed.spikes[old], hidden=parts)


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Parts of runs: the run, the noisy count of each, and the deviation of that; and the part of each cell."""

    run: np.ndarray
    totals: np.ndarray
    noise: np.ndarray
    of_cell: np.ndarray


@dataclass(frozen=True, eq=False)
class _Line:
    """Runs side by side on a line whose unit is the mean width of a cell, or of several where there are many.

    Args:
        of_cell: int64 [n], the run of each cell.
        borders: float64 [n + 1], where cells begin and end.
        totals: float64 [runs], noisy counts.
        ends: float64 [runs + 1], where runs begin and end.
        noise: float64 [runs], the standard deviation of each total.
        body: the runs that stand out and are no spikes, from left to right.
        spikes: the runs that stand out and are.
        tilts: float64 [runs], of the density within runs that stand out.
        mean_span: the unit, in the column's scale.
        sized: whether cells have sizes, as numbers do.
        even: whether numbers are as far apart as they are on the scale of the cells.
        pieces: of which the runs that do not stand out were joined.
        sizes: float64 [n], how far from 0 each cell lies; ones for no numbers.
        sides: float64 [n], on which side of 0, as 1, 0 or -1; ones for no numbers.
        records: in all runs, as other counts than theirs say.
        records_error: the standard deviation of the error in it.
    """

    of_cell: np.ndarray
    borders: np.ndarray
    totals: np.ndarray
    ends: np.ndarray
    noise: np.ndarray
    body: np.ndarray
    spikes: np.ndarray
    tilts: np.ndarray
    mean_span: float
    sized: bool
    even: bool
    pieces: _Pieces
    sizes: np.ndarray
    sides: np.ndarray
    records: float
    records_error: float

    @staticmethod
    def of(
        runs: Runs,
        pieces: Runs,
        spans: np.ndarray,
        centers: np.ndarray | None,
        records: float,
        records_error: float,
        apart: bool,
    ) -> _Line:
        mean_span = float(spans.mean()) if spans.any() else 1.0
        mean_span *= max(len(spans) // BLOCKS, 1)
        wide = np.maximum(spans / mean_span, _TINY)
        widths = np.bincount(runs.of_cell, wide)
        cells, stands_out = np.bincount(runs.of_cell), runs.stands_out
        spiky = stands_out if apart else _spikes(runs.totals, widths, cells, stands_out)
        body = np.flatnonzero(stands_out & ~spiky)
        tilt = np.zeros(len(widths))
        tilt[body] = np.where(cells[body] > 1, tilts(widths[body], runs.totals[body]), 0.0)
        ends, spikes = np.append(0.0, np.cumsum(widths)), np.flatnonzero(stands_out & spiky)
        owner = runs.of_cell[np.flatnonzero(np.diff(pieces.of_cell, prepend=-1))]
        kept = _Pieces(owner, pieces.totals, pieces.noise, pieces.of_cell)
        numbers = np.ones(len(spans)) if centers is None else centers
        borders = np.append(0.0, np.cumsum(wide))
        scale = (mean_span, centers is not None, are_even(spans, centers))
        found = (body, spikes, tilt, *scale, kept, np.abs(numbers), np.sign(numbers))
        others = (records, records_error)
        return _Line(runs.of_cell, borders, runs.totals, ends, runs.noise, *found, *others)

    @property
    def slowest(self) -> float:
        """The least slope of a tail."""
        return _SLOWEST if self.sized else _SLOWEST_SIZELESS

    @property
    def is_hidden(self) -> bool:
        """Whether all that does not stand out lies among spikes."""
        return not len(self.body) and bool(len(self.spikes))

    def of_hidden(self, run: int) -> Believed:
        """What is believed of a run that lies among spikes."""
        inside = np.flatnonzero(self.of_cell == run)
        growth = self._growth(inside, rightward=False), self._growth(inside, rightward=True)
        slowest = growth[0] + self.slowest if growth[0] else 0.0, growth[1] + self.slowest if growth[1] else 0.0
        return self._cells(run).humps(slowest)

    def of_rest(self, run: int) -> float:
        """The expected count of a run that does not stand out and is no tail: of a gap, or of all there is."""
        left, right = self.body[self.body < run][::-1], self.body[self.body > run]
        if not len(left) or not len(right):
            return max(float(self.totals[run]), 1.0)
        width = self._width(run)  # as low as the lower side, and lower than what would have stood out
        height = min(self._height(left[0]), self._height(right[0]), self.noise[run] / math.sqrt(width))
        return _expected(self.totals[run], self.noise[run], max(height * width, _TINY))

    def is_tail(self, run: int) -> bool:
        """Whether a run does not stand out, and lies beyond all that does and is no spike."""
        shown = run in self.body or run in self.spikes
        return bool(len(self.body)) and not shown and not self.body[0] < run < self.body[-1]

    def other_sides(self) -> dict[int, OtherSide]:
        """By tail that reaches beyond 0, what lies there, where all of the body lies on this side."""
        last = np.flatnonzero(np.diff(self.of_cell, append=len(self.totals)))
        first = np.append(0, last[:-1] + 1)
        found = {}
        for run in (run for run in range(len(self.totals)) if self.is_tail(run)):
            side = 1.0 if run > self.body[-1] else -1.0
            near, away = (first, last) if side > 0 else (last, first)
            body_here = (self.sides[away[self.body]] == -side).any()
            body_there = (self.sides[near[self.body]] == side).any()
            far = self.sides[self.of_cell == run] == side
            if far.any() and body_here and not body_there:
                found[run] = self._other_side(run, far)
        return found

    def _other_side(self, run: int, far: np.ndarray) -> OtherSide:
        cases, _, unusual = self._tails(run, AS_IT_BEGINS)
        beyond = np.flatnonzero(self.of_cell == run)[far]
        leftward, half = bool(far[0]), (len(beyond) + 1) // 2
        slowest = self._growth(beyond[:half] if leftward else beyond[-half:], not leftward) + self.slowest
        body = Body(self.ends, np.where(np.isin(np.arange(len(self.totals)), self.body), self.totals, 0.0))
        return beyond_zero(self._cells(run), far, body, cases[0], -unusual[0] / 2, slowest)

    def without(self, run: int, counts: np.ndarray) -> _Line:
        """The line without some records of a run.

        Args:
            run: the run.
            counts: float64 [cells], of them in each cell.
        """
        totals, pieces = self.totals.copy(), self.pieces.totals.copy()
        totals[run] -= counts.sum()
        np.subtract.at(pieces, self.pieces.of_cell[self.of_cell == run], counts)
        left = self.records - float(counts.sum())
        return replace(self, totals=totals, pieces=replace(self.pieces, totals=pieces), records=left)

    def of_tail(self, run: int, mass: float | None) -> Believed:
        """What is believed of a tail: any slope, another height at which it begins, and a lump.

        From the end of the nearest run of the body, beyond spikes and gaps, the density falls. Its counts are the mean
        of all ways in which it may, weighed by the noisy counts of its pieces and the records that are left for it, and
        by how near the slope is to the trend of the body.

        Args:
            run: the tail.
            mass: of all of it, where it stands out as a whole; None where it does not.
        """
        cases, misfit, unusual = (part.reshape(-1, *part.shape[2:]) for part in self._tails(run, LIFTS))
        energy = (misfit + unusual) / 2
        weights = np.exp(energy.min() - energy)
        shape = weights @ cases / weights.sum()
        if mass is None:
            # Slopes end somewhere: a tail whose noisy count is far below the steepest has what that count leaves it.
            believed, (counted, noise) = max(float(shape.sum()), _TINY), self._counted(run)
            mass = min(believed, _expected(counted, noise, believed))
        believed_of = self._cells(run).weighed(cases, -unusual / 2)
        return replace(believed_of, counts=shape * (mass / max(float(shape.sum()), _TINY)))

    def _counted(self, run: int) -> tuple[float, float]:
        """The noisy count of a run by its own total and by what all others leave, and its standard deviation."""
        left, left_error = self._left_for(run)
        counted, noise = float(self.totals[run]), float(self.noise[run])
        weight = left_error**-2 / (left_error**-2 + noise**-2)
        if not weight:
            return counted, noise
        return counted + weight * (left - counted), noise * math.sqrt(1 - weight)

    def _tails(self, run: int, lifts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The counts of the cells of a tail, of each height and way to fall that is tried [lifts, s, cells], and minus
        twice the log of the likelihood, and of the prior, of each [lifts, s]."""
        rightward = bool(run > self.body[-1])
        side = self.body[::-1] if rightward else self.body
        begin = self.ends[side[0] + 1] if rightward else self.ends[side[0]]
        inside = np.flatnonzero(self.of_cell == run)
        slowest = self.slowest + self._growth(inside, rightward)
        trend = max(self._trend(side), slowest)
        before = abs(float(begin) - self._middle(side[0]))
        height = self._height(side[0]) * math.exp(-trend * before)
        away = np.abs(self.borders[inside[0] : inside[-1] + 2] - begin)
        shapes, unusual = TailShapes(slowest, trend, len(side) < 2, self.even).tried(away, lifts, before)
        cases = height * shapes
        starts = np.flatnonzero(np.diff(self.pieces.of_cell[inside], prepend=-1))
        pieces = self.pieces.run == run
        residuals = (self.pieces.totals[pieces] - np.add.reduceat(cases, starts, axis=2)) / self.pieces.noise[pieces]
        left, left_error = self._left_for(run)
        missing = (left - cases.sum(axis=2)) / left_error
        return cases, (residuals**2).sum(axis=2) + missing**2, unusual

    def _left_for(self, run: int) -> tuple[float, float]:
        """How many records other runs leave for one, and the standard deviation of the error in it."""
        other = np.arange(len(self.totals)) != run
        error = math.sqrt(self.records_error**2 + float((self.noise[other] ** 2).sum()))
        return self.records - float(self.totals[other].sum()), error

    def _cells(self, run: int) -> HiddenCells:
        inside, pieces = np.flatnonzero(self.of_cell == run), self.pieces.run == run
        left, left_error = self._left_for(run)
        seen = np.append(self.body, self.spikes)
        away = np.bincount(self.of_cell, self.sizes) / np.bincount(self.of_cell)
        return HiddenCells(
            borders=self.borders[inside[0] : inside[-1] + 2],
            sizes=self.sizes[inside],
            piece=self.pieces.of_cell[inside] - self.pieces.of_cell[inside[0]],
            totals=self.pieces.totals[pieces],
            noise=self.pieces.noise[pieces],
            left=left,
            left_error=left_error,
            elsewhere=float(np.maximum(self.totals[seen], 0.0).sum()),
            others=float(np.maximum(self.totals[seen], 0.0) @ away[seen]),
        )

    def _growth(self, inside: np.ndarray, rightward: bool) -> float:
        """How fast the log of numbers grows outward in cells; a tail that fell no faster would have no mean."""
        ends = self.sizes[inside[[0, -1]]]
        inner, outer = ends.tolist() if rightward else ends[::-1].tolist()
        width = float(self.borders[inside[-1] + 1] - self.borders[inside[0]])
        return max(math.log(outer / inner) / width, 0.0) if inner > 0 and outer > 0 else 0.0

    def _width(self, run: int) -> float:
        return float(self.ends[run + 1] - self.ends[run])

    def _height(self, run: int) -> float:
        return float(self.totals[run] / (self.ends[run + 1] - self.ends[run]))

    def _middle(self, run: int) -> float:
        return float(self.ends[run] + self.ends[run + 1]) / 2

    def _trend(self, side: np.ndarray) -> float:
        """How much the log density falls in a cell, by the runs nearest to the end: by weighted least squares.

        Of a lone run nothing but its width says over which distance the density changes: hardly within less, so that
        the middle between that and the slowest is taken, in logarithms.
        """
        if len(side) < 2:
            return math.sqrt(self.slowest * min(1.0 / self._width(side[0]), 1.0))
        reached = np.abs(self.ends[side + int(side[0] < side[1])] - self._middle(side[0])) < _TREND
        runs = side[: max(int(reached.sum()), 2)]
        away = np.array([abs(self._middle(run) - self._middle(runs[0])) for run in runs])
        logs = np.log([self._height(run) for run in runs])
        weights = self.totals[runs] / self.totals[runs].sum()
        away, logs = away - weights @ away, logs - weights @ logs
        return max(float(weights @ (away * logs) / (weights @ away**2)), self.slowest)


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
