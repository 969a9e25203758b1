"""Black-box audits of whole releases: what `synthesize` returns, and nothing else of it, keeps its claim.

Every preset and mechanism runs as its users run it, hundreds of times on each of two neighbors, through the curator
and the account to the released weights; the first time through the ledger too, on which no answer depends. From these
the noisy counts of two places are recovered by comparing them with a third one that so many records are at that its
noise does not matter; the outcome of a run is their log-likelihood ratio. All of the budget goes to one round of votes:
of earlier rounds, little is left in the last weights, and `test_evolution_audit` replays the noise of many rounds
instead, with more runs than whole releases allow.

Neighbors differ in a privacy unit of ten records, so that the part of discrete noise that is not charged is small.

Half of the noise is caught everywhere but for the measure tree. It has no place that one answer decides: four answers
of different precision are shrunk to a posterior mean, so that of a release with half of the noise the audit can only
prove an epsilon below the claim. A fourth of the noise is caught.

False alarms: 1e-6 each (see `audit_tools`). Seeds are fixed: what is caught once is caught always.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from audit_tools import LessNoise, epsilon_lower_bound
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.curator import curator, trial
from counterfoil.curator.curator import Curator
from counterfoil.evolution.noise_schedule import PositiveRounds
from counterfoil.geometry.euclidean import Box, point_schema
from counterfoil.ledger.ledger import Ledger, SourceIdentity
from counterfoil.methods.evolution import PrivateEvolution
from counterfoil.methods.measure_tree import MeasureTree
from counterfoil.methods.signed_measure import SignedMeasure
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.noise.thresholded_laplace import ThresholdedLaplaceNoise
from counterfoil.receipt.receipt import Receipt
from counterfoil.synthesis import point_synthesis
from counterfoil.synthesis.point_synthesis import PointSynthesis
from release_audits import QuickRelease

UNIT = 10
PEOPLE = PrivacyUnit("who", UNIT)
CROWD = 800
"""How many records are at the third place: the noise there moves the recovered counts by a tenth of their own."""

ADD, REPLACE = "add_or_remove_one", "replace_one"
AMONG_MANY = {ADD: ((100, 100), (100, 110)), REPLACE: ((100, 100), (90, 110))}
ALONE = ((100, 0), (100, 10))


@dataclass(frozen=True)
class Places(Box):
    """Three places on a line; the variations of each are all of them, so that votes are for the same three."""

    def random(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.full((n, 1), 0.5)

    def variations(self, points: np.ndarray, **_: Any) -> np.ndarray:
        return np.stack([(points + steps) % 3 for steps in range(3)])


PLACES = Places(("x0",), (0.0,), (3.0,))


def evolution(preset: str) -> PrivateEvolution:
    return PrivateEvolution.preset(preset, space=PLACES, iterations=1, population=1)


METHODS = {
    "bounded-lipschitz": (evolution("bounded-lipschitz"), Budget(0.5, 0.5), 300),
    "practical": (evolution("practical"), Budget(0.5, 0.5), 300),
    "theoretical": (evolution("theoretical"), Budget(0.5, 0.5), 300),
    "laplace-threshold": (evolution("laplace-threshold"), Budget(1.0, 0.02), 750),
    "signed measure, pure": (SignedMeasure(cells=3), Budget(1.0), 700),
    "signed measure, Gaussian": (SignedMeasure(cells=3), Budget(0.5, 0.5), 300),
}
"""The method, its claim, and how many runs on each neighbor distinguish half of its noise from all of it."""

BOTH_RELATIONS = [(name, ADD) for name in METHODS] + [("signed measure, Gaussian", REPLACE)]


@pytest.fixture(autouse=True)
def no_repeated_work(monkeypatch):
    """What is the same in all releases of a test takes longer than all else in ones so small: the receipt and the
    digests in it, of which no weight follows, composing the plan, and trying a query on public rows."""
    written, first = Receipt.from_curator, dict[Any, Receipt]()

    def written_once(curator, **facts):
        key = curator.budget, curator.relation
        if key not in first:
            first[key] = written(curator, **facts)
        return first[key]

    monkeypatch.setattr(Receipt, "from_curator", written_once)
    monkeypatch.setattr(point_synthesis, "kept_of_points", lambda *_: {})
    monkeypatch.setattr(PositiveRounds, "noises", cache(PositiveRounds.noises))
    tried: dict[Any, int] = {}

    def tried_once(query, schema):
        key = schema, id(query.space), query.name, query.candidates.tobytes()
        if key not in tried:
            tried[key] = trial.require_sound(query, schema)
        return tried[key]

    monkeypatch.setattr(curator, "require_sound", tried_once)
    composed = PrivacyLossPlan.epsilon
    once = cache(lambda events, delta: composed(PrivacyLossPlan(), events, delta))
    monkeypatch.setattr(PrivacyLossPlan, "epsilon", lambda self, events, delta: once(tuple(events), delta))


def table_of(counts: tuple[int, int]) -> dict[str, np.ndarray]:
    """Records of two places in units of ten, and of a crowd in units of one."""
    places = np.repeat([0.5, 1.5, 2.5], [CROWD, *counts])
    units = np.concatenate([np.arange(CROWD), CROWD + np.arange(sum(counts)) // UNIT])
    return {"x0": places, "who": units}


class Neighbors:
    """Two curators, one of each of two tables, that serve any number of releases.

    The first of several pays in a ledger of its own. What the others are charged is refused as any other charge and
    kept in a list, since a ledger takes a third of their time.
    """

    def __init__(
        self, tables: Any, upper: float, budget: Budget, relation: str, unit: PrivacyUnit | None = PEOPLE
    ) -> None:
        schema, self.budget = point_schema((0,), (upper,)), budget
        self.sides = [
            Curator(pa.table(table), schema, budget=budget, relation=relation, privacy_unit=unit) for table in tables
        ]

    def releases(self, method: Any, side: int, runs: int, noise: float) -> Iterator[PointSynthesis]:
        randomness = LessNoise(SeededRandomness(100 + side), noise)
        for number in range(runs):
            curator = copy.copy(self.sides[side])
            if number == 0:
                curator._ledger = Ledger.in_memory(SourceIdentity("memory", "memory"), self.budget)
            else:
                curator._open = lambda _, factor, **__: QuickRelease(factor)
            curator.randomness = randomness
            yield method.synthesize(curator, rows=1)


def noisy_counts(synthesis: PointSynthesis) -> np.ndarray:
    """The noisy counts of the first two places, from what was released."""
    crowd, *weights = synthesis.weights[np.argsort(synthesis.points[:, 0])]
    return CROWD / crowd * np.array(weights)


def log_ratio(answers: np.ndarray, counts: Any, charge: dict[str, Any], noise: float) -> np.ndarray:
    """log of the chance of `answers` [runs, 2] had the counts been the second of two over that of the first."""
    away = [np.abs(answers - np.array(c)) / (noise * charge["noise"]["scale"]) for c in counts]
    if charge["noise"]["kind"] == "discrete_gaussian":
        return (away[0] ** 2 - away[1] ** 2).sum(axis=1) / 2
    # Laplace noise on positive counts: a place with a released count can't have been empty.
    surely = 10.0 * ((answers > 0) & (np.array(counts[0]) == 0))
    return (np.where(np.array(counts[0]) > 0, away[0] - away[1], 0.0) + surely).sum(axis=1)


def audited(method: Any, budget: Budget, runs: int, relation: str, counts: Any, *, noise: float = 1.0) -> float:
    """A lower bound on the epsilon of a method with `noise` times its noise, at the delta that it claims."""
    neighbors = Neighbors([table_of(c) for c in counts], 3, budget, relation)
    outcomes = []
    for side in (0, 1):
        made = list(neighbors.releases(method, side, runs, noise))
        charge = made[0].receipt.document["charges"][-1]
        outcomes.append(log_ratio(np.array([noisy_counts(one) for one in made]), counts, charge, noise))
    return epsilon_lower_bound(*outcomes, budget.delta)


@pytest.mark.parametrize(("name", "relation"), BOTH_RELATIONS)
def test_a_release_keeps_its_claim_and_with_half_of_the_noise_it_does_not(name, relation):
    claim = METHODS[name][1].epsilon
    assert audited(*METHODS[name], relation, AMONG_MANY[relation]) <= claim
    assert audited(*METHODS[name], relation, AMONG_MANY[relation], noise=0.5) > claim


def test_places_that_only_one_neighbor_has_are_hidden_by_the_threshold_alone(monkeypatch):
    method, budget, _ = METHODS["laplace-threshold"]
    assert audited(method, budget, 250, ADD, ALONE) <= budget.epsilon

    def release_all(self, exact, l1_sensitivity, randomness):
        noise = randomness.discrete_laplace(self.scale(l1_sensitivity), exact.size)
        return np.where(exact > 0, np.maximum(exact + noise, 0), 0)

    monkeypatch.setattr(ThresholdedLaplaceNoise, "add", release_all)
    assert audited(method, budget, 250, ADD, ALONE) > budget.epsilon


def test_the_papers_noise_for_the_gaussian_signed_measure_is_caught():
    """Appendix H, for ten records at once: deviation 10 sqrt(log(1 / delta)) / epsilon, 0.64 of what is needed here."""
    name = "signed measure, Gaussian"
    method, _, _ = METHODS[name]
    budget, counts, runs = Budget(2.5, 0.3), AMONG_MANY[REPLACE], 2000
    neighbors = Neighbors([table_of(c) for c in counts], 3, budget, REPLACE)
    (one,) = neighbors.releases(method, 0, 1, noise=1.0)
    charge = one.receipt.document["charges"][-1]
    paper = UNIT * np.log(1 / budget.delta) ** 0.5 / budget.epsilon / charge["noise"]["scale"]
    assert 0.6 < paper < 0.7
    assert audited(method, budget, runs, REPLACE, counts, noise=paper) > budget.epsilon


def test_a_measure_tree_keeps_its_claim_and_with_a_fourth_of_the_noise_it_does_not():
    """One of three records moves from one half of the line to the other; the outcome is what the other half weighs."""
    tables = [{"x0": [0.1, 0.1, 0.1]}, {"x0": [0.1, 0.1, 0.6]}]
    neighbors = Neighbors(tables, 1, Budget(1.0), REPLACE, unit=None)

    def bound(noise: float) -> float:
        made = [neighbors.releases(MeasureTree(), side, 400, noise) for side in (0, 1)]
        return epsilon_lower_bound(
            *(np.array([one.weights[one.points[:, 0] > 0.5].sum() for one in r]) for r in made), 0
        )

    assert bound(1.0) <= 1.0
    assert bound(0.25) > 1.0
