"""Asks the curator for noisy marginals, and hands them on as what they are: counts with a known scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

from counterfoil.curator.account import Account
from counterfoil.curator.noise import GaussianNoise, LaplaceNoise
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.marginals.domain import Clique, Domain
from counterfoil.marginals.measurement import NoisyMarginal


def measure(
    account: Account, domain: Domain, cliques: Sequence[Clique], noise: GaussianNoise | LaplaceNoise
) -> list[NoisyMarginal]:
    """All `cliques` in one question with one noise; `scale` is the standard deviation in a cell, in records."""
    query = MarginalCounts(domain, tuple(cliques))
    answer = query.split(account.ask(query, noise))
    scale = cell_deviation(account, query, noise)
    return [NoisyMarginal(clique, counts, scale) for clique, counts in zip(query.cliques, answer, strict=True)]


def cell_deviation(account: Account, query: MarginalCounts, noise: GaussianNoise | LaplaceNoise) -> float:
    """The standard deviation of the noise in each cell of the answer to `query`, in records."""
    if isinstance(noise, LaplaceNoise):
        return math.sqrt(2) * noise.scale(account.sensitivity(query.l1_sensitivity))
    return noise.scale(account.sensitivity(query.l2_sensitivity))


def gaussian_noise(mu_squared: float) -> GaussianNoise:
    """The noise of one question that costs `mu_squared` (never more, whatever the rounding)."""
    return GaussianNoise(1 / math.sqrt(mu_squared) * (1 + 1e-12))
