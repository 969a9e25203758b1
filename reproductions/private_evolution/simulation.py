"""The simulations of section 6: points of the plane's unit ball, epsilon 1, delta 1e-4. NOT PRIVATE: seeds are fixed.

The steps are the package's own; only the curator is left out, because the data are made up and every population on the
way is compared with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from counterfoil.accounting.budget import Budget
from counterfoil.evolution.noise_schedule import PositiveRounds
from counterfoil.evolution.survivors import Resample
from counterfoil.geometry.euclidean import Ball
from counterfoil.measures.cleanup import Cleanup, Threshold
from counterfoil.noise.randomness import SeededRandomness
from counterfoil.noise.thresholded_laplace import ThresholdedLaplaceNoise
from counterfoil.theory import private_evolution as theory
from counterfoil.transport import wasserstein
from counterfoil.transport.nearest import assign

BALL = Ball(("x", "y"))
BUDGET = Budget(1.0, 1e-4)


@dataclass(frozen=True)
class Setting:
    """One way to run Algorithm 2.

    n: how many records. iterations, population: T and n_s; the theory's where None.
    cleanup: from noisy votes to weights; cut at zero by default, as in the paper's simulations.
    laplace: the noise of section 4.2 instead, composed over all rounds.
    """

    n: int
    iterations: int | None = None
    population: int | None = None
    cleanup: Cleanup = field(default_factory=Threshold)
    laplace: bool = False

    @property
    def plan(self) -> theory.Plan:
        """Every parameter, as Theorem 4.1 and T = 2 log(n epsilon) set them."""
        return theory.plan(
            BUDGET.epsilon, BUDGET.delta, n=self.n, dimension=2, diameter=2.0, iterations=self.iterations
        )

    @property
    def size(self) -> int:
        return int(self.plan.population.value) if self.population is None else self.population


def quarter(n: int, rng: np.random.Generator) -> np.ndarray:
    """n uniform points [n, 2] of the ball's positive quarter."""
    return np.abs(BALL.random(n, rng))


def disk(n: int, radius: float, rng: np.random.Generator) -> np.ndarray:
    """n uniform points [n, 2] within `radius` of the origin."""
    return radius * BALL.random(n, rng)


def populations(setting: Setting, records: np.ndarray, start: np.ndarray, seed: int) -> Iterator[np.ndarray]:
    """S_0, S_1, ..., S_T."""
    rng, plan = np.random.default_rng(seed), setting.plan
    n_iterations, alpha = int(plan.iterations.value), plan.resolution.value
    positive = PositiveRounds().noises(BUDGET, n_iterations, count=False)[0] if setting.laplace else None
    randomness = SeededRandomness(seed)
    population = start
    yield population
    for t in range(n_iterations):
        varied = BALL.variations(population, resolution=alpha, progress=t / n_iterations, rng=rng)
        candidates = varied.reshape(-1, 2)
        votes = np.bincount(assign(records, candidates), minlength=len(candidates))
        shares = _noisy(votes, positive, plan.noise.value, setting.n, rng, randomness)
        weights = setting.cleanup.weights(shares, plan.noise.value, candidates, BALL)
        if weights is not None:
            population = candidates[Resample().choose(weights, setting.size, rng)]
        yield population


def _noisy(
    votes: np.ndarray,
    positive: ThresholdedLaplaceNoise | None,
    sigma: float,
    n: int,
    rng: np.random.Generator,
    randomness: SeededRandomness,
) -> np.ndarray:
    if positive is None:
        return votes / n + sigma * rng.standard_normal(len(votes))
    return positive.add(votes, 2.0, randomness) / n


def errors(setting: Setting, records: np.ndarray, start: np.ndarray, seed: int) -> np.ndarray:
    """W_1 between the records and S_0, ..., S_T: float64 [T + 1]."""
    return np.array([distance(records, population) for population in populations(setting, records, start, seed)])


def last_error(setting: Setting, records: np.ndarray, start: np.ndarray, seed: int) -> float:
    """W_1 between the records and S_T."""
    *_, last = populations(setting, records, start, seed)
    return distance(records, last)


def distance(records: np.ndarray, population: np.ndarray) -> float:
    """Exact W_1, equal points of the population taken together."""
    points, counts = np.unique(population, axis=0, return_counts=True)
    return wasserstein.distance(records, points, weights_b=counts / counts.sum())


def with_size(setting: Setting, size: int) -> Setting:
    """The same with another n_s."""
    return replace(setting, population=size)
