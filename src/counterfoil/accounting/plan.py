"""Tight composition of noise that is all fixed before the first answer."""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

from counterfoil.accounting.budget import DELTA_SLACK, EPSILON_SLACK, Budget
from counterfoil.accounting.event import ApproximateEvent, GaussianEvent, PrivacyEvent

# Privacy-loss distributions are convolved by fast Fourier transforms, whose rounding is not part of their pessimism:
# it was seen to hide up to 0.1 * 2**-52 of delta an event (10,000 Gaussian events against their exact curve).
_TRANSFORM_ERROR = 2.0**-50


class PrivacyLossPlan:
    """Privacy-loss distributions convolved by dp-accounting: tight for mixtures, valid for a plan only.

    A pure event is composed as randomized response, which discrete Laplace noise of sensitivity 1 is exactly. A
    bounded-range event is composed as randomized response too, at its full epsilon, which is valid and loose. An
    approximate event is composed as the worst mechanism with its epsilon and delta.
    """

    name: ClassVar[str] = "privacy_loss_distribution"

    def delta(self, budget: Budget) -> float:
        return budget.delta

    def affords(self, budget: Budget, events: Sequence[PrivacyEvent]) -> bool:
        return self.epsilon(events, budget.delta) <= budget.epsilon

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        if not events:
            return 0.0
        usable = delta * (1 - DELTA_SLACK) - _TRANSFORM_ERROR * len(events)
        if usable <= 0:
            return math.inf
        parts = [_privacy_loss(event).self_compose(count) for event, count in Counter(events).items()]
        total = functools.reduce(lambda one, other: one.compose(other), parts)
        return float(total.get_epsilon_for_delta(usable)) + EPSILON_SLACK


def _privacy_loss(event: PrivacyEvent) -> Any:
    """The privacy-loss distribution of one event, discretized upwards."""
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    if isinstance(event, GaussianEvent):
        return pld.from_gaussian_mechanism(event.noise_multiplier)
    if isinstance(event, ApproximateEvent):
        return pld.from_privacy_parameters(common.DifferentialPrivacyParameters(event.epsilon, event.delta))
    return pld.from_randomized_response(2 / (1 + math.exp(event.pure_epsilon)), 2)
