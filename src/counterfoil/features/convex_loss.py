"""Convex losses of linear models, with the constants that bound how far they move."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterfoil.schema.errors import did_you_mean

KINDS = ("logistic", "squared", "absolute", "huber")

DELTA = 0.25
"""Where Huber's loss turns linear if nothing else is said: an eighth of the target's range."""


@dataclass(frozen=True)
class ConvexLoss:
    """A loss of a score t = <theta, x>: psi(label t) for labels -1 and 1, or psi(y - t) for a number y in [-1, 1].

    - `logistic`: psi(s) = ln(1 + exp(-s)) of the label times the score;
    - `squared`: psi(s) = s^2 of the residual;
    - `absolute`: psi(s) = abs(s);
    - `huber`: psi(s) = s^2 / 2 up to abs(s) = delta, and delta (abs(s) - delta / 2) beyond.

    Let g(t) be the loss at the score t minus that at 0, o(t) and e(t) its odd and its even part, and abs(t) <= r. Then
    abs(o(t)) <= `odd` abs(t) and 0 <= e(t) <= `even(r)` abs(t). Proof. *Logistic.* ln(1 + exp(-s)) = -s / 2 + ln(2
    cosh(s / 2)): o(t) = -label t / 2, and e(t) = ln cosh(t / 2), which is convex with e(0) = 0, hence at most abs(t)
    e(r) / r. *Of residuals.* psi is even and convex with psi(0) = 0, and its right derivative psi' is concave on [0,
    inf), where it is not negative. So psi'(a + b) <= psi'(a) + psi'(b) there. With y >= 0 by symmetry, o'(t) =
    -(psi'(y - t) + psi'(y + t)) / 2 and e'(t) = (psi'(t + y) + psi'(t - y)) / 2. For 0 <= t <= y the former is at most
    psi'(y) in absolute value by concavity; for t > y it is (psi'(t + y) - psi'(t - y)) / 2 <= psi'(2 y) / 2 <= psi'(y);
    and psi'(y) <= psi'(1), which is `odd`. With t and y exchanged e'(t) <= psi'(t), hence e(r) <= psi(r); as e is
    convex, e(t) <= abs(t) psi(r) / r.

    Args:
        kind: one of `KINDS`.
        delta: of `huber`, in half ranges of the target; None for the others.

    Raises:
        ValueError: for an unknown kind, or a delta that is not positive or goes with another kind.
    """

    kind: str
    delta: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(
                f"`loss` must be {', '.join(KINDS[:-1])} or {KINDS[-1]}. Found {self.kind!r}."
                f"{did_you_mean(str(self.kind), KINDS)}"
            )
        if self.kind != "huber":
            if self.delta is not None:
                raise ValueError(f"`delta` goes with the loss huber. Found {self.delta!r} with {self.kind}: leave it.")
            return
        given = DELTA if self.delta is None else self.delta
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given < math.inf:
            raise ValueError(f"`delta` of Huber's loss must be positive and finite. Found {self.delta!r}.")
        object.__setattr__(self, "delta", float(given))

    @property
    def of_labels(self) -> bool:
        """Whether the target is a label -1 or 1; else a number in [-1, 1]."""
        return self.kind == "logistic"

    def reach(self, radius: float) -> float:
        """The largest absolute value of psi's argument, for scores in [-radius, radius]."""
        return radius if self.of_labels else 1 + radius

    def __call__(self, s: np.ndarray) -> np.ndarray:
        """psi, elementwise: of residuals with sums, products and comparisons of single numbers alone."""
        if self.kind == "logistic":
            return np.asarray(np.logaddexp(0.0, -s))
        if self.kind == "squared":
            return s * s
        size = np.abs(s)
        if self.delta is None:
            return size
        inner = np.minimum(size, self.delta)
        return inner * inner * 0.5 + (size - inner) * self.delta

    def slope(self, s: np.ndarray) -> np.ndarray:
        """psi', elementwise; the right derivative at a kink."""
        if self.kind == "logistic":
            return np.asarray(-1 / (1 + np.exp(s)))
        if self.kind == "squared":
            return 2 * s
        if self.delta is None:
            return np.where(s < 0, -1.0, 1.0)
        return np.clip(s, -self.delta, self.delta)

    @property
    def curvature(self) -> float:
        """The largest second derivative; infinite at a kink."""
        return {"logistic": 0.25, "squared": 2.0, "absolute": math.inf, "huber": 1.0}[self.kind]

    @property
    def base(self) -> float:
        """The largest loss psi(y) at the score 0; 0 for `logistic`, whose loss there is the constant ln 2."""
        return 0.0 if self.of_labels else self._at(1.0)

    def steepest(self, radius: float) -> float:
        """The largest abs(psi') for scores in [-radius, radius]: a Lipschitz constant of the loss in the score."""
        end = self.reach(radius)
        return abs(float(self.slope(np.array([-end if self.of_labels else end]))[0]))

    @property
    def odd(self) -> float:
        """See above."""
        return 0.5 if self.of_labels else float(self.slope(np.ones(1))[0])

    def even(self, radius: float) -> float:
        """See above."""
        if not self.of_labels:
            return self._at(radius) / radius
        half = radius / 2
        return (half + math.log1p(math.exp(-2 * half)) - math.log(2)) / radius

    def _at(self, s: float) -> float:
        return float(self(np.array([s]))[0])
