"""Columns that the schema's derived ones follow from: none of them can be derived itself."""

from __future__ import annotations

from counterfoil.schema import Schema
from counterfoil.schema.derived_match import followed


def kept_columns(schema: Schema) -> frozenset[str]:
    """Their names."""
    columns = {column.name: column for column in schema.synthesized}
    return frozenset(name for derived in schema.derived for name in followed(derived, columns))
