"""Codes beside the only one that stands out: posterior means against integrals, and what flags and counts keep."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import expon, multivariate_normal, norm

from counterfoil.graphical_model.beside_one import beside_one, with_codes_beside_one
from counterfoil.graphical_model.runs import joined_again, runs_of
from counterfoil.graphical_model.smoothing import Smoothed, spread


@pytest.mark.parametrize(
    "counts", [(0.0, 0.0, 0.0), (4.0, 1.0, -1.0), (-2.0, 3.0, 3.0), (30.0, 2.0, -4.0), (20.0, 25.0, 18.0)]
)
def test_what_is_believed_beside_one_code_is_the_posterior_mean(counts: tuple[float, ...]) -> None:
    """By integrals over the number of records for each number of codes that may hold them, from the definition."""
    seen = np.array(counts)
    expected = by_integrals(seen, np.diag(np.full(3, 100.0)), 10.0)
    assert beside_one(seen, 10.0) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("counts", [(0.0, 0.0, 0.0, 0.0), (40.0, 1.0, -1.0, 8.0), (9.0, 12.0, 13.0, -6.0)])
def test_the_sum_of_a_run_is_known_better_than_its_codes(counts: tuple[float, ...]) -> None:
    """Three codes whose sum has the noise of one, and a code by itself."""
    seen, within = np.array(counts), 12.0
    noise = np.zeros((4, 4))
    noise[:3, :3] = within**2 * (np.eye(3) - 1 / 3) + (10.0 / 3) ** 2
    noise[3, 3] = 100.0
    found = beside_one(seen, 10.0, np.array([2, 2, 2, 3]), np.array([7.0, 7.0, 10.0, 10.0]))
    assert found == pytest.approx(by_integrals(seen, noise, 10.0), rel=1e-5)


@pytest.mark.parametrize("left", [0.0, 30.0, 90.0])
def test_what_is_left_for_the_codes_is_counted_too_and_they_may_lie_anywhere(left: float) -> None:
    seen, noise = np.array([5.0, -3.0, 18.0, 11.0]), np.diag(np.full(4, 100.0))
    found = beside_one(seen, 10.0, left=left, left_error=14.0, anywhere=0.3)
    assert found == pytest.approx(by_integrals(seen, noise, 10.0, (left, 14.0), 0.3), rel=1e-4)


def by_integrals(
    seen: np.ndarray,
    noise: np.ndarray,
    scale: float,
    left: tuple[float, float] = (0.0, 1e9),
    anywhere: float = 0.0,
) -> np.ndarray:
    """Posterior means, where the first n hold the rest alike with 2^-n, any side by side with the probability
    `anywhere`, and with one half there is none."""
    codes = len(seen)

    def likelihood(records: float, first: int, last: int) -> float:
        at = np.arange(codes)
        means = np.where((at >= first) & (at < last), records / (last - first), 0.0)
        return float(multivariate_normal.pdf(seen, means, noise) * norm.pdf(left[0], records, left[1]) * left[1])

    weights, expected = likelihood(0.0, 0, 1), np.zeros(codes)
    stretches = [(first, last) for first in range(codes) for last in range(first + 1, codes + 1)]
    for first, last in stretches:
        nearest = 2.0**-last / (1 - 2.0**-codes) if first == 0 else 0.0
        prior = anywhere / len(stretches) + (1 - anywhere) * nearest

        def with_records(m: float, first: int = first, last: int = last, prior: float = prior) -> float:
            return prior * float(expon.pdf(m, scale=2 * scale)) * likelihood(m, first, last)

        mass, mean = (quad(f, 0, 400, limit=200)[0] for f in (with_records, lambda m: m * with_records(m)))
        weights += mass
        expected[first:last] += mean / (last - first)
    return expected / weights


def test_a_rare_flag_keeps_its_mean() -> None:
    """Sixteen codes of which only zero stands out: 2% of 1,000 have a one, beside noise of 15 per code."""
    rng = np.random.default_rng(2)
    means = []
    for _ in range(200):
        noisy = np.array([980.0, 20.0, *np.zeros(14)]) + rng.normal(0, 15, 16)
        found = beside_one(noisy[1:], 15.0)
        assert (np.diff(found) <= 1e-12).all(), "none is believed of more often than the one before"
        means.append(float(found @ np.arange(1, 16)) / 1000)
    assert 0.01 < np.mean(means) < 0.04


def measured_twice(exact: np.ndarray, scale: float, seed: int) -> tuple[Smoothed, np.ndarray]:
    """Single codes, and then the sums of the runs that they propose; smoothed as if nothing else were known."""
    rng, each, cells = np.random.default_rng(seed), scale * math.sqrt(2), np.arange(len(exact), dtype=float)
    first = exact + rng.normal(0, each, len(exact))
    runs = runs_of(first, each)
    code = runs.of_cell
    runs = runs.with_more(np.bincount(code, exact) + rng.normal(0, each, len(runs.totals)), each)
    counts = first + ((runs.totals - np.bincount(code, first)) / np.bincount(code))[code]
    smoothed = spread(joined_again(runs), np.ones(len(exact)), cells, records=float(exact.sum()), records_error=1.0)
    return smoothed, counts


@pytest.mark.parametrize(("mirrored", "evenly"), [(False, 0.15), (True, 0.15)])
def test_a_run_beside_zeros_is_not_spread_evenly(mirrored: bool, evenly: float) -> None:
    """Of 2,800 cells 4.5% are ones, which stand out in some releases, and in some with the codes beyond alone."""
    exact = np.array([2673.0, 125.0, *np.zeros(14)])
    before, after = [], []
    for seed in range(300):
        smoothed, counts = measured_twice(exact[::-1] if mirrored else exact, 35.0, seed)
        found = with_codes_beside_one(smoothed, counts, 35.0)
        if found is not smoothed:
            numbers = np.arange(16.0)[::-1] if mirrored else np.arange(16.0)
            assert found.counts.min() >= 0
            before.append(float(smoothed.counts @ numbers) / 2798)
            after.append(float(found.counts @ numbers) / 2798)
    assert len(before) > 200
    assert np.median(before) > evenly
    assert 0.03 < np.median(after) < 0.06


def test_answers_of_which_one_is_frequent_fall_off_on_both_sides() -> None:
    """Of 1,800 answers from 1 to 7 a tenth are no fours: those beside it, and hardly any at the ends."""
    exact = np.array([0.0, 5.0, 40.0, 50.0, 1600.0, 70.0, 30.0, 5.0])
    before, after = [], []
    for seed in range(60):
        smoothed, counts = measured_twice(exact, 40.0, seed)
        found = with_codes_beside_one(smoothed, counts, 40.0)
        before.append(np.abs(smoothed.counts / smoothed.counts.sum() - exact / 1800).sum())
        after.append(np.abs(found.counts / found.counts.sum() - exact / 1800).sum())
    assert np.mean(after) < 0.9 * np.mean(before)


def test_counts_with_more_to_say_stay_as_they_are() -> None:
    for exact in (np.array([2000.0, 500.0, 200.0, *np.zeros(13)]), np.zeros(16), np.full(16, 300.0)):
        smoothed, counts = measured_twice(exact, 20.0, 3)
        assert with_codes_beside_one(smoothed, counts, 20.0) is smoothed


@pytest.mark.parametrize("room", [33, 256])
def test_in_a_wide_room_a_run_holds_what_its_codes_say(room: int) -> None:
    """With the sum of the run, what lies beyond it, and the noisy counts within: mostly ones, or counts up to six."""
    flag, even = np.zeros(room), np.zeros(room)
    flag[:2], even[:7] = (2673.0, 200.0), (2673.0, *[90.0] * 6)
    for exact, low, high in ((flag, 1.0, 2.2), (even, 2.7, 4.3)):
        means = []
        for seed in range(200):
            smoothed, counts = measured_twice(exact, 40.0, seed)
            found = with_codes_beside_one(smoothed, counts, 40.0)
            run = smoothed.runs.of_cell == 1
            if not smoothed.stands_out[1] or np.flatnonzero(run).tolist() != [1, 2, 3, 4, 5, 6]:
                continue
            assert found.counts[run].sum() == pytest.approx(smoothed.counts[run].sum())
            assert np.array_equal(found.counts[~run], smoothed.counts[~run])
            means.append(found.counts[run] @ np.flatnonzero(run) / found.counts[run].sum())
        assert len(means) >= 3
        assert low < np.median(means) < high


@pytest.mark.parametrize("beside", [np.full(15, 60.0), np.array([0, 0, 0, 0, 150.0, 150, 150, 0, 0])])
def test_a_body_that_the_number_of_records_shows_is_not_lost(beside: np.ndarray) -> None:
    """Of 3,000 records a sixth or a third lie in codes of which none stands out, spread over all or in some."""
    exact = np.append(3000 - beside.sum(), beside)
    kept, mean = [], []
    for seed in range(60):
        smoothed, counts = measured_twice(exact, 80.0, seed)
        found = with_codes_beside_one(smoothed, counts, 80.0)
        if found is not smoothed:
            kept.append(float(found.counts[1:].sum() / beside.sum()))
            mean.append(float(found.counts @ np.arange(len(exact)) / (exact @ np.arange(len(exact)))))
    assert len(kept) > 10
    assert np.mean(kept) > 0.85
    assert np.mean(mean) > 0.7


def test_records_that_counts_beside_one_code_lack_have_no_place() -> None:
    smoothed, _ = measured_twice(np.array([2000.0, *np.zeros(9)]), 20.0, 3)
    more = replace(smoothed, records=2400.0)
    assert more.unplaced == pytest.approx(2400 - smoothed.counts.sum() - 2 * np.hypot(1.0, 20.0), rel=0.05)
    lost = replace(more, counts=np.append(smoothed.counts[0], np.zeros(9)))
    assert lost.unplaced == pytest.approx(more.unplaced + smoothed.counts[1:].sum())
