"""A table or a view of PostgreSQL, read through ADBC in one snapshot."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import pyarrow as pa

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.file_source import even_batches, identifier
from counterfoil.curator.sources.postgres_session import PostgresSession
from counterfoil.curator.sources.postgres_types import (
    Reading,
    StoredColumn,
    declared_type,
    reading_of,
    why_unreadable,
)
from counterfoil.curator.sources.scratch_rows import ScratchRows
from counterfoil.curator.sources.source import BATCH_ROWS, TableBatch, unique_names
from counterfoil.schema.errors import did_you_mean
from counterfoil.table_url import TableURL

_READABLE = "has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')"
_RELATIONS = "pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
_SORTS = "('r', 'p', 'v', 'm', 'f')"  # tables, partitioned ones, views, materialized views, foreign tables
_MOST_NAMES = 1_000


@dataclass(frozen=True)
class _Facts:
    """What the catalog says of a table, once no one can change its columns any more.

    Args:
        oid: the server's number of the table, which it keeps whatever it is called.
        snapshot: the name under which other connections see the same rows.
        in_order: whether its rows lie in one heap, in an order that stays as long as the snapshot.
        is_view: whether a query gives its rows, or gave them, or may do so where a foreign table leads.
        is_guarded: whether row security decides which of them this role is shown.
        columns: in order.
    """

    oid: int
    snapshot: str
    in_order: bool
    is_view: bool
    is_guarded: bool
    columns: tuple[StoredColumn, ...]


class PostgresSource:
    """One table or view as it was when it was opened, whatever others write meanwhile.

    Formal guarantee: all calls of `batches` give the same rows in the same order, whatever columns they ask for. The
    first connection takes the weakest lock on the table, and then exports a snapshot; both last until the source is
    forgotten, or its rows are in the scratch file. Each pass is one statement of another connection, in a transaction
    that is read-only, repeatable-read, and of that snapshot, so that all passes see the same versions of rows
    (PostgreSQL, Snapshot Synchronization Functions). The lock comes first, for a TRUNCATE before it would leave older
    snapshots an empty table; while it is held, nothing that moves rows to other pages (TRUNCATE, CLUSTER, VACUUM FULL,
    a rewriting ALTER TABLE) can run, and a plain VACUUM leaves versions that a snapshot sees at their places.
    There are two cases:

    * A plain table in a heap, without row security, is scanned from its first page to its last in each pass: scans that
      join others in the middle, parallel scans and scans of indexes are off, and a table's children are left out by
      ONLY (a table that has any is of the second case). So the order is that of the rows' places in the file.
    * Anything else (views, partitioned and foreign tables, row security) is computed once, and its rows, all columns
      that the role may read, are kept in a file without a name, in the folder of temporary files, for all passes. A
      view that calls random() has one table's worth of rows then, like any other.

    A pass that is cut short raises: that the server ended the rows is asked of it after each pass.

    The lock does not keep the names of schemas, and a statement finds its table by name: where another one was put in
    its place (ALTER SCHEMA ... RENAME), a pass raises. Before and after the rows the name must lead to the table that
    was opened, and the transaction that read them must hold a lock on that table.

    Args:
        url: which table.

    Raises:
        SourceError: when it can't be read, in a sentence without any value.
        ModuleNotFoundError: without the extra `postgres`.
    """

    typed = True

    def __init__(self, url: TableURL):
        self.name = url.name
        self.location = url.location
        self._url = url
        self._relation = f"{identifier(url.schema)}.{identifier(url.table)}"
        self._anchor = PostgresSession(url)
        self._release = weakref.finalize(self, self._anchor.close)
        self._facts = _opened(self._anchor, url, self._relation)
        self.column_names = unique_names([column.name for column in self._facts.columns], self.name)
        self._columns = dict(zip(self.column_names, self._facts.columns, strict=True))
        self._scratch: ScratchRows | None = None
        self._lock = Lock()

    @property
    def is_view(self) -> bool:
        """Whether a query gives its rows, or gave them, as of a materialized view."""
        return self._facts.is_view

    @property
    def is_guarded(self) -> bool:
        """Whether row security decides which rows this role is shown; it leaves out owners and some other roles."""
        return self._facts.is_guarded

    @property
    def column_types(self) -> Mapping[str, pa.DataType]:
        """A `numeric` without a precision is declared as decimals, and comes as the texts of its numbers."""
        return {name: declared_type(column) for name, column in self._columns.items()}

    def batches(
        self, columns: Sequence[str], batch_rows: int = BATCH_ROWS, *, skip_rows: int = 0
    ) -> Iterator[TableBatch]:
        names = tuple(columns) or self._some_column()
        readings = {name: self._reading(name) for name in names}
        rows = self._streamed(readings, skip_rows) if self._facts.in_order else self._kept(names, skip_rows)
        try:
            yield from even_batches(rows, batch_rows)
        except pa.ArrowException:
            raise self._damaged() from None

    def place(self, row: int) -> str:
        """The row's number in this reading: the table itself has no such order for others to look it up."""
        return f"row {row + 1} of {self.name}"

    def _some_column(self) -> tuple[str, ...]:
        """A column to count rows by: one that can be read, the first where none can, which is then refused."""
        readable = (name for name, column in self._columns.items() if column.readable and reading_of(column))
        return (next(readable, self.column_names[0]),)

    def _reading(self, name: str) -> Reading:
        column = self._columns[name]
        if not column.readable:
            raise SourceError(
                f"The role may not read column {name!r} of {self.name}. Have SELECT on it granted, or add it to"
                " `ignore`."
            )
        reading = reading_of(column)
        if reading is None:
            raise SourceError(why_unreadable(column, self.name))
        return reading

    def _streamed(self, readings: Mapping[str, Reading], skip_rows: int) -> Iterator[pa.RecordBatch]:
        """The rows from the server, in one statement of a connection of its own."""
        asked = ", ".join(
            f"{reading.ask.format(identifier(name))} AS c{i}" for i, (name, reading) in enumerate(readings.items())
        )
        only = "ONLY " if self._facts.in_order else ""
        session = PostgresSession(self._url)
        try:
            self._require_named(session)
            self._join_snapshot(session)
            for batch in session.stream(f"SELECT {asked} FROM {only}{self._relation} OFFSET {skip_rows:d}"):
                if batch.num_rows:
                    yield self._cells(batch, readings)
            if session.rows(f"SELECT {_locked(str(self._facts.oid))}") != [(True,)]:
                raise _renamed(self._url)
            session.run("COMMIT")
            self._require_named(session)
        finally:
            session.close()

    def _require_named(self, session: PostgresSession) -> None:
        """Refuses where the name does not lead to the table that was opened; for the snapshot it always does."""
        found = session.rows(f"SELECT c.oid::pg_catalog.int8 FROM {_RELATIONS} WHERE {_named(self._url)}")
        if found != [(self._facts.oid,)]:
            raise _renamed(self._url)

    def _join_snapshot(self, session: PostgresSession) -> None:
        session.run("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        session.run(f"SET TRANSACTION SNAPSHOT '{self._facts.snapshot}'")
        if self._facts.in_order:
            session.run("SET LOCAL synchronize_seqscans = off")
            session.run("SET LOCAL max_parallel_workers_per_gather = 0")
            session.run("SET LOCAL enable_seqscan = on")
            for other in ("indexscan", "indexonlyscan", "bitmapscan"):
                session.run(f"SET LOCAL enable_{other} = off")

    def _cells(self, batch: pa.RecordBatch, readings: Mapping[str, Reading]) -> pa.RecordBatch:
        arrays = []
        for array, reading in zip(batch.columns, readings.values(), strict=True):
            if array.type != reading.arrives:  # a driver of another version
                raise SourceError(f"{self.name} can't be read: the driver gives other types. Install a newer one.")
            arrays.append(array if reading.cells == reading.arrives else array.cast(reading.cells))
        return pa.RecordBatch.from_arrays(arrays, names=list(readings))

    def _kept(self, names: Sequence[str], skip_rows: int) -> Iterator[pa.RecordBatch]:
        """The rows from the scratch file, which the first call writes; the snapshot has served its turn then."""
        with self._lock:
            if self._scratch is None:
                self._scratch = self._written()
                self._release()
        return self._scratch.batches(names, skip_rows)

    def _written(self) -> ScratchRows:
        known = {name: reading_of(column) for name, column in self._columns.items() if column.readable}
        readings = {name: reading for name, reading in known.items() if reading is not None}
        schema = pa.schema([(name, reading.cells) for name, reading in readings.items()])
        try:
            batches = even_batches(self._streamed(readings, 0), BATCH_ROWS)
            return ScratchRows(schema, (batch.whole() for batch in batches))
        except pa.ArrowException:
            raise self._damaged() from None
        except OSError:
            raise SourceError(
                f"The rows of {self.name} don't fit into the folder of temporary files, where a view is kept between "
                "passes. Free some space, or set TMPDIR to another folder."
            ) from None

    def _damaged(self) -> SourceError:
        return SourceError(
            f"{self.name} can't be read: a text is not UTF-8, or the texts of {BATCH_ROWS} rows are longer than 2 GB. "
            "Correct them, or leave them out in a view."
        )


def _opened(session: PostgresSession, url: TableURL, relation: str) -> _Facts:
    """Locks the table, reads what the catalog says of it, and exports a snapshot, which lasts as long as `session`."""
    session.run("BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ ONLY")
    session.run("SET LOCAL idle_in_transaction_session_timeout = 0")
    named = _named(url)
    found = session.rows(f"SELECT c.oid::pg_catalog.int8 FROM {_RELATIONS} WHERE {named}")
    if not found:
        raise _missing(session, url)
    session.run(f"SELECT FROM {relation} LIMIT 0")  # locks it, with its children, or says that it may not be read
    found = session.rows(
        "SELECT c.oid::pg_catalog.int8, c.relkind IN ('r', 'm') AND NOT c.relhassubclass AND NOT c.relrowsecurity"
        f" AND COALESCE(m.amname = 'heap', false), c.relkind IN ('v', 'm', 'f'),"
        " pg_catalog.row_security_active(c.oid), pg_catalog.pg_export_snapshot(),"
        f" {_locked('c.oid')}"
        f" FROM {_RELATIONS} LEFT JOIN pg_catalog.pg_am AS m ON m.oid = c.relam WHERE {named}"
    )
    if not found or not found[0][-1]:
        raise _renamed(url)
    [(oid, in_order, is_view, is_guarded, snapshot, _)] = found
    if not re.fullmatch(r"[0-9A-F-]+", snapshot):
        raise SourceError(f"{url.name} can't be read: the server's snapshots are not those of PostgreSQL.")
    return _Facts(oid, snapshot, in_order, is_view, is_guarded, _columns(session, oid))


def _named(url: TableURL) -> str:
    """The condition on what is called like this, in `_RELATIONS`."""
    schema, table = _literal(url.schema), _literal(url.table)
    return f"n.nspname::pg_catalog.text = {schema} AND c.relname::pg_catalog.text = {table} AND c.relkind IN {_SORTS}"


def _locked(oid: str) -> str:
    """The condition that the transaction holds a lock on a table."""
    return (
        "EXISTS (SELECT FROM pg_catalog.pg_locks AS l WHERE l.locktype = 'relation' AND l.granted"
        f" AND l.relation = {oid} AND l.pid = pg_catalog.pg_backend_pid())"
    )


def _renamed(url: TableURL) -> SourceError:
    return SourceError(
        f"{url.name} has changed since it was opened: a schema or a table was renamed, and another one may have taken "
        "its name. Start again."
    )


def _columns(session: PostgresSession, oid: int) -> tuple[StoredColumn, ...]:
    """The columns with the types under their domains."""
    rows = session.rows(
        "WITH RECURSIVE stored AS ("
        " SELECT a.attnum, a.attname, a.atttypid AS kind, a.atttypmod AS modifier,"
        " pg_catalog.format_type(a.atttypid, a.atttypmod) AS shown FROM pg_catalog.pg_attribute AS a"
        f" WHERE a.attrelid = {oid:d} AND a.attnum > 0 AND NOT a.attisdropped"
        " UNION ALL SELECT s.attnum, s.attname, t.typbasetype, t.typtypmod, s.shown"
        " FROM stored AS s JOIN pg_catalog.pg_type AS t ON t.oid = s.kind WHERE t.typtype = 'd')"
        " SELECT s.attname::pg_catalog.text, t.typname::pg_catalog.text, t.typtype::pg_catalog.text,"
        " t.typcategory = 'A', n.nspname = 'pg_catalog', s.modifier, s.shown::pg_catalog.text,"
        f" pg_catalog.has_column_privilege({oid:d}::pg_catalog.oid, s.attnum, 'SELECT')"
        " FROM stored AS s JOIN pg_catalog.pg_type AS t ON t.oid = s.kind"
        " JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace WHERE t.typtype <> 'd' ORDER BY s.attnum"
    )
    return tuple(StoredColumn(*row) for row in rows)


def _missing(session: PostgresSession, url: TableURL) -> SourceError:
    """The sentence for a name that no table has, with those that the role may read."""
    rows = session.rows(
        f"SELECT n.nspname::pg_catalog.text, c.relname::pg_catalog.text FROM {_RELATIONS}"
        f" WHERE c.relkind IN {_SORTS} AND {_READABLE} AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
        f" ORDER BY n.nspname <> {_literal(url.schema)}, 1, 2 LIMIT {_MOST_NAMES}"
    )
    known = [TableURL(url.host, url.port, url.database, schema, table).relation for schema, table in rows]
    return SourceError(
        f"The database {url.database!r} has no table or view {url.relation!r}.{did_you_mean(url.relation, known)}"
    )


def _literal(text: str) -> str:
    """A text in SQL, in digits that mean the same under every setting of quotes and backslashes."""
    return f"pg_catalog.convert_from(pg_catalog.decode('{text.encode('utf-8').hex()}', 'hex'), 'UTF8')"
