"""What a schema states of a column and the table never shows, or shows otherwise: no mistakes, but worth a look.

NOT PRIVATE: that a declared category never occurs is an exact fact about the records.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from counterfoil.curator.raw_reading import RawBatch
from counterfoil.evaluation.day_notes import DayCounts
from counterfoil.evaluation.grid_notes import GridCounts
from counterfoil.evaluation.midnight_notes import MidnightCounts
from counterfoil.evaluation.notation_notes import NotationCounts
from counterfoil.evaluation.placeholder_notes import PlaceholderCounts
from counterfoil.evaluation.plain_notes import PlainCounts
from counterfoil.evaluation.seen_cells import SeenCells
from counterfoil.evaluation.thousands_notes import ThousandsCounts
from counterfoil.evaluation.word_notes import WordCounts
from counterfoil.evaluation.zero_notes import ZeroCounts
from counterfoil.listing import first_few
from counterfoil.schema.boolean import Boolean
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.instant import Datetime, Instant
from counterfoil.schema.integer import Integer
from counterfoil.schema.notation import directives
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.one_spelling import spelled
from counterfoil.schema.placement import PlacedCells, Placement
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.real import Real
from counterfoil.schema.values import parse_number
from counterfoil.schema.white_space import WhiteSpace
from counterfoil.schema.zone import SECONDS_PER_DAY, find_zone, wall_seconds

_SMALLEST = 1e-300
_ELSEWHERE = (Placement.MOVED, Placement.BELOW, Placement.ABOVE)
MOST_IN_ONE_BIN = 0.8
"""A share of a column's numbers above which a wide bin that holds them is noted."""

_WHOLE = re.compile(r"0|-?[1-9]\d*", re.ASCII)

MOST_NAMED = 8
TOP_TEXTS = 5


@dataclass(frozen=True)
class ColumnNote:
    """Something about one column that is no mistake by itself.

    Args:
        column: its name.
        kind: "never_occurs", "missing_word_never_occurs", "rewritten", "one_bin", "day_and_month", "days", "notation",
            "left_out", "missing_spellings", "grid", "points", "lookup", "shared", "follows", "digits", "sum",
            "product", "length", "order", "placeholder", "missing", "skipped", "wherever", "same", "unit", "no_id",
            "spellings", "unique" or "stored".
        text: a sentence, in which the values are those that the schema states.
        count: of cells, of stated values that never occur, for "follows" of values of the other column, for
            "digits", "sum", "product", "length", "order", "wherever", "same", "no_id" and "unique" of records that show
            it, for "spellings" of identifiers, or for "missing", "skipped", "unit" and "stored" of columns.
        stated: the stated values that never occur, or are written as another one, all of them.
        values: for "rewritten", "notation", "left_out" and "points", the most frequent texts of the records with their
            counts, and for "placeholder" the numbers, where they were asked for.
        source: for "follows", the column that says the value; for "order", the one that is never above it; for "same",
            the one that it is the same as; for "length", the earlier date; for "unit", "no_id" and "spellings", the
            privacy unit.
        expression: for "digits", "sum", "product" and "length", what the derived column would say.
        gate: for "wherever" and "same", the column that decides; none for dates that are always the same.
        toml: for "same", tables of a schema that keep to it, where there are such.
    """

    column: str
    kind: str
    text: str
    count: int
    stated: tuple[str, ...] = ()
    values: tuple[tuple[str, int], ...] = ()
    source: str = ""
    expression: str = ""
    gate: str = ""
    toml: str = ""


