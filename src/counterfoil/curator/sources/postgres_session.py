"""One connection to PostgreSQL through ADBC, whose failures come out as our own sentences.

Messages of the server quote values ("invalid input syntax for type integer: ..."), and what a function of a view raises
may hold whole rows, its error class included. None of it gets past this module: only what kind of failure it is.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import pyarrow as pa

from counterfoil.curator.errors import SourceError
from counterfoil.table_url import TableURL

R = TypeVar("R")

_HEEDING = 0.1
"""Seconds after which an interrupt is heeded while the driver is at work."""

_GIVING_UP = 5.0
"""Seconds in which a statement that was interrupted may end."""

_AGAIN = "Try again when it is back."
# Failures to connect have no class: libpq says them in English, around names that the steward has given.
_UNREACHED: Mapping[str, str] = {
    "no password supplied": "asks for a password: put it into PGPASSWORD or ~/.pgpass",
    "password authentication failed": "refused the login: correct the user, or the password in PGPASSWORD or ~/.pgpass",
    "authentication failed": "refused the login: correct the user, or what proves it",
    "no pg_hba.conf entry": "lets nobody in from this machine with this user: ask its administrator",
    "is not permitted to log in": "refused the login: name a role that may log in",
    "connection slots": f"has no connection left. {_AGAIN}",
    "too many clients": f"has no connection left. {_AGAIN}",
    "starting up": f"is starting or stopping. {_AGAIN}",
    "shutting down": f"is starting or stopping. {_AGAIN}",
    "could not translate host name": "has a host name that is not known: correct it",
    "Connection refused": "refused the connection: correct host and port, or start the server",
    "No such file or directory": "has no socket there: correct the folder and the port, or start the server",
    "timeout expired": "did not answer in time: correct host and port",
    "timed out": "did not answer in time: correct host and port",
    "SSL": "could not be reached with encryption: correct sslmode and the certificates",
    "certificate": "could not be reached with encryption: correct sslmode and the certificates",
    "service": "could not be reached: PGSERVICE names a service that is not there, or its file is wrong",
}
_LOST = "the connection was cut: start again"
_KINDS: Mapping[str, str] = {
    "42501": "the role may not read it, or not all of its columns: have SELECT on it granted, and USAGE of its schema",
    "42P01": "there is no such table any more",
    "3F000": "there is no such schema any more",
    "57014": "reading was canceled by the server, after a time limit (statement_timeout) or by its administrator",
    "57P01": _LOST,
    "57P02": _LOST,
    "57P03": _LOST,
    "25P03": _LOST,
    "25P04": _LOST,
    "22021": "a text is not UTF-8: correct it, or leave its column out",
    "22023": "the connection that holds its snapshot was cut: start again",
    "53200": "the server ran out of memory: read less at once, such as a view with fewer columns",
    "53100": "the server's disk is full",
    "53300": f"the server has no connection left. {_AGAIN}",
    "55P03": "another session holds a lock on it. Try again when that is done",
    "40001": "the server, a copy of another one, gave up its snapshot: read from the first one, or start again",
    "42883": "the server lacks a function that reading needs: PostgreSQL 13 or newer is expected",
    "0A000": "the server lacks what reading needs: PostgreSQL 13 or newer is expected",
}
# Failures in the middle of rows have lost their class on the way through Arrow; a server may also say them in another
# language, where the last sentence of `_sentence` stands. Each is how a message begins, for what follows may be a value
# that holds these words: 'invalid input syntax for type integer: "out of memory"'.
_MARKS: Mapping[str, str] = {
    "canceling statement due to conflict with recovery": "40001",
    "canceling statement": "57014",
    "invalid byte sequence for encoding": "22021",  # of a database without an encoding; the server checks what it sends
    "out of memory": "53200",
    r"could not \w+ [^\n]*: No space left": "53100",
    "terminating connection": "57P01",
    "server closed the connection": "57P01",
    "connection to server was lost": "57P01",
    "could not receive data": "57P01",
    "no COPY in progress": "57P01",
}
_HEADING = r'(?:(?!ERROR|FATAL|PANIC)[^":\n]*: +){0,2}(?:(?:ERROR|FATAL|PANIC): +)?'
"""What stands before a message: the driver's words, and how grave it is."""


