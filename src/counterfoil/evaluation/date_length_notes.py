"""Whole numbers that are the days or the whole years between two dates in every record: NOT PRIVATE.

Hospitals store the length of a stay beside its two days, and the age beside the day of birth. A copy draws each of them
by itself: in hardly a row was a stay as long as its days are apart. A derived column keeps to it and costs nothing. Of
a stay the later day is derived, so that its length has codes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.kept_columns import kept_columns
from counterfoil.evaluation.pasted_names import pasted
from counterfoil.evaluation.sum_notes import FEWEST, MOST_COLUMNS, derive_text, missing_apart, numbers_of
from counterfoil.schema import Schema
from counterfoil.schema.expression import column_text
from counterfoil.schema.instant import Date
from counterfoil.schema.integer import Integer
from counterfoil.schema.whole_years import whole_years

_MOST_DATES = 12
_FEWEST_VALUES = 5
"""Different numbers: of fewer they may be codes."""
_SCREENED = 200
"""Records of a batch, spread over it, that are compared before all of them are."""
_FAR = 3e6
"""Days from 1970, beyond which no calendar is asked."""


@dataclass
class _Relation:
    """A column of whole numbers that is perhaps what lies between two dates.

    Args:
        number: the column.
        first, last: the two dates.
        unit: "days" or "years".
        values: some of the numbers but 0.
        evidence: records that have one.
        apart: records that have the number and miss a date, or the other way round.
        lost: records that have the later date and miss the number or the earlier date.
        gained: records that miss the later date and have both others.
    """

    number: str
    first: str
    last: str
    unit: str
    values: set[float] = field(default_factory=set)
    evidence: int = 0
    apart: int = 0
    lost: int = 0
    gained: int = 0

    def allows(self, numbers: np.ndarray, lengths: np.ndarray) -> bool:
        """Whether all records that have both have the same in both."""
        known = np.isfinite(numbers) & np.isfinite(lengths)
        return np.array_equal(numbers[known], lengths[known])

    def add(self, numbers: np.ndarray, first: np.ndarray, last: np.ndarray) -> None:
        """Counts records."""
        dated = np.isfinite(first) & np.isfinite(last)
        own = numbers[dated & np.isfinite(numbers)]
        self.apart += int((np.isfinite(numbers) ^ dated).sum())
        self.lost += int((np.isfinite(last) & ~(np.isfinite(first) & np.isfinite(numbers))).sum())
        self.gained += int((np.isnan(last) & np.isfinite(first) & np.isfinite(numbers)).sum())
        self.evidence += int(np.count_nonzero(own))
        if len(self.values) < _FEWEST_VALUES:
            self.values |= set(np.unique(own[own != 0])[:_FEWEST_VALUES].tolist())

    @property
    def is_no_chance(self) -> bool:
        """Whether enough records tell it."""
        return self.evidence >= FEWEST and len(self.values) >= _FEWEST_VALUES


class DateLengthCounts:
    """Which columns of whole numbers were lengths between which dates so far, batch by batch."""

    def __init__(self, schema: Schema):
        self._kept = kept_columns(schema)
        listed = [zeros.columns for zeros in schema.zeros]
        self._bound = {
            name for columns in (*(rule.columns for rule in schema.bound_rules), *listed) for name in columns
        }
        names = pasted(one.name for one in schema.synthesized if isinstance(one, Integer))[:MOST_COLUMNS]
        dates = pasted(one.name for one in schema.synthesized if isinstance(one, Date))[:_MOST_DATES]
        self._zones = {one.name: one.zone for one in schema.synthesized if isinstance(one, Date)}
        self._left = [
            _Relation(number, first, last, unit)
            for first, last in permutations(dates, 2)
            for number in names
            for unit in ("days", "years")
        ]

    def add(self, batch: RawBatch) -> None:
        """Compares the records of a batch; a column that can't be read is compared with none."""
        if not batch.rows:
            return
        self._left = [one for one in self._left if {one.number, one.first, one.last} <= batch.cells.keys()]
        names = [*{name for one in self._left for name in (one.number, one.first, one.last)}]
        numbers = dict(zip(names, numbers_of(batch, names), strict=True))
        dates = {name for one in self._left for name in (one.first, one.last)}
        numbers |= {name: np.where(np.abs(numbers[name]) < _FAR, numbers[name], math.nan) for name in dates}
        for step in (-(-batch.rows // _SCREENED), 1):
            some = {name: own[::step] for name, own in numbers.items()}
            lengths = {
                pair: _lengths(some[pair[0]], some[pair[1]], pair[2])
                for pair in {(one.first, one.last, one.unit) for one in self._left}
            }
            self._left = [
                one for one in self._left if one.allows(some[one.number], lengths[one.first, one.last, one.unit])
            ]
        for one in self._left:
            one.add(numbers[one.number], numbers[one.first], numbers[one.last])

    def notes(self) -> Iterator[ColumnNote]:
        """One for each number that is such a length; of a date that follows from another such date, `pasted_together`
        writes what that one follows from."""
        given, used = set[str](), set[str]()
        for one in self._left:
            target, expression, apart = self._derived(one)
            taken = given | (used if target == one.number else set())
            if not one.is_no_chance or target in taken | self._kept | self._bound or one.number in given:
                continue
            if target == one.last and one.gained > one.evidence:
                continue  # most have no such date, as of death: it is no end of what the number counts
            given.add(target)
            used |= {one.number, one.first, one.last} - {target}
            plain = f"the {one.unit} from {one.first} to {one.last}"
            if target == one.number:
                text = derive_text(plain, expression) + missing_apart(apart)
            else:
                text = _of_later(one, plain, expression, self._zones.get(one.last, ""))
            yield ColumnNote(target, "length", text, one.evidence, source=one.first, expression=expression)

    def _derived(self, one: _Relation) -> tuple[str, str, int]:
        """Which column is to follow from the others, as what, and how many records that changes."""
        first, last, number = map(column_text, (one.first, one.last, one.number))
        if one.unit == "years":
            return one.number, f"years({last}, {first})", one.apart
        if one.last in self._kept | self._bound:
            return one.number, f"{last} - {first}", one.apart
        return one.last, f"{first} + {number}", one.lost


def _of_later(one: _Relation, plain: str, expression: str, zone: str) -> str:
    """What is said where the later date is to follow."""
    lost = f", which is missing then in {one.lost:,} records more" if one.lost else ""
    lost += f", and has a day in {one.gained:,} records that miss it now" if one.gained else ""
    lost = f' and zone = "{zone}"{lost}' if zone else lost
    return (
        f"in all records {one.number} is {plain}, and hardly a row of a copy will keep to it. Where that is what it "
        f'means, make {one.last} a derived column with expression = "{expression}"{lost}.'
    )


def _lengths(first: np.ndarray, last: np.ndarray, unit: str) -> np.ndarray:
    return last - first if unit == "days" else whole_years(last, first)
