"""The smallest largest error by HiGHS's interior point, for large sparse programs; see `interior_point`.

Its crossover to a vertex is left out: a vertex keeps few of the points. That is an option of the package highspy;
scipy's HiGHS always crosses over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from counterfoil.reweighting.interior_point import InteriorPoint, largest_error, lower_bound, negligible
from counterfoil.reweighting.program import Values, Vector


def highs() -> Any:
    """The module highspy.

    Raises:
        ValueError: where it is not installed.
    """
    try:
        import highspy
    except ImportError as error:
        raise ValueError(
            "This minimax fit is too large for `solver` 'interior_point' and needs the package highspy. Found no such "
            'package. Run: pip install "counterfoil[minimax]", or choose the likelihood fit.'
        ) from error
    return highspy


def solve_with_highs(
    values: Values, targets: Vector, units: Vector, start: Vector, *, tolerance: float = 1e-4
) -> InteriorPoint:
    """The density with the smallest largest error; arguments as in `interior_point.solve`.

    The bound is worked out from the multipliers, not taken from HiGHS, and `start` is returned if it is no worse.

    Raises:
        ValueError: where highspy is not installed.
    """
    package = highs()
    solver = package.Highs()
    for option, value in {
        "output_flag": False,
        "threads": 1,
        "solver": "ipm",
        "run_crossover": "off",
    }.items():
        solver.setOptionValue(option, value)
    solver.passModel(_model(package, values, targets, units))
    solver.run()
    found, functions = solver.getSolution(), len(targets)
    weights = np.maximum(np.asarray(found.col_value)[:-1], 0.0)
    if not weights.sum() > 0:
        weights = start
    weights = weights / weights.sum()
    distance = largest_error(values, targets, units, weights)
    first = largest_error(values, targets, units, start)
    if first <= distance:
        weights, distance = start, first
    prices = np.asarray(found.row_dual)
    bound, multipliers = lower_bound(values, targets, units, -(prices[:functions] + prices[functions:-1]))
    steps = int(solver.getInfo().ipm_iteration_count)
    converged = distance - bound <= max(tolerance * distance, negligible(targets, units))
    return InteriorPoint(weights, distance, multipliers, bound, steps, converged)


def _model(package: Any, values: Values, targets: Vector, units: Vector) -> Any:
    """Variables w [m] and t; rows A w - c t <= b [F], A w + c t >= b [F] and sum w = 1."""
    functions, points = values.shape
    table, column = sparse.csc_array(values), sparse.csc_array(units[:, None])
    whole = sparse.csc_array(np.append(np.ones(points), 0.0)[None, :])
    rows = sparse.vstack([sparse.hstack([table, -column]), sparse.hstack([table, column]), whole], format="csc")
    unbounded = np.full(functions, np.inf)
    program = package.HighsLp()
    program.num_col_, program.num_row_ = points + 1, 2 * functions + 1
    program.col_cost_ = np.append(np.zeros(points), 1.0)
    program.col_lower_, program.col_upper_ = np.zeros(points + 1), np.full(points + 1, np.inf)
    program.row_lower_ = np.concatenate([-unbounded, targets, [1.0]])
    program.row_upper_ = np.concatenate([targets, unbounded, [1.0]])
    program.a_matrix_.format_ = package.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = rows.indptr, rows.indices
    program.a_matrix_.value_ = rows.data
    return program
