"""A black-box audit: from what a mechanism answers on two neighboring tables, a lower bound on its epsilon.

A mechanism is (epsilon, delta)-private only if P(E) <= e**epsilon Q(E) + delta for every event E, where P and Q are its
laws on two neighbors, either way around. An event is chosen on one half of the runs; on the other half, which the
choice has not seen, P(E) is bounded from below and Q(E) from above (Clopper and Pearson 1934, exact for any sample
size), each with an error probability of 5e-7. So (P(E) - delta) / Q(E) is above the bound with probability 1 - 1e-6.

Where the probability of each outcome is known, which whole releases admit because the law of each noise is audited by
itself, far fewer runs say as much: delta at a given epsilon is the mean of a number in [0, 1] (`hockey_stick`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import rel_entr
from scipy.stats import beta

from counterfoil.noise.randomness import Randomness

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

    def make_ready(self) -> None:
        self.randomness.make_ready()

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


# From likelihood ratios


def hockey_stick(ratios: np.ndarray, epsilon: float) -> np.ndarray:
    """float64[runs] in [0, 1], with mean delta(epsilon): that of max(0, 1 - e**(epsilon - ratio)).

    For ratios log(P / Q) of outcomes drawn from P, it is the largest P(E) - e**epsilon Q(E) over all events E.
    """
    return -np.expm1(np.minimum(epsilon - ratios, 0.0))


def mean_lower_bound(values: np.ndarray) -> float:
    """What the mean of independent `values` in [0, 1] is above, with probability 1 - FALSE_ALARM / 2.

    By Chernoff's bound as Hoeffding 1963, Theorem 1, has it: the average of n values is at least x above the mean m
    with probability at most exp(-n kl(x, m)), kl the divergence of coins.
    """
    average = float(values.mean())
    if average == 0:
        return 0.0
    surprise = -math.log(FALSE_ALARM / 2) / len(values)
    low, high = 0.0, average
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _divergence(average, middle) > surprise else (low, middle)
    return low


def epsilon_of_ratios(one: np.ndarray, other: np.ndarray, delta: float) -> float:
    """What epsilon is at least, with probability 1 - FALSE_ALARM, where outcomes are known with their likelihoods.

    Args:
        one: float64[runs] of outcomes on one neighbor: log of their probability there over that on the other.
        other: the same of outcomes on the other neighbor, so that both are positive on average.
        delta: at which delta.

    If the true epsilon is e, delta(e) <= delta, and its lower bound is above delta with probability FALSE_ALARM at
    most, half of it for each way around. Bounds fall with e: all e are tried for the price of one.
    """
    low, high = 0.0, 100.0
    for _ in range(50):
        middle = (low + high) / 2
        told = max(mean_lower_bound(hockey_stick(ratios, middle)) for ratios in (one, other))
        low, high = (middle, high) if told > delta else (low, middle)
    return low


def runs_needed(delta: float, shown: float, *, missed: float = 0.005) -> int:
    """How many runs let `epsilon_of_ratios` find, but with probability `missed`, a mechanism that breaks its claim.

    Args:
        delta: what is claimed, at some epsilon.
        shown: what the mechanism's delta is there, at least: above `delta`.

    An average of x must be surprising where the mean is `delta`, and a smaller one where it is `shown`.
    """
    wanted, spared = -math.log(FALSE_ALARM / 2), -math.log(missed)
    if delta == 0:  # one outcome above the claimed epsilon proves all
        return math.ceil(spared / -math.log1p(-shown))
    low, high = delta, shown
    for _ in range(60):
        x = (low + high) / 2
        low, high = (x, high) if _divergence(x, delta) / wanted < _divergence(x, shown) / spared else (low, x)
    return math.ceil(wanted / _divergence(low, delta))


def _divergence(x: float, mean: float) -> float:
    """kl(x, mean) of coins with probabilities x and mean."""
    return float(rel_entr(x, mean) + rel_entr(1 - x, 1 - mean))
