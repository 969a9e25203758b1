"""In which order tensors are multiplied for one marginal after another, where what was made for one serves the others.

The plans are those of elimination.py, found by a compiled search over bit masks, because a hundred marginals of a model
ask for ten thousand orders. A product is known by the tensors in it and the axes that it keeps, not by how it was made:
a plan may therefore start from products of the plans before it, which cost it nothing.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfoil.compiled import compiled
from counterfoil.graphical_model.tensor_product import SMALL_MATRIX_PRODUCT

Integers = NDArray[np.int64]
Reals = NDArray[np.float64]

MOST_AXES = 62
"""So many axes fit in a mask."""

# The search goes on while the best plan costs more than this (nanoseconds) for each order tried, or so many were tried.
_PER_TRIAL, _TRIALS = 40_000.0, 400
_FACTORS = 1 << 13
# What a step costs whatever its size (nanoseconds): planned for one use, more than elimination.py counts for many uses.
_STEP = 30_000.0
# An odd number of 63 bits, whose products with masks differ in their high bits too (the multiplier of Knuth's MMIX).
_SPREAD = 0x5851F42D4C957F2D

# The columns of what the search calls nodes: the tensors of a plan in their order, then what its steps make.
_AXES, _CONTENT, _LEFT, _RIGHT, _KEY = range(5)


@dataclass(frozen=True)
class Join:
    """One step of a plan: the product of nodes `left` and `right` (of `left` alone where it is negative), summed.

    Nodes are numbered: first the tensors of the plan in their order, then what its steps make. `axes` is the mask of
    the axes that stay.
    """

    left: int
    right: int
    axes: int


class SharedOrders:
    """Plans marginals one after another.

    Args:
        sizes: of all axes, of which there are at most `MOST_AXES`.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = np.array(sizes, dtype=np.float64)
        self._logs = np.log(self._sizes)
        self._names: dict[int, int] = {}
        self._noise = random.Random(1)
        self._known = np.zeros(1 << 10, dtype=np.int64)
        self._entries = 0

    def plan(self, tensors: Sequence[int], masks: Sequence[int], keep: int) -> list[Join]:
        """The cheapest plan that was found; the last of its steps, or its only tensor, is the marginal.

        Args:
            tensors: numbers of the tensors, each the same in all plans.
            masks: the axes of each.
            keep: the mask of the axes that stay.
        """
        first = len(tensors)
        nodes = np.zeros((3 * first + 3 * len(self._sizes), 5), dtype=np.int64)
        nodes[:first, _AXES] = masks
        nodes[:first, _CONTENT] = [self._name(tensor) for tensor in tensors]
        n = _search(nodes, first, keep, self._sizes, self._logs, _factors(), self._known)
        self._remember(nodes[first:n, _KEY])
        steps = nodes[first:n, [_LEFT, _RIGHT, _AXES]].tolist()
        return [Join(left, right, axes) for left, right, axes in steps]

    def _name(self, tensor: int) -> int:
        """A random number for each tensor: sums of them tell products apart, but for an accident of one in 1e18.

        After such an accident a plan would cost more than the search believed; its marginal would be the same.
        """
        if tensor not in self._names:
            self._names[tensor] = self._noise.getrandbits(63)
        return self._names[tensor]

    def _remember(self, keys: Integers) -> None:
        self._entries += len(keys)
        if 2 * self._entries > len(self._known):
            before, self._known = self._known, np.zeros(4 * len(self._known), dtype=np.int64)
            _insert(self._known, before[before != 0])
        _insert(self._known, keys)


@cache
def _factors() -> Reals:
    """Logarithms of the random factors of greedy orders, the same in every process."""
    noise = random.Random(0)
    return np.array([noise.gauss(0.0, 1.0) for _ in range(_FACTORS)])


