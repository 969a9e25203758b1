"""Marginals of three and four columns: which are candidates, what they weigh, when they take part."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.domain.domain import Domain
from counterfoil.domain.workload import DEFAULT_MAX_CELLS, Workload
from counterfoil.marginals import candidates as candidates_module
from counterfoil.marginals.candidates import Candidates
from counterfoil.methods.aim import AIM
from small_releases import charges_of, counts_of, released

SIX = Domain(tuple("abcdef"), (2,) * 6)
# f is the parity of b, c and d; every three columns are independent, so that pairs and triples tell nothing.
RNG = np.random.default_rng(1)
CODES = RNG.integers(0, 2, (20_000, 6))
CODES[:, 5] = CODES[:, 1:4].sum(axis=1) % 2
PARITY = list(map(tuple, CODES.tolist()))
FOUND = ("b", "c", "d", "f")


@given(st.tuples(*[st.integers(1, 60)] * 5))
def test_candidates_with_a_focus(sizes):
    domain = Domain(tuple("abcde"), sizes)
    before = Candidates.of(2, domain, 1.0)
    after = before.with_focus("c", domain)
    expected = {
        clique
        for size in (3, 4)
        for clique in itertools.combinations("abcde", size)
        if "c" in clique and domain.size(clique) <= DEFAULT_MAX_CELLS
    }
    assert set(after.weights) == set(before.weights) | expected
    heaviest = max(before.weights.values())
    assert all(after.weights[clique] == before.weights.get(clique, heaviest) for clique in after.weights)
    assert max(after.weights.values()) == heaviest, "the sensitivity of a choice"


def test_a_wide_table_has_fewer_with_a_focus(monkeypatch):
    monkeypatch.setattr(candidates_module, "MOST_WITH_FOCUS", 10)  # of five others: ten pairs, ten triples
    seven = Domain(tuple("abcdefg"), (2,) * 7)
    assert {len(clique) for clique in Candidates.of(2, SIX, 1.0).with_focus("a", SIX).weights} == {1, 2, 3, 4}
    assert {len(clique) for clique in Candidates.of(2, seven, 1.0).with_focus("a", seven).weights} == {1, 2}


def test_of_triples_pairs_keep_their_own_weights_and_none_is_missing():
    """With 90 values a column is in few triples of at most 10,000 cells: the closure has hardly a pair with it."""
    domain = Domain(tuple("abcd"), (90, 90, 90, 2))
    by_gain, pairs = Candidates.by_gain(3, domain, 1.0), Candidates.of(2, domain, 1.0)
    assert Candidates.of(3, domain, 1.0).weights.keys().isdisjoint({("a", "b", "c")})
    assert {clique: weight for clique, weight in by_gain.weights.items() if len(clique) <= 2} == pairs.weights
    eight = Domain(tuple("abcdefgh"), (2,) * 8)
    weights = Candidates.by_gain(3, eight, 1.0).weights
    assert len(weights) == 8 + math.comb(8, 2) + math.comb(8, 3)
    assert {weights[clique] for clique in weights if len(clique) > 1} == {14.0}


@pytest.mark.parametrize("workload", [1, 2, Workload({("a", "b", "c"): 2.0, ("d",): 1.0})])
def test_other_workloads_are_the_closure(workload):
    assert Candidates.by_gain(workload, SIX, 1.0).weights == Candidates.of(workload, SIX, 1.0).weights


def largest_measured(made) -> int:
    asked = [charge["parameters"]["cliques"] for charge in charges_of(made, "marginal_counts")]
    return max(len(clique) for cliques in asked for clique in cliques)


def most_candidates(made) -> int:
    return max(charge["parameters"]["candidates"] for charge in charges_of(made, "worst_approximated_marginal"))


def test_triples_take_part_only_once_their_noise_is_small():
    """By the noise, not by luck: with 2,000 rows a triple's noise is a few records a cell, or hundreds."""
    rows = PARITY[:2000]
    few = released(AIM(3), SIX, rows, budget=Budget(0.5, 1e-6), draw=5)
    assert largest_measured(few) == 2
    assert most_candidates(few) <= 21, "six columns and fifteen pairs"
    assert most_candidates(released(AIM(3, rounds=2), SIX, rows, budget=Budget(20.0, 1e-6), draw=5)) > 21


def test_what_is_named_takes_part_whatever_its_noise():
    named = Workload({("a", "b", "c"): 1.0})
    made = released(AIM(named), SIX, PARITY[:200], budget=Budget(0.1, 1e-6), draw=5)
    assert most_candidates(made) == 7


@pytest.mark.parametrize(
    "aim", [AIM(Workload(dict.fromkeys(itertools.combinations(SIX.attributes, 4), 1.0))), AIM(focus="f")]
)
def test_a_parity_of_four_columns_is_found(aim):
    """It is off by 20,000 records of 20,000 until it is measured, all else by noise.

    A choice has Gumbel noise of scale below 200 records (of the smallest share: mu squared 0.05 / 200 of that of
    epsilon 3), so that one round among at most 56 candidates passes it over with probability below
    56 exp(-19000 / 200), nearly 0.
    """
    made = released(aim, SIX, PARITY, budget=Budget(3.0, 1e-9), draw=5)
    table = made.model.marginal(FOUND)
    assert np.abs(table - counts_of(SIX, PARITY, FOUND)).sum() < 0.1 * len(PARITY)


def test_without_a_name_or_a_focus_pairs_do_not_see_it():
    made = released(AIM(), SIX, PARITY, budget=Budget(3.0, 1e-9), draw=5)
    table = made.model.marginal(FOUND)
    assert np.abs(table - counts_of(SIX, PARITY, FOUND)).sum() > 0.9 * len(PARITY)
