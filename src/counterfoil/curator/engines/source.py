"""Where sensitive rows come from: a file, a table of a database file, or a frame already in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

BATCH_ROWS = 131_072
SUFFIXES = (".csv", ".csv.gz", ".parquet")
_SQLITE_MAGIC = b"SQLite format 3\x00"
_DUCKDB_MAGIC = b"DUCK"


class SourceError(ValueError):
    """A table that can't be read; the sentence holds no value of a record."""


class Source(Protocol):
    """Rows in a fixed order, to be read any number of times, columns chosen each time.

    name: what the steward calls it, such as "people.csv"; location: the absolute path, or "memory".
    column_names: in order.
    """

    name: str
    location: str
    column_names: tuple[str, ...]

    @property
    def typed(self) -> bool:
        """Whether the storage itself has types; a CSV file has none."""
        ...

    @property
    def column_types(self) -> Mapping[str, pa.DataType]:
        """The storage's type of each column."""
        ...

    def batches(
        self, columns: Sequence[str], batch_rows: int = BATCH_ROWS, *, skip_rows: int = 0
    ) -> Iterator[pa.RecordBatch]:
        """The rows after the first `skip_rows`: exactly `batch_rows` in each batch but the last.

        A column's type may differ between batches where the storage has none (SQLite).
        Raises SourceError when the rows can't be read or have changed since the source was opened.
        """
        ...

    def place(self, row: int) -> str:
        """Words for where a row (counted from 0) stands, such as "line 18 of people.csv"."""
        ...


def open_source(table: Any, *, column_names: Sequence[str] | None = None) -> Source:
    """A source for a path (CSV, also gzipped; Parquet; `file.db::table` of DuckDB or SQLite) or for a frame.

    Frames are those of pandas, polars and pyarrow, or a numpy array [n, d], whose columns are called
    `column_names`, or else x0, x1, …

    Raises SourceError in one sentence: what is wrong and what to do.
    """
    if isinstance(table, str | Path):
        return _open_path(str(table))
    from counterfoil.curator.engines.frame_source import FrameSource

    return FrameSource.of(table, column_names)


def _open_path(text: str) -> Source:
    file, separator, table = text.rpartition("::")
    path = Path(file if separator else text).expanduser().absolute()
    if path.is_dir():
        raise SourceError(f"{path} is a directory; give one file: {_kinds()}.")
    if not path.exists():
        raise SourceError(f"There is no file {path}.")
    try:
        with path.open("rb") as stream:
            head = stream.read(16)
    except OSError as error:
        raise SourceError(f"The file {path} can't be read ({error.strerror}).") from None
    if not head:
        raise SourceError(f"The file {path} is empty: it has not even a header.")
    if separator:
        return _open_database(path, table, head)
    return _open_file(path, head)


def _open_file(path: Path, head: bytes) -> Source:
    from counterfoil.curator.engines.file_source import open_csv, open_parquet

    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz")):
        return open_csv(path)
    if name.endswith(".parquet"):
        return open_parquet(path)
    if head == _SQLITE_MAGIC or head[8:12] == _DUCKDB_MAGIC:
        raise SourceError(f"{path.name} is a database: name one of its tables, as in {path.name}::TABLE.")
    raise SourceError(f"{path.name} has an unknown suffix; expected {_kinds()}.")


def _open_database(path: Path, table: str, head: bytes) -> Source:
    if head == _SQLITE_MAGIC:
        from counterfoil.curator.engines.sqlite_source import SQLiteSource

        return SQLiteSource(path, table)
    if head[8:12] == _DUCKDB_MAGIC:
        from counterfoil.curator.engines.file_source import open_database

        return open_database(path, table)
    raise SourceError(f"{path.name} is neither a DuckDB nor a SQLite database, so it has no table {table!r}.")


def _kinds() -> str:
    return f"{', '.join(SUFFIXES)}, or FILE::TABLE for a table of a DuckDB or SQLite file"


def unique_names(names: Sequence[object], where: str) -> tuple[str, ...]:
    """The names as texts; raises SourceError when one is empty or repeated."""
    texts = tuple(str(name) for name in names)
    for position, text in enumerate(texts, 1):
        if not text.strip():
            raise SourceError(f"{where}: column {position} has no name. Give every column a name.")
        if text in texts[: position - 1]:
            raise SourceError(f"{where}: two columns are called {text!r}. Rename one of them.")
    return texts


def array_of(values: Sequence[object]) -> pa.Array:
    """Python values as one array; as texts where they are of several types."""
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([None if _is_nothing(value) else _text(value) for value in values], type=pa.string())


def _is_nothing(value: object) -> bool:
    return value is None or value != value


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
