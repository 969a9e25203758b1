"""Sentences on what a release loses because of what its schema says, known before any record is read."""

from __future__ import annotations

from counterfoil.schema.lookup_gaps import lookup_gaps
from counterfoil.schema.rounded_lookups import rounded_lookups
from counterfoil.schema.schema import Schema
from counterfoil.schema.shared_values import shared_values


def known_losses(schema: Schema) -> list[str]:
    """Derived columns that are empty in part or rounded, values that rules name and bins hide; with what to write."""
    lookups = [*(gap.text for gap in lookup_gaps(schema)), *(one.text for one in rounded_lookups(schema))]
    return [*lookups, *(one.text for one in shared_values(schema))]
