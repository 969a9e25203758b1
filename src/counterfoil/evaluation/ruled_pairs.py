"""Pairs of columns that a schema already relates: notes say nothing more about them."""

from __future__ import annotations

from itertools import combinations

from counterfoil.schema import Schema
from counterfoil.schema.expression import Expression


def ruled_pairs(schema: Schema) -> frozenset[frozenset[str]]:
    """Those that stand in one rule, or in one table of impossible cells."""
    columns = {column.name: column for column in schema.synthesized}
    related = [set(zeros.columns) for zeros in schema.zeros]
    for rule in schema.rules:
        related.append(
            {name for text in (rule.condition, rule.then) if text for name in Expression(text, columns).columns}
        )
    return frozenset(frozenset(pair) for names in related for pair in combinations(names, 2))
