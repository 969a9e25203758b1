"""Descent along noisy gradients: public arithmetic on released numbers, whatever they were made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

OPTIMIZERS = ("sgd", "adam")

_LARGEST = 1e30

Step = Callable[[np.ndarray], tuple[np.ndarray, float]]
"""From parameters [P] to a (noisy) gradient [P] and a (noisy) mean loss."""


@dataclass(frozen=True)
class Optimizer:
    """How parameters follow gradients.

    Args:
        name: "sgd" or "adam", as PyTorch has them.
        learning_rate: from 1e-30 to 1e30: beyond, steps leave the range of floats, and a run is lost that was charged.
        momentum: of "sgd", in [0, 1).
        gradient_clip: the largest norm of a noisy gradient, from 1e-30 to 1e30; longer ones are shortened. None leaves
            them.
        averaged: the share of the last iterates whose mean is the result (Polyak and Juditsky 1992), in [0, 1); 0 gives
            the last one. A mean has less of the noise of single steps.

    Raises:
        ValueError: for a parameter out of its range.
    """

    name: str = "adam"
    learning_rate: float = 0.05
    momentum: float = 0.0
    gradient_clip: float | None = None
    averaged: float = 0.5

    def __post_init__(self) -> None:
        if self.name not in OPTIMIZERS:
            raise ValueError(f"`optimizer` must be one of {', '.join(OPTIMIZERS)}. Found {self.name!r}.")
        for name in ("learning_rate", "gradient_clip"):
            value = getattr(self, name)
            none = value is None and name == "gradient_clip"
            if not none and not (isinstance(value, (int, float)) and 1 / _LARGEST <= value <= _LARGEST):
                raise ValueError(f"`{name}` must be a number from {1 / _LARGEST:g} to {_LARGEST:g}. Found {value!r}.")
        for name in ("momentum", "averaged"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"`{name}` must lie in [0, 1). Found {getattr(self, name)!r}.")


@dataclass(eq=False)
class Descent:
    """A descent after some steps; all of it is public.

    Args:
        optimizer: how parameters follow gradients.
        steps: of the whole run.
        parameters: float64 [P], where it is.
        total: the sum of the iterates that are averaged.
        taken: how many steps were taken, those that were lost included.
        summed: how many iterates `total` holds.
        losses: the noisy loss of each step.
        state: of the optimizer, arrays by name.
    """

    optimizer: Optimizer
    steps: int
    parameters: np.ndarray
    total: np.ndarray
    taken: int = 0
    summed: int = 0
    losses: list[float] = field(default_factory=list)
    state: dict[str, np.ndarray] = field(default_factory=dict)

    @staticmethod
    def start(optimizer: Optimizer, steps: int, parameters: np.ndarray) -> Descent:
        """At the initial `parameters`."""
        return Descent(optimizer, steps, parameters.copy(), np.zeros_like(parameters))

    def advance(self, step: Step) -> None:
        """One step."""
        gradient, loss = step(self.parameters)
        clip = self.optimizer.gradient_clip
        if clip is not None:
            gradient = gradient * min(1.0, clip / max(float(np.linalg.norm(gradient)), 1e-300))
        self.parameters = self.parameters - self.optimizer.learning_rate * self._direction(gradient)
        self.taken += 1
        self.losses.append(loss)
        if self.taken > round(self.steps * (1 - self.optimizer.averaged)):
            self.total = self.total + self.parameters
            self.summed += 1

    @property
    def result(self) -> np.ndarray:
        """float64 [P]: the mean of the last iterates, or the last one."""
        return self.total / self.summed if self.optimizer.averaged and self.summed else self.parameters

    def recent_loss(self, steps: int = 20) -> float:
        """The mean of the last noisy losses; NaN before the first step."""
        return float(np.mean(self.losses[-steps:])) if self.losses else float("nan")

    def _direction(self, gradient: np.ndarray) -> np.ndarray:
        if self.optimizer.name == "sgd":
            moved = self.optimizer.momentum * self.state.get("velocity", 0.0) + gradient
            self.state["velocity"] = moved
            return moved
        return self._adam(gradient)

    def _adam(self, gradient: np.ndarray) -> np.ndarray:
        """Kingma and Ba 2015, Algorithm 1, with its constants."""
        count = float(self.state.get("count", np.zeros(()))) + 1
        first = 0.9 * self.state.get("first", 0.0) + 0.1 * gradient
        second = 0.999 * self.state.get("second", 0.0) + 0.001 * gradient**2
        self.state |= {"count": np.array(count), "first": first, "second": second}
        unbiased: Any = (first / (1 - 0.9**count), second / (1 - 0.999**count))
        return unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
