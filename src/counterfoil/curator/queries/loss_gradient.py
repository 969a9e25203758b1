"""The gradient of a loss on a random batch of records, each clipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.curator.batches import Batch
from counterfoil.curator.queries.gradient import (
    GradientQuery,
    PublicDraws,
    exact_gradient,
    restated_sizes,
    rounded_sensitivity,
    unit_of,
)
from counterfoil.curator.queries.gradient_terms import moderate
from counterfoil.curator.queries.registry import shipped
from counterfoil.noise.noise import Norm


@shipped
@dataclass(frozen=True, eq=False)
class LossGradient(GradientQuery):
    """The mean over a batch of the gradients of a loss, each clipped to the norm C (Abadi et al. 2016).

    Formal guarantee: `gradient_change` is 2 C / b: the mean has one term of norm at most C / b for each record, and
    one of them is another.
    """

    name: ClassVar[str] = "loss_gradient"
    question: ClassVar[str] = "in which direction the parameters of a model should move to lower its loss"

    @property
    def gradient_change(self) -> float:
        return 2 * self.loss.clip_norm / sum(self.batch_sizes)

    def exact_of_batch(self, batch: Batch, parameters: np.ndarray, draws: PublicDraws) -> np.ndarray:
        return exact_gradient(self, batch, parameters, PublicDraws(), alpha=0.0, transport=None)

    @staticmethod
    def restated_sensitivity(parameters: Mapping[str, Any], moved: float, norm: Norm | None) -> float:
        batch, size = restated_sizes(parameters)
        moderate(clip_norm=parameters["loss"]["clip_norm"])
        change = 2 * float(parameters["loss"]["clip_norm"]) / batch
        return rounded_sensitivity(change, unit_of(change, size), size, batch)
