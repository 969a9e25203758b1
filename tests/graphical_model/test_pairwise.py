"""All pairs at once against enumeration, and against one pair after another."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import graphical_model, pairwise
from counterfoil.graphical_model.graphical_model import GraphicalModel
from marginals.brute_force import cliques_of, domains, enumerate_joint, marginal_of


@pytest.fixture(autouse=True)
def _pairs_are_many(monkeypatch):
    monkeypatch.setattr(graphical_model, "MANY_PAIRS", 1)


@given(domains(attributes=6), st.data(), st.floats(0, 0.3), st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_pairs_equal_enumeration_also_where_cells_are_impossible(domain, data, share, seed):
    rng = np.random.default_rng(seed)
    potentials = {}
    for clique in data.draw(cliques_of(domain)):
        table = rng.normal(0, 2, domain.shape(clique))
        table[rng.random(table.shape) < share] = -np.inf
        table.flat[0] = 0.0  # the first cell of each is possible, so that something is
        potentials[clique] = table
    model = GraphicalModel(domain, potentials, 50.0)
    _, joint = enumerate_joint(domain, potentials)
    pairs = [tuple(data.draw(st.permutations(pair))) for pair in itertools.combinations(domain.attributes, 2)]
    for pair, table in model.marginals(pairs).items():
        np.testing.assert_allclose(table, 50 * marginal_of(domain, joint, pair), rtol=1e-8, atol=1e-9)


def cycle(size: int) -> GraphicalModel:
    """Columns in a ring, which needs separators of two columns, and one column by itself."""
    names = tuple(f"a{i}" for i in range(size))
    rng = np.random.default_rng(0)
    ring = names[:-1]
    cliques = [(ring[i - 1], ring[i]) for i in range(len(ring))]
    return GraphicalModel(Domain(names, (3,) * size), {c: rng.normal(size=(3, 3)) for c in cliques}, 10.0)


def test_all_pairs_need_one_elimination_for_each_clique_and_not_for_each_pair(monkeypatch):
    model, asked = cycle(30), []
    query = GraphicalModel._query
    monkeypatch.setattr(GraphicalModel, "_query", lambda self, *a: asked.append(a) or query(self, *a))
    pairs = list(itertools.combinations(model.domain.attributes, 2))
    together = model.marginals(pairs)
    assert len(asked) == len(model.tree.cliques) < 30 < len(pairs)
    other = fresh(model)
    for pair in pairs:
        np.testing.assert_allclose(together[pair], other.marginal(pair), rtol=1e-9)


def fresh(model: GraphicalModel) -> GraphicalModel:
    return GraphicalModel(model.domain, model.potentials, model.total)


def test_of_a_small_tree_some_pairs_are_many(monkeypatch):
    monkeypatch.setattr(graphical_model, "MANY_PAIRS", 10**9)
    asked, query = [], GraphicalModel._query
    monkeypatch.setattr(GraphicalModel, "_query", lambda self, *a: asked.append(a[-1]) or query(self, *a))
    model = cycle(30)
    pairs = list(itertools.combinations(model.domain.attributes, 2))[::-1]
    few = pairs[: graphical_model._MANY - 1]
    model.marginals(few)
    assert asked == few
    asked.clear()
    model.marginals(pairs[: graphical_model._MANY])
    assert sorted(asked) == sorted(model.tree.cliques)
    asked.clear()
    monkeypatch.setattr(graphical_model, "_FEW_COLUMNS", 100)
    monkeypatch.setattr(graphical_model, "_FEW_CELLS", 0)
    fresh(model).marginals(pairs)
    assert asked == pairs, "one after another where the matrix is not small"


def test_a_tree_that_is_too_wide_for_memory_is_asked_pair_by_pair(monkeypatch):
    monkeypatch.setattr(pairwise, "MOST_COLUMNS", 10)
    model = cycle(12)
    assert not pairwise.fits(model.tree, pairwise.MOST_COLUMNS)
    assert model.marginals([("a0", "a5")])["a0", "a5"].sum() == pytest.approx(10.0)
