"""Tight composition of noise that is all fixed before the first answer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import ClassVar

from counterfoil.accounting.budget import DELTA_SLACK, EPSILON_SLACK, Budget
from counterfoil.accounting.curve import gaussian_epsilon
from counterfoil.accounting.event import (
    ApproximateEvent,
    ApproximateGaussianEvent,
    GaussianEvent,
    PrivacyEvent,
    SubsampledGaussianEvent,
)
from counterfoil.accounting.privacy_loss import LARGEST_LOSS, LossAtoms, compose
from counterfoil.accounting.self_composition import MOST_STEPS, self_composed
from counterfoil.accounting.subsampling import LARGEST_MU, subsampled_step

_UPWARDS = Context(prec=60, rounding=ROUND_CEILING)
_DOWNWARDS = Context(prec=60, rounding=ROUND_FLOOR)
_SMALLEST_DELTA = 2.0**-800
_SMALLEST_PARAMETER = 1e-30
_TAIL = 2.0**-24  # the share of delta that pays for losses so rare that they are counted as infinite


class PrivacyLossPlan:
    """Privacy-loss distributions, convolved directly and rounded upwards: tight for mixtures, valid for a plan only.

    Gaussian events add up to one Gaussian. Runs on random batches add up where noise and sampling are the same, and
    are composed as `counterfoil.accounting.subsampling` says, or as noise without sampling where that is less or where
    the grid ends. A pure event is composed as randomized response, which discrete Laplace noise of sensitivity 1 is
    exactly. A bounded-range event is composed as randomized response too, at its full epsilon, which is valid and
    loose. An approximate event is composed as the worst mechanism with its epsilon and delta: with probability delta
    it reveals everything, and is randomized response otherwise. An approximate Gaussian event reveals everything with
    probability delta, and is a Gaussian event otherwise. In all of them the two neighbors can change places, so
    that one direction stands for all.

    `counterfoil.accounting.privacy_loss` has the proof that no rounding hides any delta.
    """

    name: ClassVar[str] = "privacy_loss_distribution"

    def delta(self, budget: Budget) -> float:
        """The delta at which the rule states its guarantee for `budget`."""
        return budget.delta

    def affords(self, budget: Budget, events: Sequence[PrivacyEvent]) -> bool:
        """Whether `budget` covers all `events` together."""
        return self.epsilon(events, budget.delta) <= budget.epsilon

    def epsilon(self, events: Sequence[PrivacyEvent], delta: float) -> float:
        """The smallest epsilon, rounded up, such that all `events` together are (epsilon, delta)-private."""
        if not events:
            return 0.0
        counts = Counter(events)
        usable = _left(delta * (1 - DELTA_SLACK), counts)
        if not usable >= _SMALLEST_DELTA:
            return math.inf
        return _smallest_epsilon(_without_deltas(counts), usable) + EPSILON_SLACK


def _without_deltas(counts: Counter[PrivacyEvent]) -> Counter[PrivacyEvent]:
    """Approximate Gaussian events as Gaussian ones: their deltas are taken off already."""
    plain: Counter[PrivacyEvent] = Counter()
    for event, count in counts.items():
        kept = GaussianEvent(event.noise_multiplier) if isinstance(event, ApproximateGaussianEvent) else event
        plain[kept] += count
    return plain


def _smallest_epsilon(counts: Counter[PrivacyEvent], delta: float) -> float:
    """The smallest epsilon of all events, apart from the deltas of approximate ones, rounded up."""
    runs, others = _sampled_runs(counts)
    unsampled = others.copy()
    for (multiplier, _), steps in runs.items():
        unsampled[GaussianEvent(multiplier)] += steps
    epsilon = _composed_epsilon(unsampled, Counter(), delta)
    # Sampling is no cost: were its grid too coarse for a gain, the noise alone would be the better bound.
    return min(epsilon, _composed_epsilon(others, runs, delta)) if runs else epsilon


def _sampled_runs(counts: Counter[PrivacyEvent]) -> tuple[Counter[tuple[float, float]], Counter[PrivacyEvent]]:
    """The steps of each (noise multiplier, sampling probability), and all other events.

    Runs are counted as if they were not sampled, as Gaussian events, where they are not, or where the grid ends.
    """
    runs: Counter[tuple[float, float]] = Counter()
    others: Counter[PrivacyEvent] = Counter()
    for event, count in counts.items():
        if isinstance(event, SubsampledGaussianEvent):
            runs[event.noise_multiplier, float(event.sampling_probability)] += event.steps * count
        else:
            others[event] += count
    for (multiplier, probability), steps in list(runs.items()):
        mu = 1 / multiplier
        if probability == 1 or mu > LARGEST_MU or steps > MOST_STEPS or mu * mu * steps > LARGEST_LOSS:
            others[GaussianEvent(multiplier)] += steps
            del runs[multiplier, probability]
    return runs, others


def _composed_epsilon(counts: Counter[PrivacyEvent], runs: Counter[tuple[float, float]], delta: float) -> float:
    mu = _whole_mu(counts)
    responses: Counter[float] = Counter()
    for event, count in counts.items():
        if not isinstance(event, GaussianEvent):
            responses[max(_epsilon(event), _SMALLEST_PARAMETER)] += count
    if not responses and not runs:
        return gaussian_epsilon(mu, delta) if mu < LARGEST_LOSS else math.inf
    # Without Gaussian noise no loss is larger than the sum of all.
    largest = math.fsum(epsilon * count for epsilon, count in responses.items()) * (1 + 2.0**-50)
    most = math.inf if mu or runs else largest
    if mu * mu + largest > LARGEST_LOSS:
        return most
    tail = _TAIL * delta / (4 * (len(responses) + len(runs)) + 4)
    parts = [LossAtoms.randomized_response(epsilon, count) for epsilon, count in responses.items()]
    for (multiplier, probability), steps in runs.items():
        parts.append(self_composed(subsampled_step(1 / multiplier, probability, tail / (2 * steps)), steps, tail))
    if mu:
        parts.append(LossAtoms.gaussian(mu, tail))
    return min(most, compose(parts, tail).smallest_epsilon(delta))


def _left(delta: float, counts: Counter[PrivacyEvent]) -> float:
    """What approximate events leave of `delta`, at least 0; rounded down.

    With E the probability that any of them reveals everything, the whole delta is E + (1 - E) d, where d is the delta
    of all that remains.
    """
    deltas = [
        (Decimal(event.delta), count)
        for event, count in counts.items()
        if isinstance(event, (ApproximateEvent, ApproximateGaussianEvent))
    ]
    if not deltas:
        return delta
    together = Decimal(0)
    for each, count in deltas:
        for _ in range(count):
            # E + d - E d, with every step rounded up.
            together = _UPWARDS.add(together, _UPWARDS.multiply(each, _UPWARDS.subtract(Decimal(1), together)))
    if not together < Decimal(delta):
        return 0.0
    left = _DOWNWARDS.subtract(Decimal(delta), together)
    return float(_DOWNWARDS.divide(left, _UPWARDS.subtract(Decimal(1), together))) * (1 - 2.0**-50)


def _whole_mu(counts: Counter[PrivacyEvent]) -> float:
    """The mu of all Gaussian events together, rounded up; 0 if there are none."""
    squares = [event.mu * event.mu * count for event, count in counts.items() if isinstance(event, GaussianEvent)]
    return max(math.sqrt(math.fsum(squares)) * (1 + 2.0**-50), _SMALLEST_PARAMETER) if squares else 0.0


def _epsilon(event: PrivacyEvent) -> float:
    return event.epsilon if isinstance(event, ApproximateEvent) else event.pure_epsilon
