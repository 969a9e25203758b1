"""Margin losses: what a linear model pays for the score `<w, x> y`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Outward step of the difference quotients in `steepness`: large against the rounding of the loss divided by it,
# small against the change of the slope.
_STEP = 1e-5


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss phi(t) of the margin t = <w, x> y, with the constants that its owner vouches for.

    Attributes:
      name: what reports call it.
      function: phi, elementwise on float arrays of any shape.
      lipschitz: K such that abs(phi(s) - phi(t)) <= K abs(s - t) everywhere.
      smoothness: a Lipschitz constant of the derivative; infinite where phi has a kink.
      convex: whether phi is convex, which makes `steepness` sharp.

    Raises:
      ValueError: a constant is not positive, or `lipschitz` is not finite.
    """

    name: str
    function: Callable[[Array], Array]
    lipschitz: float
    smoothness: float = math.inf
    convex: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.lipschitz < math.inf:
            raise ValueError(f"`lipschitz` must be positive and finite. Found {self.lipschitz}.")
        if not self.smoothness > 0:
            raise ValueError(
                f"`smoothness` must be positive (infinite for a loss with kinks). Found {self.smoothness}."
            )

    def __call__(self, margins: Array) -> Array:
        """phi at `margins`, same shape."""
        return np.asarray(self.function(np.asarray(margins, dtype=np.float64)), dtype=np.float64)

    def at(self, margin: float) -> float:
        """phi at one margin."""
        return float(self(np.array([margin]))[0])

    def span(self, radius: float) -> float:
        """Largest minus smallest value of phi that a grid of [-radius, radius] with its ends finds.

        The true spread is never smaller, and for a monotone loss it is the same. No two risks of models whose
        margins stay in the interval can differ by more than the true spread, so a bound above it says nothing.
        """
        values = self(np.linspace(-radius, radius, 4097))
        return float(values.max() - values.min())

    def steepness(self, radius: float) -> float:
        """An upper bound on the slope of phi within [-radius, radius], never above `lipschitz`.

        The slopes of a convex function grow, so those inside the interval lie between the chords just outside its
        two ends. The logistic loss has slope 0.731 at most on [-1, 1], and 1 on the line.
        """
        if not self.convex:
            return self.lipschitz
        outer = self(np.array([-radius - _STEP, -radius, radius, radius + _STEP]))
        rounding = 8 * float(np.finfo(float).eps) * (1 + float(np.abs(outer).max())) / _STEP
        steepest = max(abs(outer[1] - outer[0]), abs(outer[3] - outer[2])) / _STEP
        return min(self.lipschitz, float(steepest) + rounding)


def _logistic(margins: Array) -> Array:
    return np.logaddexp(0.0, -margins)


def _hinge(margins: Array) -> Array:
    return np.maximum(0.0, 1.0 - margins)


LOGISTIC = Loss("logistic", _logistic, lipschitz=1.0, smoothness=0.25, convex=True)
"""ln(1 + exp(-t)): 1-Lipschitz, with a derivative that is 1/4-Lipschitz."""

HINGE = Loss("hinge", _hinge, lipschitz=1.0, convex=True)
"""max(0, 1 - t): 1-Lipschitz, with a kink at 1."""
