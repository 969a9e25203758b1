"""What goes wrong with a schema, or with a value that a schema has no place for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from counterfoil.listing import first_few

_ALIKE = 3
"""From so many columns on, what is open for all of them is said once."""
_MOST_NAMED = 20
"""So many columns are named in one line."""


class SchemaError(ValueError):
    """The schema contradicts itself, or can't be understood."""


class UnconfirmedSchema(SchemaError):
    """A draft whose facts nobody has confirmed yet."""


class UnreadableType(ValueError):
    """A column is stored in a type that its public facts don't explain; a type is public, and no value is read."""


@dataclass(frozen=True)
class Unconfirmed:
    """A column of a draft: `facts` are sentences on what is still to be said about it."""

    column: str
    facts: tuple[str, ...]


def open_facts(confirm: Sequence[Unconfirmed]) -> list[str]:
    """A line for each fact of a column that is open; one for all columns where it is for many, at the first of them."""
    columns = dict[str, list[str]]()
    for item in confirm:
        for fact in item.facts:
            columns.setdefault(fact, []).append(repr(item.column))
    lines = list[str]()
    for name, fact in ((repr(item.column), fact) for item in confirm for fact in item.facts):
        alike = columns[fact]
        if len(alike) < _ALIKE:
            lines.append(f"  {name}: {fact}")
        elif name == alike[0]:
            lines.append(f"  {first_few(alike, _MOST_NAMED)}: {fact}")
    return lines


class UnplacedValue(ValueError):
    """A value for which the public facts give no place, and which may not be dropped silently.

    Attributes: `column`, and `row`, counted from 0 in the array or table that was read. The value itself is
    a record's and is kept out of the message, unless the steward asked for it (`value`).
    """

    def __init__(self, column: str, row: int, problem: str, remedy: str, *, place: str = "", value: str = ""):
        self.column, self.row, self.problem, self.remedy, self.place = column, row, problem, remedy, place
        shown = f" {value}" if value else ""
        super().__init__(f"Column {column!r}, {place or f'row {row + 1}'}: the value{shown} {problem}. {remedy}")

    def located(self, row: int, place: str, value: str = "") -> UnplacedValue:
        """The same error, with its row counted from the start of the source and in the reader's words."""
        return UnplacedValue(self.column, row, self.problem, self.remedy, place=place, value=value)

    def advising(self, remedy: str) -> UnplacedValue:
        """The same error with another remedy, for readers of whom the schema's can't be asked."""
        error = UnplacedValue(self.column, self.row, self.problem, remedy, place=self.place)
        for note in getattr(self, "__notes__", ()):
            error.add_note(note)
        return error


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint to append to a sentence: the closest known name, or all of them when they are few."""
    names = [str(other) for other in known]
    return closest(name, names) or (f" Known: {', '.join(names)}." if 0 < len(names) <= 12 else "")


def closest(name: str, known: Iterable[str]) -> str:
    """The closest known name as a hint, or nothing: for a sentence that lists all of them itself."""
    names = [str(other) for other in known]
    close = difflib.get_close_matches(name, names, n=1)
    if not close and name:
        folded = {other.casefold(): other for other in names}
        close = [folded[name.casefold()]] if name.casefold() in folded else []
    return f" Did you mean {close[0]!r}?" if close else ""
