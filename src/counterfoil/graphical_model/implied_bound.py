"""What bounds on smaller marginals imply for one that nothing bounds by itself: three columns from their pairs.

Let q be the model's shares of the cells, and p the real ones, of which every known marginal S of the clique differs
from the model's by at most f_S in L1. No cell of such a marginal differs by more than f_S / 2, because both sum to 1.
So p is at most U, the least over all S of the model's share of the cell's projection plus f_S / 2. The distance is
twice the sum of max(p - q, 0). This function of p is convex, so that on [0, U] it lies below the line through its ends:

    max(p - q, 0) <= p max(U - q, 0) / U.

The sum of the right-hand sides is linear in p, and its largest value over all p with the known marginals is a linear
program. For three balanced, independent columns of two values the bound is 1 of 2, which a parity attains.

With too many cells for a program, one S after the other bounds the sum alone. Let p have the model's marginal S: then
each of its cells shares its mass among the cells over it, those of the greatest weight first, each up to U. The real
marginal S moves at most f_S / 2 of the mass elsewhere, where no weight is above 1, so that f_S / 2 is added.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.error_bars import UNBOUNDED, ErrorBar, ErrorBars
from counterfoil.graphical_model.table_model import TableModel

if TYPE_CHECKING:
    from scipy import sparse

MOST_CELLS = 20_000
"""Of a marginal that a program is solved for."""

_MOST_SORTED = 2_000_000
"""Of a larger one, which is bounded from one known marginal after the other."""

_SLACK = 1e-6
"""For the solver's tolerances."""

_SOURCE = "the bounds on {}, and what they leave possible"
_VAIN = "the bounds on {}, which leave any difference possible"


def implied_bar(bars: ErrorBars, model: TableModel, attributes: Iterable[str], beta: float) -> ErrorBar:
    """The bound on the marginal of `attributes` from itself, or else from the marginals within it.

    Never below the bounds on its columns and pairs: `ErrorBars.raised`.

    Args:
        bars: what the release bounds.
        model: its model, on the same domain.
        attributes: the marginal.
        beta: the probability that the bound fails; shared equally between the marginals within it and the number of
            records.

    Raises:
        ValueError: as `ErrorBars.bar`.
    """
    direct = bars.raised(bars.bar(attributes, beta))
    clique = direct.attributes
    if direct.fraction < 2 or len(clique) < 2:
        return direct
    within = _within(bars, clique)
    if not within:
        return direct
    known = [one for one in within if bars.bar(one, beta).fraction < 2]
    # What was counted is named even where it says nothing: more budget would help there, and other counts need not.
    counted = direct.source != UNBOUNDED
    vain = direct if counted else replace(direct, source=_VAIN.format(_named(_largest(known or within))))
    if not known or bars.domain.size(clique) > _MOST_SORTED:
        return vain
    largest = _largest(known)
    share = beta / (len(largest) + 1)  # one for the number of records, where it is private
    narrower = [bars.bar(one, share) for one in largest]
    fraction = _fraction(model, clique, [(bar.attributes, bar.fraction) for bar in narrower])
    if fraction >= 2:
        return vain
    source = _SOURCE.format(_named(largest))
    return bars.raised(ErrorBar(clique, beta, _records(bars, fraction, share), fraction, source))


def _largest(cliques: Sequence[Clique]) -> list[Clique]:
    """Those that no other one contains."""
    return [one for one in cliques if not any(set(one) < set(other) for other in cliques)]


def _named(cliques: Sequence[Clique]) -> str:
    return "; ".join(" and ".join(one) for one in cliques)


def _within(bars: ErrorBars, clique: Clique) -> list[Clique]:
    """The subsets of the clique that a bounded marginal contains."""
    bounded = [set(one) for one in bars.bounds]
    sizes = range(1, len(clique))
    subsets = (one for size in sizes for one in itertools.combinations(clique, size))
    return [one for one in subsets if any(set(one) <= other for other in bounded)]


