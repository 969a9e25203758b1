"""Audits of whole releases: everything that is answered in a run, on two neighbors.

A release is post-processing of its answers, as `tests/test_replay.py` shows of each method: no more leaks than they
tell. What a run tells is the log-likelihood ratio of all its answers, choices included, with the noise that was really
drawn; the law of that noise is audited by itself, in `tests/curator/test_audit.py`. Two things are asked:

- No answer can tell the neighbors apart better than it was charged for. That is checked in each run, so that a
  hundredth of the noise too little is found.
- All answers together keep the (epsilon, delta) of the receipt: a lower bound on epsilon, wrong with probability 1e-6,
  does not exceed it, and for a twin with half the noise it does.

Neighbors differ in one privacy unit of many rows, beside which the part of discrete noise that is not charged is small.

How many runs. Answers that are sure to move by all of their sensitivity, whatever came before, make a ratio of exactly
N(mu**2 / 2, mu**2) on one neighbor and N(-mu**2 / 2, mu**2) on the other, where mu**2 adds up over them: a fixed part
of the budget, and 4 times that for the twin. Whatever else is told, the twin's delta at the claimed epsilon is at least
that of these answers. `runs_needed` says how many runs then find it out with probability 0.995, from this alone and
before any run is made. Seeds are fixed.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from audit_tools import LessNoise, epsilon_lower_bound, epsilon_of_ratios
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve import gaussian_delta
from counterfoil.accounting.neighbors import NeighboringRelation, PrivacyUnit
from counterfoil.curator.account import Account
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Domain
from counterfoil.noise.randomness import Randomness, SeededRandomness
from sensitive_tables import UNIT, Row, frame_of, records_of, schema_of
from transcripts import Evidence, Listener, ScaleSpy

ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
NOT_CHARGED = 0.99
"""What the noise that is not charged leaves of mu**2, at least."""
ROUNDING = 1 + 1e-12
"""Scales and losses are computed in floating point, for which every composition holds 1e-9 back."""


@dataclass(frozen=True)
class Change:
    """What two neighbors have in common, and in what they differ.

    Args:
        domain: the columns.
        common: rows of both tables, each a privacy unit of its own.
        before: the row that one unit repeats in the first table; None where it is absent there.
        after: the same in the second table.
        rows: how often it is repeated; 0 for a single row where rows are the units.
    """

    domain: Domain
    common: list[Row]
    before: Row | None
    after: Row
    rows: int


class QuickRelease:
    """A release whose charges are refused as any other's, and kept in a list: a ledger takes half of the time."""

    def __init__(self, replacement_factor: float) -> None:
        self.description = {"replacement_factor": replacement_factor}
        self._charges: list[dict[str, Any]] = []

    def charge(self, charge: dict[str, Any], *, description: str, affords: Callable) -> None:
        assert affords([*self._charges, charge]), f"{description} is not in the budget"
        self._charges.append(charge)

    def records(self) -> list[dict[str, Any]]:
        return self._charges

    def record_refusal(self) -> None:
        raise AssertionError("nothing that is asked here depends on the records")


class Tables:
    """Two neighbors with curators, and their exact answers."""

    def __init__(self, change: Change, relation: NeighboringRelation, budget: Budget) -> None:
        self.budget = budget
        times = max(change.rows, 1)
        unit = PrivacyUnit(UNIT, change.rows) if change.rows else None
        self.exact, self._curators = [], []
        for row in (change.before, change.after):
            moved = [] if row is None else [row] * times
            units = [f"stays {i}" for i in range(len(change.common))] + ["changes"] * len(moved)
            rows, owners = [*change.common, *moved], units if unit else None
            self.exact.append(records_of(change.domain, rows, units=owners, privacy_unit=unit))
            frame, schema = frame_of(change.domain, rows, owners), schema_of(change.domain)
            self._curators.append(Curator(frame, schema, budget=budget, relation=relation, privacy_unit=unit))

    def curator(self, side: int, randomness: Randomness) -> Curator:
        """A curator of its own for each release; the table is not read again for each."""
        curator = copy.copy(self._curators[side])
        curator._open = lambda _, factor, **__: QuickRelease(factor)  # type: ignore[method-assign, assignment, return-value]
        curator.randomness = randomness
        return curator


