"""How the budget of a discovery is divided over its questions, all before the first answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.curve import largest_mu
from counterfoil.accounting.filter import NEVER_MORE, usable_budget
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.noise import CountNoise
from counterfoil.noise.thresholded_gaussian import ThresholdedGaussianNoise

SHARES: Mapping[str, float] = {"places": 0.2, "ranges": 0.4, "texts": 0.4}
"""Of the whole mu**2, by question."""

_DELTA_SHARE = 0.25
"""Of delta, for texts that one record alone has. Thresholds grow with the root of its logarithm, and so does what the
rest of delta buys: a quarter costs either less than 3%."""


@dataclass(frozen=True)
class DiscoveryPlan:
    """The noise of each question, in the order in which they are asked; None where one can't arise.

    Args:
        places: of what the cells are.
        ranges: of where numbers and days lie.
        texts: of which texts are frequent.
        shares: of mu**2, by question.
    """

    places: GaussianNoise
    ranges: GaussianNoise | None
    texts: ThresholdedGaussianNoise | None
    shares: Mapping[str, float]

    @property
    def noises(self) -> tuple[CountNoise, ...]:
        """Those of the questions that can arise."""
        return (self.places, *([self.ranges] if self.ranges else []), *([self.texts] if self.texts else []))


def plan_discovery(budget: Budget, *, ranges: bool, texts: bool) -> DiscoveryPlan:
    """Divides a budget.

    The Gaussian parts add up as one Gaussian mechanism of mu**2 = sum of mu_i**2, for the delta that the threshold of
    texts leaves.

    Args:
        budget: of which all may be spent.
        ranges: whether a column may have numbers or days.
        texts: whether a column may be one of texts.

    Raises:
        ValueError: for a budget without a delta, or too small a one.
    """
    if budget.delta == 0:
        raise ValueError(
            "`delta` must be positive to buy a schema: categories that nobody listed can't be told with pure privacy. "
            "Found 0: give a delta, such as 1e-9."
        )
    asked = {"places": True, "ranges": ranges, "texts": texts}
    whole = math.fsum(share for name, share in SHARES.items() if asked[name])
    shares = {name: share / whole for name, share in SHARES.items() if asked[name]}
    usable = usable_budget(budget, PrivacyLossPlan.name)
    delta = _DELTA_SHARE * usable.delta if texts else 0.0
    left = Budget.unrestricted(usable.epsilon, (usable.delta - delta) * (1 - 1e-9))
    mu = largest_mu(left) * (1 - 1e-9)
    multiplier = {name: NEVER_MORE / (mu * math.sqrt(share)) for name, share in shares.items()}
    return DiscoveryPlan(
        GaussianNoise(multiplier["places"]),
        GaussianNoise(multiplier["ranges"]) if ranges else None,
        ThresholdedGaussianNoise(multiplier["texts"], delta) if texts else None,
        shares,
    )
