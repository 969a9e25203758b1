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
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.noise import CountNoise

SIZE_EXPONENT = 2 / 3
"""Minimizing sum(size / sqrt(budget)) over budgets with a fixed sum gives shares proportional to size ** (2/3)."""

_SMALLEST_SHARE = 0.02

_STEPS = 32
"""The weight of a marginal with an equal share: rounding then changes half of it by at most 5%."""


def measure(
    account: Account,
    domain: Domain,
    cliques: Sequence[Clique],
    noise: CountNoise,
    *,
    coarsening: Coarsening | None = None,
    weights: Sequence[int] = (),
) -> list[NoisyMarginal]:
    """All `cliques` in one query; `scale` is the standard deviation in a cell, in records: the smaller the weight, the
    larger, and the same for all where there are no weights.
    """
    query = MarginalCounts(domain, tuple(cliques), coarsening, tuple(weights))
    answer = account.ask(query, noise)
    parts = zip(query.cliques, query.split(answer.values), query.each_unit, strict=True)
    laplace = isinstance(noise, LaplaceNoise)
    return [NoisyMarginal(clique, part / unit, answer.deviation / unit, laplace) for clique, part, unit in parts]


def measure_by_size(
    account: FilterAccount, coarsening: Coarsening, estimates: Mapping[Clique, np.ndarray], mu_squared: float
) -> list[NoisyMarginal]:
    """Each clique of `estimates` in a query of its own, larger ones with more of `mu_squared`.

    Args:
        estimates: a model's counts for each clique; its size is the number of cells that exceed the noise.
    """
    domain = coarsening.fine
    deviation = marginal_deviation(account, domain, mu_squared / len(estimates))
    shares = np.array([size_of(table, deviation) for table in estimates.values()]) ** SIZE_EXPONENT
    shares = np.maximum(shares / shares.sum(), _SMALLEST_SHARE)
    shares /= shares.sum()
    return [
        measure(account, domain, [clique], account.noise(float(mu_squared * share)), coarsening=coarsening)[0]
        for clique, share in zip(estimates, shares, strict=True)
    ]


def size_of(table: np.ndarray, deviation: float) -> float:
    """The number of cells that exceed the noise, and of the others the part of it that they have; at least 1."""
    return max(float((np.clip(table, 0.0, deviation) / deviation).sum()), 1.0)


def weights_for(shares: np.ndarray) -> tuple[int, ...]:
    """Whole weights of about the `shares` of one query's budget, of which 1 is an equal one; none where all are."""
    weights = np.maximum(np.rint(_STEPS * np.sqrt(shares)), 1).astype(int)
    weights //= np.gcd.reduce(weights)
    return () if weights.max() == 1 else tuple(map(int, weights))


def marginal_deviation(account: FilterAccount, domain: Domain, mu_squared: float) -> float:
    """The standard deviation in a cell, in records, of one marginal measured at that cost."""
    return account.deviation(MarginalCounts(domain, ((domain.attributes[0],),)), account.noise(mu_squared))
