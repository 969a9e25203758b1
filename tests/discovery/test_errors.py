"""Each noisy number of a bought schema goes with the error of the question that it comes from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from counterfoil.accounting.budget import Budget
from counterfoil.discovery.bought_facts import coverage
from counterfoil.discovery.discover import discover

pytestmark = pytest.mark.filterwarnings("ignore::counterfoil.ledger.no_ledger.NoLedgerWarning")

ROWS = 4000
RUNS = 6


@pytest.mark.parametrize(("texts", "numbers"), [(20, 1), (1, 20)])
def test_errors_are_those_of_their_questions(texts, numbers):
    """The mean square of about 120 standard normals; above 2 or below .3 with probability below 1e-6.

    The number of records has its noise in common with all columns of a run. Beside the noise of a missing count that is
    little; of what categories cover it is most, so that those of two runs count as two numbers: their mean square
    exceeds 14 with probability below 1e-6.
    """
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {f"t{i}": rng.choice(["a", "b"], ROWS) for i in range(texts)}
        | {f"n{i}": rng.integers(0, 100, ROWS) for i in range(numbers)}
    )
    missing, records, covered = [], [], []
    for seed in range(RUNS):
        found, curator = discover(table, budget=Budget(2.0, 1e-6), seed=seed)
        curator.close()
        for column in found.columns:
            missing.append(column.missing / column.missing_error)
            if column.records > 0:
                records.append((column.records - ROWS) / column.records_error)
            if len(column.categories) == 2:
                share, error = coverage(column, sum(count for _, count in column.categories), 2)
                covered.append((share - 1) / error if share < 1 else np.nan)
    assert 0.3 < np.mean(np.square(missing)) < 2
    assert 0.3 < np.mean(np.square(records)) < 2
    below = [one for one in covered if not np.isnan(one)]  # half of them; a share is at most 1
    assert not below or np.mean(np.square(below)) < 14
