"""The number of records: exact where it is public, else a noisy count."""

from __future__ import annotations

from dataclasses import dataclass

from counterfoil.accounting.row_counts import require_countable, rows_to_fit
from counterfoil.curator.account import Account
from counterfoil.curator.curator import Curator
from counterfoil.curator.queries.nearest import NearestNeighborHistogram
from counterfoil.geometry.space import Space
from counterfoil.noise.noise import CountNoise


@dataclass(frozen=True)
class RecordCount:
    """How many records there are.

    Args:
        total: the number to calculate with, at least 1: where the noise drowns the count, the rows that are asked for.
        counted: the number as it was counted, which may be negative.
        deviation: its standard deviation; 0 where it is public.
    """

    total: float
    counted: float
    deviation: float


def count_records(
    curator: Curator, account: Account, space: Space, noise: CountNoise, rows: int | None = None
) -> RecordCount:
    """The number of records, asked as a histogram of a single point, to which all of them are nearest.

    Args:
        curator: the records, behind the wall.
        account: the account of the release.
        space: where records are points.
        noise: of the count.
        rows: how many rows the user asks for; None where the count says how many.

    Raises:
        ValueError: before anything is charged, where the number would be noise and `rows` is not given.
    """
    if curator.row_count_is_public:
        known = float(max(curator.public_row_count(), 1))
        return RecordCount(known, known, 0.0)
    query = NearestNeighborHistogram(space, space.embed(space.random(1, curator.randomness.generator())))
    require_countable(account.deviation(query, noise), rows)
    answer = account.ask(query, noise)
    counted = float(answer.values[0])
    return RecordCount(rows_to_fit(counted, answer.deviation, rows), counted, answer.deviation)
