"""Black-box audits: what every preset and mechanism adds keeps its claim, and broken twins are caught.

A release is run once for its charges; the noise of each is then drawn a hundred thousand times on two neighbors, with
a record in the worst place: alone in its cell, or one of many. The outcome is the log-likelihood ratio of all answers
together. False alarms: 1e-6 each (see `audit_tools`). Seeds are fixed: what is caught once is caught always.
"""

from __future__ import annotations

import numpy as np
import pytest

from audit_tools import LessNoise, epsilon_lower_bound
from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.geometry.euclidean import Ball, point_schema
from counterfoil.methods.evolution import PrivateEvolution
from counterfoil.methods.measure_tree import MeasureTree
from counterfoil.methods.signed_measure import SignedMeasure
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.noise.thresholded_laplace import ThresholdedLaplaceNoise

RUNS = 120_000
BALL, SCHEMA = Ball(("x0", "x1")), point_schema((-1, -1), (1, 1))
NOISES = {noise.kind: noise for noise in (GaussianNoise, LaplaceNoise, ThresholdedLaplaceNoise)}
ALONE = {
    "add_or_remove_one": (np.array([60, 0]), np.array([60, 1])),
    "replace_one": (np.array([60, 0]), np.array([59, 1])),
}
AMONG_MANY = {
    "add_or_remove_one": (np.array([60, 60]), np.array([60, 61])),
    "replace_one": (np.array([60, 60]), np.array([59, 61])),
}

METHODS = {
    **{
        name: (PrivateEvolution.preset(name, space=BALL, iterations=3), Budget(1.0, 0.01))
        for name in PrivateEvolution.presets
    },
    "signed measure, pure": (SignedMeasure(cells=9), Budget(1.0)),
    "signed measure, Gaussian": (SignedMeasure(cells=9), Budget(1.0, 1e-4)),
    "measure tree": (MeasureTree(), Budget(1.0)),
}


def charges_of(method, budget, relation) -> list[dict]:
    points = 0.1 * BALL.random(200, np.random.default_rng(0))
    curator = Curator(points, SCHEMA, budget=budget, relation=relation, seed=0)
    return method.synthesize(curator, rows=1).receipt.document["charges"]


def log_ratio(kind: str, scale: float, answers: np.ndarray, counts: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """log of the chance of `answers` [runs, 2] had the counts been the second of two over that of the first."""
    away = [np.abs(answers - c) / scale for c in counts]
    if kind == "discrete_gaussian":
        return (away[0] ** 2 - away[1] ** 2).sum(axis=1) / 2
    if kind == "positive_discrete_laplace":
        # A released cell can't have been empty; full ones are released nearly always.
        surely = 10.0 * ((answers > 0) & (counts[0] == 0))
        return (np.where(counts[0] > 0, away[0] - away[1], 0.0) + surely).sum(axis=1)
    return (away[0] - away[1]).sum(axis=1)


def audited(charges: list[dict], neighbors, delta: float, factor: float, runs: int = RUNS) -> float:
    randomness = LessNoise(SeededRandomness(7), factor)
    outcomes = []
    for counts in neighbors:
        total = np.zeros(runs)
        for charge in charges:
            parameters = {k: v for k, v in charge["noise"].items() if k not in ("kind", "scale")}
            noise = NOISES[charge["noise"]["kind"]](**parameters)
            answers = noise.add(np.tile(counts, (runs, 1)), charge["sensitivity"], randomness)
            total += log_ratio(noise.kind, factor * charge["noise"]["scale"], answers, neighbors)
        outcomes.append(total)
    return epsilon_lower_bound(*outcomes, delta)


@pytest.mark.parametrize("relation", ALONE)
@pytest.mark.parametrize("name", METHODS)
def test_releases_keep_their_claim_and_half_of_the_noise_does_not(name, relation):
    method, budget = METHODS[name]
    charges = charges_of(method, budget, relation)
    for neighbors in (ALONE[relation], AMONG_MANY[relation]):
        assert audited(charges, neighbors, budget.delta, 1.0) <= budget.epsilon
    assert audited(charges, AMONG_MANY[relation], budget.delta, 0.5) > budget.epsilon


def test_the_papers_noise_for_the_gaussian_signed_measure_is_caught():
    """Appendix H: deviation sqrt(log(1 / delta)) / epsilon = 3.035 where 4.505 is needed."""
    (charge,) = charges_of(SignedMeasure(cells=9), Budget(1.0, 1e-4), "replace_one")
    factor = np.log(1e4) ** 0.5 / charge["noise"]["scale"]
    assert audited([charge], ALONE["replace_one"], 1e-4, factor, runs=400_000) > 1.0


def test_positive_counts_told_without_a_threshold_are_caught(monkeypatch):
    method, budget = METHODS["laplace-threshold"]
    charges = charges_of(method, budget, "add_or_remove_one")
    monkeypatch.setattr(ThresholdedLaplaceNoise, "threshold", lambda self, sensitivity: 1)
    assert audited(charges, ALONE["add_or_remove_one"], budget.delta, 1.0) > 1.0
