"""Limited-memory quasi-Newton steps within bounds (Byrd, Lu, Nocedal and Zhu 1995), started again where they get stuck.

scipy's L-BFGS-B ends a search at the first step that does not lower the value, which where bounds become active
happens far from the optimum. A search from the best point, with no memory of earlier curvature, goes on from there.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import Bounds, minimize

from counterfoil.reweighting.program import Vector

_ROUNDING = 1e-14


class _Searched:
    """A function with a memory of its lowest value."""

    def __init__(self, function: Callable[[Vector], tuple[float, Vector]], start: Vector) -> None:
        self.function, self.lowest, self.at, self.evaluations = function, math.inf, start, 0

    def __call__(self, x: Vector) -> tuple[float, Vector]:
        self.evaluations += 1
        value, gradient = self.function(x)
        if value < self.lowest:
            self.lowest, self.at = value, x.copy()
        return value, gradient


def minimize_within(
    function: Callable[[Vector], tuple[float, Vector]],
    start: Vector,
    bounds: Bounds | None,
    *,
    done: Callable[[], bool],
    memory: int,
    max_evaluations: int,
) -> int:
    """Lowers a convex function until `done`, and returns how often it was evaluated.

    Args:
        function: the value and its gradient [n]. What is wanted of the points that it sees, it keeps.
        start: [n], within the bounds.
        bounds: on the variables; None for none.
        done: asked after each step.
        memory: pairs of steps and gradients that are kept.
        max_evaluations: a search begun is allowed a few more.
    """
    searched = _Searched(function, start)

    def stop(intermediate_result: object) -> None:
        if done():
            raise StopIteration

    while (left := max_evaluations - searched.evaluations) > 0:
        before = searched.lowest
        options = {"maxcor": memory, "maxiter": left, "maxfun": left, "ftol": 0.0, "gtol": 0.0}
        minimize(searched, searched.at, jac=True, method="L-BFGS-B", bounds=bounds, callback=stop, options=options)
        if done() or before - searched.lowest <= _ROUNDING * abs(searched.lowest):
            break
    return searched.evaluations
