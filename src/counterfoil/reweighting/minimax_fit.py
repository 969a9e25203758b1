r"""The density on a public support whose largest error is smallest: the program of Bojkovic and Loh, Algorithm 1.

It minimizes t subject to |A w - b|_f <= t c_f over densities w. Its optimum is degenerate where noise decides: a cell
that few points reach and whose target is far below 0 sets t near the largest of the noise, about four deviations of
thousands, and every density whose other errors are below that is optimal too. A vertex of the optimal face keeps as few
points as constraints bind, and is far from the records. What is returned is the density nearest to the prior among
those within (1 + slack) times the smallest t (see `densest`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterfoil.graphical_model.outcome import FitOutcome, Status
from counterfoil.reweighting.densest import densest
from counterfoil.reweighting.highs_interior_point import solve_with_highs
from counterfoil.reweighting.interior_point import InteriorPoint, largest_error, negligible, solve
from counterfoil.reweighting.program import Vector, WeightProgram
from counterfoil.threads import on_one_thread

Solver = Literal["interior_point", "highs"]

DENSE_SIZE = 4000
"""Up to this many functions or points, whichever are fewer, dense normal equations are quick enough (128 MB)."""
_BINDING = 1e-6


@dataclass(frozen=True, eq=False)
class MinimaxFit:
    """A density on the support, and how close its largest error is to the smallest.

    Args:
        weights: [m], of sum 1.
        distance: t, the largest of |A w - b|_f / c_f over all functions.
        bound: what no density's t is below; proved by `multipliers`, or by an unreached function.
        binding: int64 [k], the functions that decide the bound, those with the largest multipliers first.
        multipliers: [k], theirs: c^T |multipliers| is at most 1, its terms are shares in the bound, and positive
            signs are averages above their targets.
        unreached: int64 [u], functions that are 0 on the whole support: no weights change their errors |b_f|.
        outcome: why the fit of t ended. Its gap is `distance - bound` in units of t, not in nats, and its goal includes
            the slack.
    """

    weights: Vector
    distance: float
    bound: float
    binding: NDArray[np.int64]
    multipliers: Vector
    unreached: NDArray[np.int64]
    outcome: FitOutcome


@on_one_thread
def fit_minimax(
    program: WeightProgram,
    *,
    units: ArrayLike = 1.0,
    slack: float = 1e-3,
    tolerance: float = 1e-4,
    solver: Solver | None = None,
) -> MinimaxFit:
    """The density nearest to the prior among those whose largest error is the smallest, up to a slack.

    Args:
        program: the averages and the support; neither its scales nor the kind of its noise are used.
        units: c, [F] or one for all; positive. The paper's is 1; `program.scales` counts errors in deviations.
        slack: relative; how far above the smallest t the errors may be, for the sake of denser weights. Positive.
        tolerance: relative; to within which the smallest t is found.
        solver: "interior_point" (ours) or "highs" (the extra `minimax`); by size where it is None.

    Raises:
        ValueError: for parameters that are not positive, and where highspy is needed but not installed.
    """
    for name, value in (("slack", slack), ("tolerance", tolerance)):
        if not (math.isfinite(value) and value > 0):
            raise ValueError(f"`{name}` must be positive and finite. Found {value}.")
    if solver not in (None, "interior_point", "highs"):
        raise ValueError(f"`solver` must be 'interior_point', 'highs' or None. Found {solver!r}.")
    c = np.broadcast_to(np.asarray(units, dtype=np.float64), program.n_functions)
    if not (np.isfinite(c).all() and (c > 0).all()):
        raise ValueError(f"`units` must be positive and finite. Found {c.min()}: leave that function out.")
    reached = program.reached()
    floors = np.where(reached, 0.0, np.abs(program.targets) / c)
    floor = float(floors.max())
    if not reached.any():
        found = InteriorPoint(program.prior, 0.0, np.zeros(program.n_functions), 0.0, 0, True)
        return _fit(program, c, program.prior, found, floors, tolerance)
    inner = program.restricted(reached)
    found = _solve(inner, c[reached], floor, tolerance, solver)
    least = max(found.distance, floor, negligible(program.targets, c))
    weights = densest(inner, least * (1 + slack) * c[reached], found.weights)
    multipliers = np.zeros(program.n_functions)
    multipliers[reached] = found.multipliers
    found = InteriorPoint(found.weights, found.distance, multipliers, found.bound, found.steps, found.converged)
    return _fit(program, c, weights, found, floors, tolerance + slack)


def _solve(program: WeightProgram, c: Vector, floor: float, tolerance: float, solver: Solver | None) -> InteriorPoint:
    """The smallest t over reached functions; the prior is good enough where unreached ones err by more."""
    values, targets = program.values, program.targets
    of_prior = largest_error(values, targets, c, program.prior)
    if of_prior <= floor:
        return InteriorPoint(program.prior, of_prior, np.zeros_like(targets), 0.0, 0, True)
    if solver is None:
        solver = "interior_point" if min(values.shape) <= DENSE_SIZE else "highs"
    if solver == "interior_point":
        return solve(values, targets, c, program.prior, tolerance=tolerance)
    return solve_with_highs(values, targets, c, program.prior, tolerance=tolerance)


def _fit(
    program: WeightProgram, c: Vector, weights: Vector, found: InteriorPoint, floors: Vector, goal: float
) -> MinimaxFit:
    """The result, the bound being the better of the solver's and the unreached functions'."""
    distance = largest_error(program.values, program.targets, c, weights)
    bound, multipliers = found.bound, found.multipliers
    if (floor := float(floors.max())) >= bound:
        worst = int(floors.argmax())
        bound, multipliers = floor, np.zeros_like(floors)
        multipliers[worst] = -np.sign(program.targets[worst]) / c[worst]
    order = np.argsort(-np.abs(multipliers) * c, kind="stable")
    binding = order[: int((np.abs(multipliers) * c > _BINDING).sum())]
    close = distance - bound <= max(goal * distance, 2 * negligible(program.targets, c))
    status = Status.CONVERGED if close else Status.PRECISION
    relative = (distance - bound) / distance if distance > 0 else 0.0
    outcome = FitOutcome(status, gap=distance - bound, relative_gap=relative, goal=goal, evaluations=found.steps)
    unreached = np.flatnonzero(~program.reached())
    return MinimaxFit(weights, distance, bound, binding, multipliers[binding], unreached, outcome)
