"""The baseline: columns, and nothing between them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from counterfoil.accounting.budget import Budget
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Domain
from counterfoil.methods.independent import Independent
from counterfoil.schema import Schema
from small_releases import Request, assert_within_budget, charges_of, counts_of, opened, released, requests

PAIR = Domain(("a", "b"), (3, 4))
ROWS = [(i % 3, i % 3) for i in range(300)]


@given(request_=requests())
@settings(max_examples=15, deadline=None)
def test_never_above_its_budget(request_: Request):
    made = released(Independent(), request_.domain, request_.rows, draw=3, **request_.keywords)
    assert_within_budget(made, request_.keywords["budget"])


@pytest.mark.parametrize("budget", [Budget(1.0, 1e-6), Budget(1.0)])
def test_columns_are_independent(budget):
    made = released(Independent(), PAIR, ROWS, budget=budget)
    assert charges_of(made)[0]["parameters"]["cliques"] == [["a"], ["b"]]
    expected = np.outer(made.marginal("a"), made.marginal("b")) / made.model.total
    assert made.marginal("ab") == pytest.approx(expected)


@pytest.mark.parametrize("budget", [Budget(1e4, 1e-6), Budget(1e4)])
def test_columns_are_kept(budget):
    made = released(Independent(), PAIR, ROWS, budget=budget)
    for name in "ab":
        assert made.marginal(name) == pytest.approx(counts_of(PAIR, ROWS, (name,)), abs=10)


@pytest.mark.parametrize("seed", range(3))
def test_numbers_that_noise_hides_are_smoothed(seed: int):
    """Cut off at 0 alone, the noise in 38 empty codes (deviation 47) would raise the mean to between 1 and 6."""
    schema = Schema.from_toml('[columns.visits]\nkind = "integer"\nlower = 0\nupper = 40\n')
    records = pa.table({"visits": [0] * 1200 + [1] * 600 + [2] * 300})
    with Curator(records, schema, budget=Budget(0.03), seed=seed) as curator:
        counts = Independent().synthesize(curator).model.marginal(("visits",))
    assert counts @ np.arange(41) / counts.sum() == pytest.approx(0.57, abs=0.2)


def test_rows_are_checked_first():
    with opened(PAIR, ROWS) as curator:
        with pytest.raises(ValueError, match=r"`rows` must be a whole number of at least 1\. Found 0"):
            Independent().synthesize(curator, rows=0)
        assert curator.account is None
