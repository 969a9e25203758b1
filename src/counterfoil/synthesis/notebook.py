"""A release as a short table for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from counterfoil.pictures.notebook_table import MOST_ROWS, notebook_line, notebook_page, notebook_table
from counterfoil.receipt.text import NOT_PRIVATE, terms_of
from counterfoil.synthesis.description import ColumnDescription, described, with_values

if TYPE_CHECKING:
    from counterfoil.synthesis.point_synthesis import PointSynthesis
    from counterfoil.synthesis.synthesis import Synthesis

_MOST_WARNINGS = 8


def release_html(release: Synthesis | PointSynthesis) -> str:
    """Each column in words, with how far it may be off where that is known, and what the receipt warns of."""
    document = release.receipt.document
    columns = [column.name for column in with_values(release.schema)]
    heading = f"{release.rows:,} synthetic rows of {document['source']}: not real people"
    found = described(release, columns[:MOST_ROWS])
    known = any(one.off_by is not None for one in found)
    rows = [
        (one.name, one.kind, one.values, f"{one.missing:.1%}" if one.missing else "", *([_bar(one)] if known else []))
        for one in found
    ]
    more = len(columns) - len(found)
    notes = [notebook_line(f"and {more:,} more columns")] if more else []
    if known:
        notes.append(notebook_line("Off by: the largest share of records in other codes than these, with 95%."))
    notes += _warnings(document["warnings"])
    alarm = "" if release.receipt.private else NOT_PRIVATE
    headings = ("column", "kind", "values", "missing", *(["off by"] if known else []))
    table = notebook_table(headings, rows)
    return notebook_page(heading, notebook_line(terms_of(document)), table, *notes, alarm=alarm)


def _warnings(sentences: Sequence[str]) -> list[str]:
    """What the command prints below a release, and nothing else shows in a notebook."""
    lines = [notebook_line(f"WARNING: {sentence}") for sentence in sentences[:_MOST_WARNINGS]]
    more = len(sentences) - len(lines)
    return [*lines, notebook_line(f"and {more:,} more warnings: see receipt.text()")] if more > 0 else lines


def _bar(one: ColumnDescription) -> str:
    if one.derived:
        return "derived"
    return "" if one.off_by is None else f"up to {one.off_by:.1%}"
