"""Columns that a table does not have: the days or seconds from one of its dates to another one, as of a stay.

Bins of two dates say little about what lies between them: those of an admission and of its discharge are months wide,
and a stay takes days. `between = ["admitted", "discharged"]` counts the difference in their place, and the later date
is derived from it again, `admitted + stay`.

Sensitivity: the cell is a function of two cells of the same record, so that a record has one code in the column, as in
any other. What bounds one record's part in an answer holds as before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.derived_instants import INSTANT_RESULTS
from counterfoil.schema.errors import closest
from counterfoil.schema.expression import column_text, names_column
from counterfoil.schema.instant import SECONDS_OF_A_MINUTE, Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.notation import directives
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.toml_text import toml_value
from counterfoil.schema.values import Values, instants_of, texts_of
from counterfoil.schema.zone import find_zone

CELLS = pa.dictionary(pa.int32(), pa.string())
"""How the cells come: as texts, so that those without a number are placed by the rules for texts."""
_TRIED = 20
"""Rows of made up numbers that a derivation is tried with."""


@dataclass(frozen=True)
class End:
    """One of the two dates, as the table stores it.

    Args:
        column: declares it, with codes or derived.
    """

    column: Instant | Derived

    @property
    def name(self) -> str:
        """Of the column."""
        return self.column.name

    @property
    def comparable(self) -> str:
        """Two that have the same word can be subtracted."""
        return self.column.comparable

    def numbers(self, cells: Values) -> np.ndarray:
        """float64 [n]: whole days or seconds since 1970-01-01; NaN where a cell has none, or a word for missing."""
        if isinstance(self.column, Derived):
            zone = find_zone(self.column.zone) if self.column.zone else None
            return instants_of(cells, INSTANT_RESULTS[self.column.result], self.column.format, zone)
        parsed = self.column.parsed(cells)
        return np.where(self.column.means_missing(parsed), np.nan, parsed)

    @property
    def expression(self) -> str:
        """Of a derived one; empty for others."""
        return self.column.expression if isinstance(self.column, Derived) else ""

    @property
    def has_whole_minutes(self) -> bool:
        """Whether it is a datetime that is written without seconds."""
        stated = directives(self.column.format)
        return bool(stated) and self.comparable != "date" and not stated & SECONDS_OF_A_MINUTE

    def number(self, text: str) -> float:
        """The same for a text in the notation of the column."""
        return float(self.numbers(array_of([text], pa.string()))[0])

    def is_missing(self, text: str) -> bool:
        """Whether a text that is no date is declared to stand for a missing one."""
        return isinstance(self.column, Instant) and self.column.missing and text in self.column.missing_values


@dataclass(frozen=True)
class Between:
    """A column of whole numbers that is computed when the table is read.

    Args:
        column: declares its codes.
        first, last: the two dates.
    """

    column: Integer
    first: End
    last: End

    @property
    def inputs(self) -> tuple[str, str]:
        """The columns of the table that it is computed from."""
        return self.first.name, self.last.name

    def cells(self, first: Values, last: Values) -> pa.DictionaryArray:
        """dictionary of string [n]: the differences in plain digits.

        Null where a date is missing; a word of the column's own `missing_values` as it is declared, also where it is a
        date and the storage has dates; and where a date can't be read, a text that names the column and its cell, which
        is no number to whatever reads it.

        Args:
            first, last: the cells [n] of the two dates.
        """
        read = [self.first.numbers(first), self.last.numbers(last)]
        texts, places = _digits(read[1] - read[0])
        for end, cells, numbers in ((self.first, first, read[0]), (self.last, last, read[1])):
            unread = np.isnan(numbers)
            if unread.any() or self.column.missing_values:
                self._place_others(end, *texts_of(cells), unread, texts, places)
            if isinstance(cells, MixedCells) and len(cells.strangers):
                _place(f"{end.name} = an object", cells.strangers, texts, places)
            for word in self.column.missing_values:
                if len(rows := np.flatnonzero(numbers == end.number(word))):
                    _place(word, rows, texts, places)
        return pa.DictionaryArray.from_arrays(
            array_of(places.astype(np.int32), mask=places < 0), array_of(texts, pa.string())
        )

    def _place_others(
        self, end: End, own: list[str], positions: np.ndarray, unread: np.ndarray, texts: list[str], places: np.ndarray
    ) -> None:
        """Adds the texts of cells that hold no date, and of words for missing; `places` says which rows have them."""
        words = {position for position, text in enumerate(own) if text in self.column.missing_values}
        strange = {*positions[unread].tolist()} - {-1} - words
        targets = np.full(len(own) + 1, -1)  # the last one is of empty cells
        for position in (*words, *strange):
            if position in strange and end.is_missing(own[position]):
                continue
            targets[position] = len(texts)
            texts.append(own[position] if position in words else f"{end.name} = {own[position]}")
        found = targets[positions]
        places[found >= 0] = found[found >= 0]


def _place(text: str, rows: np.ndarray, texts: list[str], places: np.ndarray) -> None:
    """Gives a text to some rows."""
    places[rows] = len(texts)
    texts.append(text)


def _digits(numbers: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Distinct numbers as texts, and for each cell which of them it has; -1 for NaN."""
    known = ~np.isnan(numbers)
    distinct, places = np.unique(numbers[known], return_inverse=True)
    found = np.full(len(numbers), -1, dtype=np.int64)
    found[known] = places
    return [f"{number:.0f}" for number in distinct], found


