"""Noise, cells and accuracy of the private signed measure mechanism, and of its hierarchical form.

The mechanism (Algorithm 5 of "Private Evolution Converges", after He, Vershynin, Zhu 2023, arXiv 2302.05552) counts
the records in the cells of a partition, adds noise, projects on probability measures and samples. The private measure
mechanism of the latter paper counts along a binary tree, with noise that shrinks towards the leaves.
Derivations: docs/theory/private_evolution.md, sections 7 and 8. Scales are in counts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve import largest_mu
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.theory.bound import Bound
from counterfoil.theory.complexity import complexity, sampling_error
from counterfoil.theory.private_evolution import Parameter

PAPER = "Gonzalez, Fanti, Ramdas, Private Evolution Converges"
PROOFS = "docs/theory/private_evolution.md"
REPLACE_ONE = NeighboringRelation.REPLACE_ONE


def noise(epsilon: float, delta: float, *, relation: NeighboringRelation = REPLACE_ONE) -> Parameter:
    """The noise on every count: the deviation of a Gaussian, or for delta = 0 the scale of a Laplace distribution.

    Formal guarantee: a replaced record moves two counts by one, l1 sensitivity 2 and l2 sensitivity sqrt 2; an added
    or removed one moves one. The Gaussian is calibrated exactly. The paper's variance log(1/delta) / epsilon^2 is not
    private: at epsilon = 1, delta = 1e-4 its deviation is 3.035 where 4.505 is needed, and its true delta is 4.3e-3.
    """
    budget = Budget(epsilon, delta)
    moved = 2 if relation is REPLACE_ONE else 1
    assumptions = (f"neighbors: {relation.value}", "Gaussian noise" if delta > 0 else "Laplace noise")
    value = math.sqrt(moved) / largest_mu(budget) if delta > 0 else moved / epsilon
    return Parameter(value, assumptions, f"{PROOFS}, section 7; Balle and Wang 2018, Theorem 8")


def n_cells(n: float, epsilon: float, delta: float) -> Parameter:
    """m = n epsilon / sqrt(log(1/delta)) of Theorem H.1 (n epsilon for delta = 0), rounded up.

    Without the diameter that the theorem divides by: m is a number, and both terms of the bound scale with D.
    """
    budget = Budget(epsilon, delta)
    tail = math.sqrt(math.log(1 / delta)) if budget.delta > 0 else 1.0
    value = max(1, math.ceil(n * epsilon / tail))
    return Parameter(value, ("the order of the best number, not its constant",), f"{PAPER}, Theorem H.1")


def theorem_h_1(
    n: float,
    epsilon: float,
    delta: float,
    *,
    cells: int,
    cell_diameter: float,
    dimension: int,
    diameter: float,
    n_samples: int | None = None,
) -> Bound:
    """E W_1(data, synthesis) <= 2 (max diam + m (noise / n) complexity_m) + sampling, replace-one.

    With the exact noise of `noise` (Laplace for delta = 0) and the proven complexity. `n_samples` None leaves out
    sampling: the weighted measure itself. Raises ValueError for sizes and diameters that are not positive.
    """
    scale = noise(epsilon, delta).value
    law: Literal["gaussian", "laplace"] = "gaussian" if delta > 0 else "laplace"
    spread = complexity(cells, dimension=dimension, diameter=diameter, noise=law)
    terms = {"cells": 2 * cell_diameter, "noise": 2 * cells * scale / n * spread.value}
    if n_samples is not None:
        terms["sampling"] = sampling_error(n_samples, dimension=dimension, diameter=diameter).value
    assumptions = ("n is public (replace-one)", f"no cell is wider than {cell_diameter:g}", *spread.assumptions)
    return Bound(terms, diameter, assumptions, f"{PAPER}, Theorem H.1; {spread.source}")


def cells_per_side(n: float, epsilon: float, delta: float, *, dimension: int, side: float = 1.0) -> Parameter:
    """k for the partition of a cube into k^d equal cubes that minimizes Theorem H.1's bound, constants included."""

    width = side * math.sqrt(dimension)

    def error(k: int) -> float:
        bound = theorem_h_1(
            n, epsilon, delta, cells=k**dimension, cell_diameter=width / k, dimension=dimension, diameter=width
        )
        return bound.value

    # The bound falls and then rises; beyond n epsilon cells its noise term is larger than the diameter.
    most = max(1, math.ceil((10 * n * epsilon + 10) ** (1 / dimension)))
    candidates = sorted({round(most ** (step / 60)) for step in range(61)})
    best = min(candidates, key=error)
    return Parameter(best, ("a cube, split into equal cubes",), f"{PAPER}, Theorem H.1, minimized")


