"""A journal beside a ledger that is not of its last transaction: rolled back, it would undo what was committed since.

SQLite takes a transaction that a killed process left half-written back from the journal beside the file's name. Where
the file was moved before that, used by its other name, and moved back, the same journal would take all of it back, and
what was spent would be free again.

Each transaction adds one to the counter in the header of the file, and its journal holds the header from before. A file
that is in the state before a transaction, within it, or after it has a counter that is at most one above that of the
journal; one that was used since by another name has a higher one, as every release makes several transactions.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from counterfoil.ledger.errors import LedgerError

_MAGIC = bytes.fromhex("d9d505f920a163d7")
_COUNTER = slice(24, 28)
"""Where the header of a file, its first page, has its counter of changes."""

_HEAD = 100

_DATABASE = b"SQLite format 3\0"

_OPENING = threading.Lock()

_OPENED: dict[tuple[int, int], int] = {}
"""Descriptors by device and inode. To close one would release the locks that SQLite holds on the file here (POSIX)."""


def require_own_journal(path: Path) -> None:
    """Refuses a file beside which lies the journal of another state of it; that of a running or killed process passes.

    Of a symbolic link SQLite reads the journal beside the file that it leads to, and so does this.

    Raises:
        LedgerError: naming the journal.
    """
    path = Path(os.path.realpath(path))
    journal = Path(f"{path}-journal")
    before = _read(journal)
    if before is None or (old := _counter_before(before)) is None:
        return
    new = _counter(path)
    if new is None or (new - old) % 2**32 <= 1 or _read(journal) != before:  # else of a process that goes on
        return
    raise LedgerError(
        f"A ledger is read with its own journal. Found {journal}, of a run that was killed, and {path} was written "
        "elsewhere since then: the journal would take back what was spent. Move the journal away; all that the ledger "
        "counts by itself is spent."
    )


def _read(journal: Path) -> bytes | None:
    with suppress(OSError):
        if journal.stat().st_size:
            return journal.read_bytes()
    return None


def _counter_before(journal: bytes) -> int | None:
    """The counter in the first page as a journal holds it; None where nothing would be taken back, or not that page."""
    if len(journal) < 28 or not journal.startswith(_MAGIC):
        return None
    pages, sector, size = (int.from_bytes(journal[at : at + 4], "big") for at in (8, 20, 24))
    if sector < 28 or size < 512:
        return None
    if pages == 2**32 - 1:  # not counted: as many as there are
        pages = len(journal) // size
    for number in range(pages):
        start = sector + number * (size + 8)
        page = journal[start + 4 : start + 4 + size]
        if len(page) < size:
            return None
        if int.from_bytes(journal[start : start + 4], "big") == 1:
            return int.from_bytes(page[_COUNTER], "big")
    return None


def head_of(path: Path) -> bytes:
    """The first 100 bytes of a file.

    That of a database stays open: to close it would release the locks that another thread holds on it through SQLite,
    and two processes would write to it at once.

    Raises:
        OSError: when it can't be read.
    """
    if os.name != "posix":
        with path.open("rb") as stream:
            return stream.read(_HEAD)
    status = path.stat()
    place = status.st_dev, status.st_ino
    with _OPENING:
        if place in _OPENED:
            return os.pread(_OPENED[place], _HEAD, 0)
        descriptor = os.open(path, os.O_RDONLY)
        head = b""
        try:
            head = os.pread(descriptor, _HEAD, 0)
        finally:
            if head.startswith(_DATABASE):
                _OPENED[place] = descriptor
            else:
                os.close(descriptor)
        return head


def _counter(path: Path) -> int | None:
    """The counter in a file."""
    with suppress(OSError):
        header = head_of(path)
        return int.from_bytes(header[_COUNTER], "big") if len(header) == _HEAD else None
    return None
