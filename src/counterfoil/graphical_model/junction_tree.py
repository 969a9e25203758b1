"""Junction trees: how large a graphical model is, known before anything is allocated.

A set of cliques makes a graph; eliminating its attributes one by one (joining the neighbors of each) makes
it chordal, and the maximal cliques of the chordal graph make a tree with the running intersection property
(Koller and Friedman, *Probabilistic Graphical Models*, section 9.4 and 10.4). The order decides the size.
"""

import heapq
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from counterfoil.domain.domain import Clique, Domain

BYTES_PER_CELL = 8


@dataclass(frozen=True)
class JunctionTree:
    """A junction tree (a forest where attributes are disconnected), rooted.

    `cliques` are maximal; `parents[i]` is the index of clique i's parent (always larger than i) or -1 for a
    root; `separators[i]` is what clique i shares with its parent (empty for a root); `elimination_order`
    makes exactly these cliques.
    """

    domain: Domain
    cliques: tuple[Clique, ...]
    parents: tuple[int, ...]
    separators: tuple[Clique, ...]
    elimination_order: Clique

    @property
    def cells(self) -> int:
        """Total number of cells of the maximal cliques."""
        return sum(self.domain.size(clique) for clique in self.cliques)

    @property
    def megabytes(self) -> float:
        """Total size of the maximal cliques at 8 bytes a cell, in units of 1e6 bytes."""
        return _float(self.cells) * BYTES_PER_CELL / 1e6


def build(domain: Domain, cliques: Iterable[Iterable[str]], *, effort: int = 32) -> JunctionTree:
    """The smallest of several junction trees that have a clique around each of `cliques`.

    Two greedy orders (least table, least fill) and `effort` randomized ones are tried; the seed is fixed, so
    the result depends on the arguments alone. Attributes in no clique become cliques of their own. Raises
    ValueError for unknown attributes.
    """
    masks = _masks(domain, cliques)
    neighbors = _graph(len(domain.attributes), masks)
    return _tree(domain, _best_of(domain.sizes, neighbors, effort))


def megabytes(domain: Domain, cliques: Iterable[Iterable[str]]) -> float:
    """Size of the junction tree by the two greedy orders alone: never below what `build` finds.

    Made for asking hundreds of times; 8 bytes a cell, in units of 1e6 bytes.
    """
    neighbors = _graph(len(domain.attributes), _masks(domain, cliques))
    return _float(_greedy_best(domain.sizes, neighbors).cells) * BYTES_PER_CELL / 1e6


def _masks(domain: Domain, cliques: Iterable[Iterable[str]]) -> list[int]:
    return [sum(1 << axis for axis in set(domain.axes(clique))) for clique in cliques]


def _graph(n: int, masks: Iterable[int]) -> tuple[int, ...]:
    """Neighbors of each attribute, itself included, as bit masks."""
    neighbors = [1 << i for i in range(n)]
    for mask in set(masks):
        for i in _bits(mask):
            neighbors[i] |= mask
    return tuple(neighbors)


@lru_cache(maxsize=1 << 12)
def _bits(mask: int) -> tuple[int, ...]:
    """The places of the bits that are set, in order; a mask of thousands of bits has few."""
    places = []
    while mask:
        lowest = mask & -mask
        places.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(places)


@lru_cache(maxsize=1 << 16)
def _cells(sizes: tuple[int, ...], mask: int) -> int:
    return math.prod(sizes[i] for i in _bits(mask))


@dataclass(frozen=True)
class _Elimination:
    """An order: each attribute with its clique when it goes, the maximal ones of these cliques, and their cells.

    Where it adds no edge, and every attribute with neighbors has at least two values, no tree has fewer cells:
    `is_smallest`. The cliques are then those of the graph itself, and each lies within a clique of any other tree.
    Those within a clique M have together at most its cells, by induction over an attribute v of M that goes first: the
    clique of v, unless it is M and the only one, has at most half the cells of M, and the others, within M without v,
    have together at most as many as that, which is at most half too.
    """

    steps: tuple[tuple[int, int], ...]
    kept: tuple[int, ...]
    cells: int
    is_smallest: bool


@lru_cache(maxsize=8)
def _best_of(sizes: tuple[int, ...], neighbors: tuple[int, ...], effort: int) -> _Elimination:
    """The best of both greedy orders and `effort` randomized ones: a fit asks for it, and then the fitted model."""
    best = _greedy_best(sizes, neighbors)
    noise = random.Random(0)
    for trial in range(effort):
        if best.is_smallest:
            break
        tried = _eliminate(sizes, neighbors, fill=trial % 2 == 1, noise=noise)
        if tried.cells < best.cells:
            best = tried
    return best


@lru_cache(maxsize=1 << 8)
def _greedy_best(sizes: tuple[int, ...], neighbors: tuple[int, ...]) -> _Elimination:
    by_size = _eliminate(sizes, neighbors, fill=False, noise=None)
    if by_size.is_smallest:
        return by_size
    by_fill = _eliminate(sizes, neighbors, fill=True, noise=None)
    return min(by_size, by_fill, key=lambda result: result.cells)


