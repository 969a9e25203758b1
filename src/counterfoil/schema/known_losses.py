"""Sentences on what a release loses because of what its schema says, known before any record is read."""

from __future__ import annotations

from counterfoil.schema.lookup_gaps import lookup_gaps
from counterfoil.schema.schema import Schema
from counterfoil.schema.shared_values import shared_values


def known_losses(schema: Schema) -> list[str]:
    """Derived columns that are empty in part, and values that rules name and bins hide; each with what to write."""
    return [*(gap.text for gap in lookup_gaps(schema)), *(one.text for one in shared_values(schema))]
