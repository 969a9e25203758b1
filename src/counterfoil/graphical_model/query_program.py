"""A cheap program for one marginal, which runs once: the search for it must not cost more than it saves.

`program_search` is for programs that run hundreds of times.
"""

from __future__ import annotations

import math
import random

from counterfoil.graphical_model.elimination import Program, compile_program

_TRIALS = 40
_NANOSECONDS_PER_TRIAL = 400_000
"""What searching for a cheaper order costs about."""


def query_program(sizes: tuple[int, ...], inputs: list[tuple[int, ...]], keep: frozenset[int]) -> Program:
    """The cheapest of some greedy programs; the search goes on only while it costs less than it may save."""
    noise = random.Random(0)
    best = compile_program(sizes, inputs, _greedy_order(sizes, inputs, keep), keep=tuple(keep))
    for trial in range(_TRIALS):
        if best.cost < (trial + 1) * _NANOSECONDS_PER_TRIAL:
            break
        order = _greedy_order(sizes, inputs, keep, noise=noise)
        other = compile_program(sizes, inputs, order, keep=tuple(keep))
        if other.cost < best.cost:
            best = other
    return best


def _greedy_order(
    sizes: tuple[int, ...],
    inputs: list[tuple[int, ...]],
    keep: frozenset[int],
    *,
    noise: random.Random | None = None,
) -> list[int]:
    """An elimination order of what is not kept: the smallest product of tensors first, times a random factor."""
    tensors = [frozenset(axes) for axes in inputs]
    remaining = sorted(frozenset().union(*tensors) - keep)
    logs = {x: math.log(sizes[x]) for x in frozenset().union(*tensors)}
    order = []
    while remaining:
        costs = []
        for x in remaining:
            union = frozenset().union(*(t for t in tensors if x in t))
            cost = sum(logs[y] for y in union) + (noise.gauss(0.0, 1.0) if noise else 0.0)
            costs.append((cost, x, union))
        _, chosen, union = min(costs, key=lambda c: c[:2])
        order.append(chosen)
        tensors = [t for t in tensors if chosen not in t] + [union - {chosen}]
        remaining.remove(chosen)
    return order
