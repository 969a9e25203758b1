"""Privacy events: what one answer cost, whatever the query was. A receipt needs nothing else to be checked.

Each event knows its cost in three currencies, which are never mixed because each has its own name:

- `mu`: the mechanism is mu-Gaussian differentially private (its trade-off curve lies above that of distinguishing
  N(0, 1) from N(mu, 1)); squares add up.
- `rho`: the mechanism is rho-zero-concentrated differentially private; they add up.
- `pure_epsilon`: the mechanism is (epsilon, 0)-differentially private; they add up.
"""

from __future__ import annotations

import functools
import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from counterfoil.accounting.curve_bounds import is_above_response


@dataclass(frozen=True)
class PrivacyEvent:
    """The cost of one answer, in each currency: infinite where the mechanism has none.

    Raises:
        ValueError: for a parameter that is not positive and finite.
    """

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        _require_positive(**vars(self))

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
        """The kind and the parameters, as `event_from_json` reads them."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class GaussianEvent(PrivacyEvent):
    """Gaussian noise of standard deviation `noise_multiplier` times the l2 sensitivity."""

    kind: ClassVar[str] = "gaussian"
    noise_multiplier: float

    @property
    def mu(self) -> float:
        """Exactly 1 / noise_multiplier (Dong, Roth and Su 2022, Theorem 1)."""
        return 1 / self.noise_multiplier

    @property
    def rho(self) -> float:
        """Exactly 1 / (2 noise_multiplier**2) (Bun and Steinke 2016, Proposition 1.6)."""
        return 0.5 * self.mu * self.mu


@dataclass(frozen=True)
class PureEvent(PrivacyEvent):
    """Any (epsilon, 0)-differentially private mechanism, Laplace noise for one."""

    kind: ClassVar[str] = "pure"
    epsilon: float

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


@dataclass(frozen=True)
class BoundedRangeEvent(PrivacyEvent):
    """An epsilon-bounded-range mechanism: the exponential mechanism, or noisy max with Gumbel noise.

    For each pair of neighbors the privacy loss lies in some interval [t - epsilon, t] (Durfee and Rogers 2019).
    """

    kind: ClassVar[str] = "bounded_range"
    epsilon: float

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


@dataclass(frozen=True)
class ApproximateEvent(PrivacyEvent):
    """Any (epsilon, delta)-differentially private mechanism, known by these two numbers alone.

    It has none of the three currencies, and composes in a plan only. It is composed as the worst such mechanism, which
    has four outcomes and of which every other one is a post-processing (Kairouz, Oh and Viswanath 2015, Theorem 3.1).
    """

    kind: ClassVar[str] = "approximate"
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta >= 1:
            raise ValueError(f"`delta` must be below 1. Found {self.delta!r}.")


@dataclass(frozen=True)
class ApproximateGaussianEvent(PrivacyEvent):
    """Gaussian noise of standard deviation `noise_multiplier` times the l2 sensitivity, but for probability `delta`.

    Each of two neighbors' laws is a mixture: with probability `delta`, which is drawn by itself, anything may be
    released, and otherwise laws are distinguished no better than a Gaussian mechanism's. It has none of the three
    currencies, and composes in a plan only, as a Gaussian event beside one that reveals everything with probability
    `delta`: both mixtures are made from the answers of these two.

    Raises:
        ValueError: for a delta of 1 or more.
    """

    kind: ClassVar[str] = "approximate_gaussian"
    noise_multiplier: float
    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta >= 1:
            raise ValueError(f"`delta` must be below 1. Found {self.delta!r}.")


@dataclass(frozen=True)
class SubsampledGaussianEvent(PrivacyEvent):
    """A whole run of `steps` noisy sums over random batches, all of it fixed before the first batch is drawn.

    Each step draws n'_j of the n_j records of each public group j without replacement, by itself, and adds Gaussian
    noise of standard deviation `noise_multiplier` times the l2 sensitivity of the batch's sum to the replacement of
    one record of the batch. `PrivacyLossPlan` counts what not knowing the batch hides;
    `counterfoil.accounting.subsampling` has the proof, and holds for replaced records alone, as the sizes of the
    groups must be the same in both tables. The run has no pure epsilon.

    Args:
        noise_multiplier: standard deviation of the noise of one step, in units of that sensitivity.
        sampling_probability: at least n'_j / n_j for each group, at most 1.
        steps: how many steps, at most 2**53.

    Raises:
        ValueError: for a parameter out of its range, or a number of steps that is no whole number.
    """

    kind: ClassVar[str] = "subsampled_gaussian"
    noise_multiplier: float
    sampling_probability: float
    steps: int

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool):
                raise ValueError(f"`{name}` must be a number. Found {value!r}.")
        super().__post_init__()
        if self.sampling_probability > 1:
            raise ValueError(f"`sampling_probability` must be at most 1. Found {self.sampling_probability!r}.")
        if not (isinstance(self.steps, int) and self.steps <= 2**53):
            raise ValueError(f"`steps` must be a whole number, at most 2**53. Found {self.steps!r}.")

    @property
    def mu(self) -> float:
        """sqrt(steps) / noise_multiplier: no larger for the sampling, and no smaller either.

        Formal guarantee: of two tables that differ in one record, couple the batches of a step so that either both
        are the same records or they differ in that one (`counterfoil.accounting.subsampling`). Whoever knows which
        of the two it was, and the other records of the batch, sees the same law twice or two Gaussians at most
        1 / noise_multiplier apart, whose trade-off curve is above that of a Gaussian mechanism in either case, and so
        is that of whoever knows neither, by post-processing. Squares add up over the steps. No smaller mu holds:
        with probability q**steps all batches have the record, and the tail of the losses is then that of the noise.
        """
        return math.sqrt(self.steps) / self.noise_multiplier

    @property
    def rho(self) -> float:
        """steps / (2 noise_multiplier**2), as what is mu-Gaussian is mu**2 / 2-zero-concentrated: no sampling counted.

        Renyi divergences of large orders see the rarest losses, which sampling makes rarer and hardly smaller.
        """
        return 0.5 * self.mu * self.mu


def bounded_range_of_mu(mu: float) -> float:
    """The epsilon of the bounded-range event that costs `mu`: the inverse of `BoundedRangeEvent.mu`."""
    from scipy.special import log_ndtr

    _require_positive(mu=mu)
    return float(2 * (log_ndtr(mu / 2) - log_ndtr(-mu / 2))) * (1 - 1e-12)


_EVENTS = {
    event.kind: event
    for event in (
        GaussianEvent,
        PureEvent,
        BoundedRangeEvent,
        ApproximateEvent,
        ApproximateGaussianEvent,
        SubsampledGaussianEvent,
    )
}


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


@functools.lru_cache(maxsize=4096)
def _symmetric_mu(epsilon: float) -> float:
    """2 Phi^-1(logistic(epsilon)), proved to be large enough when raised by 1e-13, which budgets hold back."""
    from scipy.special import erfinv, ndtri_exp

    if epsilon > 1e9:
        return math.inf
    # Two forms, each of which keeps its digits: the first where the logistic is near 1/2, the second where it nears 1.
    if epsilon < 1:
        mu = float(2 * math.sqrt(2) * erfinv(math.tanh(epsilon / 2)))
    else:
        # The logarithm is passed, because far in the tail the probability itself underflows to zero.
        mu = float(-2 * ndtri_exp(-epsilon - math.log1p(math.exp(-epsilon))))
    change = 1e-13
    while not is_above_response(mu * (1 + 1e-13), epsilon):
        mu *= 1 + change
        change *= 2
    return mu
