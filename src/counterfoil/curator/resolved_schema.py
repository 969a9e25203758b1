"""A schema as a source needs it: its patterns made columns, and none of its lists the sensitive table itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from counterfoil.curator.given import schema_given
from counterfoil.curator.sources.opening import open_source
from counterfoil.kept_files import kept_source
from counterfoil.schema import Schema
from counterfoil.schema.code_lists import require_public
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.header import require_names


def schema_for(source: Any, schema: Schema | str | Path, *, unit: str = "") -> Schema:
    """The schema with a column for each column of the source that a pattern matches; no record is read.

    Args:
        source: a path (CSV, Parquet, `file.db::table`), or a pandas, polars or pyarrow table.
        schema: public facts, or the path of the TOML file that states them.
        unit: the column of the privacy unit, or nothing.

    Raises:
        SchemaError: where a pattern matches nothing or two match one column, where the privacy unit is derived or
            computed from two others, and where a list that the schema takes as public is the source.
        ValueError: when there is no such source.
    """
    facts = schema_given(schema, source=source)
    if any(column.name == unit for column in facts.derived):
        raise SchemaError(
            f"The privacy unit must be a column that is read. Found {unit!r}, which the schema derives: choose another "
            "column, or declare it an identifier."
        )
    if any(getattr(column, "between", ()) and column.name == unit for column in facts.columns):
        raise SchemaError(
            f"The privacy unit must be a column that is read. Found {unit!r}, which is computed from two others: "
            "choose another column."
        )
    if facts.files or facts.patterns:
        opened = open_source(source, declared=(*facts.declared, unit), encoding=facts.encoding)
        if opened.location != "memory":  # of a schema that was read before its table was known
            for file in facts.files:
                require_public(Path(file), kept_source(opened.location))
        if facts.patterns:  # they would declare what may be a record's
            require_names(opened.column_names, (*facts.declared, unit))
        facts = facts.resolved(opened.column_names, unit=unit)
    return facts
