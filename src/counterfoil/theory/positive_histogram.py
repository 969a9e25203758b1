"""Noise on the positive counts of a histogram only: the privacy cost of T rounds, and the error.

Section 4.2 of "Private Evolution Converges", after Vadhan 2017, Theorem 3.5. A count of zero is never released; a
positive count c is released as c + Z if that is at least the threshold h, with Z discrete Laplace of scale b,
P(Z = k) proportional to exp(-|k| / b). Everything is in counts, not in fractions of n.
Derivations: docs/theory/private_evolution.md, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.theory.bound import Bound
from counterfoil.theory.complexity import complexity

PROOFS = "docs/theory/private_evolution.md, section 6"


def survival(scale: float, threshold: int) -> float:
    """The probability that a count of one is released: P(1 + Z >= h) = e^(-(h-1)/b) / (1 + e^(-1/b)), h >= 1."""
    if not (0 < scale < math.inf and threshold >= 1):
        raise ValueError(f"`scale` must be positive and `threshold` at least 1. Found {scale} and {threshold}.")
    return math.exp(-(threshold - 1) / scale) / (1 + math.exp(-1 / scale))


def delta(epsilon: float, *, scale: float, threshold: int, iterations: int, relation: NeighboringRelation) -> Bound:
    """delta of T adaptive rounds at `epsilon`: 1 - (1 - tau)^T (1 - delta_k(epsilon)).

    Formal guarantee: adding a record moves one positive count by one, which under discrete Laplace noise is exactly
    randomized response with parameter 1/b, or turns a zero into a one, which shows with probability tau = `survival`
    and otherwise not at all. Each round is thus dominated by one randomized response (two when a record is replaced:
    one count falls, another rises) together with an event of probability tau that reveals everything; delta_k is the
    exact curve of k = T (or 2 T) randomized responses (Kairouz, Oh, Viswanath 2015, Theorem 3.3).
    """
    if iterations < 1:
        raise ValueError(f"`iterations` must be at least 1. Found {iterations}.")
    count = _responses(iterations, relation)
    responses = randomized_response_delta(epsilon, 1 / scale, count)
    shown = -math.expm1(iterations * math.log1p(-survival(scale, threshold)))
    terms = {"a count of one shows": shown, "noise on positive counts": (1 - shown) * responses}
    assumptions = (f"neighbors: {relation.value}", "discrete Laplace noise", "counts of zero are never released")
    return Bound(terms, 1.0, assumptions, PROOFS)


def randomized_response_delta(epsilon: float, epsilon_each: float, count: int) -> float:
    """delta at `epsilon` of `count` randomized responses, each e^(epsilon_each) : 1.

    sum over j of C(count, j) (e^(j e) - e^(epsilon + (count - j) e))_+ / (1 + e^e)^count.
    """
    if not (epsilon >= 0 and epsilon_each > 0):
        raise ValueError(f"Epsilons must not be negative. Found {epsilon} and {epsilon_each}.")
    normalizer = count * (epsilon_each + math.log1p(math.exp(-epsilon_each)))
    parts = []
    for j in range(count // 2, count + 1):
        loss = (2 * j - count) * epsilon_each
        if loss > epsilon:
            choose = math.lgamma(count + 1) - math.lgamma(j + 1) - math.lgamma(count - j + 1)
            parts.append(math.exp(choose + j * epsilon_each - normalizer) * -math.expm1(epsilon - loss))
    return min(1.0, math.fsum(parts))


@dataclass(frozen=True)
class PositiveHistogramNoise:
    """Discrete Laplace `scale` and integer `threshold`, in counts, with what they assume and rest on."""

    scale: float
    threshold: int
    assumptions: tuple[str, ...]
    source: str


def noise(epsilon: float, delta: float, *, iterations: int, relation: NeighboringRelation) -> PositiveHistogramNoise:
    """The smallest scale whose noise costs half of delta over all iterations, then the smallest threshold for the rest.

    One round of replace-one at the paper's scale 2 / epsilon costs no delta for the noise, and then delta / 2 for the
    threshold 2 log(1/delta) / epsilon + 1; over T rounds both must be composed, as here.
    Raises ValueError unless 0 < delta < 1 and epsilon is positive.
    """
    budget = Budget(epsilon, delta)
    if not budget.delta > 0:
        raise ValueError("`delta` must be positive: a count that appears is seen. Found 0.")
    count = _responses(iterations, relation)
    low, high = 0.0, count / epsilon  # at the upper end the noise is epsilon-private outright
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        affordable = middle > 0 and randomized_response_delta(epsilon, 1 / middle, count) <= delta / 2
        low, high = (low, middle) if affordable else (middle, high)
    # The sum is increasing in the chance that a one is shown, so the threshold can be solved for.
    spent = randomized_response_delta(epsilon, 1 / high, count)
    shown = -math.expm1((math.log1p(-delta) - math.log1p(-spent)) / iterations)
    threshold = max(1, math.ceil(1 - high * (math.log(shown) + math.log1p(math.exp(-1 / high)))))
    while _total(epsilon, high, threshold, iterations, relation) > delta:
        threshold += 1
    assumptions = (f"neighbors: {relation.value}", f"{iterations} rounds", "counts of zero are never released")
    return PositiveHistogramNoise(high, threshold, assumptions, PROOFS)


def proposition_4_1(
    counts: Sequence[int],
    *,
    epsilon: float,
    delta: float,
    dimension: int,
    diameter: float,
    failure_probability: float = 0.05,
) -> Bound:
    """E W_1 between a histogram and its noised, thresholded, renormalized form, for one release (replace-one).

    `counts` are the exact counts: the value describes a data set and is not for release. With b = 2 / (n epsilon),
    H = b log(1/delta) + 1/n, I the k positive bins and I' those at most H + b log(k / beta):

        k b L_k + 2 D H (|I'| + k beta) + D b sum over I of e^(-mu_i / b) + D b sqrt(2 k)

    The third term is missing in the paper: a noisy entry below the threshold may lie far below zero, so its size is
    not at most H; the part below zero has mean (b/2) e^(-mu_i / b), and counts twice. If nothing survives, W_1 is
    bounded by D and the bound holds for any measure put in its place.
    """
    if min(counts, default=-1) < 0 or sum(counts) < 1:
        raise ValueError("`counts` must be non-negative and hold at least one record.")
    if not (0 < failure_probability < 1 and 0 < delta < 1 and epsilon > 0 and diameter > 0):
        raise ValueError("`failure_probability` and `delta` must be in (0, 1), `epsilon` and `diameter` positive.")
    n, positive = sum(counts), [count for count in counts if count > 0]
    k, scale = len(positive), 2 / (n * epsilon)
    threshold = scale * math.log(1 / delta) + 1 / n
    small = sum(count / n <= threshold + scale * math.log(k / failure_probability) for count in positive)
    spread = complexity(k, dimension=dimension, diameter=diameter, noise="laplace")
    below_zero = math.fsum(math.exp(-count / (n * scale)) for count in positive)
    terms = {
        "noise": k * scale * spread.value,
        "removed by the threshold": 2 * diameter * threshold * (small + k * failure_probability),
        "noise below zero": diameter * scale * below_zero,
        "renormalization": diameter * scale * math.sqrt(2 * k),
    }
    assumptions = ("one release, replace-one, Laplace noise", *spread.assumptions)
    return Bound(terms, diameter, assumptions, f"Private Evolution Converges, Prop. 4.1, corrected; {PROOFS}")


def _responses(iterations: int, relation: NeighboringRelation) -> int:
    return 2 * iterations if relation is NeighboringRelation.REPLACE_ONE else iterations


def _total(epsilon: float, scale: float, threshold: int, iterations: int, relation: NeighboringRelation) -> float:
    return delta(epsilon, scale=scale, threshold=threshold, iterations=iterations, relation=relation).value
