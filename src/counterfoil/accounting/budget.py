"""The budget of a release, and the part of every budget that is held back for negligible errors."""

from __future__ import annotations

import math
from dataclasses import dataclass

# Held back from every budget, for what is proved up to a negligible error rather than exactly: discrete
# Gaussian noise is a post-processing of continuous Gaussian noise up to a factor exp(2.4e-19) a cell, and the
# table sampler is within 2**-199 of the exact distribution a draw (see noise/gaussian.py and noise/sampler.py).
EPSILON_SLACK = 1e-9
DELTA_SLACK = 2.0**-20


@dataclass(frozen=True)
class Budget:
    """An (epsilon, delta) guarantee: the most that a release may cost.

    Args:
        epsilon: positive and finite.
        delta: in [0, 1); 0 asks for pure differential privacy.

    Raises:
        ValueError: when either is outside its range.
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not (isinstance(self.epsilon, (int, float)) and 0 < self.epsilon < math.inf):
            raise ValueError(f"`epsilon` must be positive and finite. Found {self.epsilon!r}.")
        if not (isinstance(self.delta, (int, float)) and 0 <= self.delta < 1):
            raise ValueError(f"`delta` must be at least 0 and below 1. Found {self.delta!r}.")

    @classmethod
    def of(cls, amount: Budget | tuple[float, float] | float) -> Budget:
        """The budget that is given as one, as (epsilon, delta), or as epsilon alone, with a delta of 0.

        Raises:
            TypeError: for anything else.
            ValueError: when either is outside its range.
        """
        if isinstance(amount, Budget):
            return amount
        if isinstance(amount, (int, float)) and not isinstance(amount, bool):
            return cls(amount)
        if isinstance(amount, (tuple, list)) and len(amount) == 2:
            return cls(*amount)
        raise TypeError(
            "A budget must be a `Budget`, (epsilon, delta), or epsilon alone. Found "
            f"{type(amount).__name__}: give, for example, (1.0, 1e-9)."
        )
