"""Compiled counting against numpy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.curator.engines.engine import Block
from counterfoil.domain import counting
from counterfoil.domain.counting import count_marginals, count_stacked
from counterfoil.domain.domain import Domain
from counterfoil.domain.layout import Layout


@given(st.lists(st.integers(1, 300), min_size=1, max_size=5), st.integers(0, 10_000), st.integers(0, 2**32))
def test_counts_equal_a_sum_over_rows(sizes: list[int], rows: int, seed: int) -> None:
    domain = Domain(tuple("abcde"[: len(sizes)]), tuple(sizes))
    rng = np.random.default_rng(seed)
    codes = {
        name: rng.integers(0, size, rows).astype(np.min_scalar_type(size - 1))
        for name, size in zip(domain.attributes, sizes, strict=True)
    }
    cliques = [
        clique
        for order in range(4)
        for clique in itertools.combinations(domain.attributes, order)
        if domain.size(clique) < 10**5
    ]
    for clique, found in zip(cliques, count_marginals(codes, rows, cliques, domain), strict=True):
        expected = np.zeros(domain.shape(clique), dtype=np.int64)
        np.add.at(expected, tuple(codes[name] for name in clique) or (), 1 if clique else rows)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.int64


@pytest.mark.parametrize("shape", [(1,), (3,), (64, 128), (65, 127), (8193,), (2, 3, 5, 7)])
@pytest.mark.parametrize("rows", [0, 1, 4095, 4096, 4099, 40_000])
def test_cells_are_counted_alike_in_four_tables_and_in_one(shape: tuple[int, ...], rows: int) -> None:
    # Up to 8,192 cells, and at least four rows a cell, four tables take turns.
    domain = Domain(tuple("abcd"[: len(shape)]), shape)
    rng = np.random.default_rng(rows)
    codes = {name: (rng.random(rows) ** 3 * size).astype(np.int64) for name, size in zip("abcd", shape, strict=False)}
    before = rng.integers(0, 2**40, shape)
    found = before.copy()
    count_marginals(codes, rows, [domain.attributes] * 2, domain, into=[found, np.zeros(shape, np.int64)])
    flat = np.zeros(shape, dtype=np.int64)
    np.add.at(flat, tuple(codes[name] for name in domain.attributes), 1)
    np.testing.assert_array_equal(found, before + flat)
    stacked = np.zeros(flat.size, dtype=np.int64)
    count_stacked(codes, rows, Layout.of(domain, [domain.attributes]), stacked)
    np.testing.assert_array_equal(stacked, flat.ravel())


def test_blocks_add_up_into_the_same_arrays() -> None:
    domain = Domain(("a", "b"), (2, 3))
    block = Block(2, {"a": np.array([0, 1], np.uint8), "b": np.array([2, 2], np.uint8)}, {})
    once = count_marginals(block.codes, block.rows, [("a", "b")], domain)
    twice = count_marginals(block.codes, block.rows, [("a", "b")], domain, into=once)
    assert twice[0] is once[0]
    assert twice[0].tolist() == [[0, 0, 2], [0, 0, 2]]


def test_a_code_past_the_end_is_caught_before_anything_is_written() -> None:
    block = Block(1, {"a": np.array([2], np.uint8)}, {})
    with pytest.raises(ValueError, match="between 0 and 1"):
        count_marginals(block.codes, block.rows, [("a",)], Domain(("a",), (2,)))


@pytest.mark.parametrize("ready", [False, True])
@pytest.mark.parametrize("few", [0, 10**9])
def test_few_rows_are_counted_without_a_compiler_that_is_not_there_yet(
    monkeypatch: pytest.MonkeyPatch, ready: bool, few: int
) -> None:
    class Loop:
        is_ready = ready
        calls = 0

        def __call__(self, *arguments: object) -> None:
            Loop.calls += 1
            count(*arguments)

    count = counting._count
    monkeypatch.setattr(counting, "_count", Loop())
    monkeypatch.setattr(counting, "_FEW_ROWS", few)
    codes = {"a": np.array([0, 1, 1], np.uint8), "b": np.array([2, 2, 0], np.uint8)}
    domain = Domain(("a", "b"), (2, 3))
    into = [np.ones(domain.shape(clique), dtype=np.int64) for clique in (("a", "b"), ("b",), ())]
    found = count_marginals(codes, 3, [("a", "b"), ("b",), ()], domain, into=into)
    assert [table.tolist() for table in found] == [[[1, 1, 2], [2, 1, 2]], [2, 1, 3], 4]
    assert all(table is given for table, given in zip(found, into, strict=True)), "added to in place"
    assert Loop.calls == (3 if ready or not few else 0)
