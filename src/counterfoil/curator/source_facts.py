"""Facts that a steward may see without a query: a source's name and place, its columns, one cell at fault."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from counterfoil.curator.sources.file_source import FileSource
from counterfoil.curator.sources.opening import open_source
from counterfoil.curator.sources.source import value_of
from counterfoil.ledger.ledger import SourceIdentity


@dataclass(frozen=True)
class SourceColumns:
    """A table's columns, as its storage declares them.

    Args:
        types: by name, in order.
        typed: False where the storage has no types of its own, as with CSV.
        delimiter: what stands between the cells of a CSV file; None in other storages.
    """

    types: Mapping[str, pa.DataType]
    typed: bool
    delimiter: str | None = None


def identity_of(source: Any) -> SourceIdentity:
    """The name and place by which a ledger distinguishes this source from others; no record is read.

    Raises:
        ValueError: when there is no such table.
    """
    opened = open_source(source, declared=None)
    return SourceIdentity(name=opened.name, location=opened.location)


def columns_of(source: Any, declared: Collection[str] = ()) -> SourceColumns:
    """Names and declared types; no record is read.

    Args:
        source: the table.
        declared: the names of a schema, where there is one; no other may have line breaks in a CSV file.

    Raises:
        ValueError: when there is no such table.
    """
    opened = open_source(source, declared=declared)
    header = opened.header if isinstance(opened, FileSource) else None
    types = {name: opened.column_types[name] for name in opened.column_names}
    return SourceColumns(types, opened.typed, None if header is None else header.delimiter)


def value_at(source: Any, column: str, row: int) -> str:
    """The value of one cell, NOT PRIVATE: for the steward's own terminal, never for a log or a report.

    Args:
        row: counted from 0.
    """
    batch = next(open_source(source, declared=None).batches([column], 1, skip_rows=row))
    return repr(value_of(batch.column(0), 0))
