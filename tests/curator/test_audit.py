"""Black-box audits: no mechanism may show a larger epsilon than it claims, and its broken twin must be caught.

Neighbors are the worst that a query's sensitivity admits, one privacy unit of eight rows apart, which makes what
discrete noise has above the noise that is charged small beside it. The twin gets half the noise.

False alarms: each audit of a sound mechanism fails by chance with probability at most 1e-6, where the mechanism is as
leaky as it claims, and far less where it is not; those with a seed give the same outcome every time. The sizes below
are such that a twin escapes with probability below 1e-6: see `test_sizes_are_large_enough`.
"""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, norm

import counterfoil.noise
from audit_tools import LessNoise, epsilon_lower_bound, lower_bound, outcomes, upper_bound
from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors, PrivacyUnit
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.curator.queries.selection import MarginalDistances, WorstApproximatedMarginal
from counterfoil.domain.domain import Domain
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.noise import Noise
from counterfoil.noise.open_domain_gaussian import OpenDomainGaussianNoise
from counterfoil.noise.randomness import Randomness, SeededRandomness, SystemRandomness
from counterfoil.noise.selection import ExponentialSelection
from counterfoil.noise.subsampled_gaussian import SubsampledGaussianNoise
from counterfoil.noise.thresholded_gaussian import ThresholdedGaussianNoise
from counterfoil.noise.thresholded_laplace import ThresholdedLaplaceNoise
from sensitive_tables import UNIT, records_of

EPSILONS = [0.5, 1.0, 4.0]
ROWS = 8
PAIR = Domain(("a", "b"), (2, 2))
ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
UNITS = PrivacyUnit(UNIT, ROWS)
SOURCES: dict[str, Callable[[], Randomness]] = {
    "system": SystemRandomness,
    "seed": lambda: SeededRandomness(20261120),
}


OTHERS = [(0, 0)] * 1000 + [(1, 1)] * 1000
HIGH = 5000


def neighbors_of(relation: NeighboringRelation, query) -> tuple[np.ndarray, np.ndarray]:
    """Exact answers on two tables: 2000 units of one row, and one of eight rows (1, 1), absent or (0, 0) before."""
    present = {ADD: [], REPLACE: [(0, 0)] * ROWS}[relation], [(1, 1)] * ROWS
    units = [f"stays {i}" for i in range(len(OTHERS))]
    one, other = (
        query.exact(records_of(PAIR, [*OTHERS, *rows], units=[*units, *["changes"] * len(rows)], privacy_unit=UNITS))
        for rows in present
    )
    return one, other


def marginal_errors() -> MarginalDistances:
    """Estimates that expect far more rows (1, 1), so that errors fall by one, or two, with each that comes."""
    estimate = np.array([0, HIGH], dtype=np.int64)
    return MarginalDistances((("a",), ("b",)), (estimate, estimate))


QUERIES = {
    "counts": MarginalCounts(PAIR, (("a",),)),
    "weighted counts": MarginalCounts(PAIR, (("a",), ("b",), ("a", "b")), None, (5, 1, 2)),
    "errors": marginal_errors(),
}


@cache
def exact_answers(query: str, relation: NeighboringRelation) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """The answers' parts that differ between the neighbors, and the claimed sensitivities."""
    asked = QUERIES[query]
    one, other = neighbors_of(relation, asked)
    moved = np.flatnonzero(one != other)
    claims = {
        norm: Neighbors(relation, UNITS).sensitivity(getattr(asked, norm), relation)
        for norm in ("l1_sensitivity", "l2_sensitivity")
    }
    return one[moved], other[moved], claims


def gaussian(budget: Budget) -> GaussianNoise:
    return GaussianNoise(1 / math.sqrt(GaussianFilter().capacity(budget)) * (1 + 1e-12))


def thresholded_gaussian(budget: Budget) -> ThresholdedGaussianNoise:
    """A thousandth of delta pays for cells of one table alone, of which these neighbors have none."""
    rest = Budget(budget.epsilon, budget.delta * 0.999 * (1 - 1e-9))
    return ThresholdedGaussianNoise(gaussian(rest).noise_multiplier, 0.001 * budget.delta)


