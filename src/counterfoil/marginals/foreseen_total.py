"""How far off the number of records will be that noisy marginals imply: known before anything is charged."""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil.accounting.row_counts import require_countable
from counterfoil.curator.account import Account
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.domain import Clique
from counterfoil.noise.noise import CountNoise

Planned = tuple[Sequence[Clique], CountNoise]
"""Marginals that will be measured in one query, and its noise."""


def require_total(curator: Curator, account: Account, planned: Sequence[Planned], rows: int | None) -> None:
    """Refuses a plan whose number of records would be noise, unless the user says how many rows to draw.

    Raises:
        ValueError: as `row_counts.require_countable`.
    """
    if not curator.row_count_is_public:
        require_countable(total_deviation(account, curator, planned), rows)


def total_deviation(account: Account, curator: Curator, planned: Sequence[Planned]) -> float:
    """The standard deviation of `noisy_marginal.estimate_total`, which weighs sums by the inverse of their variances.

    The sum over a marginal of c cells has c times the variance of one cell.
    """
    precision = 0.0
    for cliques, noise in planned:
        deviation = account.deviation(MarginalCounts(curator.domain, tuple(cliques)), noise)
        precision += sum(1 / (curator.domain.size(clique) * deviation**2) for clique in cliques)
    return float(precision**-0.5)
