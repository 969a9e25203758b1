"""How large a model becomes with one clique more, for thousands of cliques, each as a greedy elimination would say.

There are two such orders, those of `junction_tree.megabytes`: by least table and by least fill. Neither joins
attributes of two connected components, and within a component the order does not depend on the others: ties go to the
first attribute. So the total of a grown graph is that of the graph, less the components that the clique joins, plus the
joined one, which alone is eliminated: in machine code, on words of 64 attributes, and only once for each choice of what
is asked.

Nothing is kept from one model to the next. The least cells of any order never fall when a model grows, but those of
the greedy orders may: a clique that they found too large may fit later. To ask again costs less than a thousandth of
a second for a hundred cliques of a table of 25 columns, because counting ends where a clique is too large.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

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
        self._cells: dict[tuple[bool, float], np.ndarray] = {}

    def contains(self, axes: Iterable[int]) -> bool:
        """Whether one clique of the model contains all of `axes`."""
        members = frozenset(axes)
        first = min(members, key=lambda axis: len(self._around.get(axis, ())), default=None)
        if first is None:
            return bool(self._around)
        return any(members <= other for other in self._around.get(first, ()))

    def cells_with(self, cliques: Sequence[Clique], *, by_fill: bool = False, most: float = math.inf) -> np.ndarray:
        """float64 [cliques]: the cells of the tree of a greedy order with each of `cliques` added, none of them empty.

        Exact below 2**53 cells, infinite where a float64 is.

        Args:
            cliques: each is added alone.
            by_fill: whether the order is by least fill, not by least table.
            most: where there are more cells, some number of cells above `most` stands for them.
        """
        axes = [self._domain.axes(clique) for clique in cliques]
        members = np.array([axis for clique in axes for axis in clique], dtype=np.int64)
        begins = np.cumsum([0, *map(len, axes)])
        cells = self._cells_of_components(by_fill, most)
        with np.errstate(over="ignore"):
            return _cells_with(_words(self._graph), self._sizes, self._component, cells, members, begins, by_fill, most)

    def _cells_of_components(self, by_fill: bool, most: float) -> np.ndarray:
        """float64 [attributes]: the cells of each component, at its first attribute, counted to `most`; 0 elsewhere."""
        if (by_fill, most) not in self._cells:
            cells = self._cells[by_fill, most] = np.zeros(len(self._graph))
            with np.errstate(over="ignore"):
                for first in np.unique(self._component).tolist():
                    vertices = np.flatnonzero(self._component == first)
                    graph = self._graph[np.ix_(vertices, vertices)]
                    cells[first] = _eliminated_cells(_words(graph), self._sizes[vertices], by_fill, most)
        return self._cells[by_fill, most]


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


_POWER = np.uint64(0x03F79D71B4CB0A89)
_ONE, _TOP = np.uint64(1), np.uint64(58)
_BIT = np.empty(64, dtype=np.int64)
"""By the six highest bits of `_POWER` times a power of two: which power it is. All 64 differ (a de Bruijn sequence)."""
for _bit in range(64):
    _BIT[(int(_POWER) << _bit & (1 << 64) - 1) >> 58] = _bit


def _words(graph: np.ndarray) -> np.ndarray:
    """uint64 [attributes, words]: each row of bool [attributes, attributes] as bits, the first attribute's lowest."""
    words = -(-graph.shape[1] // 64)
    packed = np.zeros((len(graph), 8 * words), dtype=np.uint8)
    rows = np.packbits(graph, axis=1, bitorder="little")
    packed[:, : rows.shape[1]] = rows
    return packed.view("<u8").astype(np.uint64)


@compiled
def _has(row, i):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    return (row[i >> 6] >> np.uint64(i & 63)) & _ONE != 0


@compiled
def _weigh(word, first, sizes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The sum of the sizes of the attributes of a word, of which the lowest is `first`."""
    total = 0.0
    while word:
        low = word & (~word + _ONE)
        total += sizes[first + _BIT[(low * _POWER) >> _TOP]]
        word ^= low
    return total


@compiled
def _product(row, sizes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    product = 1.0
    for w in range(len(row)):
        word = row[w]
        while word:
            low = word & (~word + _ONE)
            product *= sizes[64 * w + _BIT[(low * _POWER) >> _TOP]]
            word ^= low
    return product


@compiled
def _cost(graph, sizes, i, by_fill):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """What attribute `i` costs if it goes next, as `junction_tree` has it: its cells, or the edges that are missing."""
    around = graph[i]
    cells = _product(around, sizes)
    if not by_fill:
        return cells
    missing = 0.0
    for w in range(len(around)):
        word = around[w]
        while word:
            low = word & (~word + _ONE)
            j = 64 * w + _BIT[(low * _POWER) >> _TOP]
            absent = _weigh(around[w] & ~graph[j, w] & (low - _ONE), 64 * w, sizes)
            for before in range(w):
                absent += _weigh(around[before] & ~graph[j, before], 64 * before, sizes)
            missing += sizes[j] * absent
            word ^= low
    return missing + cells * 1e-12 + 1e-9


@compiled
def _is_maximal(cliques, order, step, chosen):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Whether the clique of `chosen` lies in none of an attribute that went before, with which it was joined."""
    for before in range(step):
        earlier = cliques[order[before]]
        if _has(earlier, chosen):
            within = True
            for w in range(len(earlier)):
                within = within and not cliques[chosen, w] & ~earlier[w]
            if within:
                return False
    return True


@compiled
def _eliminated_cells(graph, sizes, by_fill, most):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Cells of the maximal cliques when the attribute that costs least goes first; `graph` is used up.

    Past `most` the count ends: what it has come to is then more than `most`, and at most the cells.
    """
    n, words = graph.shape
    left, stale = np.ones(n, dtype=np.bool_), np.empty(words, dtype=np.uint64)
    stale[:] = ~np.uint64(0)
    costs, cliques = np.empty(n), np.zeros((n, words), dtype=np.uint64)
    order = np.zeros(n, dtype=np.int64)
    total = 0.0
    for step in range(n):
        chosen: Any = np.int64(-1)
        for i in range(n):
            if left[i]:
                if _has(stale, i):
                    costs[i] = _cost(graph, sizes, i, by_fill)
                if chosen < 0 or costs[i] < costs[chosen]:
                    chosen = i
        for w in range(words):
            cliques[chosen, w] = graph[chosen, w]
            stale[w] = np.uint64(0)
        if _is_maximal(cliques, order, step, chosen):
            total += _product(cliques[chosen], sizes)
            if total > most:
                break
        order[step] = chosen
        left[chosen] = False
        _join_around(graph, cliques[chosen], chosen, by_fill, stale)
    return total


@compiled
def _join_around(graph, clique, chosen, by_fill, stale):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Joins the neighbors of `chosen`, which goes; `stale` are then those whose costs may have changed."""
    for w in range(len(clique)):
        word = clique[w]
        while word:
            low = word & (~word + _ONE)
            i = 64 * w + _BIT[(low * _POWER) >> _TOP]
            word ^= low
            if i != chosen:
                stale[w] |= low
                for other in range(len(clique)):
                    graph[i, other] |= clique[other]
                graph[i, chosen >> 6] &= ~(_ONE << np.uint64(chosen & 63))
                if by_fill:
                    for other in range(len(clique)):
                        stale[other] |= graph[i, other]


@compiled
def _joined(graph, joined, axes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The attributes that are `joined`, in their order, and the graph of these in which `axes` are joined."""
    n = len(joined)
    vertices, place, count = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), 0
    for i in range(n):
        if joined[i]:
            vertices[count] = i
            place[i] = count
            count += 1
    local = np.zeros((count, (count + 63) >> 6), dtype=np.uint64)
    for i in range(count):
        for w in range(graph.shape[1]):
            word = graph[vertices[i], w]
            while word:
                low = word & (~word + _ONE)
                j = place[64 * w + _BIT[(low * _POWER) >> _TOP]]
                local[i, j >> 6] |= _ONE << np.uint64(j & 63)
                word ^= low
    for one in axes:
        for other in axes:
            local[place[one], place[other] >> 6] |= _ONE << np.uint64(place[other] & 63)
    return vertices[:count], local


@compiled
def _cells_with(graph, sizes, component, cells, members, begins, by_fill, most):  # type: ignore[no-untyped-def]  # pragma: no cover
    n = len(sizes)
    first, joined = np.empty(n, dtype=np.bool_), np.empty(n, dtype=np.bool_)
    out = np.empty(len(begins) - 1)
    for c in range(len(begins) - 1):
        axes = members[begins[c] : begins[c + 1]]
        first[:] = False
        product = 1.0
        for axis in axes:
            first[component[axis]] = True
            product *= sizes[axis]
        rest, count = 0.0, 0
        for i in range(n):
            joined[i] = first[component[i]]
            count += joined[i]
            if not first[i]:
                rest += cells[i]
        if count == len(axes) or rest + product > most:
            out[c] = rest + product
        else:
            vertices, local = _joined(graph, joined, axes)
            own = np.empty(count)
            for i in range(count):
                own[i] = sizes[vertices[i]]
            out[c] = rest + _eliminated_cells(local, own, by_fill, most - rest)
    return out