def open_domain_gaussian(budget: Budget) -> OpenDomainGaussianNoise:
    """The same, on cells that are listed beforehand."""
    noise = thresholded_gaussian(budget)
    return OpenDomainGaussianNoise(noise.noise_multiplier, noise.delta)


def gaussian_evidence(told: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What tells Gaussian neighbors apart best: the log-likelihood ratio, up to a factor and a constant."""
    return told @ (other - one)


def laplace_evidence(told: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The same for Laplace noise."""
    return (np.abs(told - one) - np.abs(told - other)).sum(axis=1)


@dataclass(frozen=True)
class Audited:
    """How a noise on integer answers is audited: made from a claim, summarized, and run how often."""

    noise: Callable[[Budget], Any]
    evidence: Callable
    delta: float
    norm: str
    runs: dict[str, int]


DELTA, GAUSSIAN_RUNS = 0.05, 30_000
"""Smaller deltas need more runs, 120,000 at .01; what is charged follows from the same formula."""
NOISES = {
    GaussianNoise: Audited(
        gaussian, gaussian_evidence, DELTA, "l2_sensitivity", {"seed": GAUSSIAN_RUNS, "system": GAUSSIAN_RUNS}
    ),
    LaplaceNoise: Audited(
        lambda budget: LaplaceNoise(budget.epsilon),
        laplace_evidence,
        0.0,
        "l1_sensitivity",
        {"seed": 12_000, "system": 12_000},
    ),
    ThresholdedGaussianNoise: Audited(
        thresholded_gaussian,
        gaussian_evidence,
        DELTA,
        "l2_sensitivity",
        {"seed": GAUSSIAN_RUNS, "system": GAUSSIAN_RUNS},
    ),
    OpenDomainGaussianNoise: Audited(
        open_domain_gaussian,
        gaussian_evidence,
        DELTA,
        "l2_sensitivity",
        {"seed": GAUSSIAN_RUNS, "system": GAUSSIAN_RUNS},
    ),
    ThresholdedLaplaceNoise: Audited(
        lambda budget: ThresholdedLaplaceNoise(budget.epsilon, budget.delta),
        laplace_evidence,
        1e-6,
        "l1_sensitivity",
        {"seed": 12_000, "system": 12_000},
    ),
}


def test_every_noise_is_audited():
    found = set()
    for module_info in pkgutil.iter_modules(counterfoil.noise.__path__, "counterfoil.noise."):
        module = importlib.import_module(module_info.name)
        for _, kind in inspect.getmembers(module, lambda member: inspect.isclass(member) and is_dataclass(member)):
            found |= {kind} if issubclass(kind, Noise) else set()
    # Noise that counts on random batches is audited with the queries that read them: `test_gradient_audit`.
    assert found == {*NOISES, ExponentialSelection, SubsampledGaussianNoise}


def audit(kind: type, query: str, epsilon: float, relation: NeighboringRelation, source: str, broken: bool) -> float:
    """A lower bound on the epsilon of one noise on one query."""
    audited = NOISES[kind]
    one, other, claims = exact_answers(query, relation)
    noise = audited.noise(Budget(epsilon, audited.delta))
    randomness = SOURCES[source]()
    if broken:
        randomness = LessNoise(randomness)
    told = [
        noise.add(np.tile(exact, (audited.runs[source], 1)), claims[audited.norm], randomness) for exact in (one, other)
    ]
    return epsilon_lower_bound(*(audited.evidence(answer, one, other) for answer in told), audited.delta)


@pytest.mark.parametrize(("query", "source"), [("counts", "system"), ("counts", "seed"), ("errors", "seed")])
@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("kind", NOISES, ids=lambda kind: kind.__name__)
def test_noisy_answers_keep_their_claim_and_half_the_noise_does_not(kind, query, epsilon, relation, source):
    assert audit(kind, query, epsilon, relation, source, broken=False) <= epsilon
    assert audit(kind, query, epsilon, relation, source, broken=True) > epsilon


@pytest.mark.parametrize("relation", NeighboringRelation)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_counts_with_unequal_noise_keep_their_claim_and_half_the_noise_does_not(epsilon, relation):
    """Counted several times over, which makes what is not charged smaller beside the noise: no more runs are needed."""
    assert audit(GaussianNoise, "weighted counts", epsilon, relation, "seed", broken=False) <= epsilon
    assert audit(GaussianNoise, "weighted counts", epsilon, relation, "seed", broken=True) > epsilon


# Selection

SELECTION_RUNS = {("seed", 0.5): 84_000, ("seed", 1.0): 12_000, ("seed", 4.0): 8_000, ("system", 4.0): 8_000}


@cache
def selection_scores(relation: NeighboringRelation) -> tuple[np.ndarray, np.ndarray, float]:
    """Two candidates: one score falls and one rises by the sensitivity, so that a gap of twice that closes."""
    cliques, estimates = (("a",), ("b",)), (np.array([0, HIGH]), np.array([HIGH, 0]))
    plain = WorstApproximatedMarginal(cliques, estimates, np.ones(2), np.zeros(2))
    sensitivity = Neighbors(relation, UNITS).sensitivity(plain.score_sensitivity, relation)
    level = neighbors_of(relation, plain)[0] + np.array([0.0, 2 * sensitivity])
    query = WorstApproximatedMarginal(cliques, estimates, np.ones(2), level)
    one, other = neighbors_of(relation, query)
    assert np.array_equal(one, [0, -2 * sensitivity])
    assert np.array_equal(other, [-sensitivity, -sensitivity])
    return one, other, sensitivity


def audit_selection(epsilon: float, relation: NeighboringRelation, randomness: Randomness, runs: int) -> float:
    noise = ExponentialSelection(epsilon)
    one, other, sensitivity = selection_scores(relation)

    def told(scores: np.ndarray) -> np.ndarray:
        return outcomes(lambda: noise.choose(scores, sensitivity, randomness), runs)

    return epsilon_lower_bound(told(one), told(other), 0.0)


@pytest.mark.parametrize(
    ("relation", "source", "epsilon"),
    [(relation, *which) for relation in NeighboringRelation for which in SELECTION_RUNS if which[0] == "seed"]
    + [(ADD, "system", 4.0)],
)
def test_selection_keeps_its_claim_and_half_the_noise_does_not(relation, source, epsilon):
    runs, randomness = SELECTION_RUNS[source, epsilon], SOURCES[source]()
    assert audit_selection(epsilon, relation, randomness, runs) <= epsilon
    assert audit_selection(epsilon, relation, LessNoise(randomness), runs) > epsilon


# Are the sizes large enough?


def surely_found(p: float, q: float, delta: float, runs: int) -> float:
    """The bound that the event with probabilities `p` and `q` gives at least, but with probability 4e-7."""
    decided = runs - runs // 4
    hits = binom.ppf(2e-7, decided, p), binom.isf(2e-7, decided, q)
    gain = float(lower_bound(np.array(hits[0]), decided)) - delta
    return math.log(max(gain, 1e-300) / float(upper_bound(np.array(hits[1]), decided)))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_sizes_are_large_enough(epsilon):
    """For each kind of twin, some event gives it away but with probability 4e-7, where the twin is hardest to see."""
    # Gaussian: sensitivity 8, the scale with what smoothing adds, halved; the event is a log-likelihood ratio above t.
    scale = gaussian(Budget(epsilon, DELTA)).scale(float(ROWS)) / 2
    mu = ROWS / scale
    shifts = np.linspace(0, 2 * epsilon + 1, 60) / mu
    found = [surely_found(norm.sf(t - mu / 2), norm.sf(t + mu / 2), DELTA, GAUSSIAN_RUNS) for t in shifts]
    assert max(found) > epsilon
    # Laplace: one cell whose loss is 2 epsilon, or two with epsilon each that point the same way.
    for cells, runs in ((1, 12_000), (2, 12_000)):
        p = 0.5**cells
        assert surely_found(p, p * math.exp(-2 * epsilon), 1e-6, runs) > epsilon
    # Selection: log-odds 0 against -2 epsilon.
    for (_, which), runs in SELECTION_RUNS.items():
        if which == epsilon:
            assert surely_found(0.5, 1 / (1 + math.exp(2 * epsilon)), 0.0, runs) > epsilon
