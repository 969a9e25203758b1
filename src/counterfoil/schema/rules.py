"""Facts that hold for every record: rules between columns, and lists of impossible values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from counterfoil.schema.column import Column
from counterfoil.schema.errors import SchemaError, did_you_mean
from counterfoil.schema.expression import Expression, Range, Truth

MAX_RULE_CELLS = 4_000_000


@dataclass(frozen=True)
class Rule:
    """`then` holds for every record, or for those where `condition` is true.

    A missing value makes what is compared with it unknown, and a rule is broken only where it is false: a
    record with a missing value satisfies it unless the rule says `is missing`, or asks for the column's word for
    missing (`workclass == "?"`), or is decided without it.
    """

    then: str
    condition: str = ""

    @property
    def text(self) -> str:
        """The rule as one sentence."""
        return f"if {self.condition} then {self.then}" if self.condition else self.then


@dataclass(frozen=True)
class Zeros:
    """Combinations of values of one or two columns that no record has."""

    columns: tuple[str, ...]
    values: tuple[tuple[object, ...], ...]


MOST_PARTS = 100
"""Of a rule that is taken apart: one of more parts is left whole."""


class BoundRule:
    """A rule together with the columns that it names, ready to be evaluated.

    Args:
        rule: as it was stated.
        columns: the schema's, by name.
        expressions: the condition, where there is one, and what then holds; those of the rule where None.
    """

    def __init__(self, rule: Rule, columns: Mapping[str, Column], expressions: Sequence[Expression] | None = None):
        if expressions is None:
            expressions = [Expression(text, columns) for text in (rule.condition, rule.then) if text]
        used = {name for expression in expressions for name in expression.columns}
        self.rule = rule
        self.columns = tuple(name for name in columns if name in used)
        self._known = columns
        self._expressions = expressions

    @property
    def orders_columns(self) -> bool:
        """Whether it says which of two columns is larger."""
        return any(expression.orders_columns for expression in self._expressions)

    def parts(self) -> tuple[BoundRule, ...]:
        """Rules that together are broken by the same records, each of as few columns as its form allows.

        "If a or b then c and d" is broken exactly where one of "if a then c", "if a then d", "if b then c" and "if b
        then d" is, with missing values too. What binds one or two columns becomes zeros of the model, while rows that
        break any other rule are drawn again, which moves the counts. A rule on one or two columns is its only part.
        """
        *condition, then = self._expressions
        if len(self.columns) <= 2:
            return (self,)
        conditions = [[part] for part in condition[0].disjuncts()] if condition else [[]]
        conclusions = then.conjuncts()
        if len(conditions) * len(conclusions) > MOST_PARTS:
            return (self,)
        return tuple(BoundRule(self.rule, self._known, [*one, end]) for one in conditions for end in conclusions)

    def holds(self, table: pa.Table) -> np.ndarray:
        """Boolean [n]: whether each row of decoded values satisfies the rule."""
        ranges = {}
        for name in self.columns:
            numbers = self._known[name].positions(table.column(name))
            ranges[name] = Range(numbers, numbers)
        return np.broadcast_to(~self._truth(ranges).false, (table.num_rows,))

    @cached_property
    def cells(self) -> tuple[np.ndarray, np.ndarray] | None:
        """For rules that bind one or two columns: which cells are impossible, and which need a look at values.

        Boolean arrays shaped by the columns' sizes, in the schema's order. A cell is impossible when no
        values within its bins can satisfy the rule; it is mixed when some can and some may not. None when
        the rule binds more columns, or when there are more than `MAX_RULE_CELLS` cells.
        """
        bound = [self._known[name] for name in self.columns]
        shape = tuple(column.size for column in bound)
        if len(bound) > 2 or np.prod(shape, dtype=float) > MAX_RULE_CELLS:
            return None
        ranges = {}
        for axis, column in enumerate(bound):
            slots = [1] * len(bound)
            slots[axis] = column.size
            ranges[column.name] = Range(*(ends.reshape(slots) for ends in column.ranges))
        truth = self._truth(ranges)
        possible = np.broadcast_to(truth.true | truth.unknown, shape)
        return ~possible, possible & truth.false

    def _truth(self, ranges: Mapping[str, Range]) -> Truth:
        *condition, then = (expression(ranges) for expression in self._expressions)
        return ~condition[0] | then if condition else then


def rows_that_hold(rules: Iterable[BoundRule], table: pa.Table) -> np.ndarray:
    """bool [rows]: which rows of `table` meet all of `rules`."""
    good = np.ones(table.num_rows, dtype=bool)
    for rule in rules:
        good &= rule.holds(table)
    return good


def impossible_cells(zeros: Zeros, columns: Mapping[str, Column]) -> tuple[tuple[str, ...], np.ndarray]:
    """The columns of a list of zeros in the schema's order, and a boolean array of their impossible cells.

    Raises SchemaError for an unknown column, and for a value that shares its bin with others.
    """
    for name in zeros.columns:
        if name not in columns:
            raise SchemaError(f"`zeros`: there is no synthesized column {name!r}.{did_you_mean(name, columns)}")
    if len(set(zeros.columns)) != len(zeros.columns) or len(zeros.columns) not in (1, 2):
        raise SchemaError(f"`zeros`: `columns` must name one or two columns; found {list(zeros.columns)}.")
    impossible = np.zeros([columns[name].size for name in zeros.columns], dtype=bool)
    for values in zeros.values:
        if len(values) != len(zeros.columns):
            raise SchemaError(f"`zeros`: {list(values)} must have one value for each of {list(zeros.columns)}.")
        impossible[tuple(_code(columns[name], value) for name, value in zip(zeros.columns, values, strict=True))] = True
    clique = tuple(name for name in columns if name in zeros.columns)
    return clique, impossible if clique == zeros.columns else impossible.T


_POINTED = ("date", "integer", "real")
"""Kinds of which a value may be given a code of its own."""


def _code(column: Column, value: object) -> int:
    if column.missing_code is not None and column.is_missing_word(value):
        return column.missing_code
    number = column.constant(value)
    lows, highs = column.ranges
    codes = np.flatnonzero((lows == number) & (highs == number))
    if len(codes) != 1:
        may_be_point = column.kind in _POINTED and ((lows <= number) & (number <= highs)).any()
        raise SchemaError(
            f"`zeros`: {value!r} is not a value of column {column.name!r} with a code of its own. "
            + ("Add it to the column's `points`." if may_be_point else "Use a rule instead.")
        )
    return int(codes[0])
