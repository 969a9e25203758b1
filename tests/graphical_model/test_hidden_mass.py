"""Bodies and tails of many small counts, each below the noise: what their counts say together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.graphical_model.hidden_mass import HiddenCells
from counterfoil.graphical_model.runs import runs_of
from counterfoil.graphical_model.smoothing import spread
from counterfoil.schema import Schema

COLUMN = Schema.from_toml('[columns.x]\nkind = "integer"\nlower = 0\nupper = 100000\n')["x"]
CELLS = 40


def cells(totals: np.ndarray, noise: float, left: float, left_error: float) -> HiddenCells:
    """Cells of width 1 with sizes that grow by a tenth from each to the next, counted in pieces of 5."""
    piece = np.arange(CELLS) // 5
    errors = np.full(CELLS // 5, noise)
    return HiddenCells(np.arange(CELLS + 1.0), 1.1 ** np.arange(CELLS), piece, totals, errors, left, left_error, 300, 3)


def pieces(counts: np.ndarray) -> np.ndarray:
    return counts.reshape(-1, 5).sum(axis=1)


def skewed(n: int, zeros: float, seed: int) -> np.ndarray:
    """float64 [n_bins]: exact counts of lognormal numbers, and of zeros."""
    rng = np.random.default_rng(seed)
    numbers = np.where(rng.random(n) < zeros, 0, np.clip(np.rint(np.exp(rng.normal(5, 1.2, n))), 0, 100_000))
    return np.bincount(COLUMN._bin(numbers), minlength=COLUMN.n_bins).astype(np.float64)


def mean_of(counts: np.ndarray) -> float:
    return float(counts @ COLUMN.centers[: len(counts)] / counts.sum())


def smoothed(exact: np.ndarray, noise: float, seed: int):
    rng = np.random.default_rng(seed)
    runs = runs_of(exact + rng.normal(0, noise, len(exact)), noise)
    records = exact.sum() + rng.normal(0, noise)
    return spread(runs, COLUMN.spans, COLUMN.centers[: len(exact)], records=records, records_error=noise)


@st.composite
def columns(draw: st.DrawFn) -> dict:
    """Few cells or some, points among them, numbers of any sign and size, spikes or a body, and a number of records."""
    size = draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spans = rng.exponential(1, size) * (rng.random(size) < draw(st.sampled_from([0.0, 0.5, 1.0])))
    edges = np.sort(rng.choice([rng.normal(0, 100, size + 1), 10.0 ** np.linspace(-3, 9, size + 1)]))
    exact = rng.exponential(draw(st.sampled_from([1.0, 1e3])), size) * (rng.random(size) < draw(st.floats(0, 1)))
    exact[draw(st.integers(0, size - 1))] += draw(st.sampled_from([0.0, 1e3, 1e6]))
    noise = draw(st.sampled_from([1.0, 30.0, 1e4]))
    error = draw(st.sampled_from([0.0, 1.0, 1e4, math.inf]))
    records = float(exact.sum()) * draw(st.sampled_from([0.0, 0.5, 1.0, 2.0]))
    counted = exact + rng.normal(0, noise, size)
    return {"counts": counted, "noise": noise, "spans": spans, "centers": (edges[1:] + edges[:-1]) / 2} | {
        "records": {"records": records, "records_error": error}
    }


@given(columns())
@settings(max_examples=400, deadline=None)
def test_any_counts_become_finite_ones_that_are_not_below_zero(column: dict):
    runs = runs_of(column["counts"], column["noise"])
    made = spread(runs, column["spans"], column["centers"], **column["records"])
    assert np.isfinite(made.counts).all()
    assert (made.counts >= 0).all()
    assert 0 <= made.unplaced < math.inf
    for run, believed in made.hidden.items():
        assert (made.runs.of_cell == run).sum() == believed.cases.shape[1]
        assert believed.chances.sum() == pytest.approx(1.0)
        assert np.isfinite(believed.error(column["centers"][made.runs.of_cell == run]))


def test_among_few_cells_those_shapes_are_tried_that_fall_fastest():
    few = HiddenCells(
        np.arange(3.0), np.array([1.0, 1e6]), np.zeros(2, int), *map(np.array, ([9.0], [5.0])), 0, 9, 1, 1
    )
    counts = few.humps((0.0, 7.0)).counts
    assert 0 < counts[1] < counts[0]


def test_a_hump_that_no_count_shows_has_the_records_that_are_left_for_it():
    exact = 700 * np.exp(-(((np.arange(CELLS) - 20) / 8) ** 2) / 2) / (8 * math.sqrt(2 * math.pi))
    found = cells(pieces(exact), 40.0, float(exact.sum()), 10.0).humps((0.0, 0.0))
    assert found.counts.sum() == pytest.approx(exact.sum(), rel=0.03)
    assert np.arange(CELLS) @ found.counts / found.counts.sum() == pytest.approx(20, abs=1.5)
    # Without the number of records, each of 8 noisy counts of 0 to 170 says little, and all of them most of it.
    alone = cells(pieces(exact), 40.0, 0.0, math.inf).humps((0.0, 0.0))
    assert alone.counts.sum() == pytest.approx(exact.sum(), rel=0.15)


def test_a_lump_far_out_needs_more_evidence():
    exact = 30 * np.exp(-0.3 * np.abs(np.arange(CELLS) - 8))
    for deviations, believed in ((3.0, False), (6.0, True)):
        totals = pieces(exact)
        totals[7] += deviations * 10.0
        found = cells(totals, 10.0, 0.0, math.inf).humps((0.0, 0.15))
        assert (found.counts[35:].sum() > 30) == believed
        assert found.error(1.1 ** np.arange(CELLS) / 3000) > 0.1


def test_a_body_of_small_counts_is_not_shrunk_to_nothing():
    """1,000 records, 700 of them over a hundred cells with noise as large as most counts.

    With fixed seeds, so that no alarm is by chance. Before, half of the means were 1,000 times too small.
    """
    exact = skewed(1000, 0.3, 5)
    off = [abs(math.log(mean_of(smoothed(exact, 25.0, seed).counts) / mean_of(exact))) for seed in range(30)]
    assert np.median(off) < 0.8
    assert np.quantile(off, 0.9) < 1.4


def test_a_tail_that_stands_out_as_a_whole_alone_falls_too():
    """Before, all records of such a tail were spread evenly up to the bound: 40 times the mean."""
    exact = skewed(1000, 0.3, 5)
    assert max(mean_of(smoothed(exact, 25.0, seed).counts) for seed in range(30)) < 8 * mean_of(exact)
