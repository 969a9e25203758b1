"""What the cells of a column look like that are not as it declares, as far as what to change about them needs it.

NOT PRIVATE: how many there are is an exact fact about the records.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.far_values import FarValues
from counterfoil.evaluation.impossible_dates import impossible
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.decimal_char import DECIMAL_CHARS
from counterfoil.schema.instant import Instant
from counterfoil.schema.integer import EXACT, Integer
from counterfoil.schema.limit import limit_of
from counterfoil.schema.notation import dated, moment_of
from counterfoil.schema.placement import PlacedCells, Placement
from counterfoil.schema.raw_cell import is_missing_word
from counterfoil.schema.real import Real
from counterfoil.schema.unit import bare, unit_of
from counterfoil.schema.unread_cells import UnreadCells
from counterfoil.schema.values import has_two_readings, parse_number

_CODE = re.compile(r"\d+[A-Z]{1,2}\d*|[A-Z]{1,2}\d+", re.ASCII)
_NEGATIVE = re.compile(
    r"\((?P<inside>[^()]*\d[^()]*)\)|(?P<before>[^()]*\d)\s?[-\u2212\u2013]|[\u2212\u2013]\s?(?P<behind>\d[^()]*)",
    re.ASCII,
)
"""As ledgers write negative numbers, in parentheses or with the sign behind, and printed tables with a longer one."""
_MEASURE = re.compile(r"[+-]?\d+([.,]\d+|([.,]\d+)?\s[^\W\d][^\s\d]{0,9}|([.,]\d+)?\s?[%‰€$£°])", re.ASCII)
"""Of categories: a number with a fraction, or with a sign behind it that is parted from it; 2A and 5001 are codes."""
_CLOCK = re.compile(r"[+-]?\d+:[0-5]\d(:[0-5]\d([.,]\d+)?)?", re.ASCII)


class SeenCells:
    """What was seen of one column so far.

    Args:
        column: the public facts.

    Attributes:
        grouped: how many moved cells are texts such as 1.234 in a column of integers, of which a decimal comma makes
            1234.
        inexact: how many cells lie so far from 0 that no bound of a column of numbers can reach them.
    """

    def __init__(self, column: Column):
        self._column = column
        self._unread = UnreadCells(unit=column.unit if isinstance(column, Integer | Real) else "")
        self._far = FarValues(column) if isinstance(column, Integer | Real | Instant) else None
        self.grouped = 0
        self.inexact = 0

    def add(self, batch: RawBatch, cells: PlacedCells) -> None:
        """Sees the cells of a batch; what is no category is said by `add_other`."""
        column = self._column
        unread = np.flatnonzero(cells.placements == Placement.UNREADABLE)
        texts = Counter(batch.texts(column.name, unread)) if len(unread) else Counter()
        if isinstance(column, Integer | Real):
            self._add_words(texts)
            self._add_numbers(column, texts)
        elif isinstance(column, Instant):
            self._add_instants(column, texts)
        if isinstance(column, Integer) and column.decimal_char != "," and batch.holds_texts(column.name):
            moved = batch.texts(column.name, np.flatnonzero(cells.placements == Placement.MOVED))
            self.grouped += sum(has_two_readings(text, ",") for text in moved)
        if isinstance(column, Integer) and cells.numbers is not None:
            self.inexact += int((np.abs(cells.numbers) > EXACT).sum())
        if self._far is not None:
            self._far.add(cells)

    def add_other(self, column: Categorical, text: str, count: int) -> None:
        """Sees a text that is no category, in so many cells."""
        self._unread.notations.update(dict.fromkeys(column.signs_of(text), count))
        self._unread.measures += count * (_MEASURE.fullmatch(text) is not None)

    def looks(self, way: Placement) -> UnreadCells:
        """What cells look like that were placed in this way and could not be read, or are not listed."""
        if way is Placement.UNREADABLE:
            return self._unread
        seen = self._unread
        other = UnreadCells(notations=seen.notations, measures=seen.measures)
        return other if way is Placement.OTHER else UnreadCells()

    def placeholders(self, way: Placement) -> tuple[int, int]:
        """As `FarValues.placeholders`; none where a column does not lie on a line."""
        return (0, 0) if self._far is None else self._far.placeholders(way)

    def _add_words(self, texts: Counter[str]) -> None:
        column = self._column
        notation = (column.decimal_char, column.unit) if isinstance(column, Integer | Real) else ("", "")
        for text, count in texts.items():
            self._unread.clocks += count * (_CLOCK.fullmatch(text) is not None)
            if limit_of(text, *notation) is not None:
                self._unread.limits[text] += count
            self._unread.words += count * is_missing_word(text)

    def _add_numbers(self, column: Integer | Real, texts: Counter[str]) -> None:
        """Counts texts that are numbers in another notation."""
        signs = (column.decimal_char, *(sign for sign in ("", *DECIMAL_CHARS) if sign != column.decimal_char))
        for text, count in texts.items():
            unit = unit_of(text)
            for sign in signs:
                if np.isfinite(parse_number(text, {}, sign, column.unit)):
                    self._unread.notations[sign] += count
                elif unit and np.isfinite(parse_number(text, {}, sign, unit)):
                    self._unread.units[unit, sign] += count
            self._unread.negatives += count * _is_negative(text, column)
            if isinstance(column, Integer) and not unit and _CODE.fullmatch(text):
                self._unread.codes += count

    def _add_instants(self, column: Instant, texts: Counter[str]) -> None:
        if not column.format or dated(column.format):
            self._add_words(texts)
        if texts:
            self._unread.impossible += int(np.array(list(texts.values()))[impossible(list(texts), column)].sum())
        if not column.zone:
            self._unread.offsets += sum(count for text, count in texts.items() if states_offset(text, column.format))


def _is_negative(text: str, column: Integer | Real) -> bool:
    """Whether a text is a negative number of the column, but for how its sign is written."""
    if (found := _NEGATIVE.fullmatch(bare(text, column.unit))) is None:
        return False
    digits = next(group for group in found.groups() if group is not None)
    return bool(parse_number(digits, {}, column.decimal_char, column.unit) >= 0)


def states_offset(text: str, text_format: str = "") -> bool:
    """Whether a text is a date with a time in ISO 8601, or in a `strptime` format, and states an offset from UTC."""
    for tried in ("", *([f"{text_format}%z", f"{text_format} %z"] if text_format else [])):
        try:
            moment = moment_of(text, tried)
        except ValueError:
            continue
        if moment.tzinfo is not None:
            return True
    return False