@compiled
def _search(
    nodes: Integers, first: int, keep: int, sizes: Reals, logs: Reals, factors: Reals, known: Integers
) -> int:  # pragma: no cover - compiled
    """Fills `nodes` with the steps of the cheapest plan found; returns how many nodes it has.

    Args:
        nodes: [nodes, columns]: the tensors in the first rows, and room.
        first: how many tensors there are.
        keep: the mask of the axes that stay.
        sizes: [axes].
        logs: [axes]: their logarithms.
        factors: logarithms of random factors.
        known: keys of products that cost nothing, a table with open addresses.
    """
    gone = 0
    for i in range(first):
        gone |= nodes[i, _AXES]
    gone &= ~keep
    count = 0
    for x in range(len(sizes)):
        count += (gone >> x) & 1
    order = np.empty(count, dtype=np.int64)
    tensors, tried = np.empty(len(nodes), dtype=np.int64), np.empty(nodes.shape, dtype=np.int64)
    costs = np.zeros(len(nodes))
    _copy(nodes, tried, np.int64(0), first)
    best, best_nodes, at = np.inf, first, 0
    for trial in range(_TRIALS):
        if best <= trial * _PER_TRIAL:
            break
        for i in range(first):
            tensors[i] = nodes[i, _AXES]
        at = _greedy_order(tensors, first, gone, logs, factors, at, trial > 0, order)
        n = _follow(tried, first, keep, order, costs, sizes, known)
        if costs[n - 1] < best:
            best, best_nodes = costs[n - 1], n
            _copy(tried, nodes, first, n)
    return best_nodes


@compiled
def _copy(source: Integers, target: Integers, start: int, stop: int) -> None:  # pragma: no cover - compiled
    for i in range(start, stop):
        for column in range(source.shape[1]):
            target[i, column] = source[i, column]


@compiled
def _greedy_order(
    tensors: Integers, n: int, gone: int, logs: Reals, factors: Reals, at: int, noisy: bool, order: Integers
) -> int:  # pragma: no cover - compiled
    """The axis whose tensors have the smallest product goes first, times a random factor where `noisy`.

    Returns where the next factor is.
    """
    done = 0
    while gone:
        best, chosen, around = np.inf, 0, 0
        for x in range(len(logs)):
            if not (gone >> x) & 1:
                continue
            union = 0
            for i in range(n):
                if (tensors[i] >> x) & 1:
                    union |= tensors[i]
            cost = 0.0
            for y in range(len(logs)):
                if (union >> y) & 1:
                    cost += logs[y]
            if noisy:
                cost += factors[at]
                at = (at + 1) % len(factors)
            if cost < best:
                best, chosen, around = cost, x, union
        order[done] = chosen
        done += 1
        left = 0
        for i in range(n):
            if not (tensors[i] >> chosen) & 1:
                tensors[left] = tensors[i]
                left += 1
        tensors[left] = around & ~(1 << chosen)
        n = left + 1
        gone &= ~(1 << chosen)
    return at


@compiled
def _follow(
    nodes: Integers, first: int, keep: int, order: Integers, costs: Reals, sizes: Reals, known: Integers
) -> int:  # pragma: no cover - compiled
    """The steps that sum out axes in this order, as `elimination.compile_program` takes them.

    Returns the number of nodes; `costs` has of each what it costs with all that it is made of.
    """
    n = first
    alive = np.zeros(len(nodes), dtype=np.bool_)
    for i in range(first):
        alive[i] = True
    bucket = np.empty(len(nodes), dtype=np.int64)
    for turn in range(len(order)):
        size: Any = np.int64(0)
        for i in range(n):
            if alive[i] and (nodes[i, _AXES] >> order[turn]) & 1:
                bucket[size] = i
                size += 1
                alive[i] = False
        n = _merge(nodes, n, bucket, size, np.int64(2), costs, sizes, known)
        size = min(size, 2)
        inside, outside, shared = 0, keep, 0
        for i in range(n):
            if alive[i]:
                outside |= nodes[i, _AXES]
        for j in range(size):
            shared = inside & nodes[bucket[j], _AXES]
            inside |= nodes[bucket[j], _AXES]
        gone = inside & ~outside
        for j in range(size):
            axes = nodes[bucket[j], _AXES]
            if axes & gone & ~shared:
                _emit(nodes, n, bucket[j], np.int64(-1), axes & ~(gone & ~shared), costs, sizes, known)
                bucket[j] = n
                n += 1
        if size == 2:
            _emit(nodes, n, bucket[0], bucket[1], inside & ~gone, costs, sizes, known)
            n += 1
        alive[n - 1] = True
    size = np.int64(0)
    for i in range(n):
        if alive[i]:
            bucket[size] = i
            size += 1
    return _merge(nodes, n, bucket, size, np.int64(1), costs, sizes, known)


