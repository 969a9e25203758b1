"""Negative numbers that bounds leave out: how many noise may hide, and where it is said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from counterfoil.accounting.budget import Budget
from counterfoil.curator.queries.column_places import GRIDS
from counterfoil.discovery.bought_columns import bought_column
from counterfoil.discovery.discover import discover
from counterfoil.discovery.negatives import negatives_hidden
from counterfoil.discovery.votes import Votes
from counterfoil.schema.raw_cell import CLASSES
from counterfoil.schema.value_grid import CELLS, REACH, bounds_of, fine_edges, places_of

pytestmark = pytest.mark.filterwarnings("ignore::counterfoil.ledger.no_ledger.NoLedgerWarning")

TRIALS = 4000
FALSE_ALARM = 1e-6
BUDGET = Budget(20.0, 1e-9)


def hidden_in_trials(amounts: np.ndarray, last: int, deviation: float) -> np.ndarray:
    """float64 [TRIALS]: what is said of the same numbers, whose counts have fresh noise each time."""
    rng = np.random.default_rng(3)
    edges = np.array(fine_edges(REACH, last, 16, whole=False))
    counts = np.histogram(amounts, edges)[0].astype(float)
    exact = np.zeros(len(CLASSES) + len(GRIDS) * CELLS)
    exact[len(CLASSES) + GRIDS.index("hundredths") * CELLS :][:CELLS] = np.bincount(places_of(amounts), minlength=CELLS)
    found = []
    for _ in range(TRIALS):
        vote = Votes(exact + rng.normal(0, deviation, len(exact)), deviation, 5.0)
        noisy = counts + rng.normal(0, 2 * deviation, len(counts))
        found.append(negatives_hidden(edges, noisy, np.full(len(counts), 2 * deviation), vote, last))
    return np.array(found)


@pytest.mark.parametrize("negative", [0, 140, 2000])
def test_as_many_as_there_are_may_be_hidden_in_all_but_a_fortieth_of_the_cases(negative: int) -> None:
    """Fewer are said with probability at most 1/40 a trial; so many of them by chance with at most 1e-6."""
    rng = np.random.default_rng(1)
    amounts = rng.uniform(1, 250, 30_000)
    amounts[:negative] *= -1
    last = int(places_of(np.array([250.0]))[0])
    hidden = hidden_in_trials(amounts, last, 100.0)
    assert (hidden < negative).sum() <= binom.isf(FALSE_ALARM, TRIALS, 1 / 40)
    assert hidden.mean() < negative + 4 * 100 * np.sqrt(4 * (last - REACH)), "it says something"


def test_numbers_no_larger_than_the_others_are_counted() -> None:
    last = REACH + 6
    _, largest = bounds_of(last, last)
    edges = np.array(fine_edges(REACH, last, 16, whole=False))
    vote = Votes(np.zeros(len(CLASSES) + len(GRIDS) * CELLS), 1e6, 5.0)
    near, far = (np.histogram(np.full(50, x), edges)[0].astype(float) for x in (-largest / 2, -largest * 2))
    noise = np.full(len(near), 1e-3)
    assert negatives_hidden(edges, near, noise, vote, last) == pytest.approx(50, abs=0.1)
    assert negatives_hidden(edges, far, noise, vote, last) == pytest.approx(0, abs=0.1)
    assert negatives_hidden(edges, near, noise, vote, REACH) is None, "nothing says how large they may be"


def table(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    amounts = np.round(rng.lognormal(4, 1, rows), 2)
    amounts[: rows // 250] *= -1
    return pd.DataFrame({"amount": amounts, "town": rng.choice(["x", "y"], rows)})


@pytest.mark.parametrize(("rows", "epsilon"), [(3000, 0.5), (30_000, 0.1)])
def test_the_comment_says_how_many_refunds_would_not_show(rows: int, epsilon: float) -> None:
    """Of .4% of the rows nothing shows with this noise, and no more are there than are said."""
    discovered, curator = discover(table(rows), budget=Budget(epsilon, 1e-9), seed=1)
    curator.close()
    column = discovered.columns[0]
    facts = bought_column(column).facts
    assert facts["lower"][0] == 0
    assert column.negatives is not None
    assert column.negatives >= rows // 250
    assert f"; up to {min(column.negatives, column.records):,.0f} negative ones (" in facts["lower"][1]
    assert "negative" not in facts["upper"][1]


def test_nothing_is_said_of_a_thousandth_or_of_a_side_that_is_there() -> None:
    discovered, curator = discover(table(100_000), budget=BUDGET, seed=1)
    curator.close()
    column = discovered.columns[0]
    assert column.lower is not None
    assert column.lower < 0, "the side that shows is within the bounds"
    assert "negative" not in bought_column(column).facts["lower"][1]
    discovered, curator = discover(table(100_000).assign(amount=lambda all: all.amount.abs()), budget=BUDGET, seed=1)
    curator.close()
    assert discovered.columns[0].negatives is not None
    assert "negative" not in bought_column(discovered.columns[0]).facts["lower"][1]
