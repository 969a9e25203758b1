"""The baseline: columns, and nothing between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from counterfoil.accounting.budget import Budget
from counterfoil.domain.domain import Domain
from counterfoil.methods.independent import Independent
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


def test_rows_are_checked_first():
    with opened(PAIR, ROWS) as curator:
        with pytest.raises(ValueError, match=r"`rows` must be a whole number of at least 1\. Found 0"):
            Independent().synthesize(curator, rows=0)
        assert curator.account is None
