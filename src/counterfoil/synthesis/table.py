"""Tables of values and the codes they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa

from counterfoil.files import replacing
from counterfoil.schema.column import Column
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.schema import Schema

WRITERS = (".csv", ".parquet")


def encode(schema: Schema, table: pa.Table) -> dict[str, np.ndarray]:
    """The codes [n] of each synthesized column, in the schema's order.

    Raises ValueError where the table lacks a column, and UnplacedValue for a cell that has no place.
    """
    schema.require_confirmed()
    absent = [column.name for column in schema.synthesized if column.name not in table.column_names]
    if absent:
        hint = did_you_mean(absent[0], table.column_names)
        raise ValueError(f"The table has no column {absent[0]!r}, which the schema declares.{hint}")
    return {column.name: column.encode(table.column(column.name)) for column in schema.synthesized}


def decode(schema: Schema, codes: Mapping[str, np.ndarray], rng: np.random.Generator) -> pa.Table:
    """A table of values in the schema's order, drawn uniformly within bins, identifiers made anew.

    `codes` has one array [n] for each synthesized column; `rng` is public randomness. Encoding the result
    gives the codes back.
    """
    lengths = {len(codes[column.name]) for column in schema.synthesized}
    if len(lengths) != 1:
        raise ValueError(f"Every column must have as many codes as the others. Found {sorted(lengths)}.")
    columns = {column.name: column.decode(codes[column.name], rng) for column in schema.synthesized}
    return with_identifiers(schema, pa.table(columns), rng)


def with_identifiers(schema: Schema, table: pa.Table, rng: np.random.Generator) -> pa.Table:
    """The synthesized columns of `table` in the schema's order, with identifiers made anew between them."""
    columns = {}
    for column in schema.columns:
        if isinstance(column, Column):
            columns[column.name] = table.column(column.name)
        elif (fresh := column.generate(table.num_rows, rng)) is not None:
            columns[column.name] = fresh
    return pa.table(columns)


def check_suffix(path: str | Path) -> None:
    """Raise ValueError unless `write_table` knows how to write to the path."""
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        raise ValueError(f"A table is written as {' or '.join(WRITERS)}. Found {suffix or 'no suffix'!r} in {path}.")


def write_table(table: pa.Table, path: str | Path) -> None:
    """Write CSV or Parquet, by the suffix of the path: the whole file or nothing.

    The table goes to a temporary file in the same folder, which then takes the path's name. Raises ValueError
    for another suffix, OSError where the folder can't be written.
    """
    check_suffix(path)
    with replacing(path) as file:
        _write(table, file, Path(path).suffix.lower())


def _write(table: pa.Table, file: object, suffix: str) -> None:
    if suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(table, file)
    else:
        from pyarrow import parquet

        parquet.write_table(table, file)
