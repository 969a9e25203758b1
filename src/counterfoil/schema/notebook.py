"""A schema as a short table for a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from counterfoil.pictures.notebook_table import notebook_line, notebook_page, notebook_table
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.identifier import Identifier

if TYPE_CHECKING:
    from counterfoil.schema.schema import Schema

_NAMED = 4


def schema_html(schema: Schema) -> str:
    """The columns with their facts, in the schema's order; of a draft, what is still open."""
    declared = len(schema.columns) + len(schema.patterns)
    heading = f"Schema {schema.name!r}, {declared:,} {'column' if declared == 1 else 'columns'}"
    parts = [notebook_table(("column", "kind", "facts", "codes"), _rows(schema), of="columns")]
    if schema.rules or schema.zeros:
        parts.append(notebook_line(f"{len(schema.rules):,} rules and {len(schema.zeros):,} lists of impossible cells"))
    if schema.ignore:
        parts.append(notebook_line(f"never read: {_listed(schema.ignore)}"))
    if schema.confirm:
        open_ones = _listed(tuple(item.column for item in schema.confirm))
        parts.append(notebook_line(f"A draft, still to be confirmed: {open_ones}"))
    return notebook_page(heading, *parts)


def _rows(schema: Schema) -> Iterator[tuple[str, str, str, str]]:
    for column in (*schema.columns, *(pattern.column for pattern in schema.patterns)):
        codes = f"{column.size:,}" if isinstance(column, Column) else ""
        kind = column.result if isinstance(column, Derived) else column.kind
        yield column.name, kind, _facts(column), codes


def _facts(column: Column | Identifier | Derived) -> str:
    if isinstance(column, Identifier):
        return "left out" if column.replace == "drop" else f"made anew: {column.replace}"
    if isinstance(column, Derived):
        return f"follows from others: {column.expression or column.on}"
    facts = column.facts()
    if isinstance(column, Categorical):
        said = [_listed(tuple(map(str, islice(column.values, _NAMED + 1))), len(column.values))]
        said += ["other"] if column.other else []
    elif "lower" in facts:
        said = [f"{facts['lower']} to {facts['upper']}"]
    else:
        said = [f"{facts['true']} or {facts['false']}"] if facts else []
    return ", ".join([*said, *(["missing"] if column.missing else [])])


def _listed(names: tuple[str, ...], total: int | None = None) -> str:
    more = (len(names) if total is None else total) - _NAMED
    # Each is cut by itself, so that one long name does not hide the others.
    named = [name if len(name) <= 24 else f"{name[:23]}…" for name in names[:_NAMED]]
    return ", ".join(named) + (f" and {more:,} more" if more > 0 else "")