def rate(n: float, epsilon: float, delta: float, *, dimension: int) -> Parameter:
    """(sqrt(log(1/delta)) / (n epsilon))^(1/max(2, d)): the order of Theorem H.1, up to logarithms and D."""
    tail = math.sqrt(math.log(1 / delta)) if Budget(epsilon, delta).delta > 0 else 1.0
    value = (tail / (n * epsilon)) ** (1 / max(2, dimension))
    return Parameter(value, ("up to logarithms and constants", "d-dimensional Euclidean"), f"{PAPER}, Theorem H.1")


@dataclass(frozen=True)
class TreePlan:
    """Laplace scales by level, root first (0 where a level is not measured), and the error they promise."""

    scales: tuple[float, ...]
    error: Bound


def tree_plan(n: float, epsilon: float, *, level_diameters: Sequence[float], relation: NeighboringRelation) -> TreePlan:
    """The noise of a binary tree of counts, split over its levels so that the bound on E W_1 is smallest.

    `level_diameters` [depth + 1] are the widest cells of levels 0 (the whole space) to `depth`; level j has 2^j cells.

    Formal guarantee: a replaced record moves two counts by one on every level but the root, whose count is n and
    public, so that sum 2 / b_j = epsilon; an added or removed one moves one count a level, root included, so that
    sum 1 / b_j = epsilon: pure privacy, whatever the data.
    Error: consistency moves at most |lambda_0 - lambda_1| / 2 between two children, over the width of their parent,
    which is 3/4 b_j in the mean; a root that is off by lambda costs its width twice, once to compare and once to
    normalize. The best scales are then proportional to (2^(j-1) width_(j-1))^(-1/2), the form that He, Vershynin and
    Zhu 2023 use. Proof: docs, section 8.
    Raises ValueError for an epsilon or width that is not positive, or widths that grow.
    """
    widths = list(level_diameters)
    if not widths or min(widths) <= 0 or any(b > a for a, b in itertools.pairwise(widths)):
        raise ValueError(f"`level_diameters` must be positive and not grow. Found {widths}.")
    budget = Budget(epsilon)
    moved = 2 if relation is REPLACE_ONE else 1
    weights = [0.75 * 2 ** (level - 1) * widths[level - 1] for level in range(1, len(widths))]
    weights.insert(0, 0.0 if relation is REPLACE_ONE else 2 * widths[0])
    total = math.fsum(math.sqrt(weight) for weight in weights)
    scales = tuple(moved * total / (budget.epsilon * math.sqrt(weight)) if weight else 0.0 for weight in weights)
    terms = {"noise": moved * total**2 / (n * epsilon), "leaves": widths[-1]}
    assumptions = (f"neighbors: {relation.value}", "Laplace noise", "children's errors split evenly, then clipped")
    return TreePlan(scales, Bound(terms, widths[0], assumptions, f"{PROOFS}, section 8"))


def tree_depth(
    n: float, epsilon: float, *, level_diameters: Sequence[float], relation: NeighboringRelation
) -> Parameter:
    """The depth, at most that of `level_diameters`, whose `tree_plan` promises the smallest error."""

    def error(depth: int) -> float:
        widths = level_diameters[: depth + 1]
        return tree_plan(n, epsilon, level_diameters=widths, relation=relation).error.value

    return Parameter(min(range(len(level_diameters)), key=error), ("a binary tree",), f"{PROOFS}, section 8")


def halved_box_diameters(sides: Sequence[float], depth: int) -> tuple[float, ...]:
    """The diameters of the cells of a box whose longest side is halved at every level, levels 0 to `depth`."""
    if not sides or min(sides) <= 0:
        raise ValueError(f"`sides` must be positive lengths. Found {list(sides)}.")
    lengths, diameters = list(sides), [math.hypot(*sides)]
    for _ in range(depth):
        longest = lengths.index(max(lengths))
        lengths[longest] /= 2
        diameters.append(math.hypot(*lengths))
    return tuple(diameters)
