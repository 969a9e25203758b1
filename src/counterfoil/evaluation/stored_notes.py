"""What the storage of a table says of its columns, and a schema does not, as notes: exact facts about no record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from counterfoil.evaluation.column_notes import ColumnNote
from counterfoil.schema.schema import Schema
from counterfoil.schema.stored_otherwise import ORDER_REMEDY, lost_orders, lost_zones


def stored_notes(schema: Schema, types: Mapping[str, pa.DataType]) -> Iterator[ColumnNote]:
    """A note for each column of which copies lose an order or a zone."""
    order = f"stored as ordered categories, and comes back as texts, which compare by the alphabet: {ORDER_REMEDY}."
    yield from (ColumnNote(name, "stored", order, 1) for name in lost_orders(schema, types))
    for name, zone in lost_zones(schema, types):
        clocks = (
            f"stored by the clocks of {zone}, and comes back by those of UTC, also its hours and days: where these "
            f'matter, write `zone = "{zone}"`, with bounds that are a day farther out.'
        )
        yield ColumnNote(name, "stored", clocks, 1)
