"""Files that DuckDB reads: CSV, Parquet and its own tables, streamed and in order, never whole in memory.

DuckDB's error messages quote the line at fault: they never get past this module, only line numbers and counts do.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.csv_text import (
    CSVHeader,
    CSVLayout,
    layout_of,
    line_at_fault,
    line_of_record,
    read_header,
)
from counterfoil.curator.sources.parquet_of_spark import INSTANT, instants_of_spark
from counterfoil.curator.sources.source import BATCH_ROWS, TableBatch, unique_names, unreadable
from counterfoil.curator.sources.text_encoding import NO_UTF_8, readable
from counterfoil.interrupts import left_to_other_threads
from counterfoil.schema.encoding import UTF_8
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.spelling import is_duration

if TYPE_CHECKING:
    import duckdb

_MOST_DIGITS = 38
"""Of decimals that DuckDB has."""

_ZONED_TIME = "TIME WITH TIME ZONE"

_AS_TEXT = ("UHUGEINT", _ZONED_TIME, "BIT")
"""Types that are read as texts: DuckDB hands unsigned integers of 128 bits to Arrow as signed ones, so that large ones
would be negative, times of day without their zones, and bits as it packs them."""

_UNDER_TITLES = 4
"""The last line that is likely the first with names or records below a title."""

_LINE = re.compile(r"CSV Error on Line: (\d+)")
_FIELDS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_MARKS: Mapping[str, str] = {
    "unterminated quote": "a quoted value is not closed, or is followed by text",
    "Invalid unicode": NO_UTF_8,
    "Maximum line size": "the line is longer than 2 MB",
    "GZIP": "the file is not a complete gzip file",
    "Out of Memory": "DuckDB ran out of memory",
    "No space left": "the disk is full",
    "lock on file": "another process has the file open for writing; close it",
    "encrypted database": "the database is encrypted; store the table as Parquet, or in a database that is not",
    "file with version number": "another version of DuckDB wrote it; store the table as Parquet by that one",
    "Function with name": "it needs a function that DuckDB does not have here; store its rows as a plain table",
    "state machine": "the lines end in different ways, or quotes are misplaced",
}


def failures() -> tuple[type[Exception], ...]:
    """What reading a file may raise; to be asked in an `except` clause, for DuckDB is imported on first use."""
    import duckdb

    return duckdb.Error, pa.ArrowException, OSError, UnicodeDecodeError


@contextmanager
def connection(temp_directory: str = "") -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB of our own: bounded, offline, and spilling to disk only in `temp_directory`, if one is given.

    Raises:
        KeyboardInterrupt: also where DuckDB takes an interrupt for an error of its own.
    """
    import duckdb

    opened = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": "1GB",
            "temp_directory": temp_directory,
        },
    )
    try:
        opened.execute("SET enable_progress_bar = false")
        with suppress(duckdb.Error):  # of a build without calendars, whose clocks are those of UTC
            opened.execute("SET TimeZone = 'UTC'")  # else a table's types name the zone of the machine that reads it
        yield opened
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from None
        raise
    finally:
        opened.close()


