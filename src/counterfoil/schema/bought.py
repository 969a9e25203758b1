"""What a schema cost, where noisy answers about the table made it, and which receipt vouches for that."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.accounting.rest_of_budget import RestOfBudget
from counterfoil.schema.errors import SchemaError, did_you_mean

_NEARLY_ALL = 1e-6
"""By so much a share of nearly all of a tiny budget may seem to cost more than it, as figures are rounded upwards."""
_ROUNDING = 1e-9
"""The part of epsilon by which the same sum may round otherwise elsewhere."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_DIGEST_OF_PLACE = re.compile(r"[0-9a-f]{4}")
_PLACES = re.compile(r"([0-9a-f]{4})*")
_KEYS = ("epsilon", "delta", "relation", "privacy_unit", "max_rows", "receipt", "of", "hides", "rows", "places")
_KEYS_OF = ("epsilon", "mu_squared", "threshold_delta")


class RestUnspentWarning(UserWarning):
    """A release has a budget of its own, though a share of another one bought its schema: the two add up."""


@dataclass(frozen=True)
class ShareOf:
    """The budget of which a share bought a schema, and what is taken of it; the rest is for one release.

    Args:
        epsilon: of the budget, whose delta is that of the purchase.
        mu_squared: the sum of the squares of mu of the purchase, by its plan.
        threshold_delta: the sum of the deltas of its thresholds.

    Raises:
        SchemaError: for numbers that are none of a budget.
    """

    epsilon: float
    mu_squared: float
    threshold_delta: float

    def __post_init__(self) -> None:
        try:
            RestOfBudget(self.mu_squared, self.threshold_delta)
        except ValueError as error:
            raise SchemaError(f"`bought`: `of`: {error}") from None

    @property
    def rule(self) -> RestOfBudget:
        """How the costs of a release that spends the rest add up with those of the purchase."""
        return RestOfBudget(float(self.mu_squared), float(self.threshold_delta))

    def facts(self) -> dict[str, float]:
        """As TOML keys and values, and as JSON."""
        return {key: float(getattr(self, key)) for key in _KEYS_OF}


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
        of: the budget of which it was bought with a share; None where it was bought with a budget of its own.
        hides: fewer rows than that share what the noise hid, such as a place beyond a bound; None where nobody said.
        rows: about how many rows there are, as the noise shows; None with `hides`.
        places: digests of four digits of the places that it lists by precaution (`schema.precautions`); None where
            nobody said.
        document: the TOML as it was bought, with a comment on where each fact is from; empty where it was read again.

    Raises:
        SchemaError: for a budget, a relation or a digest that is none.
    """

    epsilon: float
    delta: float
    relation: str
    receipt: str
    unit: PrivacyUnit | None = None
    of: ShareOf | None = None
    hides: int | None = None
    rows: int | None = None
    places: str | None = None
    document: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            Budget(self.epsilon, self.delta)
            Budget(self.epsilon if self.of is None else self.of.epsilon, self.delta)
            NeighboringRelation(self.relation)
        except ValueError as error:
            raise SchemaError(f"`bought`: {error}") from None
        if not isinstance(self.receipt, str) or not _DIGEST.fullmatch(self.receipt):
            raise SchemaError(
                "`bought`: `receipt` must be the SHA-256 of the receipt that the schema was bought with, in 64 "
                f"hexadecimal digits. Found {self.receipt!r}: copy the line as `counterfoil schema` wrote it."
            )
        for key in ("hides", "rows"):
            value = getattr(self, key)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
                raise SchemaError(f"`bought`: `{key}` must be a number of rows. Found {value!r}.")
        if self.places is not None and (not isinstance(self.places, str) or not _PLACES.fullmatch(self.places)):
            raise SchemaError(
                f"`bought`: `places` must be hexadecimal digits, four for each place. Found {self.places!r}: copy the "
                "line as `counterfoil schema` wrote it."
            )
        if self.of is not None:
            self._require_share(self.of)

    def _require_share(self, of: ShareOf) -> None:
        alone = of.rule.epsilon_of(0.0, float(self.delta))
        within = self.epsilon <= of.epsilon * (1 + _NEARLY_ALL)
        if not (within and math.isclose(alone, self.epsilon, rel_tol=_ROUNDING)):
            raise SchemaError(
                f"`bought`: `epsilon` must be what a share of `of` costs by itself, {alone:.9g}, and at most its "
                f"epsilon. Found {self.epsilon!r} of {of.epsilon!r}: copy the line as `counterfoil schema` wrote it."
            )

    @property
    def neighbors(self) -> Neighbors:
        """Between which tables the guarantee holds."""
        return Neighbors(NeighboringRelation(self.relation), self.unit)

    @cached_property
    def place_digests(self) -> frozenset[str]:
        """`places`, one by one."""
        return frozenset(_DIGEST_OF_PLACE.findall(self.places or ""))

    @property
    def whole(self) -> Budget | None:
        """The budget of which it was bought with a share; None where it was bought with one of its own."""
        return None if self.of is None else Budget(float(self.of.epsilon), float(self.delta))

    def facts(self) -> dict[str, Any]:
        """As TOML keys and values, and as JSON."""
        unit = {} if self.unit is None else {"privacy_unit": self.unit.column, "max_rows": self.unit.max_rows}
        return {
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "relation": self.relation,
            **unit,
            "receipt": self.receipt,
            **({} if self.of is None else {"of": self.of.facts()}),
            **({} if self.hides is None else {"hides": self.hides}),
            **({} if self.rows is None else {"rows": self.rows}),
            **({} if self.places is None else {"places": self.places}),
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
        of = _share(facts["of"]) if "of" in facts else None
        seen = facts.get("hides"), facts.get("rows"), facts.get("places")
        return Bought(epsilon, delta, _text(facts, "relation"), _text(facts, "receipt"), _unit(facts), of, *seen)


def _share(facts: Any) -> ShareOf:
    if not isinstance(facts, Mapping) or set(facts) != set(_KEYS_OF):
        raise SchemaError(f"`bought`: `of` must have {', '.join(_KEYS_OF)}. Found {facts!r}.")
    return ShareOf(*(_number(facts, key) for key in _KEYS_OF))


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
