"""Marginal errors against a count by hand."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.evaluation.marginals import compare_marginals


def by_hand(real: dict, synthetic: dict, clique: tuple[str, ...]) -> float:
    shares = []
    for table in (real, synthetic):
        rows = list(zip(*(table[name].tolist() for name in clique), strict=True))
        shares.append({cell: count / len(rows) for cell, count in Counter(rows).items()})
    return sum(abs(shares[0].get(cell, 0) - shares[1].get(cell, 0)) for cell in {*shares[0], *shares[1]})


@st.composite
def two_tables(draw: st.DrawFn) -> tuple[dict, dict, Domain]:
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 7, 1000, 10**6]), min_size=1, max_size=5))
    domain = Domain(tuple(f"c{i}" for i in range(len(sizes))), tuple(sizes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = []
    for _ in range(2):
        rows = draw(st.integers(1, 30))
        # Few distinct codes, so that tables share cells even where the domain is huge.
        tables.append({name: np.minimum(rng.integers(0, 3, rows), domain[name] - 1) for name in domain.attributes})
    return tables[0], tables[1], domain


@settings(max_examples=60, deadline=None)
@given(two_tables(), st.integers(1, 4))
def test_errors_equal_a_count_by_hand(tables: tuple[dict, dict, Domain], order: int) -> None:
    real, synthetic, domain = tables
    order = min(order, len(domain.attributes))
    found = compare_marginals(real, synthetic, domain, order=order)
    assert set(found.errors) == set(itertools.combinations(domain.attributes, order))
    for clique, error in found.errors.items():
        assert error == pytest.approx(by_hand(real, synthetic, clique), abs=1e-12)
    assert found.largest == max(found.errors.values()) == found.errors[found.worst]
    assert found.mean == pytest.approx(sum(found.errors.values()) / len(found.errors))


def test_equal_tables_have_no_error_and_disjoint_ones_two() -> None:
    domain = Domain(("a", "b"), (4, 4))
    low = {"a": np.array([0, 1, 0]), "b": np.array([1, 0, 1])}
    high = {name: codes + 2 for name, codes in low.items()}
    assert compare_marginals(low, low, domain, order=2).largest == 0
    assert compare_marginals(low, high, domain, order=1).mean == pytest.approx(2)


def test_small_unsigned_codes_do_not_overflow() -> None:
    domain = Domain(("a", "b"), (200, 200))
    real = {name: np.array([199, 199], dtype=np.uint8) for name in "ab"}
    synthetic = {"a": np.array([199], dtype=np.uint8), "b": np.array([198], dtype=np.uint8)}
    assert compare_marginals(real, synthetic, domain, order=2).largest == pytest.approx(2)


def test_wide_tables_are_compared_in_part_and_say_so() -> None:
    domain = Domain(tuple(f"c{i}" for i in range(40)), (2,) * 40)
    table = {name: np.array([0, 1]) for name in domain.attributes}
    found = compare_marginals(table, table, domain, order=3, at_most=100)
    assert len(found.errors) == 100
    assert found.total == math.comb(40, 3)
    assert {"c0", "c39"} <= {name for clique in found.errors for name in clique}


def test_bad_requests_are_refused() -> None:
    domain = Domain(("a",), (2,))
    empty, full = {"a": np.array([], dtype=int)}, {"a": np.array([1])}
    with pytest.raises(ValueError, match="synthetic table must have rows"):
        compare_marginals(full, empty, domain, order=1)
    with pytest.raises(ValueError, match=r"from 1 to the number of columns, 1\. Found 2"):
        compare_marginals(full, full, domain, order=2)
