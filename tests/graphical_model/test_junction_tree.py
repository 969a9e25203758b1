import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import junction_tree
from marginals.brute_force import cliques_of, domains


@st.composite
def graphs(draw):
    domain = draw(domains(attributes=8, size=5))
    return domain, draw(cliques_of(domain, count=12))


def has_running_intersection(tree):
    """For each attribute, the cliques that contain it are connected through separators that contain it."""
    for name in tree.domain.attributes:
        holding = [i for i, clique in enumerate(tree.cliques) if name in clique]
        links = [i for i in holding if name in tree.separators[i]]
        if len(links) != len(holding) - 1:
            return False
    return True


def optimal_cells(domain, cliques):
    """Fewest cells of any elimination order, by trying all of them."""
    best = None
    for order in itertools.permutations(domain.attributes):
        around = {a: {b for c in cliques if a in c for b in c} | {a} for a in domain.attributes}
        made = []
        for a in order:
            clique = around.pop(a)
            for b in clique - {a}:
                around[b] = (around[b] | clique) - {a}
            if not any(clique <= other for other in made):
                made.append(clique)
        cells = sum(domain.size(clique) for clique in made)
        best = cells if best is None else min(best, cells)
    return best


@given(graphs())
@settings(max_examples=150, deadline=None)
def test_trees_are_valid_on_random_graphs(graph):
    domain, cliques = graph
    tree = junction_tree.build(domain, cliques, effort=4)
    covered = [set(clique) for clique in tree.cliques]
    assert all(any(set(clique) <= c for c in covered) for clique in cliques)
    assert set().union(*covered) == set(domain.attributes)
    assert sorted(tree.elimination_order) == sorted(domain.attributes)
    assert not any(a < b for a in covered for b in covered)
    for i, (parent, separator) in enumerate(zip(tree.parents, tree.separators, strict=True)):
        assert parent == -1 or parent > i
        shared = covered[i] & covered[parent] if parent >= 0 else set()
        assert set(separator) == shared
        assert parent == -1 or separator
    assert has_running_intersection(tree)
    assert tree.cells == sum(domain.size(clique) for clique in tree.cliques)


@given(graphs())
@settings(max_examples=100, deadline=None)
def test_the_quick_size_is_never_below_the_built_one(graph):
    domain, cliques = graph
    assert junction_tree.megabytes(domain, cliques) >= junction_tree.build(domain, cliques).megabytes


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_small_graphs_get_the_best_order_or_nearly(data):
    drawn = data.draw(domains(attributes=5, size=5))
    # A column of one value may share a clique or not, which no greedy order minds: the cells of both cliques differ.
    domain = Domain(drawn.attributes, tuple(max(size, 2) for size in drawn.sizes))
    cliques = data.draw(cliques_of(domain, count=8, largest=3))
    assert junction_tree.build(domain, cliques).cells <= 1.1 * optimal_cells(domain, cliques) + 2


def test_a_cycle_needs_triangles():
    domain = Domain(("a", "b", "c", "d"), (10, 10, 10, 10))
    tree = junction_tree.build(domain, [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    assert tree.cells == 2000
    assert tree.megabytes == 0.016


def test_sizes_are_known_far_beyond_memory():
    domain = Domain(tuple(f"a{i}" for i in range(30)), (100,) * 30)
    assert junction_tree.build(domain, [domain.attributes]).cells == 10**60
    assert junction_tree.megabytes(domain, [domain.attributes]) == pytest.approx(8e54)


def test_the_result_depends_on_the_arguments_alone():
    domain = Domain(tuple("abcdefgh"), (3, 5, 2, 7, 4, 6, 3, 2))
    cliques = list(itertools.combinations(domain.attributes, 2))[::3]
    first = junction_tree.build(domain, cliques)
    for kept in (junction_tree._best_of, junction_tree._greedy_best):
        kept.cache_clear()
    assert junction_tree.build(domain, cliques[::-1]) == first


def test_unknown_attributes_are_refused():
    with pytest.raises(ValueError, match="Unknown: 'z'"):
        junction_tree.build(Domain(("a",), (2,)), [("a", "z")])


def test_the_same_graph_is_eliminated_once_for_a_fit_and_its_model(monkeypatch):
    """Whatever cliques make it: a fit asks for the tree of its measurements, and the model for that of its factors."""
    names = tuple("abcdefgh")
    domain = Domain(names, (5, 3, 4, 2, 3, 4, 2, 6))
    ring = [(names[i - 1], names[i]) for i in range(len(names))]
    first = junction_tree.build(domain, ring)
    monkeypatch.setattr(junction_tree, "_eliminate", None)
    again = junction_tree.build(domain, [*reversed(ring), ("a",), ("b", "a")])
    assert (again.cliques, again.parents, again.elimination_order) == (
        first.cliques,
        first.parents,
        first.elimination_order,
    )
