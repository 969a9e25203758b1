"""Refusals that the records cause: noted in the ledger before anybody hears of them.

A value that the schema has no place for is refused with a sentence that names its column and its row. That sentence,
and that there is one at all, is an exact fact about the records, which no budget covers. Noise can't help: a table that
can't be read has no answer to which noise could be added. So refusals are counted instead, and `counterfoil ledger
show` says how many there were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

UNNOTED = "The ledger could not note that this request was refused:"


@contextmanager
def noting_refusals(record: Callable[[], None]) -> Iterator[None]:
    """Calls `record` before an error that is raised inside, where records are read, gets out.

    Every error counts, whatever its class, because what happens inside depends on the records. What public facts alone
    decide must be decided outside. An error that can't be noted gets out as well, with a note that says so
    (`note_of`): whoever may run this on a ledger that can't be written would otherwise be kept from mending it.

    Args:
        record: `Ledger.record_refusal` or `Release.record_refusal`.
    """
    try:
        yield
    except Exception as refusal:
        try:
            record()
        except Exception as error:
            refusal.add_note(f"{UNNOTED} {error}")
        raise


def note_of(refusal: BaseException) -> str:
    """What `noting_refusals` had to add; empty where the refusal was noted, or there was nothing to note."""
    return " ".join(note for note in getattr(refusal, "__notes__", ()) if note.startswith(UNNOTED))
