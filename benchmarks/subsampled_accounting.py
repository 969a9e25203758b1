"""What runs on random batches cost. Run: python -m benchmarks.subsampled_accounting.

Epsilon at delta 1e-6 of T steps with sampling probability q, where noise is such that the central limit for batches of
a fixed size says 1, 2 or 8: by `PrivacyLossPlan`, with its CPU seconds on one thread; by the limit that is meant for
Poisson sampling; by `RenyiFilter` at its best order; by dp-accounting's Renyi accountant for batches drawn without
replacement; and what a replaced record attains, for which dp-accounting's optimistic privacy buckets of
(1 - q) N(0, 1) + q N(mu, 1) against N(0, 1) are a lower bound.
"""

from __future__ import annotations

import logging
import time

import dp_accounting
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import RdpAccountant
from scipy.optimize import brentq

from counterfoil.accounting.curve import gaussian_epsilon
from counterfoil.accounting.event import SubsampledGaussianEvent
from counterfoil.accounting.plan import PrivacyLossPlan
from counterfoil.accounting.renyi_filter import RenyiFilter
from counterfoil.theory.subsampling_limits import poisson_sampling_limit, uniform_sampling_limit

_DELTA = 1e-6
_RECORDS = 10**6


def attained(event: SubsampledGaussianEvent, interval: float) -> float:
    """A lower bound of what a replaced record attains; losses are rounded down to multiples of `interval`."""
    one = privacy_loss_distribution.from_gaussian_mechanism(
        event.noise_multiplier,
        sampling_prob=event.sampling_probability,
        pessimistic_estimate=False,
        use_connect_dots=False,
        value_discretization_interval=interval,
    )
    return one.self_compose(event.steps).get_epsilon_for_delta(_DELTA)


def by_another_accountant(event: SubsampledGaussianEvent) -> float:
    """dp-accounting's Renyi accountant, with its own orders."""
    accountant = RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_ONE)
    noise = dp_accounting.GaussianDpEvent(event.noise_multiplier)
    drawn = round(_RECORDS * event.sampling_probability)
    accountant.compose(dp_accounting.SampledWithoutReplacementDpEvent(_RECORDS, drawn, noise), event.steps)
    return accountant.get_epsilon(_DELTA)


def report(steps: int, q: float, limit: float) -> None:
    """Prints a line of the table."""
    multiplier = brentq(lambda m: gaussian_epsilon(uniform_sampling_limit(m, q, steps), _DELTA) - limit, 0.2, 1e3)
    event = SubsampledGaussianEvent(multiplier, q, steps)
    seconds = time.process_time()
    planned = PrivacyLossPlan().epsilon([event], _DELTA)
    seconds = time.process_time() - seconds
    rule = RenyiFilter.for_run([event], _DELTA)
    columns = (
        planned,
        gaussian_epsilon(poisson_sampling_limit(multiplier, q, steps), _DELTA),
        rule.epsilon([event], _DELTA),
        by_another_accountant(event),
        attained(event, min(1e-4, limit / (50 * steps))),
    )
    figures = " ".join(f"{column:9.4f}" for column in columns)
    print(f"{steps:6d} {q:6g} {multiplier:9.4f} {limit:6g} {figures} {rule.order:6d} {seconds:8.2f}", flush=True)


def main() -> None:
    """Prints the table."""
    logging.disable(logging.WARNING)
    print("     T      q     noise  limit   planned   Poisson     Renyi  other RDP  attained  order  seconds")
    for steps, q in ((1, 0.2), (50, 0.2), (500, 0.2), (500, 0.01), (5000, 0.01), (20_000, 0.001)):
        for limit in (1.0, 2.0, 8.0):
            report(steps, q, limit)


if __name__ == "__main__":
    main()
