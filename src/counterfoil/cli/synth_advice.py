"""What follows from public facts alone and is said beside a release: whom it protects, and what separates cells."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterfoil.accounting.neighbors import PrivacyUnit
    from counterfoil.cli.synth_request import Request
    from counterfoil.schema import Schema

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def notes_before(request: Request, table: Path, *, gives_points: bool) -> Iterator[str]:
    """What is said before a release is made: where it will differ from its source, and whom it protects.

    Args:
        request: what is asked for.
        table: the file that will be written.
        gives_points: whether the method makes points (`Method.gives_points`).
    """
    from counterfoil.curator.source_facts import columns_of
    from counterfoil.curator.stored_orders import orders_lost
    from counterfoil.schema.known_losses import known_losses, words_unwritten
    from counterfoil.schema.leading_zeros import zeros_lost, zeros_unwritten
    from counterfoil.schema.one_spelling import one_spelling
    from counterfoil.schema.possibility import rarely_met

    source, schema = request.source, request.schema
    if (rare := rarely_met(schema, zeros_followed=not gives_points)) is not None:
        yield f"WARNING: {rare}"
    yield from (f"WARNING: {loss}" for loss in known_losses(schema))
    if (advice := unit_advice(schema, request.unit)) is not None:
        yield advice
    if spelling := one_spelling({column.name: column.missing_values for column in schema.synthesized}):
        yield spelling
    as_text = table.suffix.lower() == ".csv"
    zeros = [zeros_lost(schema), *([] if as_text else [zeros_unwritten(schema), words_unwritten(schema)])]
    if any(zeros) and not columns_of(source, schema.declared, schema.encoding).typed:
        yield from filter(None, zeros)
    if schema.between and (own := not_read(schema, columns_of(source, schema.declared, schema.encoding).types)):
        yield own
    if lost := orders_lost(source, schema):
        yield lost
    if other := other_notation(source, schema, table):
        yield other
    if not request.rest and (adding := _beside_a_rest(request)) is not None:
        yield f"{adding} --rest spends its rest."


def _beside_a_rest(request: Request) -> str | None:
    """What is said of a budget beside the rest of one that bought the schema."""
    from counterfoil.curator.rest import words_beside_a_rest
    from counterfoil.ledger.ledger import Ledger

    if request.ledger is None:
        return words_beside_a_rest(request.schema.bought, None)
    with Ledger.open(request.ledger, source=None) as ledger:
        return words_beside_a_rest(request.schema.bought, ledger)


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
    from counterfoil.schema.unit_advice import unit_advice_in

    return unit_advice_in(_as_options, schema, unit)


def _as_options(column: str, most: str) -> str:
    return f"--privacy-unit {shlex.quote(column)} --max-rows {most}"
