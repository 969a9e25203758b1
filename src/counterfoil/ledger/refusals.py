"""Refusals that the records cause: noted in the ledger before their message is shown.

A value that the schema has no place for is refused with a sentence that names its column and its row. That sentence,
and that there is one at all, is an exact fact about the records, which no budget covers. Noise can't help: a table that
can't be read has no answer to which noise could be added. So refusals are counted instead, and `counterfoil ledger
show` says how many there were.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

UNNOTED = "The ledger could not note that this request was refused:"


class RefusalLog(Protocol):
    """A `Ledger`, or a `Release` of one."""

    def record_refusal(self) -> None:
        """Record that a request was refused because of what the records hold."""
        ...


@contextmanager
def noting_refusals(log: RefusalLog) -> Iterator[None]:
    """Has `log` record an error that is raised inside, where records are read, before it gets out.

    Every error counts, whatever its class (a panic of a library in Rust is no `Exception`), because what happens inside
    depends on the records; interrupts don't count. What public facts alone decide must be decided outside. An error
    that can't be noted gets out as well, with a note that says so (`note_of`): a steward whose ledger can't be
    written must still learn what is wrong with the table.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as refusal:
        try:
            log.record_refusal()
        except Exception as error:
            refusal.add_note(f"{UNNOTED} {error}")
        raise


def note_of(refusal: BaseException) -> str:
    """The note that `noting_refusals` added; empty where the refusal was noted, or there was nothing to note."""
    return " ".join(note for note in getattr(refusal, "__notes__", ()) if note.startswith(UNNOTED))
