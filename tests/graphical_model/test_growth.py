"""Sizes of grown models against whole eliminations, one clique after another."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import junction_tree
from counterfoil.graphical_model.growth import Growth
from counterfoil.marginals import candidates as candidates_module
from counterfoil.marginals.candidates import Candidates

NAMES = tuple("abcdefghij")
cliques = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True).map(tuple)


def by_least_table(domain: Domain, model: list[tuple[str, ...]]) -> int:
    """Cells of the maximal cliques, with sets: whoever has the fewest cells goes first, of equals the first."""
    around = {a: {b for c in model if a in c for b in c} | {a} for a in domain.attributes}
    made: list[set[str]] = []
    while around:
        name = min(around, key=lambda a: domain.size(around[a]))
        clique = around.pop(name)
        for other in clique - {name}:
            around[other] = (around[other] | clique) - {name}
        if not any(clique <= other for other in made):
            made.append(clique)
    return sum(domain.size(clique) for clique in made)


@given(
    st.lists(st.integers(1, 9), min_size=10, max_size=10),
    st.lists(cliques, max_size=12),
    st.lists(cliques, min_size=1, max_size=5),
)
@settings(max_examples=200, deadline=None)
def test_a_grown_model_has_the_cells_of_an_elimination_of_all(sizes, model, added):
    domain = Domain(NAMES, tuple(sizes))
    growth = Growth(domain, model)
    found = growth.cells_with(added)
    for clique, cells in zip(added, found.tolist(), strict=True):
        assert cells == by_least_table(domain, [*model, clique])
        assert growth.contains(domain.axes(clique)) == any(set(clique) <= set(other) for other in model)


def test_cells_beyond_floats_are_no_small_number():
    names = tuple(f"a{i}" for i in range(600))
    domain = Domain(names, (4,) * 600)
    clique = tuple(names[:550])
    assert not Growth(domain, [clique]).cells_with([(names[0], names[599])])[0] <= 1e300

    assert not Candidates.of(1, domain, 80.0).fits([clique], (names[0], names[599]), 1.0)


def test_the_slow_order_is_tried_only_where_the_quick_one_does_not_decide(monkeypatch):
    """A model far below its limit never asks for it, however many candidates there are."""
    asked = []
    slow = junction_tree.megabytes
    monkeypatch.setattr(candidates_module.junction_tree, "megabytes", lambda *a: asked.append(a) or slow(*a))
    names = tuple(f"a{i}" for i in range(30))
    domain = Domain(names, (4,) * 30)
    star = [(names[0], name) for name in names[1:]]
    admitted = Candidates.of(2, domain, 80.0).admitted(star, 1.0)
    assert len(admitted) == 30 + 435
    assert not asked
    assert set(Candidates.of(2, domain, 0.0038).admitted(star, 1.0)) == {*star, *((name,) for name in names)}
    assert len(asked) == 435 - 29, "16 cells alone would fit, a triangle does not"


@given(st.lists(st.integers(2, 5), min_size=4, max_size=7), st.floats(1e-5, 1e-2))
@settings(max_examples=50, deadline=None)
def test_admission_is_that_of_the_smaller_order(sizes, limit):
    names = NAMES[: len(sizes)]
    domain = Domain(names, tuple(sizes))
    cycle = [(names[i - 1], names[i]) for i in range(len(names))]
    admitted = Candidates.of(2, domain, limit).admitted(cycle, 1.0)
    for pair in itertools.combinations(names, 2):
        inside = any(set(pair) <= set(other) for other in cycle)
        assert (pair in admitted) == (inside or junction_tree.megabytes(domain, [*cycle, pair]) <= limit)


def test_unknown_attributes_are_refused():
    with pytest.raises(ValueError, match="Unknown: 'z'"):
        Growth(Domain(("a",), (2,)), [("a",)]).cells_with([("a", "z")])
