"""Tables of values and the codes they stand for."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from counterfoil.files import replacing
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.schema import Schema
from counterfoil.synthesis.csv_writing import notations_of, write_csv
from counterfoil.synthesis.parquet_label import labeled_table

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

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


def with_identifiers(schema: Schema, table: pa.Table, rng: np.random.Generator, *, before: int = 0) -> pa.Table:
    """The synthesized columns of `table` in the schema's order; between them, identifiers made anew and derived values.

    Nothing of these two depends on codes: they are not read back, and a derived value is computed from the values that
    stand in the same row. `before` is how many rows come before those of `table`, which numbers continue.
    """
    columns: dict[str, pa.Array | pa.ChunkedArray] = {}
    synthesized = {column.name: column for column in schema.synthesized}
    for column in schema.columns:
        if isinstance(column, Column):
            columns[column.name] = column.stated(table.column(column.name))
        elif isinstance(column, Derived):
            columns[column.name] = column.compute(table, synthesized)
        elif (fresh := column.generate(table.num_rows, rng, before=before)) is not None:
            columns[column.name] = fresh
    return pa.table(columns)


def in_order(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The table with its columns in the order of `names`; one that is not among them follows the one before it."""
    places = {name: place for place, name in enumerate(names)}
    keys, last = {}, -1
    for name in table.column_names:
        keys[name] = last = places.get(name, last)
    return table.select(sorted(table.column_names, key=keys.__getitem__))


def as_pandas(table: pa.Table, schema: Schema) -> pd.DataFrame:
    """The table as pandas has it, with types that follow from the schema alone, whatever is missing among its rows.

    Whole numbers and truths that may be missing are `Int64` and `boolean`, dates are `datetime64[ms]`, and ordered
    texts ordered categories.
    """
    import pandas as pd

    frame = table.to_pandas(date_as_object=False)
    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    for name in _may_be_missing(schema):
        if table.schema.field(name).type in nullable:
            frame[name] = table.select([name]).to_pandas(types_mapper=nullable.get)[name]
    for name, texts in _ordered_texts(table, schema).items():
        frame[name] = frame[name].astype(pd.CategoricalDtype(texts, ordered=True))
    return frame


def as_polars(table: pa.Table, schema: Schema) -> pl.DataFrame:
    """The table as polars has it, with ordered texts as an `Enum`, whose values are compared by their order."""
    import polars

    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    return frame.cast({name: polars.Enum(texts) for name, texts in _ordered_texts(table, schema).items()})


def _may_be_missing(schema: Schema) -> list[str]:
    columns = {column.name: column for column in schema.synthesized}
    derived = [column.name for column in schema.derived if column.may_be_missing(columns)]
    return [name for name, column in columns.items() if column.missing] + derived


def _ordered_texts(table: pa.Table, schema: Schema) -> dict[str, list[str]]:
    """The texts of each column of ordered categories, least first; not where a word for missing stands among them."""
    return {
        column.name: list(column.labels[: len(column.values)])
        for column in schema.synthesized
        if isinstance(column, Categorical)
        and column.ordered
        and not column.missing_word
        and table.schema.field(column.name).type == pa.string()
    }


def check_suffix(path: str | Path) -> None:
    """Raise ValueError unless `write_table` knows how to write to the path."""
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        raise ValueError(
            f"A table is written as {' or '.join(WRITERS)}. Found {suffix or 'no suffix'!r} in {path}. A "
            "release's folder is named with a slash at its end."
        )


def write_table(
    table: pa.Table, path: str | Path, schema: Schema | None = None, receipt: Mapping[str, Any] | None = None
) -> None:
    """Write CSV or Parquet, by the suffix of the path: the whole file or nothing. See `write_parts`."""
    write_parts([table], path, schema, receipt)


def write_parts(
    parts: Iterable[pa.Table], path: str | Path, schema: Schema | None = None, receipt: Mapping[str, Any] | None = None
) -> None:
    """Write tables of the same columns, one after another, as one CSV or Parquet file, whole or not at all.

    With a schema, the cells of a CSV file are in the notation that it states: the words for missing values, formats of
    dates, labels, the encoding. Parquet has types of its own, and holds the table as it is. With a receipt, its
    metadata say that the rows are synthetic (see `parquet_label`); a CSV file has no place for that.

    The rows go to a temporary file in the same folder, which then takes the path's name. At most one part more than
    there are threads is held at a time.

    Args:
        parts: at least one.
        path: of the file.
        schema, receipt: see above.

    Raises:
        ValueError: for another suffix.
        OSError: where the folder can't be written.
    """
    check_suffix(path)
    with replacing(path) as file:
        if Path(path).suffix.lower() == ".csv":
            notation = (notations_of(schema), file, schema.encoding) if schema else ({}, file)
            write_csv(parts, *notation)
        else:
            write_parquet(parts if receipt is None else (labeled_table(part, receipt) for part in parts), file)


def write_parquet(parts: Iterable[pa.Table], file: IO[bytes]) -> None:
    """Writes tables of the same schema, at least one, as one Parquet file, each as row groups of its own.

    Texts that come as dictionaries are written from them, and read as the texts that they are.
    """
    from pyarrow import parquet

    tables = iter(parts)
    first = next(tables)
    plain = _plain(first.schema)
    coded = plain != first.schema
    with parquet.ParquetWriter(file, first.schema, store_schema=not coded) as writer:
        for table in chain([first], tables):
            writer.write_table(table)
        if coded:
            # What Arrow would say of the file's types, had the texts been written as such.
            types = b64encode(plain.serialize().to_pybytes())
            writer.add_key_value_metadata({**(plain.metadata or {}), b"ARROW:schema": types})


def _plain(schema: pa.Schema) -> pa.Schema:
    """The schema with texts where there are dictionaries of them."""
    texts = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        [field.with_type(pa.string()) if field.type == texts else field for field in schema]
    ).with_metadata(schema.metadata)
