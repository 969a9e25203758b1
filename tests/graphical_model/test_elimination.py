"""Programs against a plain planner, and how much work a wide one takes."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import elimination, junction_tree
from counterfoil.graphical_model.elimination import compile_program

axes_of_tensors = st.lists(st.lists(st.integers(0, 5), max_size=3, unique=True).map(tuple), min_size=1, max_size=12)


class Plain(elimination._Planner):
    """Multiplies the cheapest of all pairs, which are looked at one by one."""

    def merge_to(self, bucket, count):
        bucket = list(bucket)
        while len(bucket) > count:
            pairs = [(i, j) for n, i in enumerate(bucket) for j in bucket[:n]]
            i, j = min(pairs, key=lambda pair: self.cells({*self.axes[pair[0]], *self.axes[pair[1]]}))
            bucket = [slot for slot in bucket if slot not in (i, j)] + [self.merge(i, j)]
        return bucket

    def holding(self, axis):
        return [slot for slot in sorted(self.live) if axis in self.axes[slot]]


@given(st.lists(st.integers(1, 4), min_size=6, max_size=6), axes_of_tensors, st.permutations(range(6)), st.booleans())
@settings(max_examples=200, deadline=None)
def test_programs_are_those_of_a_plain_planner(sizes, inputs, order, jointly):
    inputs = [*inputs, *((x,) for x in range(6))]
    quick = compile_program(sizes, inputs, order, jointly=jointly)
    planner, elimination._Planner = elimination._Planner, Plain
    try:
        assert compile_program(sizes, inputs, order, jointly=jointly) == quick
    finally:
        elimination._Planner = planner


def test_a_thousand_columns_need_few_comparisons(monkeypatch):
    """Thousands of tensors over the same axes, or over none, are one group, and not a million pairs."""
    compared = []
    pairs = elimination._Bucket._pairs

    def counted(self):
        found = list(pairs(self))
        compared.append(len(found))
        return iter(found)

    monkeypatch.setattr(elimination._Bucket, "_pairs", counted)
    n = 1000
    alone = compile_program([4] * n, [(x,) for x in range(n)], range(n))
    star = compile_program([4] * n, [(0, x) for x in range(1, n)], [*range(1, n), 0])
    assert len(alone.steps) == 2 * n - 1
    assert len(star.steps) >= n - 1
    assert sum(compared) < 20 * n


def test_a_tree_that_cannot_be_smaller_is_found_at_once(monkeypatch):
    tried = []
    eliminate = junction_tree._eliminate
    monkeypatch.setattr(junction_tree, "_eliminate", lambda *a, **k: tried.append(k) or eliminate(*a, **k))
    names = tuple(f"a{i}" for i in range(40))
    domain = Domain(names, tuple(2 + i % 3 for i in range(40)))
    chain = junction_tree.build(domain, list(pairwise(names)))
    assert len(tried) == 1
    assert chain.cells == sum(domain.size(pair) for pair in pairwise(names))
    junction_tree.build(domain, [(names[0], names[-1]), *pairwise(names)])
    assert len(tried) > 10, "a ring has many trees"


def test_a_column_of_one_value_may_belong_to_a_larger_clique():
    """f has one value: the graph's own cliques {g, h} and {f, h} have 16 + 4 cells, and {f, g, h} has 16."""
    domain = Domain(tuple("abcdefghi"), (1, 2, 4, 2, 7, 1, 4, 4, 4))
    cliques = [tuple(clique) for clique in ("bd", "gh", "fh", "ai", "acf", "cef")]
    assert sum(map(domain.size, cliques)) == 60
    assert junction_tree.build(domain, cliques).cells == 56
