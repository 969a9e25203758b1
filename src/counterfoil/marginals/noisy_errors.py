"""The error of a finished model, measured with a small part of the budget: error bars rest on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterfoil.curator.account import FilterAccount
from counterfoil.curator.queries.selection import MarginalDistances
from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.error_bars import MarginalBound, NoisyBound
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.marginals.marginal_selection import rounded

_LARGEST = 1_000_000
_MOST_CELLS = 50_000_000
"""Marginals that are larger, or beyond so many cells in all, get no error bars of their own: memory is limited."""


def noisy_bounds(
    account: FilterAccount, model: GraphicalModel, cliques: Sequence[Clique], mu_squared: float
) -> dict[Clique, tuple[MarginalBound, ...]]:
    """Bounds for those of `cliques` that are not too large, small ones first, from one query for all their errors.

    Args:
        account: the account of a Gaussian filter.
        model: the released model.
        cliques: the marginals.
        mu_squared: the budget of the query.
    """
    sizes = np.array([model.domain.size(clique) for clique in cliques], dtype=np.float64)
    order = np.argsort(sizes, kind="stable")
    kept = order[(sizes[order] <= _LARGEST) & (np.cumsum(sizes[order]) <= _MOST_CELLS)]
    asked = tuple(cliques[i] for i in sorted(kept))
    if not asked:
        return {}
    marginals = model.marginals(asked)
    estimates = rounded(marginals, asked)
    answer = account.ask(MarginalDistances(asked, estimates), account.noise(mu_squared))
    drifts = [float(np.abs(table - marginals[clique]).sum()) for clique, table in zip(asked, estimates, strict=True)]
    return {
        clique: (NoisyBound(float(error), answer.scale, drift),)
        for clique, error, drift in zip(asked, answer.values, drifts, strict=True)
    }
