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
from counterfoil.noise.open_domain_gaussian import OpenDomainGaussianNoise

SHARES: Mapping[str, float] = {"places": 0.2, "first": 0.1, "second": 0.25, "third": 0.45}
"""Of the whole mu**2: of what cells are, and of three later questions, which may be of texts or of numbers."""

SIGNS_SHARE = 0.02
"""Of the whole mu**2 where the decimal sign of a file is asked for: one vote of each record tells it, however many
columns there are, from one and a half times as many records as a column needs to show."""

_DELTA_SHARE = 0.3
"""Of delta, for texts that one record alone has. Thresholds grow with the root of its logarithm, and so does what the
rest of delta buys: three tenths cost either less than 3%."""


@dataclass(frozen=True)
class DiscoveryPlan:
    """The noise of each question, in the order in which they are asked; None where one can't arise.

    Args:
        places: of what the cells are.
        later: of the later questions. Which of them are about texts, and which about numbers, follows from answers
            (`steps`); their noise is the same for either.
        shares: of mu**2, by question.
        signs: of the question before all others, which decimal sign a file has; None where that is known.
    """

    places: GaussianNoise
    later: tuple[GaussianNoise | OpenDomainGaussianNoise, ...]
    shares: Mapping[str, float]
    signs: GaussianNoise | None = None

    @property
    def tells_texts(self) -> bool:
        """Whether a question may be about texts."""
        return any(isinstance(noise, OpenDomainGaussianNoise) for noise in self.later)

    @property
    def noises(self) -> tuple[CountNoise, ...]:
        """Those of all questions, in order."""
        return (*(() if self.signs is None else (self.signs,)), self.places, *self.later)


def plan_discovery(
    budget: Budget, *, ranges: bool, texts: bool, signs: bool = False, share: float = 1.0
) -> DiscoveryPlan:
    """Divides a budget.

    Where columns may be of texts there are three later questions, and where they can't there is one, if any. The
    Gaussian parts add up as one Gaussian mechanism of mu**2 = sum of mu_i**2, for the delta that the thresholds of
    texts leave.

    Args:
        budget: of which all may be spent, or a share.
        ranges: whether a column may have numbers or days.
        texts: whether a column may be one of texts.
        signs: whether the decimal sign is asked for first.
        share: of mu**2, for all questions, above 0 and at most 1; the rest is for one release (`RestOfBudget`).

    Raises:
        ValueError: for a budget without a delta, or too small a one.
    """
    if budget.delta == 0:
        raise ValueError(
            "`delta` must be positive to buy a schema: categories that nobody listed can't be released with pure "
            "privacy. Found 0: give a delta, such as 1e-9."
        )
    shares = _shares(ranges=ranges, texts=texts)
    if signs:
        shares = {"signs": SIGNS_SHARE} | {name: (1 - SIGNS_SHARE) * part for name, part in shares.items()}
    usable = usable_budget(budget, PrivacyLossPlan.name)
    delta = _DELTA_SHARE * usable.delta if texts else 0.0
    left = Budget.unrestricted(usable.epsilon, (usable.delta - delta) * (1 - 1e-9))
    mu = largest_mu(left) * math.sqrt(share) * (1 - 1e-9)
    multipliers = [NEVER_MORE / (mu * math.sqrt(share)) for share in shares.values()]
    first = GaussianNoise(multipliers.pop(0)) if signs else None
    places, *later = multipliers
    if texts:
        opened = tuple(OpenDomainGaussianNoise(multiplier, delta / len(later)) for multiplier in later)
        return DiscoveryPlan(GaussianNoise(places), opened, shares, first)
    return DiscoveryPlan(GaussianNoise(places), tuple(map(GaussianNoise, later)), shares, first)


def _shares(*, ranges: bool, texts: bool) -> dict[str, float]:
    if texts:
        return dict(SHARES)
    return {"places": SHARES["places"], "ranges": 1 - SHARES["places"]} if ranges else {"places": 1.0}