@dataclass
class FileSource:
    """One relation that DuckDB can scan. `internal` are its own column names, which it folds and makes distinct.

    A CSV file has a `header`, and no `relation`. In parallel, DuckDB begins to read it at every 8 MB. Within a quoted
    cell of several lines it takes these for records: one record would then be counted as many, in place of others. So a
    file with such a cell is read in one thread. In all others a line is a record, wherever reading begins. Either way
    the records are counted: one thread leaves out in silence a last record whose quote is not closed. What is not UTF-8
    comes through a pipe, which one thread reads.

    Where rows also lie in files beside it, such as a log of what was written last, `beside` names them: a change there
    is a change of the rows, which are kept or not kept of their units by their places.
    """

    path: Path
    name: str
    location: str
    column_names: tuple[str, ...]
    column_types: Mapping[str, pa.DataType]
    internal: tuple[str, ...]
    relation: str
    setup: str = ""
    header: CSVHeader | None = None
    beside: tuple[Path, ...] = ()
    _layout: CSVLayout | None = field(init=False, default=None)
    _opened: tuple[tuple[int, int], ...] = field(init=False)

    def __post_init__(self) -> None:
        self._opened = self._stamps()

    @property
    def typed(self) -> bool:
        return self.header is None

    def batches(
        self, columns: Sequence[str], batch_rows: int = BATCH_ROWS, *, skip_rows: int = 0
    ) -> Iterator[TableBatch]:
        self._require_unchanged()
        names = tuple(columns) or self.column_names[:1]
        for name in names:
            # DuckDB reads the durations of a Parquet file as whole numbers of some unit, which nobody means, and
            # decimals of more than 38 digits as floating point, which holds 15.
            kind = self.column_types[name]
            if is_duration(kind) or (pa.types.is_decimal(kind) and kind.precision > _MOST_DIGITS):
                raise unreadable(name, self.name, kind, pa.ArrowNotImplementedError())
        chosen = ", ".join(identifier(self.internal[self.column_names.index(name)]) for name in names)
        in_parallel, records = self._divided()
        past = skip_rows
        try:
            for rows in self._scanned(chosen, past, batch_rows, in_parallel=in_parallel):
                past += rows.num_rows
                yield TableBatch(rows.rename_columns(list(names)))
        except failures() as error:
            self._require_unchanged()
            raise self._explained(error, chosen) from None
        # Of a file that is sorted anew meanwhile, rows that move behind the reader would come twice.
        self._require_unchanged()
        if records is not None and past != max(records, skip_rows):
            raise self._miscounted()

    def _require_unchanged(self) -> None:
        if self._stamps() != self._opened:
            raise SourceError(
                f"{self.name} has changed since it was opened. Put it back as it was, or start again: answers about "
                "two tables must not be mixed."
            )

    def _stamps(self) -> tuple[tuple[int, int], ...]:
        return tuple(stamp(path) for path in (self.path, *self.beside))

    def _divided(self) -> tuple[bool, int | None]:
        """Whether several threads read all records as they are, and how many there are; None where rows are stored.

        This follows from the text before any of it is read as records: what was read in one way is not continued in
        another.
        """
        if self.header is None:
            return True, None
        if self._layout is None:
            self._layout = layout_of(self.path, self.header)
        return not self._layout.breaks_lines and self.header.encoding == UTF_8, self._layout.records

    def _scanned(self, chosen: str, skip_rows: int, batch_rows: int, *, in_parallel: bool) -> Iterator[pa.Table]:
        piped = self.header is not None and self.header.encoding != UTF_8
        with self._relation(in_parallel=in_parallel) as relation, _connection_to(piped=piped) as opened:
            # Texts of a batch may be longer together than offsets of 32 bits can count.
            opened.execute("SET arrow_large_buffer_size = true")
            if self.setup:
                opened.execute(self.setup)
            rows = opened.sql(f"SELECT {chosen} FROM {relation} OFFSET {skip_rows}")
            with _reading(piped=piped):
                reader = rows.to_arrow_reader(batch_rows)
            for batch in even_batches(_each(reader, piped=piped), batch_rows):
                yield batch.rows

    @contextmanager
    def _relation(self, *, in_parallel: bool) -> Iterator[str]:
        """What DuckDB scans."""
        if self.header is None:
            yield self.relation
            return
        with readable(self.path, self.header.encoding) as place:
            yield _csv_relation(place, self.header.delimiter, self.internal, in_parallel=in_parallel)

    def _explained(self, error: Exception, chosen: str) -> SourceError:
        """Our own sentence for a failure, with the line at fault.

        What is wrong with a text is what one thread finds: where several read it, DuckDB may name a sound line, and it
        counts records in place of lines.
        """
        if self.header is None or not _about_text(error):
            return explained(error, self.name)
        try:
            for _ in self._scanned(chosen, 0, BATCH_ROWS, in_parallel=False):
                pass
        except failures() as found:
            return explained(found, self.name, line_at_fault(self.path, self.header))
        return self._miscounted()

    def _miscounted(self) -> SourceError:
        """What to say of a text of which DuckDB finds other records than there are."""
        assert self.header is not None, "records of other storages are not counted"
        fault = line_at_fault(self.path, self.header)
        if fault is None:
            return SourceError(f"{self.name} can't be read: DuckDB finds other records than there are.")
        return SourceError(f"{self.name}, line {fault}: {_MARKS['unterminated quote']}.")

    def place(self, row: int) -> str:
        if self.header is not None:
            line = line_of_record(self.path, self.header, row)
            return f"line {line} of {self.name}" if line else f"record {row + 1} of {self.name}"
        return f"row {row + 1} of {self.name}"


