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
        return self.cells * BYTES_PER_CELL / 1e6


def build(domain: Domain, cliques: Iterable[Iterable[str]], *, effort: int = 32) -> JunctionTree:
    """The smallest of several junction trees that have a clique around each of `cliques`.

    Two greedy orders (least table, least fill) and `effort` randomized ones are tried; the seed is fixed, so
    the result depends on the arguments alone. Attributes in no clique become cliques of their own. Raises
    ValueError for unknown attributes.
    """
    masks = _masks(domain, cliques)
    neighbors = _graph(len(domain.attributes), masks)
    best_cells, best = _greedy_best(domain.sizes, neighbors)
    noise = random.Random(0)
    for trial in range(effort):
        cells, steps = _eliminate(domain.sizes, neighbors, fill=trial % 2 == 1, noise=noise)
        if cells < best_cells:
            best_cells, best = cells, steps
    return _tree(domain, best)


def megabytes(domain: Domain, cliques: Iterable[Iterable[str]]) -> float:
    """Size of the junction tree by the two greedy orders alone: never below what `build` finds.

    Made for asking hundreds of times; 8 bytes a cell, in units of 1e6 bytes.
    """
    neighbors = _graph(len(domain.attributes), _masks(domain, cliques))
    return _greedy_best(domain.sizes, neighbors)[0] * BYTES_PER_CELL / 1e6


def _masks(domain: Domain, cliques: Iterable[Iterable[str]]) -> list[int]:
    return [sum(1 << axis for axis in set(domain.axes(clique))) for clique in cliques]


def _graph(n: int, masks: Iterable[int]) -> tuple[int, ...]:
    """Neighbors of each attribute, itself included, as bit masks."""
    neighbors = [1 << i for i in range(n)]
    for mask in set(masks):
        for i in _bits(mask):
            neighbors[i] |= mask
    return tuple(neighbors)


@lru_cache(maxsize=1 << 16)
def _bits(mask: int) -> tuple[int, ...]:
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


@lru_cache(maxsize=1 << 16)
def _cells(sizes: tuple[int, ...], mask: int) -> int:
    return math.prod(sizes[i] for i in _bits(mask))


@lru_cache(maxsize=1 << 12)
def _greedy_best(sizes: tuple[int, ...], neighbors: tuple[int, ...]) -> tuple[int, list[tuple[int, int]]]:
    by_size = _eliminate(sizes, neighbors, fill=False, noise=None)
    by_fill = _eliminate(sizes, neighbors, fill=True, noise=None)
    return min(by_size, by_fill, key=lambda result: result[0])


def _eliminate(
    sizes: tuple[int, ...], neighbors: Sequence[int], *, fill: bool, noise: random.Random | None
) -> tuple[int, list[tuple[int, int]]]:
    """Total cells of the maximal cliques, and (attribute, its clique when eliminated) in order.

    Greedy: next comes the attribute whose clique has the fewest cells, or (`fill`) whose missing edges weigh
    least, an edge weighing the product of its sizes. `noise` multiplies each cost by a random factor.
    """
    graph = list(neighbors)
    remaining = (1 << len(graph)) - 1
    costs: dict[int, float] = {}
    steps: list[tuple[int, int]] = []
    kept: list[int] = []
    stale = remaining
    while remaining:
        for i in _bits(stale & remaining):
            cost = _fill_cost(sizes, graph, i) if fill else float(_cells(sizes, graph[i]))
            costs[i] = cost * math.exp(noise.gauss(0.0, 0.5)) if noise else cost
        chosen = min(costs, key=costs.__getitem__)
        del costs[chosen]
        clique = graph[chosen]
        steps.append((chosen, clique))
        # A later clique never contains an earlier one, so maximality needs a look backwards only.
        if not any(clique & other == clique for other in kept):
            kept.append(clique)
        remaining &= ~(1 << chosen)
        changed = rest = clique & remaining
        for i in _bits(rest):
            graph[i] = (graph[i] | rest) & ~(1 << chosen)
            if fill:
                changed |= graph[i]
        stale = changed
    return sum(_cells(sizes, clique) for clique in kept), steps


def _fill_cost(sizes: tuple[int, ...], graph: list[int], i: int) -> float:
    """Weight of the edges that eliminating attribute i adds; ties go to the smaller clique."""
    around = graph[i]
    missing = 0
    for j in _bits(around):
        absent = around & ~graph[j]
        if absent:
            missing += sizes[j] * sum(sizes[k] for k in _bits(absent))
    return missing / 2 + _cells(sizes, around) * 1e-12 + 1e-9


def _tree(domain: Domain, steps: list[tuple[int, int]]) -> JunctionTree:
    kept: list[int] = []
    for _, clique in steps:
        if not any(clique & other == clique for other in kept):
            kept.append(clique)
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
        tuple(names[i] for i, _ in steps),
    )


def _spanning_forest(cliques: list[int]) -> tuple[list[int], list[int]]:
    """Parents in a maximum-weight spanning forest (Prim; weight = attributes shared), and a leaves-first order."""
    parents = [-1] * len(cliques)
    visited: list[int] = []
    seen: set[int] = set()
    for root in reversed(range(len(cliques))):
        heap = [(0, root, -1)]
        while heap:
            _, i, parent = heapq.heappop(heap)
            if i in seen:
                continue
            seen.add(i)
            visited.append(i)
            parents[i] = parent
            for j, other in enumerate(cliques):
                if j not in seen and other & cliques[i]:
                    heapq.heappush(heap, (-(other & cliques[i]).bit_count(), j, i))
    return parents, visited[::-1]