class PostgresSession:
    """A connection that only reads.

    Args:
        url: where.

    Raises:
        SourceError: where there is no connection to be had.
        ModuleNotFoundError: without the driver.
    """

    def __init__(self, url: TableURL):
        self._name = url.name
        try:
            from adbc_driver_manager import Error
            from adbc_driver_postgresql import dbapi
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "Reading a table in PostgreSQL needs its driver. Install it with: pip install 'counterfoil[postgres]'.",
                name=error.name,
            ) from None
        self._failures = (Error, pa.ArrowException, OSError, UnicodeDecodeError)
        try:
            self._abandoned = False
            self._connection = self._done(lambda: dbapi.connect(url.for_driver, autocommit=True))
        except self._failures as error:
            raise _unreached(url, str(error)) from None

    def run(self, statement: str) -> None:
        """Executes a statement without rows."""
        with self._explained(), self._connection.cursor() as cursor:
            self._done(lambda: cursor.execute(statement), cursor.adbc_cancel)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """All rows of a small result."""
        with self._explained(), self._connection.cursor() as cursor:
            self._done(lambda: cursor.execute(statement), cursor.adbc_cancel)
            return [tuple(row) for row in self._done(cursor.fetchall, cursor.adbc_cancel)]

    def stream(self, statement: str) -> Iterator[pa.RecordBatch]:
        """The rows in parts of some megabytes, as they come; the first part is empty and has the types.

        That the server has ended them is asked of it afterwards: rows that stop because a connection was cut are never
        taken for all of them.
        """
        with self._explained(), self._connection.cursor() as cursor:
            self._done(lambda: cursor.execute(statement), cursor.adbc_cancel)
            reader = cursor.fetch_record_batch()
            try:
                yield pa.RecordBatch.from_pylist([], schema=reader.schema)
                while (batch := self._done(lambda: next(reader, None), cursor.adbc_cancel)) is not None:
                    yield batch
            finally:
                with suppress(*self._failures):
                    reader.close()
        self.rows("SELECT 1")

    def close(self) -> None:
        """Ends the connection, and with it what the server still does for it."""
        if self._abandoned:
            return
        with suppress(*self._failures):
            self._connection.close()

    def _done(self, work: Callable[[], R], give_up: Callable[[], object] | None = None) -> R:
        """What `work` returns, done beside the main thread.

        In the main thread the driver hears Ctrl-C in place of Python, and has the server cancel the statement, which
        then ends as if anybody had canceled it.

        Args:
            work: what the driver does.
            give_up: ends it early.

        Raises:
            KeyboardInterrupt: when the main thread is interrupted; the work has ended then, or its connection is left.
        """
        if threading.current_thread() is not threading.main_thread():
            return work()
        found: Future[R] = Future()

        def run() -> None:
            try:
                found.set_result(work())
            except BaseException as error:
                found.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        try:
            while wait([found], _HEEDING).not_done:  # the driver has signals wake nobody
                continue
        except KeyboardInterrupt:
            self._abandoned = True
            if give_up is not None:
                with suppress(*self._failures):
                    give_up()
                self._abandoned = bool(wait([found], _GIVING_UP).not_done)
            raise
        return found.result()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except self._failures as error:
            raise SourceError(f"{self._name} can't be read: {_sentence(error)}.") from None


def _unreached(url: TableURL, message: str) -> SourceError:
    if f'database "{url.database}" does not exist' in message:
        return SourceError(f"PostgreSQL at {url.server} has no database {url.database!r}. Correct its name.")
    if "permission denied for database" in message:
        return SourceError(f"The role may not connect to the database {url.database!r}: have CONNECT granted to it.")
    # A role that is not there is not told from a wrong password.
    if "role " in message and "does not exist" in message:
        message = "password authentication failed"
    said = next((sentence for mark, sentence in _UNREACHED.items() if mark in message), "could not be reached")
    return SourceError(f"PostgreSQL at {url.server} {said.removesuffix('.')}.")


def _sentence(error: Exception) -> str:
    kind = getattr(error, "sqlstate", None)
    if not kind:
        kind = next((kind for mark, kind in _MARKS.items() if re.match(_HEADING + mark, str(error))), "")
    return _KINDS.get(
        kind, "the server failed while it computed its rows; its log says why, in words that may hold records"
    )
