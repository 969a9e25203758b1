"""Risks at the models of a net by averages of noisy losses around them, for losses that no polynomial comes near."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterfoil.features.l1_lattice import lattice
from counterfoil.inference.bought_losses import ROUNDED, BoughtLosses
from counterfoil.inference.noise_law import NoiseLaw

_MOST_NUMBERS = 4_000_000
"""Of the losses that are averaged."""


@dataclass(frozen=True, eq=False)
class LocalRisks:
    """For each model of the net, the average of the noisy losses in a cube of models around it, as far as it fits.

    With a cube of offsets k in {-j, ..., j}^d of steps h, and j lowered where the cube leaves the ball, the average S
    of the exact risks around theta is at least R(theta), because the risk is convex (Jensen), and above it by at most b
    = min(B v A / 2, L d h j (j + 1) / (2 j + 1)): the scores of the models of the cube have variance at most v
    norm(x)^2 <= v A with v = h^2 j (j + 1) / 3 and A = 1 + the number of columns, and mean distance at most d times
    that of one coordinate from the score in the middle. The noises of all averages
    stay within their quantiles together by the union bound.

    Args:
        losses: the noisy losses.
        noise: the probability that the noise exceeds its bound; None where noise is left out.
        reach: the largest j.
    """

    losses: BoughtLosses
    noise: float | None
    reach: int

    @staticmethod
    def sharpest(losses: BoughtLosses, noise: float | None) -> LocalRisks:
        """Those of the cube whose bounds are sharpest on average over the net: no loss is looked at for that."""
        net, most = losses.net, 0
        while net.dimensions * (most + 1) <= net.steps:
            if (2 * most + 3) ** net.dimensions * len(net.lattice) > _MOST_NUMBERS:
                break
            most += 1
        return min((LocalRisks(losses, noise, reach) for reach in range(most + 1)), key=lambda one: one.width)

    @property
    def width(self) -> float:
        """The mean over the net of the noise and of what averages are above the risks."""
        return float(np.mean(self.noises + self.surplus))

    @cached_property
    def models(self) -> np.ndarray:
        """int64 [models, d]: the net in steps, with 0."""
        return lattice(self.losses.net.dimensions, self.losses.net.steps)

    @cached_property
    def _norms(self) -> np.ndarray:
        return np.asarray(np.abs(self.models).sum(axis=1))

    @cached_property
    def _reaches(self) -> np.ndarray:
        """int64 [models]: j; 0 for the model 0, whose loss is known."""
        net = self.losses.net
        return np.where(self._norms > 0, np.minimum(self.reach, (net.steps - self._norms) // net.dimensions), 0)

    @property
    def _mean_offset(self) -> np.ndarray:
        """float64 [models]: the mean absolute value of a coordinate of an offset, j (j + 1) / (2 j + 1)."""
        return np.asarray(self._reaches * (self._reaches + 1) / (2 * self._reaches + 1))

    @cached_property
    def averages(self) -> np.ndarray:
        """float64 [models]: noisy averages of the risks around each model, less the risk of the model 0."""
        net, averages = self.losses.net, np.zeros(len(self.models))
        known = np.zeros(len(self.models))
        known[self._norms > 0] = self.losses.averages
        for j in np.unique(self._reaches).tolist():
            chosen = self._reaches == j
            if not j:
                averages[chosen] = known[chosen]
                continue
            # Models are in lexicographic order, which is that of these numbers; they are small where cubes fit.
            powers = (2 * net.steps + 1) ** np.arange(net.dimensions - 1, -1, -1)
            offsets = np.array(list(itertools.product(range(-j, j + 1), repeat=net.dimensions))) @ powers
            keys = self.models @ powers
            averages[chosen] = known[np.searchsorted(keys, keys[chosen, None] + offsets)].mean(axis=1)
        return averages

    @cached_property
    def noises(self) -> np.ndarray:
        """float64 [models]: the most that the noise of each average is."""
        net, losses = self.losses.net, self.losses
        if self.noise is None:
            return np.full(len(self.models), ROUNDED)
        sizes, where = np.unique((2 * self._reaches + 1) ** net.dimensions, return_inverse=True)
        halves = np.array([self._quantile(int(size)) for size in sizes])[where.ravel()]
        # The averages that a noisy count multiplies are of models up to a mean distance farther out than this one.
        farthest = net.loss.steepest(net.radius) * (self._norms + net.dimensions * self._mean_offset) * net.step
        count = farthest * losses.count_error(self.noise) / losses.records
        return np.asarray(np.where(self._norms > 0, halves + ROUNDED + count, 0.0))

    def _quantile(self, size: int) -> float:
        """Of the noise in an average of so many losses, for all averages together."""
        assert self.noise is not None
        level, scale = 1 - self.losses.share(self.noise) / len(self.models), self.losses.scale
        if self.losses.noise == "discrete_laplace":
            return NoiseLaw(0.0, np.array([scale / size]), np.array([float(size)])).quantile(level)
        return NoiseLaw(scale**2 / size, np.zeros(0), np.zeros(0)).quantile(level)

    @cached_property
    def surplus(self) -> np.ndarray:
        """float64 [models]: b."""
        net, j = self.losses.net, self._reaches
        variance = net.step**2 * j * (j + 1) / 3
        flat = net.loss.steepest(net.radius) * net.dimensions * net.step * self._mean_offset
        if math.isinf(net.loss.curvature):
            return flat
        return np.asarray(np.minimum(net.loss.curvature * variance * (1 + len(net.columns)) / 2, flat))
