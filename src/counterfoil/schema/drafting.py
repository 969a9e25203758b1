"""A first schema from names and types alone: no value is read, and every fact is left to be confirmed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from counterfoil.schema.toml import UNKNOWN
from counterfoil.schema.toml_text import toml_key, toml_table, toml_value

_NAMES_SOMEBODY = re.compile(
    r"(^|[_\W])(id|uuid|guid|ssn|e-?mail|phone|(first|last|full)[_ ]?name|name|address)$", re.I
)
_HEAD = """\
# A draft made from the column names and types alone; no record was read. Column by column, state what is
# true from public knowledge (a form, a code book, a law), never from looking at the records, then delete the
# line `confirm = true`. Nothing is synthesized before that.
#
#   categorical  values = ["a", "b"], optional other = true, ordered = true
#   boolean
#   integer      lower, upper; optional step, or bins, or edges
#   real         lower, upper, and one of bins, resolution, edges; optional points = [0] for exact values
#   date         lower, upper (2020-01-31); optional resolution = "7d" or "1mo", or bins, or edges; format
#   datetime     lower, upper, and one of resolution = "1h", bins, edges; optional format
#   identifier   replace = "drop", "sequence" or "uuid"; never read
#
# Any but identifiers: missing = true where values may be missing, missing_values = ["?"] for words that say so.
# Columns to leave out altogether: ignore = ["name", ...] above the first column.
# Facts that hold for every record: [[rules]] with require = "age >= 0", or with if = "..." and then = "...".
"""
_UNTYPED = """\
#
# The types of a CSV file come from its values, which were not read: only its header was. Say each `kind`.
"""


def draft(columns: Mapping[str, pa.DataType], *, name: str = "", typed: bool = True) -> str:
    """TOML text for the columns of a table, each with `confirm = true`.

    `typed` is False where the storage has no types of its own, as with CSV: then no kind is proposed.
    """
    parts = [_HEAD + ("" if typed else _UNTYPED)]
    if name:
        parts.append(f"name = {toml_value(name)}\n")
    for column, kind in columns.items():
        facts = {"confirm": True} | (_guess(column, kind) if typed or _is_name(column) else {"kind": UNKNOWN})
        parts.append(toml_table(f"[columns.{toml_key(column)}]", facts))
    return "\n".join(parts)


def _is_name(column: str) -> bool:
    return bool(_NAMES_SOMEBODY.search(column))


def _guess(column: str, kind: pa.DataType) -> dict[str, Any]:
    bounds = {"lower": UNKNOWN, "upper": UNKNOWN}
    if _is_name(column):
        return {"kind": "identifier", "replace": "drop"}
    if pa.types.is_boolean(kind):
        return {"kind": "boolean"}
    if pa.types.is_integer(kind):
        return {"kind": "integer"} | bounds
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return {"kind": "real"} | bounds | {"bins": UNKNOWN}
    if pa.types.is_date(kind):
        return {"kind": "date"} | bounds
    if pa.types.is_timestamp(kind):
        return {"kind": "datetime"} | bounds | {"resolution": "1d"}
    return {"kind": "categorical", "values": []}
