"""Intervals for ratios of noisy sums: shares, and means of numbers between bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from scipy.special import ndtri

from counterfoil.inference.linear_answer import LinearAnswer

_STEPS = 4
"""Of the search for the end of an interval whose critical value depends on where it is; errors shrink tenfold."""

_CLOSE = 1e-6


@dataclass(frozen=True)
class Interval:
    """An interval, and the ratio that it is about."""

    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Ratio:
    """The mean theta over a population of a number between 0 and 1, by the ratio of two noisy sums over records.

    For the true theta, D = top - theta below has mean 0: the noise in D is linear in the answers, and the records are
    independent draws from the population, whose number N among those counted has sum N theta on average, with variance
    N s(theta), where s is the variance of the number in the population. The interval holds each theta in [0, 1] with

        (top - theta below)**2 <= q**2 (Var noise(top - theta below) + below s(theta)),

    q being the critical value of that sum of noises, counted by its exact law, and a normal variable. For s(theta) =
    theta (1 - theta) without noise it is Wilson's interval; without sampling it is Fieller's set. `top` is first moved
    into [0, below], which brings D closer to 0 for each theta in [0, 1], so that the interval is never empty and covers
    no less. Where `below` is within its noise of 0, the interval is [0, 1].

    Args:
        top: the noisy sum of the numbers.
        below: the noisy number of records.
        spread: the variance s of the number in the population; None for theta (1 - theta), that of an indicator, and
            the most that a number between 0 and 1 can have.
        related: how many records may be one and the same draw; N s(theta) is then multiplied by it (related_rows.py).

    Sources: Wilson 1927; Fieller 1954; Bhatia and Davis 2000 for the bound on the variance.
    """

    top: LinearAnswer
    below: LinearAnswer
    spread: float | None = None
    related: int = 1

    @property
    def estimate(self) -> float:
        """The ratio moved into [0, 1]; 1/2 where the denominator is not positive."""
        if self.below.value <= 0:
            return 0.5
        return min(max(self.top.value / self.below.value, 0.0), 1.0)

    @property
    def public_variance(self) -> float:
        """The variance of the noise in D at theta = 1/2, which depends on no answer: what answers are chosen by."""
        of_top, of_both, of_below = self._covariances
        return of_top - of_both + of_below / 4

    def interval(self, level: float, *, noise: bool = True, sampling: bool = True) -> Interval:
        """The interval of that level, for the noise and the sampling together or for one of them alone."""
        lower, upper = (self._end(level, upper, noise=noise, sampling=sampling) for upper in (False, True))
        estimate = self.estimate
        return Interval(estimate, min(lower, estimate), max(upper, estimate))

    def _end(self, level: float, upper: bool, *, noise: bool, sampling: bool) -> float:
        end = self.estimate
        for _ in range(_STEPS):
            following = self._end_for(
                self._critical(level, end, noise=noise, sampling=sampling), upper, noise, sampling
            )
            if abs(following - end) < _CLOSE or not (noise and self._has_laplace):
                return following
            end = following
        return end

    @cached_property
    def _covariances(self) -> tuple[float, float, float]:
        """The variance of the noise in `top`, its covariance with that in `below`, and the variance of the latter."""
        return self.top.covariance(self.top), self.top.covariance(self.below), self.below.covariance(self.below)

    @cached_property
    def _has_laplace(self) -> bool:
        return any(source.noise == "discrete_laplace" for part in (self.top, self.below) for source in part.terms)

    def _critical(self, level: float, theta: float, *, noise: bool, sampling: bool) -> float:
        """How many standard deviations D may be from 0 for this theta."""
        if not (noise and self._has_laplace):
            return -float(ndtri((1 - level) / 2))
        law = (self.top - self.below * theta).law
        spread = theta * (1 - theta) if self.spread is None else self.spread
        law = law.plus_normal(max(self.below.value, 0.0) * self.related * spread if sampling else 0.0)
        return law.quantile(level) / law.deviation if law.deviation else -float(ndtri((1 - level) / 2))

    def _end_for(self, critical: float, upper: bool, noise: bool, sampling: bool) -> float:
        """The end of the set where the critical value is q, which is that of a quadratic inequality in theta."""
        records, q = self.below.value, critical**2
        of_top, of_both, of_below = self._covariances if noise else (0.0, 0.0, 0.0)
        if records <= 0 or records**2 <= q * of_below:
            return float(upper)
        top = self.estimate * records
        drawn = records * self.related if sampling else 0.0
        constant, linear, square = (self.spread, 0.0, 0.0) if self.spread is not None else (0.0, 1.0, -1.0)
        a = records**2 - q * (of_below + drawn * square)
        b = -2 * top * records + q * (2 * of_both - drawn * linear)
        c = top**2 - q * (of_top + drawn * constant)
        root = math.sqrt(max(b * b - 4 * a * c, 0.0))
        return min(max((-b + root if upper else -b - root) / (2 * a), 0.0), 1.0)


def require_level(level: float) -> None:
    """Refuses what is no probability strictly between 0 and 1.

    Raises:
        ValueError: with what was found.
    """
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 1:
        raise ValueError(f"`level` must be a probability strictly between 0 and 1, such as 0.95. Found {level!r}.")
