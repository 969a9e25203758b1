"""Runs of a column: longer where nothing stands out, and never because a threshold was lowered."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import gamma

from counterfoil.graphical_model.noisy_marginal import NEARLY_NORMAL
from counterfoil.graphical_model.runs import ANY_CHANCE, LONGEST, Runs, deviations_to_stand_out, runs_of


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 120), st.sampled_from([0.5, 3.0, 30.0]))
def test_runs_cover_the_column_in_order_with_their_own_sums(seed: int, cells: int, scale: float):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(4.0, cells) + rng.normal(0, scale, cells)
    runs = runs_of(counts, scale)
    assert runs.of_cell[0] == 0
    assert set(np.diff(runs.of_cell).tolist()) <= {0, 1}
    for run in range(len(runs.totals)):
        inside = runs.of_cell == run
        assert math.isclose(runs.totals[run], counts[inside].sum(), abs_tol=1e-9)
        assert math.isclose(runs.noise[run], scale * math.sqrt(inside.sum()))


def test_noise_alone_stands_out_as_seldom_as_the_threshold_says():
    # 98 empty cells in 400 tables: partial sums of up to 12 cells each exceed their threshold with a chance of at most
    # exp(-k^2 / 2) / 2 = 0.05 / (2 * 98), and there are less than 2 * 98 of them: 20 tables are expected at most.
    # More than 50 have a probability below 1e-8. With lower thresholds until something stands out it was all 400.
    found = 0
    for seed in range(400):
        found += bool(runs_of(np.random.default_rng(seed).normal(0, 250, 98), 250.0).stands_out.any())
    assert found <= 50


def test_laplace_noise_alone_stands_out_as_seldom_too():
    # As above. With the thresholds of normal noise, 0.05 / (2 * 98) becomes 0.002 a cell, and single cells alone make
    # some 65 tables of it: at most 50 would have a probability below 5%, and the seeds are fixed.
    noise = [np.random.default_rng(seed).laplace(0, 250 / math.sqrt(2), 98) for seed in range(400)]
    assert sum(bool(runs_of(one, 250.0, laplace=True).stands_out.any()) for one in noise) <= 50
    assert sum(bool(runs_of(one, 250.0).stands_out.any()) for one in noise) > 50, "the test sees what it is for"


@pytest.mark.parametrize("cells", [2, 10, 100, 1_000, 10_000])
def test_the_sum_of_many_cells_with_laplace_noise_passes_for_normal(cells: int):
    """A sum of k Laplace variables is the difference of two Gamma variables, whose tail is one integral."""
    terms = NEARLY_NORMAL
    threshold = deviations_to_stand_out(cells) * math.sqrt(2 * terms)
    chance, _ = quad(lambda g: gamma.pdf(g, terms) * gamma.sf(threshold + g, terms), 0, 200, limit=400)
    assert chance <= ANY_CHANCE / (2 * cells)


def test_what_stands_out_in_no_short_run_does_in_a_longer_one():
    threshold = deviations_to_stand_out(100)
    counts = np.zeros(100)
    counts[5] = 100.0
    # Any 6 cells stay below their threshold, any 12 reach theirs.
    counts[40:60] = 1.2 * threshold / math.sqrt(12)
    runs = runs_of(counts, 1.0)
    sizes = np.bincount(runs.of_cell)
    longer = runs.of_cell[40:60][sizes[runs.of_cell[40:60]] > LONGEST]
    assert runs.stands_out[longer].any()
    assert sizes[runs.of_cell[5]] == 1
    assert runs.stands_out[runs.of_cell[5]]


def test_runs_joined_with_one_that_was_rejected_do_not_stand_out():
    rejected = np.array([3.0, 3.0, math.inf, 3.0])
    runs = Runs(np.arange(4), np.array([100.0, 2.0, 50.0, 1.0]), np.ones(4), rejected).with_joined_rest()
    assert runs.totals.tolist() == [100.0, 53.0]
    assert runs.stands_out.tolist() == [True, False]
