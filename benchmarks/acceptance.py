"""What it costs to repeat a run until it passes: each way of counting, computed.

Run: python benchmarks/acceptance.py [--check]

Runs are Gaussian, (epsilon, 1e-9)-private by themselves. The first table has the epsilon at delta 1e-9 of

- all of K runs, plainly composed: K noises of mu add up to sqrt(K) mu;
- the first that passes, where after each failure all end with probability 1/K (`accounting.repeated`, which `synth
  --attempts K` uses): K runs on average at most;
- the first that passes of a Poisson number of mean K, by the same argument: with g(p) = (1 - e**(-K p)) / p, whose
  logarithm falls by at most K/2 a unit, and "withheld" e**(-K p): max(K T, K T / 2 + epsilon at delta/K) with
  T = 2 Phi(mu/2) - 1 the largest p' - p. It makes no run at all with probability e**-K;
- the best of a random number of runs by any score, in Renyi privacy (Papernot and Steinke 2022): Theorem 2 for the
  geometric (eta = 1) and the logarithmic (eta = 0) law of mean K, Theorem 6 for the Poisson law of mean K.

The second has them where all find a pass equally often: as K runs do of which each passes with probability p. With
--check the theorems are held against exact laws of random small mechanisms.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve import gaussian_delta, gaussian_epsilon, largest_mu
from counterfoil.accounting.repeated import MOST_ATTEMPTS, RepeatedGaussian

DELTA = 1e-9
ORDERS = np.concatenate((np.linspace(1.05, 10, 60), np.geomspace(10.5, 400, 120)))


def plain(mu: float, attempts: float) -> float:
    """All of `attempts` runs."""
    return gaussian_epsilon(mu * math.sqrt(attempts), DELTA)


def coin(mu: float, attempts: float) -> float:
    """The first that passes, with a coin of 1/`attempts`; whole numbers as the package has them."""
    whole = math.ceil(attempts)
    if not 2 <= whole <= MOST_ATTEMPTS:
        return math.nan
    return RepeatedGaussian(whole).epsilon_of(mu * mu, DELTA)


def poisson(mu: float, mean: float) -> float:
    """The first that passes of a Poisson number."""
    distance = gaussian_delta(0.0, mu)
    return max(mean * distance, mean * distance / 2 + gaussian_epsilon(mu, DELTA / max(mean, 1.0)))


def best_of_poisson(mu: float, mean: float) -> float:
    """Papernot and Steinke, Theorem 6: epsilon(a) + E[K] d + log E[K] / (a - 1), d at e**e = 1 + 1/(a - 1)."""
    divergences = [
        order * mu * mu / 2
        + mean * gaussian_delta(math.log1p(1 / (order - 1)), mu)
        + max(math.log(mean), 0.0) / (order - 1)
        for order in ORDERS
    ]
    return converted(divergences)


def best_of_negative_binomial(mu: float, mean: float, eta: float) -> float:
    """Papernot and Steinke, Theorem 2, at its best order b.

    epsilon(a) + (1 + eta) ((1 - 1/b) epsilon(b) + log(1/gamma) / b) + log E[K] / (a - 1).
    """
    gamma = gamma_of(mean, eta)
    # epsilon(b) = b rho: (b - 1) rho + log(1/gamma) / b is least at b = sqrt(log(1/gamma) / rho).
    rho, weight = mu * mu / 2, -math.log(gamma)
    order = max(math.sqrt(weight / rho), 1.0)
    once = (order - 1) * rho + weight / order
    return converted([a * rho + (1 + eta) * once + math.log(mean) / (a - 1) for a in ORDERS])


def gamma_of(mean: float, eta: float) -> float:
    """The gamma of the law of that mean: 1/gamma for eta = 1, (1/gamma - 1) / log(1/gamma) for eta = 0."""
    if eta == 1:
        return 1 / mean
    return math.exp(-brentq(lambda x: math.log(math.expm1(x) / x) - math.log(mean), 1e-9, 500.0))


def converted(divergences: list[float]) -> float:
    """The least epsilon at DELTA over all orders (Canonne, Kamath and Steinke 2020, Proposition 12)."""
    orders = ORDERS
    extra = (orders * np.log1p(-1 / orders) - np.log(orders - 1) - math.log(DELTA)) / (orders - 1)
    return float((np.array(divergences) + extra).min())


WAYS: dict[str, Callable[[float, float], float]] = {
    "all, composed": plain,
    "first, coin": coin,
    "first, Poisson": poisson,
    "best, geometric": lambda mu, mean: best_of_negative_binomial(mu, mean, 1.0),
    "best, logarithmic": lambda mu, mean: best_of_negative_binomial(mu, mean, 0.0),
    "best, Poisson": best_of_poisson,
}


def log_failure(way: str, mean: float, p: float) -> float:
    """The logarithm of the probability that nothing passes."""
    if way.endswith("Poisson"):
        return -mean * p
    if way.endswith("logarithmic"):
        gamma = gamma_of(mean, 0.0)
        return math.log(math.log1p(-(1 - gamma) * (1 - p)) / math.log(gamma))
    return math.log((1 - p) / mean / (1 / mean + (1 - 1 / mean) * p))


def mean_for(way: str, runs: int, p: float) -> float:
    """The mean with which nothing passes as rarely as in `runs` runs."""
    if way == "all, composed":
        return float(runs)
    wanted = math.log((1 - p) ** runs)
    return math.exp(brentq(lambda x: log_failure(way, math.exp(x), p) - wanted, 1e-6, 300.0, xtol=1e-9))


def show(title: str, rows: list[tuple[str, list[float]]]) -> None:
    print(f"\n{title}\n")
    print("| epsilon of a run, K | " + " | ".join(WAYS) + " |")
    print("|---" * (len(WAYS) + 1) + "|")
    for name, figures in rows:
        print(f"| {name} | " + " | ".join("" if math.isnan(x) else f"{x:.3f}" for x in figures) + " |")


def check(trials: int = 400) -> None:
    """Exact Renyi divergences of random mechanisms with three outcomes, the last of which fails."""
    rng, closest = np.random.default_rng(1), dict.fromkeys((0.0, 1.0, math.inf), math.inf)
    for _ in range(trials):
        laws = rng.dirichlet(np.ones(3) * rng.choice([0.3, 1, 3]), 2)
        mixed = laws[0] + rng.random() * (laws[1] - laws[0])
        pair, mean = (laws[0], mixed), float(rng.choice([1.5, 3.0, 10.0]))
        order, other = float(rng.uniform(1.1, 20)), float(rng.uniform(1, 20))
        for eta in closest:
            out = [released(law, mean, eta) for law in pair]
            both = max(renyi(*out, order), renyi(*reversed(out), order))
            bound = theorem(pair, mean, eta, order, other)
            assert both <= bound + 1e-9, (eta, both, bound)
            closest[eta] = min(closest[eta], bound - both)
    print("No law exceeds its theorem; closest:", {eta: round(gap, 4) for eta, gap in closest.items()})


def released(law: np.ndarray, mean: float, eta: float) -> np.ndarray:
    """The law of the first that passes, or of nothing: f is the probability generating function of the number."""
    p = float(law[:2].sum())
    if math.isinf(eta):
        nothing = math.exp(-mean * p)
    else:
        gamma = gamma_of(mean, eta)
        less = (1 - gamma) * (1 - p)
        nothing = less * gamma / (1 - gamma) / (1 - less) if eta == 1 else math.log1p(-less) / math.log(gamma)
    return np.append(law[:2] * (1 - nothing) / p, nothing)


def renyi(one: np.ndarray, two: np.ndarray, order: float) -> float:
    return math.log(float((one**order * two ** (1 - order)).sum())) / (order - 1)


def theorem(pair: tuple[np.ndarray, np.ndarray], mean: float, eta: float, order: float, other: float) -> float:
    def of_run(a: float) -> float:
        if a <= 1.0001:
            return max(float((one * np.log(one / two)).sum()) for one, two in (pair, pair[::-1]))
        return max(renyi(*pair, a), renyi(*pair[::-1], a))

    if math.isinf(eta):
        growth = 1 + 1 / (order - 1)
        delta = max(float(np.maximum(one - growth * two, 0).sum()) for one, two in (pair, pair[::-1]))
        return of_run(order) + mean * delta + math.log(mean) / (order - 1)
    gamma = gamma_of(mean, eta)
    once = (1 - 1 / other) * of_run(other) - math.log(gamma) / other
    return of_run(order) + (1 + eta) * once + math.log(mean) / (order - 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        check()
        return
    rows, equal = [], []
    for epsilon in (0.3, 1.0, 3.0):
        mu = largest_mu(Budget(epsilon, DELTA))
        for runs in (2, 3, 5, 10, 20):
            rows.append((f"{epsilon:g}, {runs}", [way(mu, runs) for way in WAYS.values()]))
        for runs, p in ((2, 0.5), (2, 0.9), (3, 0.5), (5, 0.2), (5, 0.5), (10, 0.2), (20, 0.1)):
            means = {name: mean_for(name, runs, p) for name in WAYS}
            equal.append((f"{epsilon:g}, {runs}, p {p:g}", [way(mu, means[name]) for name, way in WAYS.items()]))
    show("Equal means: at most K runs on average, or K", rows)
    show("Equal chances: nothing passes as rarely as in K runs, each of which passes with probability p", equal)


if __name__ == "__main__":
    main()
