"""Noise: one parameter from which both the scale and the privacy event follow.

A new noise is one file in this folder, with one frozen dataclass that derives from `CountNoise` or `SelectionNoise`.
Nothing else lists noises: an account takes any of them, and a receipt finds its noise by `kind`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np

from counterfoil.accounting.event import PrivacyEvent
from counterfoil.noise.randomness import Randomness


class Norm(StrEnum):
    """The norm in which a noise needs a query's sensitivity."""

    L1 = "l1"
    L2 = "l2"


LARGEST_ANSWER = 2**61
"""Answers beyond it, in either direction, are answered as that."""


def bounded_sum(exact: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """int64: `exact` plus noise, cut off at LARGEST_ANSWER on both sides.

    Formal guarantee: let L = LARGEST_ANSWER, Z the noise as a whole number of any size, and z the int64 nearest to it,
    which is what samplers return. Exact answers beyond L count as L, which moves no two of them further apart. Then
    cut(exact + cut(z, 2 L), L) = cut(exact + Z, L): the two differ only where abs(Z) > 2 L, and there both are L with
    the sign of Z. So the answer is a post-processing of exact + Z. No sum here exceeds 3 L, which int64 holds; without
    the cuts a sum beyond int64 would wrap around, and show the exact answer below the saturated noise.
    """
    bounded = np.clip(exact, -LARGEST_ANSWER, LARGEST_ANSWER)
    return np.clip(bounded + np.clip(noise, -2 * LARGEST_ANSWER, 2 * LARGEST_ANSWER), -LARGEST_ANSWER, LARGEST_ANSWER)


def positive_sums(exact: np.ndarray, noise: Callable[[int], np.ndarray], threshold: int) -> np.ndarray:
    """int64, shaped like `exact`, whose cells exist where they are positive: noisy sums of at least `threshold`.

    Zeros stand for all others. `noise` draws for so many cells.
    """
    answer = np.zeros_like(exact)
    positive = exact > 0
    noisy = bounded_sum(exact[positive], noise(int(positive.sum())))
    answer[positive] = np.where(noisy >= threshold, noisy, 0)
    return answer


class Noise(ABC):
    """The law of the noise that is added to an answer, and the privacy event of that answer. Its fields are public.

    Raises:
        ValueError: for a parameter that its event refuses.
    """

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        self.event()

    @abstractmethod
    def event(self) -> PrivacyEvent:
        """The privacy event of one answer with this noise, whatever the query's sensitivity."""

    @abstractmethod
    def event_under(self, sensitivity: float, other_sensitivity: float) -> PrivacyEvent:
        """The event of the same answer, had the sensitivity been the other one."""

    def event_within(self, factor: float) -> PrivacyEvent:
        """The event of any answer with this noise, had the sensitivity been at most `factor` times larger."""
        return self.event_under(1.0, factor)

    @abstractmethod
    def scale(self, sensitivity: float) -> float:
        """The scale parameter of the noise, in units of the answer."""

    def to_json(self) -> dict[str, Any]:
        """The kind and the parameters, as `noise_from_json` reads them."""
        return {"kind": self.kind, **asdict(self)}  # type: ignore[call-overload]


class CountNoise(Noise):
    """A noise that is added to integer answers.

    Attributes:
        norm: the norm in which it needs the query's sensitivity.
    """

    norm: ClassVar[Norm]

    @abstractmethod
    def deviation(self, sensitivity: float) -> float:
        """A bound on the standard deviation that is added to an answer, in its units."""

    @abstractmethod
    def add(self, exact: np.ndarray, sensitivity: float, randomness: Randomness) -> np.ndarray:
        """int64, shaped like the int64 array `exact`: the noisy answer."""


class SelectionNoise(Noise):
    """A noise by which one of several candidates is chosen."""

    @abstractmethod
    def choose(self, scores: np.ndarray, sensitivity: float, randomness: Randomness) -> int:
        """The index chosen among float64[m] `scores`, of which one record changes each by at most `sensitivity`."""
