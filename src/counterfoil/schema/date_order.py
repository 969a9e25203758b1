"""Which of two dates comes first: the pairs that no rule orders, and the rule as it is written in a schema."""

from __future__ import annotations

from itertools import combinations

from counterfoil.schema.expression import column_text
from counterfoil.schema.instant import Instant
from counterfoil.schema.schema import Schema
from counterfoil.schema.toml_text import toml_value


def dates_without_rule(schema: Schema) -> list[tuple[str, str]]:
    """Each two columns of dates or moments that no rule names together, and that bounds don't put in one order.

    Copies keep within bounds: a time of day, which is a moment of 1900-01-01, comes before the day of an interview.
    """
    columns = [column for column in schema.synthesized if isinstance(column, Instant)]
    bound = [set(rule.columns) for rule in schema.bound_rules]
    return [
        (one.name, other.name)
        for one, other in combinations(columns, 2)
        if not any({one.name, other.name} <= names for names in bound) and not _ordered_by_bounds(one, other)
    ]


def _ordered_by_bounds(one: Instant, other: Instant) -> bool:
    """Whether any value of one is before any of the other."""
    (low, high), (lower, upper) = ([bound * column.unit for bound in column.bounds] for column in (one, other))
    return high < lower or upper < low


def order_rule(schema: Schema, first: str, last: str) -> str:
    """As it is written in a schema; a date and a moment are not compared."""
    one, other = column_text(first), column_text(last)
    if schema[first].comparable == schema[last].comparable:
        return f'require = "{one} <= {other}"'
    return f'require = "{one} <= {other}" with both declared alike, as dates where days alone matter'


def length_kept(schema: Schema, first: str, last: str, lost: str = "") -> str:
    """Words for the other remedy, which keeps how much lies between the two; empty where they can't be subtracted.

    A time of day and a length may make one of the next day, which no text of a time of day can say.

    Args:
        schema: that declares both.
        first: the date that comes first.
        last: the other one, which has no value then where the first one has none.
        lost: how many have the last one alone, in words; empty where none has.
    """
    ends = schema[first], schema[last]
    if ends[0].comparable != ends[1].comparable or any(isinstance(end, Instant) and end.is_clock for end in ends):
        return ""
    between = f"`between = {toml_value([first, last])}` in place of {last}"
    between += f", which is missing then wherever {first} is ({lost})" if lost else ""
    return f", or, where lengths matter or are mostly short beside the time that the dates span, count {between}"
