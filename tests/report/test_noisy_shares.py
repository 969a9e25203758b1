"""Error bars of columns: the closed form against the propagation that inference has, and what is lost in noise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil import MST, Independent
from counterfoil.domain.domain import Domain
from counterfoil.inference.pooled_marginal import CountedTogether, pooled_marginals
from counterfoil.receipt.answers import read_answers
from counterfoil.report.noisy_shares import NoisyShares, noisy_shares
from small_releases import released

DOMAIN = Domain(("a", "b", "c"), (5, 3, 2))
ROWS = [tuple(row) for row in np.random.default_rng(2).integers(0, DOMAIN.sizes, (400, 3)).tolist()]


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
@pytest.mark.parametrize("method", [Independent(), MST()])
def test_standard_errors_are_those_of_the_linear_answers(method, relation):
    synthesis = released(method, DOMAIN, ROWS, relation=relation)
    answers = read_answers(synthesis.receipt.document)
    name = DOMAIN.attributes[0]
    known = noisy_shares(CountedTogether(answers), name)
    assert known is not None
    pooled = max(pooled_marginals(answers, (name,)), key=lambda one: (one.counts.size, -one.variance))
    for inside in ([0], [1, 2], [0, 2, 3, 4]):
        weights = np.isin(np.arange(5), inside).astype(float)
        top = pooled.of(weights)
        share = top.value / pooled.total.value
        off = top - pooled.total * share
        error = math.sqrt(off.covariance(off)) / pooled.total.value
        low, high = known.intervals([np.array(inside)])
        assert low[0] == pytest.approx(max(share - 2 * error, 0), abs=1e-9)
        assert high[0] == pytest.approx(min(share + 2 * error, 1), abs=1e-9)


def test_codes_that_were_counted_together_have_no_interval_of_their_own():
    known = NoisyShares(np.array([0, 1, 1, 2]), np.array([50.0, 30.0, 20.0]), 4.0, 100.0, 0.0)
    low, high = known.intervals([np.array([0]), np.array([1]), np.array([1, 2]), np.array([1, 2, 3])])
    assert np.isnan(low).tolist() == np.isnan(high).tolist() == [False, True, False, False]
    # 0.3 +- 2 sqrt(4 (2 / 3)) / 100
    assert low[2] == pytest.approx(0.3 - 2 * math.sqrt(8 / 3) / 100)


def test_a_count_far_below_zero_leaves_the_share_between_zero_and_two_standard_errors():
    """Of twenty categories that nobody has, one in two reports had an interval "0.0% to -0.8%"."""
    known = NoisyShares(np.arange(3), np.array([-60.0, 500.0, 560.0]), 400.0, 1000.0, 0.0)
    low, high = known.intervals([np.array([0]), np.array([1, 2])])
    error = math.sqrt(400 * 2 / 3) / 1000
    assert (low[0], high[0]) == pytest.approx((0.0, 2 * error))
    assert (low[1], high[1]) == pytest.approx((1 - 2 * error, 1.0))


def test_all_codes_together_are_certain_where_the_number_of_records_is_public():
    known = NoisyShares(np.arange(4), np.array([5.0, -1.0, 3.0, 90.0]), 25.0, 100.0, 0.0)
    low, high = known.intervals([np.arange(4)])
    assert (low[0], high[0]) == (1.0, 1.0)


def test_what_noise_moves_is_what_it_moves_in_simulation():
    counts = np.array([100.0, 300.0, 50.0, 550.0])
    known = NoisyShares(np.arange(4), counts, 400.0, 1000.0, 0.0)
    noise = np.random.default_rng(7).normal(0, 20, (200_000, 4))
    centered = noise - noise.mean(axis=1, keepdims=True)
    assert known.moved == pytest.approx(np.abs(centered).sum(axis=1).mean() / 2000, rel=0.01)


@settings(max_examples=50)
@given(st.lists(st.floats(-50, 500), min_size=2, max_size=8), st.floats(0.1, 400))
def test_a_count_is_lost_where_two_standard_errors_reach_zero(counts, variance):
    known = NoisyShares(np.arange(len(counts)), np.array(counts), variance, 1000.0, 0.0)
    assert known.lost.tolist() == [count < 2 * math.sqrt(variance) for count in counts]
    assert 0 <= known.moved <= 1


def test_nothing_is_known_without_counts():
    assert noisy_shares(None, "a") is None
