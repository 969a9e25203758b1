"""What the records of some codes of a column have in common, as rules say it: `work in ('2', '3')`, `age < 18`."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from counterfoil.evaluation.pasted_names import can_be_pasted, can_be_quoted
from counterfoil.schema.boolean import Boolean
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.expression import column_text
from counterfoil.schema.integer import Integer

_MOST_LISTED = 6
"""Values in a condition; one that would need more is hardly one that people know."""


def is_exact(column: Column) -> bool:
    """Whether each code is one value that an expression can name, as it stands between the quotes of a schema.

    `other` and missing cells have no such value, and are named by what they are not.
    """
    if not can_be_pasted(column.name):
        return False
    if isinstance(column, Integer):
        lows, highs = column.ranges
        return bool(np.array_equal(lows, highs, equal_nan=True))
    texts = [column.labels[code] for code in named_codes(column)]
    return isinstance(column, Categorical | Boolean) and all(can_be_quoted(text) and "'" not in text for text in texts)


def named_codes(column: Column) -> range:
    """The codes that have a value, of which `constant` is asked: all but those of `other` and of missing cells."""
    kept = column.size - (column.missing_code is not None)
    return range(kept - (isinstance(column, Categorical) and column.other))


def constant(column: Column, code: int) -> str:
    """The value of a code of a column that `is_exact`, as expressions write it: of 90+ and 007 their numbers."""
    if isinstance(column, Integer):
        return f"{column.ranges[0][code]:.0f}"
    label = column.labels[code]
    is_text = isinstance((column.false, column.true)[code], str) if isinstance(column, Boolean) else True
    return f"'{label}'" if is_text else label


def condition(column: Column, codes: Collection[int], seen: Sequence[int]) -> str:
    """What is true of the records of some codes, and of no others; empty where that is long.

    Args:
        column: one that `is_exact`.
        codes: of it.
        seen: all codes that records have, in order.
    """
    name = column_text(column.name)
    if column.missing_code in codes or column.missing_code in seen:
        missing = f"{name} is missing"
        if [*codes] == [column.missing_code]:
            return missing
        if len(seen) - len(codes) == 1 and column.missing_code not in codes:
            return f"not ({missing})"
    kept = [code for code in seen if code != column.missing_code]
    inside = [code for code in codes if code != column.missing_code]
    stated = _stated(column, inside, [code for code in kept if code not in inside])
    if stated and column.missing_code in codes:
        return f"{name} is missing or {name} {stated}"
    if stated and column.missing_code in seen:
        return f"not ({name} is missing) and {name} {stated}"
    return stated and f"{name} {stated}"


def shown(where: str) -> str:
    """A condition within a sentence; one with a name between backticks stands between quotes, as in a schema."""
    return f'"{where}"' if "`" in where else f"`{where}`"


def _stated(column: Column, inside: list[int], others: list[int]) -> str:
    """What follows the name of the column."""
    if isinstance(column, Integer) and inside and others:
        if max(inside) < min(others):
            return f"< {constant(column, min(others))}"
        if min(inside) > max(others):
            return f">= {constant(column, min(inside))}"
    # No expression names `other`: it is among the codes that are not listed.
    ways = [way for way in ((inside, False), (others, True)) if {*way[0]} <= {*named_codes(column)}]
    listed, negated = min(ways, key=lambda way: len(way[0]))
    if not inside or len(listed) > _MOST_LISTED:
        return ""
    constants = [constant(column, code) for code in listed]
    if len(constants) == 1:
        return f"{'!=' if negated else '=='} {constants[0]}"
    return f"{'not in' if negated else 'in'} ({', '.join(constants)})" if constants else ""
