"""Pairs along a junction tree of large cliques, against enumeration and against one marginal after another."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import graphical_model, tree_pairs
from counterfoil.graphical_model.graphical_model import GraphicalModel
from marginals.brute_force import cliques_of, domains, enumerate_joint, marginal_of


@pytest.fixture(autouse=True)
def _every_model_is_very_large(monkeypatch):
    monkeypatch.setattr(graphical_model, "_MANY", 1)
    monkeypatch.setattr(graphical_model, "_FEW_COLUMNS", 0)
    monkeypatch.setattr(graphical_model, "_VERY_LARGE", 0)


@given(domains(attributes=6), st.data(), st.floats(0, 0.3), st.sampled_from([1, 2, 5, 1 << 21]), st.integers(0, 2**32))
@settings(max_examples=120, deadline=None)
def test_pairs_equal_enumeration_also_where_cells_are_impossible(domain, data, share, most, seed):
    """However few codes are walked with together."""
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
    pairs = pairs[: data.draw(st.integers(min(1, len(pairs)), len(pairs)))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_pairs, "_MOST_CELLS", most)
        found = model.marginals(pairs)
    assert list(found) == pairs
    for pair, table in found.items():
        np.testing.assert_allclose(table, 50 * marginal_of(domain, joint, pair), rtol=1e-8, atol=1e-9)


def of_bands(width: int, columns: int, *, seed: int = 0) -> GraphicalModel:
    """Columns in a row, each with its neighbors in one clique; and three in a star beside them."""
    names = (*(f"a{i:02}" for i in range(columns)), "x", "y", "z")
    domain = Domain(names, (3,) * columns + (2, 4, 3))
    cliques = [names[i : i + width] for i in range(columns - width + 1)]
    cliques += [(names[0], "x"), (names[columns // 2], "y"), (names[-4], "z")]
    rng = np.random.default_rng(seed)
    return GraphicalModel(domain, {c: rng.normal(0, 0.7, domain.shape(c)) for c in cliques}, 1000.0)


def test_long_paths_and_branches_agree_with_one_elimination_for_each_pair(monkeypatch):
    model = of_bands(5, 14)
    pairs = list(itertools.combinations(model.domain.attributes, 2))
    together = model.marginals(pairs)
    monkeypatch.setattr(graphical_model, "_MANY", 10**9)
    for pair, table in model.marginals(pairs).items():
        np.testing.assert_allclose(together[pair], table, rtol=1e-9)


def test_each_clique_is_asked_for_once_and_nothing_is_planned_for_a_pair(monkeypatch):
    model, asked = of_bands(5, 14), []
    query = GraphicalModel._query
    monkeypatch.setattr(GraphicalModel, "_query", lambda self, *a: asked.append(a[-1]) or query(self, *a))
    monkeypatch.setattr(graphical_model, "SharedProducts", None)
    pairs = list(itertools.combinations(model.domain.attributes, 2))
    model.marginals(pairs)
    assert sorted(asked) == sorted(model.tree.cliques)
    assert len(asked) < 20 < 136 == len(pairs)


def test_no_table_is_larger_than_the_largest_clique_or_the_room(monkeypatch):
    """Values of 300 codes are walked with in parts."""
    names = ("a", "b", "c", "d")
    domain = Domain(names, (300, 40, 40, 7))
    rng = np.random.default_rng(1)
    model = GraphicalModel(
        domain, {c: rng.normal(size=domain.shape(c)) for c in (("a", "b"), ("b", "c"), ("c", "d"))}, 9
    )
    made = []
    zeros = np.zeros
    monkeypatch.setattr(tree_pairs, "_MOST_CELLS", 4000)
    monkeypatch.setattr(tree_pairs.np, "zeros", lambda *a, **k: made.append(zeros(*a, **k)) or made[-1])
    found = model.marginals(itertools.combinations(names, 2))
    monkeypatch.undo()
    walked = max(table.size for table in made if table.ndim == 2)
    assert walked == 4000, "of 12,000 cells at once"
    for pair, table in found.items():
        np.testing.assert_allclose(table, model.marginal(pair), rtol=1e-9)


def test_small_models_and_few_pairs_are_asked_as_before(monkeypatch):
    monkeypatch.setattr(tree_pairs, "pair_probabilities", None)
    model = of_bands(4, 9)
    monkeypatch.setattr(graphical_model, "_VERY_LARGE", model.tree.cells + 1)
    monkeypatch.setattr(graphical_model, "_FEW_CELLS", model.tree.cells)
    assert len(model.marginals(itertools.combinations(model.domain.attributes, 2))) == 66
    monkeypatch.setattr(graphical_model, "_VERY_LARGE", 0)
    monkeypatch.setattr(graphical_model, "_MANY", 4)
    assert len(model.marginals([("a00", "a08"), ("x", "z"), ("a03", "y")])) == 3
