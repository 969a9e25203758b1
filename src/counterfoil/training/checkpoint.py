"""The state of a training run after a part of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from counterfoil.checkpoint import Checkpoint
from counterfoil.training.descent import Descent, Optimizer


@dataclass(frozen=True, eq=False)
class TrainingCheckpoint(Checkpoint):
    """Of a training run: what follows from released gradients.

    Args:
        state: steps taken, iterates summed, noisy losses; the receipt, once the run is finished.
        arrays: the parameters, their sum, and the state of the optimizer.
    """

    format: ClassVar[str] = "counterfoil.training.checkpoint/1"

    @staticmethod
    def of(descent: Descent, release: int, settings: dict[str, Any]) -> TrainingCheckpoint:
        """The state of `descent`."""
        state = {"taken": descent.taken, "summed": descent.summed, "losses": descent.losses}
        arrays = {f"optimizer_{name}": np.asarray(value) for name, value in descent.state.items()}
        arrays |= {"parameters": descent.parameters, "total": descent.total}
        return TrainingCheckpoint(release, settings, state, arrays)

    def descent(self, optimizer: Optimizer, steps: int) -> Descent:
        """The descent that was saved."""
        kept = {name.removeprefix("optimizer_"): value for name, value in self.arrays.items() if "optimizer_" in name}
        state = self.state
        return Descent(
            optimizer, steps, self.arrays["parameters"], self.arrays["total"], state["taken"], state["summed"],
            list(state["losses"]), kept,
        )  # fmt: skip

    def require_same(self, settings: dict[str, Any]) -> None:
        """Refuses to continue another run.

        Raises:
            ValueError: for other settings.
        """
        if not self.has(settings):
            raise ValueError(
                "The checkpoint is of a run with other parameters or another model. Continue it with the same, or "
                "start again without it."
            )

    def finished(self, receipt: dict[str, Any]) -> TrainingCheckpoint:
        """The same with the receipt of the whole run: a model that was not saved can still be had from it."""
        return TrainingCheckpoint(self.release, self.settings, self.state | {"receipt": receipt}, self.arrays)
