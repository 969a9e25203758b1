"""Runs that are repeated until one passes: what the first run that passes costs, or that none did.

A *run* is a mechanism A whose whole output, a mark "pass" or "fail" included, is private by itself: the noisy answers
that it is judged by are among its charges. It is repeated, with fresh noise, as follows:

1. Run A. If its output passes, release that output and end.
2. Otherwise forget it. With probability 1/K, by a coin that nobody sees, release the word "withheld" and end.
3. Go to 1.

Whether nothing ever passes or everything does, K runs are made on average at most, and at least one. How many were made
is not released.

Formal guarantee: let A be (epsilon, delta)-private between two tables D and D', and let p and p' be the probabilities
that a run of it passes. With c = 1 - 1/K and g(p) = 1 / (1/K + c p), an output y that passes is released from D with
probability

    sum over j >= 0 of (c (1 - p))**j A(y) = A(y) / (1 - c (1 - p)) = A(y) g(p),

as each of j failures went on with probability c, and "withheld" likewise with probability (1 - p) g(p) / K. Let E be
a set of outcomes, and h(y) the number that is 1 for the passing y in E, 0 for the other passing y, and, for the
failing y, 1/K where "withheld" is in E and 0 where it is not. Then E is released with probability g(p) A(h), A(h)
being the mean of h. As h lies in [0, 1], A(h) <= e**epsilon A'(h) + delta, hence

    P(E) <= e**epsilon g(p) A'(h) + g(p) delta <= e**(epsilon + L) P'(E) + K delta,    L = log sup g(p) / g(p'),

the supremum being over the p and p' that the run's privacy admits, because g <= K. The whole is
(epsilon + L, K delta)-private: what is proved of a run at delta/K holds at delta, plus L. Nothing of this needs the
output to be a table, or the pass to be decided by a score. L is at most the pure epsilon of a run, whatever K is, so
that repeats that cost twice as much stand at the end (Liu and Talwar 2019, Theorem 3.1, has that case); for Gaussian
noise it is about a fifth of it where K = 20.

How the alternatives compare is computed by `benchmarks/acceptance.py`: K runs of which all are released cost more for
each K and each epsilon, and the bounds for random numbers of repeats whose best output is released (Papernot and
Steinke 2022, Theorems 2 and 6), which hold for any score, cost more than this one, which is for pass or fail.

Not covered: how long it takes. Who sees when a run begins and when its release appears can guess the number of runs.
"""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfoil.accounting.budget import EPSILON_SLACK, Budget
from counterfoil.accounting.curve import concentrated_delta
from counterfoil.accounting.event import PrivacyEvent
from counterfoil.accounting.filter import ConcentratedFilter, Filter, GaussianFilter, PureFilter
from counterfoil.accounting.roots import brentq

MOST_ATTEMPTS = 1000
"""Beyond it the share of delta that each run gets says more about the tails of noise than anyone needs."""

_MARK = "-repeated-"
_UP = 1 + 1e-9  # what rounding may hide in a ratio of probabilities, thousands of times over


