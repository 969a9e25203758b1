"""One entry for many columns: facts under a pattern of names."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

from counterfoil.schema.column import Column
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.header import hint_of_names
from counterfoil.schema.identifier import Identifier


def is_pattern(name: str) -> bool:
    """Whether a name in a schema file may stand for many: `*` is any text, `?` any one character."""
    return "*" in name or "?" in name


def matches(pattern: str, name: str) -> bool:
    """Whether `name` is one that `pattern` stands for; letters count as they are written."""
    parts = (".*" if sign == "*" else "." if sign == "?" else re.escape(sign) for sign in pattern)
    return re.fullmatch("".join(parts), name, re.DOTALL) is not None


@dataclass(frozen=True)
class Pattern:
    """The facts of each column whose name matches and that has no entry of its own.

    Args:
        column: the facts, under the pattern as a name: `Categorical("drug_*", ("no", "yes"))`.
        place: how many columns are declared before it.
    """

    column: Column | Identifier
    place: int = 0

    @property
    def name(self) -> str:
        """The pattern itself."""
        return self.column.name

    def columns(self, names: Iterable[str]) -> tuple[Column | Identifier, ...]:
        """The columns that the pattern declares, in the order of `names`."""
        return tuple(replace(self.column, name=name) for name in names if matches(self.name, name))


def resolve(
    patterns: Sequence[Pattern], names: Iterable[str], others: Container[str]
) -> dict[str, tuple[Column | Identifier, ...]]:
    """The columns that each pattern declares, by the pattern.

    A pattern that is itself the name of a column is that column's own entry, and stands for no other.

    Args:
        patterns: of one schema.
        names: the table's columns, in its order.
        others: the names that have an entry of their own, or are ignored.

    Raises:
        SchemaError: for a column that two patterns match, and for a pattern that declares nothing.
    """
    listed = list(names)
    own = {pattern.name for pattern in patterns} & set(listed)
    free = [name for name in listed if name not in others and name not in own]
    made: dict[str, tuple[Column | Identifier, ...]] = {}
    owner: dict[str, str] = {}
    for pattern in patterns:
        made[pattern.name] = pattern.columns([pattern.name] if pattern.name in own else free)
        for column in made[pattern.name]:
            if column.name in owner:
                raise SchemaError(
                    f"Column {column.name!r} must match one pattern at most. Found {owner[column.name]!r} and "
                    f"{pattern.name!r}: give the column an entry of its own."
                )
            owner[column.name] = pattern.name
        if not made[pattern.name]:
            raise SchemaError(
                f"The pattern {pattern.name!r} must match a column without an entry of its own. Found none: correct "
                f"the pattern, or remove it.{hint_of_names(pattern.name, free)}"
            )
    return made
