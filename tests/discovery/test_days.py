"""Bounds of dates reach over what noise may hide, back to no century without evidence, and say what may lie beyond."""

from __future__ import annotations

import numpy as np

from counterfoil.discovery.days import Years
from counterfoil.noise.shown_counts import sure_of
from counterfoil.schema.value_grid import year_edges

EDGES = np.array(year_edges())
FIRST = int(np.flatnonzero(np.diff(EDGES) < 400)[0])
"""The interval of 1900."""

ROWS = 6000


def years_of(rows: dict[int, float], deviation: float, seed: int, *, least: float | None = None) -> Years:
    """Noisy counts of so many rows in each year."""
    counts = np.random.default_rng(seed).normal(0, deviation, len(EDGES) - 1)
    for year, number in rows.items():
        counts[FIRST + year - 1900] += number
    return Years(EDGES, counts, deviation, sure_of(len(counts)) if least is None else least)


def lost(rows: dict[int, float], ends: tuple[int, int]) -> float:
    """How many rows lie outside of these intervals."""
    return sum(number for year, number in rows.items() if not ends[0] <= FIRST + year - 1900 <= ends[1])


def test_where_noise_hides_much_few_rows_lie_beyond_and_no_more_than_is_said():
    """Ten years of which noise shows eight at most: up to 45% of the rows were beyond the bounds."""
    rows = dict.fromkeys(range(2015, 2025), ROWS / 10)
    shares = []
    for seed in range(100):
        years, rng = years_of(rows, 200.0, seed), np.random.default_rng(1000 + seed)
        ends = years.ends(ROWS)
        assert ends is not None
        shares.append(lost(rows, ends) / ROWS)
        assert lost(rows, ends) <= years.beyond(ends, (ROWS + rng.normal(0, 200), 200.0))
        assert ends[1] - ends[0] < 64
    assert np.mean(shares) < 0.02
    assert np.quantile(shares, 0.95) <= 0.1


def test_where_noise_hides_little_bounds_are_those_of_the_rows_and_the_next_years():
    rows = dict.fromkeys(range(2015, 2025), ROWS / 10)
    for seed in range(30):
        ends = years_of(rows, 2.0, seed).ends(ROWS)
        assert ends is not None
        assert FIRST + 113 <= ends[0] <= FIRST + 115
        assert FIRST + 124 <= ends[1] <= FIRST + 126


def test_no_century_is_within_the_bounds_that_does_not_show_by_itself():
    """A sum over all of the line shows 90 years that no shorter one does; it begins in the year 1."""
    rows = dict.fromkeys(range(1920, 2010), ROWS / 90)
    found = [years_of(rows, 90.0, seed).ends(ROWS) for seed in range(50)]
    ends = [one for one in found if one is not None]
    assert len(ends) > 25
    assert min(first for first, _ in ends) >= FIRST
    assert max(last for _, last in ends) < FIRST + 200


def test_a_century_that_shows_is_within_the_bounds():
    years = years_of({2019: 5000.0}, 50.0, 1)
    years.counts[FIRST - 1] += 1000.0  # from 1800 on
    ends = years.ends(ROWS)
    assert ends is not None
    assert ends[0] == FIRST - 1
    assert ends[1] >= FIRST + 119


def test_nothing_shows_where_there_is_noise_alone():
    assert all(years_of({}, 400.0, seed).ends(ROWS) is None for seed in range(20))


def test_what_lies_beyond_is_the_difference_of_two_answers_and_its_noise():
    """Of 100 rows 60 are within two years: 40, and 1.96 times the root of 3^2 + 2 * 2^2."""
    counts = np.zeros(len(EDGES) - 1)
    counts[FIRST : FIRST + 2] = 30.0
    years = Years(EDGES, counts, 2.0, 5.0)
    assert years.beyond((FIRST, FIRST + 1), (100.0, 3.0)) == 40 + 1.96 * 17**0.5
    assert years.beyond((FIRST, FIRST + 1), (50.0, 3.0)) == 1.96 * 17**0.5
