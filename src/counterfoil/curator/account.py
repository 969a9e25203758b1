"""Where questions are asked: each is charged first, then computed, then noised."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterfoil.curator.budget import Budget, NeighboringRelation
from counterfoil.curator.composition import Composition, Filter
from counterfoil.curator.ledger import Release
from counterfoil.curator.noise import ExponentialSelection, GaussianNoise, LaplaceNoise, Noise
from counterfoil.curator.positive_noise import PositiveLaplaceNoise
from counterfoil.curator.privacy_event import PrivacyEvent, event_from_json
from counterfoil.curator.queries.query import CountQuery, Records, SelectionQuery
from counterfoil.curator.randomness import Randomness


@dataclass(frozen=True)
class PrivacyUnit:
    """Whom the guarantee protects: everyone with a value in `column`, who keeps at most `max_rows` rows.

    A row without a value there is a unit of its own, and kept.

    Raises:
        ValueError: when `max_rows` is below 1.
    """

    column: str
    max_rows: int

    def __post_init__(self) -> None:
        if not isinstance(self.max_rows, int) or self.max_rows < 1:
            raise ValueError(f"`max_rows` must be a whole number of at least 1. Found {self.max_rows!r}.")


@dataclass(frozen=True)
class Neighbors:
    """Between which tables the guarantee holds."""

    relation: NeighboringRelation
    unit: PrivacyUnit | None = None

    def describe(self) -> str:
        """One phrase; releases of one ledger must agree on it, because their budgets add up only then."""
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


class Account:
    """The only way to ask the sensitive table anything. Made by `Curator.filter` and `Curator.plan`.

    Each question is charged to the ledger, durably, before its statistic is computed, so that a crash can only
    over-count. A question that the budget does not cover is refused and costs nothing.
    """

    def __init__(
        self,
        records: Records,
        release: Release,
        *,
        budget: Budget,
        rule: Composition,
        neighbors: Neighbors,
        randomness: Randomness,
        planned: Sequence[Noise] | None = None,
    ) -> None:
        self._records = records
        self._release = release
        self._budget = budget
        self._rule = rule
        self._neighbors = neighbors
        self._randomness = randomness
        # A release that is continued has used the first noises of its plan.
        self._planned = None if planned is None else list(planned)[len(release.events()) :]
        self._foreseen = None if planned is None else [noise.event() for noise in planned]

    @property
    def rule(self) -> Composition:
        """How events are added up."""
        return self._rule

    @property
    def events(self) -> list[PrivacyEvent]:
        """What was charged so far, in order."""
        return [event_from_json(charge["event"]) for charge in self._release.events()]

    def ask(self, query: CountQuery, noise: GaussianNoise | LaplaceNoise | PositiveLaplaceNoise) -> np.ndarray:
        """The answer to `query` with noise, as int64[cells].

        Raises:
            BudgetExceeded: when what is left does not cover it; nothing is charged.
            ValueError: when a plan foresaw another noise here.
        """
        norm = query.l2_sensitivity if isinstance(noise, GaussianNoise) else query.l1_sensitivity
        sensitivity = self._charge(query, noise, norm)
        return noise.add(query.exact(self._records), sensitivity, self._randomness)

    def choose(self, query: SelectionQuery, noise: ExponentialSelection) -> int:
        """The index of a candidate of `query` with a high score, chosen privately.

        Raises:
            BudgetExceeded: when what is left does not cover it; nothing is charged.
            ValueError: when a plan foresaw another noise here.
        """
        sensitivity = self._charge(query, noise, query.score_sensitivity)
        return noise.choose(query.exact(self._records), sensitivity, self._randomness)

    def sensitivity(self, of: Callable[[NeighboringRelation], float]) -> float:
        """What `of`, a query's sensitivity method, is under this account's relation and privacy unit."""
        return self._neighbors.sensitivity(of, self._neighbors.relation)

    def _charge(self, query: CountQuery | SelectionQuery, noise: Any, norm: Callable) -> float:
        if self._planned is not None and self._planned[:1] != [noise]:
            foreseen = self._planned[0] if self._planned else "nothing more"
            raise ValueError(f"The plan foresees {foreseen} here. Found {noise}.")
        relation = self._neighbors.relation
        sensitivity = self._neighbors.sensitivity(norm, relation)
        other = self._neighbors.sensitivity(norm, relation.other)
        charge = {
            "query": query.name,
            "parameters": query.describe(),
            "noise": {**noise.to_json(), "scale": noise.scale(sensitivity)},
            "sensitivity": sensitivity,
            "event": noise.event().to_json(),
            "event_under_other_relation": noise.event_under(sensitivity, other).to_json(),
        }
        self._release.charge(charge, description=query.name, affords=self._affords)
        if self._planned is not None:
            del self._planned[0]
        return sensitivity

    def _affords(self, charges: list[dict[str, Any]]) -> bool:
        events = [event_from_json(charge["event"]) for charge in charges]
        if self._foreseen is not None:
            # The whole plan was found affordable before its first answer, and a part of it tells less than all of it.
            return events == self._foreseen[: len(events)]
        return self._rule.affords(self._budget, events)


class FilterAccount(Account):
    """An account whose noise may depend on earlier answers. Made by `Curator.filter`."""

    _rule: Filter
    _reserve = 0.0

    def reserve(self, share: float) -> None:
        """Keeps `share` of the budget back until `open_reserve`: `capacity` is what is left."""
        self._reserve = share

    def open_reserve(self) -> float:
        """Lets what was kept back be spent; returns it, in the filter's unit.

        It is the same whatever was spent before, so that noise which is set by it alone is fixed in advance.
        """
        whole = self._rule.capacity(self._budget)
        share, self._reserve = self._reserve, 0.0
        return whole * share

    @property
    def capacity(self) -> float:
        """The budget without what is reserved, in the filter's unit (`rule.unit`)."""
        return self._rule.capacity(self._budget) * (1 - self._reserve)

    @property
    def spent(self) -> float:
        """What was charged so far, in the filter's unit."""
        return self._cost_of(self._release.events())

    def _affords(self, charges: list[dict[str, Any]]) -> bool:
        if not super()._affords(charges):
            return False
        return not self._reserve or self._cost_of(charges) <= self.capacity

    def _cost_of(self, charges: list[dict[str, Any]]) -> float:
        return math.fsum(self._rule.cost(event_from_json(charge["event"])) for charge in charges)
