"""From noisy votes to a probability measure on the candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from counterfoil.geometry.space import Space
from counterfoil.transport import bounded_lipschitz


class Cleanup(Protocol):
    """Turns noisy shares of votes into weights; post-processing."""

    def weights(self, shares: np.ndarray, noise: float, candidates: np.ndarray, space: Space) -> np.ndarray | None:
        """Non-negative weights [m], not all zero; None where every vote is cut off.

        Args:
            shares: float64 [m], noisy votes over the number of records, of any sign.
            noise: the standard deviation of the noise in each share; 0 where zeros are exact.
            candidates: [m, k], the embedded points.
            space: their space.
        """
        ...

    def describe(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Projection:
    """The nearest probability measure in bounded-Lipschitz distance, mass costing the diameter: Algorithm 2, line 8."""

    def weights(self, shares: np.ndarray, noise: float, candidates: np.ndarray, space: Space) -> np.ndarray | None:
        del noise
        return bounded_lipschitz.project(candidates, shares, metric=space.metric, diameter=space.diameter).weights

    def describe(self) -> dict[str, Any]:
        return {"cleanup": "bounded-lipschitz projection"}


@dataclass(frozen=True)
class Threshold:
    """Shares below a threshold become 0, and the others are divided by their sum: Algorithms 1 and 3, line 8.

    Args:
        deviations: the threshold, in standard deviations of the noise.

    Raises:
        ValueError: where it is negative: negative weights are no measure.
    """

    deviations: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.deviations < np.inf:
            raise ValueError(f"`deviations` must be at least 0. Found {self.deviations}.")

    def weights(self, shares: np.ndarray, noise: float, candidates: np.ndarray, space: Space) -> np.ndarray | None:
        del candidates, space
        kept = np.where(shares >= self.deviations * noise, np.maximum(shares, 0.0), 0.0)
        total = kept.sum()
        return kept / total if total > 0 else None

    def describe(self) -> dict[str, Any]:
        return {"cleanup": "threshold", "threshold_in_deviations": self.deviations}
