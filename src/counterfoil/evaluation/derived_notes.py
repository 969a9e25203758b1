"""Derived columns that come back in another notation than the table's own, and the line that keeps it.

NOT PRIVATE: how the records are written is an exact fact about them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.column_notes import TOP_TEXTS, ColumnNote
from counterfoil.evaluation.text_tally import TextTally
from counterfoil.schema.arithmetic import near, round_to
from counterfoil.schema.derived import Derived
from counterfoil.schema.derived_instants import FORMATS
from counterfoil.schema.derived_notation import DerivedNotation
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.notation import format_of, moment_of, shortened, text_of
from counterfoil.schema.rounded_lookups import decimals_needed
from counterfoil.schema.toml_text import toml_value
from counterfoil.schema.zone import find_zone

_ZEROS = re.compile(r"0\d+", re.ASCII)
_DECIMALS = re.compile(r"[+-]?\d+\.(\d+)", re.ASCII)


class DerivedNotes:
    """What was seen so far of how one derived column is written.

    Args:
        column: that is derived, and that the table has too.
        values: whether to keep texts of records.
    """

    def __init__(self, column: Derived, *, values: bool):
        self.column = column
        self._with_values = values
        self._otherwise = TextTally()
        self._facts: Counter[tuple[str, str, str | int]] = Counter()
        self._decimals = self._rounded = 0
        self._padded = 0
        """Cells that come back as they are, with leading zeros that another format leaves out."""

    def add(self, batch: RawBatch) -> None:
        """Sees the cells of a batch that hold what is derived."""
        match = batch.derived.get(self.column.name)
        if match is None:
            return
        self._decimals = decimals_needed(match.numbers, self._decimals)
        if self.column.decimals is not None and not self.column.lookup:  # of lookup tables it is public
            self._rounded += int((~near(round_to(match.numbers, self.column.decimals), match.numbers)).sum())
        if not batch.holds_texts(self.column.name):
            return
        if formats := shortened(self.column.format):
            self._padded += sum(
                n for text, n in match.alike.items() if _has_zeros(text, self.column.format, formats[0])
            )
        for (text, written), count in match.otherwise.items():
            if self.column.decimals and len(text) < len(written):
                continue  # of a number that is rounded zeros at the end say nothing
            self._otherwise.add(text, count)
            for fact in _facts(self.column, text, written):
                self._facts[fact] += count

    def notes(self) -> Iterable[ColumnNote]:
        """Notes where cells come back otherwise: rounded, or in another notation."""
        if self._rounded:
            yield ColumnNote(
                self.column.name,
                "left_out",
                f"{self._rounded:,} of its cells have more digits after the point than `decimals = "
                f"{self.column.decimals}` leaves: write `decimals = {self._decimals}`.",
                self._rounded,
            )
        if not (count := self._otherwise.count):
            return
        how = f"{count:,} of its cells are written in another notation than the one in which they would come back"
        line = self._line()
        text = f"{how}: {line or 'write all alike'}"
        values = self._otherwise.top[:TOP_TEXTS] if self._with_values else ()
        yield ColumnNote(self.column.name, "notation", f"{text}.", count, (), tuple(values))

    def _line(self) -> str:
        """What to do, as an imperative; empty where none would help."""
        chosen: dict[str, str | int] = {}
        for key, written, fact in (fact for fact, _ in self._facts.most_common()):
            # Of labels the one for what is written as true, and the one for false; of others the most frequent.
            chosen.setdefault(key if key not in ("true", "false") else written, fact)
        if self.column.result == "boolean":
            labels = self.column.notation.labels
            usual = dict(zip(("false", "true"), labels.labels if labels else ("false", "true"), strict=True))
            chosen = {key: chosen.get(word, word) for key, word in usual.items()} if chosen else {}
            chosen = dict(sorted(chosen.items(), reverse=True))
        if not chosen or not _is_possible(self.column, chosen):
            return ""
        if self._decimals > int(chosen.get("decimals", self._decimals)):
            return ""  # numbers of other rows have more digits, and would be rounded
        if chosen.get("format") in shortened(self.column.format) and self._otherwise.count <= self._padded:
            return ""  # as many would come back without their zeros
        if chosen.get("format") == "%Y-%m-%d":
            return "leave `format` out"
        line = "write " + " and ".join(f"`{key} = {toml_value(value)}`" for key, value in chosen.items())
        fitting = self._facts["format", "", chosen["format"]] if "format" in chosen else self._otherwise.count
        return line if fitting == self._otherwise.count else f"{line}, as {fitting:,} of them are, and the others alike"


def _facts(column: Derived, text: str, written: str) -> Iterable[tuple[str, str, str | int]]:
    """The keys with which a text would come back as it is, each with what is written now."""
    if column.result == "boolean":
        yield "true", written, text
    elif column.result == "integer" and _ZEROS.fullmatch(text):
        yield "digits", "", len(text)
    elif column.result == "real" and (found := _DECIMALS.fullmatch(text)):
        yield "decimals", "", len(found[1])
    elif column.result in FORMATS:
        moment = _stated(written, column.format, column)
        formats = dict.fromkeys((format_of(text), column.format, *FORMATS[column.result]))
        reading = [one for one in formats if one and _reads(text, one, moment, column)]
        yield from (("format", "", written) for one in reading for written in _writing(text, one))


def _has_zeros(text: str, text_format: str, without: str) -> bool:
    return text_of(moment_of(text, text_format), without) != text


def _stated(text: str, text_format: str, column: Derived) -> date:
    """The day, or what a clock shows at the moment: of the column's zone, where it has one."""
    zone = find_zone(column.zone) if column.zone else None
    moment = moment_of(text, text_format, zoned=zone is not None)
    if zone is not None and moment.tzinfo is not None:
        moment = moment.astimezone(zone).replace(tzinfo=None)
    return moment if column.result == "datetime" else moment.date()


def _reads(text: str, text_format: str, moment: date, column: Derived) -> bool:
    try:
        return _stated(text, text_format, column) == moment
    except ValueError:
        return False


def _writing(text: str, text_format: str) -> Sequence[str]:
    """The formats that are one which reads a text but for leading zeros, and that write it; else the one itself."""
    full = [one for one in shortened(text_format) if text_of(moment_of(text, text_format), one) == text]
    written = text_of(moment_of(text, text_format), text_format)
    return full if full and written != text else [text_format, *full]


def _is_possible(column: Derived, chosen: Mapping[str, str | int]) -> bool:
    results = tuple(row[-1] for row in column.lookup)
    try:
        DerivedNotation(zone=column.zone, **chosen).check(column.name, column.result, results)  # type: ignore[arg-type]
    except SchemaError:
        return False
    return True
