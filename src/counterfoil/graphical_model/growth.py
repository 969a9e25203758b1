"""How large a model becomes with one clique more, for thousands of cliques, each as one greedy elimination would say.

Eliminating by least table never joins attributes of two connected components, and within a component the order does
not depend on the others: ties go to the first attribute. So the total of a grown graph is that of the graph, less the
components that the clique joins, plus the joined one, which alone is eliminated: in machine code, and only once for
each choice of what is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from counterfoil.compiled import compiled
from counterfoil.domain.domain import Clique, Domain


class Growth:
    """A graph of cliques, to which one more may be added.

    Args:
        domain: the attributes.
        cliques: of the model.
    """

    def __init__(self, domain: Domain, cliques: Iterable[Clique]) -> None:
        self._domain = domain
        n = len(domain.attributes)
        self._sizes = np.array([float(size) for size in domain.sizes])
        self._graph = np.eye(n, dtype=np.bool_)
        self._around: dict[int, list[frozenset[int]]] = {}
        for clique in cliques:
            axes = frozenset(domain.axes(clique))
            self._graph[np.ix_(list(axes), list(axes))] = True
            for axis in axes:
                self._around.setdefault(axis, []).append(axes)
        self._component = _components(self._graph)
        self._cells = _cells_of_components(self._graph, self._sizes, self._component)

    def contains(self, axes: Iterable[int]) -> bool:
        """Whether one clique of the model contains all of `axes`."""
        members = frozenset(axes)
        first = min(members, key=lambda axis: len(self._around.get(axis, ())), default=None)
        if first is None:
            return bool(self._around)
        return any(members <= other for other in self._around.get(first, ()))

    def cells_with(self, cliques: Sequence[Clique]) -> np.ndarray:
        """float64 [cliques]: the cells of the tree by least table with each of `cliques` added, none of them empty.

        Exact below 2**53 cells, infinite where a float64 is.
        """
        axes = [self._domain.axes(clique) for clique in cliques]
        members = np.array([axis for clique in axes for axis in clique], dtype=np.int64)
        begins = np.cumsum([0, *map(len, axes)])
        with np.errstate(over="ignore"):
            return _cells_with(self._graph, self._sizes, self._component, self._cells, members, begins)


def _components(graph: np.ndarray) -> np.ndarray:
    """int64 [attributes]: the first attribute of each one's component."""
    n = len(graph)
    component = np.full(n, -1, dtype=np.int64)
    for start in range(n):
        pending = [start] if component[start] < 0 else []
        while pending:
            axis = pending.pop()
            if component[axis] < 0:
                component[axis] = start
                pending += [int(other) for other in np.flatnonzero(graph[axis]) if component[other] < 0]
    return component


def _cells_of_components(graph: np.ndarray, sizes: np.ndarray, component: np.ndarray) -> np.ndarray:
    """float64 [attributes]: the cells of each component, at its first attribute; 0 elsewhere."""
    cells = np.zeros(len(graph))
    with np.errstate(over="ignore"):
        for first in np.unique(component).tolist():
            vertices = np.flatnonzero(component == first)
            cells[first] = _eliminated_cells(graph[np.ix_(vertices, vertices)], sizes[vertices])
    return cells


@compiled
def _product(graph, sizes, i):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    product = 1.0
    for j in range(len(sizes)):
        if graph[i, j]:
            product *= sizes[j]
    return product


@compiled
def _eliminated_cells(graph, sizes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Cells of the maximal cliques when the attribute with the fewest cells goes first; `graph` is used up.

    A clique is maximal unless it lies in that of an attribute that went before: one with which it was joined.
    """
    n = len(sizes)
    left = np.ones(n, dtype=np.bool_)
    costs = np.empty(n)
    cliques = np.zeros((n, n), dtype=np.bool_)
    order = np.empty(n, dtype=np.int64)
    total = 0.0
    for i in range(n):
        costs[i] = _product(graph, sizes, i)
    for step in range(n):
        chosen = -1
        for i in range(n):
            if left[i] and (chosen < 0 or costs[i] < costs[chosen]):
                chosen = i
        maximal = True
        for before in range(step):
            earlier = order[before]
            if cliques[earlier, chosen]:
                within = True
                for i in range(n):
                    if graph[chosen, i] and not cliques[earlier, i]:
                        within = False
                        break
                if within:
                    maximal = False
                    break
        if maximal:
            total += costs[chosen]
        cliques[chosen] = graph[chosen]
        order[step] = chosen
        left[chosen] = False
        for i in range(n):
            if left[i] and cliques[chosen, i]:
                for j in range(n):
                    if cliques[chosen, j]:
                        graph[i, j] = True
                graph[i, chosen] = False
                costs[i] = _product(graph, sizes, i)
    return total


@compiled
def _cells_with(graph, sizes, component, cells, members, begins):  # type: ignore[no-untyped-def]  # pragma: no cover
    n = len(sizes)
    total = cells.sum()
    joined = np.zeros(n, dtype=np.bool_)
    out = np.empty(len(begins) - 1)
    for c in range(len(begins) - 1):
        axes = members[begins[c] : begins[c + 1]]
        joined[:] = False
        rest, alone = total, True
        for axis in axes:
            first = component[axis]
            if not joined[first]:
                joined[first] = True
                rest -= cells[first]
            alone = alone and graph[axis].sum() == 1
        if alone:
            product = 1.0
            for axis in axes:
                product *= sizes[axis]
            out[c] = rest + product
            continue
        vertices = np.empty(n, dtype=np.int64)
        place = np.empty(n, dtype=np.int64)
        k = 0
        for i in range(n):
            if joined[component[i]]:
                vertices[k] = i
                place[i] = k
                k += 1
        local = np.zeros((k, k), dtype=np.bool_)
        local_sizes = np.empty(k)
        for i in range(k):
            local_sizes[i] = sizes[vertices[i]]
            for j in range(k):
                local[i, j] = graph[vertices[i], vertices[j]]
        for one in axes:
            for other in axes:
                local[place[one], place[other]] = True
        out[c] = rest + _eliminated_cells(local, local_sizes)
    return out
