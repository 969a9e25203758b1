"""What `counterfoil check` says alike of several columns, in one sentence: thirty-six months of a bank differ in counts
alone.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from counterfoil.alike import columns_named

if TYPE_CHECKING:
    from counterfoil.evaluation.column_notes import ColumnNote

_COUNTED = ("missing_spellings", "points")
"""Kinds of notes whose numbers outside quotes are counts and shares: no names, no values, nothing to write."""
_ONE_COUNT = ("notation", "rewritten", "left_out", "placeholder")
"""Kinds of notes of which one number is a count of cells, that of the note, and others are to be written."""
_QUOTED = re.compile(r"""("[^"]*"|`[^`]*`)""")
_COUNT = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?%?", re.ASCII)


def note_key(note: ColumnNote) -> Hashable | None:
    """What is the same in notes that are said together; None for one that is said by itself."""
    if note.values or note.toml:
        return None
    if note.kind == "follows":
        return note.kind
    return note.kind, *_pieces(note)[::2]


def said_of(notes: Sequence[ColumnNote]) -> str:
    """One note, or what several with one key say.

    Args:
        notes: with one key.
    """
    note, named = notes[0], columns_named([one.column for one in notes])
    if len(notes) == 1:
        return f"{named}: {note.text}"
    if note.kind == "follows":
        return _follow(notes)
    pieces = zip(*map(_pieces, notes), strict=True)
    return f"{named}: {''.join(map(_range, pieces))}"


def _follow(notes: Sequence[ColumnNote]) -> str:
    followed = ", ".join(f"{note.column} by {note.source}" for note in notes)
    return (
        f"in {len(notes):,} columns: in all records each value of another column goes with one value, or bin, of this "
        "column, and rows of a copy will not all keep to it. Where the public knows which go together, make it a "
        f"derived column with a `lookup`, or state rules: {followed}."
    )


def _pieces(note: ColumnNote) -> list[str]:
    """What a note says in pieces, of which every second is a count."""
    if note.kind in _COUNTED:
        return _with_counts(note.text)
    before, count, after = note.text.partition(f"{note.count:,}") if note.kind in _ONE_COUNT else (note.text, "", "")
    return [before, count, after]


def _with_counts(text: str) -> list[str]:
    """A sentence in pieces, of which every second is a number; what stands between quotes is none."""
    pieces = [""]
    for place, part in enumerate(_QUOTED.split(text)):
        if place % 2:
            pieces[-1] += part
            continue
        end = 0
        for found in _COUNT.finditer(part):
            pieces[-1] += part[end : found.start()]
            pieces += [found.group(), ""]
            end = found.end()
        pieces[-1] += part[end:]
    return pieces


def _range(alike: Sequence[str]) -> str:
    """What stands at one place of several sentences: the same text, or counts from the least to the most."""
    if len(set(alike)) == 1:
        return alike[0]
    ordered = sorted(alike, key=lambda text: float(text.replace(",", "").rstrip("%")))
    return f"{ordered[0]} to {ordered[-1]}"
