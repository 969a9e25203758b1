"""Named marginals: all of them, in one question, with the whole budget."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.domain.domain import Domain
from counterfoil.domain.workload import Workload
from counterfoil.methods.direct import Direct, require_model_size
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

TRIPLE = Domain(("a", "b", "c"), (3, 4, 2))
ROWS = [(i % 3, (i % 3) + (i % 5 == 0), (i // 3) % 2) for i in range(300)]


@given(request_=requests())
@settings(max_examples=15, deadline=None)
def test_never_above_its_budget(request_: Request):
    made = released(Direct(request_.workload), request_.domain, request_.rows, draw=3, **request_.keywords)
    assert_within_budget(made, request_.keywords["budget"])


@given(request_=requests(smallest_delta=0.0))
@settings(max_examples=10, deadline=None)
def test_without_a_delta_privacy_is_pure(request_: Request):
    budget = Budget(request_.keywords["budget"].epsilon)
    made = released(
        Direct(request_.workload), request_.domain, request_.rows, draw=3, **request_.keywords | {"budget": budget}
    )
    assert_within_budget(made, budget)
    assert made.receipt.document["composition"]["rule"] == "pure"
    (charge,) = charges_of(made)
    assert charge["noise"]["scale"] == pytest.approx(charge["sensitivity"] / budget.epsilon, rel=1e-9)


def test_the_whole_budget_goes_into_one_question():
    (charge,) = charges_of(released(Direct(2), TRIPLE, ROWS))
    assert mu_squared_of(charge) == pytest.approx(GaussianFilter().capacity(Budget(1.0, 1e-6)), rel=1e-6)
    assert charge["sensitivity"] == pytest.approx(math.sqrt(3))


@pytest.mark.parametrize("budget", [Budget(1e4, 1e-6), Budget(1e4)])
def test_a_large_budget_gives_the_marginals_back(budget):
    made = released(Direct(3), TRIPLE, ROWS, budget=budget)
    assert made.marginal("abc") == pytest.approx(counts_of(TRIPLE, ROWS, ("a", "b", "c")), abs=8)


def test_columns_that_drown_in_the_noise_of_their_marginals_are_said():
    wide = Domain(("a", "b"), (100, 30))
    rows = [(i % 100, i % 30) for i in range(1000)]
    with opened(wide, rows, budget=Budget(0.5, 1e-6)) as curator:
        (said,) = (one for one in Direct(2).synthesize(curator).receipt.document["warnings"] if "too few" in one)
    assert "of the rows of a column to other values" in said
    few = Domain(("a", "b"), (3, 2))
    with opened(few, [(i % 3, i % 2) for i in range(1000)], budget=Budget(5.0, 1e-6)) as curator:
        assert not any("too few" in one for one in Direct(2).synthesize(curator).receipt.document["warnings"])


def test_the_refusal_of_a_wide_table_is_short():
    domain = Domain(tuple(f"c{i}" for i in range(600)), (4,) * 600)
    with pytest.raises(ValueError, match=r"joins c0, .* and 592 more in 10\^361 cells") as refused:
        require_model_size(domain, tuple((f"c{i}", f"c{j}") for i in range(600) for j in range(i)), 80)
    assert len(str(refused.value)) < 400
    names = tuple(f"c{i}" for i in range(3000))
    with pytest.raises(ValueError, match=r"needs 10\^1801 MB.* in 10\^1806 cells"):
        require_model_size(Domain(names, (4,) * 3000), (names,), 80)


@pytest.mark.parametrize("order", [2, 3])
def test_all_marginals_of_a_wide_table_are_refused_without_a_list_of_them(order, monkeypatch):
    wide = Domain(tuple(f"c{i}" for i in range(60)), (4,) * 60)
    monkeypatch.setattr(Workload, "of_order", lambda *given: pytest.fail("millions of marginals"))
    with (
        opened(wide, [(0,) * 60] * 50) as curator,
        pytest.raises(ValueError, match=r"joins c0, .* and 52 more"),
    ):
        Direct(order).synthesize(curator)


@given(st.lists(st.integers(1, 200), min_size=1, max_size=6), st.integers(1, 3))
def test_columns_that_are_surely_small_enough_are_in_every_marginal_of_the_order(sizes, order):
    domain = Domain(tuple(f"c{i}" for i in range(len(sizes))), tuple(sizes))
    within = Workload.surely_within(domain, order)
    kept = Workload.of_order(domain, order).weights
    order = min(order, len(sizes))
    assert all(clique in kept for clique in itertools.combinations(within, order))


def test_columns_that_nothing_names_are_measured_alone():
    made = released(Direct(Workload({("b", "a"): 1.0, ("a", "b"): 2.0})), TRIPLE, ROWS)
    assert charges_of(made)[0]["parameters"]["cliques"] == [["a", "b"], ["c"]]
    assert made.receipt.document["method"]["parameters"]["cliques"] == [["a", "b"]]
    joint = made.marginal("abc")
    alone = made.marginal("ab")[:, :, None] * made.marginal("c") / made.model.total
    assert joint == pytest.approx(alone), "c is independent"


def test_a_model_that_is_too_large_is_refused_before_it_costs_anything():
    with opened(TRIPLE, ROWS) as curator:
        with pytest.raises(ValueError, match=r"The model needs .* MB.*joins a, b, c in 24 cells.*fewer bins"):
            Direct(3, max_model_size=1e-4).synthesize(curator)
        with pytest.raises(ValueError, match="Unknown: 'z'"):
            Direct(Workload({("a", "z"): 1.0})).synthesize(curator)
        with pytest.raises(ValueError, match="`rows`"):
            Direct(2).synthesize(curator, rows=-1)
        assert curator.account is None, "nothing was opened"


def test_overlapping_cliques_count_together():
    """Three pairs make a triangle, whose model joins all three columns: 24 cells, not 12 + 6 + 8."""
    needed = 24 * 8e-6
    assert released(Direct(2, max_model_size=needed), TRIPLE, ROWS).rows > 0
    with pytest.raises(ValueError, match="joins a, b, c"):
        released(Direct(2, max_model_size=needed * 0.99), TRIPLE, ROWS)


def test_bars_come_from_the_noisy_counts():
    made = released(Direct(2), TRIPLE, ROWS)
    assert set(made.error_bars.bounds) == {("a", "b"), ("a", "c"), ("b", "c")}
    exact = counts_of(TRIPLE, ROWS, ("a", "b"))
    assert np.abs(made.marginal("ab") - exact).sum() <= made.error_bar("ab", 1e-6).records


def test_a_workload_of_another_type_is_refused_before_a_table_is_opened() -> None:
    with pytest.raises(ValueError, match=r"`workload` must be a whole number .* Found \['sex'\]"):
        Direct(workload=["sex"])  # type: ignore[arg-type]
