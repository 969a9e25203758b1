"""Derived columns that `check` proposes, so that a schema takes all of them: none follows from another one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from counterfoil.evaluation.column_notes import ColumnNote

_NAME = re.compile(r"`([^`]+)`|[^\W\d]\w*(?!\s*\()")
"""A column as expressions name it; no function."""


def pasted_together(notes: Iterable[ColumnNote]) -> list[ColumnNote]:
    """The notes; where one proposes an expression with a column that another one proposes to derive, with what that
    follows from in its place.

    Columns that follow from one another stay as they are: only one of them can be derived.
    """
    listed = [*notes]
    given: dict[str, str] = {}
    for note in listed:
        if note.expression:
            given.setdefault(note.column, note.expression)
    return [_in_full(note, given) if note.expression else note for note in listed]


def _in_full(note: ColumnNote, given: Mapping[str, str]) -> ColumnNote:
    found = _replaced(note.expression, given, frozenset((note.column,)))
    if found is None or found == note.expression:
        return note
    text = note.text.replace(f'expression = "{note.expression}"', f'expression = "{found}"')
    return replace(note, text=text, expression=found)


def _replaced(expression: str, given: Mapping[str, str], above: frozenset[str]) -> str | None:
    """An expression in terms of columns that are kept; None for one that comes back to a column that it gives."""
    pieces, end = [], 0
    for match in _NAME.finditer(expression):
        name = match[1] or match[0]
        if name in above:
            return None
        if name in given:
            inner = _replaced(given[name], given, above | {name})
            if inner is None:
                return None
            pieces += [expression[end : match.start()], f"({inner})"]
            end = match.end()
    return "".join([*pieces, expression[end:]])
