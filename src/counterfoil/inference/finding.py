"""What is concluded about the real table: an estimate, its interval, and what that rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Finding:
    """One number about the population that the real records come from.

    Args:
        about: what it is, in words.
        estimate: the number; NaN where nothing is known of it, and the interval holds all that it can be.
        lower: the lower end of the interval.
        upper: its upper end.
        level: the probability that the interval holds the number, but for what `basis` says of it.
        noise: half the width that the interval would have for the noise of the release alone: it then speaks of the
            real table itself.
        sampling: half the width that it would have for sampling alone, were there no noise.
        charges: the charges that it rests on, from 1, as the receipt numbers them.
        basis: what it rests on, a sentence each: the answers, and what is assumed.
        measured: whether it rests on noisy answers; False where an error bar is all that is known, or none is needed.
        decided: whether the schema alone says it: of any records, with an interval of no width.
        bins: half the width of what bins and groups leave open, were there neither noise nor sampling.
    """

    about: str
    estimate: float
    lower: float
    upper: float
    level: float
    noise: float
    sampling: float
    charges: tuple[int, ...]
    basis: tuple[str, ...]
    measured: bool = True
    decided: bool = False
    bins: float = 0.0

    @staticmethod
    def between(
        ends: tuple[float, float],
        *,
        noise: tuple[float, float],
        sampling: tuple[float, float],
        about: str,
        estimate: float,
        level: float,
        charges: tuple[int, ...],
        basis: tuple[str, ...],
    ) -> Finding:
        """From the ends of its interval, and of those for the noise and for sampling alone."""
        noise_half, sampling_half = ((upper - lower) / 2 for lower, upper in (noise, sampling))
        return Finding(about, estimate, *ends, level, noise_half, sampling_half, charges, basis)

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON; an end of the interval that is unknown is null."""
        numbers = {
            name: value if math.isfinite(value) else None
            for name in ("estimate", "lower", "upper", "level", "noise", "sampling", "bins")
            for value in [float(getattr(self, name))]
        }
        words = {"charges": list(self.charges), "basis": list(self.basis), "measured": self.measured}
        words |= {"decided": self.decided}
        return {"about": self.about, **numbers, **words}


@dataclass(frozen=True)
class Test:
    """A test of a hypothesis about the population.

    Args:
        about: the hypothesis, in words.
        statistic: how far the answers are from it.
        p_value: the probability of a statistic at least as large where the hypothesis holds; the noise counts.
        noise_share: the share of the statistic's expectation, where the hypothesis holds, that is noise.
        charges: the charges that it rests on, from 1.
        basis: what it rests on, a sentence each.
        parameters: what else there is to say about it, such as how many simulations the p-value comes from.
    """

    about: str
    statistic: float
    p_value: float
    noise_share: float
    charges: tuple[int, ...]
    basis: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The test as JSON."""
        numbers = {"statistic": self.statistic, "p_value": self.p_value, "noise_share": self.noise_share}
        words = {"charges": list(self.charges), "basis": list(self.basis), "parameters": dict(self.parameters)}
        return {"about": self.about, **numbers, **words}


class Unanswerable(ValueError):
    """The release says nothing about what was asked; the sentence says which relation was never measured."""
