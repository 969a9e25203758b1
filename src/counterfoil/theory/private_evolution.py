"""Parameters and convergence of Private Evolution (Gonzalez, Fanti, Ramdas, "Private Evolution Converges").

Pure functions of public parameters. Where the paper's constant is wrong, the right one is here and the docstring
says so. Histograms are normalized by n, the number of records; neighbors replace one record unless said otherwise.
Derivations: docs/theory/private_evolution.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve import largest_mu
from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.theory.bound import Bound
from counterfoil.theory.complexity import complexity, published_complexity, published_sampling_error, sampling_error

PAPER = "Gonzalez, Fanti, Ramdas, Private Evolution Converges"
PROOFS = "docs/theory/private_evolution.md"


@dataclass(frozen=True)
class Parameter:
    """A parameter that the theory sets: its value, what the theory assumes, and where it is from."""

    value: float
    assumptions: tuple[str, ...]
    source: str


EUCLIDEAN = "points in R^d with the Euclidean distance, variations of equation (1)"


def contraction(dimension: int) -> Parameter:
    """gamma = 1 / (8 pi K), K = (sqrt d + log 2)^2 + log 2: how much of its distance a point covers in a step.

    Lemma D.1, whose K bounds the mean of the larger of two chi-square variables. (The reference it names has
    sqrt(log 2) for the first log 2; the bound holds all the same, since that mean is at most d + sqrt d.)
    """
    return Parameter(1 / (8 * math.pi * _chi_square_bound(dimension)), (EUCLIDEAN,), f"{PAPER}, Lemma D.1")


def variation_scale(level: int, *, dimension: int, resolution: float) -> Parameter:
    """sigma_l = alpha 2^(l-1) / (sqrt(pi) K): the deviation of the Gaussian variations of level l = 1, 2, ...

    Equation (1) puts K under the root; the proof of Lemma D.1 minimizes -2 sigma a / sqrt(pi) + sigma^2 K with
    a = alpha 2^(l-1), whose minimizer is this one.
    """
    if level < 1:
        raise ValueError(f"`level` must be at least 1. Found {level}.")
    scale = _positive(resolution=resolution) * 2 ** (level - 1) / (math.sqrt(math.pi) * _chi_square_bound(dimension))
    return Parameter(scale, (EUCLIDEAN,), f"{PAPER}, proof of Lemma D.1")


def n_levels(diameter: float, resolution: float) -> Parameter:
    """L = ceil(log2(D / alpha)), at least 0: levels of variations from the resolution to the diameter."""
    ratio = _positive(diameter=diameter) / _positive(resolution=resolution)
    return Parameter(max(0, math.ceil(math.log2(ratio))), (EUCLIDEAN,), f"{PAPER}, equation (1)")


def resolution(noise: float, *, dimension: int, diameter: float) -> Parameter:
    """alpha = D sigma^(1/max(d, 2)), the distance below which variations are no longer refined."""
    value = _positive(diameter=diameter) * _positive(noise=noise) ** (1 / max(_dimension(dimension), 2))
    return Parameter(value, (EUCLIDEAN,), f"{PAPER}, Theorem 4.1")


def noise(epsilon: float, delta: float, *, n: float, iterations: int,
          relation: NeighboringRelation = NeighboringRelation.REPLACE_ONE) -> Parameter:  # fmt: skip
    """sigma of the Gaussian noise on each entry of the histogram that makes all iterations (epsilon, delta)-private.

    Formal guarantee: a replaced record moves one unit of mass 1/n from one entry to another, l2 sensitivity
    sqrt(2)/n; an added or removed one, 1/n. T adaptive rounds are mu-Gaussian with mu = sqrt(T) sensitivity / sigma,
    and sigma solves delta(epsilon, mu) = delta exactly. The theorem's 4 sqrt(T log(1.25/delta)) / (n epsilon) is 2.7
    times larger at epsilon = 1, delta = 1e-4, n = 1000, T = 14.
    """
    sensitivity = math.sqrt(2) if relation is NeighboringRelation.REPLACE_ONE else 1.0
    mu = largest_mu(_gaussian_budget(epsilon, delta))
    value = math.sqrt(_at_least_one(iterations=iterations)) * sensitivity / (_positive(n=n) * mu)
    return Parameter(value, (f"neighbors: {relation.value}",), f"{PROOFS}, section 2; Balle and Wang 2018, Theorem 8")


def noise_schedule(epsilon: float, delta: float, *, n: float, iterations: int, contraction: float) -> tuple[float, ...]:
    """sigma_1, ..., sigma_T that cost as much as T equal ones and make the last distance smallest.

    The noise of round t reaches the end shrunk by w_t = (1 - gamma)^(T - t); minimizing sum w_t sigma_t at a fixed
    sum of 1 / sigma_t^2 gives sigma_t proportional to w_t^(-1/3). Replace-one. Derivation: docs, section 5.
    """
    uniform = noise(epsilon, delta, n=n, iterations=iterations).value
    shape = [(1 - _contraction(contraction)) ** (-(iterations - t) / 3) for t in range(1, iterations + 1)]
    scale = uniform * math.sqrt(math.fsum(s**-2 for s in shape) / iterations)
    return tuple(scale * s for s in shape)


def iterations(n: float, epsilon: float) -> Parameter:
    """T = ceil(2 log(n epsilon)), at least 1: what the paper's simulations use, and the default."""
    value = max(1, math.ceil(2 * math.log(max(1.0, _positive(n=n) * _positive(epsilon=epsilon)))))
    return Parameter(value, ("a choice of order log(n epsilon), not the theorem's constant",), f"{PAPER}, section 6")


