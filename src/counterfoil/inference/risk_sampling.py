"""How far the risks of linear models in a sample may be from those in its population, for a whole ball of models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.features.losses import LossNet


@dataclass(frozen=True)
class RiskSampling:
    """Bounds on differences of risks in n independent records less those in their population, for all models at once.

    Let L bound the slope of the loss in the score, B its second derivative, r the radius, d the number of weights, and
    g_theta the loss of theta less that of the model 0, abs(g_theta) <= L r. With p = `failure` / (2 d + 4) for each of
    the events below all of the bounds hold with probability 1 - `failure`.

    *Any two models.* The supremum over theta of the mean of g_theta less its expectation moves by at most 2 L r / n
    where a record is replaced, so that it exceeds its own expectation by more than L r sqrt(2 ln(1 / p) / n) with
    probability at most p (McDiarmid 1989). That expectation is at most twice the Rademacher complexity of the g_theta,
    which are L-Lipschitz in the score and 0 at the score 0: at most L r sqrt(2 ln(2 d) / n) (contraction, Ledoux and
    Talagrand 1991, Theorem 4.12; Massart's lemma for the 2 d vertices of the ball). Either sign, and two models: 2 L r
    (2 sqrt(2 ln(2 d) / n) + sqrt(2 ln(1 / p) / n)).

    *Near models.* The i-th derivative of a record's loss, psi' x_i, lies in [-L, L]; the same argument for it, whose
    complexity is not larger without its value at theta = 0, what is left being B-Lipschitz in the score, bounds the
    i-th derivative of the difference of risks by D = 2 B r sqrt(2 ln(2 d) / n) + L sqrt(2 ln(1 / p) / n), either sign
    and each i. Two models at l1 distance a are at most D a apart.

    *The model 0.* Its loss lies between 0 and `base`: base sqrt(ln(1 / p) / (2 n)) on either side (Hoeffding 1963).

    Args:
        net: the models and their loss.
        records: n, or fewer.
        failure: the probability that a bound fails; None where there is no sampling, and all bounds are 0.
    """

    net: LossNet
    records: float
    failure: float | None

    def between(self, away: np.ndarray) -> np.ndarray:
        """The bound for pairs of models at these l1 distances."""
        if self.failure is None:
            return np.zeros_like(away)
        return (
            np.minimum(self._near * away, self._far)
            if math.isfinite(self._near)
            else np.where(away > 0, self._far, 0.0)
        )

    @property
    def base(self) -> float:
        """The bound for the model 0."""
        return 0.0 if self.failure is None else self.net.loss.base * self._tail / 2

    @cached_property
    def _far(self) -> float:
        return 2 * self.net.loss.steepest(self.net.radius) * self.net.radius * (2 * self._vertices + self._tail)

    @cached_property
    def _near(self) -> float:
        slope, bend = self.net.loss.steepest(self.net.radius), self.net.loss.curvature
        return 2 * bend * self.net.radius * self._vertices + slope * self._tail

    @property
    def _vertices(self) -> float:
        return math.sqrt(2 * math.log(2 * self.net.dimensions) / self.records)

    @property
    def _tail(self) -> float:
        assert self.failure is not None
        return math.sqrt(2 * math.log((2 * self.net.dimensions + 4) / self.failure) / self.records)