class QuickRandomness(SeededRandomness):
    """Draws one by one from the exact law: a release asks for few numbers of each scale, for which a table costs most.

    Rejection from the discrete Laplace law of scale t = floor(scale) + 1 (Canonne, Kamath and Steinke 2020, algorithm
    3), with numpy's uniform numbers of 53 bits.
    """

    def discrete_gaussian(self, scale: float, size: int) -> np.ndarray:
        rng, width, drawn = self._generator, math.floor(scale) + 1, np.empty(0, dtype=np.int64)
        while len(drawn) < size:
            one, other = rng.geometric(-math.expm1(-1 / width), (2, 2 * size + 8))
            apart = np.abs(one - other) - scale**2 / width
            accepted = rng.random(len(apart)) < np.exp(-(apart**2) / (2 * scale**2))
            drawn = np.concatenate([drawn, (one - other)[accepted]])
        return drawn[:size]


Ask = Callable[[Curator], object]
"""All of a method that asks anything."""


def told(
    listener: Listener, tables: Tables, ask: Ask, *, side: int, seeded: SeededRandomness, factor: float = 1.0
) -> tuple[Evidence, Account]:
    """What one release tells, with `factor` times the noise that was asked for; and what it was charged."""
    spy = ScaleSpy(seeded)
    curator = tables.curator(side, spy if factor == 1 else LessNoise(spy, factor))
    listener.start(tables.exact, spy)
    ask(curator)
    account = curator.account
    assert account is not None
    return listener.evidence, account


def require_caught(listener: Listener, tables: Tables, ask: Ask, *, runs: int) -> None:
    """The audit: fails where the release breaks its claim, or where its twin with half the noise is not found out.

    What a release tells is asked on both neighbors. The twin is found out on one, as `runs_needed` has it.
    """
    delta = tables.budget.delta

    def heard(side: int, seeded: SeededRandomness, factor: float = 1.0) -> list[Evidence]:
        return [told(listener, tables, ask, side=side, seeded=seeded, factor=factor)[0] for _ in range(runs)]

    seeded = QuickRandomness(17)
    sides = [heard(side, seeded) for side in (0, 1)]
    one, other = (np.array([evidence.ratio for evidence in side]) for side in sides)
    assert max(evidence.dearest for side in sides for evidence in side) <= ROUNDING
    assert epsilon_of_ratios(-one, other, delta) <= tables.budget.epsilon
    assert epsilon_lower_bound(one, other, delta) <= tables.budget.epsilon

    twin = -np.array([evidence.ratio for evidence in heard(0, QuickRandomness(17), factor=0.5)])
    assert epsilon_of_ratios(twin, np.full(1, -np.inf), delta) > tables.budget.epsilon


def require_assumed(listener: Listener, tables: Tables, ask: Ask, *, certain: Sequence[str], mu_squared: float) -> None:
    """What the number of runs rests on: the answers to the queries `certain` move as far as all that; the receipt
    claims the whole budget."""
    for seed in range(4):
        evidence, account = told(listener, tables, ask, side=seed % 2, seeded=QuickRandomness(seed))
        assert sum(evidence.mu_squared.get(name, 0.0) for name in certain) >= mu_squared
        claimed = account.rule.epsilon(account.events, tables.budget.delta)
        assert claimed == pytest.approx(tables.budget.epsilon, rel=1e-5)


def require_fine(listener: Listener, tables: Tables, ask: Ask) -> None:
    """No answer tells more than it was charged for, and in each run a hundredth of the noise too little shows."""
    for seed in range(4):
        sound, twin = (
            told(listener, tables, ask, side=seed % 2, seeded=QuickRandomness(seed), factor=factor)[0].dearest
            for factor in (1.0, 0.99)
        )
        assert sound <= ROUNDING < twin


def twin_delta(epsilon: float, mu_squared: float) -> float:
    """The delta of a release with half the noise, at least, where some answers make `mu_squared` with all of it."""
    return gaussian_delta(epsilon, 2 * math.sqrt(mu_squared))
