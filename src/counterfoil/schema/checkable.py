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
        without: how many rules, lists of zeros, derived columns and lengths of time are about one that is left open.
        ignored: how many columns the draft itself ignores.
    """

    schema: Schema
    open: tuple[Unconfirmed, ...]
    to_confirm: tuple[str, ...]
    without: int
    ignored: int


def checkable(draft: str | Path, names: Collection[str], *, sensitive: Sequence[KeptFile] = ()) -> Checkable | None:
    """What can be checked of a draft; None where that is nothing, or which columns a pattern leaves open.

    Args:
        draft: its file, or its text.
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
    return None if found.is_nothing else Checkable(schema, found.open, found.to_confirm, found.without, found.ignored)


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
        self.ignored = len(facts.get("ignore", []))

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is left, or a pattern that may stand for any columns is left open."""
        patterns = [] if self._facts.get("exact_names") else [one for one in self.open if is_pattern(one.column)]
        return bool(patterns) or len(self.open) == len(self._tables)

    def kept(self, names: Collection[str]) -> Mapping[str, Any]:
        """The document without what is left open, and with nothing to be confirmed."""
        left = {one.column for one in self.open}
        lists = {
            key: self._facts[key] for key in ("derived", "rules", "zeros") if isinstance(self._facts.get(key), list)
        }
        derived = {str(one.get("name")): one for one in lists.get("derived", [])}
        following = {**derived, **{name: table for name, table in self._tables.items() if "between" in table}}
        while more := {name for name in following.keys() - left if _names_any(following[name], left)}:
            left |= more  # a length of time follows from two dates, and a date from the other and a length of time
        columns = {
            name: {key: value for key, value in table.items() if key != "confirm"}
            for name, table in self._tables.items()
            if name not in left
        }
        kept = {
            key: [one for one in found if one.get("name") not in left and not _names_any(one, left)]
            for key, found in lists.items()
        }
        self.to_confirm = tuple(name for name in self.to_confirm if name not in left)
        lost = len(self._tables) - len(columns) - len(self.open)
        self.without = lost + sum(len(found) - len(kept[key]) for key, found in lists.items())
        ignored = [*self._facts.get("ignore", []), *(left - derived.keys()), *(left & derived.keys() & {*names})]
        return {**self._facts, **kept, "columns": columns, "ignore": ignored}


def _names_any(fact: Mapping[str, Any], left: Collection[str]) -> bool:
    """Whether a rule, a list of zeros, a derived column or a length of time is about one of some columns."""
    lists = [fact[key] for key in ("columns", "on", "between") if isinstance(fact.get(key), list)]
    listed = {str(name) for names in lists for name in names} | {fact.get("after")}
    texts = [str(fact[key]) for key in ("require", "if", "then", "expression") if key in fact]
    return any(name in listed or any(names_column(text, name) for text in texts) for name in left)
