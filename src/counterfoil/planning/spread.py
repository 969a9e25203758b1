"""A figure over several rehearsals: its mean, and how far they differ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """A figure over n rehearsals.

    Args:
        mean: over them.
        deviation: the standard deviation with n - 1 in its denominator; None for a single one.
        least: the smallest.
        most: the largest.
    """

    mean: float
    deviation: float | None
    least: float
    most: float

    @staticmethod
    def of(figures: Iterable[float]) -> Spread | None:
        """The spread of some figures, those that are NaN left out; None where none is left."""
        known = [figure for figure in figures if not math.isnan(figure)]
        if not known:
            return None
        mean = math.fsum(known) / len(known)
        squares = math.fsum((figure - mean) ** 2 for figure in known)
        deviation = math.sqrt(squares / (len(known) - 1)) if len(known) > 1 else None
        return Spread(mean, deviation, min(known), max(known))

    def to_json(self) -> dict[str, float | None]:
        """The figures by their names."""
        return {"mean": self.mean, "deviation": self.deviation, "least": self.least, "most": self.most}
