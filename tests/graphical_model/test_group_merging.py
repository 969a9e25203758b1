"""Rare categories merge within their groups first: against a reading of the rule one value at a time."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.accounting.budget import Budget
from counterfoil.accounting.filter import GaussianFilter
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.group_merging import merge_in_groups
from counterfoil.graphical_model.merging import merge_rare
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.marginals.one_way import measure_one_way
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.schema import Categorical, Integer, Schema

VALUES = st.lists(st.tuples(st.integers(-20, 60), st.integers(-1, 3)), min_size=1, max_size=14)


def parts(codes: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(codes == code).tolist()) for code in set(codes.tolist())}


@given(VALUES)
def test_the_parts_are_those_of_the_rule(values: list[tuple[int, int]]) -> None:
    counts, groups = np.array(values, dtype=float).T
    codes = merge_in_groups(counts, groups.astype(np.int64), 30.0)
    alone = {frozenset([i]) for i, (count, _) in enumerate(values) if count >= 30}
    heap: set[int] = {i for i, (count, group) in enumerate(values) if count < 30 and group < 0}
    together = set()
    for group in range(4):
        rare = [i for i, (count, own) in enumerate(values) if count < 30 and own == group]
        if rare and sum(values[i][0] for i in rare) >= 30 * math.sqrt(len(rare)):
            together.add(frozenset(rare))
        else:
            heap |= set(rare)
    assert parts(codes) == alone | together | ({frozenset(heap)} if heap else set())
    assert set(codes.tolist()) == set(range(codes.max() + 1))


def test_groups_are_counted_apart_where_one_heap_was() -> None:
    domain = Domain(("code",), (9,))
    counts = np.array([25.0, 20, 20, 25, 20, 20, 900, 5, 2])
    noisy = [NoisyMarginal(("code",), counts, 10.0)]
    plain = merge_rare(domain, noisy, ordered={})
    assert parts(plain.codes["code"]) == {frozenset([6]), frozenset([0, 1, 2, 3, 4, 5, 7, 8])}
    groups = {"code": np.array([0, 0, 0, 1, 1, 1, 1, 1, -1])}
    grouped = merge_rare(domain, noisy, ordered={}, groups=groups)
    assert parts(grouped.codes["code"]) == {
        frozenset([0, 1, 2]),
        frozenset([3, 4, 5, 7]),
        frozenset([6]),
        frozenset([8]),
    }


def test_the_groups_of_a_schema_guide_what_is_merged() -> None:
    letters = [f"{chapter}{i}" for chapter in "AB" for i in range(20)]
    groups = (("A", tuple(letters[:20])), ("B", tuple(letters[20:])))
    table = pa.table({"code": letters * 4, "n": [0, 1] * 80})
    chapters = {}
    for declared in (Categorical("code", tuple(letters), groups=groups), Categorical("code", tuple(letters))):
        schema = Schema((declared, Integer("n", 0, 1)))
        with Curator(table, schema, budget=Budget(20.0, 1e-6), seed=1) as curator:
            # A deviation of 2.8: each category has 4 records and is rare, each chapter 80 and is not.
            noise = GaussianNoise(2.0)
            one_way = measure_one_way(curator, curator.filter(GaussianFilter()), noise, entropy_weight=1.0)
        codes = one_way.coarsening.codes["code"]
        (largest,) = [code for code, n in enumerate(np.bincount(codes)) if n > 15][:1]
        chapters[bool(declared.groups)] = {letters[i][0] for i in np.flatnonzero(codes == largest)}
    assert len(chapters[True]) == 1
    assert chapters[False] == {"A", "B"}
