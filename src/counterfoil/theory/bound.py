"""A proved inequality, evaluated: the number, what it is made of, and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """The right-hand side of a proved inequality.

    Attributes:
      terms: the parts of the bound by name.
      trivial: what holds without any proof; a bound at or above it says nothing.
      assumptions: sentences without which the value is not a bound.
      source: the paper and equation, or the page of the documentation with the proof.
    """

    terms: Mapping[str, float]
    trivial: float
    assumptions: tuple[str, ...]
    source: str

    @property
    def value(self) -> float:
        """The bound: the sum of its terms."""
        return math.fsum(self.terms.values())

    @property
    def vacuous(self) -> bool:
        """Whether the bound is at least the trivial one, and so says nothing."""
        return not self.value < self.trivial

    def __str__(self) -> str:
        parts = " + ".join(f"{value:.3g} ({name})" for name, value in self.terms.items())
        verdict = f", vacuous: {self.trivial:.3g} holds for any data" if self.vacuous else ""
        return f"at most {self.value:.4g} = {parts}{verdict}"
