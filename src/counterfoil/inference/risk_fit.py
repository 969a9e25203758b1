"""Risks of all models of a ball by a polynomial fit to noisy losses at a net, and how far they may be off."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import gammaincinv

from counterfoil.features.losses import net_bound
from counterfoil.inference.bought_losses import ROUNDED, BoughtLosses
from counterfoil.inference.loss_polynomials import PolynomialFit
from counterfoil.inference.noise_matrices import DRAWS, public_generator, quantile_of


@dataclass(frozen=True, eq=False)
class RiskFit:
    """A polynomial fit to the noisy losses at the net, and a bound on its errors for all models at once.

    Let G be the true averages at the net and z the noisy ones, both as vectors v of which Q' v is taken. The loss of a
    record is P + e, P a polynomial that the fit reproduces, so that for all models theta and theta' of the ball

        abs(fit(theta) - fit(theta') - (R(theta) - R(theta'))) <= E norm(b(theta) - b(theta')) + left out,

    where `left out` bounds the difference of e at the two, and E the norm of Q' of the noise and of the averages of e
    at the net together. With theta' = 0 that bounds R(theta) - R(0) itself. R is the risk in the records.

    *Noise.* Q' of independent normal noises of deviation s is s times a vector of m independent normal ones, whose norm
    is that of the chi law (Scheffe 1959); of Laplace noises it is simulated. A noisy number of records n' in place of n
    multiplies all averages by n / n', an error of norm at most V abs(n - n') / n', where V bounds the norm of a
    record's losses, the l2 sensitivity of the net for adding one.

    Args:
        losses: the noisy losses.
        polynomials: the fit.
        noise: the probability that the noise exceeds its bound; None where noise is left out.
    """

    losses: BoughtLosses
    polynomials: PolynomialFit
    noise: float | None

    @staticmethod
    def sharpest(losses: BoughtLosses, polynomials: Sequence[PolynomialFit], noise: float | None) -> RiskFit:
        """The fit whose bounds are sharpest on average over the net: no loss is looked at for that."""
        return min((RiskFit(losses, one, noise) for one in polynomials), key=lambda fit: fit.width)

    @cached_property
    def coordinates(self) -> np.ndarray:
        """float64 [m]: Q' z."""
        return np.asarray(self.polynomials.values.T @ self.losses.averages)

    @property
    def width(self) -> float:
        """The mean over the net of the bound on the error of R(theta) - R(0)."""
        norms = np.linalg.norm(self.polynomials.values, axis=1)
        return float(np.mean(self.errors(norms, self._away)))

    def errors(self, norms: np.ndarray, away: np.ndarray) -> np.ndarray:
        """The most that differences of risks are off, for pairs of models.

        Args:
            norms: norm(b(theta) - b(theta')).
            away: norm1(theta - theta').
        """
        return self.error * norms + self.polynomials.left_out.between(away)

    @cached_property
    def error(self) -> float:
        """E."""
        net = self.losses.net
        total = float(np.linalg.norm(self.polynomials.left_out.between(self._away) + ROUNDED))
        if self.noise is not None:
            added = net_bound(net.loss, net.dimensions, len(net.columns), net.radius, net.steps, 1)
            total += (
                self._noise_norm(1 - self.losses.share(self.noise))
                + added * self.losses.count_error(self.noise) / self.losses.records
            )
        return total

    @property
    def _away(self) -> np.ndarray:
        """float64 [points]: norm1 of the models of the net."""
        return np.asarray(np.abs(self.losses.net.lattice).sum(axis=1) * self.losses.net.step)

    def _noise_norm(self, level: float) -> float:
        if self.losses.noise != "discrete_laplace":
            return self.losses.scale * math.sqrt(2 * float(gammaincinv(len(self.coordinates) / 2, level)))
        rng, values = public_generator(), self.polynomials.values
        squares = np.square(rng.laplace(size=(DRAWS, len(values))) @ values).sum(axis=1)
        return self.losses.scale * quantile_of(np.sort(np.sqrt(squares)), level)
