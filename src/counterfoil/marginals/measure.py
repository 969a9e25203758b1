"""Measures marginals: noisy counts with their scale, as the graphical model takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from counterfoil.curator.account import Account
from counterfoil.curator.filter_account import FilterAccount
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.coarsening import Coarsening
from counterfoil.domain.domain import Clique, Domain
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.noise.noise import CountNoise

_SIZE_EXPONENT = 2 / 3
"""Minimizing sum(size / sqrt(budget)) over budgets with a fixed sum gives shares proportional to size ** (2/3)."""

_SMALLEST_SHARE = 0.02


def measure(
    account: Account,
    domain: Domain,
    cliques: Sequence[Clique],
    noise: CountNoise,
    *,
    coarsening: Coarsening | None = None,
) -> list[NoisyMarginal]:
    """All `cliques` in one query with one noise; `scale` is the standard deviation in a cell, in records."""
    query = MarginalCounts(domain, tuple(cliques), coarsening)
    answer = account.ask(query, noise)
    counts = query.split(answer.values)
    return [NoisyMarginal(clique, part, answer.deviation) for clique, part in zip(query.cliques, counts, strict=True)]


def measure_by_size(
    account: FilterAccount, coarsening: Coarsening, estimates: Mapping[Clique, np.ndarray], mu_squared: float
) -> list[NoisyMarginal]:
    """Each clique of `estimates` in a query of its own, larger ones with more of `mu_squared`.

    Args:
        estimates: a model's counts for each clique; its size is the number of cells that exceed the noise.
    """
    domain = coarsening.fine
    deviation = marginal_deviation(account, domain, mu_squared / len(estimates))
    sizes = [float(np.minimum(np.maximum(table, 0.0) / deviation, 1.0).sum()) for table in estimates.values()]
    shares = np.maximum(sizes, 1.0) ** _SIZE_EXPONENT
    shares = np.maximum(shares / shares.sum(), _SMALLEST_SHARE)
    shares /= shares.sum()
    return [
        measure(account, domain, [clique], account.noise(float(mu_squared * share)), coarsening=coarsening)[0]
        for clique, share in zip(estimates, shares, strict=True)
    ]


def marginal_deviation(account: FilterAccount, domain: Domain, mu_squared: float) -> float:
    """The standard deviation in a cell, in records, of one marginal measured at that cost."""
    return account.deviation(MarginalCounts(domain, ((domain.attributes[0],),)), account.noise(mu_squared))