def _eliminate(
    sizes: tuple[int, ...], neighbors: Sequence[int], *, fill: bool, noise: random.Random | None
) -> _Elimination:
    """A greedy order.

    Next comes the attribute whose clique has the fewest cells, or (`fill`) whose missing edges weigh least, an edge
    weighing the product of its sizes; of equals the first. `noise` multiplies each cost by a random factor.
    """
    graph = list(neighbors)
    remaining = (1 << len(graph)) - 1
    costs: dict[int, float] = {}
    weights: dict[int, int] = {}
    queue: list[tuple[float, int]] = []
    steps: list[tuple[int, int]] = []
    kept = _Maximal()
    chordal = True
    stale = remaining
    while remaining:
        for i in _bits(stale & remaining):
            cost = _fill_cost(sizes, graph, i, weights) if fill else _float(_cells(sizes, graph[i]))
            costs[i] = cost * math.exp(noise.gauss(0.0, 0.5)) if noise else cost
            heapq.heappush(queue, (costs[i], i))
        while costs.get(queue[0][1]) != queue[0][0]:
            heapq.heappop(queue)  # gone, or its cost has changed
        chosen = heapq.heappop(queue)[1]
        del costs[chosen]
        clique = graph[chosen]
        steps.append((chosen, clique))
        kept.add(chosen, clique)
        remaining &= ~(1 << chosen)
        changed = rest = clique & remaining
        for i in _bits(rest):
            chordal = chordal and not rest & ~graph[i]
            graph[i] = (graph[i] | rest) & ~(1 << chosen)
            if fill:
                changed |= graph[i]
        stale = changed
    smallest = chordal and all(
        size > 1 or around == 1 << i for i, (size, around) in enumerate(zip(sizes, neighbors, strict=True))
    )
    return _Elimination(tuple(steps), tuple(kept.cliques), sum(_cells(sizes, c) for c in kept.cliques), smallest)


class _Maximal:
    """Those cliques of an elimination that lie in no other: a later clique never contains an earlier one."""

    def __init__(self) -> None:
        self.cliques: list[int] = []
        self._around: dict[int, list[int]] = {}

    def add(self, chosen: int, clique: int) -> None:
        """The clique of the attribute `chosen`: what contains it contains `chosen`."""
        if any(clique & other == clique for other in self._around.get(chosen, ())):
            return
        self.cliques.append(clique)
        for i in _bits(clique):
            self._around.setdefault(i, []).append(clique)


def _float(cells: int) -> float:
    """The nearest float, infinite where there is none."""
    try:
        return float(cells)
    except OverflowError:
        return math.inf


def _fill_cost(sizes: tuple[int, ...], graph: list[int], i: int, weights: dict[int, int]) -> float:
    """Weight of the edges that eliminating attribute i adds; ties go to the smaller clique.

    `weights` keeps the sums of the sizes of sets, of which the same come again and again.
    """
    around = graph[i]
    missing = 0
    for j in _bits(around):
        absent = around & ~graph[j]
        if absent:
            weight = weights.get(absent)
            if weight is None:
                weight = weights[absent] = sum(sizes[k] for k in _bits(absent))
            missing += sizes[j] * weight
    return missing / 2 + _float(_cells(sizes, around)) * 1e-12 + 1e-9


def _tree(domain: Domain, best: _Elimination) -> JunctionTree:
    kept = best.kept
    parents, order = _spanning_forest(kept)
    rank = {old: new for new, old in enumerate(order)}
    names = domain.attributes
    clique_names = [tuple(names[i] for i in _bits(kept[old])) for old in order]
    shared = [
        tuple(names[i] for i in _bits(kept[old] & kept[parents[old]])) if parents[old] >= 0 else () for old in order
    ]
    return JunctionTree(
        domain,
        tuple(clique_names),
        tuple(rank[parents[old]] if parents[old] >= 0 else -1 for old in order),
        tuple(shared),
        tuple(names[i] for i, _ in best.steps),
    )


def _spanning_forest(cliques: Sequence[int]) -> tuple[list[int], list[int]]:
    """Parents in a maximum-weight spanning forest (Prim; weight = attributes shared), and a leaves-first order."""
    parents = [-1] * len(cliques)
    visited: list[int] = []
    seen: set[int] = set()
    around: dict[int, list[int]] = {}
    for i, clique in enumerate(cliques):
        for x in _bits(clique):
            around.setdefault(x, []).append(i)
    for root in reversed(range(len(cliques))):
        heap = [(0, root, -1)]
        while heap:
            _, i, parent = heapq.heappop(heap)
            if i in seen:
                continue
            seen.add(i)
            visited.append(i)
            parents[i] = parent
            for j in {j for x in _bits(cliques[i]) for j in around[x]} - seen:
                heapq.heappush(heap, (-(cliques[j] & cliques[i]).bit_count(), j, i))
    return parents, visited[::-1]
