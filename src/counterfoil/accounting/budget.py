"""The budget of a release, and the part of every budget that is held back for negligible errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

# Held back from every budget, for what is proved up to a negligible error rather than exactly: discrete
# Gaussian noise is a post-processing of continuous Gaussian noise up to a factor exp(2.4e-19) a cell, and the
# table sampler is within 2**-199 or less of the exact distribution a draw (see noise/gaussian.py and noise/sampler.py).
EPSILON_SLACK = 1e-9
DELTA_SLACK = 2.0**-20

# Where the arithmetic of all compositions is known to hold. Beyond the first, sums of privacy losses lose their last
# digits and filters refuse what they planned; below the second, products of probabilities leave the normal numbers.
LARGEST_EPSILON = 1e9
LEAST_DELTA = 1e-290


@dataclass(frozen=True)
class Budget:
    """An (epsilon, delta) guarantee: the most that a release may cost.

    Args:
        epsilon: positive, and at most `LARGEST_EPSILON`; a number of any real type, as `plain_number` takes it.
        delta: in [0, 1); 0 asks for pure differential privacy, and anything else is at least `LEAST_DELTA`.

    Raises:
        ValueError: when either is no number, or outside its range.
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta"):
            object.__setattr__(self, name, plain_number(name, getattr(self, name)))
        self._require_ranges()
        if self.epsilon > LARGEST_EPSILON:
            raise ValueError(
                f"`epsilon` must be at most {LARGEST_EPSILON:g}, up to which costs can be computed. Found "
                f"{_short(self.epsilon)}: lower it; above 10 the guarantee says next to nothing already."
            )
        if 0 < self.delta < LEAST_DELTA:
            raise ValueError(
                f"`delta` must be 0 or at least {LEAST_DELTA:g}, from which on costs can be computed. Found "
                f"{self.delta:g}: raise it, or give 0 for pure privacy."
            )

    def _require_ranges(self) -> None:
        if not 0 < self.epsilon < math.inf:
            raise ValueError(f"`epsilon` must be positive and finite. Found {self.epsilon!r}.")
        if not 0 <= self.delta < 1:
            raise ValueError(f"`delta` must be at least 0 and below 1. Found {self.delta!r}.")

    @classmethod
    def unrestricted(cls, epsilon: float, delta: float) -> Budget:
        """A budget that is computed from another, or that an older version wrote down: any that has a meaning.

        Args:
            epsilon: positive and finite.
            delta: in [0, 1).

        Raises:
            ValueError: when either is outside its range.
        """
        made = object.__new__(cls)
        object.__setattr__(made, "epsilon", plain_number("epsilon", epsilon))
        object.__setattr__(made, "delta", plain_number("delta", delta))
        made._require_ranges()
        return made

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


def plain_number(name: str, value: Any) -> float:
    """The number as Python's own int or float, which receipts can hold: the nearest one, within a part in 2**53.

    Args:
        name: of the parameter.
        value: an int or float, also of NumPy, a `Fraction` or a `Decimal`.

    Raises:
        ValueError: for text, True and False, and anything else that is no real number.
    """
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        found = f"{type(value).__name__} {value!r}" if isinstance(value, (str, bool)) else type(value).__name__
        raise ValueError(f"`{name}` must be a number, such as {'1.0' if name == 'epsilon' else '1e-9'}. Found {found}.")
    if isinstance(value, Integral):
        return int(value)
    try:
        return float(value)
    except OverflowError:
        return math.inf  # a fraction of so many digits, which is refused


def _short(epsilon: float) -> str:
    """The number; whole numbers too large for a float have no shorter form than their size."""
    try:
        return f"{epsilon:g}"
    except OverflowError:
        return f"a number of {len(str(epsilon)):,} digits"
