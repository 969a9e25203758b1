"""The error of a finished model, measured with a small part of the budget: error bars rest on it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.selection import MarginalDistances
from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.classed_model import cliques_of
from counterfoil.graphical_model.error_bars import MarginalBound, NoisyBound
from counterfoil.graphical_model.table_model import TableModel
from counterfoil.marginals.scores import MANY_CANDIDATES, rounded

_AT_ONCE = 1 << 23
"""Cells of marginals that are computed together, 64 MB: with a quarter of it, 200 columns took four times as long."""
_LARGEST = 1_000_000
_MOST_CELLS = 50_000_000
"""Marginals that are larger, or beyond so many cells in all, get no error bars of their own: memory is limited."""


def noisy_bounds(
    account: FilterAccount, model: TableModel, cliques: Sequence[Clique], mu_squared: float
) -> dict[Clique, tuple[MarginalBound, ...]]:
    """Bounds for those of `cliques` that are not too large, small ones first, from one query for all their errors.

    The noise of one error grows with the square root of how many are asked for. Of thousands, whose noise would be
    larger than the table, only those within the model's own cliques are asked for: both are known without the records.

    Args:
        account: the account of a Gaussian filter.
        model: the released model.
        cliques: the marginals.
        mu_squared: the budget of the query.
    """
    if len(cliques) >= MANY_CANDIDATES and _drowned(account, model, len(cliques), mu_squared):
        cliques = _within_the_model(model, cliques)
    sizes = np.array([model.domain.size(clique) for clique in cliques], dtype=np.float64)
    order = np.argsort(sizes, kind="stable")
    kept = order[(sizes[order] <= _LARGEST) & (np.cumsum(sizes[order]) <= _MOST_CELLS)]
    asked = tuple(cliques[i] for i in sorted(kept))
    if not asked:
        return {}
    estimates, drifts = _rounded(model, asked)
    answer = account.ask(MarginalDistances(asked, estimates), account.noise(mu_squared))
    return {
        clique: (NoisyBound(float(error), answer.scale, drift),)
        for clique, error, drift in zip(asked, answer.values, drifts, strict=True)
    }


def _rounded(model: TableModel, cliques: Sequence[Clique]) -> tuple[tuple[np.ndarray, ...], list[float]]:
    """Whole numbers that the model says of each of `cliques`, and how far (L1) they are from its own; not all at once,
    as both together would take twice the memory."""
    estimates, drifts = list[np.ndarray](), list[float]()
    cells = np.cumsum([model.domain.size(clique) for clique in cliques])
    for _, places in itertools.groupby(range(len(cliques)), lambda place: cells[place] // _AT_ONCE):
        part = tuple(cliques[place] for place in places)
        marginals = model.marginals(part)
        whole = rounded(marginals[one] for one in part)
        estimates += whole
        drifts += [float(np.abs(table - marginals[one]).sum()) for one, table in zip(part, whole, strict=True)]
    return tuple(estimates), drifts


def _drowned(account: FilterAccount, model: TableModel, count: int, mu_squared: float) -> bool:
    """Whether the noise of each of `count` errors would be larger than the (noisy) number of records."""
    name = model.domain.attributes[0]
    single = MarginalDistances(((name,),), (np.zeros(model.domain[name], dtype=np.int64),))
    return account.scale(single, account.noise(mu_squared)) * math.sqrt(count) > model.total


def _within_the_model(model: TableModel, cliques: Sequence[Clique]) -> list[Clique]:
    """Those of `cliques` that a clique of the model contains, and all of one attribute."""
    around: dict[str, list[frozenset[str]]] = {}
    for clique in cliques_of(model):
        for name in clique:
            around.setdefault(name, []).append(frozenset(clique))
    return [
        clique
        for clique in cliques
        if len(clique) == 1 or any(other.issuperset(clique) for other in around.get(clique[0], ()))
    ]
