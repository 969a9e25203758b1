"""Tables that are too wide for a method are refused with the arithmetic, before anything is charged."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.domain.domain import Domain
from counterfoil.domain.workload import Workload
from counterfoil.marginals import width
from counterfoil.marginals.width import require_width, too_large_pairs
from counterfoil.methods.aim import AIM
from counterfoil.methods.independent import Independent
from counterfoil.methods.mst import MST
from small_releases import opened

WIDE = Domain(tuple(f"a{i}" for i in range(5000)), (4,) * 5000)
FIVE = Domain(tuple("abcde"), (2, 3, 2, 2, 2))


def test_the_arithmetic_is_in_the_message():
    with pytest.raises(ValueError) as caught:
        require_width("mst", WIDE, 2, choices=4999, rounds=2)
    for part in (
        "'mst'",
        "5,000 columns",
        "12,497,500 combinations",
        "19 GB",
        "3,265 columns",
        "20,000 cells",
        "hours",
    ):
        assert part in str(caught.value)


@pytest.mark.parametrize(("columns", "refused"), [(60, False), (100, False), (300, True)])
def test_triples_that_would_take_hours_are_refused_with_the_order_that_does_not(columns, refused):
    domain = Domain(WIDE.attributes[:columns], WIDE.sizes[:columns])
    if not refused:
        require_width("aim", domain, 3, choices=32, rounds=10)
        return
    with pytest.raises(ValueError, match=r"4,455,100 combinations.*`--workload 2`.* of at most 3,265 columns"):
        require_width("aim", domain, 3, choices=32, rounds=10)
    require_width("aim", domain, 2, choices=32, rounds=10)


@pytest.mark.parametrize("columns", [200, 1000, 3265])
def test_what_fits_is_let_through(columns):
    domain = Domain(WIDE.attributes[:columns], WIDE.sizes[:columns])
    require_width("mst", domain, 2, choices=columns, rounds=2)


def test_orders_beyond_the_columns_and_named_workloads_are_counted(monkeypatch):
    require_width("aim", Domain(("a",), (2,)), 2, choices=1, rounds=1)
    require_width("aim", WIDE, Workload({("a0", "a1"): 1.0}), choices=1, rounds=1)
    monkeypatch.setattr(width, "MOST_GIGABYTES", 5 * 1500 / 1e9)
    require_width("aim", FIVE, 5, choices=1, rounds=1)
    with pytest.raises(ValueError, match="10 combinations"):
        require_width("aim", FIVE, 3, choices=1, rounds=1)


@pytest.mark.parametrize("method", [MST(), AIM(), AIM(workload=3)])
def test_nothing_is_charged_for_a_table_that_is_too_wide(method, monkeypatch):
    monkeypatch.setattr(width, "MOST_GIGABYTES", 1e-6)
    with opened(FIVE, [(0, 0, 0, 0, 0)] * 50, budget=Budget(1.0, 1e-6)) as curator:
        with pytest.raises(ValueError, match="10 combinations"):
            method.synthesize(curator)
        assert curator.charges() == []


def test_independent_columns_are_never_too_many(monkeypatch):
    monkeypatch.setattr(width, "MOST_GIGABYTES", 1e-6)
    with opened(FIVE, [(0, 0, 0, 0, 0)] * 50, budget=Budget(1.0, 1e-6)) as curator:
        assert Independent().synthesize(curator, rows=5).rows == 5


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(1, 2000))
def test_pairs_that_are_too_large_are_those_with_more_cells_than_fit(sizes, most):
    domain = Domain(tuple(f"a{i}" for i in range(len(sizes))), tuple(sizes))
    expected = sum(one * other > most for one, other in itertools.combinations(sizes, 2))
    said = too_large_pairs(domain, most * 8 / 1e6)
    assert bool(said) == bool(expected)
    if expected:
        assert said[0].startswith(f"{expected:,} of {math.comb(len(sizes), 2):,} pairs of columns have more cells")


def test_relations_that_were_lost_to_the_size_of_the_model_are_no_noise():
    with opened(FIVE, [(0, 0, 0, 0, 0), (1, 1, 1, 1, 1)] * 200, budget=Budget(5.0, 1e-6)) as curator:
        made = AIM(max_model_size=4 * 8 / 1e6).synthesize(curator)
    assert any("4 of 10 pairs of columns have more cells" in line for line in made.receipt.document["warnings"])
