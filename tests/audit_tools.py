"""A black-box audit: from what a mechanism answers on two neighboring tables, a lower bound on its epsilon.

A mechanism is (epsilon, delta)-private only if P(E) <= e**epsilon Q(E) + delta for every event E, where P and Q are its
laws on two neighbors, either way around. An event is chosen on one half of the runs; on the other half, which the
choice has not seen, P(E) is bounded from below and Q(E) from above (Clopper and Pearson 1934, exact for any sample
size), each with an error probability of 5e-7. So (P(E) - delta) / Q(E) is above the bound with probability 1 - 1e-6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from counterfoil.curator.randomness import Randomness

FALSE_ALARM = 1e-6


@dataclass(frozen=True)
class LessNoise:
    """The deliberately broken twin of a source of randomness: `factor` times the noise that was asked for."""

    randomness: Randomness
    factor: float = 0.5
    private = True
    source = "broken on purpose"

    def discrete_gaussian(self, scale: float, size: int) -> np.ndarray:
        return self.randomness.discrete_gaussian(scale * self.factor, size)

    def discrete_laplace(self, scale: float, size: int) -> np.ndarray:
        return self.randomness.discrete_laplace(scale * self.factor, size)

    def noisy_max(self, scores: np.ndarray, scale: float) -> int:
        return self.randomness.noisy_max(scores, scale * self.factor)

    def generator(self) -> np.random.Generator:
        return self.randomness.generator()


def lower_bound(hits: np.ndarray, runs: int) -> np.ndarray:
    """A probability that has shown `hits` in `runs` is above this, with probability 1 - FALSE_ALARM / 2."""
    return np.where(hits > 0, beta.ppf(FALSE_ALARM / 2, hits, runs - hits + 1), 0.0)


def upper_bound(hits: np.ndarray, runs: int) -> np.ndarray:
    """A probability that has shown `hits` in `runs` is below this, with probability 1 - FALSE_ALARM / 2."""
    return np.where(hits < runs, beta.ppf(1 - FALSE_ALARM / 2, hits + 1, runs - hits), 1.0)


def epsilon_lower_bound(one: np.ndarray, other: np.ndarray, delta: float) -> float:
    """What epsilon is at least, with probability 1 - FALSE_ALARM, from outcomes [runs] on two neighbors.

    The events are that an outcome is at least, or at most, some threshold; outcomes should be summarized so that such
    events tell the neighbors apart best. A fourth of the runs chooses, the rest decides.
    """
    cut = [len(outcomes) // 4 for outcomes in (one, other)]
    thresholds = np.unique(np.quantile(np.concatenate([one[: cut[0]], other[: cut[1]]]), np.linspace(0, 1, 400)))
    events: list[tuple[float, Callable[[float], float]]] = []
    for first, second in ((one, other), (other, one)):
        for sign in (1, -1):
            p, q = sign * first, sign * second
            chosen = _best_threshold(p[: len(p) // 4], q[: len(q) // 4], sign * thresholds, delta)
            events.append((chosen[0], _decide(p[len(p) // 4 :], q[len(q) // 4 :], chosen[1], delta)))
    return max(events, key=lambda event: event[0])[1]


def _bounds(p: np.ndarray, q: np.ndarray, thresholds: np.ndarray, delta: float) -> np.ndarray:
    hits = [len(x) - np.searchsorted(np.sort(x), thresholds, side="left") for x in (p, q)]
    gain = np.maximum(lower_bound(hits[0], len(p)) - delta, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(gain / upper_bound(hits[1], len(q)))


def _best_threshold(p: np.ndarray, q: np.ndarray, thresholds: np.ndarray, delta: float) -> tuple[float, float]:
    bounds = _bounds(p, q, thresholds, delta)
    best = int(np.argmax(bounds))
    return float(bounds[best]), float(thresholds[best])


def _decide(p: np.ndarray, q: np.ndarray, threshold: float, delta: float) -> float:
    return max(float(_bounds(p, q, np.array([threshold]), delta)[0]), 0.0)


def outcomes(run: Callable[[], float], runs: int) -> np.ndarray:
    """`runs` outcomes of a whole release, one after another."""
    return np.array([run() for _ in range(runs)], dtype=np.float64)


assert math.isclose(float(upper_bound(np.array(0), 100)), 1 - (FALSE_ALARM / 2) ** (1 / 100))  # the rule of "none in n"
