"""The file that `counterfoil schema` writes: its place, checked before anything is asked or charged, and its name."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from datetime import date, datetime, time
from math import isfinite
from pathlib import Path
from typing import Any

from counterfoil.cli.terminal import Terminal
from counterfoil.schema.header import are_values, named_by_values


def require_schema_file(out: Path, source: str, *, force: bool) -> None:
    """Refuses what could not be written, or would destroy what is still needed.

    Args:
        out: where the schema goes.
        source: the table that it is for.
        force: whether a file that is there may be replaced.

    Raises:
        ValueError: when `out` is no .toml file, or is there already (without `force`), or is the table.
    """
    from counterfoil.cli.outputs import inputs, require_free, require_harmless

    require_harmless([out], inputs(source))
    if out.suffix.lower() != ".toml":
        raise ValueError(f"A schema is written to a .toml file. Found {out.name!r}.")
    require_free([out], force=force)


def note_strange_header(terminal: Terminal, names: Iterable[str]) -> None:
    """Warns where names look like values: a file without a line of names loses a record, whose values become names."""
    found = list(names)
    if are_values(found):
        strange, count = named_by_values(found)
        terminal.alarm(
            f"WARNING: {strange} of {count} columns are named by a number or a date. If the file has no line of "
            "names, a record is taken for it, and its values become names: add the line."
        )


def facts_of(text: str, out: Path | None) -> dict[str, Any]:
    """What `--json` prints of a schema: its tables, where it was written, and which columns are still to be confirmed.

    Args:
        text: the TOML.
        out: its file, or None.
    """
    facts = tomllib.loads(text)
    open_columns = [name for name, column in facts.get("columns", {}).items() if column.get("confirm")]
    return {"schema": _for_json(facts), "out": None if out is None else str(out), "to_confirm": open_columns}


def _for_json(value: Any) -> Any:
    """A value of TOML where JSON has none like it: days and times as in TOML, and numbers that are not finite, as text.

    A schema that is drafted or bought spells such values as texts in the first place; one from other hands may not.
    """
    if isinstance(value, dict):
        return {key: _for_json(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_for_json(one) for one in value]
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    return str(value) if isinstance(value, float) and not isfinite(value) else value
