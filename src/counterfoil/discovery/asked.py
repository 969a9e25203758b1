"""What a purchase asks about a table, by its header, its storage and its user's facts; no record is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator.source_facts import SourceColumns
from counterfoil.listing import first_few
from counterfoil.schema.discovered import Kind
from counterfoil.schema.spelling import has_no_text
from counterfoil.schema.stated import Stated
from counterfoil.schema.storage_words import stored_as_nothing


def asked_of(columns: SourceColumns, stated: Mapping[str, Stated], unit: str | None) -> dict[str, Stated]:
    """The columns that leave something open, with the kinds that their storage or their user states."""
    for name in stated:
        if name not in columns.types:
            raise ValueError(f"`stated` must name columns of the table. Found {name!r}: correct the name.")
    asked = {}
    for name, kind in columns.types.items():
        given = stated.get(name, Stated())
        known = given.kind or (_stored_kind(kind) if columns.typed else None)
        if given.kind is None and known == "text" and given.decimal_char:
            known = None  # who states the sign of numbers in texts says that they may be numbers
        whole = replace(given, kind=known)
        if name != unit and not whole.closed and not has_no_text(kind):
            asked[name] = whole
    if not asked:
        lost = [name for name, kind in columns.types.items() if name not in stated and has_no_text(kind)]
        types = (columns.types[name] for name in lost)
        found = f"nothing but {first_few(lost, 3)}, {stored_as_nothing(types)}" if lost else "nothing"
        remedy = "store such columns as numbers or texts" if lost else "use the schema as it is"
        raise ValueError(f"Something about the columns must be open to be bought. Found {found}: {remedy}.")
    return asked


def open_signs(columns: SourceColumns, asked: Mapping[str, Stated]) -> tuple[str, ...]:
    """The columns that may have decimal commas, and nobody says so: cells that are apart by no commas often have."""
    if columns.typed or columns.delimiter in (None, ","):
        return ()
    may_be_numbers = (None, "integer", "real")
    return tuple(name for name, one in asked.items() if not one.decimal_char and one.kind in may_be_numbers)


def unknown_units(columns: SourceColumns, asked: Mapping[str, Stated]) -> tuple[str, ...]:
    """The columns whose texts may be numbers with a unit beside them, and nobody says so."""
    return tuple(name for name, one in asked.items() if not columns.typed and one.kind is None and not one.unit)


def others_of(columns: SourceColumns, names: tuple[str, ...], unit: PrivacyUnit | None) -> tuple[str, ...]:
    return tuple(name for name in columns.types if name not in names and (unit is None or name != unit.column))


def _stored_kind(kind: pa.DataType) -> Kind:
    """What the storage says that the cells are."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "real"
    if pa.types.is_date(kind):
        return "date"
    return "datetime" if pa.types.is_timestamp(kind) else "text"
