"""Tables that are too wide for a method: refused by arithmetic, before anything is asked or charged."""

from __future__ import annotations

import math

from counterfoil.domain.domain import Domain
from counterfoil.domain.workload import Workload

MOST_GIGABYTES = 8.0
"""More memory than this is not taken for scoring candidates."""

_BYTES_PER_CANDIDATE = 1_500
"""Measured: names, an estimate, its exact counts and scores, for the fewest cells that a pair may have."""

_NANOSECONDS_PER_CHOICE = 50
_NANOSECONDS_PER_ROUND = 30_000
"""Measured: what each candidate takes in a choice, and where estimates are made and counted anew."""


def require_width(method: str, domain: Domain, workload: Workload | int, *, choices: int, rounds: int) -> None:
    """Refuses a table whose candidates would not fit in memory, however many of their values are merged.

    Args:
        method: its name.
        domain: the released domain.
        workload: the marginals to choose from, or their order.
        choices: how often all candidates are scored.
        rounds: how often their estimates are made anew.

    Raises:
        ValueError: with the numbers of columns and candidates, memory and time, and what would do.
    """
    columns = len(domain.attributes)
    candidates = math.comb(columns, min(workload, columns)) if isinstance(workload, int) else len(workload.weights)
    gigabytes = candidates * _BYTES_PER_CANDIDATE / 1e9
    if gigabytes <= MOST_GIGABYTES:
        return
    hours = candidates * (choices * _NANOSECONDS_PER_CHOICE + rounds * _NANOSECONDS_PER_ROUND) / 3.6e12
    widest = math.isqrt(int(2 * MOST_GIGABYTES * 1e9 / _BYTES_PER_CANDIDATE))
    raise ValueError(
        f"The method {method!r} chooses among combinations of columns, of which at most {MOST_GIGABYTES:g} GB may be "
        f"scored. Found {columns:,} columns with {candidates:,} combinations, which take at least {gigabytes:,.0f} GB "
        f"and about {max(hours, 0.1):,.1f} hours: synthesize at most {widest:,} columns and their pairs, measure named "
        f"combinations by 'direct', or use 'independent', which needs {sum(domain.sizes):,} cells."
    )
