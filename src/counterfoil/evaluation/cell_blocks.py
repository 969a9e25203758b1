"""What a check of a schema against a table says, as paragraphs: NOT PRIVATE."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from counterfoil.alike import columns_named, grouped
from counterfoil.blocks import IN_JSON, Alarm, wrapped
from counterfoil.evaluation.fact_blocks import broken_facts, notes
from counterfoil.listing import first_few
from counterfoil.schema.errors import open_facts

if TYPE_CHECKING:
    from counterfoil.evaluation.schema_report import ColumnReport, Irregular, SchemaReport
    from counterfoil.schema.checkable import Checkable

ALARM = "NOT PRIVATE: these are exact facts about the real records. DO NOT SHARE them."
_MOST_NAMED = 20
_NO_ROWS = (
    "NO ROWS: the table must have rows for its values to be checked. Found a header alone: only the names of its "
    "columns were compared with the schema."
)


def _beside(report: SchemaReport) -> str:
    """What else the table has, so that its columns add up; empty where there is nothing."""
    words = {
        "identifier": ("identifier, whose values are not checked", "identifiers, whose values are not checked"),
        "derived": (
            "derived column, which a note names where the table has other values",
            "derived columns, which a note names where the table has other values",
        ),
        "ignored": ("ignored column, which is not read", "ignored columns, which are not read"),
    }
    found = [f"{count:,} {words[kind][count > 1]}" for kind, count in report.beside.items() if count]
    return f" Beside them {', and '.join(found)}." if found else ""


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def said_of_cells(report: SchemaReport) -> Iterator[str]:
    """A paragraph for each column and each fact that something speaks against, a sentence for the rest, and notes."""
    yield Alarm(ALARM)
    columns = len(report.columns)
    yield wrapped(f"{report.source}: {report.rows:,} rows, {_number(columns, 'column')}.{_beside(report)}")
    if not report.rows:
        # That every value of none is as declared would be true, and would pass for a check.
        yield Alarm(wrapped(_NO_ROWS))
    wrong = [column for column in report.columns if column.found or column.problem]
    for columns_alike in grouped(wrong, _slips):
        yield ""
        if len(columns_alike) == 1:
            yield from _of_column(columns_alike[0], report)
        else:
            yield from _of_alike(columns_alike, report)
    yield from broken_facts(report)
    yield ""
    fine = len(report.columns) - len(wrong)
    missing = [
        f"{column.words.name} {_percent(one.count, report.rows)}"
        for column in report.columns
        for one in column.irregular
        if one not in column.found
    ]
    if fine and report.rows:
        which = f"{'the other ' if wrong else ''}{fine:,} {'column' if fine == 1 else 'columns'}"
        yield f"In {which}, every value is as declared."
    if missing:
        yield wrapped(f"Missing, as declared: {', '.join(missing)}.")
    yield from notes(report)
    if report.draft is not None:
        yield from _of_draft(report.draft)
    yield Alarm(ALARM)


def _slips(column: ColumnReport) -> Hashable | None:
    """What is said of a column but its name, its numbers and its lines; None where its values are shown."""
    if column.problem or any(one.values for one in column.found):
        return None
    words = column.words
    said = tuple((words.happened(one.way), column.remedy(one)) for one in column.found)
    return words.kind, words.lower, words.upper, said


def _of_alike(columns: Sequence[ColumnReport], report: SchemaReport) -> Iterator[str]:
    """One paragraph for columns of which the same is said, with the column that has most of it."""
    words = columns[0].words
    bounds = f", {words.lower} to {words.upper}" if words.lower else ""
    named = columns_named([column.words.name for column in columns])
    yield wrapped(f"{named[0].upper()}{named[1:]} ({words.kind}{bounds})")
    for place, first in enumerate(columns[0].found):
        worst = max(columns, key=lambda column: column.found[place].count)
        most, total = worst.found[place], sum(column.found[place].count for column in columns)
        share = f"at most {_percent(most.count, report.rows)} of one column"
        said = f"{words.happened(first.way)}: {columns[0].remedy(first)}"
        yield wrapped(f"{total:,} in all ({share}) {said}.", indent="  ")
        where = f"most in {worst.words.name}, {_where(most, report.counted_in)}; {IN_JSON} lists each column"
        yield wrapped(where, indent="    ")


def _of_column(column: ColumnReport, report: SchemaReport) -> Iterator[str]:
    words = column.words
    bounds = f", {words.lower} to {words.upper}" if words.lower else ""
    yield wrapped(f"{words.name} ({words.kind}{bounds})")
    if column.problem:
        yield wrapped(column.problem, indent="  ")
    for one in column.found:
        share = _percent(one.count, report.rows)
        yield wrapped(f"{one.count:,} ({share}) {words.happened(one.way)}: {column.remedy(one)}.", indent="  ")
        yield wrapped(_where(one, report.counted_in), indent="    ")
        if one.values:
            listed = ", ".join(f"{text!r} ({count:,})" for text, count in one.values)
            yield wrapped(f"most often {listed}", indent="    ")


def _where(one: Irregular, counted_in: str) -> str:
    more = ", ..." if one.count > len(one.rows) else ""
    return f"{counted_in}{'s' if one.count > 1 else ''} {', '.join(str(row) for row in one.rows)}{more}"


def _percent(count: int, rows: int) -> str:
    return f"{100 * count / rows:.3g}%"


def _of_draft(draft: Checkable) -> Iterator[str]:
    """What of a draft was not checked, and what nobody confirmed."""
    yield "\nThe schema is a draft, and no release can be made of it."
    if draft.to_confirm:
        named = first_few(draft.to_confirm, _MOST_NAMED)
        yield wrapped(f"Checked as it stands, and still to be confirmed from public knowledge: {named}.")
    if draft.open:
        yield "Not checked, as this is not said yet:"
        for line in open_facts(draft.open):
            yield wrapped(line.strip(), "  ")
    if draft.without:
        facts = "One rule or derivation that names" if draft.without == 1 else f"{draft.without:,} facts that name"
        yield wrapped(f"{facts} these columns {'was' if draft.without == 1 else 'were'} left out, too.")
