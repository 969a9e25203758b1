"""Discrete Gaussian noise on the answers of a run, each of which reads a random batch of the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from counterfoil.accounting.event import SubsampledGaussianEvent
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.noise import Noise
from counterfoil.noise.randomness import Randomness


@dataclass(frozen=True)
class SubsampledGaussianNoise(Noise):
    """The noise of `steps` answers, fixed in advance, each from a batch of fixed size drawn without replacement.

    Its event counts on the batches being secret and drawn afresh: it belongs to the queries of `Account.train`, which
    draws them, and to no other.

    Args:
        noise_multiplier: the standard deviation of the continuous noise that is charged for, over the l2 sensitivity
            for a record of the batch.
        sampling_probability: the largest share of a group that a batch holds, in (0, 1].
        steps: how many answers are charged together.
    """

    kind: ClassVar[str] = "subsampled_discrete_gaussian"

    noise_multiplier: float
    sampling_probability: float
    steps: int

    @property
    def of_one_batch(self) -> GaussianNoise:
        """The noise of one answer, as if the batch were all records."""
        return GaussianNoise(self.noise_multiplier)

    def event(self) -> SubsampledGaussianEvent:
        return SubsampledGaussianEvent(self.noise_multiplier, self.sampling_probability, self.steps)

    def scale(self, sensitivity: float) -> float:
        """The standard deviation parameter of the noise of each answer, in its units."""
        return self.of_one_batch.scale(sensitivity)

    def add(self, exact: np.ndarray, sensitivity: float, randomness: Randomness) -> np.ndarray:
        """int64, shaped like the int64 array `exact`: the noisy answer of one step."""
        return self.of_one_batch.add(exact, sensitivity, randomness)

    def event_under(self, sensitivity: float, other_sensitivity: float) -> SubsampledGaussianEvent:
        """The event of the same answers, had the sensitivity been the other one."""
        multiplier = self.noise_multiplier * sensitivity / other_sensitivity
        return SubsampledGaussianEvent(multiplier, self.sampling_probability, self.steps)
