"""Sentences on what a release loses because of what its schema says, known before any record is read."""

from __future__ import annotations

from counterfoil.listing import first_few
from counterfoil.schema.lookup_gaps import lookup_gaps
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.rounded_lookups import rounded_lookups
from counterfoil.schema.schema import Schema
from counterfoil.schema.shared_values import shared_values

_MOST_NAMED = 8


def known_losses(schema: Schema) -> list[str]:
    """Derived columns that are empty in part or rounded, values that rules name and bins hide; with what to write."""
    lookups = [*(gap.text for gap in lookup_gaps(schema)), *(one.text for one in rounded_lookups(schema))]
    return [*lookups, *(one.text for one in shared_values(schema))]


def words_unwritten(schema: Schema) -> str:
    """A sentence on columns whose words a file with types holds as numbers; empty where there are none."""
    columns = [column for column in schema.synthesized if isinstance(column, NumberColumn)]
    named = [f"{word} of {column.name} as {number:g}" for column in columns for word, number in column.number_words]
    if not named:
        return ""
    return f"A Parquet file holds {first_few(named, _MOST_NAMED)}: one that ends with .csv has the words."
