"""What lies beyond 0, where no count stands out there: a tail of what lies on this side, or records of their own.

Balances, changes and returns have numbers on both sides of 0, and those of the smaller side may each be hidden by the
noise of their cells where their sum is not. No tail that falls from the body explains them: on a scale that grows with
the distance from 0 the density rises again on the other side, mostly about as far from 0 as the body lies. So a hump
beyond 0 is weighed against none, by all noisy counts and the records that are left for them. Its mass may be any up to
that of the body, each as probable: a sum that noise alone explains leaves next to nothing there, and one that it does
not explain is kept. Post-processing of noisy counts: no record is read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr, ndtri

from counterfoil.graphical_model.hidden_mass import Believed, HiddenCells, humps_between

_SHIFTS = np.arange(-6.0, 7.0, 3.0)
"""By how many cells of mean width a mirror image of the body is moved."""
_OF_MIRRORS = 0.5
"""How probable it is, before anything is counted, that a hump is a mirror image; all others are smooth."""
_ANY = 0.5
"""How probable it is, before anything is counted, that records of their own lie beyond 0, whose bounds reach there."""
_LIKELY = 0.2
"""How probable that must be for the cells beyond 0 to be measured apart from those on this side."""
_SURE = 0.95
"""From which probability on it is known that there are some, if not how many."""
_MOST = 0.975
"""The quantile of what there may be that is taken for the most."""
_QUANTILES = (np.arange(20) + 0.5) / 20
"""Of the masses that may be true of each shape."""
_NEGLIGIBLE = 1e-4
"""Shapes that are less probable are left out of what may be true."""
_COUNTED = 0.5
"""The least part of a shape in pieces that lie beyond 0 as a whole: other pieces say nothing of it."""
_TINY = 1e-300
_FAR = 1e3
"""Deviations from which on the tail of the normal distribution is exponential to all digits that matter."""


@dataclass(frozen=True, eq=False)
class OtherSide:
    """What is believed of the cells of a run that lie beyond 0.

    Args:
        far: bool [m], which cells of the run do.
        believed: of these cells: how many records there are more than a tail from this side has.
        chance: how probable it is that there are any.
    """

    far: np.ndarray
    believed: Believed
    chance: float

    @property
    def counts(self) -> np.ndarray:
        """float64 [m]: the mean of what is believed, of all cells of the run."""
        counts = np.zeros(len(self.far))
        counts[self.far] = self.believed.counts
        return counts

    @property
    def is_likely(self) -> bool:
        """Whether these cells may well have records of their own, so that they are worth a count of their own."""
        return self.chance > _LIKELY

    @property
    def is_sure(self) -> bool:
        """Whether there are some beyond doubt."""
        return self.chance > _SURE

    @property
    def words(self) -> str:
        """Where these cells lie: `below` or `above` 0."""
        return "below" if self.far[0] else "above"

    @property
    def most(self) -> float:
        """How many records there may be: exceeded with a probability of a fortieth, if there are any."""
        there = self.believed.cases.sum(axis=1) > 0
        if not there.any():
            return 0.0
        masses, chances = self.believed.cases[there].sum(axis=1), self.believed.chances[there]
        order = np.argsort(masses)
        reached = np.cumsum(chances[order])
        return float(masses[order][np.searchsorted(reached, _MOST * reached[-1])])


@dataclass(frozen=True, eq=False)
class Body:
    """How many records lie where on the line of a column, as far as they stand out.

    Args:
        borders: float64 [k + 1], rising.
        totals: float64 [k].
    """

    borders: np.ndarray
    totals: np.ndarray

    @property
    def mass(self) -> float:
        """How many records there are."""
        return float(np.maximum(self.totals, 0.0).sum())

    def mirrored(self, borders: np.ndarray, zero: float) -> np.ndarray:
        """float64 [shifts, m]: mirror images between `borders`, each with the sum 1; none of which nothing lies there.

        Args:
            borders: float64 [m + 1], of cells beyond 0.
            zero: where 0 lies on the line.
        """
        held = np.append(0.0, np.cumsum(np.maximum(self.totals, 0.0)))
        places = 2 * zero - borders + _SHIFTS[:, None]
        images = np.abs(np.diff(np.interp(places, self.borders, held), axis=1))
        sums = images.sum(axis=1, keepdims=True)
        kept = sums[:, 0] > held[-1] / 2
        return np.asarray(images[kept] / sums[kept])


def beyond_zero(
    cells: HiddenCells, far: np.ndarray, body: Body, tails: np.ndarray, prior: np.ndarray, slowest: float
) -> OtherSide:
    """Weighs humps beyond 0 against none, beside tails that fall from this side.

    For one tail and one shape the likelihood is normal in the mass of the hump, and the prior even above 0: its
    posterior is a normal distribution cut off at 0, whose mean and whose evidence have closed forms.

    Args:
        cells: of a run that does not stand out.
        far: bool [m], which of them lie beyond 0: the first ones, or the last ones.
        body: what stands out on this side.
        tails: float64 [t, m], counts of tails.
        prior: float64 [t], the log of how probable each is, but for a constant.
        slowest: the least slope by which the log density falls at the end of the line.
    """
    inside = np.flatnonzero(far)
    leftward, borders = bool(far[0]), cells.borders[inside[0] : inside[-1] + 2]
    ends = (slowest, 0.0) if leftward else (0.0, slowest)
    mirrors = body.mirrored(borders, float(borders[-1] if leftward else borders[0]))
    humps = humps_between(borders, ends)
    usual = np.repeat([_OF_MIRRORS / max(len(mirrors), 1), (1 - _OF_MIRRORS) / len(humps)], [len(mirrors), len(humps)])
    shapes = np.concatenate([mirrors, humps])
    # As in `leverage`: the farther out records lie, the farther they move the mean, and the more evidence they need.
    away = shapes @ cells.sizes[inside] / max(cells.others / max(cells.elsewhere, _TINY), _TINY)
    usual /= np.maximum(away, 1.0)
    whole = np.zeros((len(shapes), len(far)))
    whole[:, inside] = shapes
    # What the tails miss on this side of 0 says nothing of the other: there counts are taken as they are.
    there = cells.in_pieces(far[None, :].astype(np.float64))[0] == cells.in_pieces(np.ones((1, len(far))))[0]
    left = cells.left - float(cells.totals[~there].sum())
    left_error = math.hypot(cells.left_error, float(np.linalg.norm(cells.noise[~there])))
    # In deviations of the noise; the last entry is what the cells beyond 0 lack of the records that are left for them.
    held, of_tails = cells.in_pieces(whole) * there, cells.in_pieces(tails)
    counted = held.sum(axis=1) > _COUNTED
    if not counted.any():
        nothing = np.zeros((1, len(inside)))
        return OtherSide(far, Believed(nothing[0], nothing, np.ones(1)), 0.0)
    shapes, usual, held = shapes[counted], usual[counted], held[counted]
    in_pieces = np.column_stack([held / cells.noise, held.sum(axis=1) / left_error])
    missing = (left - of_tails[:, there].sum(axis=1)) / left_error
    residuals = np.column_stack([(cells.totals - of_tails) / cells.noise, missing])
    deviation = 1 / np.sqrt((in_pieces**2).sum(axis=1))
    found = residuals @ in_pieces.T * deviation**2
    evidence, mass = _cut_at_zero(found / deviation)
    none = prior - (residuals**2).sum(axis=1) / 2
    scale = np.log(deviation / max(body.mass, 1.0)) + np.log(np.maximum(usual, _TINY))
    some = none[:, None] + evidence + scale
    most = max(float(none.max()), float(some.max()))
    weights, without = _ANY * np.exp(some - most), (1 - _ANY) * float(np.exp(none - most).sum())
    chance = float(weights.sum() / (weights.sum() + without))
    mean = chance * ((weights * mass * deviation).sum(axis=0) @ shapes) / max(float(weights.sum()), _TINY)
    return OtherSide(far, _believed(mean, shapes, weights, found, deviation, chance), chance)


def _cut_at_zero(place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of exp(-(x - place)^2 / 2) exp(place^2 / 2) above 0, the log of the integral, and the mean of x."""
    # By the ratio of Mills below 0, which is stable far below; far above, nothing is cut off.
    ratio = erfcx(np.maximum(-place, 0.0) / math.sqrt(2))
    log_above = np.where(place < 0, np.log(ratio / 2), np.maximum(place, 0.0) ** 2 / 2 + log_ndtr(np.maximum(place, 0)))
    upward = np.exp(-(np.maximum(place, 0.0) ** 2) / 2 - log_ndtr(np.maximum(place, 0.0))) / math.sqrt(2 * math.pi)
    below = place + math.sqrt(2 / math.pi) / ratio
    mean = np.where(place < 0, np.where(place < -_FAR, -1 / np.minimum(place, -_FAR), below), place + upward)
    return log_above + math.log(2 * math.pi) / 2, mean


def _believed(
    mean: np.ndarray,
    shapes: np.ndarray,
    weights: np.ndarray,
    found: np.ndarray,
    deviation: np.ndarray,
    chance: float,
) -> Believed:
    """The mean, no hump at all, and quantiles of the mass of each shape, beside the tails that suit it best."""
    of_shape = weights.sum(axis=0)
    kept = np.flatnonzero(of_shape > _NEGLIGIBLE * of_shape.max())
    best = found[weights[:, kept].argmax(axis=0), kept][:, None]
    deviations = deviation[kept][:, None]
    # Of the part above 0 of a normal distribution.
    cut = ndtr(-best / deviations)
    masses = best + deviations * ndtri(np.clip(cut + (1 - cut) * _QUANTILES, _TINY, 1 - 1e-16))
    cases = (np.maximum(masses, 0.0)[:, :, None] * shapes[kept][:, None, :]).reshape(-1, shapes.shape[1])
    probable = np.repeat(of_shape[kept] / of_shape[kept].sum() * chance, len(_QUANTILES)) / len(_QUANTILES)
    return Believed(mean, np.vstack([np.zeros(len(mean)), cases]), np.append(1 - chance, probable))
