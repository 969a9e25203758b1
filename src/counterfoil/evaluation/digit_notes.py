"""Whole numbers that are the first or the last digits of another column in every record, such as an hour of 1745, or
the group of an occupation's code: NOT PRIVATE.

A copy draws both, and in hardly a row are they the digits of the other one. A derived column keeps to it, costs
nothing, and leaves the budget to the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.kept_columns import kept_columns
from counterfoil.evaluation.pasted_names import pasted
from counterfoil.evaluation.stored_digits import as_stored
from counterfoil.evaluation.sum_notes import FEWEST, MOST_COLUMNS, missing_apart, numbers_of
from counterfoil.schema import Schema
from counterfoil.schema.column import Column
from counterfoil.schema.expression import column_text
from counterfoil.schema.integer import Integer

_POWERS = (10, 100, 1000, 10_000, 100_000, 1_000_000)
_SIGNS = ("//", "%")
_SCREENED = 400
"""Records that all pairs of columns are looked at in, and of which few are left for the others."""


@dataclass
class _Relation:
    """A column that is perhaps the first digits of another one, "//", or the last ones, "%".

    Args:
        target: the place of the column that follows.
        source: that of the column which it follows from.
        sign: "//" or "%".
        power: of ten.
        evidence: records that tell it from chance.
        apart: records that have the one column and miss the other.
    """

    target: int
    source: int
    sign: str
    power: int
    evidence: int = 0
    apart: int = 0

    def add(self, numbers: np.ndarray) -> bool:
        """Whether records, float64 [columns, records] with NaN where missing, allow it."""
        target, source = numbers[self.target], numbers[self.source]
        self.apart += int((np.isfinite(target) ^ np.isfinite(source)).sum())
        known = np.isfinite(target) & np.isfinite(source)
        target, source = target[known], source[known]
        telling = target[source >= self.power]
        self.evidence += int((np.diff(telling) != 0).sum())
        return np.array_equal(_digits(source, self.sign, self.power), target)


class DigitCounts:
    """Which columns of whole numbers were the digits of which others so far, batch by batch.

    Records that miss one of the two say nothing. Numbers are those of the table, before they are clamped.
    """

    def __init__(self, schema: Schema):
        columns = {column.name: column for column in schema.synthesized}
        names = pasted(name for name, column in columns.items() if isinstance(column, Integer))
        self._columns: Mapping[str, Column] = columns
        self._names = names if 2 <= len(names) <= MOST_COLUMNS else []
        self._bound = [set(rule.columns) for rule in schema.bound_rules]
        self._kept = kept_columns(schema)
        self._left: list[_Relation] | None = None

    def add(self, batch: RawBatch) -> None:
        """Looks at the records of a batch."""
        if not self._names or not batch.rows:
            return
        numbers = numbers_of(batch, self._names)
        if self._left is None:
            self._left = _candidates(numbers)
        self._left = [relation for relation in self._left if relation.add(numbers)]

    def notes(self) -> Iterator[ColumnNote]:
        """One for each column that is the digits of another one, by no chance and by no rule that names both."""
        said: set[int] = set()
        for relation in sorted(self._left or [], key=lambda one: (one.apart, one.source)):
            name, source = self._names[relation.target], self._names[relation.source]
            is_known = name in self._kept or any({name, source} <= bound for bound in self._bound)
            if relation.target in said or relation.evidence < FEWEST or is_known:
                continue
            plain = f"{column_text(source)} {relation.sign} {relation.power}"
            if text := as_stored(plain, self._columns[name], self._columns, 0):
                said.add(relation.target)
                said_so = _text(relation.sign, source, text) + missing_apart(relation.apart)
                yield ColumnNote(name, "digits", said_so, relation.evidence, expression=text)


def _candidates(numbers: np.ndarray) -> list[_Relation]:
    """Relations that the records allow in which the most columns have a number, and that some of them tell."""
    fullest = np.argsort(-np.isfinite(numbers).sum(axis=0), kind="stable")[:_SCREENED]
    few = numbers[:, fullest]
    found = []
    for source, sign, power in itertools.product(range(len(few)), _SIGNS, _POWERS):
        differ = np.abs(few - _digits(few[source], sign, power)) > 0  # False where one is missing
        for target in np.flatnonzero(~differ.any(axis=1)):
            relation = _Relation(int(target), source, sign, power)
            if target != source and relation.add(few) and relation.evidence:
                found.append(_Relation(int(target), source, sign, power))
    return found


def _digits(numbers: np.ndarray, sign: str, power: int) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # a missing number has none
        return numbers // power if sign == "//" else numbers % power


def _text(sign: str, source: str, expression: str) -> str:
    which = "first" if sign == "//" else "last"
    return (
        f"in all records it is the {which} digits of {source}, and hardly a row of a copy will keep to it. Where that "
        f'is what it means, make it a derived column with expression = "{expression}".'
    )
