"""Smoothed counts: runs by brute force, sums that are kept, and tails that noise does not fill."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.graphical_model.merging import MOST_CODES, merge_runs
from counterfoil.graphical_model.runs import LONGEST, Runs, deviations_to_stand_out, find_runs
from counterfoil.graphical_model.smoothing import _expected, spread

COUNTS = st.lists(st.integers(-40, 200), min_size=1, max_size=40).map(lambda counts: np.array(counts, dtype=float))
SPANS = st.sampled_from([0.0, 0.3, 1.0, 1.0, 1.0, 2.0])


@st.composite
def columns(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    counts = draw(COUNTS)
    return counts, np.array(draw(st.lists(SPANS, min_size=len(counts), max_size=len(counts))))


@settings(max_examples=200, deadline=None)
@given(COUNTS, st.sampled_from([3.0, 10.0]))
def test_runs_are_what_their_definition_says(counts: np.ndarray, scale: float):
    runs = find_runs(Runs.single(counts, scale, 3.0))
    assert runs.of_cell[0] == 0
    assert set(np.diff(runs.of_cell).tolist()) <= {0, 1}
    for run in range(len(runs.totals)):
        inside = np.flatnonzero(runs.of_cell == run)
        assert runs.totals[run] == pytest.approx(counts[inside].sum())
        assert runs.noise[run] == pytest.approx(scale * math.sqrt(len(inside)))
        assert len(inside) <= LONGEST
        if len(inside) > 1:
            assert (counts[inside] < 3 * scale).all(), "a cell that stands out is a run of its own"
            for k in range(1, len(inside)):
                assert counts[inside[:k]].sum() < 3 * scale * math.sqrt(k), "a run ends where it stands out"


@settings(max_examples=200, deadline=None)
@given(columns())
def test_sums_of_runs_that_stand_out_are_kept_and_nothing_is_below_zero(column: tuple[np.ndarray, np.ndarray]):
    counts, spans = column
    smoothed = spread(find_runs(Runs.single(counts, 8.0, 3.0)), spans)
    assert np.isfinite(smoothed.counts).all()
    assert (smoothed.counts >= 0).all()
    runs = smoothed.runs
    sums = np.bincount(runs.of_cell, smoothed.counts)
    assert sums[runs.stands_out] == pytest.approx(runs.totals[runs.stands_out])
    assert not (runs.stands_out[smoothed.spikes] == 0).any()


@settings(max_examples=200, deadline=None)
@given(columns(), st.integers(1, 12))
def test_coarse_codes_are_few_and_of_neighbors(column: tuple[np.ndarray, np.ndarray], most: int):
    counts, spans = column
    codes = merge_runs(spread(find_runs(Runs.single(counts, 8.0, 3.0)), spans), most)
    assert len(codes) == len(counts)
    assert codes[0] == 0
    assert set(np.diff(codes).tolist()) <= {0, 1}
    assert codes.max() < most


def test_many_codes_become_few_that_hold_about_equally_many():
    rng = np.random.default_rng(1)
    counts = 500.0 + rng.normal(0, 5, 400)
    counts[100] = 60_000
    smoothed = spread(find_runs(Runs.single(counts, 5.0, 4.0)), np.ones(400))
    codes = merge_runs(smoothed)
    assert codes.max() + 1 == MOST_CODES
    assert (codes == codes[100]).sum() == 1, "a heavy single value stays alone"
    held = np.delete(np.bincount(codes, counts), codes[100])
    assert held.max() < 4 * held.min()


@given(st.floats(-2000, 300), st.floats(0.5, 40), st.floats(0.01, 500))
def test_the_expected_count_is_the_mean_of_the_posterior(total: float, noise: float, believed: float):
    center = total - noise**2 / believed
    far = max(center, 0.0) + 12 * noise if center > -5 * noise else 60 * noise**2 / -center
    grid = (np.arange(20_000) + 0.5) * far / 20_000
    logs = -grid / believed - (grid - total) ** 2 / (2 * noise**2)
    weights = np.exp(logs - logs.max())
    assert _expected(total, noise, believed) == pytest.approx(float(weights @ grid / weights.sum()), rel=1e-3, abs=1e-3)


def test_far_below_zero_the_expected_count_stays_positive():
    assert _expected(-1e6, 1.0, 1e-9) == pytest.approx(1e-9, rel=1e-2)


def tailed(seed: int, *, cells: int = 100, noise: float = 36.0) -> tuple[np.ndarray, np.ndarray]:
    """A column on a log scale: a body of 40 cells, a tail that halves every other cell, and nothing beyond."""
    exact = np.zeros(cells)
    exact[20:60] = 800
    exact[60:75] = 800 * 0.7 ** np.arange(1, 16)
    return exact, exact + np.random.default_rng(seed).normal(0, noise, cells)


def test_empty_cells_far_out_stay_empty():
    far = []
    for seed in range(40):
        exact, noisy = tailed(seed)
        counts = spread(find_runs(Runs.single(noisy, 36.0, deviations_to_stand_out(100))), np.ones(100)).counts
        far.append(counts[80:].sum())
        assert np.abs(counts - exact).sum() < np.abs(np.maximum(noisy, 0) - exact).sum()
    # Kept above zero, noise alone would put 20 * 36 / sqrt(2 pi) = 287 records there in the mean.
    assert np.median(far) < 15


def test_a_second_measurement_of_runs_tells_more_of_the_tail():
    rng = np.random.default_rng(5)
    once, twice = [], []
    for seed in range(60):
        exact, noisy = tailed(seed)
        counts = spread(find_runs(Runs.single(noisy, 36.0, 4.0)), np.ones(100)).counts
        half = exact + rng.normal(0, 36 * math.sqrt(2), 100)
        runs = find_runs(Runs.single(half, 36 * math.sqrt(2), 4.0))
        sums = np.bincount(runs.of_cell, exact)
        better = runs.with_more(sums + rng.normal(0, 36 * math.sqrt(2), len(sums)), 36 * math.sqrt(2))
        again = spread(better, np.ones(100)).counts
        once.append(abs(counts[60:].sum() - exact[60:].sum()))
        twice.append(abs(again[60:].sum() - exact[60:].sum()))
    assert np.mean(twice) < 0.9 * np.mean(once)


def test_more_of_a_run_is_the_average_by_precision():
    runs = Runs(np.array([0, 1, 1, 1]), np.array([10.0, 30.0]), np.array([2.0, 2.0 * math.sqrt(3)]), 3.0)
    better = runs.with_more(np.array([20.0, 10.0]), 2.0)
    assert better.totals == pytest.approx([15.0, (30 / 3 + 10) / (1 / 3 + 1)])
    assert better.noise == pytest.approx([math.sqrt(2.0), 1 / math.sqrt(1 / 12 + 1 / 4)])


def test_little_lies_between_spikes_and_beside_them():
    noisy = np.array([900.0, 3, -4, 5, 700, 2, -3, 4, 1, 0, 2, -1])
    counts = spread(find_runs(Runs.single(noisy, 5.0, 3.0)), np.ones(12)).counts
    # Humps between two spikes may lie anywhere there, beside the last one anywhere up to the end.
    assert counts[1:4].sum() < 3 * 5.0
    assert counts[1:4] == pytest.approx(counts[1:4].mean(), rel=0.2)
    assert counts[5:].sum() < 3 * 5.0


def test_nothing_that_stands_out_leaves_the_column_even():
    counts = spread(find_runs(Runs.single(np.array([1.0, 2.0, -1.0, 0.0]), 5.0, 3.0)), np.ones(4)).counts
    assert counts == pytest.approx(counts[0])
    assert counts.sum() == pytest.approx(2.0)
