"""Tables in one array: where they lie, and that they are counted as they are one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.domain.counting import count_marginals, count_stacked
from counterfoil.domain.domain import Domain
from counterfoil.domain.layout import Layout, StackedCounts

DOMAIN = Domain(("a", "b"), (2, 3))


@given(st.lists(st.integers(1, 12), min_size=2, max_size=5), st.integers(0, 700), st.integers(0, 2**32))
def test_counts_together_are_those_one_by_one(sizes, rows, seed):
    """Columns of up to 8 values are counted 64 rows at a time, and the others row by row."""
    domain = Domain(tuple("abcde"[: len(sizes)]), tuple(sizes))
    rng = np.random.default_rng(seed)
    codes = {
        name: rng.integers(0, size, rows).astype(np.uint8) for name, size in zip(domain.attributes, sizes, strict=True)
    }
    cliques = [clique for n in (1, 2, 3) for clique in itertools.permutations(domain.attributes, n)]
    rng.shuffle(cliques)
    layout = Layout.of(domain, cliques)
    found = np.full(int(layout.starts[-1]), 7, dtype=np.int64)
    count_stacked(codes, rows, layout, found)
    expected = [table.ravel() for table in count_marginals(codes, rows, cliques, domain)]
    np.testing.assert_array_equal(found - 7, np.concatenate(expected))


def test_codes_outside_the_domain_and_other_arrays_are_refused_before_anything_is_written():
    layout = Layout.of(DOMAIN, [("a", "b")])
    good = {"a": np.array([0, 1], np.uint8), "b": np.array([2, 2], np.uint8)}
    for codes in (good | {"a": np.array([0, 2], np.uint8)}, good | {"b": np.array([-1, 0])}):
        counts = np.zeros(6, dtype=np.int64)
        with pytest.raises(ValueError, match="must lie between 0 and"):
            count_stacked(codes, 2, layout, counts)
        assert not counts.any()
    for wrong in (np.zeros(5, dtype=np.int64), np.zeros(6), np.zeros(12, dtype=np.int64)[::2]):
        with pytest.raises(ValueError, match="contiguous int64"):
            count_stacked(good, 2, layout, wrong)


def test_tables_lie_one_after_another():
    layout = Layout.of(DOMAIN, [("a",), ("a", "b"), ("b",)])
    assert layout.starts.tolist() == [0, 2, 8, 11]
    tables = {("a",): np.array([1, 2]), ("a", "b"): np.arange(6).reshape(2, 3), ("b",): np.ones(3, dtype=np.int64)}
    stacked = layout.stack(tables, list(tables))
    assert stacked.tolist() == [1, 2, 0, 1, 2, 3, 4, 5, 1, 1, 1]
    assert layout.sums(stacked).tolist() == [3, 15, 3]
    with pytest.raises(ValueError, match="must have the shape"):
        layout.stack(tables | {("b",): np.ones((3, 1))}, list(tables))


def test_what_is_no_layout_is_refused():
    class Odd(str):
        pass

    for domain, members, begins in (
        (DOMAIN, [0, 2], [0, 2]),
        (DOMAIN, [-1], [0, 1]),
        (DOMAIN, [0, 1], [0, 1]),
        (DOMAIN, [0, 1], [0, 0, 2]),
        (Domain((Odd("a"),), (2,)), [0], [0, 1]),
    ):
        with pytest.raises(ValueError):
            Layout(domain, np.array(members), np.array(begins))
    with pytest.raises(ValueError, match="one number for each cell"):
        StackedCounts(Layout.of(DOMAIN, [("a",)]), np.zeros(3, dtype=np.int64))