def _fraction(model: TableModel, clique: Clique, known: Sequence[tuple[Clique, float]]) -> float:
    """The largest L1 distance that is consistent with `known`: cliques and the L1 errors of their shares."""
    shares = model.marginal(clique) / model.total
    most = np.ones(shares.shape)
    for one, error in known:
        part = shares.sum(axis=tuple(axis for axis, name in enumerate(clique) if name not in one), keepdims=True)
        most = np.minimum(most, part + error / 2)
    weights = np.divide(np.maximum(most - shares, 0), most, out=np.zeros(shares.shape), where=most > 0)
    if shares.size <= MOST_CELLS:
        largest = _largest_sum(weights, shares, most, clique, known)
    else:
        largest = min(_sum_from_one(weights, shares, most, clique, one) for one in known)
    return float(min(2 * largest + _SLACK, 2.0))


def _sum_from_one(
    weights: np.ndarray, shares: np.ndarray, most: np.ndarray, clique: Clique, one: tuple[Clique, float]
) -> float:
    """A bound on the largest sum of weights times p, over shares p <= most that are close to the model's in `one`."""
    names, error = one
    axes = [clique.index(name) for name in names]
    rest = [axis for axis in range(len(clique)) if axis not in axes]
    rows = math.prod(shares.shape[axis] for axis in axes)
    by_row, limits, mass = (
        part.transpose(axes + rest).reshape(rows, -1) for part in (weights, np.broadcast_to(most, shares.shape), shares)
    )
    order = np.argsort(-by_row, axis=1)
    sorted_weights, sorted_limits = (np.take_along_axis(part, order, axis=1) for part in (by_row, limits))
    before = np.cumsum(sorted_limits, axis=1) - sorted_limits
    filled = np.clip(mass.sum(axis=1, keepdims=True) - before, 0, sorted_limits)
    return float((sorted_weights * filled).sum()) + error / 2


def _largest_sum(
    weights: np.ndarray, shares: np.ndarray, most: np.ndarray, clique: Clique, known: Sequence[tuple[Clique, float]]
) -> float:
    """The largest sum of weights times p, over shares p of the cells whose marginals are close to the model's."""
    from scipy import sparse
    from scipy.optimize import linprog

    cells = shares.size
    rows, limits, columns = [], [], cells
    for one, error in known:
        projection = _projection(shares.shape, [clique.index(name) for name in one])
        target = projection @ shares.ravel()
        size = len(target)
        apart = sparse.hstack([sparse.csr_matrix((size, columns - cells)), -sparse.identity(size)])
        for sign in (1.0, -1.0):
            rows.append(sparse.hstack([sign * projection, apart]))
            limits.append(sign * target)
        rows.append(sparse.csr_matrix((np.ones(size), (np.zeros(size, int), np.arange(columns, columns + size)))))
        limits.append(np.array([error]))
        columns += size
    padded = [sparse.hstack([row, sparse.csr_matrix((row.shape[0], columns - row.shape[1]))]) for row in rows]
    bounds = np.column_stack([np.zeros(columns), np.append(most.ravel(), np.full(columns - cells, np.inf))])
    solved = linprog(
        -np.append(weights.ravel(), np.zeros(columns - cells)),
        A_ub=sparse.vstack(padded),
        b_ub=np.concatenate(limits),
        A_eq=sparse.csr_matrix((np.ones(cells), (np.zeros(cells, int), np.arange(cells))), shape=(1, columns)),
        b_eq=[1.0],
        bounds=bounds,
        method="highs",
    )
    return -solved.fun if solved.status == 0 else 1.0


def _projection(shape: tuple[int, ...], axes: Sequence[int]) -> sparse.csr_matrix:
    """The matrix that sums the cells of `shape` over all axes but `axes`."""
    from scipy import sparse

    places = np.indices(shape).reshape(len(shape), -1)[list(axes)]
    onto = np.ravel_multi_index(tuple(places), [shape[axis] for axis in axes])
    cells = math.prod(shape)
    return sparse.csr_matrix((np.ones(cells), (onto, np.arange(cells))))


def _records(bars: ErrorBars, fraction: float, beta: float) -> float:
    """The same in records: of at most n real ones, n from the noisy count, and the difference of the totals."""
    slack = bars.counting_error(beta)
    ends = (max(bars.counted - slack, 0.0), bars.counted + slack)
    return fraction * ends[1] + max(abs(end - bars.total) for end in ends)
