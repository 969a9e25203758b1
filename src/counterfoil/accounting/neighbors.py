"""Between which tables a guarantee holds: the relation, and whose records are protected together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class NeighboringRelation(StrEnum):
    """Which tables count as neighbors: those that differ in one privacy unit.

    `ADD_OR_REMOVE_ONE`: one unit is present in one table and absent from the other; the number of rows is private.
    `REPLACE_ONE`: one unit's records are exchanged for another's; the number of rows is public.
    """

    ADD_OR_REMOVE_ONE = "add_or_remove_one"
    REPLACE_ONE = "replace_one"

    @classmethod
    def _missing_(cls, value: object) -> NeighboringRelation:
        raise ValueError(f"The neighboring relation must be {' or '.join(cls)}. Found {value!r}.")

    @property
    def other(self) -> NeighboringRelation:
        """The relation that this one is not."""
        add_or_remove = NeighboringRelation.ADD_OR_REMOVE_ONE
        return NeighboringRelation.REPLACE_ONE if self is add_or_remove else add_or_remove


MOST_ROWS = 1_000_000_000
"""Of one privacy unit."""


@dataclass(frozen=True)
class PrivacyUnit:
    """Whom the guarantee protects: everyone with a value in `column`, who keeps at most `max_rows` rows.

    A row without a value there is a unit of its own, and kept.

    Raises:
        ValueError: when `max_rows` is below 1.
    """

    column: str
    max_rows: int

    @classmethod
    def of(cls, unit: object) -> PrivacyUnit | None:
        """The unit that is given as one, as (column, max_rows), or not at all.

        Raises:
            TypeError: for anything else, a column without the number of rows among it.
            ValueError: when `max_rows` is below 1.
        """
        if unit is None or isinstance(unit, PrivacyUnit):
            return unit
        if isinstance(unit, (tuple, list)) and len(unit) == 2 and isinstance(unit[0], str):
            return cls(*unit)
        found = f"{unit!r} alone" if isinstance(unit, str) else type(unit).__name__
        column = repr(unit) if isinstance(unit, str) else "'person'"
        raise TypeError(
            "`privacy_unit` must be a column and the most rows that are kept of each of its values, or a `PrivacyUnit`."
            f" Found {found}: give, for example, ({column}, 3)."
        )

    def __post_init__(self) -> None:
        whole = isinstance(self.max_rows, int) and not isinstance(self.max_rows, bool)
        if not whole or not 1 <= self.max_rows <= MOST_ROWS:
            raise ValueError(
                f"`max_rows` must be a whole number from 1 to {MOST_ROWS:,}: all noise is scaled by it. "
                f"Found {self.max_rows!r}."
            )


@dataclass(frozen=True)
class Neighbors:
    """Between which tables the guarantee holds.

    Args:
        relation: which tables are neighbors.
        unit: whose records are protected together; a single row when None.
        groups: columns whose combinations of values are the *public groups*: a record is replaced by another of the
            same group alone, so that the sizes of groups are public (the k-end relation of Rodriguez-Vitores, Lalanne
            and Loubes 2025, Definition 2.1). Which group a person belongs to is then not protected.

    Raises:
        ValueError: for groups under another relation than `replace_one`, or beside a privacy unit.
    """

    relation: NeighboringRelation
    unit: PrivacyUnit | None = None
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.groups and self.relation is not NeighboringRelation.REPLACE_ONE:
            raise ValueError(
                "Sizes of groups are public only where a record is replaced by another of its group. "
                f"Found {self.relation.value}: use replace_one."
            )
        if self.groups and self.unit is not None:
            raise ValueError(
                f"With public groups each row is protected by itself. Found the privacy unit {self.unit.column!r}, "
                "whose rows may lie in several groups: reduce the table to one row a unit first."
            )

    @property
    def group_sizes_are_public(self) -> bool:
        """Whether all neighbors have as many rows in each group: `replace_one`, one row a unit."""
        return self.relation is NeighboringRelation.REPLACE_ONE and self.unit is None

    def describe(self) -> str:
        """One phrase; releases of one ledger must agree on it, because their budgets add up only then."""
        if self.groups:
            named = sorted(
                name if name.replace("_", "").replace("-", "").isalnum() else repr(name) for name in self.groups
            )
            return f"{self.relation.value} within groups of equal {' and '.join(named)}"
        if self.unit is None:
            return self.relation.value
        return f"{self.relation.value} of {self.unit.column} with at most {self.unit.max_rows} rows"

    def sensitivity(self, of: Callable[[NeighboringRelation], float], relation: NeighboringRelation) -> float:
        """The sensitivity for a whole privacy unit, given that for one record.

        A unit of at most k rows is added or removed in at most k steps of one record. A unit replaced by another, with
        a and b rows, takes min(a, b) replacements and abs(a - b) additions or removals: at most k steps in all.
        """
        if self.unit is None:
            return of(relation)
        return self.unit.max_rows * max(of(relation), of(NeighboringRelation.ADD_OR_REMOVE_ONE))
