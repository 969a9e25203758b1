"""The part of a draft that a table can be checked against: columns of which everything is said, confirmed or not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterfoil.kept_files import KeptFile
from counterfoil.schema.errors import Unconfirmed
from counterfoil.schema.expression import names_column
from counterfoil.schema.patterns import is_pattern
from counterfoil.schema.schema import Schema
from counterfoil.schema.toml import read_schema, unsaid_facts


@dataclass(frozen=True)
class Checkable:
    """A draft without what it leaves open.

    Args:
        schema: its other columns, as if they were confirmed; those that are left open are ignored.
        open: the columns that it leaves open, and what is to be said of them.
        to_confirm: the columns that are fully stated, and which nobody confirmed yet.
        without: how many rules, lists of zeros and derived columns name a column that is left open.
    """

    schema: Schema
    open: tuple[Unconfirmed, ...]
    to_confirm: tuple[str, ...]
    without: int


def checkable(draft: Path, names: Collection[str], *, sensitive: Sequence[KeptFile] = ()) -> Checkable | None:
    """What can be checked of a draft; None where that is nothing, or which columns a pattern leaves open.

    Args:
        draft: its file.
        names: the columns of the table.
        sensitive: the files of the table: no list of the draft may be one of them.

    Raises:
        SchemaError: as `Schema.from_toml` does, also for facts that are not confirmed.
    """
    seen: dict[str, _Sorted] = {}

    def without_open(facts: Mapping[str, Any]) -> Mapping[str, Any]:
        seen["sorted"] = found = _Sorted(facts)
        return facts if found.is_nothing else found.kept(names)

    schema = read_schema(draft, Schema, sensitive=sensitive, edited=without_open)
    found = seen["sorted"]
    return None if found.is_nothing else Checkable(schema, found.open, found.to_confirm, found.without)


class _Sorted:
    """A document, and which of its columns and facts are left open."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._facts = facts
        self._tables = {name: table for name, table in facts.get("columns", {}).items() if isinstance(table, dict)}
        drafted = {name: table for name, table in self._tables.items() if table.get("confirm") is True}
        unsaid = {name: unsaid_facts(table) for name, table in drafted.items()}
        self.open = tuple(Unconfirmed(name, said) for name, said in unsaid.items() if said)
        self.to_confirm = tuple(name for name, said in unsaid.items() if not said)
        self.without = 0

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is left, or a pattern that may stand for any columns is left open."""
        patterns = [] if self._facts.get("exact_names") else [one for one in self.open if is_pattern(one.column)]
        return bool(patterns) or len(self.open) == len(self._tables)

    def kept(self, names: Collection[str]) -> Mapping[str, Any]:
        """The document without what is left open, and with nothing to be confirmed."""
        left = {one.column for one in self.open}
        columns = {
            name: {key: value for key, value in table.items() if key != "confirm"}
            for name, table in self._tables.items()
            if name not in left
        }
        lists = {
            key: self._facts[key] for key in ("derived", "rules", "zeros") if isinstance(self._facts.get(key), list)
        }
        about = {key: [one for one in found if not _names_any(one, left)] for key, found in lists.items()}
        self.without = sum(len(found) - len(about[key]) for key, found in lists.items())
        derived = {str(one.get("name")) for one in lists.get("derived", []) if one not in about["derived"]}
        ignored = [*self._facts.get("ignore", []), *left, *(name for name in names if name in derived)]
        return {**self._facts, **about, "columns": columns, "ignore": ignored}


def _names_any(fact: Mapping[str, Any], left: Collection[str]) -> bool:
    """Whether a rule, a list of zeros or a derived column is about one of some columns."""
    listed = {*fact.get("columns", ()), *fact.get("on", ()), fact.get("after")}
    texts = [str(fact[key]) for key in ("require", "if", "then", "expression") if key in fact]
    return any(name in listed or any(names_column(text, name) for text in texts) for name in left)
