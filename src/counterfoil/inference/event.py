"""Events as sets of cells: those in which every record has the event, and those in which some can have it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from counterfoil.inference.pooled_marginal import Patterns
from counterfoil.schema import Schema
from counterfoil.schema.asked import condition_on
from counterfoil.schema.expression import CodeRange, Expression, Truth

EMPTY: Mapping[str, Collection[int]] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Event:
    """A condition on a record, in the language of rules; one that compares a missing value is not met.

    Args:
        schema: the public facts.
        text: the condition.

    Raises:
        SchemaError: for a text that is no condition on the schema's columns.
    """

    schema: Schema
    text: str

    def __post_init__(self) -> None:
        self._expression  # noqa: B018 - refused here, where it is written

    @cached_property
    def _expression(self) -> Expression:
        return condition_on(self.schema, self.text, "An event")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names, in the schema's order."""
        return self.schema.domain.canonical(self._expression.columns)

    def cells(
        self, columns: tuple[str, ...], groups: Patterns, *, passed: Mapping[str, Collection[int]] = EMPTY
    ) -> tuple[np.ndarray, np.ndarray]:
        """bool, shaped by the groups of `columns`, twice: where all records have the event, and where some can.

        Args:
            columns: at least those of the event, in the schema's order.
            groups: the group of each code of each of them.
            passed: by column, codes that are passed over, as if no record had them; each of their groups has others.
        """
        ranges = {}
        for axis, name in enumerate(columns):
            slots = [1] * len(columns)
            slots[axis] = -1
            ranges[name] = CodeRange(*(ends.reshape(slots) for ends in self.schema[name].ranges))
        shape = tuple(len(groups[name]) for name in columns)
        certain, possible = (np.broadcast_to(part, shape) for part in _met(self._expression(ranges)))
        merged = tuple(int(groups[name].max()) + 1 for name in columns)
        if merged == shape:  # groups count up from 0 in the order of the codes, so that these are the codes themselves
            order = np.ix_(*(np.argsort(groups[name]) for name in columns))
            return certain[order], possible[order]
        kept = [
            np.setdiff1d(np.arange(size), [*passed.get(name, ())]) for name, size in zip(columns, shape, strict=True)
        ]
        certain, possible = (part[np.ix_(*kept)] for part in (certain, possible))
        places = np.ix_(*(groups[name][codes] for name, codes in zip(columns, kept, strict=True)))
        everywhere, somewhere = np.ones(merged, dtype=bool), np.zeros(merged, dtype=bool)
        np.logical_and.at(everywhere, places, certain)
        np.logical_or.at(somewhere, places, possible)
        return everywhere, somewhere

    def rows(self, codes: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """bool [rows] twice: the rows that have the event by their codes [rows], and those that can have it."""
        ranges = {}
        for name in self.columns:
            lows, highs = self.schema[name].ranges
            ranges[name] = CodeRange(lows[codes[name]], highs[codes[name]])
        certain, possible = _met(self._expression(ranges))
        return certain, possible


def _met(truth: Truth) -> tuple[np.ndarray, np.ndarray]:
    return truth.true & ~truth.false & ~truth.unknown, truth.true


def group_labels(schema: Schema, name: str, groups: np.ndarray) -> list[str]:
    """A text for each group of a column's codes: `sex = F`, or `race in A, B` where codes were counted together."""
    labels = schema[name].labels
    members = [[labels[code] for code in np.flatnonzero(groups == group)] for group in range(int(groups.max()) + 1)]
    return [f"{name} = {some[0]}" if len(some) == 1 else f"{name} in {', '.join(some)}" for some in members]
