"""A spanning tree of pairs: every column is joined to another one, each time by what is most worth measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from counterfoil.domain.domain import Clique, Domain

Pick = Callable[[np.ndarray], int | None]
"""Chooses one of the places, int64 [any] and rising, that it is given, or None, to end; it is what is charged."""

Fits = Callable[[Sequence[int], np.ndarray], np.ndarray]
"""bool [asked]: which of the pairs at the places int64 [asked] fit the model's size once those at the first ones are
measured."""


def parts_of(domain: Domain, cliques: Iterable[Clique], part: np.ndarray | None = None) -> np.ndarray:
    """int64 [attributes]: a number for each connected part of the graph that `cliques` make.

    Args:
        domain: the attributes.
        cliques: each joins its attributes.
        part: the parts that are joined already; None where none are.
    """
    part = np.arange(len(domain.attributes)) if part is None else part.copy()
    for clique in cliques:
        joined = part[list(domain.axes(clique))]
        part[np.isin(part, joined)] = joined.min(initial=len(part))
    return part


def count_parts(part: np.ndarray) -> int:
    """How many parts `parts_of` found."""
    return len(np.unique(part))


def choose_tree(
    domain: Domain, pairs: Sequence[Clique], pick: Pick, *, part: np.ndarray | None = None, fits: Fits | None = None
) -> list[Clique]:
    """Kruskal's tree: one pair after the other, among those that join two parts, until none is left or picked.

    Which pairs join two parts follows from the pairs picked before, so that a private `pick` is all that depends on
    records. Where some pair is missing or does not fit, the tree may end as a forest.

    Args:
        domain: the attributes.
        pairs: the candidates, in an order that `pick` knows.
        pick: the choice of one of them.
        part: int64 [attributes]: the parts that are joined already; None where none are.
        fits: limits the model's size; None for no limit.
    """
    part = np.arange(len(domain.attributes)) if part is None else part.copy()
    ends = np.array([domain.axes(pair) for pair in pairs], dtype=np.int64).reshape(-1, 2)
    joining, tree = np.arange(len(pairs)), list[int]()
    while True:
        joining = joining[part[ends[joining, 0]] != part[ends[joining, 1]]]
        if fits is not None and len(joining):
            joining = joining[fits(tree, joining)]
        if not len(joining):
            return [pairs[place] for place in tree]
        picked = pick(joining)
        if picked is None:
            return [pairs[place] for place in tree]
        tree.append(picked)
        one, other = ends[picked]
        part[part == part[other]] = part[one]
