"""From a sum of costs to epsilon at a delta and back, rounded towards privacy.

One curve for each currency that has a delta: the exact one of Gaussian differential privacy, and the bound of
zero-concentrated differential privacy. A figure is searched for with floats and then certified by an upper bound of
the same delta that holds whatever rounding does, so that nothing rests on how well `scipy` computes a logarithm.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from decimal import Decimal

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve_bounds import concentrated_delta_bound, gaussian_delta_bound
from counterfoil.accounting.roots import brentq


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The exact delta of a mu-Gaussian mechanism, rounded up: Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2).

    Source: Balle and Wang 2018, Theorem 8; evaluated through logarithms so that small values keep their digits. What
    is added for rounding supposes logarithms that are good to 2**-51, as scipy's were seen to be:
    `gaussian_delta_bound` supposes nothing.
    """
    from scipy.special import log_ndtr

    if mu == 0:
        return 0.0
    first = float(log_ndtr(-epsilon / mu + mu / 2))
    second = epsilon + float(log_ndtr(-epsilon / mu - mu / 2))
    # The two differ by little when mu is small: what rounding may have hidden is added. Each logarithm and the
    # argument that it was given are good to a few units in the last place; 2**-49 stands for 16 of them.
    hidden = 2.0**-49 * (1 + abs(first) + abs(second - epsilon) + epsilon)
    return math.exp(first) * (hidden - math.expm1(min(second - first, 0.0)))


@functools.lru_cache(maxsize=1024)
def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon of a mu-Gaussian mechanism at `delta`, rounded up."""
    return _smallest_epsilon(
        lambda epsilon: gaussian_delta(epsilon, mu), lambda epsilon: gaussian_delta_bound(epsilon, mu), delta
    )


@functools.lru_cache(maxsize=1024)
def largest_mu(budget: Budget) -> float:
    """The largest mu whose exact delta at `budget.epsilon` is `budget.delta`, rounded down."""
    return _largest(
        lambda mu: gaussian_delta(budget.epsilon, mu), lambda mu: gaussian_delta_bound(budget.epsilon, mu), budget.delta
    )


def concentrated_delta(epsilon: float, rho: float) -> float:
    """delta of rho-zCDP: the least exp((a-1)(a rho - eps)) / (a-1) (1 - 1/a)^a over a > 1.

    Source: Canonne, Kamath and Steinke 2020, Proposition 12. Any a gives a valid bound, so that an inexact
    minimum errs towards privacy.
    """
    if rho == 0:
        return 0.0
    return math.exp(min(_best_order(epsilon, rho)[1], 0.0)) * (1 + 1e-12)


def _best_order(epsilon: float, rho: float) -> tuple[float, float]:
    """log(a - 1) of the best order a, and the logarithm of its bound."""
    from scipy.optimize import minimize_scalar

    def log_bound(log_excess: float) -> float:
        excess = math.exp(log_excess)
        order = 1 + excess
        return excess * (order * rho - epsilon) + order * (log_excess - math.log1p(excess)) - log_excess

    # The bound is smooth with one minimum near a = (1 + eps / rho) / 2, well inside these limits.
    center = math.log(max((epsilon / rho - 1) / 2, 1e-3))
    bounds = (min(center, 0.0) - 12, max(center, 0.0) + 6)
    best = minimize_scalar(log_bound, bounds=bounds, method="bounded", options={"xatol": 1e-10})
    return float(best.x), float(best.fun)


def _concentrated_bound(epsilon: float, rho: float) -> Decimal:
    return concentrated_delta_bound(epsilon, rho, math.exp(_best_order(epsilon, rho)[0]))


@functools.lru_cache(maxsize=1024)
def concentrated_epsilon(rho: float, delta: float) -> float:
    """The smallest epsilon of rho-zCDP at `delta`, rounded up."""
    return _smallest_epsilon(
        lambda epsilon: concentrated_delta(epsilon, rho), lambda epsilon: _concentrated_bound(epsilon, rho), delta
    )


@functools.lru_cache(maxsize=1024)
def largest_rho(budget: Budget) -> float:
    """The largest rho that is (epsilon, delta)-private for `budget`, rounded down."""
    return _largest(
        lambda rho: concentrated_delta(budget.epsilon, rho),
        lambda rho: _concentrated_bound(budget.epsilon, rho),
        budget.delta,
    )


def _largest(delta_of: Callable[[float], float], bound_of: Callable[[float], Decimal], delta: float) -> float:
    """The largest cost with `delta_of(cost) <= delta`, for a rising function; rounded down, and certified."""
    low = high = 1.0
    while delta_of(high) < delta:
        high *= 2
    while delta_of(low) > delta:
        low /= 2
    # In the logarithm, so that the precision is relative however small the cost is.
    root = math.exp(brentq(lambda x: _log(delta_of(math.exp(x)) / delta), math.log(low), math.log(high), xtol=1e-12))
    while delta_of(root) > delta:
        root *= 1 - 1e-9
    return certified(root * (1 - 1e-9), -1e-9, bound_of, delta)


def _smallest_epsilon(delta_of: Callable[[float], float], bound_of: Callable[[float], Decimal], delta: float) -> float:
    """The smallest epsilon with `delta_of(epsilon) <= delta`, for a falling function; rounded up, and certified."""
    if delta_of(0.0) <= delta:
        return 0.0 if bound_of(0.0) <= delta else certified(1e-15, 1.0, bound_of, delta)
    low = high = 1.0
    while delta_of(high) > delta:
        high *= 2
    while delta_of(low) < delta and low > 1e-300:
        low /= 2
    root = math.exp(brentq(lambda x: _log(delta_of(math.exp(x)) / delta), math.log(low), math.log(high), xtol=1e-12))
    while delta_of(root) > delta:
        root *= 1 + 1e-11
    return certified(root, 1e-11, bound_of, delta)


def certified(root: float, change: float, bound_of: Callable[[float], Decimal], delta: float) -> float:
    """`root`, moved towards privacy until its bound proves it; where floats are as exact as expected, it stays."""
    while bound_of(root) > delta:
        root *= 1 + change
        change = max(2 * change, -0.5)
    return root


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
