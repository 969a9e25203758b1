"""From a probability measure on the candidates to the next population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from counterfoil.synthesis.resampling import independent, systematic


class Selection(Protocol):
    """Chooses the next population; post-processing."""

    def choose(self, weights: np.ndarray, population: int, rng: np.random.Generator) -> np.ndarray:
        """int64 indices of candidates, with repetitions; none where every multiplicity rounds to zero.

        Args:
            weights: float64 [m], a probability measure.
            population: the number of points to choose, or about that number.
            rng: public randomness.
        """
        ...

    def describe(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Resample:
    """Draws with replacement: Algorithms 2 and 3, line 9.

    Args:
        stratified: whether the draws share one random start, which has a smaller variance than the paper's
            independent draws.
    """

    stratified: bool = False

    def choose(self, weights: np.ndarray, population: int, rng: np.random.Generator) -> np.ndarray:
        return (systematic if self.stratified else independent)(weights, population, rng)

    def describe(self) -> dict[str, Any]:
        return {"selection": "stratified" if self.stratified else "independent draws"}


@dataclass(frozen=True)
class Multiplicities:
    """Repeats each candidate round(n weight / B) B times: Algorithm 1, line 9, which assumes B copies of every record.

    Args:
        copies: B.

    Raises:
        ValueError: where it is below 1.
    """

    copies: int = 1

    def __post_init__(self) -> None:
        if self.copies < 1:
            raise ValueError(f"`copies` must be at least 1. Found {self.copies}.")

    def choose(self, weights: np.ndarray, population: int, rng: np.random.Generator) -> np.ndarray:
        del rng
        multiplicities = (np.rint(population * weights / self.copies) * self.copies).astype(np.int64)
        return np.repeat(np.arange(len(weights)), multiplicities)

    def describe(self) -> dict[str, Any]:
        return {"selection": "multiplicities", "copies": self.copies}
