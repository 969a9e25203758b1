"""What a schema cost, where noisy answers about the table made it, and which receipt vouches for that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.schema.errors import SchemaError, did_you_mean

_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEYS = ("epsilon", "delta", "relation", "privacy_unit", "max_rows", "receipt", "of_epsilon")


@dataclass(frozen=True)
class Bought:
    """The guarantee of the answers that a schema was made of.

    It adds to what every later release of the same records costs.

    Args:
        epsilon: of the guarantee; positive.
        delta: of the guarantee; in [0, 1).
        relation: between which tables it holds.
        receipt: the SHA-256, in hexadecimal, of the receipt of these answers (`Receipt.digest`).
        unit: whose records it protects together; a single row when None.
        of_epsilon: the epsilon of the budget, with the same delta, of which it was bought with a share, where the rest
            is kept for one release; None where it was bought with a budget of its own.

    Raises:
        SchemaError: for a budget, a relation or a digest that is none.
    """

    epsilon: float
    delta: float
    relation: str
    receipt: str
    unit: PrivacyUnit | None = None
    of_epsilon: float | None = None

    def __post_init__(self) -> None:
        try:
            Budget(self.epsilon, self.delta)
            Budget(self.epsilon if self.of_epsilon is None else self.of_epsilon, self.delta)
            NeighboringRelation(self.relation)
        except ValueError as error:
            raise SchemaError(f"`bought`: {error}") from None
        if not isinstance(self.receipt, str) or not _DIGEST.fullmatch(self.receipt):
            raise SchemaError(
                "`bought`: `receipt` must be the SHA-256 of the receipt that the schema was bought with, in 64 "
                f"hexadecimal digits. Found {self.receipt!r}: copy the line as `counterfoil schema` wrote it."
            )
        if self.of_epsilon is not None and self.of_epsilon <= self.epsilon:
            raise SchemaError(
                f"`bought`: `of_epsilon` must be larger than `epsilon`, which is a share of it. Found "
                f"{self.of_epsilon!r}: copy the line as `counterfoil schema` wrote it."
            )

    @property
    def neighbors(self) -> Neighbors:
        """Between which tables the guarantee holds."""
        return Neighbors(NeighboringRelation(self.relation), self.unit)

    @property
    def whole(self) -> Budget | None:
        """The budget of which it was bought with a share; None where it was bought with one of its own."""
        return None if self.of_epsilon is None else Budget(float(self.of_epsilon), float(self.delta))

    def facts(self) -> dict[str, Any]:
        """As TOML keys and values, and as JSON."""
        unit = {} if self.unit is None else {"privacy_unit": self.unit.column, "max_rows": self.unit.max_rows}
        return {
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "relation": self.relation,
            **unit,
            "receipt": self.receipt,
            **({} if self.of_epsilon is None else {"of_epsilon": float(self.of_epsilon)}),
        }

    @staticmethod
    def of_facts(facts: Any) -> Bought:
        """What `facts` gave, read from a file of a user's.

        Args:
            facts: anything that TOML or JSON can say.

        Raises:
            SchemaError: in a sentence that names the key.
        """
        if not isinstance(facts, Mapping):
            raise SchemaError(
                "`bought` must be a table, such as { epsilon = 0.1, delta = 1e-9, relation = "
                f'"add_or_remove_one", receipt = "..." }}; found {facts!r}.'
            )
        for key in facts:
            if key not in _KEYS:
                raise SchemaError(f"`bought`: unknown key `{key}`.{did_you_mean(key, _KEYS)}")
        epsilon, delta = _number(facts, "epsilon"), _number(facts, "delta")
        whole = _number(facts, "of_epsilon") if "of_epsilon" in facts else None
        return Bought(epsilon, delta, _text(facts, "relation"), _text(facts, "receipt"), _unit(facts), whole)


def _number(facts: Mapping[str, Any], key: str) -> float:
    value = facts.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SchemaError(f"`bought`: `{key}` must be a number; found {value!r}.")
    return value


def _text(facts: Mapping[str, Any], key: str) -> str:
    value = facts.get(key)
    if not isinstance(value, str):
        raise SchemaError(f"`bought`: `{key}` must be a text; found {value!r}.")
    return value


def _unit(facts: Mapping[str, Any]) -> PrivacyUnit | None:
    column, rows = facts.get("privacy_unit"), facts.get("max_rows")
    if column is None and rows is None:
        return None
    if not isinstance(column, str) or rows is None:
        raise SchemaError(
            f"`bought`: `privacy_unit` and `max_rows` go together, a text and a whole number; found {column!r} and "
            f"{rows!r}."
        )
    try:
        return PrivacyUnit(column, rows)
    except ValueError as error:
        raise SchemaError(f"`bought`: {error}") from None
