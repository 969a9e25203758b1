"""What noisy counts say together that do not stand out by themselves, where nothing but spikes does.

Each of many cells may hold less than its noise, and all of them a quarter of the records. So no cell is judged alone:
many shapes of the density are tried, each weighed by how well it explains all noisy counts of the cells, and how many
records are left for them. Far values that many records share, such as a largest one, fit no smooth shape: each part of
the cells may hold such a lump too, which is unlikely until its noisy count says so. Post-processing of noisy counts: no
record is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_NARROWEST = 2.0
"""The deviation of the narrowest hump, in cells of mean width."""
_WIDTHS, _PLACES, _MASSES, _REACH = 10, 20, 13, 3.0
"""How many widths and places of humps are tried, and masses up to how many deviations from what is measured."""
_LUMP = 0.05
"""How probable it is, before anything is counted, that a lump lies among the cells."""
_LUMPS = 8
"""The greatest lump that is tried, in deviations of the noise."""
_NEGLIGIBLE = 1e-4
"""Shapes whose weight is less than that part of the largest are dropped."""
_TINY, _MOST = 1e-300, 600.0
"""What is divided by at least, and the greatest number whose exponential is taken."""


@dataclass(frozen=True, eq=False)
class Believed:
    """What is believed of hidden cells.

    Args:
        counts: float64 [m], the mean of the shapes that may be true, and of a lump where one is likely enough.
        cases: float64 [k, m], counts that may be true.
        chances: float64 [k], how probable each is; their sum is 1.
    """

    counts: np.ndarray
    cases: np.ndarray
    chances: np.ndarray

    def error(self, far: np.ndarray) -> float:
        """The root of the mean square of sum(far * counts) around what it is for `counts`, none taken for more than 1.

        Beyond 1, where the error is as large as what it is measured against, all errors are alike.

        Args:
            far: float64 [m], what a record in each cell moves.
        """
        off = np.minimum(np.abs((self.cases - self.counts) @ far), 1.0)
        return float(np.sqrt(self.chances @ off**2))

    def of_cells(self, cells: np.ndarray) -> Believed:
        """What is believed of some of these cells: bool [m]."""
        return Believed(self.counts[cells], self.cases[:, cells], self.chances)

    def beside(self, other: Believed, cells: np.ndarray) -> Believed:
        """Together with what is believed of more records in some of these cells, whatever is true of these.

        One of the two is off at a time, each half of the time and by sqrt(2) of what it is: variances add up.

        Args:
            other: of `cells`.
            cells: bool [m].
        """
        more = np.zeros((len(other.cases) + 1, len(cells)))
        more[:, cells] = np.vstack([other.counts, other.cases])
        both = self.counts + more[0]
        cases = [both + math.sqrt(2) * (self.cases - self.counts), both + math.sqrt(2) * (more[1:] - more[0])]
        return Believed(both, np.concatenate(cases), np.append(self.chances, other.chances) / 2)


@dataclass(frozen=True, eq=False)
class HiddenCells:
    """Cells side by side of which none stands out, on a line.

    Args:
        borders: float64 [m + 1], of the cells, rising.
        sizes: float64 [m], how far from 0 the numbers in each cell lie.
        piece: int64 [m], the piece that each cell is counted in, from 0.
        totals: float64 [pieces], noisy counts.
        noise: float64 [pieces], their standard deviations.
        left: how many records are left for all of these cells, by the number of records and all other counts.
        left_error: the standard deviation of the error in `left`, infinite where the number of records is not known.
        elsewhere: how many records stand out elsewhere.
        others: the sum of the sizes of their numbers.
    """

    borders: np.ndarray
    sizes: np.ndarray
    piece: np.ndarray
    totals: np.ndarray
    noise: np.ndarray
    left: float
    left_error: float
    elsewhere: float
    others: float

    def humps(self, slowest: tuple[float, float]) -> Believed:
        """Where nothing beside them says how dense they are: a hump of any mass, place and width (`humps_between`).

        Args:
            slowest: the least slopes by which the log density falls outward at their left and their right end.
        """
        shapes = humps_between(self.borders, slowest)
        precision = np.array([1 / float((self.noise**2).sum()), self.left_error**-2])
        mass = float(precision @ [self.totals.sum(), self.left if precision[1] else 0.0]) / precision.sum()
        reach = _REACH / math.sqrt(precision.sum())
        masses = np.linspace(max(mass - reach, 0.0), max(mass + reach, reach), _MASSES)[1:]
        return self.weighed((masses[:, None, None] * shapes).reshape(-1, shapes.shape[1]))

    def in_pieces(self, counts: np.ndarray) -> np.ndarray:
        """float64 [k, pieces]: the sums of counts, float64 [k, m], in each piece."""
        return np.add.reduceat(counts, np.flatnonzero(np.diff(self.piece, prepend=-1)), axis=1)

    def weighed(self, shapes: np.ndarray, prior: np.ndarray | float = 0.0) -> Believed:
        """Shapes and lumps beside them, weighed by the normal likelihood of all noisy counts.

        Args:
            shapes: float64 [k, m], counts that may be true.
            prior: float64 [k], the log of how probable each is before anything is counted, but for a constant.
        """
        residuals = (self.totals - self.in_pieces(shapes)) / self.noise
        missing = (self.left - shapes.sum(axis=1)) / self.left_error
        logs = prior - (residuals**2).sum(axis=1) / 2 - missing**2 / 2
        kept = logs >= logs.max() + math.log(_NEGLIGIBLE)
        shapes, residuals, missing = shapes[kept], residuals[kept], missing[kept]
        weights = np.exp(logs[kept] - logs.max())
        size = np.arange(1, _LUMPS + 1)
        added = self.noise[:, None] * size  # [pieces, sizes]
        gained = size * residuals[:, :, None] - size**2 / 2
        gained += (missing[:, None, None] - added / (2 * self.left_error)) * added / self.left_error
        of_lump = np.einsum("k,kpg->pg", weights, np.exp(np.minimum(gained, _MOST)))
        mean = weights @ shapes / weights.sum()
        cells, lumps = np.bincount(self.piece), np.zeros((*of_lump.shape, len(mean)))
        lumps[self.piece, :, np.arange(len(mean))] = added[self.piece] / cells[self.piece][:, None]
        lumps = lumps.reshape(-1, len(mean))
        chances = np.append((1 - _LUMP) * weights, _LUMP / len(lumps) * of_lump.ravel())
        # As in `leverage`: the farther out a lump lies, the more evidence it needs, and noise leaves nothing there.
        usual = (self.others + float(mean @ self.sizes)) / max(self.elsewhere + float(mean.sum()), _TINY)
        leverage = np.maximum(lumps @ self.sizes / lumps.sum(axis=1) / max(usual, _TINY), 1.0)
        careful = chances[len(shapes) :] / leverage
        found = careful.sum() > (1 - _LUMP) * weights.sum()
        counts = mean + careful @ lumps / careful.sum() if found else mean
        return Believed(counts, np.concatenate([shapes, mean + lumps]), chances / chances.sum())


def humps_between(borders: np.ndarray, slowest: tuple[float, float]) -> np.ndarray:
    """float64 [k, m]: humps of any place and width, each with the sum 1.

    Half of the shapes are round, a normal density, and half are pointed, log-linear on both sides.

    Args:
        borders: float64 [m + 1], of cells side by side, rising.
        slowest: the least slopes by which the log density falls outward at the left and the right end.
    """
    length = borders[-1] - borders[0]
    widths = np.geomspace(_NARROWEST, max(length, 2 * _NARROWEST), _WIDTHS)
    places = np.linspace(borders[0], borders[-1], _PLACES)
    place, width = (grid.reshape(-1, 1) for grid in np.meshgrid(places, widths))
    round_ones = _integrals(borders, lambda at: -(((at - place) / width) ** 2) / 2)
    pointed = _integrals(borders, lambda at: -np.abs(at - place) / width)
    ends = np.stack([place - borders[0], borders[-1] - place])
    slopes = np.stack([ends / width**2, np.sign(ends) / width])  # [kinds, ends, shapes, 1]
    surplus = (slopes - np.reshape(slowest, (1, 2, 1, 1))).min(axis=(1, 3)).ravel()
    # Among few cells none may fall fast enough: then those that fall fastest.
    shapes = np.concatenate([round_ones, pointed])[surplus >= min(surplus.max(), 0.0)]
    return np.asarray(shapes / np.maximum(shapes.sum(axis=1, keepdims=True), _TINY))


def _integrals(borders: np.ndarray, log_density: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """float64 [shapes, m]: the integral of each density over each cell, by Simpson's rule."""
    middles = (borders[:-1] + borders[1:]) / 2
    ends, inner = np.exp(log_density(borders)), np.exp(log_density(middles))
    return (ends[:, :-1] + 4 * inner + ends[:, 1:]) * np.diff(borders) / 6
