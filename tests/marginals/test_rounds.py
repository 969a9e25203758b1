"""How many rounds AIM takes where nobody says: the more, the less noise the budget buys."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from counterfoil import AIM, Budget, Curator, Schema
from counterfoil.marginals import rounds_allowed
from counterfoil.schema import Categorical

COLUMNS = [f"c{i}" for i in range(10)]
SCHEMA = Schema([Categorical(name, values=["a", "b", "c"]) for name in COLUMNS])
TABLE = pd.DataFrame(np.array(list("abc"))[np.random.default_rng(0).integers(0, 3, (2000, 10))], columns=COLUMNS)
COPIES = pd.DataFrame(dict.fromkeys(COLUMNS, pd.concat([TABLE["c0"]] * 2)))


FEWEST = 6
"""Of four choices each, which choose every other of 45 pairs: fewer than `FEWEST_ROUNDS`, as columns are few."""


def most_rounds(epsilon: float, table: pd.DataFrame = COPIES, schema: Schema = SCHEMA, **parameters: object) -> int:
    seen: list[str] = []
    with Curator(table, schema, budget=Budget(epsilon, 1e-6), seed=4) as curator:
        AIM(**parameters).synthesize(curator, rows=10, progress=lambda text, share: seen.append(text))
    return int(next(found[1] for text in seen if (found := re.search(r"of at most (\d+)", text))))


def test_more_budget_means_more_rounds_up_to_all_candidates():
    """The spanning tree of 9 pairs comes first, in place of two rounds of four.

    At 0.5 a choice's noise has a scale of 260 records, and each pair of copies an error of about 5,300, 4 / 3 of the
    records, of which 460 are its noise and 990 the margin: the tree ends early with odds of 9 exp(-14), 1e-5. The
    seed is fixed.
    """
    assert most_rounds(0.5) == FEWEST - 2
    assert most_rounds(100.0) == 12  # of four, for 45 pairs and 10 columns, less the tree
    assert most_rounds(100.0, rounds=3) == 2


def test_pairs_that_are_worth_nothing_leave_their_rounds():
    """Ten independent columns: with this seed the tree ends before it takes the place of a round."""
    assert most_rounds(0.5, TABLE) == FEWEST
    assert most_rounds(0.5, TABLE, rounds=3) == 2


@pytest.mark.parametrize(("columns", "rounds"), [(3, 1), (7, 3)])
def test_few_columns_take_few_rounds(columns, rounds):
    """As many as choose every other of 3 and of 21 pairs, four at a time."""
    schema = Schema([Categorical(name, values=["a", "b", "c"]) for name in COLUMNS[:columns]])
    assert most_rounds(0.5, TABLE[COLUMNS[:columns]], schema) == rounds


def test_a_wide_table_takes_fewer(monkeypatch):
    monkeypatch.setattr(rounds_allowed, "MOST_SCORES", 500)
    assert most_rounds(100.0) == 7


@pytest.mark.parametrize("rounds", [0, -1])
def test_a_number_of_rounds_is_positive(rounds):
    with pytest.raises(ValueError, match="at least 1"):
        AIM(rounds=rounds)
