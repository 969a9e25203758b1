"""What a storage says of its columns, and a schema does not, so that copies lose it: an order, or a zone.

Types in storage are public facts, as the names of columns are: no record is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from counterfoil.inert import inert
from counterfoil.listing import first_few
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.instant import Datetime
from counterfoil.schema.schema import Schema
from counterfoil.schema.storage_words import is_ordered_category

_MOST_NAMED = 8
ORDER_REMEDY = "list `values` from least to greatest, with `ordered = true` and without `other`"
_UTC = frozenset(("UTC", "Etc/UTC", "Zulu", "Etc/Zulu", "GMT", "Etc/GMT", "+00:00", "Z"))


def lost_orders(schema: Schema, types: Mapping[str, pa.DataType]) -> tuple[str, ...]:
    """The columns of texts that the storage has as ordered categories, and the schema without `ordered`.

    Numbers keep their order without it.
    """
    return tuple(
        column.name
        for column in schema.synthesized
        if isinstance(column, Categorical)
        and not column.ordered
        and is_ordered_category(types.get(column.name))
        and any(isinstance(value, str) for value in column.values)
    )


def said_of_orders(names: tuple[str, ...]) -> str:
    """A sentence on columns whose order copies lose; empty where there are none."""
    if not names:
        return ""
    are = "are" if len(names) > 1 else "is"
    return (
        f"{first_few(names, _MOST_NAMED)} {are} stored as ordered categories, and copies have plain texts, which "
        f"compare by the alphabet: where the order matters, {ORDER_REMEDY}."
    )


def lost_zones(schema: Schema, types: Mapping[str, pa.DataType]) -> Iterator[tuple[str, str]]:
    """Datetimes that the storage has in another zone than UTC, in which the schema has them, each with that zone."""
    for column in schema.synthesized:
        zone = getattr(types.get(column.name), "tz", None)
        if isinstance(column, Datetime) and column.zone in _UTC and zone is not None and zone not in _UTC:
            yield column.name, inert(zone)
