"""Why SQLite could not read or write a ledger, in sentences that name the remedy."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from counterfoil.ledger.errors import (
    LedgerCutShort,
    LedgerEdited,
    LedgerError,
    LedgerLocked,
    LedgerUnwritable,
    NotALedger,
)
from counterfoil.ledger.journal import head_of

APPLICATION_ID = 0x43746672  # "Ctfr", in the header of the file, where `file` and SQLite show it
BACKUP = "Restore the ledger from a backup, and take what was released since then as spent."


@contextmanager
def sentences(name: str, path: Path | None, timeout: float) -> Iterator[None]:
    """Turn SQLite's errors into sentences that name the remedy.

    Args:
        name: what to call the ledger.
        path: its file, to look at; None for one in memory.
        timeout: how many seconds were waited for other processes.

    Raises:
        LedgerError: of the class that fits.
    """
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a closed ledger: a mistake in the program, not in the file
    except sqlite3.Error as error:
        raise _explain(name, path, timeout, error) from error


def _explain(name: str, path: Path | None, timeout: float, error: sqlite3.Error) -> LedgerError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    match code & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return LedgerLocked(
                f"{name} is in use by another process and stayed locked for {timeout:g} s. Wait until that run "
                "has finished, or end it, and try again."
            )
        case sqlite3.SQLITE_FULL:
            return LedgerUnwritable(f"{name}: the disk is full. Free some space and try again.")
        case sqlite3.SQLITE_READONLY if code == sqlite3.SQLITE_READONLY_ROLLBACK:
            return LedgerUnwritable(
                f"{name}: a run was killed while it wrote, and taking its unfinished entry back needs permission "
                f"to write. Grant it, or copy the ledger together with {name}-journal to a folder of your own."
            )
        case sqlite3.SQLITE_READONLY:
            return LedgerUnwritable(f"{name} can't be written. Grant permission to write the file and its folder.")
        case sqlite3.SQLITE_CANTOPEN if path is not None and not path.exists():
            create = f"counterfoil ledger create {shlex.quote(str(path))} --source TABLE --epsilon E --delta D"
            remedy = f"Create one, `{create}` (in Python `Ledger.create`), or correct the path."
            return NotALedger(f"There is no ledger at {name}. {remedy}")
        case sqlite3.SQLITE_CANTOPEN:
            return NotALedger(
                f"{name} can't be opened. It must be a file that you may read, in a folder you may write."
            )
        case sqlite3.SQLITE_NOTADB | sqlite3.SQLITE_CORRUPT if path is not None:
            return not_a_ledger(path)
        case sqlite3.SQLITE_IOERR:
            # Mostly a quota or a limit on the size of files: an intact ledger must not make way for an older one.
            return LedgerError(
                f"{name} could not be read or written ({error}). Check the disk, its space and its quotas, and try "
                "again: an entry that was not written whole is taken back. Only where `counterfoil ledger show` can't "
                f"read it then: {BACKUP[0].lower()}{BACKUP[1:]}"
            )
    return LedgerEdited(f"{name} is damaged ({error}). {BACKUP}")


def not_a_ledger(path: Path) -> LedgerError:
    """Tell apart a file cut short, a damaged ledger and some other file, by the first 100 bytes (SQLite's header)."""
    try:
        header = head_of(path)
        size = path.stat().st_size
    except OSError as error:
        return NotALedger(f"{path} can't be read: {error.strerror}.")
    if not header:
        return LedgerCutShort(
            f"{path} is empty. If its creation was interrupted, delete it and create it again; otherwise it was "
            f"cut short. {BACKUP}"
        )
    magic = b"SQLite format 3\0"
    if not header.startswith(magic[: len(header)]):
        return NotALedger(f"{path} is not a ledger. Correct the path, or create a ledger under another name.")
    declared = int.from_bytes(header[16:18], "big") * int.from_bytes(header[28:32], "big")  # page size, pages
    if len(header) < 100 or size < declared:
        return LedgerCutShort(f"{path} was cut short: {size} bytes are left of {max(declared, 100)}. {BACKUP}")
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        return NotALedger(f"{path} is a database, but not a ledger. Correct the path.")
    return LedgerEdited(f"{path} is damaged. {BACKUP}")
