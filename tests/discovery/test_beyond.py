"""Numbers beyond bought bounds: how many may lie there in all, where each interval holds few."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from tests.discovery.test_bought_text import answers

from counterfoil.curator.queries.column_places import GRIDS
from counterfoil.discovery.beyond import beyond_bounds
from counterfoil.discovery.bought_bounds import bounds_facts
from counterfoil.discovery.votes import Votes
from counterfoil.schema.raw_cell import CLASSES
from counterfoil.schema.value_grid import CELLS, bounds_of, places_of

TRIALS = 2000
FALSE_ALARM = 1e-6


def said(numbers: np.ndarray, edges: np.ndarray, bounds: tuple[float, float], whole: bool) -> np.ndarray:
    """float64 [TRIALS, 2]: what is said of the same numbers, whose counts have fresh noise each time."""
    rng, grid = np.random.default_rng(3), "integer" if whole else "hundredths"
    exact = np.zeros(len(CLASSES) + len(GRIDS) * CELLS)
    exact[len(CLASSES) + GRIDS.index(grid) * CELLS :][:CELLS] = np.bincount(places_of(numbers), minlength=CELLS)
    outer = np.array([-np.inf, *edges, np.inf])
    counts = np.histogram(numbers, outer)[0].astype(float) if len(edges) else np.zeros(0)
    found = []
    for _ in range(TRIALS):
        vote = Votes(exact + rng.normal(0, 50, len(exact)), 50.0, 5.0)
        noise = np.full(len(counts), 100.0)
        noisy = counts + rng.normal(0, 100, len(counts))
        found.append(beyond_bounds(edges, noisy, noise, vote, bounds, whole=whole))
    return np.array(found)


@pytest.mark.parametrize("intervals", [40, 4, 0])
@pytest.mark.parametrize("whole", [False, True])
def test_as_many_as_there_are_may_lie_beyond_in_all_but_a_fortieth_of_the_cases(intervals: int, whole: bool) -> None:
    """Fewer are said with probability at most 1/40 a trial; so many of them by chance with at most 1e-6."""
    rng = np.random.default_rng(1)
    numbers = np.exp(rng.normal(5, 2, 30_000))
    numbers = np.floor(numbers) if whole else numbers
    place = int(places_of(np.array([2500.0]))[0])
    top = bounds_of(place, place)[1]
    edges = np.linspace(0.0, 2 * top if intervals == 4 else top, intervals + 1) if intervals else np.zeros(0)
    edges = np.floor(edges) if whole else edges
    upper = top if intervals < 40 else float(edges[30])
    bounds = (0.0, upper - 1 if whole else upper)
    beyond = int((numbers >= upper).sum())
    assert beyond > 1000, "a long tail"
    least, most = said(numbers, edges, bounds, whole).T
    assert (most < beyond).sum() <= binom.isf(FALSE_ALARM, TRIALS, 1 / 40)
    assert (least < 0).sum() == 0
    assert most.mean() < beyond + 4 * 50 * np.sqrt(4 * CELLS), "it says something"


def test_the_comment_says_how_many_in_all() -> None:
    column = answers(name="n", kind="real", lower=0.0, upper=8.0, outside=(10.0, 190.0))
    facts = bounds_facts(column, 0.0, 8.0)
    assert f"up to 190 rows ({190 / column.records:.0%}) may lie above" in facts["upper"][1]


def test_nothing_is_counted_beyond_the_greatest_number_that_is_told_apart() -> None:
    column = answers(name="n", kind="integer", lower=0.0, upper=2.0**53, outside=(10.0, 190.0))
    facts = bounds_facts(column, 0, 2**53)
    assert "are not distinguished" in facts["upper"][1]
    assert "may lie above" not in facts["upper"][1]
