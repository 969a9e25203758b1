"""Candidates: those that keep the model small enough, counted on the domain that is released."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.domain.workload import Workload
from counterfoil.graphical_model import junction_tree
from counterfoil.marginals.candidates import Candidates

NAMES = ("a", "b", "c", "d")
sizes = st.tuples(*[st.integers(1, 12)] * 4)
some = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True).map(tuple), max_size=4)


@given(sizes, some, st.floats(0, 1), st.floats(1e-6, 0.1), st.frozensets(st.sampled_from(NAMES), max_size=3))
def test_who_is_admitted(sizes, known, share, size, covered):
    domain = Domain(NAMES, sizes)
    candidates = Candidates.of(Workload({("a", "b", "c"): 1.0, ("c", "d"): 2.0}), domain, size)
    assert len(candidates.weights) == 7 + 2
    admitted = candidates.admitted(known, share, covered=covered)
    for clique in candidates.weights:
        inside = any(set(clique) <= set(other) for other in known)
        fits = junction_tree.megabytes(domain, [*known, clique]) <= share * size
        assert (clique in admitted) == ((inside or fits) and not set(clique) <= covered)


@given(sizes, some, st.floats(1e-6, 0.1))
def test_what_is_admitted_never_outgrows_the_limit(sizes, known, size):
    """Greedily adding whatever is admitted."""
    domain = Domain(NAMES, sizes)
    candidates = Candidates.of(3, domain, size)
    model: list[tuple[str, ...]] = []
    for share in (0.3, 0.6, 1.0):
        before = junction_tree.megabytes(domain, model)
        for clique in candidates.weights:
            if candidates.fits(model, clique, share):
                model.append(clique)
        assert junction_tree.megabytes(domain, model) <= max(before, share * size)


def test_orders_are_of_merged_values_and_sizes_of_released_ones():
    fine, merged = Domain(NAMES[:3], (200, 200, 2)), Domain(NAMES[:3], (20, 30, 2))
    assert ("a", "b") not in Candidates.of(2, fine, 1.0).weights, "40,000 cells"
    candidates = Candidates.of(2, fine, 0.2, merged=merged)
    assert ("a", "b") in candidates.weights
    assert not candidates.fits([], ("a", "b"), 1.0), "0.32 MB once released"
    assert candidates.fits([], ("a", "c"), 1.0)
