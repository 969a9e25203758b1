"""From what the steward names to a source: a path, a table of a database file or of a server, or a frame."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources.file_source import open_csv, open_database, open_parquet
from counterfoil.curator.sources.frame_source import FrameSource
from counterfoil.curator.sources.postgres_source import PostgresSource
from counterfoil.curator.sources.source import Source
from counterfoil.curator.sources.spark_source import SparkSource, is_spark_frame, open_spark_parquet
from counterfoil.curator.sources.sqlite_source import SQLiteSource
from counterfoil.kept_files import SPARK, on_a_server
from counterfoil.schema.encoding import UTF_8
from counterfoil.schema.errors import closest
from counterfoil.table_url import TableURL

_SUFFIXES = (".csv", ".csv.gz", ".parquet")
_FRAME_READERS = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "read_excel"),
    ".sav": "read_spss",
    ".dta": "read_stata",
    **dict.fromkeys((".sas7bdat", ".xpt"), "read_sas"),
    ".feather": "read_feather",
}
"""Of pandas, for files of other programs."""
_OTHER_TEXT = (".tsv", ".tsv.gz", ".tab", ".txt", ".txt.gz")
_SQLITE_MAGIC = b"SQLite format 3\x00"
_DUCKDB_MAGIC = b"DUCK"


def open_source(
    table: Any,
    *,
    column_names: Sequence[str] | None = None,
    declared: Collection[str] | None = (),
    encoding: str = UTF_8,
) -> Source:
    """A source for a path (CSV, also gzipped; Parquet; `file.db::table` of DuckDB or SQLite), for a table or view
    of PostgreSQL (`postgresql://host/database::schema.table`), or for a frame.

    Frames are those of pandas, polars and pyarrow, or a numpy array [n, d], whose columns are called
    `column_names`, or else x0, x1, … A DataFrame of Spark, or `spark+parquet://` before a path, is read by Spark.

    The header of a CSV file has names with line breaks only where they are among `declared`, those of a schema, or
    where that is None, for callers that show no name (`read_header`). It is in `encoding`, by the name that
    `encoding_named` gives, where its first bytes do not say another one.

    Raises SourceError in one sentence: what is wrong and what to do.
    """
    if is_spark_frame(table):
        return SparkSource(table)
    if isinstance(table, str) and table.startswith(SPARK):
        return open_spark_parquet(table)
    if isinstance(table, str | Path):
        text = str(table)
        return PostgresSource(_address(text)) if on_a_server(text) else _open_path(text, declared, encoding)
    return FrameSource.of(table, column_names)


def _address(text: str) -> TableURL:
    try:
        return TableURL.of(text)
    except ValueError as error:  # our own sentence, without any part of the address
        raise SourceError(str(error)) from None


def _like(path: Path) -> str:
    """The file of the same folder that was meant, where one has nearly that name."""
    try:
        return closest(path.name, [other.name for other in path.parent.iterdir()])
    except OSError:
        return ""


def _through_spark(folder: Path) -> str:
    """How a folder of Parquet files is read, where it is one."""
    if not any(folder.glob("*.parquet")) and not any(folder.glob("*=*")):
        return ""
    return f" A folder of Parquet files is one table to Spark: give {SPARK}{folder}, or write them as one file."


def _open_path(text: str, declared: Collection[str] | None, encoding: str) -> Source:
    file, separator, table = text.rpartition("::")
    path = Path(file if separator else text).expanduser().absolute()
    if path.is_dir():
        raise SourceError(f"{path} is a directory; give one file: {_kinds()}.{_through_spark(path)}")
    if not path.exists():
        if _looks_like_an_address(text):
            # It may hold a password, so that nothing of it is repeated.
            raise SourceError(
                f"A source that is no file begins with postgresql:// or {SPARK}. Found another address: correct it, or "
                "give a file."
            )
        raise SourceError(f"There is no file {path}.{_like(path)}")
    try:
        with path.open("rb") as stream:
            head = stream.read(16)
    except OSError as error:
        raise SourceError(f"The file {path} can't be read ({error.strerror}).") from None
    if not head:
        raise SourceError(f"The file {path} is empty: it has not even a header.")
    if separator:
        return _open_database(path, table, head)
    return _open_file(path, head, declared, encoding)


def _looks_like_an_address(text: str) -> bool:
    """Whether a text begins like `scheme://`, also where it was made a path, which folds the slashes."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", text) is not None


def _open_file(path: Path, head: bytes, declared: Collection[str] | None, encoding: str) -> Source:
    name = path.name.lower()
    if name.endswith((".csv", ".csv.gz")):
        return open_csv(path, declared, encoding)
    if name.endswith(".parquet"):
        return open_parquet(path)
    if head == _SQLITE_MAGIC or head[8:12] == _DUCKDB_MAGIC:
        raise SourceError(f"{path.name} is a database: name one of its tables, as in {path.name}::TABLE.")
    if name.endswith(_OTHER_TEXT):
        raise SourceError(
            f"A text file must have a name that ends in .csv or .csv.gz, also where tabs separate its cells. Found "
            f"{path.name}: rename it, and its separators are recognized."
        )
    reader = _FRAME_READERS.get(path.suffix.lower())
    way = f" Save it as CSV or Parquet, as with pandas.{reader}(...).to_parquet(...)." if reader else ""
    raise SourceError(f"{path.name} has an unknown suffix; expected {_kinds()}.{way}")


def _open_database(path: Path, table: str, head: bytes) -> Source:
    if head == _SQLITE_MAGIC:
        return SQLiteSource(path, table)
    if head[8:12] == _DUCKDB_MAGIC:
        return open_database(path, table)
    raise SourceError(f"{path.name} is neither a DuckDB nor a SQLite database, so it has no table {table!r}.")


def _kinds() -> str:
    return (
        f"{', '.join(_SUFFIXES)}, or FILE::TABLE for a table of a DuckDB or SQLite file, or an address that begins "
        f"with postgresql:// or {SPARK}"
    )
