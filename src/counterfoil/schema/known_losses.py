"""Sentences on what a release loses because of what its schema says, known before any record is read."""

from __future__ import annotations

from counterfoil.schema.lookup_gaps import lookup_gaps
from counterfoil.schema.rounded_lookups import rounded_lookups
from counterfoil.schema.schema import Schema
from counterfoil.schema.shared_values import shared_values


def known_losses(schema: Schema) -> list[str]:
    """Derived columns that are empty in part or rounded, values that rules name and bins hide; with what to write."""
    found = (*lookup_gaps(schema), *rounded_lookups(schema), *shared_values(schema))
    return [one.text for one in found]
