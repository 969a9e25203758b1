"""What a schema does to a table, cell by cell: NOT PRIVATE, for the steward's own terminal, before anything is made."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.blocks import page_of, text_of
from counterfoil.curator.given import ledger_given, schema_given
from counterfoil.curator.raw_reading import RawBatch, read_without_privacy
from counterfoil.curator.source_facts import columns_of
from counterfoil.evaluation.absent_notes import AbsentCounts
from counterfoil.evaluation.broken_facts import BrokenFact, BrokenFacts, FactCount
from counterfoil.evaluation.cell_blocks import said_of_cells
from counterfoil.evaluation.column_notes import ColumnNote, NoteCounts
from counterfoil.evaluation.date_length_notes import DateLengthCounts
from counterfoil.evaluation.date_part_notes import DatePartCounts
from counterfoil.evaluation.derived_notes import DerivedNotes
from counterfoil.evaluation.digit_notes import DigitCounts
from counterfoil.evaluation.empty_records import EmptyRecords
from counterfoil.evaluation.equal_dates import EqualDates
from counterfoil.evaluation.follower_notes import FollowerCounts
from counterfoil.evaluation.id_notes import IdCounts
from counterfoil.evaluation.number_order_notes import NumberOrderCounts
from counterfoil.evaluation.order_notes import OrderCounts
from counterfoil.evaluation.pasted_together import pasted_together
from counterfoil.evaluation.product_notes import ProductCounts
from counterfoil.evaluation.repeated_names import RepeatedNames
from counterfoil.evaluation.skip_notes import SkipCounts
from counterfoil.evaluation.stored_notes import stored_notes
from counterfoil.evaluation.sum_notes import SumCounts
from counterfoil.evaluation.total_rows import TotalRows
from counterfoil.evaluation.unique_notes import UniqueCounts
from counterfoil.evaluation.unit_notes import UnitCounts
from counterfoil.evaluation.wherever_notes import WhereverNotes
from counterfoil.kept_files import kept_source
from counterfoil.ledger.ledger import Ledger
from counterfoil.schema import Schema
from counterfoil.schema.checkable import Checkable, checkable
from counterfoil.schema.derived import Derived
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.integer import AS_CODES
from counterfoil.schema.lookup_gaps import lookup_gaps
from counterfoil.schema.placeholder_words import placeholder_remedy
from counterfoil.schema.placement import Placement
from counterfoil.schema.placement_words import ColumnWords
from counterfoil.schema.rounded_lookups import rounded_lookups
from counterfoil.schema.shared_values import shared_values
from counterfoil.schema.unread_cells import UnreadCells

FIRST_ROWS = 5
TOP_VALUES = 5
REASON = "a check of the schema against the table"
_SUMS = ("sum", "product")


class _Related(Protocol):
    """What is counted of columns together."""

    def add(self, batch: RawBatch) -> None: ...

    def notes(self) -> Iterator[ColumnNote]: ...


_RELATED: tuple[Callable[[Schema], _Related], ...] = (
    FollowerCounts,
    DigitCounts,
    DatePartCounts,
    DateLengthCounts,
    SumCounts,
    ProductCounts,
    OrderCounts,
    EqualDates,
    NumberOrderCounts,
    AbsentCounts,
    EmptyRecords,
    RepeatedNames,
    TotalRows,
    SkipCounts,
    WhereverNotes,
    UniqueCounts,
)


@dataclass(frozen=True)
class Irregular:
    """The cells of one column that were placed in one way.

    Args:
        way: the placement.
        count: how many there are.
        rows: the first of them, as numbers of lines of a text file, else of rows from 1.
        values: the most frequent ones with their counts, where they were asked for.
        seen: what they look like, where they could not be read or are not listed.
        grouped: how many are texts such as 1.234 in a column of integers, of which a decimal comma makes 1234.
        inexact: how many lie so far from 0 that no bound of a column of numbers can reach them.
        placeholders: how many lie beyond a bound at a value that may stand for none, such as 9999-12-31, and how many
            such values there are.
    """

    way: Placement
    count: int
    rows: tuple[int, ...]
    values: tuple[tuple[str, int], ...] = ()
    seen: UnreadCells = field(default_factory=UnreadCells)
    grouped: int = 0
    inexact: int = 0
    placeholders: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class ColumnReport:
    """One column: its words, and its cells that are not as declared, by placement.

    Args:
        words: the public facts that sentences need.
        irregular: the placements that occur, missing values where they are declared included.
        problem: why the column can't be read at all; empty where it can.
    """

    words: ColumnWords
    irregular: tuple[Irregular, ...]
    problem: str = ""

    @property
    def found(self) -> tuple[Irregular, ...]:
        """What speaks against the schema."""
        return tuple(one for one in self.irregular if self.words.is_wrong(one.way))

    def remedy(self, one: Irregular) -> str:
        """What to change about cells of `irregular`, as an imperative; empty where nothing has to be."""
        seen = one.way is Placement.OTHER and (any(one.seen.notations.values()) or one.seen.measures > 0)
        if (one.way is Placement.UNREADABLE or seen) and self.words.is_wrong(one.way):
            return self.words.seen_remedy(one.count, one.seen)
        if one.way is Placement.MOVED and one.grouped == one.count:
            return self.words.thousands_remedy()
        if one.inexact and self.words.is_wrong(one.way):
            return AS_CODES
        count, values = one.placeholders
        return placeholder_remedy(self.words, one.way, count, values, of=one.count) or self.words.remedy(one.way)

    @property
    def holds(self) -> bool:
        """Whether each cell is as declared; `other` is declared for what goes there."""
        return not self.problem and all(one.way is Placement.OTHER for one in self.found)


@dataclass(frozen=True)
class SchemaReport:
    """How all cells of a table are placed. NOT PRIVATE: the figures are exact.

    `print` it, or show it in a notebook, for what `counterfoil check` prints.

    Args:
        source: what the table is called.
        rows: how many it has.
        counted_in: what `Irregular.rows` and `BrokenFact.rows` count: "line" or "row".
        columns: in the schema's order.
        facts: the rules, the lists of zeros, and the derived columns that the table has too, with their records.
        notes: what is worth a look, and no mistake by itself.
        beside: how many further columns there are whose values are not among these cells, by what they are.
        draft: what was left out, where the schema is a draft; None where it is none.
    """

    source: str
    rows: int
    counted_in: str
    columns: tuple[ColumnReport, ...]
    facts: tuple[BrokenFact, ...] = ()
    notes: tuple[ColumnNote, ...] = ()
    beside: Mapping[str, int] = field(default_factory=dict)
    draft: Checkable | None = None

    def __str__(self) -> str:
        return text_of(said_of_cells(self))

    def __repr__(self) -> str:
        """Short, and without a figure: it may stand in a log."""
        return f"SchemaReport({self.source!r}, {len(self.columns):,} columns, NOT PRIVATE)"

    def _repr_html_(self) -> str:
        return page_of(str(self))

    @property
    def broken(self) -> tuple[BrokenFact, ...]:
        """The facts that records break, or that could not be checked."""
        return tuple(fact for fact in self.facts if not fact.holds)

    @property
    def holds(self) -> bool:
        """Whether each cell is as declared, `other` for what goes there, and no record breaks a fact; of no draft."""
        return self.draft is None and all(column.holds for column in self.columns) and not self.broken

    def to_json(self) -> dict[str, Any]:
        """The report as one JSON document, marked as not private."""
        return {
            "private": False,
            "warning": "NOT PRIVATE: exact statistics of the real records. DO NOT SHARE.",
            "source": self.source,
            "rows": self.rows,
            "as_declared": self.holds,
            "columns": [self._column(column) for column in self.columns],
            "facts": [self._fact(fact) for fact in self.facts],
            "notes": [_note(note) for note in self.notes],
            **({} if self.draft is None else _of_draft(self.draft)),
        }

    def _fact(self, fact: BrokenFact) -> dict[str, Any]:
        share = fact.count / self.rows if self.rows else 0.0
        found = {"kind": fact.kind, "fact": fact.fact, "holds": fact.holds, "count": fact.count, "share": share}
        problem = {"problem": fact.problem} if fact.problem else {}
        return found | {f"first_{self.counted_in}s": list(fact.rows)} | problem

    def _column(self, column: ColumnReport) -> dict[str, Any]:
        cells = [
            {
                "placement": one.way.word,
                "count": one.count,
                "share": one.count / self.rows,
                f"first_{self.counted_in}s": list(one.rows),
                "remedy": column.remedy(one),
            }
            | ({"values": [{"value": text, "count": count} for text, count in one.values]} if one.values else {})
            for one in column.irregular
        ]
        problem = {"problem": column.problem} if column.problem else {}
        return {"column": column.words.name, "as_declared": column.holds, **problem, "cells": cells}


def _of_draft(draft: Checkable) -> dict[str, Any]:
    unchecked = [{"column": one.column, "facts": list(one.facts)} for one in draft.open]
    return {"to_confirm": list(draft.to_confirm), "not_checked": unchecked}


def _note(note: ColumnNote) -> dict[str, Any]:
    document: dict[str, Any] = {"column": note.column, "note": note.kind, "text": note.text, "count": note.count}
    document |= {"stated": list(note.stated)} if note.stated else {}
    document |= {"toml": note.toml} if note.toml else {}
    values = [{"value": text, "count": count} for text, count in note.values]
    return document | ({"values": values} if values else {})


def check_without_privacy(
    source: Any,
    schema: Schema | str | Path,
    *,
    ledger: Ledger | str | Path | None = None,
    values: bool = False,
    privacy_unit: str | PrivacyUnit | tuple[str, int] | None = None,
) -> SchemaReport:
    """What a schema does to a sensitive table, cell by cell, before anything is made of it: exact, so NOT PRIVATE.

    It is for the table's steward alone: no value is refused, nothing is charged, and the table is read once. It also
    counts the records that break a rule, a list of zeros, or the derivation of a column that the table has. Of a draft,
    what it states is checked.

    Args:
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table.
        schema: the public facts about the table, or the path of the TOML file that states them.
        ledger: where the look is recorded for good: a `Ledger`, or its path; nowhere when None.
        values: whether the most frequent values that are not as declared are kept too.
        privacy_unit: the column whose values a release will protect, as a name or as `synthesize` takes it: columns
            that are the same in all rows of each are named, and what is odd about how the values are written.

    Raises:
        ValueError: for a table that can't be read at all, or that has other columns than the schema.
        TypeError: for a schema or a ledger of another type.
        LedgerError: where there is no sound ledger at the path.
    """
    facts, draft = _checked_facts(source, schema)
    with ExitStack() as opened:
        unit = privacy_unit if isinstance(privacy_unit, str) else getattr(PrivacyUnit.of(privacy_unit), "column", "")
        report = _report(source, facts, ledger_given(ledger, opened), values=values, unit=unit)
    if draft is None:
        return report
    return replace(report, draft=draft, beside={**report.beside, "ignored": draft.ignored})


def _checked_facts(source: Any, schema: Schema | str | Path) -> tuple[Schema, Checkable | None]:
    """The schema, or what can be checked of a draft; a draft of which nothing can be is refused by who reads it."""
    facts = schema_given(schema, source=source)
    if not facts.confirm or isinstance(schema, Schema):
        return facts, None
    names = columns_of(source, facts.declared, facts.encoding).types
    kept = kept_source(str(source)) if isinstance(source, (str, os.PathLike)) else ()
    draft = checkable(schema, names, sensitive=kept)
    return (facts, None) if draft is None else (draft.schema, draft)


def _report(source: Any, schema: Schema, ledger: Ledger | None, *, values: bool, unit: str) -> SchemaReport:
    table = read_without_privacy(source, schema, reason=REASON, ledger=ledger, unit=unit)
    synthesized = table.schema.synthesized
    counting = _Counting({column.name: _Cells(NoteCounts(column, values=values)) for column in synthesized}, values)
    rules = BrokenFacts(table.schema)
    related = [kind(table.schema) for kind in _RELATED]
    related += [UnitCounts(table.schema, unit), IdCounts(unit)] if unit else []
    derived = {column.name: FactCount("derived", _derivation(column)) for column in table.held}
    written = [DerivedNotes(column, values=values) for column in table.held]
    for batch in table.batches(derived=True):
        counting.add(batch)
        rules.add(batch)
        for relation in related:
            relation.add(batch)
        for name, count in derived.items():
            _add_derived(count, batch, name)
        for one in written:
            one.add(batch)
    facts = (*rules.found, *(count.found for count in derived.values()))
    firsts = {row for cells in counting.columns.values() for rows in cells.first.values() for row in rows}
    word, numbers = table.numbered(sorted(firsts | {row for fact in facts for row in fact.rows}))
    columns = tuple(counting.columns[column.name].report(ColumnWords.of(column), numbers) for column in synthesized)
    notes = tuple(note for column in synthesized for note in counting.columns[column.name].noted.notes())
    notes += tuple(note for one in written for note in one.notes())
    notes += tuple(stored_notes(table.schema, table.types))
    notes += tuple(ColumnNote(gap.column, "lookup", gap.text, gap.count) for gap in lookup_gaps(table.schema))
    notes += tuple(ColumnNote(one.column, "lookup", one.text, one.count) for one in rounded_lookups(table.schema))
    notes += tuple(ColumnNote(one.column, "shared", one.text, one.count) for one in shared_values(table.schema))
    notes += _of_related(related)
    facts = tuple(fact.renumbered(numbers) for fact in facts)
    beside = {
        "identifier": sum(isinstance(column, Identifier) for column in table.schema.columns),
        "derived": len(table.held),
        "ignored": len(table.schema.ignore),
    }
    return SchemaReport(table.name, counting.rows, word, columns, facts, notes, beside)


def _of_related(related: Sequence[_Related]) -> tuple[ColumnNote, ...]:
    """What is said of columns together; of one that an expression gives not also that another one says its values, and
    of the digits of another one not also that it is about a hundredth of it. No order is said that a sum keeps, or what
    lies between the two; and of a column that follows, or that is skipped, not what it is wherever a third one has some
    values, nor of one that others are skipped by what it is wherever these have some."""
    found = [note for relation in related for note in relation.notes()]
    digits = {note.column for note in found if note.kind == "digits"}
    notes = pasted_together(note for note in found if note.kind not in _SUMS or note.column not in digits)
    given = {note.column for note in notes if note.expression}
    given |= {note.column for note in notes if note.kind == "same" and not note.gate}
    notes = [note for note in notes if note.kind != "follows" or note.column not in given]
    followed = {note.column for note in notes if note.kind in ("follows", "skipped")}
    skips = next(relation for relation in related if isinstance(relation, SkipCounts))
    back = skips.pairs() | {(note.source, note.column) for note in notes if note.kind == "follows"}
    notes = [
        note
        for note in notes
        if not note.gate
        or not (
            note.column in followed or (note.column, note.gate) in back or given & {note.column, note.source, note.gate}
        )
    ]
    between = {frozenset((note.column, note.source)) for note in notes if note.toml or note.kind == "length"}
    sums = next(relation for relation in related if isinstance(relation, SumCounts))
    return tuple(
        note
        for note in notes
        if note.kind != "order"
        or not (frozenset((note.column, note.source)) in between or sums.implies(note.source, note.column, given))
    )


def _derivation(column: Derived) -> str:
    return f"{column.name} = {column.expression or 'lookup on ' + ', '.join(column.on)}"


def _add_derived(count: FactCount, batch: RawBatch, name: str) -> None:
    if name in batch.derived:
        count.add(batch.derived[name].differs, batch.first_row)
    else:
        count.fail(batch.problems.get(name, "Not checked: a column that it follows from can't be read."))


@dataclass
class _Cells:
    """What was seen of one column so far."""

    noted: NoteCounts
    counts: Counter[Placement] = field(default_factory=Counter)
    first: dict[Placement, list[int]] = field(default_factory=dict)
    values: dict[Placement, Counter[str]] = field(default_factory=dict)
    problem: str = ""

    def report(self, words: ColumnWords, numbers: Mapping[int, int]) -> ColumnReport:
        irregular = [
            Irregular(
                way,
                self.counts[way],
                tuple(numbers[row] for row in self.first[way]),
                tuple(self.values.get(way, Counter()).most_common(TOP_VALUES)),
                self.noted.seen.looks(way),
                self.noted.seen.grouped if way is Placement.MOVED else 0,
                self.noted.seen.inexact if way in (Placement.BELOW, Placement.ABOVE) else 0,
                self.noted.seen.placeholders(way),
            )
            for way in sorted(self.counts)
            if way is not Placement.DECLARED
        ]
        return ColumnReport(words, tuple(irregular), self.problem)


@dataclass
class _Counting:
    """Columns as they are read, batch by batch."""

    columns: dict[str, _Cells]
    with_values: bool
    rows: int = 0

    def add(self, batch: RawBatch) -> None:
        self.rows += batch.rows
        for name in self.columns.keys() & batch.problems.keys():
            self.columns[name].problem = batch.problems[name]
        for name, cells in batch.cells.items():
            self.columns[name].noted.add(batch, cells)
            self._add(self.columns[name], batch, name, cells.placements)

    def _add(self, seen: _Cells, batch: RawBatch, name: str, placements: np.ndarray) -> None:
        for code in np.flatnonzero(np.bincount(placements, minlength=len(Placement))):
            way = Placement(int(code))
            where = np.flatnonzero(placements == code)
            seen.counts[way] += len(where)
            if way is Placement.DECLARED:
                continue
            rows = seen.first.setdefault(way, [])
            rows += (batch.first_row + where[: FIRST_ROWS - len(rows)]).tolist()
            if self.with_values and way is not Placement.MISSING:
                seen.values.setdefault(way, Counter()).update(batch.texts(name, where))
