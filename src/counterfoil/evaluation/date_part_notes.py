"""Whole numbers that are the year, the month, the day or the hour of a date in every record: NOT PRIVATE.

A copy draws both, and where the two were not counted together hardly a row keeps to it; where they were, those at the
turn of a year and of a bin do not. No expression takes a date apart, so that the number is best left out, and made of
the dates of the copy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.evaluation.kept_columns import kept_columns
from counterfoil.evaluation.sum_notes import FEWEST, MOST_COLUMNS
from counterfoil.schema import Schema
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.zone import SECONDS_PER_DAY

_MOST_DATES = 20
_FAR = 3e6
"""Days from 1970, beyond which no calendar is asked."""

Parts = dict[str, np.ndarray]
"""By its name, one part of the date of each record, float64 with NaN where that is missing."""


@dataclass
class _Relation:
    """A column of whole numbers that is perhaps a part of a date.

    Args:
        number: the column.
        date: of which it may be a part.
        part: which one.
        first: the number that was seen first; NaN before.
        evidence: records with another one.
        apart: records that have the one and miss the other.
    """

    number: str
    date: str
    part: str
    first: float = math.nan
    evidence: int = 0
    apart: int = 0

    def add(self, numbers: np.ndarray, part: np.ndarray) -> bool:
        """Whether records allow it."""
        known = np.isfinite(numbers) & np.isfinite(part)
        self.apart += int((np.isfinite(numbers) ^ np.isfinite(part)).sum())
        if known.any() and math.isnan(self.first):
            self.first = float(numbers[known][0])
        self.evidence += int((numbers[known] != self.first).sum())
        return np.array_equal(numbers[known], part[known])


class DatePartCounts:
    """Which columns of whole numbers were parts of which dates so far, batch by batch.

    Records that miss one of the two say nothing. Moments of a zone are not asked: their parts are those of its clock.
    """

    def __init__(self, schema: Schema):
        dates = [one for one in schema.synthesized if isinstance(one, Instant)]
        kept = kept_columns(schema)
        numbers = [one.name for one in schema.synthesized if isinstance(one, Integer) and one.name not in kept]
        self._numbers = numbers[:MOST_COLUMNS]
        self._dates = [one for one in dates if one.unit == SECONDS_PER_DAY or not one.zone][:_MOST_DATES]
        listed = [zeros.columns for zeros in schema.zeros]
        self._bound = {
            name for columns in (*(rule.columns for rule in schema.bound_rules), *listed) for name in columns
        }
        self._left: list[_Relation] | None = None

    def add(self, batch: RawBatch) -> None:
        """Looks at the records of a batch; a column that can't be read is no part, and has none."""
        parts = {one.name: found for one in self._dates if (found := _parts_of(one, batch))}
        if not parts:
            return
        numbers = {name: cells for name in self._numbers if (cells := _numbers_in(batch, name)) is not None}
        if self._left is None:
            every = ((name, date, part) for name in numbers for date, found in parts.items() for part in found)
            self._left = [_Relation(*one) for one in every]
        self._left = [
            one
            for one in self._left
            if one.number in numbers and one.date in parts and one.add(numbers[one.number], parts[one.date][one.part])
        ]

    def notes(self) -> Iterator[ColumnNote]:
        """One for each column that is a part of a date, by no chance."""
        said = set[str]()
        for one in sorted(self._left or [], key=lambda one: one.apart):
            if one.number not in said and one.evidence >= FEWEST:
                said.add(one.number)
                yield ColumnNote(one.number, "date_part", _text(one, bound=one.number in self._bound), one.evidence)


def _numbers_in(batch: RawBatch, name: str) -> np.ndarray | None:
    cells = batch.cells.get(name)
    return None if cells is None else cells.numbers


def _parts_of(column: Instant, batch: RawBatch) -> Parts:
    """Empty where the column can't be read."""
    numbers = _numbers_in(batch, column.name)
    if numbers is None:
        return {}
    seconds = numbers * column.unit
    there = np.isfinite(seconds) & (np.abs(seconds) < _FAR * SECONDS_PER_DAY)
    whole = np.where(there, seconds, 0).astype(np.int64)
    days = (whole // SECONDS_PER_DAY).astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    month = months.astype(np.int64) % 12 + 1
    parts = {
        "year": days.astype("datetime64[Y]").astype(np.int64) + 1970,
        "quarter": (month + 2) // 3,
        "month": month,
        "day": (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
    }
    if column.unit != SECONDS_PER_DAY:
        parts["hour"] = whole % SECONDS_PER_DAY // 3600
    return {name: np.where(there, part, np.nan) for name, part in parts.items()}


def _text(one: _Relation, *, bound: bool) -> str:
    records = f"{one.apart:,} record{'s' if one.apart > 1 else ''}"
    apart = f" In {records} one of the two alone is missing, which is not kept then." if one.apart else ""
    rules = " with the rules that name it" if bound else ""
    return (
        f"in all records it is the {one.part} of {one.date}, and rows of a copy will not all keep to it. Where that is "
        f"what it means, leave it out (`ignore`){rules}, and make it of {one.date} in the copy.{apart}"
    )
