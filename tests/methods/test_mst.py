"""MST: a tree, found where dependence is, and never above its budget."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.domain.domain import Domain
from counterfoil.methods.mst import MST
from small_releases import (
    Request,
    assert_within_budget,
    charges_of,
    counts_of,
    mu_squared_of,
    opened,
    released,
    requests,
)

FOUR = Domain(("a", "b", "c", "d"), (3, 3, 3, 3))
# A chain a - c - b - d: each says more of the next than of any other.
RNG = np.random.default_rng(4)
CHAIN = []
for _ in range(4000):
    a = int(RNG.integers(3))
    c = (a + int(RNG.random() < 0.2)) % 3
    b = (c + int(RNG.random() < 0.2)) % 3
    CHAIN.append((a, b, c, (b + int(RNG.random() < 0.2)) % 3))


@given(request_=requests())
@settings(max_examples=15, deadline=None)
def test_never_above_its_budget(request_: Request):
    made = released(MST(), request_.domain, request_.rows, draw=3, **request_.keywords)
    assert_within_budget(made, request_.keywords["budget"])
    pairs = [tuple(pair) for pair in made.receipt.document["method"]["parameters"]["pairs"]]
    assert len(pairs) == len(request_.domain.attributes) - 1
    joined = {name: {name} for name in request_.domain.attributes}
    for one, other in pairs:
        assert joined[one] is not joined[other], "a cycle"
        joined[one] |= joined[other]
        for name in joined[one]:
            joined[name] = joined[one]


@pytest.mark.parametrize("relation", ["add_or_remove_one", "replace_one"])
def test_it_finds_the_tree(relation):
    made = released(MST(), FOUR, CHAIN, budget=Budget(10.0, 1e-6), relation=relation)
    pairs = {tuple(pair) for pair in made.receipt.document["method"]["parameters"]["pairs"]}
    assert pairs == {("a", "c"), ("b", "c"), ("b", "d")}
    for pair in pairs:
        assert np.abs(made.marginal(pair) - counts_of(FOUR, CHAIN, pair)).sum() < 0.05 * len(CHAIN)


def test_shares():
    made = released(MST(columns=0.4, choosing=0.1, error_bars=0.1), FOUR, CHAIN)
    whole = GaussianFilter().capacity(Budget(1.0, 1e-6))
    columns, choices = charges_of(made)[:2], charges_of(made)[2:5]
    *measured, errors = charges_of(made)[5:]
    assert [mu_squared_of(charge) for charge in columns] == pytest.approx([0.2 * whole] * 2, rel=1e-6)
    assert [mu_squared_of(charge) for charge in choices] == pytest.approx([0.1 * whole / 3] * 3, rel=1e-6)
    assert [charge["query"] for charge in measured] == ["marginal_counts"] * 3
    assert math.fsum(mu_squared_of(charge) for charge in measured) == pytest.approx(0.4 * whole, rel=1e-6)
    assert errors["query"] == "marginal_errors"
    assert mu_squared_of(errors) == pytest.approx(0.1 * whole, rel=1e-6)


def test_a_single_column_gets_all_but_its_error_bar():
    made = released(MST(), Domain(("a",), (3,)), [(i % 3,) for i in range(30)])
    costs = [mu_squared_of(charge) for charge in charges_of(made)]
    whole = GaussianFilter().capacity(Budget(1.0, 1e-6))
    assert costs == pytest.approx([0.98 * whole, 0.02 * whole], rel=1e-6)


def test_every_pair_has_an_error_bar_that_holds():
    made = released(MST(), FOUR, CHAIN)
    for pair in itertools.combinations("abcd", 2):
        bar = made.error_bar(pair, beta=1e-6)
        assert np.abs(made.model.marginal(pair) - counts_of(FOUR, CHAIN, pair)).sum() <= bar.records < len(CHAIN)


def test_pairs_that_are_too_large_are_left_out():
    made = released(MST(max_model_size=8 * 8e-6), FOUR, CHAIN)
    assert made.receipt.document["method"]["parameters"]["pairs"] == []
    assert [charge["query"] for charge in charges_of(made)] == ["marginal_counts", "marginal_counts", "marginal_errors"]
    wide = Domain(("a", "b", "c"), (3, 3, 30))
    forest = released(MST(max_model_size=20 * 8e-6), wide, [(i % 3, i % 3, i % 30) for i in range(3000)])
    assert forest.receipt.document["method"]["parameters"]["pairs"] == [["a", "b"]]


def test_what_is_refused_costs_nothing():
    with pytest.raises(ValueError, match="`delta` must be positive"), opened(FOUR, CHAIN, budget=Budget(1.0)) as held:
        MST().synthesize(held)
    with pytest.raises(ValueError, match="`rows` must be a whole number of at least 1"), opened(FOUR, CHAIN) as held:
        MST().synthesize(held, rows=0)
    assert held.charges() == []


@pytest.mark.parametrize(
    "shares", [(0.0, 0.5), (0.5, 0.0), (0.6, 0.4), (-0.1, 0.5), (0.5, 0.05, 80.0, 0.0), (0.5, 0.05, 80.0, 0.5)]
)
def test_shares_leave_something(shares):
    with pytest.raises(ValueError, match="leave something of 1"):
        MST(*shares)
