"""A cheaper order than the junction tree's, for a program that runs hundreds of times.

The tree's order makes its cliques small. A program has no tables of cliques, and its work depends on which tensors meet
when: among orders whose cliques are as small, the work differs by factors of two and more.
"""

from __future__ import annotations

from collections.abc import Sequence

from counterfoil.graphical_model.elimination import Program, compile_program
from counterfoil.graphical_model.shared_orders import MOST_AXES, SharedOrders
from counterfoil.graphical_model.tensor_product import Axes

_WORTH_SEARCHING = 250_000.0
"""Nanoseconds; with both sweeps, and tens of evaluations, the work of such a program is tens of the search's."""


def cheap_program(sizes: Sequence[int], inputs: Sequence[Axes], order: Sequence[int]) -> Program:
    """The product of tensors over `inputs`, summed over all axes: in this order, or a cheaper one that was found.

    A large program only is worth a search. What is found has tensors with no more cells, all together.

    Args:
        sizes: of all axes.
        inputs: the axes of each tensor.
        order: names every axis of the inputs.
    """
    program = compile_program(sizes, inputs, order)
    if program.cost < _WORTH_SEARCHING or len(sizes) > MOST_AXES:
        return program
    other = compile_program(sizes, inputs, _searched_order(sizes, inputs))
    return other if other.cost < program.cost and other.cells <= program.cells else program


def _searched_order(sizes: Sequence[int], inputs: Sequence[Axes]) -> list[int]:
    masks = [sum(1 << x for x in axes) for axes in inputs]
    order = list[int]()
    for join in SharedOrders(sizes).plan(range(len(inputs)), masks, keep=0):
        before = masks[join.left] | (masks[join.right] if join.right >= 0 else 0)
        order += [x for x in range(len(sizes)) if (before & ~join.axes) >> x & 1]
        masks.append(join.axes)
    return order
