"""What a steward may be told of a source without a query: its name and place, its columns, one cell at fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from counterfoil.curator.engines.opening import open_source
from counterfoil.curator.engines.source import value_of
from counterfoil.curator.ledger import SourceIdentity


@dataclass(frozen=True)
class Columns:
    """A table's columns, as its storage declares them.

    Args:
        types: by name, in order.
        typed: False where the storage has no types of its own, as with CSV.
    """

    types: Mapping[str, pa.DataType]
    typed: bool


def identity_of(source: Any) -> SourceIdentity:
    """The name and place by which a ledger tells this source from others; no record is read.

    Raises:
        ValueError: when there is no such table.
    """
    opened = open_source(source)
    return SourceIdentity(name=opened.name, location=opened.location)


def columns_of(source: Any) -> Columns:
    """Names and declared types; no record is read.

    Raises:
        ValueError: when there is no such table.
    """
    opened = open_source(source)
    return Columns({name: opened.column_types[name] for name in opened.column_names}, opened.typed)


def require_rows(source: Any) -> None:
    """Refuses an empty table, which is a mistake of its steward's.

    Whether there are rows is no secret to the steward, but to a program that acts on it: this is for commands, and
    `Curator` itself answers for an empty table as for any other.

    Raises:
        ValueError: when there is no row, or no such table.
    """
    opened = open_source(source)
    if not any(batch.num_rows for batch in opened.batches(opened.column_names[:1], 1)):
        raise ValueError(f"{opened.name} must have rows to be copied. Found a table without any: check the file.")


def value_at(source: Any, column: str, row: int) -> str:
    """The value of one cell, NOT PRIVATE: for the steward's own terminal, never for a log or a report.

    Args:
        row: counted from 0.
    """
    batch = next(open_source(source).batches([column], 1, skip_rows=row))
    return repr(value_of(batch.column(0), 0))