class NoteCounts:
    """What was seen of one column so far, as far as notes need it.

    Args:
        column: the public facts.
        values: whether to keep texts of records.
    """

    def __init__(self, column: Column, *, values: bool):
        self.column = column
        self.seen = SeenCells(column)
        self._with_values = values
        self._declared = np.zeros(column.size, dtype=np.int64)
        self._all = np.zeros(column.size, dtype=np.int64)
        self._labels: set[str] = set()
        self._missing: Counter[str] = Counter()
        self._rewritten: Counter[str] = Counter()
        self._stripped = self._empty = 0
        self._days: set[int] = set()
        self._texts = False
        self._grid = GridCounts(column) if isinstance(column, Integer | Real) else None
        self._zeros = ZeroCounts(column) if isinstance(column, Integer) else None
        self._codes = PlaceholderCounts(column) if isinstance(column, Integer | Real) and not column.between else None
        self._plain = PlainCounts(column) if isinstance(column, Integer | Real) else None
        self._words = WordCounts(column) if isinstance(column, Integer | Real) else None
        self._thousands = ThousandsCounts(column) if isinstance(column, Integer | Real) else None
        self._written = DayCounts() if isinstance(column, Integer) else None
        self._notation = NotationCounts(column) if isinstance(column, Instant) else None
        self._midnights = MidnightCounts(column) if isinstance(column, Datetime) else None

    def add(self, batch: RawBatch, cells: PlacedCells) -> None:
        """Sees the cells of a batch."""
        name = self.column.name
        self.seen.add(batch, cells)
        self._texts |= batch.holds_texts(name)
        placed = np.flatnonzero((cells.codes >= 0) & (cells.codes < self.column.size))
        self._all += np.bincount(cells.codes[placed], minlength=self.column.size)
        declared = cells.codes[cells.placements == Placement.DECLARED]
        self._declared += np.bincount(declared, minlength=self.column.size)
        if self.column.missing_values:
            self._missing.update(batch.texts(name, np.flatnonzero(cells.placements == Placement.MISSING)))
        if isinstance(self.column, Categorical):
            self._add_categories(self.column, batch)
            self._add_white_space(batch, cells)
        elif isinstance(self.column, Boolean):
            self._add_labels(self.column, batch)
        elif isinstance(self.column, Instant):
            self._add_instants(self.column, batch, cells)
        if self._plain is not None and self._words is not None and batch.holds_texts(name):
            texts = Counter(batch.texts(name, np.flatnonzero(cells.placements == Placement.DECLARED)))
            self._plain.add(self._words.add(texts))
            if self._grid is not None:
                self._grid.read(texts)
            if self._zeros is not None:
                self._zeros.add(texts)
            if self._thousands is not None:
                others = np.flatnonzero(np.isin(cells.placements, _ELSEWHERE))
                self._thousands.add(texts + Counter(batch.texts(name, others)))
        if self._grid is not None and cells.numbers is not None:
            read = cells.numbers[np.isin(cells.placements, (Placement.DECLARED, Placement.MOVED))]
            self._grid.add(read)
            if self._codes is not None:
                self._codes.add(read)
            if self._written is not None:
                self._written.add(read)

    def _add_white_space(self, batch: RawBatch, cells: PlacedCells) -> None:
        changed = batch.white_space(self.column.name)
        declared, missing = (cells.placements == one for one in (Placement.DECLARED, Placement.MISSING))
        self._stripped += int((declared & (changed == WhiteSpace.STRIPPED)).sum())
        self._empty += int((missing & (changed == WhiteSpace.EMPTY)).sum())

    def _add_categories(self, column: Categorical, batch: RawBatch) -> None:
        tally = batch.tally(column.name)
        codes = column.codes_of(array_of([*tally], pa.string())).tolist()
        for (text, count), code in zip(tally.items(), codes, strict=True):
            if not 0 <= code < len(column.values):
                self.seen.add_other(column, text, count)
                continue
            if column.labels[code] == text:
                continue
            # Where the storage has numbers and so has the list, 7.0 is 7, and nothing is written in another way.
            if batch.holds_texts(column.name) or isinstance(column.values[code], str):
                self._rewritten[text] += count

    def _add_labels(self, column: Boolean, batch: RawBatch) -> None:
        if not (column.labeled or batch.holds_texts(column.name)):
            return
        tally = batch.tally(column.name)
        truths = column.parsed(array_of([*tally], pa.string()))
        for (text, count), truth in zip(tally.items(), truths.tolist(), strict=True):
            if np.isnan(truth):
                continue
            label = column.labels[int(truth)]
            same = text == label
            if same or parse_number(text, {}) == parse_number(label, {}):
                self._labels.add(label)
            if not same:
                self._rewritten[text] += count

    def _add_instants(self, column: Instant, batch: RawBatch, cells: PlacedCells) -> None:
        assert self._notation is not None
        declared = np.flatnonzero(cells.placements == Placement.DECLARED)
        self._notation.add(Counter(batch.texts(column.name, declared)), texts=batch.holds_texts(column.name))
        if self._midnights is not None and cells.numbers is not None:
            self._midnights.add(cells.numbers[declared])
        if exchangeable(column.format) and cells.numbers is not None:
            numbers = cells.numbers[np.isfinite(cells.numbers)].astype(np.int64)
            self._days.update(_days_of_month(column, np.unique(numbers)).tolist())

    def notes(self) -> Iterator[ColumnNote]:
        """What is worth a look; nothing for a table without rows."""
        if not self._all.any():
            return
        yield from self._never()
        yield from self._spellings()
        yield from self._white_space()
        yield from self._texts_of_numbers()
        yield from self._otherwise()
        yield from self._wide()
        for found in (self._zeros, self._plain, self._words):
            if found is not None and found.count:
                yield self._note("rewritten", found.said, found.count, (), found.values if self._with_values else ())
        for moment in () if self._notation is None else self._notation.notes():
            yield self._note(moment.kind, moment.text, moment.count, (), moment.values if self._with_values else ())
        if self._codes is not None and self._codes.count:
            values = self._codes.values if self._with_values else ()
            yield self._note("placeholder", self._codes.said, self._codes.count, (), values)
        if self._midnights is not None and self._midnights.count:
            yield self._note("grid", self._midnights.said, self._midnights.count)
        if self._written is not None and self._written.count:  # then no grid is theirs either
            yield self._note("days", self._written.said, self._written.count)
            return
        if self._thousands is not None and self._thousands.count:  # then no grid is theirs
            yield self._note("notation", self._thousands.said, self._thousands.count)
            return
        for note in () if self._grid is None else self._grid.notes():
            yield self._note(note.kind, note.text, note.count, (), note.values if self._with_values else ())
        if self._texts and self._days and max(self._days) <= 12:
            yield self._note(
                "day_and_month",
                "no date has a day above the 12th, so that all would also be read with day and month exchanged: make "
                "sure that `format` says which comes first",
                int(self._declared[: self.column.n_bins].sum()),
            )

    def _never(self) -> Iterator[ColumnNote]:
        column = self.column
        stated: Sequence[str] = ()
        if isinstance(column, Categorical):
            listed = column.labels[: len(column.values)]
            stated = [label for label, count in zip(listed, self._declared, strict=False) if not count]
        elif isinstance(column, Boolean) and column.labeled:
            stated = [label for label in column.labels[:2] if label not in self._labels]
        elif isinstance(column, Boolean):
            stated = [label for label, count in zip(column.labels[:2], self._declared, strict=False) if not count]
        if stated:
            one, more = ("category", "categories") if column.kind == "categorical" else ("value", "values")
            what = f"{more} never occur" if len(stated) > 1 else f"{one} never occurs"
            yield self._note(
                "never_occurs", f"{len(stated):,} declared {what}: {first_few(stated, MOST_NAMED)}", len(stated), stated
            )
        words = [word for word in column.missing_values if word and not self._was_seen(word)]
        if words:
            verb = "words for missing never occur" if len(words) > 1 else "word for missing never occurs"
            # Between quotes: a word may be a point.
            named = first_few([spelled(word) for word in words], MOST_NAMED)
            yield self._note("missing_word_never_occurs", f"{len(words):,} declared {verb}: {named}", len(words), words)

    def _texts_of_numbers(self) -> Iterator[ColumnNote]:
        """Categories that are listed as texts where the storage has numbers: a join by them finds nothing."""
        column = self.column
        if self._texts or not isinstance(column, Categorical) or column.arrow_type != pa.string():
            return
        count = int(self._declared.sum())
        if count and all(isinstance(value, str) and _WHOLE.fullmatch(value) for value in column.values):
            yield self._note(
                "notation",
                f"{count:,} of its cells are numbers in their storage, and come back as texts: list them in `values` "
                "without quotes",
                count,
            )

    def _was_seen(self, word: str) -> bool:
        """Whether a cell was missing by this word, or by another notation of the same number or moment."""
        if word in self._missing:
            return True
        if isinstance(self.column, Categorical):  # a word that is a number matches as categories do
            return any(parse_number(text, {}) == parse_number(word, {}) for text in self._missing)
        assert isinstance(self.column, NumberColumn), "columns are categories or lie on a line"
        if isinstance(self.column, Instant) and not self._texts:
            return True  # the storage has its own notation, in which the word can't be looked for
        seen, stated = (self.column.parsed(array_of(texts, pa.string())) for texts in ([*self._missing], [word]))
        return bool(np.isin(stated, seen).any())

    def _spellings(self) -> Iterator[ColumnNote]:
        """Missing values that are spelled in another way than the one in which they come back."""
        first, found = self.column.missing_word, self._missing
        others = {text: count for text, count in found.items() if text != first}
        if not others or (len(found) == 1 and not self._texts):
            return  # an empty cell of a storage that has no words is no spelling
        declared = {text for text in others if text in ("", *self.column.missing_values)}
        named = [f"{spelled(text)} ({others[text]:,})" for text in sorted(declared, key=lambda text: -others[text])]
        if rest := sum(count for text, count in others.items() if text not in declared):
            named.append(f"other notations of these ({rest:,})")
        text = f"missing values are spelled as {', '.join(named)}, and come back as {spelled(first)} alone, the first "
        text += "of `missing_values`: list first what is to be written"
        yield self._note("missing_spellings", text, sum(others.values()), sorted(declared))

    def _white_space(self) -> Iterator[ColumnNote]:
        """Of categories in storages that keep blanks, and empty texts beside nulls."""
        if self._stripped:
            count = self._stripped
            yield self._note("rewritten", f"in {count:,} of its cells white space around the text is left out", count)
        if self._empty and not self.column.missing_word:
            yield self._note(
                "missing_spellings",
                f"{self._empty:,} of its missing cells hold an empty text, which is a null in Parquet files and frames "
                "of a copy",
                self._empty,
            )

    def _otherwise(self) -> Iterator[ColumnNote]:
        count = self._rewritten.total()
        if not count:
            return
        if isinstance(self.column, Categorical):
            how = (
                "the text is not that of the category of the same number, which is written in its place: where the "
                "notation matters, list the texts as they stand, in quotes"
            )
        elif isinstance(self.column, Boolean) and self.column.labeled:
            how = "other words than the labels stand for true or false, and the labels are written: correct these"
        else:
            how = (
                "other words stand for true or false, and `true` or `false` is written: give the words as the labels "
                "`true` and `false`"
            )
        values = tuple(self._rewritten.most_common(TOP_TEXTS)) if self._with_values else ()
        yield self._note("rewritten", f"in {count:,} of its cells {how}", count, (), values)

    def _wide(self) -> Iterator[ColumnNote]:
        column = self.column
        if not isinstance(column, Integer | Real):
            return
        key = next((key for key in ("edges", "resolution", "bins") if getattr(column, key, None)), "")
        counts = self._all[: column.n_bins]
        most, total = int(counts.argmax()), int(counts.sum())
        lows, highs = column.ranges
        if column.n_bins < 2 or counts[most] <= MOST_IN_ONE_BIN * total or lows[most] == highs[most]:
            return
        share = f"{100 * counts[most] / total:.3g}%"
        if not key:
            text = f"{share} of {column.name} lie in one of the {column.n_bins:,} cells that its bounds are cut into, "
            low = 0.0 if abs(lows[most]) < _SMALLEST else lows[most]  # the cell beside 0 begins at the next number
            text += f"from {low:.6g} to {highs[most]:.6g}: give closer bounds, or `edges` within it"
            yield self._note("one_bin", text, int(counts[most]))
            return
        advice = "leave `bins` out, or give `edges`" if key == "bins" else f"leave `{key}` out, or give narrower bins"
        text = f"{share} of {column.name} lie in one of its {column.n_bins:,} bins: {advice}"
        yield self._note("one_bin", text, int(counts[most]))

    def _note(
        self,
        kind: str,
        text: str,
        count: int,
        stated: Sequence[str] = (),
        values: tuple[tuple[str, int], ...] = (),
    ) -> ColumnNote:
        return ColumnNote(self.column.name, kind, f"{text}.", count, tuple(stated), values)


def exchangeable(text_format: str) -> bool:
    """Whether a `strptime` format has the day and the month as numbers."""
    return directives(text_format) >= {"d", "m"}


def _days_of_month(column: Instant, numbers: np.ndarray) -> np.ndarray:
    """int64 [n]: the day of the month of whole units since 1970-01-01, as the column's clock shows it."""
    if column.unit == SECONDS_PER_DAY:
        days = numbers
    else:
        zone = find_zone(column.zone) if column.zone else None
        days = (numbers if zone is None else wall_seconds(numbers, zone)) // SECONDS_PER_DAY
    dates = days.astype("datetime64[D]")
    return np.unique((dates - dates.astype("datetime64[M]")).astype(np.int64) + 1)
