"""Values that rules and zeros name: days and numbers that get codes of their own where nobody says where bins are.

A rule that names a value could not be kept by rows that are drawn within wide bins, but by chance. All of this follows
from the schema, which is public.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from counterfoil.schema.column import Column
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.expression import Expression
from counterfoil.schema.instant import Date
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real
from counterfoil.schema.rules import Rule, Zeros

Item = TypeVar("Item")


@dataclass(frozen=True)
class NamedValue:
    """A constant that rules or zeros compare with a column.

    Args:
        column: its name.
        number: the constant as rules read it (`Column.constant`).
        equal: whether equality is asked, and not only on which side of it values lie.
    """

    column: str
    number: float
    equal: bool


def named_values(columns: Iterable[object], rules: Iterable[Rule], zeros: Iterable[Zeros]) -> list[NamedValue]:
    """What rules and zeros name; mistakes in them are left to whoever reads them next.

    Args:
        columns: of a schema, of which those that have codes may be named.
        rules: what holds for every record.
        zeros: combinations of values that no record has.
    """
    known = {column.name: column for column in columns if isinstance(column, Column)}
    return [*_in_rules(rules, known), *_in_zeros(zeros, known)]


def without_idle_points(columns: Sequence[Item]) -> tuple[Item | Real, ...]:
    """The columns, without points of reals that leave their bin no other number (`Real.without_idle_points`)."""
    return tuple(column.without_idle_points() if isinstance(column, Real) else column for column in columns)


def with_codes_of_their_own(
    columns: Sequence[Item], rules: Sequence[Rule], zeros: Sequence[Zeros]
) -> tuple[Item | Date | Integer | Real, ...]:
    """The columns, with what rules and zeros name among the `points` of dates and numbers whose bins nobody states.

    Dates say in full where their bins are (`Date.in_full`).
    """
    if not any(isinstance(column, Date | Integer | Real) and column.is_undivided for column in columns):
        return tuple(columns)
    named: dict[str, list[float]] = {}
    for one in named_values(columns, rules, zeros):
        named.setdefault(one.column, []).append(one.number)
    return tuple(
        column.in_full(named.get(column.name, ())) if isinstance(column, Date | Integer | Real) else column
        for column in columns
    )


def _in_rules(rules: Iterable[Rule], known: Mapping[str, Column]) -> Iterable[NamedValue]:
    for rule in rules:
        for text in filter(None, (rule.condition, rule.then)):
            try:
                yield from (NamedValue(*one) for one in Expression(text, known).compared)
            except SchemaError:
                continue


def _in_zeros(zeros: Iterable[Zeros], known: Mapping[str, Column]) -> Iterable[NamedValue]:
    for one in zeros:
        for values in one.values:
            for name, value in zip(one.columns, values, strict=False):
                try:
                    yield NamedValue(name, known[name].constant(value), True)
                except (KeyError, SchemaError):
                    continue
