"""Rounded weights: floors and ceilings, exact sums, and expectations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from counterfoil.reweighting.rounding import independent, systematic

WEIGHTS = np.array([0.31, 0.0, 0.07, 0.22, 0.005, 0.195, 0.2])


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(0, 300), st.booleans())
def test_each_point_gets_the_floor_or_the_ceiling_of_its_share(seed, points, rows, shuffle):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(points, 0.3)) * rng.uniform(0.1, 10)
    chosen = systematic(weights, rows, rng, shuffle=shuffle)
    shares = rows * weights / weights.sum()
    counts = np.bincount(chosen, minlength=points)
    assert chosen.dtype == np.int64
    assert chosen.shape == (rows,)
    assert (np.diff(chosen) >= 0).all()
    assert (counts >= np.floor(shares - 1e-9)).all()
    assert (counts <= np.ceil(shares + 1e-9)).all()


@pytest.mark.parametrize(
    ("draw", "options"), [(systematic, {"shuffle": True}), (systematic, {"shuffle": False}), (independent, {})]
)
def test_counts_are_unbiased(draw, options):
    """Means of 4000 counts against rows times the weights, in their own standard errors.

    Seven points and three ways: false alarm below 1e-6 by the normal approximation and a union bound.
    """
    rng, rows, repeats = np.random.default_rng(11), 23, 4000
    counts = np.array([np.bincount(draw(WEIGHTS, rows, rng, **options), minlength=7) for _ in range(repeats)])
    expected = rows * WEIGHTS
    spread = np.maximum(counts.std(axis=0), 1e-12) / np.sqrt(repeats)
    limit = norm.isf(1e-6 / (2 * 3 * 7))
    assert (np.abs(counts.mean(axis=0) - expected) <= limit * spread + 1e-9).all()


def test_independent_draws_vary_as_a_multinomial_and_systematic_ones_less():
    """Variances of counts over 4000 repeats; the multinomial's is known to 3% here (a deviation), tested to 20%.

    False alarm below 1e-6: a chi-square of 3999 degrees is within 20% of its mean except with probability 1e-15.
    """
    rng = np.random.default_rng(5)
    drawn = np.array([np.bincount(independent(WEIGHTS, 50, rng), minlength=7) for _ in range(4000)])
    assert drawn.var(axis=0) == pytest.approx(50 * WEIGHTS * (1 - WEIGHTS), rel=0.2)
    rounded = np.array([np.bincount(systematic(WEIGHTS, 50, rng), minlength=7) for _ in range(4000)])
    assert (rounded.var(axis=0) <= 0.25 + 1e-9).all()


def test_a_random_order_lets_any_points_be_rounded_up_together():
    """Four points of half a row each: in their own order only neighbors' neighbors go together, shuffled all pairs."""
    rng = np.random.default_rng(2)

    def pairs(shuffle: bool) -> set[tuple[int, ...]]:
        return {tuple(systematic(np.full(4, 0.25), 2, rng, shuffle=shuffle)) for _ in range(300)}

    assert pairs(False) == {(0, 2), (1, 3)}
    # Each of the six pairs has probability 1 / 6: missing one in 300 draws has probability 6 (5 / 6)^300 < 1e-22.
    assert len(pairs(True)) == 6


@pytest.mark.parametrize("draw", [systematic, independent])
def test_what_cannot_be_rounded_is_refused(draw):
    rng = np.random.default_rng(0)
    assert len(draw(WEIGHTS, 0, rng)) == 0
    with pytest.raises(ValueError, match=r"`rows` must be at least 0\. Found -1"):
        draw(WEIGHTS, -1, rng)
    with pytest.raises(ValueError, match="`weights` must be non-negative and not all zero"):
        draw(np.zeros(3), 5, rng)
