"""Marginals of a product of many tensors, from partial products that are made once and serve all that need them.

Each marginal is a small elimination of its own (elimination.py), and those of one model have most of their steps in
common. Here every step is a node, known by the tensors in it and the axes that it keeps: it is their product, summed
over all other axes. Two steps with the same tensors and axes are thus the same table, however they were made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from counterfoil.graphical_model.elimination import Step
from counterfoil.graphical_model.propagation import multiplied
from counterfoil.graphical_model.shared_orders import Join, SharedOrders
from counterfoil.graphical_model.tensor_product import Axes, Table


@dataclass(frozen=True, eq=False)
class Scaled:
    """A table over `axes` in their order, which stands for table * exp(log_scale)."""

    table: Table
    axes: Axes
    log_scale: float = 0.0


@dataclass(eq=False)
class Node:
    """A product of tensors, summed to some axes.

    Args:
        content: the mask of the tensors in it.
        axes: the mask of the axes that it keeps.
        parts: one or two nodes that it is made of; none for a tensor.
        made: what it is, if that is kept.
        uses: how many products and marginals are still to be made of it.
    """

    content: int
    axes: int
    parts: tuple[Node, ...] = ()
    made: Scaled | None = None
    uses: int = 0


class SharedProducts:
    """Plans marginals, and computes them in the order in which they were planned.

    Args:
        sizes: of all axes, of which there are at most `shared_orders.MOST_AXES`.
        room: how many cells of products are kept together until they are needed again; what does not fit is made anew.
    """

    def __init__(self, sizes: tuple[int, ...], room: int) -> None:
        self._sizes = sizes
        self._orders = SharedOrders(sizes)
        self._places: dict[int, int] = {}
        self._nodes: dict[tuple[int, int], Node] = {}
        self._room = room

    def plan(self, tensors: Mapping[int, Scaled], keep: int) -> Node:
        """The marginal of the product of `tensors` on the axes in the mask `keep`, to be computed once.

        Args:
            tensors: by number; the same number is the same tensor in all plans.
            keep: a mask.
        """
        nodes = [self._tensor(number, tensor) for number, tensor in tensors.items()]
        root = self._planned(nodes, self._orders.plan(list(tensors), [node.axes for node in nodes], keep))
        root.uses += 1
        return root

    def _tensor(self, number: int, tensor: Scaled) -> Node:
        content = 1 << self._places.setdefault(number, len(self._places))
        key = content, sum(1 << x for x in tensor.axes)
        if key not in self._nodes:
            self._nodes[key] = Node(*key, made=tensor)
        return self._nodes[key]

    def _planned(self, tensors: Sequence[Node], joins: Sequence[Join]) -> Node:
        """The last node of a plan; nodes that are only in products that are known are not made."""
        contents = [tensor.content for tensor in tensors]
        for join in joins:
            contents.append(contents[join.left] | (contents[join.right] if join.right >= 0 else 0))

        axes = [*(tensor.axes for tensor in tensors), *(join.axes for join in joins)]
        keys = list(zip(contents, axes, strict=True))
        new, waiting = list[int](), [len(keys) - 1]
        while waiting:
            i = waiting.pop()
            if keys[i] not in self._nodes:
                new.append(i)
                join = joins[i - len(tensors)]
                waiting += [side for side in (join.left, join.right) if side >= 0]
        for i in reversed(new):
            join = joins[i - len(tensors)]
            parts = tuple(self._nodes[keys[side]] for side in (join.left, join.right) if side >= 0)
            for part in parts:
                part.uses += 1
            self._nodes[keys[i]] = Node(*keys[i], parts)
        return self._nodes[keys[-1]]

    def compute(self, node: Node) -> Scaled:
        """The table of a node, new or one that is also used for others: not to be written to.

        Raises:
            Underflow: where all entries of a product are too small for a float.
        """
        order, waiting = list[Node](), [node]
        while waiting:
            order.append(waiting.pop())
            if order[-1].made is None:
                waiting += order[-1].parts
        ready = dict[Node, Scaled]()
        for one in reversed(order):
            made = one.made or self._product(one.axes, [ready.pop(part) for part in one.parts])
            ready[one] = self._used(one, made)
        return ready[node]

    def _used(self, node: Node, made: Scaled) -> Scaled:
        """What is made, which is kept if it is needed again and there is room, and let go if not."""
        node.uses -= 1
        if node.parts and node.made is None and node.uses > 0 and made.table.size <= self._room:
            node.made = made
            self._room -= made.table.size
        elif node.parts and node.made is not None and node.uses <= 0:
            node.made = None
            self._room += made.table.size
        return made

    def _product(self, axes: int, parts: Sequence[Scaled]) -> Scaled:
        left, right = (*parts, None)[:2]
        assert left is not None
        out = _order(axes, left, right)
        step = Step(0, -1 if right is None else 1, 2, left.axes, () if right is None else right.axes, out)
        table, log_scale = multiplied(self._sizes, step, left.table, None if right is None else right.table)
        return Scaled(table, out, log_scale + sum(part.log_scale for part in parts))


def _order(mask: int, left: Scaled, right: Scaled | None) -> Axes:
    """The axes that stay, in the order that leaves the product where `TensorProduct` makes it."""
    mine = tuple(x for x in left.axes if mask >> x & 1)
    if right is None:
        return mine
    theirs = tuple(x for x in right.axes if mask >> x & 1)
    if len({*left.axes, *right.axes}) == mask.bit_count():  # nothing is summed out: the larger one keeps its order
        small, large = (theirs, mine) if left.table.size > right.table.size else (mine, theirs)
        return tuple(x for x in small if x not in large) + large
    batch = tuple(x for x in mine if x in right.axes)
    rows = tuple(x for x in mine if x not in right.axes)
    return batch + rows + tuple(x for x in theirs if x not in left.axes)
