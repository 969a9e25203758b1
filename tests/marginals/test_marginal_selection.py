"""How a round chooses: costs, limits, and that the worst marginals are found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.domain.coarsening import Coarsening, identity
from counterfoil.domain.domain import Domain
from counterfoil.domain.workload import Workload
from counterfoil.graphical_model import junction_tree
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.marginals.candidates import Candidates
from counterfoil.marginals.marginal_selection import (
    ExponentialChoice,
    GaussianChoice,
    Round,
    SelectedMarginals,
)
from counterfoil.marginals.rank_blocks import single_codes
from counterfoil.marginals.scores import expected_error, rounded
from small_releases import mu_squared_of, opened

FOUR = Domain(("a", "b", "c", "d"), (2, 2, 2, 2))
# a = b and c = d for 19 rows of 20; a and b are off in more rows than c and d.
ROWS = [(i % 2, (i + (i % 20 == 0)) % 2, (i // 2) % 2, ((i // 2) + (i % 5 == 0)) % 2) for i in range(4000)]
UNIFORM = GraphicalModel(FOUR, {}, 4000.0)
CHOICES = [ExponentialChoice, GaussianChoice]


def chosen(
    choice,
    *,
    workload: Workload | int = 2,
    share: float = 1.0,
    size: float = 1.0,
    mu_squared: float = 100.0,
    merge=None,
) -> tuple[SelectedMarginals, list]:
    candidates = Candidates.of(workload, FOUR, size)
    coarsening = merge or identity(FOUR)
    model = GraphicalModel(coarsening.domain, {}, 4000.0)
    with opened(FOUR, ROWS, budget=Budget(500.0, 1e-6)) as curator:
        now = Round(
            candidates,
            single_codes(coarsening),
            model_cliques=[(name,) for name in FOUR.attributes],
            estimates=model.marginals(candidates.weights),
            deviation=5.0,
            size_share=share,
            mu_squared=mu_squared,
            column_errors={},
        )
        selected = choice.choose(curator.filter(GaussianFilter()), now)
        return selected, curator.charges()


@given(st.lists(st.floats(-10, 1e6), min_size=1, max_size=9), st.floats(0.1, 1e3))
def test_the_expected_error_of_a_cell_is_at_most_what_is_there(estimate, deviation):
    by_hand = sum(min(max(x, 0.0), math.sqrt(2 / math.pi) * deviation) for x in estimate)
    assert expected_error(np.array(estimate), deviation) == pytest.approx(by_hand)


def test_estimates_are_whole_records():
    (table,) = rounded([np.array([0.4, 2.6])])
    assert table.dtype == np.int64
    assert table.tolist() == [0, 3]


@pytest.mark.parametrize("choice", CHOICES)
def test_the_worst_pairs_are_chosen_first_and_share_no_round_with_their_parts(choice):
    selected, _ = chosen(choice(2))
    assert list(selected.estimates) == [("a", "b"), ("c", "d")]
    assert selected.deviation == 5.0
    for clique, table in selected.estimates.items():
        assert np.array_equal(table, UNIFORM.marginal(clique))


@pytest.mark.parametrize("choice", CHOICES)
def test_each_choice_adds_a_column(choice):
    selected, _ = chosen(choice(6), workload=3)
    covered: set[str] = set()
    for clique in selected.estimates:
        assert not set(clique) <= covered
        covered |= set(clique)
    assert 1 <= len(selected.estimates) <= 4


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("size", [1, 3])
def test_a_choice_costs_no_more_than_it_was_given(choice, size):
    _, charges = chosen(choice(size), mu_squared=0.5)
    costs = [mu_squared_of(charge) for charge in charges]
    assert math.fsum(costs) <= 0.5
    if choice is ExponentialChoice:
        assert costs == pytest.approx([0.5 / size] * len(costs), rel=1e-6)
        assert 1 <= len(costs) <= size
    else:
        assert costs == pytest.approx([0.5], rel=1e-6)


@pytest.mark.parametrize("choice", CHOICES)
def test_weights_count(choice):
    heavy = Workload({("a", "b"): 1.0, ("c", "d"): 5.0})
    assert next(iter(chosen(choice(1))[0].estimates)) == ("a", "b")
    assert next(iter(chosen(choice(1), workload=heavy)[0].estimates)) == ("c", "d")


@pytest.mark.parametrize("choice", CHOICES)
def test_what_is_chosen_fits_together(choice):
    """Eight cells for the columns; a pair adds none to two of them (4 for 2 + 2), a chain does."""
    size = 8 * 8e-6
    selected, _ = chosen(choice(4), size=size)
    known = [(name,) for name in FOUR.attributes]
    assert junction_tree.megabytes(FOUR, [*known, *selected.estimates]) <= size
    small, _ = chosen(choice(4), size=size, share=0.1)
    assert all(len(clique) == 1 for clique in small.estimates), "columns are in the model already"


@pytest.mark.parametrize("choice", CHOICES)
def test_errors_are_those_of_merged_values(choice):
    """With both values of a merged, a and b have nothing to do with each other."""
    codes = {name: np.arange(2) for name in FOUR.attributes} | {"a": np.zeros(2, dtype=np.int64)}
    selected, _ = chosen(choice(1), merge=Coarsening(FOUR, codes))
    assert list(selected.estimates) == [("c", "d")]


def test_gaussian_choice_leaves_out_what_is_not_worth_it():
    """The first is always taken; others only where their error exceeds what a measurement would leave."""
    selected, _ = chosen(GaussianChoice(4), workload=2)
    assert set(selected.estimates) == {("a", "b"), ("c", "d")}
