"""Which of two dates comes first: the pairs that no rule orders, and the rule as it is written in a schema."""

from __future__ import annotations

from itertools import combinations

from counterfoil.schema.expression import column_text
from counterfoil.schema.instant import Instant
from counterfoil.schema.schema import Schema
from counterfoil.schema.toml_text import toml_value


def dates_without_rule(schema: Schema) -> list[tuple[str, str]]:
    """Each two columns of dates or moments that no rule names together."""
    names = [column.name for column in schema.synthesized if isinstance(column, Instant)]
    bound = [set(rule.columns) for rule in schema.bound_rules]
    return [pair for pair in combinations(names, 2) if not any(set(pair) <= columns for columns in bound)]


def order_rule(schema: Schema, first: str, last: str) -> str:
    """As it is written in a schema; a date and a moment are not compared."""
    one, other = column_text(first), column_text(last)
    if schema[first].comparable == schema[last].comparable:
        return f'require = "{one} <= {other}"'
    return f'require = "{one} <= {other}" with both declared alike, as dates where days alone matter'


def length_kept(schema: Schema, first: str, last: str) -> str:
    """Words for the other remedy, which keeps how much lies between the two; empty where they can't be subtracted."""
    if schema[first].comparable != schema[last].comparable:
        return ""
    between = f"`between = {toml_value([first, last])}` in place of {last}"
    return f", or, where lengths matter or are mostly short beside the time that the dates span, count {between}"
