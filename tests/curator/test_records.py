"""Exact counts behind the wall: right, counted once, and kept within bounds."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.curator.engines.engine import Block, Engine
from counterfoil.curator.records import ExactRecords
from counterfoil.domain.domain import Domain
from sensitive_tables import ENGINES, records_of

DOMAIN = Domain(("a", "b", "c"), (2, 3, 4))
ROWS = [(0, 1, 3), (1, 2, 0), (0, 1, 3), (1, 0, 2), (0, 2, 3)]
CLIQUES = [(), ("a",), ("b", "c"), ("a", "b", "c")]


class Counting(Engine):
    """An engine of two blocks that counts how often it is read."""

    def __init__(self) -> None:
        self.scans = 0

    def prepare(self, columns, numbers=()):
        pass

    def blocks(self, columns, numbers=()):
        self.scans += 1
        for rows in (ROWS[:2], ROWS[2:]):
            codes = {name: np.array([row[DOMAIN.attributes.index(name)] for row in rows], np.uint8) for name in columns}
            yield Block(len(rows), codes, {})


def brute_force(clique: tuple[str, ...]) -> np.ndarray:
    counts = np.zeros(DOMAIN.shape(clique), dtype=np.int64)
    for row in ROWS:
        counts[tuple(row[axis] for axis in DOMAIN.axes(clique))] += 1
    return counts


@pytest.mark.parametrize("engine", ENGINES)
def test_marginals_are_those_counted_by_hand(engine):
    records = records_of(DOMAIN, ROWS, engine=engine)
    for clique, counts in zip(CLIQUES, records.marginals(CLIQUES), strict=True):
        assert counts.dtype == np.int64
        assert np.array_equal(counts, brute_force(clique))


@pytest.mark.parametrize("engine", ENGINES)
def test_an_empty_table_counts_nothing(engine):
    for counts in records_of(DOMAIN, [], engine=engine).marginals(CLIQUES):
        assert not counts.any()


def test_marginals_are_counted_once():
    engine = Counting()
    records = ExactRecords(engine, DOMAIN)
    first = records.marginals(CLIQUES)
    again = records.marginals(CLIQUES[::-1])[::-1]
    assert engine.scans == 1
    for one, other, clique in zip(first, again, CLIQUES, strict=True):
        assert np.array_equal(one, other)
        assert np.array_equal(one, brute_force(clique))


@pytest.mark.parametrize("cache_bytes", [0, 8, 40, 120])
def test_a_small_cache_changes_no_count(cache_bytes):
    engine = Counting()
    records = ExactRecords(engine, DOMAIN, cache_bytes=cache_bytes)
    for _ in range(3):
        for clique, counts in zip(CLIQUES, records.marginals(CLIQUES), strict=True):
            assert np.array_equal(counts, brute_force(clique))
    assert engine.scans == 3, "what does not fit is counted again"


def test_a_fold_sums_over_blocks():
    records = ExactRecords(Counting(), DOMAIN)
    total = records.fold(lambda block: np.array([block.rows, block.codes["c"].sum()]), ["c"])
    assert total.tolist() == [5, 11]


def test_what_a_query_does_with_its_counts_does_not_reach_the_next_one():
    records = ExactRecords(Counting(), DOMAIN)
    (counts,) = records.marginals([("a",)])
    with pytest.raises(ValueError, match="read-only"):
        counts += 1
    assert np.array_equal(records.marginals([("a",)])[0], brute_force(("a",)))