@dataclass(frozen=True)
class RepeatedFilter(Filter):
    """The costs of one run add up as under `base`; the guarantee is that of all runs together (see the module).

    Its capacity is what one run may cost, so that charges of the run that was released are checked against it, and its
    epsilon is that of the whole: a receipt whose rule this is states nothing smaller.

    Args:
        attempts: K, the most runs on average, from 2 to 1,000. It must not depend on the records.

    Raises:
        ValueError: for another number.
    """

    attempts: int
    base: ClassVar[Filter]

    def __post_init__(self) -> None:
        require_attempts(self.attempts)
        if self.attempts == 1:
            raise ValueError("A run that is made once is composed by its own rule. Found 1 attempt: use that rule.")

    @abstractmethod
    def _log_ratio(self, cost: float) -> float:
        """L of the module for runs of that cost: at least log g(p) / g(p')."""

    @property
    def name(self) -> str:
        return f"{self.base.name}{_MARK}{self.attempts}"

    def cost(self, event: PrivacyEvent) -> float:
        return self.base.cost(event)

    def event(self, cost: float) -> PrivacyEvent:
        return self.base.event(cost)

    def delta(self, budget: Budget) -> float:
        return self.base.delta(budget)

    def capacity(self, budget: Budget) -> float:
        return _capacity(self, budget)

    def epsilon_of(self, cost: float, delta: float) -> float:
        if cost == 0:
            return 0.0
        once = self.base.epsilon_of(cost, delta / self.attempts)
        if not math.isfinite(once):
            return math.inf
        # Discrete noise moves the logarithms of p and p' by less than EPSILON_SLACK each (see `accounting.budget`).
        return (once + self._log_ratio(cost)) * (1 + 1e-12) + 2 * EPSILON_SLACK

    def epsilon_within(self, budget: Budget, factor: float) -> float:
        return self.epsilon_of(self.capacity(budget) * factor**self.base.growth, self.delta(budget))


class RepeatedGaussian(RepeatedFilter):
    """Runs whose mu**2 add up. p' is at most Phi(Phi^-1(p) + mu): the trade-off curve of a mu-Gaussian mechanism."""

    base: ClassVar[Filter] = GaussianFilter()
    unit: ClassVar[str] = GaussianFilter.unit

    def _log_ratio(self, cost: float) -> float:
        return _gaussian_log_ratio(math.sqrt(cost) * (1 + 1e-12), self.attempts)


class RepeatedConcentrated(RepeatedFilter):
    """Runs whose rho add up. p' is at most e**e p + d for each (e, d) that rho-zCDP gives.

    Pinsker's inequality gives one at e = 0: rho bounds the Kullback-Leibler divergence, so that d = sqrt(rho / 2).
    """

    base: ClassVar[Filter] = ConcentratedFilter()
    unit: ClassVar[str] = ConcentratedFilter.unit

    def _log_ratio(self, cost: float) -> float:
        lines = [(0.0, math.sqrt(cost / 2))]
        lines += [(share * math.sqrt(cost), concentrated_delta(share * math.sqrt(cost), cost)) for share in _SHARES]
        return min(_line_log_ratio(epsilon, min(delta, 1.0), self.attempts) for epsilon, delta in lines)


class RepeatedPure(RepeatedFilter, PureFilter):  # type: ignore[misc, override]  # its name depends on K
    """Runs whose epsilons add up. p' is at most e**epsilon p, and 1 - p' at least e**-epsilon (1 - p).

    It is a `PureFilter` too, by which methods know that their noise must be pure.
    """

    base: ClassVar[Filter] = PureFilter()

    def _log_ratio(self, cost: float) -> float:
        return _line_log_ratio(cost, 0.0, self.attempts)


_LEAST_SHARE = 1e-3  # of what one run alone could cost; as L is at most its pure epsilon, it never gets near
_SHARES = tuple(0.25 * step for step in range(1, 25))
_REPEATED = (RepeatedGaussian, RepeatedConcentrated, RepeatedPure)


def repeated(rule: Filter, attempts: int) -> Filter:
    """How costs add up where runs under `rule` are repeated until one passes; `rule` itself for one attempt.

    Args:
        rule: of one run.
        attempts: K, at least 1.

    Raises:
        ValueError: for another number of attempts, or a rule of which no repeats are proved.
    """
    require_attempts(attempts)
    if attempts == 1:
        return rule
    for kind in _REPEATED:
        if type(rule) is type(kind.base):
            return kind(attempts)
    raise ValueError(
        f"Runs can be repeated under the rules gaussian, zcdp and pure. Found {rule.name!r}: attempt once."
    )


