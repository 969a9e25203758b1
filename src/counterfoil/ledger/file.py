"""The file behind a ledger: entries that can be appended and read, in SQLite, chained by hash.

An entry is a line of canonical JSON. Its hash is SHA-256 over the hash of the entry before it and that line; a
head records how many entries there are and the last hash, under a seal that is itself a hash, so that SQL
alone, which has no SHA-256, can't write a head that fits.

**Durability.** The file uses SQLite's rollback journal with `synchronous = EXTRA`: a transaction is committed
once its journal is unlinked, and EXTRA syncs the folder after that, so that no power failure brings the journal
back and undoes the charge. (FULL omits that last sync: it can lose a commit that was
already acknowledged.) A process killed earlier leaves the journal behind, and the next one to open the ledger
rolls the half-written entry back. A write-ahead log would be as durable but is a second file that holds the
latest entries for long: copying or restoring the first without the second loses charges without a trace.

**What the chain can't show.** Whoever recomputes every hash can write any history, and a copy of the file made
earlier is a valid, shorter ledger: the chain guards against accidents and casual edits, not against the owner
of the file. Keep the last hash elsewhere (receipts are a good place); a ledger without it is not the same one.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterfoil.ledger.diagnosis import APPLICATION_ID, BACKUP, not_a_ledger, sentences
from counterfoil.ledger.errors import LedgerCutShort, LedgerEdited, LedgerError, LedgerUnwritable, NotALedger
from counterfoil.ledger.journal import require_own_journal

FORMATS = (1, 2, 3, 4, 5)
"""A file has the first format until an entry is written that versions which know only that one could not read."""

_TABLES = {
    "entries": "CREATE TABLE entries (number INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL)",
    "head": "CREATE TABLE head (id INTEGER PRIMARY KEY CHECK (id = 1), count INTEGER NOT NULL, "
    "hash TEXT NOT NULL, seal TEXT NOT NULL)",
}


_Identity = tuple[int, int] | None  # device and inode; None in memory


@dataclass(frozen=True)
class Position:
    """How far a reader has come: after `count` entries, of which the last has this hash."""

    count: int
    hash: str


START = Position(0, hashlib.sha256(b"counterfoil ledger").hexdigest())


@dataclass(frozen=True)
class Row:
    """A verified entry: its place (the first is 1), what it says, and its hash."""

    number: int
    body: dict[str, Any]
    hash: str


class LedgerFile:
    """Append-only, hash-chained entries in one SQLite file, or in memory.

    Every access is inside `transaction`, which is safe between threads and between processes.
    """

    def __init__(
        self, connection: sqlite3.Connection, path: Path | None, *, identity: _Identity, timeout: float
    ) -> None:
        self.path = path
        self.name = "in memory" if path is None else str(path)
        self._connection = connection
        self._timeout = timeout
        self.lock = threading.RLock()
        self._process = os.getpid()
        self._identity = identity
        self._finalizer = weakref.finalize(self, connection.close)
        self._finalizer.atexit = False

    @classmethod
    def create(cls, path: Path, first: dict[str, Any]) -> None:
        """Write a file whose only entry is `first`, whole or not at all.

        The name is taken first, exclusively; the file is made under another name and moved over it.

        Raises:
            LedgerError: when something is at `path` already.
            LedgerUnwritable: when the folder is missing, full or read-only.
        """
        body = canonical_json(first)
        journal, draft = Path(f"{path}-journal"), Path(f"{path}.creating")
        if journal.exists():
            # SQLite would roll that journal, of an earlier file, back into the new one.
            raise LedgerError(f"A new ledger needs a clean place. Found {journal}: move it away, then try again.")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        except FileExistsError:
            raise LedgerError(
                f"A ledger is created once, at a path that is free. Found {path}: open it instead, or choose "
                "another name."
            ) from None
        except OSError as error:
            raise LedgerUnwritable(
                f"No ledger can be created at {path}: {error.strerror}. Name a place that can be written."
            ) from error
        try:
            for stale in (draft, Path(f"{draft}-journal")):
                stale.unlink(missing_ok=True)
            with sentences(str(path), draft, 0.0):
                connection = _connect(f"{draft.absolute().as_uri()}?mode=rwc", 0.0)
                try:
                    _write_first(connection, body)
                finally:
                    connection.close()
            os.replace(draft, path)
        except BaseException:
            for leftover in (draft, Path(f"{draft}-journal"), path):
                with suppress(OSError):  # a name that is too long for the draft is no reason to leave the others
                    leftover.unlink(missing_ok=True)
            raise
        _sync_folder(path.absolute().parent)

    @classmethod
    def open(cls, path: Path, *, timeout: float) -> LedgerFile:
        """Open a file, waiting up to `timeout` seconds for other processes, and check all but its entries.

        Raises:
            NotALedger, LedgerCutShort, LedgerEdited, LedgerLocked, LedgerUnwritable: see each.
        """
        identity = _file_identity(path)  # before connecting: a file that replaces it in between is refused later
        _require_one_name(path)
        require_own_journal(path)
        with sentences(str(path), path, timeout):
            connection = _connect(f"{path.absolute().as_uri()}?mode=rw", timeout)
            try:
                # One transaction, so that no other process changes the size meanwhile. Its first read takes back
                # what a killed process left half-written, before the file is judged.
                connection.execute("BEGIN")
                _require_sound(connection, path)
                connection.execute("COMMIT")
            except BaseException:
                connection.close()
                raise
        return cls(connection, path, identity=identity, timeout=timeout)

    @classmethod
    def in_memory(cls, first: dict[str, Any]) -> LedgerFile:
        """Entries that last as long as this object, starting with `first`."""
        connection = _connect("file::memory:", 0.0)
        _write_first(connection, canonical_json(first))
        return cls(connection, None, identity=None, timeout=0.0)

    @contextmanager
    def transaction(self, *, write: bool) -> Iterator[None]:
        """One consistent view of the file; with `write`, alone among all processes and durable at the end.

        Leaving by an exception takes back what was appended.

        Raises:
            LedgerLocked, LedgerUnwritable, LedgerEdited, LedgerCutShort: see each.
        """
        with self.lock, sentences(self.name, self.path, self._timeout):
            self._require_same_file()
            if self._connection.in_transaction:
                raise RuntimeError("The ledger can't be used while it asks whether a charge is affordable.")
            try:
                # Without its cache SQLite reads the file itself; with it, a file replaced by one with the same
                # number of changes would go unnoticed.
                self._connection.execute("PRAGMA shrink_memory")
                self._connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
                tables = dict(self._connection.execute("SELECT name, sql FROM sqlite_master"))
                if tables != _TABLES:
                    raise LedgerEdited(f"{self.name}: the tables are not those of a ledger. {BACKUP}")
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    def rows_after(self, seen: Position) -> list[Row]:
        """The entries after `seen`, each checked against the chain, which must lead from `seen` to the head.

        Must be called inside `transaction`. The entry at `seen` itself is read and checked again.
        """
        head = self._head()
        records = self._connection.execute(
            "SELECT number, body, hash FROM entries WHERE number >= ? ORDER BY number",
            (max(seen.count - 1, 1),),
        ).fetchall()
        last = records[-1][0] if records else 0
        if last < head.count or head.count < max(seen.count, 1):
            raise LedgerCutShort(
                f"{self.name}: {max(head.count, seen.count)} entries were written, and "
                f"only the first {min(last, head.count)} are left. {BACKUP}"
            )
        previous, number = (START.hash, 1) if seen.count < 2 else (records.pop(0)[2], seen.count)
        rows = []
        for stored, body, recorded in records:
            if stored != number or not isinstance(body, str) or recorded != chain(previous, body):
                raise LedgerEdited(f"{self.name}: entry {number} is not what was written. {BACKUP}")
            if number == seen.count and recorded != seen.hash:
                raise LedgerEdited(f"{self.name}: entry {number} was replaced while in use. {BACKUP}")
            rows.append(Row(number, _parse(body, self.name, number), recorded))
            previous, number = recorded, number + 1
        if head != Position(number - 1, previous):
            raise LedgerEdited(f"{self.name}: the head does not fit the last entry. {BACKUP}")
        return [row for row in rows if row.number > seen.count]

    def append(self, seen: Position, body: dict[str, Any], *, form: int = FORMATS[0]) -> Row:
        """Add an entry after `seen`, the last one. Must be called inside `transaction`, which makes it durable.

        Args:
            seen: where the entries end.
            body: what the entry says.
            form: the first of `FORMATS` that has such entries; the file gets it, if it has an earlier one.
        """
        if _pragma(self._connection, "user_version") < form:
            self._connection.execute(f"PRAGMA user_version = {form}")
        text = canonical_json(body)
        number, recorded = seen.count + 1, chain(seen.hash, text)
        self._connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (number, text, recorded))
        self._connection.execute(
            "UPDATE head SET count = ?, hash = ?, seal = ? WHERE id = 1",
            (number, recorded, seal(number, recorded)),
        )
        return Row(number, json.loads(text), recorded)

    def close(self) -> None:
        """Let go of the file; whatever was committed stays."""
        with self.lock:
            self._finalizer()

    def _roll_back(self) -> None:
        # SQLite may have rolled back already, for instance on a full disk; the first error is the one to report.
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _head(self) -> Position:
        heads = self._connection.execute("SELECT count, hash, seal FROM head").fetchall()
        if len(heads) != 1 or heads[0][2] != seal(heads[0][0], heads[0][1]):
            raise LedgerEdited(f"{self.name}: the head is not what was written. {BACKUP}")
        return Position(heads[0][0], heads[0][1])

    def _require_same_file(self) -> None:
        if os.getpid() != self._process:
            # SQLite's locks do not survive a fork, and the copy of a ledger in memory would spend twice.
            raise LedgerError(f"{self.name}: a ledger can't cross a fork. Open it again in the new process.")
        if self.path is not None and _file_identity(self.path) != self._identity:
            raise LedgerEdited(f"{self.name} was moved or replaced while in use. Open it again.")
        if self.path is not None:
            require_own_journal(self.path)


def chain(previous: str, body: str) -> str:
    """The hash of the entry `body` that follows the entry with the hash `previous`."""
    return hashlib.sha256(f"{previous}\n{body}".encode()).hexdigest()


def seal(count: int, last: str) -> str:
    """What the head carries besides the count and the last hash."""
    return hashlib.sha256(f"head\n{count}\n{last}".encode()).hexdigest()


def canonical_json(value: Any) -> str:
    """The one way an entry is written: sorted keys, no spaces, ASCII.

    Raises:
        ValueError: for what JSON can't say exactly, infinity and NaN among it.
    """
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"A ledger entry must be plain JSON with finite numbers. Found: {error}.") from error


def _parse(text: str, name: str, number: int) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):  # nested too deep to be an entry
        body = None
    if not isinstance(body, dict):
        raise LedgerEdited(f"{name}: entry {number} is not a JSON object. {BACKUP}")
    return body


def _connect(uri: str, timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA fullfsync = ON")  # macOS: a plain fsync leaves data in the drive's cache
    except BaseException:
        connection.close()
        raise
    return connection


def _write_first(connection: sqlite3.Connection, body: str) -> None:
    first = chain(START.hash, body)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMATS[0]}")
    for table in _TABLES.values():
        connection.execute(table)
    connection.execute("INSERT INTO entries VALUES (1, ?, ?)", (body, first))
    connection.execute("INSERT INTO head VALUES (1, 1, ?, ?)", (first, seal(1, first)))
    connection.execute("COMMIT")


def _require_sound(connection: sqlite3.Connection, path: Path) -> None:
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise not_a_ledger(path)
    if (form := _pragma(connection, "user_version")) not in FORMATS:
        raise NotALedger(
            f"This version reads ledgers of format {FORMATS[0]} to {FORMATS[-1]}. {path} has format {form}: "
            "use the version of Counterfoil that wrote it."
        )
    if (mode := _pragma(connection, "journal_mode")) != "delete":
        raise LedgerEdited(f"{path} was switched to the journal mode {mode!r}. {BACKUP}")
    size = path.stat().st_size
    if size < (declared := _pragma(connection, "page_count") * _pragma(connection, "page_size")):
        # SQLite itself counts the beginning of a page as a page.
        raise LedgerCutShort(f"{path} was cut short: {size} bytes are left of {declared}. {BACKUP}")
    if (problem := _pragma(connection, "integrity_check")) != "ok":
        raise LedgerEdited(f"{path} is damaged ({problem}). {BACKUP}")


def _pragma(connection: sqlite3.Connection, name: str) -> Any:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def _file_identity(path: Path) -> _Identity:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _require_one_name(path: Path) -> None:
    """Refuses a file with several names (hard links), whose journals have several names too.

    What a killed process left half-written is taken back by whoever finds its journal. By another name it would be
    taken for written, and lost with all that came after it once the first name is opened again.
    """
    with suppress(OSError):  # no file there, which is said elsewhere
        status = path.stat()
        names = status.st_nlink
        if stat.S_ISREG(status.st_mode) and names > 1:
            raise LedgerError(
                f"A ledger has one name, beside which its journal lies. {path} has {names} (hard links): keep "
                "the one that has a -journal beside it, or any where none has, and remove the others."
            )


def _sync_folder(folder: Path) -> None:
    if hasattr(os, "O_DIRECTORY"):  # a folder can't be synced on Windows
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
