"""The number of records: exact where it is public, else a noisy count."""

from __future__ import annotations

from counterfoil.curator.account import Account
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.nearest import NearestNeighborHistogram
from counterfoil.geometry.space import Space
from counterfoil.noise.noise import CountNoise


def count_records(curator: Curator, account: Account, space: Space, noise: CountNoise) -> float:
    """The number of records, at least 1: all of them are nearest to a single point."""
    if curator.row_count_is_public:
        return float(max(curator.public_row_count(), 1))
    anywhere = space.embed(space.random(1, curator.randomness.generator()))
    return float(max(account.ask(NearestNeighborHistogram(space, anywhere), noise).values[0], 1))
