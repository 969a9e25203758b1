"""Bounds move outwards where noise may hide records beyond what shows, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.curator.queries.column_ranges import Intervals
from counterfoil.discovery.room_for_hidden import Line, with_room
from counterfoil.schema.raw_cell import CODES
from counterfoil.schema.value_grid import CELLS, REACH, bounds_of, fine_edges, places_of

ALL = CODES["integer"]


def line_of(
    numbers: np.ndarray, deviation: float, *, seed: int = 0, whole: bool = True
) -> tuple[Line, tuple[int, int]]:
    """Both answers about numbers, with normal noise, and the places of the least and the greatest."""
    rng, places = np.random.default_rng(seed), places_of(numbers)
    coarse = int(places.min()), int(places.max())
    edges = fine_edges(*coarse, 32, whole=whole)
    counts = Intervals("a", (ALL,), edges).counts(np.full(len(numbers), ALL), numbers)[1:-1].astype(float)
    grid = np.bincount(places, minlength=CELLS).astype(float)
    noisy = [part + rng.normal(0, deviation, len(part)) if deviation else part for part in (counts, grid)]
    return Line(np.array(edges), noisy[0], deviation, noisy[1], deviation, whole), coarse


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from([0, 1, 15, 16, 255, 256, 4096]) | st.integers(0, 5000), min_size=1, max_size=40), st.data()
)
def test_what_lies_between_two_edges_is_counted_by_both_answers(numbers, data):
    """Without noise both are exact, however the edges lie to the places of the grid."""
    values = np.array(numbers, dtype=float)
    line, _ = line_of(values, 0.0)
    line = Line(line.edges, line.counts, 1.0, line.places, 0.5, line.whole)
    edges = [edge for edge in line.edges.tolist() if 0 <= edge <= 65_536]
    low, high = sorted(data.draw(st.lists(st.sampled_from(edges), min_size=2, max_size=2, unique=True)))
    count, noise = line.between(low, high)
    assert count == pytest.approx(((values >= low) & (values < high)).sum())
    intervals = sum(low <= edge < high for edge in line.edges)
    assert 0 < noise <= intervals**0.5, "never less precise than one of them"


def test_the_noise_of_what_lies_between_is_what_is_stated():
    """The mean of 2,000 squared scores is within 5 deviations of 1: wrong with probability below 1e-6."""
    numbers = np.repeat([3.0, 70.0, 200.0], [500, 3000, 500])
    scores = []
    for seed in range(2000):
        line, _ = line_of(numbers, 100.0, seed=seed)
        count, noise = line.between(128.0, 256.0)
        scores.append((count - 500) / noise)
    assert np.square(scores).mean() == pytest.approx(1, abs=5 * (2 / 2000) ** 0.5)


def test_where_noise_hides_little_bounds_stay():
    numbers = np.arange(4000.0) % 73 + 17
    line, coarse = line_of(numbers, 2.0)
    assert with_room(line, (16.0, 96.0), coarse, 4000.0) == (16.0, 96.0)


def test_where_noise_hides_much_each_of_few_integers_has_a_place():
    """As ages of 7,600 people with a noise of 500: a seventh of all people would be beyond the bounds that show."""
    numbers = np.random.default_rng(1).integers(0, 96, 7600).astype(float)
    for seed in range(20):
        line, coarse = line_of(numbers, 500.0, seed=seed)
        assert with_room(line, (32.0, 64.0), coarse, 7600.0) == (0.0, 256.0)


def test_amounts_begin_at_zero_where_noise_hides_whether_many_are_small():
    """Of 2,700 incomes a quarter is below 8,192: 2 of 11 purchases clamped them, where noise happened to say 0."""
    rng = np.random.default_rng(5)
    amounts = np.where(rng.random(2700) < 0.25, rng.uniform(1, 8192, 2700), rng.uniform(8192, 65536, 2700))
    numbers = np.floor(amounts)
    for seed in range(40):
        line, coarse = line_of(numbers, 400.0, seed=seed)
        assert with_room(line, (8192.0, 65536.0), coarse, 2700.0)[0] == 0
    line, coarse = line_of(numbers[numbers >= 8192], 20.0)
    assert with_room(line, (8192.0, 65536.0), coarse, 2000.0)[0] > 4000, "little noise shows that there are none"
    line, coarse = line_of(np.arange(1990.0, 2010.0).repeat(100), 400.0)
    assert with_room(line, (1990.0, 2010.0), coarse, 2000.0)[0] >= 1900, "years do not begin at zero"


def uppers(numbers: np.ndarray, shown: float, deviation: float, top: int = 0) -> list[float]:
    """The upper bounds of 60 answers, where the greatest number that surely shows is just below `shown`."""
    found = []
    for seed in range(60):
        line, coarse = line_of(numbers, deviation, seed=seed)
        last = int(places_of(np.array([float(top)]))[0]) if top else coarse[1]
        found.append(with_room(line, (0.0, shown), (coarse[0], last), float(len(numbers)))[1])
    return found


def test_a_tail_of_counts_that_falls_slowly_is_kept():
    """Of 7,200 counts 3.6% are 16 or more, which the noise hides: of rows at the bound they would be a heap."""
    rng = np.random.default_rng(4)
    numbers = np.minimum(rng.geometric(0.19, 7200) - 1, 40).astype(float)
    assert 0.03 < (numbers >= 16).mean() < 0.04
    found = uppers(numbers, 16.0, 60.0, top=15)
    assert np.mean(np.array(found) >= 32) > 0.9
    assert np.mean(np.array(found) <= 64) > 0.8, "and not far beyond what there is"


def test_codes_that_end_as_if_cut_off_stay_as_they_show():
    numbers = np.repeat([0.0, 1.0], [4000, 3200])
    assert np.mean(np.array(uppers(numbers, 2.0, 60.0)) == 2) > 0.9


def test_wide_bounds_reach_only_as_far_as_noise_does_not_exclude():
    """Nothing lies in three quarters of the place, and nothing below; in about one seed of three noise says else."""
    numbers = np.random.default_rng(2).integers(256, 512, 7600).astype(float)
    found = []
    for seed in range(60):
        line, coarse = line_of(numbers, 300.0, seed=seed)
        lower, upper = with_room(line, (256.0, 512.0), coarse, 7600.0)
        assert lower <= 256
        found.append(upper)
    assert np.mean(np.array(found) <= 1000) > 0.5
    assert max(found) <= 65_536


def test_either_side_of_zero_has_room_of_its_own():
    """Up to the last place of its own that shows; where the noise hides little, bounds stay on both."""
    numbers = np.random.default_rng(3).normal(0, 100, 5000)
    quiet, coarse = line_of(numbers, 1.0, whole=False)
    assert with_room(quiet, (-256.0, 256.0), coarse, 5000.0) == (-256.0, 256.0)
    loud, _ = line_of(numbers, 400.0, whole=False)
    least, most = bounds_of(*coarse)
    lower, upper = with_room(loud, (-64.0, 64.0), coarse, 5000.0)
    assert least <= lower < -64
    assert 64 < upper <= most


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1.0, 60.0, 400.0]), st.sampled_from([3.0, 6.0]))
def test_negative_numbers_have_the_room_of_their_opposites(seed, whole, deviation, scale):
    numbers = np.exp(np.random.default_rng(seed).normal(scale, 1, 3000))
    numbers = np.ceil(numbers) if whole else numbers
    line, coarse = line_of(numbers, deviation, whole=whole)
    ends = (float(2 ** (scale + 1)), float(2 ** (scale + 3)))
    lower, upper = with_room(line, ends, coarse, 3000.0)
    mirrored = tuple(2 * REACH - place for place in reversed(coarse))
    least, beyond = with_room(line.mirrored(), tuple(whole - end for end in reversed(ends)), mirrored, 3000.0)
    assert (least, beyond) == (whole - upper, whole - lower)


@pytest.mark.parametrize(("ends", "room"), [((1990.0, 2010.0), (1900.0, 2101.0)), ((1900.0, 2101.0), (1900.0, 2101.0))])
def test_years_have_room_for_years_alone(ends, room):
    """2,000 of 6,000 counts lie further out on either side, and may be noise: other numbers have room up to there."""
    numbers = np.concatenate([np.arange(4000) % 20 + 1990, np.full(1000, 300), np.full(1000, 4000)]).astype(float)
    line, coarse = line_of(numbers, 0.0)
    line = Line(line.edges, line.counts, 400.0, line.places, 400.0, True)
    assert with_room(line, ends, coarse, 6000.0) == room
    lower, upper = with_room(line, (1880.0, 2010.0), coarse, 6000.0)
    assert lower < 1880
    assert upper == 4096
