"""Asking for marginals: what they cost, and the deviation that is passed on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.accounting.neighbors import PrivacyUnit
from counterfoil.curator.queries.marginal import MarginalCounts
from counterfoil.domain.coarsening import Coarsening, identity
from counterfoil.domain.domain import Domain
from counterfoil.marginals.measure import marginal_deviation, measure, measure_by_size
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.laplace import LaplaceNoise
from sensitive_tables import UNIT
from small_releases import counts_of, mu_squared_of, opened

PAIR = Domain(("a", "b"), (3, 4))
ROWS = [(i % 3, i % 4) for i in range(120)]
# By relation and rows a unit: the l2 and the l1 sensitivity of one marginal.
SENSITIVITIES = [
    ("add_or_remove_one", None, 1, 1),
    ("replace_one", None, math.sqrt(2), 2),
    ("add_or_remove_one", 3, 3, 3),
    ("replace_one", 3, 3 * math.sqrt(2), 6),
]


def held(relation="add_or_remove_one", max_rows=None, **keywords):
    unit = None if max_rows is None else PrivacyUnit(UNIT, max_rows)
    units = None if unit is None else [str(i) for i in range(len(ROWS))]
    return opened(PAIR, ROWS, relation=relation, privacy_unit=unit, units=units, **keywords)


@pytest.mark.parametrize(("relation", "max_rows", "l2", "l1"), SENSITIVITIES)
def test_deviations_follow_the_sensitivity(relation, max_rows, l2, l1):
    with held(relation, max_rows) as curator:
        account = curator.filter(GaussianFilter())
        assert marginal_deviation(account, PAIR, 0.01) == pytest.approx(math.sqrt(100 * l2**2 + 2.25), rel=1e-9)
        two = MarginalCounts(PAIR, (("a",), ("b",)))
        expected = math.sqrt(100 * 2 * l2**2 + 2.25)
        assert account.deviation(two, GaussianNoise(10.0)) == pytest.approx(expected, rel=1e-9)
        # A discrete Laplace with scale s has nearly the deviation of the continuous one, sqrt(2) s.
        assert account.deviation(two, LaplaceNoise(0.1)) == pytest.approx(math.sqrt(2) * 20 * l1, rel=1e-9)


@pytest.mark.parametrize("noise", [GaussianNoise(4.0), LaplaceNoise(0.5)])
def test_answers_scatter_as_they_say(noise):
    """The mean square of 12,000 cells is within 10% of the variance: five deviations of it, or more."""
    rule = PureFilter() if isinstance(noise, LaplaceNoise) else GaussianFilter()
    wide = Domain(("a", "b"), (100, 120))
    with opened(wide, [(1, 1)], budget=Budget(10.0, 0.0 if rule.name == "pure" else 1e-6)) as curator:
        (noisy,) = measure(curator.filter(rule), wide, [("a", "b")], noise)
    assert noisy.clique == ("a", "b")
    assert noisy.counts.shape == (100, 120)
    assert np.mean(noisy.counts**2) == pytest.approx(noisy.scale**2, rel=0.1)
    assert noisy.laplace == isinstance(noise, LaplaceNoise)


def test_one_question_for_several_marginals():
    with held(budget=Budget(1e4, 1e-6)) as curator:
        account = curator.filter(GaussianFilter())
        one, other = measure(account, PAIR, [("a",), ("a", "b")], GaussianNoise(0.01))
        assert len(curator.charges()) == 1
    assert (one.clique, other.clique) == (("a",), ("a", "b"))
    assert one.scale == other.scale == pytest.approx(math.sqrt(0.01**2 * 2 + 2.25))
    assert np.abs(other.counts - counts_of(PAIR, ROWS, ("a", "b"))).max() < 12  # eight deviations


@given(
    st.lists(st.floats(-5, 500), min_size=3, max_size=3),
    st.lists(st.floats(-5, 500), min_size=4, max_size=4),
    st.lists(st.floats(-5, 500), min_size=12, max_size=12),
    st.floats(1e-3, 0.02),
)
@settings(max_examples=25, deadline=None)
def test_larger_marginals_get_more_in_the_power_of_two_thirds(one, other, both, mu_squared):
    estimates = {("a",): np.array(one), ("b",): np.array(other), ("a", "b"): np.array(both).reshape(3, 4)}
    with held(budget=Budget(5.0, 1e-6)) as curator:
        noisy = measure_by_size(curator.filter(GaussianFilter()), identity(PAIR), estimates, mu_squared)
        costs = [mu_squared_of(charge) for charge in curator.charges()]
    assert [marginal.clique for marginal in noisy] == list(estimates)
    deviation = math.sqrt(3 / mu_squared + 2.25)
    # Cells that stand out count whole, others by what they hold of the noise.
    sizes = [max(sum(min(max(x, 0) / deviation, 1) for x in table.ravel()), 1) for table in estimates.values()]
    shares = np.array(sizes) ** (2 / 3)
    shares = np.maximum(shares / shares.sum(), 0.02)
    assert costs == pytest.approx(list(mu_squared * shares / shares.sum()), rel=1e-6)
    assert math.fsum(costs) <= mu_squared


def test_a_marginal_of_nothing_still_gets_something():
    estimates = {("a",): np.zeros(3), ("a", "b"): np.full((3, 4), 1e6)}
    wide = Domain(("a", "b"), (3, 4000))
    large = {("a",): np.zeros(3), ("a", "b"): np.full((3, 4000), 1e6)}
    for domain, given_ in ((PAIR, estimates), (wide, large)):
        with opened(domain, [(1, 1)]) as curator:
            measure_by_size(curator.filter(GaussianFilter()), identity(domain), given_, 0.01)
            smallest = min(mu_squared_of(charge) for charge in curator.charges())
        assert smallest >= 0.01 * 0.02 / 1.02 * (1 - 1e-6)


def test_merged_values_are_counted_together():
    coarsening = Coarsening(PAIR, {"a": np.array([0, 1, 1]), "b": np.array([0, 0, 0, 1])})
    with held(budget=Budget(1e4, 1e-6)) as curator:
        account = curator.filter(GaussianFilter())
        (noisy,) = measure(account, PAIR, [("a", "b")], GaussianNoise(0.01), coarsening=coarsening)
    assert noisy.counts.shape == (2, 2)
    assert np.abs(noisy.counts - [[30, 10], [60, 20]]).max() < 13


@given(st.floats(1e-9, 1e9))
def test_noise_never_costs_more_than_asked(mu_squared):
    cost = GaussianFilter().event(mu_squared).mu ** 2
    assert mu_squared * (1 - 1e-11) <= cost <= mu_squared
