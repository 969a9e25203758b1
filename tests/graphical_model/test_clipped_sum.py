"""Counts of a column's cells, once a noisy sum of its numbers is known: against linear algebra and brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from counterfoil.graphical_model.clipped_sum import (
    ENOUGH,
    LEAST_SHARE,
    Clip,
    SumQuestion,
    fair_shares,
    follow_sum,
    squared_error_left,
    variances,
)
from counterfoil.graphical_model.runs import Runs
from counterfoil.graphical_model.smoothing import Smoothed

NUMBERS = np.array([0.0, 1, 2, 5, 10, 20, 50, 100])
LOWS, HIGHS = NUMBERS, np.append(NUMBERS[1:] - 0.5, 150.0)


def smoothed_of(
    counts: np.ndarray, noise: float, threshold: float = 3.0, of_cell: np.ndarray | None = None
) -> Smoothed:
    of_cell = np.arange(len(counts)) if of_cell is None else of_cell
    runs = Runs(of_cell, np.bincount(of_cell, counts), noise * np.sqrt(np.bincount(of_cell)), threshold)
    return Smoothed(runs, counts, np.zeros(len(runs.totals), dtype=bool))


TAIL = smoothed_of(np.array([9000.0, 700, 300, 150, 60, 25, 9, 4]), 12.0, of_cell=np.array([0, 1, 2, 3, 4, 5, 5, 5]))


def conditioned(smoothed: Smoothed, far: np.ndarray, total: float, noise: float) -> np.ndarray:
    """The means of normal counts, proportional within runs, given a noisy sum that scaling to as many records keeps."""
    runs = smoothed.runs
    left = np.bincount(runs.of_cell, smoothed.counts)
    inside = np.zeros((len(left), len(far)))
    inside[runs.of_cell, np.arange(len(far))] = smoothed.counts / left[runs.of_cell]
    prior = inside.T @ np.diag(variances(smoothed)) @ inside
    asked = far - total / smoothed.counts.sum()
    gain = prior @ asked / (asked @ prior @ asked + noise**2)
    moved = smoothed.counts + gain * (total - smoothed.counts @ far)
    return moved * smoothed.counts.sum() / moved.sum()


@pytest.mark.parametrize(("total", "noise"), [(5200.0, 300.0), (4300.0, 50.0), (6000.0, 2000.0)])
def test_counts_follow_the_sum_as_normal_counts_do(total: float, noise: float):
    clip = Clip(0.0, 60.0)
    far = np.clip(NUMBERS, 0.0, 60.0)
    found = follow_sum(TAIL, lambda counts: NUMBERS, clip, total, noise)
    assert found.counts == pytest.approx(conditioned(TAIL, far, total, noise), rel=1e-9)
    assert found.counts.sum() == pytest.approx(TAIL.counts.sum(), rel=1e-12)


def test_a_sum_that_is_known_well_is_met():
    """Scaled to the same number of records, where numbers are counted from the lower end of the range."""
    shifted = NUMBERS + 7.0
    found = follow_sum(TAIL, lambda counts: shifted, Clip(7.0, 160.0), 5100.0, 1e-3)
    assert found.counts @ NUMBERS == pytest.approx(5100.0, rel=2e-3)
    assert found.counts[0] == pytest.approx(TAIL.counts[0], rel=5e-3), "mostly what lies far out has moved"


def test_numbers_are_those_of_the_counts_that_are_found():
    """Numbers drawn in a wide cell follow its neighbors: the second step counts with where they then are."""

    def numbers(counts: np.ndarray) -> np.ndarray:
        return np.append(NUMBERS[:-1], 100.0 + 0.5 * counts[-2])

    total, noise = 6500.0, 1e-3
    found = follow_sum(TAIL, numbers, Clip(0.0, 1000.0), total, noise).counts
    once = conditioned(TAIL, numbers(TAIL.counts), total, noise)
    assert abs(found @ numbers(found) - total) < abs(once @ numbers(once) - total) / 3


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.floats(0, 1e4), min_size=8, max_size=8).filter(lambda found: sum(found) > 1),
    total=st.floats(-1e6, 1e7),
    noise=st.floats(1e-3, 1e5),
)
def test_no_count_is_below_zero_and_none_is_lost(counts: list[float], total: float, noise: float):
    before = smoothed_of(np.array(counts), 20.0)
    after = follow_sum(before, lambda found: NUMBERS, Clip(1.0, 50.0), total, noise).counts
    assert (after >= 0).all()
    assert after.sum() == pytest.approx(sum(counts), rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_what_is_left_of_the_error_is_that_of_normal_counts(seed: int):
    rng = np.random.default_rng(seed)
    variance, far, clipped, noise = rng.gamma(1, 5, 5), rng.normal(0, 3, 5), rng.normal(0, 3, 5), rng.gamma(1, 9)
    joint = np.block(
        [
            [np.diag(variance), (variance * clipped)[:, None]],
            [(variance * clipped)[None, :], np.array([[clipped @ (variance * clipped) + noise**2]])],
        ]
    )
    left = np.linalg.inv(np.linalg.inv(joint + 1e-13 * np.eye(6))[:5, :5])
    expected = far @ left @ far
    assert squared_error_left(variance, far, clipped, noise) == pytest.approx(expected, rel=1e-5, abs=1e-9)


def lost_and_width(question: SumQuestion, low: float, high: float) -> tuple[float, float]:
    """What a range cuts off of counts in doubt, cell by cell, and how wide it is."""
    runs, lost = question.smoothed.runs, 0.0
    left = np.bincount(runs.of_cell, question.smoothed.counts)
    for cell, count in enumerate(question.smoothed.counts):
        run = runs.of_cell[cell]
        if runs.totals[run] >= 3.0 * runs.noise[run]:
            doubt = min(runs.noise[run] / left[run], 1.0)
        else:
            doubt = max(1.0, math.sqrt(runs.noise[run] / left[run]))
        number = question.numbers[cell]
        lost += count * doubt * abs(number - min(max(number, low), high))
    return lost, high - low


def ranges() -> list[tuple[float, float]]:
    """With the median, the first cell, inside."""
    return [(low, high) for low, high in itertools.product([LOWS[0]], HIGHS) if low < high]


@pytest.mark.parametrize("share", [0.02, 0.2, 1.0])
def test_the_best_range_is_that_of_all_ranges(share: float):
    question = SumQuestion(TAIL, NUMBERS, LOWS, HIGHS, 60.0)

    def cost(ends: tuple[float, float]) -> float:
        lost, width = lost_and_width(question, *ends)
        return (60.0 * width) ** 2 / share + lost**2

    assert question.best_range(share) == Clip(*min(ranges(), key=cost))


@pytest.mark.parametrize("noise", [2.0, 8.0, 60.0])
def test_the_share_wanted_is_the_least_that_meets_the_goal(noise: float):
    question = SumQuestion(TAIL, NUMBERS, LOWS, HIGHS, noise)
    counts = TAIL.counts
    mean = counts @ NUMBERS / counts.sum()
    goal = ENOUGH * max(counts @ NUMBERS, counts @ np.abs(NUMBERS - mean) / 2)
    wanted = math.inf
    for ends in ranges():
        lost, width = lost_and_width(question, *ends)
        if lost < goal:
            wanted = min(wanted, (noise * width) ** 2 / (goal**2 - lost**2))
    assert question.share_wanted() == pytest.approx(max(wanted, LEAST_SHARE), rel=1e-9)


def test_nothing_is_wanted_where_counts_tell_the_mean():
    exact = smoothed_of(TAIL.counts, 0.01)
    assert SumQuestion(exact, NUMBERS, LOWS, HIGHS, 1.0).share_wanted() == 0.0
    doubtful = SumQuestion(smoothed_of(TAIL.counts, 2.0), NUMBERS, LOWS, HIGHS, 1.0)
    assert doubtful.share_wanted() > 0
    assert doubtful.share_wanted(better=1e-4) == 0.0, "where the counts will be known better"


def test_one_number_needs_no_sum():
    alone = SumQuestion(smoothed_of(np.array([50.0]), 9.0), np.array([3.0]), np.array([3.0]), np.array([3.0]), 1.0)
    assert alone.best_range(0.5) is None


@settings(max_examples=60, deadline=None)
@example(wanted=[2.2250738585e-313], whole=1.0)
@example(wanted=[0.0, 2.2250738585e-313], whole=1.0)
@given(
    wanted=st.lists(st.one_of(st.floats(0, 1), st.just(math.inf)), min_size=1, max_size=6),
    whole=st.floats(1e-6, 1),
)
def test_shares_are_fair(wanted: list[float], whole: float):
    shares = fair_shares(np.array(wanted), whole)
    assert shares.sum() == pytest.approx(whole, rel=1e-9)
    assert (shares >= 0).all()
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(shares[order]) >= -1e-12).all(), "who wants more gets no less"
    if sum(wanted) <= whole and sum(wanted) > 0:
        assert shares == pytest.approx(whole * (np.array(wanted) / sum(wanted)), rel=1e-6, abs=1e-12)
    equal = whole / len(wanted)
    assert all(share >= min(one, equal) - 1e-12 for share, one in zip(shares, wanted, strict=True))
