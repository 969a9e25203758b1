"""The schema of a release: what public facts decide of it, before the table is read or anything is charged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from counterfoil.brought import brought_within
from counterfoil.curator.resolved_schema import schema_for
from counterfoil.schema import Schema
from counterfoil.schema.errors import did_you_mean
from counterfoil.schema.possibility import require_possible


def releasable(schema: Schema, source: Any, *, unit: str) -> Schema:
    """The schema as `source` needs it (`schema_for`), where a release may be made with it.

    Args:
        schema: public facts.
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table.
        unit: the column of the privacy unit, or nothing.

    Raises:
        ValueError: for kinds of columns of a user's own, for what `schema_for` refuses, and for a schema that nobody
            confirmed, or whose rules no record meets.
    """
    _require_ours(schema)
    needed = schema_for(source, schema, unit=unit)
    needed.require_confirmed()
    require_possible(needed)
    return needed


def require_groups_read(groups: Sequence[str], schema: Schema) -> None:
    """Refuses public groups that are no columns of the table.

    Raises:
        ValueError: which names the column.
    """
    for name in groups:
        if name not in (known := schema.domain.attributes):
            hint = did_you_mean(name, known)
            raise ValueError(f"`public_groups` must be synthesized columns of the schema. Found {name!r}.{hint}")
        if name in schema.between:
            # A ledger knows groups by their names: another schema may compute others under the same one.
            raise ValueError(
                f"`public_groups` must be columns that are read. Found {name!r}, which is computed from two "
                "others: choose another column."
            )


def _require_ours(schema: Schema) -> None:
    """Refuses kinds of columns of a user's own: that each cell is read by itself is proved for ours.

    Raises:
        ValueError: which names the class.
    """
    for brought in brought_within(schema):
        raise ValueError(f"A schema is made of the kinds of columns and rules of this package. Found {brought.words}.")
