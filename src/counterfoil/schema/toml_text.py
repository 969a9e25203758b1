"""Writing a schema as TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from counterfoil.schema.bought import Bought
from counterfoil.schema.column import Column
from counterfoil.schema.derived import Derived
from counterfoil.schema.encoding import UTF_8
from counterfoil.schema.identifier import Identifier
from counterfoil.schema.patterns import is_pattern
from counterfoil.schema.rules import Rule, Zeros

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Any) -> str:
    """One value as TOML; JSON's escapes are a subset of TOML's once DEL is escaped too."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{toml_key(key)} = {toml_value(item)}' for key, item in value.items())} }}"
    return repr(value)


def toml_key(key: str) -> str:
    """A key, quoted only where it must be."""
    return key if _BARE.fullmatch(key) else toml_value(key)


def toml_table(header: str, facts: Mapping[str, Any]) -> str:
    """One table with its keys."""
    return "\n".join([header, *(f"{toml_key(key)} = {toml_value(value)}" for key, value in facts.items()), ""])


def schema_text(
    columns: Sequence[Column | Identifier | Derived],
    rules: Iterable[Rule],
    zeros: Iterable[Zeros],
    *,
    name: str,
    ignore: tuple[str, ...],
    bought: Bought | None = None,
    encoding: str = UTF_8,
) -> str:
    """A whole schema as TOML text."""
    exact = any(is_pattern(column.name) for column in columns if not isinstance(column, Derived))
    top = {"name": name, "bought": bought and bought.facts(), "ignore": ignore, "exact_names": exact}
    top |= {} if encoding == UTF_8 else {"encoding": encoding}
    head = "".join(f"{key} = {toml_value(value)}\n" for key, value in top.items() if value)
    parts = (head, *_columns(columns), *_derived(columns), *_rules(rules), *_zeros(zeros))
    return "\n".join(part for part in parts if part)


def _columns(columns: Sequence[Column | Identifier | Derived]) -> Iterable[str]:
    for column in columns:
        if isinstance(column, Derived):
            continue
        facts = {"kind": column.kind} | column.facts()
        if isinstance(column, Column) and column.missing:
            facts |= {"missing": True}
            if column.missing_values:
                facts |= {"missing_values": column.missing_values}
        yield toml_table(f"[columns.{toml_key(column.name)}]", facts)


def _derived(columns: Sequence[Column | Identifier | Derived]) -> Iterable[str]:
    for i, column in enumerate(columns):
        if not isinstance(column, Derived):
            continue
        last = all(isinstance(later, Derived) for later in columns[i:])
        after = {} if last else {"after": columns[i - 1].name if i else ""}
        yield toml_table("[[derived]]", {"name": column.name} | column.facts() | after)


def _rules(rules: Iterable[Rule]) -> Iterable[str]:
    for rule in rules:
        said = {"if": rule.condition, "then": rule.then} if rule.condition else {"require": rule.then}
        yield toml_table("[[rules]]", said)


def _zeros(zeros: Iterable[Zeros]) -> Iterable[str]:
    for cells in zeros:
        yield toml_table("[[zeros]]", {"columns": cells.columns, "values": cells.values})
