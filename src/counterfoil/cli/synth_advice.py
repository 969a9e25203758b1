"""What follows from public facts alone and is said beside a release: whom it protects, and what separates cells."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterfoil.accounting.neighbors import PrivacyUnit
    from counterfoil.schema import Schema

_PERSON = re.compile(
    r"(^|[_\W])(person|patient|customer|client|subject|participant|respondent|member|employee|student|pupil|kunde)$",
    re.I,
)
_FEWEST_PERSONS = 20
"""Codes: fewer may be kinds of them."""
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def other_notation(source: str, schema: Schema, table: Path) -> str:
    """A sentence where two CSV files have other encodings, or other signs between their cells; empty where neither."""
    from counterfoil.curator.source_facts import columns_of
    from counterfoil.synthesis.csv_writing import delimiter_of

    if table.suffix.lower() != ".csv" or not source.lower().endswith((".csv", ".csv.gz")):
        return ""
    columns = columns_of(source, schema.declared, schema.encoding)
    read, written = columns.encoding or "", schema.encoding
    other = [] if read == written else [f"The source is {read.upper()}, and the file that is written {written.upper()}"]
    sign, between = columns.delimiter or "", delimiter_of(schema.columns)
    if sign != between:
        other += [
            f"Cells of the source are separated by {_DELIMITERS[sign]}, and those of the file that is written by "
            f"{_DELIMITERS[between]}"
        ]
    return f"{'. '.join(other)}: a program that reads both has to know." if other else ""


def not_read(schema: Schema, names: Collection[str]) -> str:
    """A sentence on columns of a table that are computed from others in their place; empty where there are none.

    Args:
        schema: the public facts.
        names: of the columns that the table has.
    """
    own = [one for name, one in schema.between.items() if name in names]
    if not own:
        return ""
    name, (first, last) = own[0].column.name, own[0].inputs
    return (
        f"The table's own {name} is not read: by its `between` it is what lies between {first} and {last}. Leave "
        "`between` out to copy the column as it stands."
    )


def unit_advice(schema: Schema, unit: PrivacyUnit | None) -> str | None:
    """What to consider where rows have an identifier and each is protected by itself; public, as the schema is."""
    from counterfoil.schema import Identifier

    if unit is not None:
        return None
    named = [column.name for column in schema.columns if isinstance(column, Identifier)]
    if not named:
        return _copied_advice(schema)
    if schema.bought is not None and (bought := schema.bought.unit) is not None:
        return (
            f"Each row is protected by itself, while the schema was bought for all rows with one {bought.column}: "
            f"--privacy-unit {shlex.quote(bought.column)} --max-rows {bought.max_rows} protects these."
        )
    column, which = (
        (shlex.quote(named[0]), "") if len(named) == 1 else ("COLUMN", f", where COLUMN is {' or '.join(named)}")
    )
    return (
        "Each row is protected by itself. If several rows of a table may be of one person, protect all of them: "
        f"--privacy-unit {column} --max-rows K{which}."
    )


def _copied_advice(schema: Schema) -> str | None:
    """The same where a column is copied whose name is that of identifiers or persons, as the `id` of repeated
    measures."""
    from counterfoil.schema.categorical import Categorical
    from counterfoil.schema.drafting import may_name_somebody
    from counterfoil.schema.integer import Integer

    named = [
        column.name
        for column in schema.synthesized
        if (isinstance(column, Categorical | Integer) and may_name_somebody(column.name))
        or (isinstance(column, Integer) and column.size > _FEWEST_PERSONS and _PERSON.search(column.name))
    ]
    if not named:
        return None
    return (
        f"Each row is protected by itself, and {named[0]} is copied as any other column. If its values are persons, of "
        "whom several rows may be, protect all of them: "
        f'--privacy-unit {shlex.quote(named[0])} --max-rows K, with kind = "identifier" in its table.'
    )
