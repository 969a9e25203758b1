"""Columns that are a multiple, a product or a quotient of others in every record, such as a price times a quantity, or
a weight over the square of a height: NOT PRIVATE.

A copy draws them all, and in hardly a row does one follow from the others. A derived column keeps to it, costs nothing,
and leaves the budget to the others. What was rounded as it was stored is recognized by the digits that it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.factors import factor_text
from counterfoil.evaluation.kept_columns import kept_columns
from counterfoil.evaluation.pasted_names import pasted
from counterfoil.evaluation.stored_digits import MOST_DIGITS, as_stored, has_digits, stored_digits
from counterfoil.evaluation.sum_notes import FEWEST, MOST_COLUMNS, derive_text, missing_apart, numbers_of
from counterfoil.schema import Schema
from counterfoil.schema.column import Column
from counterfoil.schema.expression import column_text
from counterfoil.schema.integer import Integer
from counterfoil.schema.real import Real

FEWEST_VALUES = 10
"""Of the column that follows: of fewer it may be codes that go together."""
MOST_LEFT = 200
"""Relations that all records are asked about: those of which most of the first records tell."""
_SCREENED = 40
"""Records that all relations are looked at in, and of which few are left for the next."""
_NEXT = 400
_PRECISION = 1e-9
"""Of the size of a number."""
_OVER_SQUARE = "/2"


@dataclass
class _Relation:
    """A column that is perhaps a constant times another one, a product of two, a quotient, or one over a square.

    Args:
        target: the place of the column that follows.
        one: that of the first column which it follows from.
        other: that of the second; None for a multiple of the first.
        sign: what stands between the two, "*" or "/", or "/2" where the second one is squared.
        low: the least constant that all records allow.
        high: the largest.
        exact: the two for numbers that were not rounded, such as days that are seconds / 86400 and no / 86000.
        evidence: records that tell it from chance.
        values: some of the values of the column that follows in these.
        apart: records that have the column and miss one that it follows from, or the other way round.
    """

    target: int
    one: int
    other: int | None = None
    sign: str = "*"
    low: float = -np.inf
    high: float = np.inf
    exact: tuple[float, float] = (-np.inf, np.inf)
    evidence: int = 0
    values: set[float] = field(default_factory=set)
    apart: int = 0

    @property
    def places(self) -> frozenset[int]:
        """Of its columns."""
        return frozenset((self.target, self.one) if self.other is None else (self.target, self.one, self.other))

    @property
    def stands(self) -> bool:
        """Whether one constant is right in all records so far."""
        return self.low <= self.high

    @property
    def factor(self) -> str:
        """The constant as it follows on a product: "" for 1, "12 * " before it, " / 100" after it; None written "?"."""
        digits = 6 if self.other is None else 2
        return factor_text(*self.exact, digits=digits) or factor_text(self.low, self.high, digits=digits)

    def add(self, numbers: np.ndarray, digits: int | None) -> None:
        """Asks records.

        Args:
            numbers: float64 [columns, records], NaN where missing.
            digits: after the point, of the column that follows; None where it was not rounded.
        """
        target, one = numbers[self.target], numbers[self.one]
        other = np.full(len(one), 2.0) if self.other is None else numbers[self.other]
        known = np.isfinite(target) & np.isfinite(one) & np.isfinite(other)
        self.apart += int((np.isfinite(target) ^ (np.isfinite(one) & np.isfinite(other))).sum())
        target, one, other = target[known], one[known], other[known]
        base = one if self.other is None else _combined(one, other, self.sign)
        apart = _apart(target, digits)
        low, high = _factors(base, target, apart)
        self.low = max(self.low, float(low.max(initial=-np.inf)))
        self.high = min(self.high, float(high.min(initial=np.inf)))
        if self.exact[0] <= self.exact[1]:
            low, high = _factors(base, target, _apart(target, None))
            self.exact = (
                max(self.exact[0], float(low.max(initial=-np.inf))),
                min(self.exact[1], float(high.min(initial=np.inf))),
            )
        telling = target[_tells(target) & _tells(one) & _tells(other)]
        self.evidence += int((np.abs(np.diff(telling)) > 2 * apart.max(initial=0.0)).sum())
        if len(self.values) < FEWEST_VALUES:
            self.values |= set(np.unique(telling)[:FEWEST_VALUES].tolist())


class ProductCounts:
    """Which columns of numbers were multiples, products and quotients of which others so far, batch by batch.

    Records that miss one of the columns say nothing. Numbers are those of the table, before they are clamped.
    """

    def __init__(self, schema: Schema):
        columns = {column.name: column for column in schema.synthesized}
        names = pasted(name for name, column in columns.items() if isinstance(column, Integer | Real))
        self._columns: Mapping[str, Column] = columns
        self._names = names if 2 <= len(names) <= MOST_COLUMNS else []
        self._bound = [set(rule.columns) for rule in schema.bound_rules]
        self._kept = kept_columns(schema)
        self._digits: list[int | None] = []
        self._left: list[_Relation] | None = None

    def add(self, batch: RawBatch) -> None:
        """Looks at the records of a batch."""
        if not self._names or not batch.rows:
            return
        numbers = numbers_of(batch, self._names)
        if self._left is None:
            first = numbers[:, _most_telling(numbers, _NEXT)]
            self._digits = [stored_digits(row) for row in first]
            self._left = _candidates(first, self._digits)
        for relation in self._left:
            relation.add(numbers, self._digits[relation.target])
        self._left = [
            one for one in self._left if one.stands and has_digits(numbers[one.target], self._digits[one.target])
        ]

    def notes(self) -> Iterator[ColumnNote]:
        """One for each column that follows from others, by no chance and by no rule that names them all."""
        said: list[_Relation] = []
        for relation in sorted(self._left or [], key=lambda one: _plainness(one, self._digits)):
            follow = {earlier.target for earlier in said}
            if relation.places & follow or any(earlier.places <= relation.places for earlier in said):
                continue
            if self._is_no_chance(relation) and not self._is_kept(relation) and self._expression(relation, {}):
                said.append(relation)
        whole: dict[int, str] = {}
        for relation in reversed(said):  # none of them follows from the target of an earlier one
            whole[relation.target] = self._expression(relation, whole)
        for relation in said:
            if text := whole[relation.target]:
                plain = self._expression(relation, {})
                name = self._names[relation.target]
                said_so = derive_text(plain, text) + missing_apart(relation.apart)
                yield ColumnNote(name, "product", said_so, relation.evidence, expression=text)

    def _is_no_chance(self, relation: _Relation) -> bool:
        names = {self._names[place] for place in relation.places}
        enough = relation.evidence >= FEWEST and len(relation.values) >= FEWEST_VALUES
        return enough and not any(names <= bound for bound in self._bound)

    def _is_kept(self, relation: _Relation) -> bool:
        return self._names[relation.target] in self._kept

    def _expression(self, relation: _Relation, given: Mapping[int, str]) -> str:
        """What a derived column would say; empty where no schema may state it.

        Args:
            relation: the column, and what it follows from.
            given: expressions of columns that follow from others themselves, which stand in their place: a derived
                column may not follow from another one.
        """
        if not relation.factor:
            return ""
        one, other = (
            "" if place is None else f"({given[place]})" if given.get(place) else column_text(self._names[place])
            for place in (relation.one, relation.other)
        )
        second = f"({other} * {other})" if relation.sign == _OVER_SQUARE else other
        both = f"{one} {relation.sign[0]} {second}" if other else one
        if both == column_text(self._names[relation.one]) and relation.factor == "{}" and self._has_digits_of(relation):
            return both
        target = self._columns[self._names[relation.target]]
        return as_stored(relation.factor.format(both), target, self._columns, self._digits[relation.target])

    def _has_digits_of(self, relation: _Relation) -> bool:
        """Whether a column that equals another one has the digits of it, so that nothing was rounded."""
        kept, own = self._digits[relation.target], self._digits[relation.one]
        is_whole = isinstance(self._columns[self._names[relation.target]], Integer)
        return not is_whole and kept is not None and own is not None and own <= kept


def _candidates(numbers: np.ndarray, digits: list[int | None]) -> list[_Relation]:
    """Relations that some records allow: those that all first ones do, and of them those that the most records tell."""
    few = numbers[:, :_SCREENED]
    low, high = np.full((2, *few.shape), np.nan)
    for place, row in enumerate(few):
        apart = _apart(row, digits[place])
        if len(np.unique(numbers[place])) > FEWEST_VALUES:
            low[place], high[place] = row - apart, row + apart
    found = []
    for one in range(len(few)):
        found += [_Relation(target, one) for _, target in _standing(few[[one]], low, high)]
        later = few[one + 1 :]
        found += [_Relation(target, one, one + 1 + other) for other, target in _standing(few[one] * later, low, high)]
        found += [
            _Relation(target, one, other, sign)
            for sign in ("/", _OVER_SQUARE)
            for other, target in _standing(_combined(few[one], few, sign), low, high)
            if other != one
        ]
    found = [relation for relation in found if relation.target not in (relation.one, relation.other)]
    for relation in found:
        relation.add(numbers, digits[relation.target])
    return [_Relation(one.target, one.one, one.other, one.sign) for one in _best(found)]


def _best(found: list[_Relation]) -> list[_Relation]:
    standing = [relation for relation in found if relation.stands and relation.evidence and relation.factor]
    return sorted(standing, key=lambda relation: (relation.other is not None, -relation.evidence))[:MOST_LEFT]


def _standing(bases: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[tuple[int, int]]:
    """Which of the columns [n, records] may be a constant times which base [m, records]: places of base and column."""
    with np.errstate(all="ignore"):
        ends = low / bases[:, None], high / bases[:, None]
        known = (bases[:, None] != 0) & np.isfinite(ends[0])
        least = np.where(known, np.minimum(*ends), -np.inf).max(axis=2)
        most = np.where(known, np.maximum(*ends), np.inf).min(axis=2)
        against = ((bases[:, None] == 0) & ((low > 0) | (high < 0))).any(axis=2)
        against |= (np.isinf(bases)[:, None] & np.isfinite(low)).any(axis=2)
    return [(int(base), int(column)) for base, column in np.argwhere((least <= most) & (least * most > 0) & ~against)]


def _factors(base: np.ndarray, target: np.ndarray, apart: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """float64 [n], twice: the least and largest constant by which each base is a target; none where none is."""
    with np.errstate(all="ignore"):
        ends = (target - apart) / base, (target + apart) / base
    empty = np.where(np.abs(target) <= apart, -np.inf, np.inf)  # what a base of 0 says: all constants, or none
    low = np.where(base == 0, empty, np.minimum(*ends))
    high = np.where(base == 0, -empty, np.maximum(*ends))
    unsaid = ~np.isfinite(base)  # a division by 0 gives no value
    return np.where(unsaid, np.inf, low), np.where(unsaid, -np.inf, high)


def _combined(one: np.ndarray, other: np.ndarray, sign: str) -> np.ndarray:
    if sign == "*":
        return one * other
    with np.errstate(all="ignore"):
        divided = one / (other * other if sign == _OVER_SQUARE else other)
        return np.where(other == 0, np.where(np.isfinite(one), np.inf, np.nan), divided)


def _tells(numbers: np.ndarray) -> np.ndarray:
    """bool [n]: which are neither 0 nor 1, with which a product is 0 or the other number."""
    return (numbers != 0) & (np.abs(numbers) != 1)


def _most_telling(numbers: np.ndarray, records: int) -> np.ndarray:
    """Places of the records with most numbers that tell."""
    telling = (np.isfinite(numbers) & _tells(numbers)).sum(axis=0)
    return np.argsort(-telling, kind="stable")[:records]


def _apart(numbers: np.ndarray, digits: int | None) -> np.ndarray:
    """How far each number may be from what it was before it was stored."""
    return (0.0 if digits is None else 0.5 * 10.0**-digits) + _PRECISION * np.abs(numbers)


def _plainness(relation: _Relation, digits: Sequence[int | None]) -> tuple[bool, bool, int, bool, bool, int, int, int]:
    """Multiples first; then what is missing where those are that it follows from; then columns of more digits, which
    were computed from those of fewer; then products before quotients, and what follows from earlier columns."""
    kept = digits[relation.target]
    divides = relation.sign[0] == "/" or " / " in relation.factor
    finest = -(MOST_DIGITS + 1 if kept is None else kept)
    return (
        relation.other is not None,
        relation.apart > 0,
        finest,
        divides,
        relation.sign == _OVER_SQUARE,
        relation.one,
        relation.other or 0,
        relation.target,
    )
