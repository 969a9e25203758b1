"""Values that rules name, and that have no code of their own because the schema says otherwise where bins are.

Public: it follows from the schema. A row with such a value gets any value of the bin, and where a rule asks for that
one value, rows that break it are drawn again: hardly any that the rule is about is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

import numpy as np

from counterfoil.schema.instant import Date
from counterfoil.schema.integer import Integer
from counterfoil.schema.named_values import named_values
from counterfoil.schema.real import Real
from counterfoil.schema.schema import Schema
from counterfoil.schema.toml_text import toml_value

_MOST_NAMED = 8


@dataclass(frozen=True)
class SharedValues:
    """Values of a column that rules name by `==`, `!=` or `in`, and that share bins with others.

    Args:
        column: its name.
        text: a sentence with what to write.
        count: how many values.
    """

    column: str
    text: str
    count: int


def shared_values(schema: Schema) -> list[SharedValues]:
    """What rules name and bins hide, in the order of the columns."""
    named: dict[str, set[float]] = {}
    for one in named_values(schema.columns, schema.rules, ()):
        if one.equal:
            named.setdefault(one.column, set()).add(one.number)
    found = []
    for column in schema.synthesized:
        if isinstance(column, Date | Integer | Real) and (
            shared := list(_without_code(column, named.get(column.name, ())))
        ):
            found.append(SharedValues(column.name, _sentence(column.name, shared), len(shared)))
    return found


def _without_code(column: Date | Integer | Real, numbers: Iterable[float]) -> Iterable[float | date]:
    """Those of `numbers` that are values of the column, and of which a bin holds others too."""
    low, high = column.bounds
    within = np.array(sorted(number for number in numbers if low <= number <= high))
    if not len(within):
        return
    lows, highs = (ends[column.codes_of(within)] for ends in column.ranges)
    for number in within[lows < highs].tolist():
        if isinstance(column, Date):
            yield column.day_at(int(number))
        elif isinstance(column, Real):
            if column.rounded(np.array([number]))[0] == number:
                yield number
        elif number.is_integer() and (int(number) - column.lower) % column.step == 0:
            yield int(number)


def _sentence(name: str, values: list[float | date]) -> str:
    listed = [toml_value(value) for value in values]
    if len(values) > _MOST_NAMED:
        listed = [*listed[:_MOST_NAMED], "..."]
    points = ", ".join(listed)
    if len(values) == 1:
        return (
            f"Column {name!r}: rules name {points}, which shares a bin with other values. It comes back as any of "
            f"them, and rows of which a rule asks for it are lost. Give it a bin of its own: `points = [{points}]`."
        )
    return (
        f"Column {name!r}: rules name {points}, which share bins with other values. They come back as any of these, "
        f"and rows of which a rule asks for one are lost. Give them bins of their own: `points = [{points}]`."
    )
