"""Sizes of grown models against whole eliminations, one clique after another."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import junction_tree
from counterfoil.graphical_model.growth import Growth
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


@pytest.mark.parametrize("attributes", [63, 64, 65, 130])
def test_graphs_of_several_words_are_counted_as_well(attributes):
    """Graphs whose rows end before, with, and behind the end of a word of 64 bits."""
    rng = np.random.default_rng(attributes)
    names = tuple(f"a{i}" for i in range(attributes))
    domain = Domain(names, tuple(rng.integers(2, 5, attributes).tolist()))
    model, added = (
        [tuple(names[i] for i in rng.choice(attributes, 2, replace=False)) for _ in range(count)]
        for count in (attributes + 5, 20)
    )
    growth = Growth(domain, model)
    for by_fill in (False, True):
        found = growth.cells_with(added, by_fill=by_fill)
        for clique, cells in zip(added, found.tolist(), strict=True):
            graph = junction_tree._graph(attributes, junction_tree._masks(domain, [*model, clique]))
            whole = junction_tree._eliminate(domain.sizes, graph, fill=by_fill, noise=None).cells
            assert cells == pytest.approx(whole, rel=1e-12)


def test_cells_beyond_floats_are_no_small_number():
    names = tuple(f"a{i}" for i in range(600))
    domain = Domain(names, (4,) * 600)
    clique = tuple(names[:550])
    assert not Growth(domain, [clique]).cells_with([(names[0], names[599])])[0] <= 1e300

    assert not Candidates.of(1, domain, 80.0).fits([clique], (names[0], names[599]), 1.0)


@given(
    st.lists(st.integers(1, 9), min_size=10, max_size=10),
    st.lists(cliques, max_size=12),
    st.lists(cliques, min_size=1, max_size=5),
    st.integers(1, 4000),
)
@settings(max_examples=200, deadline=None)
def test_both_orders_have_the_cells_of_whole_eliminations(sizes, model, added, most):
    """Also where counting ends at a limit: what is counted is exact up to it, and above it what lies above."""
    domain = Domain(NAMES, tuple(sizes))
    growth = Growth(domain, model)
    for by_fill in (False, True):
        found = growth.cells_with(added, by_fill=by_fill)
        ended = growth.cells_with(added, by_fill=by_fill, most=float(most))
        for clique, cells, short in zip(added, found.tolist(), ended.tolist(), strict=True):
            graph = junction_tree._graph(10, junction_tree._masks(domain, [*model, clique]))
            assert cells == junction_tree._eliminate(domain.sizes, graph, fill=by_fill, noise=None).cells
            assert short == cells if cells <= most else most < short <= cells


def test_the_slow_order_is_tried_only_where_the_quick_one_does_not_decide(monkeypatch):
    """A model far below its limit never asks for it, however many candidates there are."""
    asked = []
    counted = Growth.cells_with

    def counting(self, cliques, *, by_fill=False, most):
        asked.extend(cliques if by_fill else ())
        return counted(self, cliques, by_fill=by_fill, most=most)

    monkeypatch.setattr(Growth, "cells_with", counting)
    names = tuple(f"a{i}" for i in range(30))
    domain = Domain(names, (4,) * 30)
    star = [(names[0], name) for name in names[1:]]
    admitted = Candidates.of(2, domain, 80.0).admitted(star, 1.0)
    assert len(admitted) == 30 + 435
    assert not asked
    assert set(Candidates.of(2, domain, 0.0038).admitted(star, 1.0)) == {*star, *((name,) for name in names)}
    assert len(asked) == 435 - 29, "16 cells alone would fit, a triangle does not"


def test_a_model_at_its_limit_asks_for_no_elimination_in_python(monkeypatch):
    """Where most candidates no longer fit, as in the later rounds of a table of strong relations."""
    noise = random.Random(0)
    names = tuple(f"a{i}" for i in range(25))
    domain = Domain(names, tuple(noise.randrange(2, 9) for _ in names))
    model = [tuple(noise.sample(names, 2)) for _ in range(60)]
    candidates = Candidates.of(2, domain, 1.01 * junction_tree.megabytes(domain, model))
    expected = [
        pair
        for pair in candidates.weights
        if any(set(pair) <= set(other) for other in model)
        or junction_tree.megabytes(domain, [*model, pair]) <= candidates.max_model_size
    ]
    monkeypatch.setattr(junction_tree, "_eliminate", None)
    assert candidates.admitted(model, 1.0) == tuple(expected)
    assert 100 < len(expected) < 300, "of 325"


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
