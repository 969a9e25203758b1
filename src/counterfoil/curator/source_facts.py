"""Facts that a steward may see without a query: a source's name and place, its columns, one cell at fault."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from counterfoil.curator.sources.file_source import FileSource
from counterfoil.curator.sources.frame_source import FrameSource
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.source import value_of
from counterfoil.ledger.ledger import SourceIdentity
from counterfoil.schema.encoding import UTF_8


@dataclass(frozen=True)
class SourceColumns:
    """A table's columns, as its storage declares them.

    Args:
        types: by name, in order.
        typed: False where the storage has no types of its own, as with CSV.
        delimiter: what stands between the cells of a CSV file; None in other storages.
        encoding: of a CSV file, as its first bytes say, or else as stated.
        objects: the columns of a frame whose cells are Python objects, of which no type is known.
    """

    types: Mapping[str, pa.DataType]
    typed: bool
    delimiter: str | None = None
    encoding: str | None = None
    objects: frozenset[str] = frozenset()

    def require_encoding(self, stated: str) -> None:
        """Refuses an encoding that says nothing about this table, and which could not write what it holds.

        Raises:
            ValueError: where the table is no CSV file, or its first bytes say another encoding.
        """
        if stated == UTF_8 or self.encoding == stated:
            return
        if self.encoding is None:
            raise ValueError(f"An encoding is stated of CSV files. Found `encoding = {stated!r}`: leave it out.")
        raise ValueError(
            f"The first bytes of the file say that it is {self.encoding.upper()}. Found `encoding = {stated!r}`: leave "
            "it out."
        )


def identity_of(source: Any) -> SourceIdentity:
    """The name and place by which a ledger distinguishes this source from others; no record is read.

    Raises:
        ValueError: when there is no such table.
    """
    opened = open_source(source, declared=None)
    return SourceIdentity(name=opened.name, location=opened.location)


def columns_of(source: Any, declared: Collection[str] = (), encoding: str = UTF_8) -> SourceColumns:
    """Names and declared types; no record is read.

    Args:
        source: the table.
        declared: the names of a schema, where there is one; no other may have line breaks in a CSV file.
        encoding: of a CSV file whose first bytes do not say it.

    Raises:
        ValueError: when there is no such table.
    """
    opened = open_source(source, declared=declared, encoding=encoding)
    header = opened.header if isinstance(opened, FileSource) else None
    types = {name: opened.column_types[name] for name in opened.column_names}
    if header is not None:
        return SourceColumns(types, opened.typed, header.delimiter, header.encoding)
    objects = opened.objects if isinstance(opened, FrameSource) else frozenset()
    return SourceColumns(types, opened.typed, objects=objects)


def columns_stated(source: Any, encoding: str) -> SourceColumns:
    """The same for whoever describes the table, and states the encoding of a file as `encoding_named` gives it.

    Raises:
        ValueError: also for a table without columns, as PostgreSQL and frames can be, of which a schema would say
            nothing, and where the encoding says nothing about it (`SourceColumns.require_encoding`).
    """
    columns = columns_of(source, encoding=encoding)
    if not columns.types:
        raise ValueError("A table must have columns to be described by a schema. Found none: is it the right table?")
    columns.require_encoding(encoding)
    return columns


def value_at(source: Any, column: str, row: int, encoding: str = UTF_8) -> str:
    """The value of one cell, NOT PRIVATE: for the steward's own terminal, never for a log or a report.

    Args:
        row: counted from 0.
        encoding: of a CSV file whose first bytes do not say it.
    """
    opened = open_source(source, declared=None, encoding=encoding)
    batch = next(opened.batches([column], 1, skip_rows=row))
    return repr(value_of(batch.column(0), 0))