def _reading(*, piped: bool) -> AbstractContextManager[None]:
    """What DuckDB does while it reads: from a pipe, no signal breaks it."""
    return left_to_other_threads() if piped else nullcontext()


@contextmanager
def _connection_to(*, piped: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection whose own threads read as `_reading` has it."""
    with ExitStack() as stack:
        with _reading(piped=piped):
            opened = stack.enter_context(connection())
        yield opened


def _each(batches: Iterable[pa.RecordBatch], *, piped: bool) -> Iterator[pa.RecordBatch]:
    """Each of the batches, which are read as `_reading` has it."""
    following = iter(batches)
    while True:
        with _reading(piped=piped):
            batch = next(following, None)
        if batch is None:
            return
        yield batch


def open_csv(path: Path, declared: Collection[str] | None = (), encoding: str = UTF_8) -> FileSource:
    """A CSV file with a header; every cell is read as text, quotes strictly. For the arguments, see `read_header`."""
    header = read_header(path, declared, encoding)
    _require_plain(path)
    internal = tuple(f"c{i}" for i in range(len(header.names)))
    types = dict.fromkeys(header.names, pa.string())
    return FileSource(path, path.name, str(path), header.names, types, internal, relation="", header=header)


def _csv_relation(place: Path, delimiter: str, internal: Sequence[str], *, in_parallel: bool) -> str:
    columns = ", ".join(f"'{name}': 'VARCHAR'" for name in internal)
    compression = "gzip" if place.name.lower().endswith(".gz") else "none"
    return (
        f"read_csv({literal(str(place))}, header=true, auto_detect=false, columns={{{columns}}},"
        f" delim={literal(delimiter)}, quote='\"', escape='\"', strict_mode=true, null_padding=false,"
        f" ignore_errors=false, compression={literal(compression)}{'' if in_parallel else ', parallel=false'})"
    )


def open_parquet(path: Path) -> FileSource:
    """One Parquet file."""
    _require_plain(path)
    # Where a folder above the file is called `sex=F`, DuckDB would put that into the cells of a column `sex`.
    relation = f"read_parquet({literal(str(path))}, hive_partitioning=false)"
    try:
        stored = parquet.read_schema(path)
        with connection() as opened:
            internal = tuple(opened.sql(f"SELECT * FROM {relation}").columns)
    except failures():
        raise SourceError(f"{path.name} is not a Parquet file, or it was cut short.") from None
    names = unique_names(stored.names, path.name)
    types = dict(zip(names, stored.types, strict=True))
    if instants := instants_of_spark(stored):
        types |= dict.fromkeys(instants, INSTANT)
        columns = map(identifier, (own for own, name in zip(internal, names, strict=True) if name in instants))
        changed = ", ".join(f"{column}::TIMESTAMPTZ AS {column}" for column in columns)
        relation = f"(SELECT * REPLACE ({changed}) FROM {relation})"
    return FileSource(path, path.name, str(path), names, types, internal, relation)


def open_database(path: Path, table: str) -> FileSource:
    """One table of a DuckDB file, `table` or `schema.table`; not a view, whose rows come in no fixed order.

    A name with a dot goes into double quotes, in which a quote is written twice: `"s.x"` is no table of a schema s.
    """
    setup = f"ATTACH {literal(str(path))} AS sensitive (READ_ONLY)"
    name = f"{path.name}::{table}"
    try:
        with connection() as opened:
            opened.execute(setup)
            tables = _tables(opened)
            if table not in tables:
                raise SourceError(
                    f"{path.name} has no table {table!r} (views are not read: store the view as a table)."
                    + did_you_mean(table, tables)
                )
            relation = f"sensitive.{'.'.join(map(identifier, tables[table]))}"
            rows = opened.sql(f"SELECT * FROM {relation}")
            stored = rows.to_arrow_reader(1).schema
            kinds = dict(zip(rows.columns, map(str, rows.types), strict=True))
            changed = [name for name, kind in kinds.items() if kind in _AS_TEXT]
            if changed:
                texts = ", ".join(f"{identifier(name)}::VARCHAR AS {identifier(name)}" for name in changed)
                relation = f"(SELECT * REPLACE ({texts}) FROM {relation})"
    except failures() as error:
        raise explained(error, name) from None
    names = unique_names(stored.names, name)
    types = dict(zip(names, stored.types, strict=True))
    # No format of times of day reads them, so that they are texts to drafts and purchases, as they are in PostgreSQL.
    types |= {name: pa.string() for name, kind in kinds.items() if kind == _ZONED_TIME}
    log = path.with_name(f"{path.name}.wal")  # rows of a program that ended before DuckDB moved them to the file
    return FileSource(path, name, f"{path}::{table}", names, types, names, relation, setup, beside=(log,))


def _tables(opened: duckdb.DuckDBPyConnection) -> dict[str, tuple[str, str]]:
    """Each table under the one name by which it is called, so that a ledger knows it by one."""
    tables = opened.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'sensitive'"
    ).fetchall()
    return {
        (_called(table) if schema == "main" else f"{_called(schema)}.{_called(table)}"): (schema, table)
        for schema, table in tables
    }


def _called(name: str) -> str:
    """A name of a table or of a schema as it stands behind the `::`."""
    return identifier(name) if "." in name or name.startswith('"') else name


def even_batches(batches: Iterable[pa.RecordBatch], batch_rows: int) -> Iterator[TableBatch]:
    """The same rows, with exactly `batch_rows` in each batch but the last."""
    held: list[pa.RecordBatch] = []
    n_held = 0
    for batch in batches:
        held.append(batch)
        n_held += batch.num_rows
        while n_held >= batch_rows:
            rows = pa.Table.from_batches(held)
            yield TableBatch(rows.slice(0, batch_rows).unify_dictionaries())
            rest = rows.slice(batch_rows)
            held, n_held = rest.to_batches(), rest.num_rows
    if n_held:
        yield TableBatch(pa.Table.from_batches(held).unify_dictionaries())


def explained(error: Exception, name: str, at: int | None = None) -> SourceError:
    """Our own sentence for a failure: the library's message may quote a record and is dropped.

    Args:
        error: what the library raised.
        name: of the source.
        at: the line of the file at fault, where the library may count otherwise.
    """
    message = str(error)
    line, fields = _LINE.search(message), _FIELDS.findall(message)
    where = f"{name}, line {at or line[1]}" if line else name
    if line and fields:
        expected, present = fields[-1]
        if int(expected) == 1:  # of a line that names the columns there would be more
            return SourceError(
                f"{where}: expected 1 field, as in the first line, found {present}. Where a title stands above the "
                "line of names, remove it; else correct the line."
            )
        title = (
            " Where a title stands above the line of names, remove it." if (at or int(line[1])) <= _UNDER_TITLES else ""
        )
        return SourceError(
            f"{where}: expected {expected} fields, found {present}. Correct the line, or remove it where it is a note "
            f"or a total.{title}"
        )
    # Only the head: what follows may be a record that happens to contain these words.
    for mark, sentence in _MARKS.items():
        if mark in (message if line else message[:400]):
            return SourceError(f"{where}: {sentence}.")
    return SourceError(f"{where} can't be read: it is damaged, or not what its name says.")


def _about_text(error: Exception) -> bool:
    """Whether DuckDB speaks of the text of a file, and not of its place, of memory or of a disk."""
    message = str(error)
    return _LINE.search(message) is not None or "state machine" in message[:400]


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _require_plain(path: Path) -> None:
    if re.search(r"[*?\[\]{}]", str(path)):
        raise SourceError(f"The path {path} has one of * ? [ ] {{ }}, which DuckDB reads as a pattern. Rename it.")


def stamp(path: Path) -> tuple[int, int]:
    """The size and the time of the last change, to notice a file that changes between scans."""
    try:
        state = path.stat()
    except OSError:
        return -1, -1
    return state.st_size, state.st_mtime_ns
