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

_STARTS = 16
"""First orders, one by size and the others at random: half of these lead to the best order of a large program."""

_WORTH = 0.02
"""Steps with a smaller part of all cells have no say."""

# Nanoseconds, forward and in reverse together: of a cell, and of a run; of matrices, and of those with one row and one
# summed cell.
_CELL, _RUN = 1.0, 40.0
_MATRIX_CELL, _MATRIX_RUN = 0.45, 35.0
_LONE_CELL, _LONE_RUN = 1.0, 80.0

_LEFT, _RIGHT, _OUT = 1, 2, 4
"""What has an axis, as bits: absent axes have none."""


def having(axis: int, step: Step) -> int:
    """Which tensors of a step have an axis, as bits."""
    return _LEFT * (axis in step.left_axes) + _RIGHT * (axis in step.right_axes) + _OUT * (axis in step.out_axes)


def axis_order(sizes: Sequence[int], steps: Sequence[Step]) -> list[int]:
    """The place of each axis in a good order.

    Args:
        sizes: of all axes.
        steps: whose tensors are to lie in that order.
    """
    cells = np.array([math.prod(sizes[x] for x in {*step.left_axes, *step.right_axes}) for step in steps], dtype=float)
    heavy = [i for i in range(len(steps)) if cells[i] >= _WORTH * cells.sum()]
    of_steps = np.array([[having(x, steps[i]) for x in range(len(sizes))] for i in heavy], dtype=np.int64)
    of_steps = of_steps.reshape(len(heavy), len(sizes))
    moving = sorted(np.flatnonzero(of_steps.any(axis=0)).tolist(), key=lambda x: (sizes[x], x))
    rng = np.random.default_rng(0)
    starts = np.array([moving, *(rng.permutation(moving) for _ in range(_STARTS - 1))], dtype=np.int64)
    best = _search(starts, of_steps, cells[heavy], np.array(sizes, dtype=np.float64)).tolist() if moving else []
    order = [x for x in range(len(sizes)) if x not in best] + best
    rank = [0] * len(sizes)
    for place, x in enumerate(order):
        rank[x] = place
    return rank


@compiled
def _search(starts, of_steps, cells, sizes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The best order that is reached from one of `starts` by moves of single axes."""
    best, least = starts[0].copy(), np.inf
    for start in starts:
        order, now, improved = start.copy(), _cost(start, of_steps, cells, sizes), True
        while improved:
            improved = False
            for x in start:
                for place in range(len(order)):
                    other = _moved(order, x, place)
                    cost = _cost(other, of_steps, cells, sizes)
                    if cost < now * (1 - 1e-9):
                        order, now, improved = other, cost, True
        if now < least * (1 - 1e-9):
            best, least = order, now
    return best


@compiled
def _moved(order, axis, place):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The order with an axis at another place."""
    out, next_one = np.empty_like(order), 0
    for i in range(len(order)):
        if i == place:
            out[i] = axis
        else:
            if order[next_one] == axis:
                next_one += 1
            out[i] = order[next_one]
            next_one += 1
    return out


@compiled
def _cost(order, of_steps, cells, sizes):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Nanoseconds, roughly, of all steps if their tensors lie in this order."""
    total = 0.0
    for step in range(len(cells)):
        kinds, counts, groups = np.zeros(3, dtype=np.int64), np.ones(3), 0
        for i in range(len(order) - 1, -1, -1):
            kind = of_steps[step, order[i]]
            if kind > 0:
                if groups == 0 or kind != kinds[groups - 1]:
                    if groups == 3:
                        break
                    kinds[groups] = kind
                    groups += 1
                counts[groups - 1] *= sizes[order[i]]
        run, matrix = counts[0], 1.0
        of_cell, of_run = _CELL, _RUN
        if _is_of_two(kinds[0]):
            if _is_of_two(kinds[1]):
                matrix *= counts[1]
                if kinds[2] == kinds[0] ^ kinds[1]:
                    matrix *= counts[2]
            of_cell = _MATRIX_CELL + (_LONE_CELL - _MATRIX_CELL) / matrix
            of_run = _MATRIX_RUN + (_LONE_RUN - _MATRIX_RUN) / matrix
        total += cells[step] * (of_cell + of_run / run)
    return total


@compiled
def _is_of_two(kind):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Whether two of the three tensors have an axis."""
    return kind == _LEFT | _RIGHT or kind == _LEFT | _OUT or kind == _RIGHT | _OUT
