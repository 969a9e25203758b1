"""Columns that are a sum or a difference in every record, such as a total of its parts: NOT PRIVATE.

Of one or two other columns and a constant: `drugs + nursing`, `age - schooling - 6`, `start + 1`, `2020 - age`. A copy
draws them all, and in hardly a row does one follow from the others. A derived column keeps to it, costs nothing, and
leaves the budget to the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.kept_columns import kept_columns
from counterfoil.evaluation.linear_search import LinearRelation, search
from counterfoil.evaluation.pasted_names import pasted
from counterfoil.evaluation.stored_digits import as_stored, stored_digits
from counterfoil.evaluation.substitution import Solved, Sum, System
from counterfoil.schema import Schema
from counterfoil.schema.column import Column
from counterfoil.schema.expression import column_text
from counterfoil.schema.integer import Integer
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.real import Real

MOST_COLUMNS = 60
"""Of numbers: of more, their triples are too many."""
FEWEST = 20
"""Records in which each column is not what it mostly is, from which on it is no chance that each sum is right."""


class SumCounts:
    """Which columns of numbers were sums of which others so far, batch by batch.

    Records that miss one of them say nothing. Numbers are those of the table, before they are clamped.
    """

    def __init__(self, schema: Schema):
        columns = {column.name: column for column in schema.synthesized}
        names = pasted(name for name, column in columns.items() if isinstance(column, Integer | Real))
        self._columns: Mapping[str, Column] = columns
        self._names = names if 2 <= len(names) <= MOST_COLUMNS else []
        self._bound = [set(rule.columns) for rule in schema.bound_rules]
        kept = kept_columns(schema)
        self._kept = frozenset(place for place, name in enumerate(self._names) if name in kept)
        self._digits: list[int | None] = []
        self._left: list[LinearRelation] | None = None

    def add(self, batch: RawBatch) -> None:
        """Looks at the records of a batch."""
        if not self._names or not batch.rows:
            return
        numbers = numbers_of(batch, self._names)
        if self._left is None:
            self._left = search(numbers)
            self._digits = [0] * len(numbers)
        self._left = [relation for relation in self._left if relation.add(numbers)]
        for place in {place for relation in self._left for place in relation.places}:
            self._digits[place] = _most(self._digits[place], stored_digits(numbers[place]))

    def notes(self) -> Iterator[ColumnNote]:
        """One for each column that follows from others by no chance, by no rule that names them all, and by no other
        such note."""
        system, said = self._solved()
        for solved, relation in said:
            if text := self._expression(solved.target, system.given(solved.target)):
                plain, name = sum_text(solved.plain, self._names), self._names[solved.target]
                apart = int(relation.apart[relation.places.index(solved.target)])
                said_so = derive_text(plain, text) + missing_apart(apart)
                yield ColumnNote(name, "sum", said_so, relation.count, expression=text)

    def implies(self, first: str, last: str, derived: Collection[str]) -> bool:
        """Whether a column is never above another one where others are derived as the notes say.

        Args:
            first: the lesser column.
            last: the greater one.
            derived: the columns of which a note proposes that.
        """
        if not {first, last} <= {*self._names}:
            return False
        system, _ = self._solved()
        places = [self._names.index(name) for name in (first, last)]
        if not {self._names[place] for place in system.targets.intersection(places)} <= {*derived}:
            return False
        less, more = map(system.given, places)
        apart = more.plus(less, -1)
        return apart.constant + sum(self._least(place, factor) for place, factor in apart.factors.items()) >= 0

    def _least(self, place: int, factor: int) -> float:
        """The least that so many times a column can be, by its bounds."""
        column = self._columns[self._names[place]]
        assert isinstance(column, NumberColumn)
        return min(factor * bound for bound in column.bounds)

    def _solved(self) -> tuple[System, list[tuple[Solved, LinearRelation]]]:
        """The relations that are no chance, each solved for a column of its own, and those that are to be said."""
        found = [relation for relation in self._left or [] if relation.evidence >= FEWEST]
        known = {id(relation): self._is_known(relation) for relation in found}
        system, said = System(self._kept), []
        for relation in sorted(found, key=lambda one: (not known[id(one)], len(one.factors), _rank(one))):
            solved = system.add(relation.factors, relation.constant, preferred=_whole_of(relation))
            if solved is not None and not known[id(relation)]:
                said.append((solved, relation))
        return system, said

    def _is_known(self, relation: LinearRelation) -> bool:
        """Whether a rule says it, or `product_notes`: that a column is another one, or its negative."""
        names = {self._names[place] for place in relation.places}
        is_multiple = len(relation.factors) == 2 and relation.constant == 0
        return is_multiple or any(names <= bound for bound in self._bound)

    def _expression(self, target: int, terms: Sum) -> str:
        columns = self._columns
        return as_stored(sum_text(terms, self._names), columns[self._names[target]], columns, self._digits[target])


def numbers_of(batch: RawBatch, names: Sequence[str]) -> np.ndarray:
    """float64 [names, records]: numbers of a batch as the table has them; NaN for none."""
    numbers = np.full((len(names), batch.rows), np.nan)
    for place, name in enumerate(names):
        cells = batch.cells.get(name)
        if cells is not None and cells.numbers is not None:
            numbers[place] = np.where(np.isfinite(cells.numbers), cells.numbers, np.nan)
    return numbers


def sum_text(terms: Sum, names: Sequence[str]) -> str:
    """A sum as an expression, what is added before what is subtracted: "age - schooling - 6", "2020 - age"."""
    parts = [(factor, column_text(names[place])) for place, factor in sorted(terms.factors.items())]
    signed = [(factor > 0, name if abs(factor) == 1 else f"{abs(factor)} * {name}") for factor, name in parts]
    if terms.constant:
        signed.append((terms.constant > 0, f"{abs(terms.constant):.15g}"))
    first, *others = sorted(signed, key=lambda part: not part[0])
    return ("" if first[0] else "-") + first[1] + "".join(f" {'+' if plus else '-'} {text}" for plus, text in others)


def _whole_of(relation: LinearRelation) -> int:
    """Which column follows from the others: one that is missing where one of them is and nowhere else, where there is
    one; of these the sum of two others, else the last one."""
    fewest = relation.apart.min()
    able = [place for place, apart in zip(relation.places, relation.apart, strict=True) if apart == fewest]
    signs = dict(relation.factors)
    if relation.constant == 0 and len(signs) == 3:
        able = [place for place in able if [*signs.values()].count(signs[place]) == 1] or able
    return able[-1]


def _rank(relation: LinearRelation) -> tuple[bool, list[int]]:
    """Sums without a constant first, then those of earlier columns."""
    return relation.constant != 0, relation.places


def derive_text(plain: str, expression: str) -> str:
    """What a column that follows from others is, and how to declare that."""
    return (
        f"in all records it is {plain}, and hardly a row of a copy will keep to it. Where that is what it means, "
        f'make it a derived column with expression = "{expression}".'
    )


def missing_apart(records: int) -> str:
    """What becomes of a column that is missing elsewhere than those that it follows from, in so many records."""
    where = f" In {records:,} records it is missing and these are not, or the other way round"
    return f"{where}, and would not be so any more." if records else ""


def _most(*digits: int | None) -> int | None:
    known = [one for one in digits if one is not None]
    return max(known) if len(known) == len(digits) else None