def repeated_named(name: str) -> RepeatedFilter:
    """The rule of that name, such as "gaussian-repeated-5".

    Raises:
        ValueError: for any other name.
    """
    base, _, attempts = str(name).partition(_MARK)
    for kind in _REPEATED:
        digits = attempts.isascii() and attempts.isdigit() and len(attempts) <= len(str(MOST_ATTEMPTS))
        if kind.base.name == base and digits and str(int(attempts)) == attempts:
            return kind(int(attempts))
    raise ValueError(f"A rule of repeated runs is called like 'gaussian{_MARK}5'. Found {name!r}.")


def require_attempts(attempts: int) -> None:
    """Checks a number of attempts.

    Raises:
        ValueError: unless it is a whole number from 1 to 1,000.
    """
    whole = isinstance(attempts, int) and not isinstance(attempts, bool)
    if not whole or not 1 <= attempts <= MOST_ATTEMPTS:
        raise ValueError(f"`attempts` must be a whole number from 1 to {MOST_ATTEMPTS:,}. Found {attempts!r}.")


@functools.lru_cache(maxsize=256)
def _capacity(rule: RepeatedFilter, budget: Budget) -> float:
    """The largest cost of a run whose repeats `budget` admits, rounded down."""
    delta, most = rule.delta(budget), rule.base.capacity(budget)

    def beyond(share: float) -> float:
        return rule.epsilon_of(most * share, delta) - budget.epsilon

    if beyond(_LEAST_SHARE) > 0:
        raise ValueError(
            f"`epsilon` must be larger for {rule.attempts} attempts. Found {budget.epsilon:g}: raise it, or allow "
            "fewer."
        )
    share, less = brentq(beyond, _LEAST_SHARE, 1.0, xtol=1e-11), 1e-11
    while beyond(share) > 0:
        share, less = share * (1 - less), 2 * less
    return most * share


def _line_log_ratio(epsilon: float, delta: float, attempts: int) -> float:
    """The largest log (1/K + c p') / (1/K + c p) with p' <= e**epsilon p + delta and the same of 1 - p and 1 - p'.

    The largest p' is a concave function of p of two straight parts, which meet at p = (1 - delta) / (1 + e**epsilon),
    p' = (e**epsilon + delta) / (1 + e**epsilon). On each the ratio is monotone, and on the second, whose slope is at
    most 1, it falls: it is largest at p = 0, where p' = delta, or where the parts meet.
    """
    stop = 1 / attempts
    less = math.exp(-epsilon)  # of e**epsilon, which may overflow
    more, fewer = (1 + delta * less) / (1 + less), (1 - delta) * less / (1 + less)
    ends = ((delta, 0.0), (more, fewer))
    return math.log(max((stop + (1 - stop) * there) / (stop + (1 - stop) * here) for there, here in ends) * _UP)


@functools.lru_cache(maxsize=4096)
def _gaussian_log_ratio(mu: float, attempts: int) -> float:
    """The largest log (1/K + c Phi(x + mu)) / (1/K + c Phi(x)) over all x, bounded from above by branch and bound.

    Both probabilities rise with x, so that between x_1 and x_2 the ratio is at most the one with x_2 above and x_1
    below. Parts whose bound is not above a value that is attained are dropped, and the others halved.
    """
    from scipy.special import ndtr

    stop = 1 / attempts
    ends = np.concatenate(([-math.inf], np.linspace(-10 - mu, 10, 256), [math.inf]))
    low, high, best = ends[:-1], ends[1:], 1.0
    for _ in range(24):
        bound = (stop + (1 - stop) * ndtr(high + mu)) / (stop + (1 - stop) * ndtr(low))
        best = max(best, float(((stop + (1 - stop) * ndtr(high + mu)) / (stop + (1 - stop) * ndtr(high))).max()))
        if bound.max() <= best * (1 + 1e-7):
            break
        left = (bound > best) & np.isfinite(low) & np.isfinite(high)
        ended = (bound > best) & ~left  # the two unbounded parts, which are not halved
        middle = (low[left] + high[left]) / 2
        low, high = np.concatenate((low[left], middle, low[ended])), np.concatenate((middle, high[left], high[ended]))
    return math.log(max(float(bound.max()), best) * _UP)
