"""The table whose marginals are closest to noisy ones: over all tables of n rows, or over weights on the domain.

The closest one is that of Gen_{d, sigma} in Zhou et al. 2024 (Algorithm 1): it minimizes the largest L1 distance over
the noisy marginals. Their brute force tries every table, which tiny domains admit. The same problem
over non-negative weights is a linear program, whose optimum is never worse. Both are post-processing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal

if TYPE_CHECKING:
    from scipy import sparse

MOST_TABLES = 200_000
MOST_CELLS = 10_000
_CHUNK = 4096
_METHODS = ("highs", "highs-ipm")

Zeros = Mapping[Clique, np.ndarray]


def require_enumerable(domain: Domain) -> None:
    """Refuses a domain whose cells can't be listed.

    Raises:
        ValueError: saying how many there are.
    """
    cells = domain.size(domain.attributes)
    if cells > MOST_CELLS:
        raise ValueError(
            f"The domain has {cells:,} cells, too many to list them ({MOST_CELLS:,} at most). Use the estimator "
            "private_pgm, or give columns fewer bins in the schema."
        )


def require_few_tables(domain: Domain, rows: int, zeros: Zeros) -> None:
    """Refuses a number of tables that brute force can't try.

    Raises:
        ValueError: which says neither how many rows nor how many tables there are: whoever reads it may not know.
    """
    require_enumerable(domain)
    cells = len(_possible(domain, zeros))
    tables = math.comb(rows + cells - 1, cells - 1)
    if tables > MOST_TABLES:
        raise ValueError(
            f"There are too many tables of as many rows on {cells:,} cells to try each ({MOST_TABLES:,} at most). Use "
            "the estimator minimax, which finds the best weights without trying."
        )


def closest_table(domain: Domain, measurements: Sequence[NoisyMarginal], *, rows: int, zeros: Zeros) -> GraphicalModel:
    """The table of `rows` rows with the smallest largest L1 distance to the measurements; the first of equals.

    Args:
        domain: the attributes; every one of `measurements` is in its order.
        measurements: at least one.
        rows: at least 1.
        zeros: cells that no record can be in.

    Raises:
        ValueError: when there are too many tables.
    """
    require_few_tables(domain, rows, zeros)
    possible = _possible(domain, zeros)
    sums, noisy, starts = _system(domain, measurements, possible)
    best, smallest = np.zeros(len(possible)), math.inf
    for tables in _tables(len(possible), rows):
        errors = np.abs(sums @ tables.T - noisy[:, None])
        largest = np.add.reduceat(errors, starts, axis=0).max(axis=0)
        at = int(largest.argmin())
        if largest[at] < smallest:
            best, smallest = tables[at].astype(np.float64), float(largest[at])
    return _model(domain, possible, best)


def closest_weights(
    domain: Domain, measurements: Sequence[NoisyMarginal], *, total: float, zeros: Zeros
) -> GraphicalModel:
    """The non-negative weights on the domain, of sum `total`, with the smallest largest L1 distance.

    Variables: the weights w, a bound s on the error of each measured cell, and the largest distance t.

    Args:
        domain, measurements, zeros: as in `closest_table`.
        total: positive.

    Raises:
        ValueError: when the domain has more than 10,000 cells.
        RuntimeError: when neither of two solvers solved the linear program.
    """
    from scipy import sparse

    require_enumerable(domain)
    possible = _possible(domain, zeros)
    sums, noisy, starts = _system(domain, measurements, possible)
    n_weights, n_cells = len(possible), len(noisy)
    each = sparse.identity(n_cells, format="csr")
    group = np.zeros(n_cells, dtype=np.int64)
    group[starts[1:]] = 1
    groups = sparse.csr_matrix((np.ones(n_cells), (group.cumsum(), np.arange(n_cells))))
    within = sparse.block_array(
        [
            [sums, -each, None],
            [-sums, -each, None],
            [None, groups, sparse.csr_matrix(-np.ones((len(starts), 1)))],
        ],
        format="csr",
    )
    limits = np.concatenate([noisy, -noisy, np.zeros(len(starts))])
    whole = sparse.csr_matrix(np.concatenate([np.ones(n_weights), np.zeros(n_cells + 1)])[None, :])
    cost = np.zeros(n_weights + n_cells + 1)
    cost[-1] = 1.0
    program = {"c": cost, "A_ub": within, "b_ub": limits, "A_eq": whole, "b_eq": [total], "bounds": (0, None)}
    return _model(domain, possible, np.maximum(_optimum(program)[:n_weights], 0.0))


def _optimum(program: dict[str, Any]) -> np.ndarray:
    """The solution of a linear program that has one, by whichever solver HiGHS picks or else by interior points.

    Nothing short of the optimum is returned: the gap on the receipt (Zhou et al. 2024, Lemma 3.4) supposes it.
    """
    from scipy.optimize import linprog

    for method in _METHODS:
        solution = linprog(**program, method=method)
        if solution.status == 0:
            return solution.x
    raise RuntimeError(
        f"The linear program for the closest weights was not solved: {solution.message} Use the estimator "
        "private_pgm, or give columns fewer bins in the schema."
    )


def largest_distance(model: GraphicalModel, measurements: Sequence[NoisyMarginal]) -> float:
    """The largest L1 distance to a measurement, in records, which `closest_table` and `closest_weights` minimize."""
    marginals = model.marginals([measured.clique for measured in measurements])
    return max(float(np.abs(measured.counts - marginals[measured.clique]).sum()) for measured in measurements)


def _possible(domain: Domain, zeros: Zeros) -> np.ndarray:
    """The flat indices of the cells that a record can be in."""
    barred = np.zeros(domain.sizes, dtype=bool)
    for clique, impossible in zeros.items():
        shape = [domain[name] if name in clique else 1 for name in domain.attributes]
        barred |= impossible.reshape(shape)
    return np.flatnonzero(~barred.ravel())


def _system(
    domain: Domain, measurements: Sequence[NoisyMarginal], possible: np.ndarray
) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Which cells of the domain [possible] add up to each measured cell, its noisy count, and where each
    marginal starts."""
    from scipy import sparse

    codes = np.unravel_index(possible, domain.sizes)
    parts, noisy = [], []
    for measured in measurements:
        axes, shape = domain.axes(measured.clique), domain.shape(measured.clique)
        cell = np.ravel_multi_index([codes[axis] for axis in axes], shape)
        ones = np.ones(len(possible))
        parts.append(
            sparse.csr_array((ones, (cell, np.arange(len(possible)))), shape=(math.prod(shape), len(possible)))
        )
        noisy.append(measured.counts.ravel())
    starts = np.concatenate([[0], np.cumsum([len(part) for part in noisy])[:-1]])
    return sparse.vstack(parts, format="csr"), np.concatenate(noisy), starts


def _tables(cells: int, rows: int) -> Iterator[np.ndarray]:
    """All ways to put `rows` rows in `cells` cells, int64 [some, cells] at a time: stars and bars."""
    bars = itertools.combinations(range(rows + cells - 1), cells - 1)
    while chunk := list(itertools.islice(bars, _CHUNK)):
        ends = np.array(chunk, dtype=np.int64).reshape(len(chunk), cells - 1)
        edges = np.column_stack([np.full(len(chunk), -1), ends, np.full(len(chunk), rows + cells - 1)])
        yield np.diff(edges, axis=1) - 1


def _model(domain: Domain, possible: np.ndarray, weights: np.ndarray) -> GraphicalModel:
    """One factor over all attributes: the weights themselves."""
    table = np.zeros(math.prod(domain.sizes))
    table[possible] = weights
    with np.errstate(divide="ignore"):
        potential = np.log(table).reshape(domain.sizes)
    return GraphicalModel(domain, {domain.attributes: potential}, float(weights.sum()))