@compiled
def _merge(
    nodes: Integers, n: int, bucket: Integers, size: int, count: int, costs: Reals, sizes: Reals, known: Integers
) -> int:  # pragma: no cover - compiled
    """Multiplies the cheapest pairs until `count` nodes are in the bucket; returns the number of nodes."""
    while size > count:
        best, one, other = np.inf, 0, 1
        for j in range(size):
            for i in range(j):
                cells = _cells(nodes[bucket[i], _AXES] | nodes[bucket[j], _AXES], sizes)
                if cells < best:
                    best, one, other = cells, i, j
        left, right = bucket[one], bucket[other]
        _emit(nodes, n, left, right, nodes[left, _AXES] | nodes[right, _AXES], costs, sizes, known)
        for i in range(other, size - 1):
            bucket[i] = bucket[i + 1]
        for i in range(one, size - 2):
            bucket[i] = bucket[i + 1]
        bucket[size - 2] = n
        size, n = size - 1, n + 1
    return n


@compiled
def _emit(
    nodes: Integers, n: int, left: int, right: int, axes: int, costs: Reals, sizes: Reals, known: Integers
) -> None:  # pragma: no cover - compiled
    """Makes node `n`: the product of `left` and `right` (negative: none), summed to `axes`."""
    content, cost, other = nodes[left, _CONTENT], costs[left], 0
    if right >= 0:
        content, cost, other = content + nodes[right, _CONTENT], cost + costs[right], nodes[right, _AXES]
    key = content ^ (axes * _SPREAD)
    nodes[n, _AXES], nodes[n, _CONTENT], nodes[n, _KEY] = axes, content, key
    nodes[n, _LEFT], nodes[n, _RIGHT] = left, right
    costs[n] = 0.0 if _is_known(known, key) else cost + _work(nodes[left, _AXES], other, axes, sizes)


@compiled
def _work(left: int, right: int, out: int, sizes: Reals) -> float:  # pragma: no cover - compiled
    """Nanoseconds, roughly, on one core, as elimination.py has them."""
    joint = left | right
    cells = _cells(joint, sizes)
    if joint == out or right == 0:
        return _STEP + cells
    batch = _cells(left & right & out, sizes)
    moved = 1.5 * (_cells(left, sizes) + _cells(right, sizes) + _cells(out, sizes))
    if batch == 1.0 or cells >= batch * SMALL_MATRIX_PRODUCT:
        return _STEP + moved + 200.0 * batch + 0.15 * cells
    return _STEP + moved + cells


@compiled
def _cells(mask: int, sizes: Reals) -> float:  # pragma: no cover - compiled
    cells, x = 1.0, 0
    while mask:
        if mask & 1:
            cells *= sizes[x]
        mask >>= 1
        x += 1
    return cells


@compiled
def _is_known(known: Integers, key: int) -> bool:  # pragma: no cover - compiled
    last = len(known) - 1
    place = (key ^ (key >> 32)) & last
    while known[place] != 0:
        if known[place] == key:
            return True
        place = (place + 1) & last
    return False


@compiled
def _insert(known: Integers, keys: Integers) -> None:  # pragma: no cover - compiled
    """Adds keys to a table with open addresses, in which 0 is an empty place."""
    last = len(known) - 1
    for key in keys:
        place = (key ^ (key >> 32)) & last
        while known[place] != 0 and known[place] != key:
            place = (place + 1) & last
        known[place] = key
