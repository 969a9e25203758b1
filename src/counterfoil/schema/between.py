"""Columns that a table does not have: what lies between two of its dates or numbers, as the days of a stay.

Bins of two dates say little about what lies between them: those of an admission and of its discharge are months wide,
and a stay takes days. `between = ["admitted", "discharged"]` counts the difference in their place, and the later date
is derived from it again, `admitted + stay`. So are a lower and an upper end.

Sensitivity: the cell is a function of two cells of the same record, so that a record has one code in the column, as in
any other. What bounds one record's part in an answer holds as before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from counterfoil.schema.derived import Derived
from counterfoil.schema.derived_instants import INSTANT_RESULTS
from counterfoil.schema.errors import UnreadableType
from counterfoil.schema.instant import SECONDS_OF_A_MINUTE
from counterfoil.schema.integer import Integer
from counterfoil.schema.mixed_cells import MixedCells
from counterfoil.schema.notation import directives
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.real import Real
from counterfoil.schema.values import Values, instants_of, numbers_of, texts_of
from counterfoil.schema.zone import find_zone

_NUMBERS = ("integer", "real")
_POWERS = np.array([float(10**exponent) for exponent in range(23)])
"""Those of ten that are exact in floating point."""
CELLS = pa.dictionary(pa.int32(), pa.string())
"""How the cells come: as texts, so that those without a number are placed by the rules for texts."""


@dataclass(frozen=True)
class End:
    """One of the two dates or numbers, as the table stores it.

    Args:
        column: declares it, with codes or derived.
    """

    column: NumberColumn | Derived

    @property
    def name(self) -> str:
        """Of the column."""
        return self.column.name

    @property
    def comparable(self) -> str:
        """Two that have the same word can be subtracted."""
        if isinstance(self.column, Derived) and self.column.result in _NUMBERS:
            return "number"
        return self.column.comparable

    @property
    def is_whole(self) -> bool:
        """Whether the differences of two such are whole: days, seconds, or whole numbers."""
        return self.comparable != "number" or self.kind == "integer"

    @property
    def kind(self) -> str:
        """That of its values."""
        return self.column.result if isinstance(self.column, Derived) else self.column.kind

    def numbers(self, cells: Values) -> np.ndarray:
        """float64 [n]: days or seconds since 1970-01-01, or numbers; NaN where a cell has none, or a word for missing.

        So has one that is infinite, of which there is no difference.

        Raises:
            UnreadableType: for a storage of instants with a zone, by its type, where none says which day they were.
        """
        if isinstance(self.column, Derived):
            self._require_a_zone(cells)
            return self._of_derived(self.column, cells)
        parsed = self.column.parsed(cells)
        return np.where(self.column.means_missing(parsed) | ~np.isfinite(parsed), np.nan, parsed)

    @staticmethod
    def _of_derived(column: Derived, cells: Values) -> np.ndarray:
        if column.result in _NUMBERS:
            numbers = numbers_of(cells, decimal_char=column.decimal_char)
            return np.where(np.isfinite(numbers), numbers, np.nan)
        zone = find_zone(column.zone) if column.zone else None
        return instants_of(cells, INSTANT_RESULTS[column.result], column.format, zone)

    def _require_a_zone(self, cells: Values) -> None:
        """Refuses what `Instant` refuses: by the type of the storage, so for any values."""
        if self.kind not in INSTANT_RESULTS:
            return
        kind = pa.null() if isinstance(cells, MixedCells) else cells.type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if getattr(self.column, "zone", "") or not pa.types.is_timestamp(kind) or kind.tz is None:
            return
        if self.kind == "date":
            remedy = "Store the days there, or declare both dates as datetimes with a `zone`"
        else:
            remedy = 'Declare `zone` for both datetimes, such as zone = "Europe/Zurich" or zone = "UTC"'
        raise UnreadableType(
            f"Column {self.name!r} (derived): the table holds instants with a zone ({kind}), and nothing says what a "
            f"clock there showed. {remedy}."
        )

    @property
    def expression(self) -> str:
        """Of a derived one; empty for others."""
        return self.column.expression if isinstance(self.column, Derived) else ""

    @property
    def has_whole_minutes(self) -> bool:
        """Whether it is a datetime that is written without seconds."""
        stated = directives(getattr(self.column, "format", ""))
        return bool(stated) and self.kind == "datetime" and not stated & SECONDS_OF_A_MINUTE

    def number(self, text: str) -> float:
        """The same for a text in the notation of the column."""
        return float(self.numbers(array_of([text], pa.string()))[0])

    def is_missing(self, text: str) -> bool:
        """Whether a text that is no value is declared to stand for a missing one."""
        return isinstance(self.column, NumberColumn) and self.column.missing and text in self.column.missing_values


@dataclass(frozen=True)
class Between:
    """A column of numbers that is computed when the table is read.

    Args:
        column: declares its codes.
        first, last: the two dates or numbers.
    """

    column: Integer | Real
    first: End
    last: End

    @property
    def inputs(self) -> tuple[str, str]:
        """The columns of the table that it is computed from."""
        return self.first.name, self.last.name

    def cells(self, first: Values, last: Values) -> pa.DictionaryArray:
        """dictionary of string [n]: the differences in the notation of the column.

        Null where one of the two is missing; a word of the column's own `missing_values` as it is declared, also where
        it is a date and the storage has dates; and where a cell can't be read, a text that names its column and it,
        which is no number to whatever reads it.

        Args:
            first, last: the cells [n] of the two.
        """
        read = [self.first.numbers(first), self.last.numbers(last)]
        texts, places = self._differences(*read, digits=min(_digits_in(first), _digits_in(last)))
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

    def _differences(self, first: np.ndarray, last: np.ndarray, *, digits: int) -> tuple[list[str], np.ndarray]:
        """Distinct differences as texts, and for each cell which of them it has; -1 for NaN.

        Args:
            first, last: float64 [n], NaN where there is none.
            digits: that both have at most.
        """
        numbers = last - first
        if self.first.comparable == "number":
            numbers = _rounded(numbers, np.maximum(np.abs(first), np.abs(last)), digits)
        known = ~np.isnan(numbers)
        # -0.0 and 0.0 are equal, and which of them stands for both would depend on other rows: the sum is 0.0.
        distinct, places = np.unique(numbers[known] + 0.0, return_inverse=True)
        found = np.full(len(numbers), -1, dtype=np.int64)
        found[known] = places
        return [self._text(number) for number in distinct.tolist()], found

    def _text(self, number: float) -> str:
        whole = isinstance(self.column, Integer) and number.is_integer()
        text = f"{number:.0f}" if whole else repr(number)
        return text.replace(".", ",") if self.column.decimal_char == "," else text

    def holds_word(self, end: End, cells: Values) -> np.ndarray:
        """bool [n]: which cells of one of the two hold a word of the column's own `missing_values`."""
        own, positions = texts_of(cells)
        listed = np.array([text in self.column.missing_values for text in own] + [False], dtype=bool)
        days = [number for word in self.column.missing_values if not np.isnan(number := end.number(word))]
        return np.asarray(listed[positions] | np.isin(end.numbers(cells), days))

    def _place_others(
        self, end: End, own: list[str], positions: np.ndarray, unread: np.ndarray, texts: list[str], places: np.ndarray
    ) -> None:
        """Adds the texts of cells that hold no value, and of words for missing; `places` says which rows have them."""
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


def _digits_in(cells: Values) -> int:
    """How many digits of a number the storage keeps: by its type, so for any values."""
    kind = pa.null() if isinstance(cells, MixedCells) else cells.type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return 3 if pa.types.is_float16(kind) else 6 if pa.types.is_float32(kind) else 15


def _rounded(numbers: np.ndarray, sizes: np.ndarray, digits: int) -> np.ndarray:
    """float64 [n]: differences without the errors of floating point: 12.3 and 10.1 lie 2.2 apart.

    Each has as many digits as the larger one of its two numbers, so that it depends on no other row.

    Args:
        numbers: float64 [n], NaN where there is none.
        sizes: float64 [n], the larger absolute values of the two.
        digits: that they have.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        decimals = digits - 1 - np.floor(np.log10(sizes))
        known = (decimals >= 0) & (sizes > 0)
        powers = _POWERS[np.where(known, np.minimum(decimals, len(_POWERS) - 1), 0).astype(np.int64)]
        return np.where(known, np.round(numbers * powers) / powers, numbers)
