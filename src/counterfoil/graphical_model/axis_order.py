"""In which order of axes tensors lie, so that the loops over them have long runs.

All tensors of a program lie in one order of axes. The last axes of a step, as many as are in the same ones of its three
tensors, are then a run of cells that lie side by side in each tensor that has them (compiled_loops.py). To begin with a
run costs about as much as forty of its cells, and those of matrices cost half of others: where long tensors meet,
orders differ by a factor of three. The search moves one axis after another, from some first orders.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from counterfoil.compiled import compiled
from counterfoil.graphical_model.elimination import Step

_MOST_STARTS, _WORTH_A_START = 8, 50_000.0
"""First orders, one by size and the others at random (half of these led to the best order of large programs), and how
many cells of all steps are worth one more; with fewer than that, nothing is searched for."""

_WORTH = 0.02
"""Steps with a smaller part of all cells have no say."""

# Nanoseconds, forward and in reverse together: of a cell, and of a run; of matrices, and of those with one row and one
# summed cell.
_CELL, _RUN = 1.0, 40.0
_MATRIX_CELL, _MATRIX_RUN = 0.45, 35.0
_LONE_CELL, _LONE_RUN = 1.0, 80.0

_LEFT, _RIGHT, _OUT = 1, 2, 4
"""What has an axis, as bits: absent axes have none."""


def axis_order(sizes: Sequence[int], steps: Sequence[Step]) -> list[int]:
    """All axes in a good order.

    Args:
        sizes: of all axes.
        steps: whose tensors are to lie in that order.
    """
    having, cells = _described(sizes, steps)
    heavy = cells >= _WORTH * cells.sum()
    moving = sorted(np.flatnonzero(having[heavy].any(axis=0)).tolist(), key=lambda x: (sizes[x], x))
    if not moving:
        return list(range(len(sizes)))
    rng, more = np.random.default_rng(0), min(int(cells.sum() / _WORTH_A_START), _MOST_STARTS) - 1
    if more < 0:
        return [x for x in range(len(sizes)) if x not in moving] + moving
    starts = np.array([moving, *(rng.permutation(moving) for _ in range(more))], dtype=np.int64)
    best = _search(starts, having[heavy], cells[heavy], np.array(sizes, dtype=np.float64)).tolist()
    return [x for x in range(len(sizes)) if x not in best] + best


def costs(sizes: Sequence[int], steps: Sequence[Step], order: Sequence[int]) -> np.ndarray:
    """float64 [steps]: nanoseconds, roughly, forward and in reverse together, if tensors lie in this order."""
    having, cells = _described(sizes, steps)
    numbers, places = np.array(sizes, dtype=np.float64), np.array(order, dtype=np.int64)
    return _costs(places, having, cells, numbers)


def most(sizes: Sequence[int], step: Step) -> float:
    """Nanoseconds, roughly, of a step in the worst order."""
    return (_LONE_CELL + _LONE_RUN) * math.prod(sizes[x] for x in {*step.left_axes, *step.right_axes})


def _described(sizes: Sequence[int], steps: Sequence[Step]) -> tuple[np.ndarray, np.ndarray]:
    """int64 [steps, axes], which tensors have an axis, as bits; float64 [steps], the cells of all axes together."""
    having = np.zeros((len(steps), len(sizes)), dtype=np.int64)
    for bit, of_step in ((_LEFT, "left_axes"), (_RIGHT, "right_axes"), (_OUT, "out_axes")):
        axes = [getattr(step, of_step) for step in steps]
        places = np.repeat(np.arange(len(steps)), [len(names) for names in axes])
        having[places, [x for names in axes for x in names]] |= bit
    cells = [math.prod(sizes[x] for x in {*step.left_axes, *step.right_axes}) for step in steps]
    return having, np.array(cells, dtype=np.float64)


@compiled
def _search(starts, having, cells, sizes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The best order that is reached from one of `starts` by moves of single axes."""
    best, least, other = starts[0].copy(), np.inf, starts[0].copy()
    for start in starts:
        order, now, improved = start.copy(), _total(start, having, cells, sizes), True
        while improved:
            improved = False
            for x in start:
                for place in range(len(order)):
                    _move(order, x, place, other)
                    cost = _total(other, having, cells, sizes)
                    if cost < now * (1 - 1e-9):
                        order[:] = other
                        now, improved = cost, True
        if now < least * (1 - 1e-9):
            best[:] = order
            least = now
    return best


@compiled
def _move(order, axis, place, out):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Writes the order with an axis at another place."""
    next_one = 0
    for i in range(len(order)):
        if i == place:
            out[i] = axis
        else:
            if order[next_one] == axis:
                next_one += 1
            out[i] = order[next_one]
            next_one += 1


@compiled
def _total(order, having, cells, sizes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    total = 0.0
    for step in range(len(cells)):
        total += _cost(order, having, step, cells[step], sizes)
    return total


@compiled
def _costs(order, having, cells, sizes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    out = np.empty(len(cells))
    for step in range(len(cells)):
        out[step] = _cost(order, having, step, cells[step], sizes)
    return out


@compiled
def _cost(order, having, step, cells, sizes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Of a step whose tensors lie in this order, from its last three groups of axes that the same tensors have."""
    first, second, third, groups = np.int64(0), np.int64(0), np.int64(0), 0
    run, matrix, own = 1.0, 1.0, 1.0
    for i in range(len(order) - 1, -1, -1):
        kind = having[step, order[i]]
        if kind == 0:
            continue
        if groups == 0 or kind != (first if groups == 1 else second if groups == 2 else third):
            groups += 1
            if groups == 1:
                first = kind
            elif groups == 2:
                second = kind
            elif groups == 3:
                third = kind
            else:
                break
        if groups == 1:
            run *= sizes[order[i]]
        elif groups == 2:
            matrix *= sizes[order[i]]
        else:
            own *= sizes[order[i]]
    if not _is_of_two(first):
        return cells * (_CELL + _RUN / run)
    if not _is_of_two(second):
        matrix = 1.0
    elif third == first ^ second:
        matrix *= own
    of_cell = _MATRIX_CELL + (_LONE_CELL - _MATRIX_CELL) / matrix
    of_run = _MATRIX_RUN + (_LONE_RUN - _MATRIX_RUN) / matrix
    return cells * (of_cell + of_run / run)


@compiled
def _is_of_two(kind):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Whether two of the three tensors have an axis."""
    return kind == _LEFT | _RIGHT or kind == _LEFT | _OUT or kind == _RIGHT | _OUT
