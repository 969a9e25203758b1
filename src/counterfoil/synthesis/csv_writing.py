"""Writing a CSV file (RFC 4180, lines end with a line feed): a cell is quoted only where it must be.

Commas separate the cells, and semicolons where numbers have decimal commas, as programs write and read such files in
the countries where numbers are written so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.encoding import UTF_8, codec_of
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.plain_arrays import array_of, filled, scalar_of
from counterfoil.schema.schema import Schema
from counterfoil.threads import in_order

_BLOCK_ROWS = 1 << 16
_IN_CELLS = {",": '[",\\n\\r]', ";": '[";\\n\\r]'}
_IN_NAMES = '[",;|\\t\\n\\r]'
"""In the header also what may separate cells elsewhere, so that a reader who counts separators is not misled."""


class Sink(Protocol):
    """What bytes are written to."""

    def write(self, data: bytes, /) -> object:
        """Takes the next bytes."""


def notations_of(schema: Schema) -> dict[str, Column | Derived]:
    """The columns of a table whose notation the schema states."""
    stated: dict[str, Column | Derived] = {column.name: column for column in schema.synthesized}
    return stated | {column.name: column for column in schema.derived}


def delimiter_of(columns: Iterable[Column | Derived | Identifier]) -> str:
    """What separates the cells of a file with these columns."""
    return ";" if any(getattr(column, "decimal_char", "") == "," for column in columns) else ","


def write_csv(
    tables: pa.Table | Iterable[pa.Table],
    columns: Mapping[str, Column | Derived],
    file: Sink,
    encoding: str = UTF_8,
) -> None:
    """Writes all rows, under one header. Lines are made on several threads, some thousand at a time.

    Args:
        tables: of single values, at least one, all with the same columns.
        columns: how the values of some of its columns are written; those of others as Arrow spells them.
        file: open for writing.
        encoding: of the text, which has all letters of the cells.

    Raises:
        ArrowInvalid: for values that have no text, such as lists.
    """
    parts = iter([tables] if isinstance(tables, pa.Table) else tables)
    first = next(parts)
    names = _quoted(array_of(first.column_names, pa.string()), _IN_NAMES).to_pylist()
    delimiter = delimiter_of(columns.values())
    codec = codec_of(encoding)
    file.write((delimiter.join(names) + "\n").encode(codec))
    blocks = (
        table.slice(start, _BLOCK_ROWS)
        for table in chain([first], parts)
        for start in range(0, table.num_rows, _BLOCK_ROWS)
    )
    for lines in in_order(partial(_lines, columns, delimiter, codec), blocks):
        file.write(lines)


def _lines(columns: Mapping[str, Column | Derived], delimiter: str, codec: str, block: pa.Table) -> bytes:
    """The rows of `block`, at least one."""
    # A header of one name has no sign that separates cells, so that a comma is taken for one.
    special = _IN_CELLS[delimiter if block.num_columns > 1 else ","]
    cells = [_cells(columns.get(name), block.column(name), special) for name in block.column_names]
    # A line of one empty cell would be no line at all.
    empty = "" if len(cells) > 1 else '""'
    separator = scalar_of(delimiter, pa.large_string())
    lines = pc.binary_join_element_wise(*(filled(texts, empty) for texts in cells), separator)
    return ("\n".join(lines.to_pylist()) + "\n").encode(codec)


def _cells(column: Column | Derived | None, values: pa.ChunkedArray, special: str) -> pa.Array:
    """large_string [n]: the values as they stand in a file; null for an empty cell."""
    texts, kind = _texts(column, values), values.type
    digits = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    as_arrow_does = column is None or column.is_spelled_plainly
    if digits and as_arrow_does and not (column and re.search(special, column.missing_word)):
        return texts  # nothing in them needs a quote
    return _quoted(texts, special)


def _texts(column: Column | Derived | None, values: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_nested(values.type):
        raise pa.ArrowInvalid(f"A CSV file has no cells of type {values.type}.")
    texts = values.combine_chunks().cast(pa.string()) if column is None else column.written(values)
    return texts.cast(pa.large_string())


def _quoted(texts: pa.Array, special: str) -> pa.Array:
    must_be = pc.match_substring_regex(texts, special)
    if not pc.any(must_be).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    mark, nothing = (scalar_of(text, texts.type) for text in ('"', ""))
    return pc.if_else(must_be, pc.binary_join_element_wise(mark, doubled, mark, nothing), texts)
