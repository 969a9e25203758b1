"""In which order tensors are multiplied and summed, so that their product over all axes never exists.

Eliminating one attribute after another from a product of factors (Koller and Friedman, chapter 9) multiplies the
tensors that contain it and sums it out. With two tensors left, that step is a matrix product. The steps depend on the
shapes alone: they are planned once and run on any numbers (see propagation.py).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from counterfoil.graphical_model.tensor_product import SMALL_MATRIX_PRODUCT, Axes


@dataclass(frozen=True)
class Step:
    """slots[out] = sum over the axes absent from `out_axes` of slots[left] * slots[right] (right < 0: no right)."""

    left: int
    right: int
    out: int
    left_axes: Axes
    right_axes: Axes
    out_axes: Axes


@dataclass(frozen=True)
class Program:
    """The steps that turn input tensors (slots 0 .. n-1) into their product summed over all but `keep`.

    `axes[slot]` are the axes of each slot's tensor, `buckets[axis]` the slots that held an axis just before
    it was eliminated, `cost` an estimate of the work in nanoseconds.
    """

    sizes: tuple[int, ...]
    axes: tuple[Axes, ...]
    n_inputs: int
    steps: tuple[Step, ...]
    output: int
    buckets: dict[int, tuple[int, ...]]
    cost: float


@dataclass
class _Planner:
    """Tensors still alive, and the steps taken so far."""

    sizes: tuple[int, ...]
    axes: list[Axes]
    live: list[int]
    steps: list[Step] = field(default_factory=list)
    cost: float = 0.0

    def cells(self, axes: Axes | set[int]) -> int:
        return math.prod(self.sizes[x] for x in axes)

    def emit(self, left: int, right: int, out_axes: Axes) -> int:
        right_axes = self.axes[right] if right >= 0 else ()
        out = len(self.axes)
        self.axes.append(out_axes)
        self.steps.append(Step(left, right, out, self.axes[left], right_axes, out_axes))
        self.live = [slot for slot in self.live if slot not in (left, right)] + [out]
        self.cost += self._work(self.axes[left], right_axes, out_axes)
        return out

    def _work(self, left: Axes, right: Axes, out: Axes) -> float:
        """Nanoseconds, roughly, on one core: for choosing between programs."""
        joint = {*left, *right}
        cells = self.cells(joint)
        if len(joint) == len(out) or not right:
            return 5_000 + cells
        batch = self.cells({*left} & {*right} & {*out})
        moved = 1.5 * (self.cells(left) + self.cells(right) + self.cells(out))
        if batch == 1 or cells >= batch * SMALL_MATRIX_PRODUCT:
            return 5_000 + moved + 200 * batch + 0.15 * cells
        return 5_000 + moved + cells

    def merge(self, left: int, right: int) -> int:
        """Multiply two tensors; the axes of the larger one stay last, so that its memory order is kept."""
        if self.cells(self.axes[left]) > self.cells(self.axes[right]):
            left, right = right, left
        new = tuple(x for x in self.axes[left] if x not in self.axes[right])
        return self.emit(left, right, new + self.axes[right])

    def merge_to(self, bucket: list[int], count: int) -> list[int]:
        """Multiply the cheapest pairs until `count` tensors are left."""
        bucket = list(bucket)
        while len(bucket) > count:
            pairs = [(i, j) for n, i in enumerate(bucket) for j in bucket[:n]]
            i, j = min(pairs, key=lambda pair: self.cells({*self.axes[pair[0]], *self.axes[pair[1]]}))
            bucket = [slot for slot in bucket if slot not in (i, j)] + [self.merge(i, j)]
        return bucket

    def sum_out(self, slot: int, gone: set[int]) -> int:
        if not gone & set(self.axes[slot]):
            return slot
        return self.emit(slot, -1, tuple(x for x in self.axes[slot] if x not in gone))

    def eliminate(self, axis: int, *, keep: frozenset[int], jointly: bool) -> None:
        """Sum `axis` out and, if `jointly`, whatever else only the same tensors contain."""
        bucket = self.merge_to([slot for slot in self.live if axis in self.axes[slot]], 2)
        gone = {axis}
        if jointly:
            others = {x for slot in self.live if slot not in bucket for x in self.axes[slot]}
            gone = {x for slot in bucket for x in self.axes[slot]} - others - keep
        if len(bucket) == 2:
            shared = set(self.axes[bucket[0]]) & set(self.axes[bucket[1]])
            left, right = (self.sum_out(slot, gone - shared) for slot in bucket)
            batch = tuple(x for x in self.axes[left] if x in shared - gone)
            rows = tuple(x for x in self.axes[left] if x not in shared)
            columns = tuple(x for x in self.axes[right] if x not in shared)
            self.emit(left, right, batch + rows + columns)
        elif bucket:
            self.sum_out(bucket[0], gone)


def compile_program(
    sizes: Sequence[int],
    inputs: Sequence[Axes],
    order: Sequence[int],
    *,
    keep: Axes = (),
    jointly: bool = True,
) -> Program:
    """Plan the product of tensors over `inputs` (axes each), summing axes out in `order`, keeping `keep`.

    `order` must name every axis of the inputs that is not kept. The output's axes are `keep`, in some order.
    """
    planner = _Planner(tuple(sizes), list(inputs), list(range(len(inputs))))
    buckets: dict[int, tuple[int, ...]] = {}
    kept = frozenset(keep)
    for axis in order:
        buckets[axis] = tuple(slot for slot in planner.live if axis in planner.axes[slot])
        planner.eliminate(axis, keep=kept, jointly=jointly)
    (output,) = planner.merge_to(planner.live, 1)
    assert set(planner.axes[output]) == kept
    return Program(tuple(sizes), tuple(planner.axes), len(inputs), tuple(planner.steps), output, buckets, planner.cost)
