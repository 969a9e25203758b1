"""Privacy events and the rules that add them up.

An event says what one answer cost, whatever was asked; it is all that a receipt needs to be checked. Each
event knows its cost in three currencies, which are never mixed because each has its own name:

- `mu`: the mechanism is mu-Gaussian differentially private (its trade-off curve lies above that of telling
  N(0, 1) from N(mu, 1)); squares add up.
- `rho`: the mechanism is rho-zero-concentrated differentially private; they add up.
- `pure_epsilon`: the mechanism is (epsilon, 0)-differentially private; they add up.

All three sums hold for mechanisms chosen adaptively, with the noise of each chosen after the earlier answers
(a privacy *filter*): zCDP by Feldman and Zrnic 2021 (arXiv 2008.11193), Gaussian differential privacy by Smith
and Thakurta 2022 (arXiv 2210.17520) and Koskela, Tobaben and Honkela 2022 (arXiv 2209.15596), pure epsilon by
Rogers, Roth, Ullman and Vadhan 2016. Privacy-loss distributions are tighter for mixtures but hold only for a
*plan*, whose noise is all fixed before the first answer.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from scipy.optimize import brentq, minimize_scalar
from scipy.special import erfinv, log_ndtr, ndtri_exp

from counterfoil.curator.budget import Budget

# Held back from every budget, for what is proved up to a negligible error rather than exactly: discrete
# Gaussian noise is a post-processing of continuous Gaussian noise up to a factor exp(2.4e-19) a cell, and the
# table sampler is within 2**-199 of the exact distribution a draw (see noise.py and discrete_sampler.py).
EPSILON_SLACK = 1e-9
DELTA_SLACK = 2.0**-20

# Privacy-loss distributions are convolved by fast Fourier transforms, whose rounding is not part of their pessimism:
# it was seen to hide up to 0.1 * 2**-52 of delta an event (10,000 Gaussian events against their exact curve).
_TRANSFORM_ERROR = 2.0**-50


class PrivacyEvent(Protocol):
    """The cost of one answer, in each currency (infinite where the mechanism has none)."""

    kind: ClassVar[str]

    @property
    def mu(self) -> float: ...
    @property
    def rho(self) -> float: ...
    @property
    def pure_epsilon(self) -> float: ...
    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class GaussianEvent:
    """Gaussian noise of standard deviation `noise_multiplier` times the l2 sensitivity."""

    kind: ClassVar[str] = "gaussian"
    noise_multiplier: float

    def __post_init__(self) -> None:
        _require_positive(noise_multiplier=self.noise_multiplier)

    @property
    def mu(self) -> float:
        """Exactly 1 / noise_multiplier (Dong, Roth and Su 2022, Theorem 1)."""
        return 1 / self.noise_multiplier

    @property
    def rho(self) -> float:
        """Exactly 1 / (2 noise_multiplier**2) (Bun and Steinke 2016, Proposition 1.6)."""
        return 0.5 * self.mu * self.mu

    @property
    def pure_epsilon(self) -> float:
        return math.inf

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "noise_multiplier": self.noise_multiplier}


@dataclass(frozen=True)
class PureEvent:
    """Any (epsilon, 0)-differentially private mechanism, Laplace noise for one."""

    kind: ClassVar[str] = "pure"
    epsilon: float

    def __post_init__(self) -> None:
        _require_positive(epsilon=self.epsilon)

    @property
    def mu(self) -> float:
        """2 Phi^-1(e^epsilon / (1 + e^epsilon)): randomized response is the worst pure mechanism.

        Its trade-off curve is two segments that meet where both errors are 1 / (1 + e^epsilon); the convex
        Gaussian curve through that point lies below both.
        """
        return _symmetric_mu(self.epsilon)

    @property
    def rho(self) -> float:
        """epsilon**2 / 2 (Bun and Steinke 2016, Proposition 1.4)."""
        return self.epsilon**2 / 2

    @property
    def pure_epsilon(self) -> float:
        return self.epsilon

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "epsilon": self.epsilon}


@dataclass(frozen=True)
class BoundedRangeEvent:
    """An epsilon-bounded-range mechanism: the exponential mechanism, or noisy max with Gumbel noise.

    For each pair of neighbors the privacy loss lies in some interval [t - epsilon, t] (Durfee and Rogers 2019).
    """

    kind: ClassVar[str] = "bounded_range"
    epsilon: float

    def __post_init__(self) -> None:
        _require_positive(epsilon=self.epsilon)

    @property
    def mu(self) -> float:
        """2 Phi^-1(e^(epsilon/2) / (1 + e^(epsilon/2))).

        The worst mechanism with losses in [t - epsilon, t] has two outcomes, with probabilities p and q of the
        first such that logit p - logit q = epsilon, and is mu-Gaussian for mu = Phi^-1(p) - Phi^-1(q), that is,
        the integral of d Phi^-1(logistic(x)) / dx over an interval of length epsilon. That derivative is even
        and falls with abs(x), so the interval around 0, t = epsilon / 2, is the worst.
        """
        return _symmetric_mu(self.epsilon / 2)

    @property
    def rho(self) -> float:
        """epsilon**2 / 8 (Cesar and Rogers 2021, Theorem 3)."""
        return self.epsilon**2 / 8

    @property
    def pure_epsilon(self) -> float:
        return self.epsilon

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "epsilon": self.epsilon}


@dataclass(frozen=True)
class ApproximateEvent:
    """Any (epsilon, delta)-differentially private mechanism, known by these two numbers alone.

    It has none of the three currencies, and composes in a plan only: telling apart four outcomes is the worst such
    mechanism, of which every other one is a post-processing (Kairouz, Oh and Viswanath 2015, Theorem 3.1).
    """

    kind: ClassVar[str] = "approximate"
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        _require_positive(epsilon=self.epsilon, delta=self.delta)
        if self.delta >= 1:
            raise ValueError(f"`delta` must be below 1. Found {self.delta!r}.")

    @property
    def mu(self) -> float:
        return math.inf

    @property
    def rho(self) -> float:
        return math.inf

    @property
    def pure_epsilon(self) -> float:
        return math.inf

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "epsilon": self.epsilon, "delta": self.delta}


def bounded_range_of_mu(mu: float) -> float:
    """The epsilon of the bounded-range event that costs `mu`: the inverse of `BoundedRangeEvent.mu`."""
    _require_positive(mu=mu)
    return float(2 * (log_ndtr(mu / 2) - log_ndtr(-mu / 2))) * (1 - 1e-12)


_EVENTS = {event.kind: event for event in (GaussianEvent, PureEvent, BoundedRangeEvent, ApproximateEvent)}


def event_from_json(record: dict[str, Any]) -> PrivacyEvent:
    """The event that `to_json` wrote.

    Raises:
        ValueError: for a record of another shape, or with a parameter that is not positive.
    """
    parameters = dict(record)
    kind = parameters.pop("kind", None)
    if kind not in _EVENTS:
        raise ValueError(f"A privacy event must be one of {', '.join(_EVENTS)}. Found {kind!r}.")
    try:
        return _EVENTS[kind](**parameters)
    except TypeError as error:
        raise ValueError(f"A privacy event of kind {kind!r} has the wrong parameters: {parameters}.") from error


def _require_positive(**parameters: float) -> None:
    for name, value in parameters.items():
        if not (isinstance(value, (int, float)) and 0 < value < math.inf):
            raise ValueError(f"`{name}` must be positive and finite. Found {value!r}.")


def _symmetric_mu(epsilon: float) -> float:
    # 2 Phi^-1(logistic(epsilon)), in the form that keeps its digits: logistic near 1/2 first, then near 1.
    if epsilon < 1:
        return float(2 * math.sqrt(2) * erfinv(math.tanh(epsilon / 2)))
    # The logarithm is what is given: far in the tail the number itself is zero.
    return float(-2 * ndtri_exp(-epsilon - math.log1p(math.exp(-epsilon))))


class Composition(Protocol):
    """A rule that turns events into one (epsilon, delta)."""

    name: ClassVar[str]

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """The smallest epsilon, rounded up, such that all `events` together are (epsilon, delta)-private."""
        ...

    def affords(self, budget: Budget, events: Sequence[PrivacyEvent]) -> bool:
        """Whether `budget` covers all `events` together."""
        ...


class Filter(Composition, Protocol):
    """A composition in which costs add up even where each noise is chosen after the earlier answers."""

    unit: ClassVar[str]

    def capacity(self, budget: Budget) -> float:
        """The largest sum of costs that `budget` admits."""
        ...

    def cost(self, event: PrivacyEvent) -> float:
        """What `event` takes of the capacity."""
        ...


class _AdditiveFilter(ABC):
    """What the filters share: costs are summed exactly and compared with the capacity."""

    @abstractmethod
    def capacity(self, budget: Budget) -> float: ...
    @abstractmethod
    def cost(self, event: PrivacyEvent) -> float: ...

    def affords(self, budget: Budget, events: Sequence[PrivacyEvent]) -> bool:
        return math.fsum(self.cost(event) for event in events) <= self.capacity(budget)


class GaussianFilter(_AdditiveFilter):
    """mu**2 adds up; the sum has the exact trade-off curve of one Gaussian mechanism."""

    name: ClassVar[str] = "gaussian"
    unit: ClassVar[str] = "mu_squared"

    def capacity(self, budget: Budget) -> float:
        mu = largest_mu(_usable(budget, self.name))
        return mu * mu

    def cost(self, event: PrivacyEvent) -> float:
        return event.mu * event.mu

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        mu = math.sqrt(math.fsum(self.cost(event) for event in events))
        return _with_slack(gaussian_epsilon, mu, delta)


class ConcentratedFilter(_AdditiveFilter):
    """rho adds up; the sum is converted by Canonne, Kamath and Steinke 2020, Proposition 12."""

    name: ClassVar[str] = "zcdp"
    unit: ClassVar[str] = "rho"

    def capacity(self, budget: Budget) -> float:
        return largest_rho(_usable(budget, self.name))

    def cost(self, event: PrivacyEvent) -> float:
        return event.rho

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        return _with_slack(concentrated_epsilon, math.fsum(self.cost(event) for event in events), delta)


class PureFilter(_AdditiveFilter):
    """Epsilons add up; delta stays 0."""

    name: ClassVar[str] = "pure"
    unit: ClassVar[str] = "epsilon"

    def capacity(self, budget: Budget) -> float:
        return budget.epsilon

    def cost(self, event: PrivacyEvent) -> float:
        return event.pure_epsilon

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        return math.fsum(self.cost(event) for event in events)


class PrivacyLossPlan:
    """Privacy-loss distributions convolved by dp-accounting: tight for mixtures, valid for a plan only.

    A pure event is composed as randomized response, which discrete Laplace noise of sensitivity 1 is exactly. A
    bounded-range event is composed as randomized response too, at its full epsilon, which is valid and loose. An
    approximate event is composed as the worst mechanism with its epsilon and delta.
    """

    name: ClassVar[str] = "privacy_loss_distribution"

    def affords(self, budget: Budget, events: Sequence[PrivacyEvent]) -> bool:
        return self.epsilon(events, budget.delta) <= budget.epsilon

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        if not events:
            return 0.0
        usable = delta * (1 - DELTA_SLACK) - _TRANSFORM_ERROR * len(events)
        if usable <= 0:
            return math.inf
        parts = [_privacy_loss(event).self_compose(count) for event, count in Counter(events).items()]
        total = functools.reduce(lambda one, other: one.compose(other), parts)
        return float(total.get_epsilon_for_delta(usable)) + EPSILON_SLACK


def _privacy_loss(event: PrivacyEvent) -> Any:
    """The privacy-loss distribution of one event, discretized upwards."""
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    if isinstance(event, GaussianEvent):
        return pld.from_gaussian_mechanism(event.noise_multiplier)
    if isinstance(event, ApproximateEvent):
        return pld.from_privacy_parameters(common.DifferentialPrivacyParameters(event.epsilon, event.delta))
    return pld.from_randomized_response(2 / (1 + math.exp(event.pure_epsilon)), 2)


COMPOSITIONS: dict[str, Composition] = {
    rule.name: rule for rule in (GaussianFilter(), ConcentratedFilter(), PureFilter(), PrivacyLossPlan())
}


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The exact delta of a mu-Gaussian mechanism, rounded up: Phi(-eps/mu + mu/2) - e^eps Phi(-eps/mu - mu/2).

    Source: Balle and Wang 2018, Theorem 8; evaluated through logarithms so that small values keep their digits.
    """
    if mu == 0:
        return 0.0
    first = float(log_ndtr(-epsilon / mu + mu / 2))
    second = epsilon + float(log_ndtr(-epsilon / mu - mu / 2))
    # The two differ by little when mu is small: what rounding may have hidden is added. Each logarithm and the
    # argument that it was given are good to a few units in the last place; 2**-49 stands for 16 of them.
    hidden = 2.0**-49 * (1 + abs(first) + abs(second - epsilon) + epsilon)
    return math.exp(first) * (hidden - math.expm1(min(second - first, 0.0)))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon of a mu-Gaussian mechanism at `delta`, rounded up."""
    return _smallest_epsilon(lambda epsilon: gaussian_delta(epsilon, mu), delta)


def largest_mu(budget: Budget) -> float:
    """The largest mu whose exact delta at `budget.epsilon` is `budget.delta`, rounded down."""
    return _largest(lambda mu: gaussian_delta(budget.epsilon, mu), budget.delta)


def concentrated_delta(epsilon: float, rho: float) -> float:
    """delta of rho-zCDP: the least exp((a-1)(a rho - eps)) / (a-1) (1 - 1/a)^a over a > 1.

    Source: Canonne, Kamath and Steinke 2020, Proposition 12. Any a gives a valid bound, so that an inexact
    minimum errs towards privacy.
    """
    if rho == 0:
        return 0.0

    def log_bound(log_excess: float) -> float:
        excess = math.exp(log_excess)
        order = 1 + excess
        return excess * (order * rho - epsilon) + order * (log_excess - math.log1p(excess)) - log_excess

    # The bound is smooth with one minimum near a = (1 + eps / rho) / 2, well inside these limits.
    center = math.log(max((epsilon / rho - 1) / 2, 1e-3))
    bounds = (min(center, 0.0) - 12, max(center, 0.0) + 6)
    found = minimize_scalar(log_bound, bounds=bounds, method="bounded", options={"xatol": 1e-10})
    return math.exp(min(float(found.fun), 0.0)) * (1 + 1e-12)


def concentrated_epsilon(rho: float, delta: float) -> float:
    """The smallest epsilon of rho-zCDP at `delta`, rounded up."""
    return _smallest_epsilon(lambda epsilon: concentrated_delta(epsilon, rho), delta)


def largest_rho(budget: Budget) -> float:
    """The largest rho that is (epsilon, delta)-private for `budget`, rounded down."""
    return _largest(lambda rho: concentrated_delta(budget.epsilon, rho), budget.delta)


def _largest(delta_of: Callable[[float], float], delta: float) -> float:
    """The largest cost with `delta_of(cost) <= delta`, for a rising function; rounded down, and checked."""
    low = high = 1.0
    while delta_of(high) < delta:
        high *= 2
    while delta_of(low) > delta:
        low /= 2
    # In the logarithm, so that the precision is relative however small the cost is.
    root = math.exp(brentq(lambda x: _log(delta_of(math.exp(x)) / delta), math.log(low), math.log(high), xtol=1e-12))
    while delta_of(root) > delta:
        root *= 1 - 1e-9
    return root * (1 - 1e-9)


def _smallest_epsilon(delta_of: Callable[[float], float], delta: float) -> float:
    """The smallest epsilon with `delta_of(epsilon) <= delta`, for a falling function; rounded up, and checked."""
    if delta_of(0.0) <= delta:
        return 0.0
    low = high = 1.0
    while delta_of(high) > delta:
        high *= 2
    while delta_of(low) < delta and low > 1e-300:
        low /= 2
    root = math.exp(brentq(lambda x: _log(delta_of(math.exp(x)) / delta), math.log(low), math.log(high), xtol=1e-12))
    while delta_of(root) > delta:
        root *= 1 + 1e-11
    return root


def _usable(budget: Budget, rule: str) -> Budget:
    if budget.delta == 0:
        raise ValueError(
            f"`delta` must be positive for noise composed as {rule!r}. Found 0: give a delta, such as 1e-9, "
            "or choose a method with pure privacy."
        )
    if budget.epsilon <= 2 * EPSILON_SLACK:
        raise ValueError(f"`epsilon` must be above {2 * EPSILON_SLACK}. Found {budget.epsilon}.")
    return Budget(budget.epsilon - EPSILON_SLACK, budget.delta * (1 - DELTA_SLACK))


def _with_slack(epsilon_of: Callable[[float, float], float], cost: float, delta: float) -> float:
    if cost == 0:
        return 0.0
    if not (0 < delta < 1 and math.isfinite(cost)):
        return math.inf
    return epsilon_of(cost, delta * (1 - DELTA_SLACK)) + EPSILON_SLACK


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
