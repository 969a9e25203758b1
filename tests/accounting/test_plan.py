"""Plans against exact trade-offs, enumeration and looser composition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.event import BoundedRangeEvent, GaussianEvent, PureEvent
from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.accounting.plan import PrivacyLossPlan

multipliers = st.floats(0.5, 1e4)
epsilons = st.floats(1e-4, 5.0)
events = st.one_of(
    st.builds(GaussianEvent, multipliers), st.builds(PureEvent, epsilons), st.builds(BoundedRangeEvent, epsilons)
)


@pytest.mark.parametrize(("multiplier", "count"), [(3.0, 1), (30.0, 100), (60.0, 1000), (100.0, 10_000)])
@pytest.mark.parametrize("delta", [1e-5, 1e-9, 1e-11])
def test_the_plan_never_undercounts_gaussians(multiplier, count, delta):
    """Fourier transforms hide a little delta; without an allowance, 10,000 events at 1e-11 are undercounted."""
    sequence = [GaussianEvent(multiplier)] * count
    exact = GaussianFilter().epsilon(sequence, delta)
    planned = PrivacyLossPlan().epsilon(sequence, delta)
    assert exact <= planned
    if delta > 1e-10:
        assert planned <= 1.01 * exact


def test_the_plan_knows_randomized_response_exactly():
    """Two uses of randomized response, enumerated."""
    epsilon, delta = 0.7, 1e-3
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    p = np.outer([keep, 1 - keep], [keep, 1 - keep]).ravel()

    def true_delta(e: float) -> float:
        return float(np.maximum(p - math.exp(e) * p[::-1], 0).sum())

    planned = PrivacyLossPlan().epsilon([PureEvent(epsilon)] * 2, delta)
    assert true_delta(planned) <= delta
    assert true_delta(planned - 1e-3) > delta
    assert PrivacyLossPlan().epsilon([BoundedRangeEvent(epsilon)] * 2, delta) == planned


@settings(max_examples=15, deadline=None)
@given(st.lists(events, min_size=1, max_size=6))
def test_the_plan_never_exceeds_pure_composition(sequence):
    pure = [event for event in sequence if not isinstance(event, GaussianEvent)]
    if pure:
        assert PrivacyLossPlan().epsilon(pure, 1e-9) <= PureFilter().epsilon(pure, 1e-9) + 1e-3


def test_the_plan_refuses_what_it_cannot_resolve():
    assert PrivacyLossPlan().epsilon([], 1e-9) == 0.0
    assert PrivacyLossPlan().epsilon([GaussianEvent(100.0)], 0.0) == math.inf
    assert PrivacyLossPlan().epsilon([GaussianEvent(100.0)] * 100, 1e-14) == math.inf
