"""Dates whose bins nobody stated, with the bins written out: the days that rules and zeros name are bins of their own.

A rule that names a day could not be kept by rows that are drawn within bins of years, but by chance. All of this
follows from the schema, which is public.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import TypeVar

from counterfoil.schema.column import Column
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.expression import Expression
from counterfoil.schema.instant import Date
from counterfoil.schema.rules import Rule, Zeros
from counterfoil.schema.zone import EPOCH

Item = TypeVar("Item")


def with_days_apart(columns: Sequence[Item], rules: Sequence[Rule], zeros: Sequence[Zeros]) -> tuple[Item | Date, ...]:
    """The columns, of which each date says where its bins are (`Date.in_full`).

    Args:
        columns: of a schema.
        rules: what holds for every record; mistakes in them are left to whoever reads them next.
        zeros: combinations of values that no record has, likewise.
    """
    if not any(isinstance(column, Date) and column.is_undivided for column in columns):
        return tuple(columns)
    known = {column.name: column for column in columns if isinstance(column, Column)}
    named: dict[str, set[date]] = {name: set() for name in known}
    for name, value in (*_in_rules(rules, known), *_in_zeros(zeros)):
        column = known.get(name)
        if isinstance(column, Date) and (day := _day(column, value)) is not None:
            named[name].add(day)
    return tuple(column.in_full(named[column.name]) if isinstance(column, Date) else column for column in columns)


def _in_rules(rules: Iterable[Rule], known: Mapping[str, Column]) -> Iterable[tuple[str, object]]:
    for rule in rules:
        for text in filter(None, (rule.condition, rule.then)):
            try:
                yield from Expression(text, known).constants
            except SchemaError:
                continue


def _in_zeros(zeros: Iterable[Zeros]) -> Iterable[tuple[str, object]]:
    for one in zeros:
        for values in one.values:
            yield from zip(one.columns, values, strict=False)


def _day(column: Date, value: object) -> date | None:
    """The day that a constant states; None where it states none."""
    try:
        return EPOCH.date() + timedelta(days=column.constant(value))
    except SchemaError:
        return None
