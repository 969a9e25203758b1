"""What a release is made of, as its file of answers states it: names, numbers, and hashes of what is longer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator.fingerprint import fingerprint
from counterfoil.curator.sources.opening import open_source
from counterfoil.kept_files import on_a_server
from counterfoil.schema.schema import Schema
from counterfoil.table_url import TableURL


def release_facts(
    source: Any,
    schema: Schema,
    synthesizer: object,
    *,
    method: str,
    budget: Budget,
    relation: str,
    unit: PrivacyUnit | None,
    rows: int | None,
    fidelity: Sequence[object] | None,
    check_schema: float,
    unit_sizes: float,
    time_limit: float | None,
    has_ledger: bool,
    rest: bool = False,
) -> dict[str, Any]:
    """The public facts of a release; a run that finishes it must state the same.

    The place of the source is hashed, because a file of answers may be as public as the release.

    Args:
        source: the table, as a curator takes it.
        schema: its public facts.
        synthesizer: how the release is made.
        method: what that is called.
        budget: the most that it may cost.
        relation: which tables are neighbors.
        unit: whose records are protected together; a single row where None.
        rows: how many rows to draw; None for about as many as the table has.
        fidelity: the parameters of the error measures to buy, or None.
        check_schema: the share of the budget that checks the schema.
        unit_sizes: the share that counts the rows of privacy units.
        time_limit: of the fits, in seconds; None for as long as they take.
        has_ledger: whether charges are recorded in a file.
        rest: whether it spends the rest of a budget of which a share bought the schema.
    """
    return {
        "method": method,
        "parameters": fingerprint(synthesizer),
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "relation": relation,
        "privacy unit": None if unit is None else [unit.column, unit.max_rows],
        "schema": sha256(schema.to_toml().encode()).hexdigest(),
        "source": sha256(place_of_source(source).encode("utf-8", "surrogateescape")).hexdigest(),
        "rows": rows,
        "fidelity": None if fidelity is None else [*fidelity],
        "schema check": check_schema,
        "unit sizes": unit_sizes,
        "time limit": time_limit,
        "ledger": "in a file" if has_ledger else "none",
        **({"rest": True} if rest else {}),
    }


def place_of_source(source: Any) -> str:
    """Where a table is, without links, and without the user who reads it from a server.

    A frame is nowhere: its kind and the names of its columns stand for it.
    """
    if not isinstance(source, (str, os.PathLike)):
        return "\n".join([type(source).__module__, type(source).__name__, *open_source(source).column_names])
    text = os.fspath(source)
    if on_a_server(text):
        return TableURL.of(text).location
    file, separator, table = text.rpartition("::")
    return f"{os.path.realpath(file)}::{table}" if separator else os.path.realpath(text)
