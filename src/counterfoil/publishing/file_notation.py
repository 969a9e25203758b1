"""How the file of a release writes values: with types of its own or as texts, and which words mean a missing one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from counterfoil.schema import Schema
from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.plain_arrays import array_of


@dataclass(frozen=True)
class Notation:
    """How a file writes values.

    Args:
        typed: whether the file has types of its own, as Parquet has; else all is text.
        missing: the words for missing values that hold for the whole table.
        by_column: those that hold for one column alone, because another column has such a value.
        former: whether as versions before 0.13 wrote it, to be compared with.
    """

    typed: bool
    missing: tuple[str, ...]
    by_column: Mapping[str, str]
    former: bool


def notation_of(schema: Schema, *, typed: bool, former: bool = False) -> Notation:
    """Which words mean that a value is missing, where.

    A word of one column that is a value of another one holds for its own column alone: version 1 of table schemas has
    one list for the whole table, by which that value would be read as missing.

    Args:
        schema: of the table.
        typed: whether the file has types of its own.
        former: whether as versions before 0.13 wrote it, to be compared with.
    """
    is_value = partial(_is_value, former=former)
    words = {column.name: column.missing_word for column in schema.synthesized if column.missing_word}
    if typed:
        words = {name: word for name, word in words.items() if pa.types.is_string(schema[name].arrow_type)}
    taken = {word for word in words.values() if any(is_value(column, word) for column in schema.columns)}
    common = [word for word in dict.fromkeys(words.values()) if word not in taken]
    by_column = {name: word for name, word in words.items() if word in taken}
    return Notation(typed, ("", *common), by_column, former)


def _is_value(column: Column | Identifier | Derived, word: str, *, former: bool) -> bool:
    """Whether a cell of the column may be this text and mean a value."""
    if isinstance(column, Identifier):
        return column.replace != "drop" and (word.isdecimal() or word.count("-") == 4)
    if isinstance(column, Derived):
        return _is_computed(column, word, former=former)
    if word == column.missing_word:
        return False
    if word in column.labels[: column.n_bins]:
        return True
    try:
        replace(column, missing=True, missing_values=(*column.missing_values, word))
    except SchemaError:  # a word for missing values that is a value too is refused
        return word not in column.missing_values
    return False


def _is_computed(column: Derived, word: str, *, former: bool) -> bool:
    """Whether a computed value may have this text: numbers and dates have digits, truth has two words."""
    if column.true is not None:
        return word in (str(column.true), str(column.false))
    looked_up = {str(row[-1]) for row in column.lookup}
    if looked_up and not column.is_spelled_plainly:
        looked_up = set(column.written(array_of([row[-1] for row in column.lookup])).to_pylist())
    if looked_up:
        return word in looked_up
    is_number_or_date = not word.isalpha() if former else any(sign.isdigit() for sign in word)
    return is_number_or_date or word.casefold() in ("true", "false")
