"""Points drawn from weights: floors and ceilings, exact sums, and expectations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from counterfoil.synthesis.resampling import independent, systematic

WEIGHTS = np.array([0.31, 0.0, 0.07, 0.22, 0.005, 0.195, 0.2])


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(0, 300))
def test_each_point_gets_the_floor_or_the_ceiling_of_its_share(seed, points, rows):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.full(points, 0.3)) * rng.uniform(0.1, 10)
    chosen = systematic(weights, rows, rng)
    shares = rows * weights / weights.sum()
    counts = np.bincount(chosen, minlength=points)
    assert chosen.shape == (rows,)
    assert (chosen[1:] >= chosen[:-1]).all()
    assert (counts >= np.floor(shares - 1e-9)).all()
    assert (counts <= np.ceil(shares + 1e-9)).all()


@pytest.mark.parametrize("points", [255, 256, 300, 70_000])
def test_integers_are_as_small_as_points_allow(points):
    chosen = systematic(np.ones(points), points, np.random.default_rng(0))
    assert chosen.dtype == np.min_scalar_type(points - 1)
    assert chosen.tolist() == list(range(points))


@pytest.mark.parametrize("draw", [systematic, independent])
def test_counts_are_unbiased(draw):
    """Means of 4000 counts against rows times the weights, in their own standard errors.

    Seven points and two ways: false alarm below 1e-6 by the normal approximation and a union bound.
    """
    rng, rows, repeats = np.random.default_rng(11), 23, 4000
    counts = np.array([np.bincount(draw(WEIGHTS, rows, rng), minlength=7) for _ in range(repeats)])
    expected = rows * WEIGHTS
    spread = np.maximum(counts.std(axis=0), 1e-12) / np.sqrt(repeats)
    limit = norm.isf(1e-6 / (2 * 2 * 7))
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


def test_what_one_rounding_adds_the_next_takes_away():
    """Four points of half a row each: in their order only neighbors' neighbors go together."""
    rng = np.random.default_rng(2)
    # Each of the two pairs has probability 1 / 2: missing one in 300 draws has probability 2^-299.
    assert {tuple(systematic(np.full(4, 0.25), 2, rng).tolist()) for _ in range(300)} == {(0, 2), (1, 3)}


@pytest.mark.parametrize("draw", [systematic, independent])
def test_what_cannot_be_drawn_from_is_refused(draw):
    rng = np.random.default_rng(0)
    assert len(draw(WEIGHTS, 0, rng)) == 0
    for wrong in (np.zeros(3), np.array([1.0, -0.1])):
        with pytest.raises(ValueError, match="`weights` must be non-negative and not all zero"):
            draw(wrong, 5, rng)