def theorem_iterations(n: float, epsilon: float, delta: float, *, dimension: int) -> Parameter:
    """T of Theorem 4.1: ceil(log(gamma (n epsilon / (4 sqrt(log(1/delta))))^(1/max(d, 2))) / gamma).

    Zero or negative below n epsilon = 4 sqrt(log(1/delta)) gamma^(-max(d, 2)), which is 2.0e5 in the plane at delta =
    1e-4 and out of reach from d = 4 on: the bound is then no better than the diameter, and the theorem asks for no
    iteration. Returned as it is. (In the theorem's first form, the D under the logarithm must go: it has a unit, and
    cancels in e^(-gamma T) D = alpha / gamma.)
    """
    gamma, _ = contraction(dimension).value, _gaussian_budget(epsilon, delta)
    ratio = _positive(n=n) * epsilon / (4 * math.sqrt(math.log(1 / delta)))
    value = math.ceil((math.log(gamma) + math.log(ratio) / max(dimension, 2)) / gamma)
    return Parameter(value, (EUCLIDEAN, "epsilon and delta below 1"), f"{PAPER}, Theorem 4.1")


def population(noise: float, *, dimension: int, diameter: float) -> Parameter:
    """n_s = (2 L + 1)^(1/max(d, 2) - 1) / sigma, rounded up, at least 1: balances noise against resampling."""
    alpha = resolution(noise, dimension=dimension, diameter=diameter).value
    variations = 2 * n_levels(diameter, alpha).value + 1
    value = max(1, math.ceil(variations ** (1 / max(dimension, 2) - 1) / noise))
    return Parameter(value, (EUCLIDEAN,), f"{PAPER}, Theorem 4.1")


@dataclass(frozen=True)
class Plan:
    """Every parameter of a run in R^d, as the theory sets them."""

    iterations: Parameter
    noise: Parameter
    resolution: Parameter
    levels: Parameter
    population: Parameter
    contraction: Parameter


def plan(epsilon: float, delta: float, *, n: float, dimension: int, diameter: float, iterations: int | None = None,
         relation: NeighboringRelation = NeighboringRelation.REPLACE_ONE) -> Plan:  # fmt: skip
    """The parameters of Theorem 4.1 with the exact noise, for T = 2 log(n epsilon) or the `iterations` given."""
    rounds = _default_iterations(n, epsilon)
    if iterations is not None:
        rounds = Parameter(_at_least_one(iterations=iterations), (), "the user")
    sigma = noise(epsilon, delta, n=n, iterations=int(rounds.value), relation=relation)
    alpha = resolution(sigma.value, dimension=dimension, diameter=diameter)
    return Plan(
        iterations=rounds,
        noise=sigma,
        resolution=alpha,
        levels=n_levels(diameter, alpha.value),
        population=population(sigma.value, dimension=dimension, diameter=diameter),
        contraction=contraction(dimension),
    )


_default_iterations = iterations


def step_error(*, resolution: float, noise: float, n_variations: int, population: int, dimension: int,
               diameter: float, constant: float | None = None) -> Bound:  # fmt: skip
    """What one iteration adds to E W_1: alpha + 2 V sigma G_V + W_1(n_s), V = n_s n_variations.

    G_V, the Gaussian complexity, and W_1(n_s), the distance of a sample from what it is drawn from, are bounded by
    dyadic partitions, with proven constants. With `constant`, the paper's forms are used instead: Corollary D.1, and
    Lemma D.5 with this number for its unknown C.
    """
    n_candidates = _at_least_one(n_variations=n_variations) * _at_least_one(population=population)
    if constant is None:
        spread = complexity(n_candidates, dimension=dimension, diameter=diameter, noise="gaussian")
        sampled = sampling_error(population, dimension=dimension, diameter=diameter)
    else:
        spread = published_complexity(n_candidates, dimension=dimension, diameter=diameter)
        sampled = published_sampling_error(population, dimension=dimension, diameter=diameter, constant=constant)
    return Bound(
        terms={
            "resolution": _positive(resolution=resolution),
            "noise": 2 * n_candidates * _positive(noise=noise) * spread.value,
            "resampling": sampled.value,
        },
        trivial=diameter,
        assumptions=("Algorithm 2, with the D_BL projection", *spread.assumptions, *sampled.assumptions),
        source=f"{PAPER}, equation (2); {spread.source}; {sampled.source}",
    )


