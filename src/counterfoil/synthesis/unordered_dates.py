"""A sentence for the receipt on dates that no rule orders, such as a discharge before its admission.

Noise knows no order: of two dates whose bins are wide or whose pair was not counted, half of the rows may have the
second one first. Whether the table has such rows, no answer says.

Post-processing: rows of the model, no record is read.
"""

from __future__ import annotations

import numpy as np

from counterfoil.schema.date_order import dates_without_rule, length_kept, order_rule
from counterfoil.schema.instant import Instant
from counterfoil.synthesis.redrawn_rows import TriedRows

_SOME = 0.005
"""The share of rows in the rarer order, from which on it is said."""
_MOST_NAMED = 3
_EVEN = 0.4
"""Of the rows with two dates: where more have the rarer order, noise alone may say which one is rarer."""


def unordered_dates(tried: TriedRows) -> list[str]:
    """The sentence; none where no two dates come in both orders, or a rule names both.

    Args:
        tried: rows of the model.
    """
    found = sorted(
        (
            (share, first, last)
            for one, other in dates_without_rule(tried.schema)
            for share, first, last in [_rarer_order(tried, one, other)]
            if share >= _SOME
        ),
        reverse=True,
    )
    if not found:
        return []
    named = "; ".join(f"{first} before {last} in {share:.1%}" for share, first, last in found[:_MOST_NAMED])
    more = f"; and {len(found) - _MOST_NAMED} more pairs" if len(found) > _MOST_NAMED else ""
    _, last, first = found[0]
    return [
        f"No rule says which of two dates comes first, and noise knows no order: {named}{more} of the rows with both. "
        f"Where the table has no such record, as no discharge before its admission, these rows are impossible: add the "
        f"rule that holds, such as {order_rule(tried.schema, first, last)}, to the schema of a further release"
        f"{length_kept(tried.schema, first, last, _lost(tried, first, last))}."
    ]


def _lost(tried: TriedRows, first: str, last: str) -> str:
    """How many rows have the last date alone, in words; empty where hardly one has."""
    absent, there = (np.isnan(tried.numbers(name)[tried.good]) for name in (first, last))
    share = float((absent & ~there).mean())
    return f"{share:.1%} of the rows more" if share >= _SOME else ""


def _rarer_order(tried: TriedRows, one: str, other: str) -> tuple[float, str, str]:
    """The share of the rows in the rarer order of two dates, and the names in that order.

    Where both orders are about as frequent, it is the one that the table's columns do not have: a discharge mostly
    stands after its admission.
    """
    times = []
    for name in (one, other):
        column = tried.schema[name]
        assert isinstance(column, Instant), "dates and moments alone are compared"
        times.append(tried.numbers(name)[tried.good] * column.unit)
    difference = times[1] - times[0]
    there = ~np.isnan(difference)
    if not there.any():
        return 0.0, one, other
    before, after = float((difference[there] > 0).mean()), float((difference[there] < 0).mean())
    even = min(before, after) >= _EVEN * (before + after)
    return (before, one, other) if before < after and not even else (after, other, one)
