"""Asks the curator for noisy marginals, and hands them on as what they are: counts with a known scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from counterfoil.curator.account import Account
from counterfoil.curator.noise import GaussianNoise, LaplaceNoise
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.marginals.coarsening import Coarsening
from counterfoil.marginals.domain import Clique, Domain
from counterfoil.marginals.measurement import NoisyMarginal

_SIZE_EXPONENT = 2 / 3
"""Minimizing sum(size / sqrt(budget)) over budgets with a fixed sum gives shares proportional to size ** (2/3)."""

_SMALLEST_SHARE = 0.02


def measure(
    account: Account,
    domain: Domain,
    cliques: Sequence[Clique],
    noise: GaussianNoise | LaplaceNoise,
    *,
    coarsening: Coarsening | None = None,
) -> list[NoisyMarginal]:
    """All `cliques` in one question with one noise; `scale` is the standard deviation in a cell, in records."""
    query = MarginalCounts(domain, tuple(cliques), coarsening)
    answer = query.split(account.ask(query, noise))
    scale = cell_deviation(account, query, noise)
    return [NoisyMarginal(clique, counts, scale) for clique, counts in zip(query.cliques, answer, strict=True)]


def measure_by_size(
    account: Account, coarsening: Coarsening, estimates: Mapping[Clique, np.ndarray], mu_squared: float
) -> list[NoisyMarginal]:
    """Each clique of `estimates` in a question of its own, larger ones with more of `mu_squared`.

    Args:
        estimates: what a model says of each clique; its size is the number of cells that stand out of the noise.
    """
    domain = coarsening.fine
    deviation = marginal_deviation(account, domain, mu_squared / len(estimates))
    sizes = [float(np.minimum(np.maximum(table, 0.0) / deviation, 1.0).sum()) for table in estimates.values()]
    shares = np.maximum(sizes, 1.0) ** _SIZE_EXPONENT
    shares = np.maximum(shares / shares.sum(), _SMALLEST_SHARE)
    shares /= shares.sum()
    return [
        measure(account, domain, [clique], gaussian_noise(float(mu_squared * share)), coarsening=coarsening)[0]
        for clique, share in zip(estimates, shares, strict=True)
    ]


def marginal_deviation(account: Account, domain: Domain, mu_squared: float) -> float:
    """The standard deviation in a cell, in records, of one marginal measured at that cost."""
    one = MarginalCounts(domain, ((domain.attributes[0],),))
    return cell_deviation(account, one, gaussian_noise(mu_squared))


def cell_deviation(account: Account, query: MarginalCounts, noise: GaussianNoise | LaplaceNoise) -> float:
    """The standard deviation of the noise in each cell of the answer to `query`, in records."""
    if isinstance(noise, LaplaceNoise):
        return math.sqrt(2) * noise.scale(account.sensitivity(query.l1_sensitivity))
    return noise.scale(account.sensitivity(query.l2_sensitivity))


def gaussian_noise(mu_squared: float) -> GaussianNoise:
    """The noise of one question that costs `mu_squared` (never more, whatever the rounding)."""
    return GaussianNoise(1 / math.sqrt(mu_squared) * (1 + 1e-12))
