"""A sentence for the receipt on dates that no rule orders, such as a discharge before its admission.

Noise knows no order: of two dates whose bins are wide or whose pair was not counted, half of the rows may have the
second one first. Whether the table has such rows, no answer says.

Post-processing: rows of the model, no record is read.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from counterfoil.schema import Schema
from counterfoil.schema.instant import Instant
from counterfoil.synthesis.redrawn_rows import TriedRows

_SOME = 0.005
"""The share of rows in the rarer order, from which on it is said."""
_MOST_NAMED = 3


def unordered_dates(tried: TriedRows) -> list[str]:
    """The sentence; none where no two dates come in both orders, or a rule names both.

    Args:
        tried: rows of the model.
    """
    found = sorted(
        (
            (share, first, last)
            for one, other in pairs_without_rule(tried.schema)
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
        f"No rule says which of two dates comes first, and noise knows no order: {named}{more} of the rows. Where the "
        f"table has no such record, as no discharge before its admission, these rows are impossible: add the rule, "
        f"such as {_rule(tried.schema, first, last)}, to the schema of a further release."
    ]


def _rule(schema: Schema, first: str, last: str) -> str:
    """As it is written in a schema; a date and a moment are not compared."""
    one, other = (name if name.isidentifier() else f"`{name}`" for name in (first, last))
    if schema[first].comparable == schema[last].comparable:
        return f'require = "{one} <= {other}"'
    return f'require = "{one} <= {other}" with both declared alike, as dates where days alone matter'


def pairs_without_rule(schema: Schema) -> list[tuple[str, str]]:
    """Each two columns of dates or moments that no rule names together."""
    names = [column.name for column in schema.synthesized if isinstance(column, Instant)]
    bound = [set(rule.columns) for rule in schema.bound_rules]
    return [pair for pair in combinations(names, 2) if not any(set(pair) <= columns for columns in bound)]


def _rarer_order(tried: TriedRows, one: str, other: str) -> tuple[float, str, str]:
    """The share of the rows in the rarer order of two dates, and the names in that order."""
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
    return (before, one, other) if before < after else (after, other, one)
