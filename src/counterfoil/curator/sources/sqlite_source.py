"""A table of a SQLite file, through the standard library."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.file_source import identifier, stamp
from counterfoil.curator.sources.source import BATCH_ROWS, MixedBatch, unique_names
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.mixed_cells import MixedCells

LOCK_WAIT_SECONDS = 5.0

_HIDDEN = 1
"""What SQLite says of a column of a virtual table that `SELECT *` leaves out; of generated ones it says 2 or 3."""

_NAME = r"""(?:"(?:[^"]|"")*"|'(?:[^']|'')*'|`(?:[^`]|``)*`|\[[^\]]*\]|[^\s"'`\[(]+)"""
_VIRTUAL = re.compile(rf"CREATE\s+VIRTUAL\s+TABLE\s+{_NAME}\s*USING\s+({_NAME})", re.IGNORECASE)
_OF_ROWS = frozenset(("fts3", "fts4", "fts5", "rtree", "rtree_i32", "geopoly", "csv"))
"""Modules of virtual tables that keep the rows which were put there. Others may compute theirs, as `fts5vocab` does: of
each word, in how many texts it is."""


class SQLiteSource:
    """One table, in the order of its rows (never of an index); a cell's type is the cell's own in SQLite.

    Attributes:
        is_view: whether it is a virtual table whose rows may be computed from those of others.
    """

    typed = True

    def __init__(self, path: Path, table: str):
        self.name = f"{path.name}::{table}"
        self.location = f"{path}::{table}"
        self._path = path
        self._table = table
        with self._connected() as opened:
            rows = opened.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
            ).fetchall()
            tables = [name for (name,) in rows]
            if table not in tables:
                raise SourceError(
                    f"{path.name} has no table {table!r} (views are not read: store the view as a table)."
                    + did_you_mean(table, tables)
                )
            names = [name for name, _ in _columns(opened, table)]
            [(made,)] = opened.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
        self.is_view = _is_computed(made)
        self.column_names = unique_names(names, self.name)
        self._state = self._states()

    @cached_property
    def column_types(self) -> Mapping[str, pa.DataType]:
        """From the declared types: SQLite itself enforces none."""
        with self._connected() as opened:
            return {name: _declared(declared.upper()) for name, declared in _columns(opened, self._table)}

    def batches(
        self, columns: Sequence[str], batch_rows: int = BATCH_ROWS, *, skip_rows: int = 0
    ) -> Iterator[MixedBatch]:
        self._require_unchanged()
        names = tuple(columns) or self.column_names[:1]
        chosen = ", ".join(map(identifier, names))
        # An index that covers the columns would give the rows in its own order, another one for other columns.
        query = f"SELECT {chosen} FROM {identifier(self._table)} NOT INDEXED LIMIT -1 OFFSET ?"
        with self._connected() as opened:
            cursor = opened.execute(query, (skip_rows,))
            while rows := cursor.fetchmany(batch_rows):
                by_name = zip(names, zip(*rows, strict=True), strict=True)
                yield MixedBatch(len(rows), {name: MixedCells(cells) for name, cells in by_name})
        # SQLite sees to one state of the rows for whoever writes through it, and not where a file is copied over it.
        self._require_unchanged()

    def place(self, row: int) -> str:
        return f"row {row + 1} of {self.name}"

    def _require_unchanged(self) -> None:
        if self._states() != self._state:
            raise SourceError(
                f"{self.name} has changed since it was opened. Put it back as it was, or start again: answers about "
                "two tables must not be mixed."
            )

    def _states(self) -> tuple[tuple[int, int], ...]:
        return stamp(self._path), stamp(self._path.with_name(self._path.name + "-wal"))

    def _connected(self) -> _Connected:
        return _Connected(self._path, self.name)


class _Connected:
    """A read-only connection whose errors, which may quote a cell, come out as our own sentences."""

    def __init__(self, path: Path, name: str):
        self._path, self._name = path, name

    def __enter__(self) -> sqlite3.Connection:
        try:
            self._closing = closing(
                sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True, timeout=LOCK_WAIT_SECONDS)
            )
        except sqlite3.Error:
            raise SourceError(f"{self._name} can't be opened for reading.") from None
        return self._closing.__enter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> None:
        self._closing.__exit__(kind, error, None)
        if not isinstance(error, sqlite3.Error):
            return
        if "locked" in str(error)[:40]:
            raise SourceError(f"{self._name} is locked by another process. Close it and try again.") from None
        if "decode" in str(error)[:40]:
            raise SourceError(
                f"{self._name}: a text is not UTF-8. Correct it, store its column as a blob, or add the column to "
                "`ignore`."
            ) from None
        raise SourceError(f"{self._name} can't be read: {_trouble(error)}") from None


def _trouble(error: sqlite3.Error) -> str:
    """What SQLite's name for an error means, which quotes no cell as its message may; and what to do."""
    kind = getattr(error, "sqlite_errorname", "")
    if kind == "SQLITE_ERROR":
        return (
            "it needs a function, a module or a collation that SQLite does not have here. Store its rows as a plain "
            "table, by the program that has it."
        )
    if kind.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM", "SQLITE_IOERR")):
        return (
            f"{kind}. Check who may read the file and those beside it, such as its -wal, and whether their folder can "
            "be written to."
        )
    return "the database is damaged."


def _columns(opened: sqlite3.Connection, table: str) -> list[tuple[str, str]]:
    """Name and declared type of each column that `SELECT *` shows, generated ones among them."""
    rows = opened.execute(f"PRAGMA table_xinfo({identifier(table)})").fetchall()
    return [(name, declared) for _, name, declared, _, _, _, hidden in rows if hidden != _HIDDEN]


def _is_computed(made: str) -> bool:
    """Whether a table, by the statement that made it, may be computed from others: what is not understood may be."""
    if not re.match(r"CREATE\s+VIRTUAL\b", made, re.IGNORECASE):
        return False
    found = _VIRTUAL.match(made)
    return found is None or found[1].strip("\"'`[]").lower() not in _OF_ROWS


def _declared(name: str) -> pa.DataType:
    if "INT" in name and "INTERVAL" not in name:
        return pa.int64()
    if any(word in name for word in ("REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL")):
        return pa.float64()
    if "BOOL" in name:
        return pa.bool_()
    if "DATETIME" in name or "TIMESTAMP" in name:
        return pa.timestamp("s")
    return pa.date32() if "DATE" in name else pa.string()