def convergence(step: Bound, *, initial: float, iterations: int, contraction: float) -> Bound:
    """Gamma_T <= (1 - gamma)^T Gamma_0 + (1 - (1 - gamma)^T) / gamma times what a step adds.

    Equation (2) and, for any space whose variations are a (gamma, v, alpha)-API, Theorem F.1: then `step` is that of
    `n_variations` = v and `resolution` = alpha. `initial` is Gamma_0 = E W_1 before the first step, at most the
    diameter. A step that cannot help (Gamma_0 below the fixed point) is where the best T is zero.
    """
    kept = (1 - _contraction(contraction)) ** _at_least_one(iterations=iterations)
    repeats = (1 - kept) / contraction
    terms = {"initial": kept * initial} | {name: repeats * value for name, value in step.terms.items()}
    assumptions = (*step.assumptions, f"variations contract with gamma = {contraction:.3g} (Definition F.1)")
    return replace(step, terms=terms, assumptions=assumptions, source=f"{PAPER}, Theorem F.1; {step.source}")


def trajectory(initial: float, step_errors: Sequence[float], *, contraction: float) -> tuple[float, ...]:
    """Gamma_0, Gamma_1, ..., Gamma_T by Gamma_(t+1) = (1 - gamma) Gamma_t + error_t, for errors that differ."""
    distances = [initial]
    for error in step_errors:
        distances.append((1 - _contraction(contraction)) * distances[-1] + error)
    return tuple(distances)


def closeness_epsilon(packing_number: float, *, failure_probability: float) -> Bound:
    """Lemma 3.1, a *lower* bound on epsilon: log((M - 1)(1 - tau) / tau).

    An epsilon-private algorithm that returns, with probability 1 - tau for every data set, points that are each within
    eta of theirs needs at least this epsilon, when M points of the space are pairwise *more* than 2 eta apart.
    """
    tau = failure_probability
    if not 0 < tau < 1:
        raise ValueError(f"`failure_probability` must be in (0, 1). Found {tau}.")
    if not packing_number > 1:
        raise ValueError(f"`packing_number` must be above 1. Found {packing_number}.")
    least = math.log(packing_number - 1) + math.log1p(-tau) - math.log(tau)
    assumptions = ("pure privacy, replace-one", "closeness holds for every data set, not for one")
    return Bound({"packing": max(0.0, least)}, math.inf, assumptions, f"{PAPER}, Lemma 3.1")


def ball_packing(separation: float, *, radius: float, dimension: int) -> Parameter:
    """At least (R / s)^d points of a ball of radius R are pairwise more than s apart: a largest such set covers it.

    For Lemma 3.1, s = 2 eta: the least epsilon then grows like d log(R / (2 eta)).
    """
    value = max(1, math.ceil((_positive(radius=radius) / _positive(separation=separation)) ** _dimension(dimension)))
    return Parameter(value, ("a lower bound on the packing number",), "Wainwright 2019, Lemmas 5.5 and 5.7")


def _chi_square_bound(dimension: int) -> float:
    return (math.sqrt(_dimension(dimension)) + math.log(2)) ** 2 + math.log(2)


def _gaussian_budget(epsilon: float, delta: float) -> Budget:
    if not 0 < delta < 1:
        raise ValueError(f"`delta` must be in (0, 1) for Gaussian noise. Found {delta}.")
    return Budget(epsilon, delta)


def _dimension(dimension: int) -> int:
    return _at_least_one(dimension=dimension)


def _contraction(contraction: float) -> float:
    if not 0 < contraction < 1:
        raise ValueError(f"`contraction` must be in (0, 1). Found {contraction}.")
    return contraction


def _at_least_one(**parameters: int) -> int:
    ((name, value),) = parameters.items()
    if not value >= 1:
        raise ValueError(f"`{name}` must be at least 1. Found {value}.")
    return value


def _positive(**parameters: float) -> float:
    ((name, value),) = parameters.items()
    if not 0 < value < math.inf:
        raise ValueError(f"`{name}` must be positive and finite. Found {value}.")
    return value
