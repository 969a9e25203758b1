"""What is certain about the model with the smallest risk, from bounds on risks at the points of a lattice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.features.l1_lattice import lattice, most_steps
from counterfoil.features.losses import LEAST_STEPS, LossNet
from counterfoil.inference.local_risks import LocalRisks
from counterfoil.inference.risk_fit import RiskFit
from counterfoil.inference.risk_sampling import RiskSampling

_FIRST_MODELS = 5_000
_MOST_MODELS = 100_000
"""Of a lattice on which bounds are looked at: the first one, and what is left of finer ones."""

_FINEST_STEPS = 1000
_CLOSE = 0.1
"""Of c, as a share of what the bounds leave open: finer lattices tell hardly more."""
_ROUNDING = 1e-12
"""Of risks that floats add up, as a share of 1 and the largest: bounds may be off by as much."""


@dataclass(frozen=True, eq=False)
class Certified:
    """What holds of the smallest risk F = R + penalty norm1 over the ball, unless the bound of the fit fails.

    The smallest risk over the ball is attained by some theta*, which is a weighted average of points v of any lattice
    of step h, in its own orthant, that differ by at most d h in l1 norm (`lattice`). As a loss is convex in the score,
    with second derivative at most B and slope at most L, the average of R(v) is at least R(theta*), and above it by at
    most c = min(B (d h)^2 / 8, L d h / 2): the average of a function of the scores <v, x> exceeds the function at
    their mean by at most B / 2 times their variance, at most (d h)^2 / 4 by Popoviciu's inequality, and by at most L
    times their mean distance from it. norm1 is linear on an orthant. So some v has F(v) <= F(theta*) + c <= F(theta) +
    c for every theta: where the fit says otherwise, by more than its bound, v is no such point. What is left is looked
    at again with half the step, as long as it is not too large.

    Args:
        weights: float64 [d]: the model with the smallest fitted risk.
        estimate: its fitted risk.
        lower, upper: of the smallest risk.
        excess: how far the risk of the estimated model is above it, at most.
        box: float64 [2, d]: the least and the greatest weights of the model with the smallest risk.
    """

    weights: np.ndarray
    estimate: float
    lower: float
    upper: float
    excess: float
    box: np.ndarray

    @staticmethod
    def by_polynomials(
        fit: RiskFit, sampling: RiskSampling, penalty: float, chosen: np.ndarray | None = None
    ) -> Certified:
        """The statement of a polynomial fit, about the model `chosen`; about that with the smallest risk where None."""
        net = fit.losses.net
        steps = max(most_steps(net.dimensions, _FIRST_MODELS), LEAST_STEPS)
        lows, highs = np.full(net.dimensions, -steps), np.full(net.dimensions, steps)
        while True:
            points = lattice(net.dimensions, steps, lows, highs)
            risks = _Fitted(points * (net.radius / steps), penalty, sampling, fit)
            open_by, curved = -risks.above(risks.best).min(), between_models(net, steps)
            left = points[_kept(risks, net, steps)]
            lows, highs = 2 * (left.min(axis=0) - 1), 2 * (left.max(axis=0) + 1)
            # Where one model alone is left, such as a corner of the ball, the bounds leave nothing open but rounding.
            close = curved <= max(_CLOSE * open_by, risks.rounding)
            if close or np.prod(highs - lows + 1.0) > _MOST_MODELS:
                best = _polished(fit, sampling, penalty, risks.best, steps) if chosen is None else chosen
                return _certified(risks, net, steps, best)
            steps *= 2

    @staticmethod
    def by_averages(
        local: LocalRisks, sampling: RiskSampling, penalty: float, chosen: np.ndarray | None = None
    ) -> Certified:
        """The statement of averages at the net, about the model `chosen` of it."""
        net = local.losses.net
        return _certified(_Averaged(local.models * net.step, penalty, sampling, local), net, net.steps, chosen)


@dataclass(frozen=True, eq=False)
class _Risks(ABC):
    """Models of a lattice, their risks F, and bounds on these.

    Args:
        weights: float64 [models, d].
        penalty: the multiple of norm1 that is added to R.
        sampling: what separates the risks of the records from those that are meant.
    """

    weights: np.ndarray
    penalty: float
    sampling: RiskSampling

    @property
    @abstractmethod
    def best(self) -> np.ndarray:
        """float64 [d]: the weights with the smallest estimated F."""

    @abstractmethod
    def estimate(self, model: np.ndarray) -> float:
        """The estimate of F(model)."""

    @abstractmethod
    def above(self, model: np.ndarray) -> np.ndarray:
        """float64 [models]: F less F(model), at least."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """float64 [models], twice: F, at least and at most."""

    @property
    def rounding(self) -> float:
        """What `above` may be off as floats are rounded."""
        return _ROUNDING * (1 + max(float(np.abs(ends).max()) for ends in self.bounds))

    def _away(self, model: np.ndarray | float = 0.0) -> np.ndarray:
        return np.asarray(np.abs(self.weights - model).sum(axis=1))


@dataclass(frozen=True, eq=False)
class _Fitted(_Risks):
    """By a polynomial fit.

    Args:
        fit: the fit.
    """

    fit: RiskFit

    @cached_property
    def _places(self) -> np.ndarray:
        return self.fit.polynomials.at(self.weights)

    @cached_property
    def _values(self) -> np.ndarray:
        """float64 [models]: estimates of F, less that of the model 0."""
        return np.asarray(self._places @ self.fit.coordinates + self.penalty * self._away())

    @cached_property
    def best(self) -> np.ndarray:
        return np.asarray(self.weights[int(np.argmin(self._values))])

    def estimate(self, model: np.ndarray) -> float:
        value = float(self.fit.polynomials.at(model[None])[0] @ self.fit.coordinates)
        return self.fit.losses.base + value + self.penalty * float(np.abs(model).sum())

    def above(self, model: np.ndarray) -> np.ndarray:
        away = self._away(model)
        norms = np.linalg.norm(self._places - self.fit.polynomials.at(model[None]), axis=1)
        errors = self.fit.errors(norms, away) + self.sampling.between(away)
        return np.asarray(self._values + self.fit.losses.base - self.estimate(model) - errors)

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        losses, norms = self.fit.losses, np.linalg.norm(self._places, axis=1)
        halves = self.fit.errors(norms, self._away()) + losses.base_error(self.fit.noise)
        halves += self.sampling.between(self._away()) + self.sampling.base
        return losses.base + self._values - halves, losses.base + self._values + halves


@dataclass(frozen=True, eq=False)
class _Averaged(_Risks):
    """By averages of the losses around each model.

    Args:
        local: the averages, of the models in their order.
    """

    local: LocalRisks

    @cached_property
    def _values(self) -> np.ndarray:
        return np.asarray(self.local.averages + self.penalty * self._away())

    @cached_property
    def best(self) -> np.ndarray:
        return np.asarray(self.weights[int(np.argmin(self._values))])

    def estimate(self, model: np.ndarray) -> float:
        return self.local.losses.base + float(self._values[self._place(model)])

    def above(self, model: np.ndarray) -> np.ndarray:
        largest = (self._values + self.local.noises)[self._place(model)]
        least = self._values - self.local.noises - self.local.surplus
        return np.asarray(least - largest - self.sampling.between(self._away(model)))

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        losses = self.local.losses
        halves = self.local.noises + losses.base_error(self.local.noise)
        halves += self.sampling.between(self._away()) + self.sampling.base
        values = losses.base + self._values
        return values - halves - self.local.surplus, values + halves

    def _place(self, model: np.ndarray) -> int:
        return int(np.argmin(self._away(model)))


def _polished(fit: RiskFit, sampling: RiskSampling, penalty: float, best: np.ndarray, steps: int) -> np.ndarray:
    """float64 [d]: the weights with the smallest fitted risk near `best`, those of a lattice of that many steps."""
    net = fit.losses.net
    while 3**net.dimensions <= _MOST_MODELS and steps < _FINEST_STEPS:
        steps *= 2
        middle = np.rint(best * (steps / net.radius)).astype(np.int64)
        points = lattice(net.dimensions, steps, middle - 1, middle + 1)
        best = _Fitted(points * (net.radius / steps), penalty, sampling, fit).best
    return best


def _kept(risks: _Risks, net: LossNet, steps: int) -> np.ndarray:
    """bool [models]: those that may have the best model of the ball beside them."""
    return risks.above(risks.best) <= between_models(net, steps) + risks.rounding


def _certified(risks: _Risks, net: LossNet, steps: int, chosen: np.ndarray | None) -> Certified:
    """What the risks at a lattice of that many steps say about `chosen`, or the best of its models."""
    model, step, curved = risks.best if chosen is None else chosen, net.radius / steps, between_models(net, steps)
    kept = _kept(risks, net, steps)
    low, high = risks.weights[kept].min(axis=0) - step, risks.weights[kept].max(axis=0) + step
    least, largest = risks.bounds
    return Certified(
        model,
        risks.estimate(model),
        float(least[kept].min()) - curved,
        float(largest.min()),
        max(curved - float(risks.above(model)[kept].min()), 0.0),
        np.stack([np.maximum(low, -net.radius), np.minimum(high, net.radius)]),
    )


def between_models(net: LossNet, steps: int) -> float:
    """c, see `Certified`, on the lattice of that many steps: what risks may be lower between its models."""
    far = net.dimensions * net.radius / steps
    return min(net.loss.curvature * far**2 / 8, net.loss.steepest(net.radius) * far / 2)
