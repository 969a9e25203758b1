"""Dates and times that come back in another notation, or without a part that the source states, and what keeps both.

NOT PRIVATE: how the records are written is an exact fact about them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, time
from functools import cached_property
from zoneinfo import ZoneInfo

from counterfoil.evaluation.text_tally import TextTally
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.instant import Date, Instant
from counterfoil.schema.notation import format_of, moment_of, shape_of, shortened
from counterfoil.schema.zone import find_zone

_TIME = re.compile(r"\d[T ](?=[\d:.,]*[1-9])\d\d:\d\d|\dT(?=[\d.,]*[1-9])\d{4}", re.ASCII)
_OFFSET = re.compile(r"(?:[+-]\d\d:?\d\d|Z)$", re.ASCII)
_FRACTION = re.compile(r":\d\d:\d\d[.,]\d*[1-9]|[T ]\d{6}[.,]\d*[1-9]", re.ASCII)
_ZERO = re.compile(r"(?<!\d)0\d", re.ASCII)


@dataclass(frozen=True)
class NotationNote:
    """What the texts of a column show.

    Args:
        kind: "notation", "offset", "rewritten" or "left_out".
        text: a sentence, without its full stop.
        count: of cells.
        values: the most frequent of their texts, with their counts.
    """

    kind: str
    text: str
    count: int
    values: tuple[tuple[str, int], ...]


class NotationCounts:
    """What was seen of a column's dates and times so far.

    Args:
        column: the public facts.
    """

    def __init__(self, column: Instant):
        self.column = column
        self._otherwise = TextTally()
        self._formats: Counter[str] = Counter()
        self._capitals = 0
        """Cells that come back with other letters as capitals, which no format can keep."""
        self._padded = 0
        """Cells that come back as they are, with leading zeros that another format leaves out."""
        self._finer = TextTally()
        self._offsets = TextTally()
        self._skipped = TextTally()
        self._zone = find_zone(column.zone) if column.is_zoned else None

    def add(self, found: Counter[str], *, texts: bool) -> None:
        """Sees canonical texts with their counts.

        Args:
            found: of cells that are as declared.
            texts: whether they are the storage's own notation.
        """
        for text, count in found.items():
            if self._leaves_out(text):
                self._finer.add(text, count)
            if self._zone is not None and self._is_skipped(text, self._zone):
                self._skipped.add(text, count)
            if not (texts and (written := self.column.rewritten(text))):
                continue
            if shape_of(written) != shape_of(text):
                self._otherwise.add(text, count)
                self._capitals += count * (shape_of(written).casefold() == shape_of(text).casefold())
                self._formats.update(dict.fromkeys(self._formats_of(text), count))
                continue
            self._padded += count * self._has_zeros(text)
            if self.column.zone and _offset(written) != _offset(text):
                self._offsets.add(text, count)

    @cached_property
    def _shortened(self) -> list[Instant]:
        """The column in the formats that are its own but for leading zeros."""
        return [column for one in shortened(self.column.format) if (column := self._written_as(one)) is not None]

    def _formats_of(self, text: str) -> list[str]:
        """The formats in which the column would write this text."""
        return [format_of(text), *(one.format for one in self._shortened if one.rewritten(text) == text)]

    def _has_zeros(self, text: str) -> bool:
        """Whether a text that comes back as it is has leading zeros which another format leaves out."""
        return bool(_ZERO.search(text) and self._shortened) and self._shortened[0].rewritten(text) != text

    def _is_skipped(self, text: str, zone: ZoneInfo) -> bool:
        """Whether a text without an offset is a time that no clock of the zone shows, as it is put forward then."""
        for notation in dict.fromkeys((self.column.format, "")):  # a storage that has a type for moments has no other
            try:
                moment = moment_of(text, notation, zoned=True)
                there = moment.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
            except (ValueError, OverflowError):
                continue
            return moment.tzinfo is None and there.replace(tzinfo=None) != moment
        return False

    def _leaves_out(self, text: str) -> bool:
        """Whether a text states more than the unit of the column: 12:00:00 AM is the beginning of a day."""
        is_date = isinstance(self.column, Date)
        try:
            moment = moment_of(text, self.column.format) if self.column.format else None
        except ValueError:  # of a storage that has a type for moments
            moment = None
        if moment is None:
            return bool((_TIME if is_date else _FRACTION).search(text))
        return moment.time() != time() if is_date else bool(moment.microsecond)

    def notes(self) -> Iterator[NotationNote]:
        """What comes back otherwise, and what does not come back."""
        if self._otherwise.count:
            yield NotationNote("notation", self._said(), self._otherwise.count, self._otherwise.top)
        if self._offsets.count:
            count, zone = self._offsets.count, self.column.zone
            said = f"{count:,} of its cells state another offset from UTC than {zone} has: the same moments come back "
            said += "with the offset of the zone"
            yield NotationNote("offset", said, count, self._offsets.top)
        if self._skipped.count:
            count, zone = self._skipped.count, self.column.zone
            said = (
                f"{count:,} of its cells are times that no clock of {zone} shows, because it is put forward then, and "
            )
            said += "come back later: if they are those of another zone, such as UTC, state that as `zone`"
            yield NotationNote("rewritten", said, count, self._skipped.top)
        if self._finer.count:
            what = (
                'a time of day, which is left out: declare kind = "datetime" to keep it'
                if isinstance(self.column, Date)
                else "a fraction of a second, which is left out: values are whole seconds"
            )
            count = self._finer.count
            yield NotationNote("left_out", f"{count:,} of its cells state {what}", count, self._finer.top)

    def _said(self) -> str:
        count = self._otherwise.count
        how = f"{count:,} of its cells are written in another notation than the one in which they would come back"
        for text_format, fitting in self._formats.most_common():
            if text_format in shortened(self.column.format) and fitting <= self._padded:
                continue  # as many would come back without their zeros
            if text_format and self._written_as(text_format) is not None:
                some = "" if fitting == count else f", as {fitting:,} of them are, and the others alike"
                return f'{how}: write `format = "{text_format}"`{some}'
        if self._capitals == count:
            return f"{how}: names, and AM and PM, are written as in 31Jan2024 02:30 PM, which no `format` changes"
        return f"{how}: state theirs in `format`, or write all alike"

    def _written_as(self, text_format: str) -> Instant | None:
        """The column with the format; None where it can't have it, such as one that tells too little apart."""
        try:
            return replace(self.column, format=text_format)
        except SchemaError:
            return None


def _offset(text: str) -> str:
    """What a text ends with that says how far its clock is from UTC; empty where nothing does."""
    found = _OFFSET.search(text)
    return found.group() if found else ""
