"""What users give for a schema or a ledger, in Python: the object itself, or the path of its file."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from counterfoil.kept_files import kept_source
from counterfoil.ledger.ledger import Ledger
from counterfoil.schema.schema import Schema


def schema_given(schema: Schema | str | Path, *, source: Any = None) -> Schema:
    """The schema, or the one that a TOML file or a TOML text states.

    Args:
        schema: itself, the path, or the text.
        source: the table that it is for, where that is known: no list of the schema may be read from a table's file.

    Raises:
        TypeError: for anything else.
        ValueError: for a file or a text that is no schema.
    """
    if isinstance(schema, Schema):
        return schema
    if not isinstance(schema, (str, os.PathLike)):
        raise TypeError(
            f"`schema` must be a `Schema` or the path of the TOML file that states it. Found {type(schema).__name__}: "
            "give one of these."
        )
    kept = kept_source(str(source)) if isinstance(source, (str, os.PathLike)) else ()
    return Schema.from_toml(schema, sensitive=kept)


def ledger_given(ledger: Ledger | str | Path | None, opened: ExitStack) -> Ledger | None:
    """The ledger, or the one at a path, which `opened` closes.

    Raises:
        TypeError: for anything else.
        LedgerError: when there is no sound ledger at the path.
    """
    if ledger is None or isinstance(ledger, Ledger):
        return ledger
    if not isinstance(ledger, (str, os.PathLike)):
        raise TypeError(
            f"`ledger` must be a `Ledger` or the path of its file. Found {type(ledger).__name__}: give one of these, "
            "such as 'people.ledger'."
        )
    return opened.enter_context(Ledger.open(Path(ledger), source=None))
