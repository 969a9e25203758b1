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
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from counterfoil.graphical_model.interactions import Interactions, Vector

FEWEST_DIRECTIONS = 50
"""Interactions with fewer directions are believed as measured: so few squares say little of a variance, and of the
few pairs of a wide table that are measured most differ strongly from independence."""

_DOUBT = 0.5
"""Deviations of the sum of squared noise by which the squared distance counts as larger than noise at least."""

_LEAST = 1e-4


def trust(
    interactions: Interactions,
    observed: Vector,
    precisions: Vector,
    margins: Mapping[str, Vector],
    total: float,
    entropy_weight: float,
) -> Vector:
    """By which factor, up to 1, the precision of each interaction is multiplied: float64 [subsets].

    Args:
        interactions: of the measured cliques.
        observed: what the measurements suggest, as shares of the records.
        precisions: float64 [subsets], of the noise in one direction, per squared record.
        margins: positive distributions of single attributes.
        total: the number of records.
        entropy_weight: in records.
    """
    factors = np.ones(len(interactions.subsets))
    for i, part in enumerate(interactions.subsets):
        shape = interactions.shapes[i]
        directions = math.prod(size - 1 for size in shape)
        if len(part) == 1 or directions < FEWEST_DIRECTIONS or not precisions[i]:
            continue
        independent: Vector = np.ones(())
        for name in part:
            independent = np.multiply.outer(independent, margins[name] - 1 / len(margins[name]))
        distance = total**2 * float(np.square(interactions.table(observed, i) - independent).sum())
        noise = directions / precisions[i]
        larger = max(distance - noise, _DOUBT * noise * math.sqrt(2 / directions))
        variance = larger * math.prod(shape) / (total * directions)
        factors[i] = min(max(variance * entropy_weight / total, _LEAST), 1.0)
    return factors
