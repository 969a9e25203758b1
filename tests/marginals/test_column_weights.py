"""How another measurement of all columns is divided among them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, minimize

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.domain.coarsening import Coarsening, identity
from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.marginals.column_weights import LEAST_SHARE, column_weights, wanted_shares
from counterfoil.marginals.measure import measure, size_of, weights_for
from counterfoil.noise.gaussian import GaussianNoise
from small_releases import mu_squared_of, opened

NAMES = "abcdefgh"


def columns(cells: list[int], scale: float, count: float = 1e6) -> tuple[list[NoisyMarginal], Coarsening]:
    """Columns of so many codes, of which each holds `count` records, measured with one noise."""
    domain = Domain(tuple(NAMES[: len(cells)]), tuple(cells))
    known = [NoisyMarginal((name,), np.full(domain[name], count), scale) for name in domain.attributes]
    return known, identity(domain)


@settings(max_examples=40)
@given(st.lists(st.integers(1, 300), min_size=2, max_size=8), st.floats(0.3, 30.0))
def test_shares_leave_the_least_error_that_any_could(cells: list[int], deviation: float) -> None:
    """Against a solver of the program: sum(size / sqrt(precision)), all cells being far above the noise."""
    known, whole = columns(cells, 1.0)
    shares = wanted_shares(known, whole, deviation)
    assert shares.mean() == pytest.approx(1.0, rel=1e-9)
    assert shares.min() >= LEAST_SHARE

    def error(given: np.ndarray) -> float:
        return float((np.array(cells) / np.sqrt(deviation**2 + given)).sum() / sum(cells))

    whole_budget = LinearConstraint(np.ones(len(cells)), len(cells), len(cells))
    best = minimize(
        error, np.ones(len(cells)), method="SLSQP", bounds=Bounds(LEAST_SHARE, 16.0), constraints=[whole_budget]
    )
    assert error(shares) <= float(best.fun) * (1 + 1e-6)


def test_cells_that_noise_hides_do_not_count():
    known, whole = columns([2, 500], 10.0, count=0.0)
    known[0].counts[:] = 1e6
    assert wanted_shares(known, whole, 10.0)[0] > 1, "two cells stand out, and five hundred do not"
    assert size_of(np.array([-5.0, 0.0, 2.0, 50.0]), 4.0) == 1.5
    assert size_of(np.zeros(3), 4.0) == 1.0


def test_codes_that_are_counted_together_are_one():
    known, whole = columns([8, 8], 1.0)
    halves = Coarsening(whole.fine, {**whole.codes, "b": np.arange(8) // 4})
    assert wanted_shares(known, whole, 1.0) == pytest.approx([1.0, 1.0])
    assert wanted_shares(known, halves, 1.0)[0] > 1


def test_equal_shares_have_no_weights_and_others_whole_ones():
    assert weights_for(np.ones(4)) == ()
    assert weights_for(np.array([0.5, 1.5])) == (23, 39)
    assert column_weights(*columns([6, 6, 6], 2.0), 2.0) == ()
    for share in np.linspace(0.5, 16.0, 50):
        first, other = weights_for(np.array([share, 1.0])) or (1, 1)
        assert (first / other) ** 2 == pytest.approx(share, rel=0.05)


def test_a_larger_weight_has_less_noise_for_the_same_budget():
    """The mean square of 12,000 cells is within 10% of the variance: five deviations of it, or more."""
    wide, noise, weights = Domain(("a", "b", "c"), (100, 120, 120)), GaussianNoise(3.0), (1, 4)
    with opened(wide, [(1, 1, 1)], budget=Budget(10.0, 1e-6)) as curator:
        account = curator.filter(GaussianFilter())
        noisy = measure(account, wide, [("a", "b"), ("a", "c")], noise, weights=weights)
        (charge,) = curator.charges()
    assert mu_squared_of(charge.to_json()) == pytest.approx(1 / 9)
    assert charge.parameters["weights"] == [1, 4]
    for one, weight in zip(noisy, weights, strict=True):
        assert one.scale == pytest.approx(math.sqrt(17 * 9 + 2.25) / weight)
        assert np.mean(one.counts**2) == pytest.approx(one.scale**2, rel=0.1)
