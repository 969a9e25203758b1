r"""How far the noisy interactions of a fit are believed: as far as they are larger than their noise.

Near independence a weight w of the entropy acts on a model of N records as if each cell, of which e records are
expected, were normal about that with the variance (N / w) e. One weight for all interactions is far too small for
those that hardly differ from independence: of a pair with hundreds of cells the model then follows the noise, and its
rows are further off than if nothing had been measured. What was measured says how large each interaction is.

An interaction of A with d = prod(n_i - 1) directions, measured with the precision w_A in each, has a squared distance
from that of independent columns with the mean

    d / w_A + v N d / cells,

the second term being the trace of diag(v e), of which the mean over the cells is v N / cells, in those d directions.
That gives an estimate of v, and where v is less than N / w, the interaction's precision is multiplied by v w / N: the
posterior mean of a cell that is about independent is then what the estimated variance makes it (empirical Bayes by the
method of moments; Efron and Morris, "Stein's estimation rule and its competitors", 1973). Precisions shrink, not the
noisy counts, so that other marginals may still move the cells. Post-processing: it follows from noisy answers.

Of ordered columns, the same is asked of the smooth directions of an interaction and of the rough ones, each by itself
(`smooth_directions`): relations of numbers are smooth, and noise, which is as large in all directions, does not hide
them there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.graphical_model.interactions import Interactions, Vector
from counterfoil.graphical_model.smooth_directions import SmoothDirections, smooth_directions

FEWEST_DIRECTIONS = 50
"""Interactions with fewer directions are believed as measured: so few squares say little of a variance, and of the
few pairs of a wide table that are measured most differ strongly from independence."""

FEWEST_OF_ORDERED = 16
"""The same where all columns are ordered: rough directions of two numbers rarely say much."""

_FEWEST_TOGETHER = 2
"""Directions that say how large they are; a single one is believed as measured, which is the smoothest: of pairs that
are chosen to be measured most have something there."""

_DOUBT = 0.5
"""Deviations of the sum of squared noise by which the squared distance counts as larger than noise at least."""

_LEAST = 1e-4


@dataclass(frozen=True, eq=False)
class Trust:
    """By which factors, up to 1, the precision of each interaction is multiplied.

    Args:
        factors: float64 [subsets]: in all directions, or in the rough ones alone.
        smooth: by subset, its smooth directions, and the factors in these.
    """

    factors: Vector
    smooth: Mapping[int, tuple[SmoothDirections, Vector]]


@dataclass(frozen=True)
class _Variance:
    """What is known of one interaction besides its squares.

    Args:
        precision: of the noise in one direction, per squared record.
        cells: of its table.
        total: the number of records.
        entropy_weight: in records.
    """

    precision: float
    cells: int
    total: float
    entropy_weight: float

    def factor(self, squares: float, directions: float) -> float:
        """Of some directions, from the sum of their squared distances from independence, in squared records."""
        noise = directions / self.precision
        larger = max(squares - noise, _DOUBT * noise * math.sqrt(2 / directions))
        variance = larger * self.cells / (self.total * directions)
        return min(max(variance * self.entropy_weight / self.total, _LEAST), 1.0)


def trust(
    interactions: Interactions,
    observed: Vector,
    precisions: Vector,
    margins: Mapping[str, Vector],
    total: float,
    entropy_weight: float,
    ordered: Mapping[str, int],
) -> Trust:
    """How far the interactions of a fit are believed.

    Args:
        interactions: of the measured cliques.
        observed: what the measurements suggest, as shares of the records.
        precisions: float64 [subsets], of the noise in one direction, per squared record.
        margins: positive distributions of single attributes.
        total: the number of records.
        entropy_weight: in records.
        ordered: by attribute, how many of its leading codes are in order; none where it is left out.
    """
    factors, smooth = np.ones(len(interactions.subsets)), dict[int, tuple[SmoothDirections, Vector]]()
    for i, part in enumerate(interactions.subsets):
        shape = interactions.shapes[i]
        directions = float(math.prod(size - 1 for size in shape))
        if len(part) == 1 or directions < FEWEST_OF_ORDERED or not precisions[i]:
            continue
        found = smooth_directions(part, margins, ordered)
        if directions < FEWEST_DIRECTIONS and (found is None or not found.all_ordered):
            continue
        variance = _Variance(float(precisions[i]), math.prod(shape), total, entropy_weight)
        distance = total * (interactions.table(observed, i) - _independent(part, margins))
        squares = float(np.square(distance).sum())
        if found is not None:
            parts = np.square(found.coefficients(distance))
            smooth[i] = found, _factors_of_bands(found, parts, variance)
            squares -= float(parts.sum())
            directions -= float(found.dimensions.sum())
        if directions >= _FEWEST_TOGETHER:
            factors[i] = variance.factor(squares, directions)
    return Trust(factors, smooth)


def _independent(part: Sequence[str], margins: Mapping[str, Vector]) -> Vector:
    """The interaction of independent columns."""
    table: Vector = np.ones(())
    for name in part:
        table = np.multiply.outer(table, margins[name] - 1 / len(margins[name]))
    return table


def _factors_of_bands(directions: SmoothDirections, squares: Vector, variance: _Variance) -> Vector:
    """One factor for each band."""
    factors = np.ones(directions.bands.shape)
    for band in np.unique(directions.bands):
        inside = directions.bands == band
        count = float(directions.dimensions[inside].sum())
        if count >= _FEWEST_TOGETHER:
            factors[inside] = variance.factor(float(squares[inside].sum()), count)
    return factors
