"""Distances of marginals by each way of counting, against a count by hand."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.evaluation import marginal_distances
from counterfoil.evaluation.marginal_distances import BesideEachOther

WAYS = {
    "all at once": {},
    "in groups of a value": {"_CELLS_AT_ONCE": 0},
    "in groups, every cell looked at": {"_CELLS_AT_ONCE": 0, "_CELLS_A_ROW": 10**9},
    "in groups, only cells with rows": {"_CELLS_AT_ONCE": 0, "_CELLS_A_ROW": 0},
    "sorted": {"_CELLS_AT_ONCE": 0, "_CELLS_OF_A_GROUP": 0},
    "sorted, numbered anew": {"_CELLS_AT_ONCE": 0, "_CELLS_OF_A_GROUP": 0, "_LARGEST": 2},
}


def by_hand(real: dict, synthetic: dict, clique: tuple[str, ...]) -> float:
    counts = [Counter(zip(*(table[name].tolist() for name in clique), strict=True)) for table in (real, synthetic)]
    rows = [count.total() for count in counts]
    apart = sum(abs(counts[0][cell] * rows[1] - counts[1][cell] * rows[0]) for cell in counts[0] | counts[1])
    return apart / (rows[0] * rows[1])


def tables(seed: int, rows: tuple[int, int], sizes: tuple[int, ...]) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    # Skewed, so that rare codes are missing from a table, or from both.
    return [
        {f"c{i}": (rng.random(n) ** 3 * size).astype(np.min_scalar_type(size)) for i, size in enumerate(sizes)}
        for n in rows
    ]


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32),
    rows=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    sizes=st.lists(st.sampled_from([1, 2, 5, 40, 1000, 10**9]), min_size=3, max_size=4).map(tuple),
)
def test_every_way_counts_the_same(way: str, seed: int, rows: tuple[int, int], sizes: tuple[int, ...]) -> None:
    one, other = tables(seed, rows, sizes)
    cliques = [clique for order in (1, 2, 3) for clique in itertools.combinations(one, order)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WAYS[way].items():
            patch.setattr(marginal_distances, name, value)
        found = BesideEachOther.of(one, other, tuple(one)).distances(cliques)
    assert list(found) == cliques
    for clique, distance in found.items():
        assert distance == pytest.approx(by_hand(one, other, clique), abs=1e-14)


@pytest.mark.parametrize("sizes", [(3, 4, 7), (300, 11, 250), (2, 70_000, 3), (5000, 5000, 5000), (90_000, 100_000, 2)])
def test_compiled_loops_count_many_rows_in_chunks(sizes: tuple[int, ...]) -> None:
    one, other = tables(1, (10_000, 9_001), sizes)
    names = tuple(one)
    found = BesideEachOther.of(one, other, names).distances([names, names[:2], names[1:]])
    for clique, distance in found.items():
        assert distance == pytest.approx(by_hand(one, other, clique), abs=1e-13)
    same = BesideEachOther.of(one, one, names).distances([names, names[:1]])
    assert set(same.values()) == {0.0}
