"""A ledger's file together with the sums of its entries, which never run ahead of what is committed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from counterfoil.ledger.entry import stamped
from counterfoil.ledger.file import START, LedgerFile, Position, Row
from counterfoil.ledger.state import FORMAT_OF, LedgerState


class Book:
    """The file of a ledger, and its state as far as this process has read.

    Each use looks at the file anew, so that what other processes wrote is seen, and checks the new entries and the last
    one known. Usable by several threads; not across a fork.

    Args:
        file: which the book reads from its first entry on.
    """

    def __init__(self, file: LedgerFile) -> None:
        self.state = LedgerState()
        self._file = file
        self._position = START
        self._appended: list[Row] = []

    @contextmanager
    def reading(self) -> Iterator[LedgerState]:
        """The state as it is in the file now, in one consistent view."""
        with self._file.transaction(write=False):
            self._catch_up()
            yield self.state

    @contextmanager
    def writing(self) -> Iterator[LedgerState]:
        """The same, alone among all processes: what is appended inside is durable at the end, or not written at all."""
        with self._file.lock:
            self._appended.clear()
            with self._file.transaction(write=True):
                self._catch_up()
                yield self.state
            for row in self._appended:  # committed: only now are they part of what this process has seen
                self._take_in(row)

    def append(self, kind: str, *, form: int | None = None, **details: Any) -> int:
        """Adds an entry; to be called inside `writing`.

        Args:
            kind: one of `state.KEYS`.
            form: the first format of files that have such an entry, where its kind alone does not say it.
            details: the keys of its kind.

        Returns:
            its number.
        """
        row = self._file.append(self._position, stamped(kind, **details), form=form or FORMAT_OF.get(kind, 1))
        self._appended.append(row)
        return row.number

    def _catch_up(self) -> None:
        for row in self._file.rows_after(self._position):
            self._take_in(row)

    def _take_in(self, row: Row) -> None:
        self.state.apply(row.number, row.body)
        self._position = Position(row.number, row.hash)