def between_of(columns: Mapping[str, Column | Derived]) -> dict[str, Between]:
    """The columns of a schema that are computed from two others, by name.

    Args:
        columns: all that have codes or are derived.

    Raises:
        SchemaError: which names the column, where the two are not dates of one kind.
    """
    found: dict[str, Between] = {}
    for column in columns.values():
        if isinstance(column, Integer) and column.between:
            first, last = (_end(column, name, columns) for name in column.between)
            if first.comparable != last.comparable:
                raise column.mistake(
                    f"`between` must name two dates or two datetimes; found {first.name!r} ({first.comparable}) and "
                    f"{last.name!r} ({last.comparable})"
                )
            if not (_follows(first, column) or _follows(last, column)):
                raise column.mistake(
                    "`between` must name a date that is derived again from the other one, or the two and what lies "
                    f"between them would not agree in a copy; found none.{_remedy(column, first, last)}"
                )
            _require_given_back(column, first, last, columns)
            _require_whole_minutes(column, first, last)
            found[column.name] = Between(column, first, last)
    return found


def _require_given_back(column: Integer, first: End, last: End, columns: Mapping[str, Column | Derived]) -> None:
    """Refuses a derivation that gives other dates than those between which the column counts: tried with numbers."""
    known = {name: one for name, one in columns.items() if isinstance(one, Column)}
    rng = np.random.default_rng(0)
    numbers = {name: _within_bounds(one, rng) for name, one in known.items()}
    ends = [_tried(end, numbers, known) for end in (first, last)]
    apart = ends[1] - ends[0] - numbers[column.name]
    if not (apart[~np.isnan(apart)] == 0).all() or np.isnan(apart).all():
        derived = last if _follows(last, column) else first
        raise column.mistake(
            f"`between` counts from the earlier one, {first.name!r}, to {last.name!r}, and what {derived.name!r} is "
            f"derived by, `{derived.expression}`, gives another date.{_remedy(column, first, last)}"
        )


def _within_bounds(column: Column, rng: np.random.Generator) -> np.ndarray:
    """float64 [n]: whole numbers between the bounds of a column, as far as there are such."""
    ends = np.concatenate(column.ranges)
    ends = ends[~np.isnan(ends)] if not np.isnan(ends).all() else np.zeros(1)
    return np.clip(np.rint(rng.uniform(ends.min(), ends.max(), _TRIED)), ends.min(), ends.max())


def _tried(end: End, numbers: Mapping[str, np.ndarray], columns: Mapping[str, Column]) -> np.ndarray:
    """float64 [n]: the dates of an end; NaN where a lookup table gives them, which no difference follows."""
    if isinstance(end.column, Instant):
        return numbers[end.name]
    return end.column.tried(numbers, columns) if end.expression else np.full(_TRIED, np.nan)


def _require_whole_minutes(column: Integer, first: End, last: End) -> None:
    """Refuses seconds where both datetimes are written without them, so that rows of a copy would not agree."""
    if all(end.has_whole_minutes for end in (first, last)) and (column.lower % 60 or column.step % 60):
        raise column.mistake(
            f"{first.name!r} and {last.name!r} are written without seconds, so that what lies between them must be "
            "whole minutes: declare `step = 60`, with `lower` and `upper` on that grid"
        )


def _follows(end: End, column: Integer) -> bool:
    return isinstance(end.column, Derived) and names_column(end.column.expression, column.name)


def _end(column: Integer, name: str, columns: Mapping[str, Column | Derived]) -> End:
    if name not in columns:
        raise column.mistake(
            f"`between` must name two columns that the schema declares, the earlier one first; found {name!r}."
            + (closest(name, columns) or (_remedy(column) if name == column.between[1] else ""))
        )
    found = columns[name]
    if isinstance(found, Instant) or (isinstance(found, Derived) and found.result in INSTANT_RESULTS):
        return End(found)
    kind = found.result if isinstance(found, Derived) else found.kind
    raise column.mistake(f"`between` must name two dates or two datetimes; {name!r} is declared as {kind!r}")


def _remedy(column: Integer, first: End | None = None, last: End | None = None) -> str:
    """How one of the dates is derived, which people leave out; empty where that is not known.

    Args:
        column: the time between the two.
        first, last: the dates, where both are declared.
    """
    read, derived = column.between
    origin, sign, place = column_text(read), "+", ""
    if first is not None and last is not None:
        if _follows(first, column):
            if _follows(last, column):
                return ""
            read, derived, origin, sign = derived, read, last.expression or column_text(derived), "-"
        else:
            origin = first.expression or origin
        place = (
            ", in place of its own table," if isinstance((first, last)[derived == last.name].column, Instant) else ""
        )
    expression = toml_value(f"{origin} {sign} {column_text(column.name)}")
    return (
        f" Declare {derived!r}{place} as a `[[derived]]` column with the kind of {read!r} and expression = {expression}"
    )
