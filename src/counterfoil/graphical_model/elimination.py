"""In which order tensors are multiplied and summed, so that their product over all axes never exists.

Eliminating one attribute after another from a product of factors (Koller and Friedman, chapter 9) multiplies the
tensors that contain it and sums it out. With two tensors left, that step is a matrix product. The steps depend on the
shapes alone: they are planned once and run on any numbers (see propagation.py).
"""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
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

    @property
    def cells(self) -> int:
        """Of all its tensors together."""
        return sum(math.prod(self.sizes[x] for x in axes) for axes in self.axes)


@dataclass
class _Planner:
    """Tensors still alive, in the order in which they were made, and the steps taken so far."""

    sizes: tuple[int, ...]
    axes: list[Axes]
    live: dict[int, None] = field(init=False)
    around: dict[int, dict[int, None]] = field(init=False)
    steps: list[Step] = field(default_factory=list)
    cost: float = 0.0

    def __post_init__(self) -> None:
        self.live, self.around = {}, {}
        for slot in range(len(self.axes)):
            self._enter(slot)

    def _enter(self, slot: int) -> None:
        self.live[slot] = None
        for x in self.axes[slot]:
            self.around.setdefault(x, {})[slot] = None

    def _leave(self, slot: int) -> None:
        del self.live[slot]
        for x in self.axes[slot]:
            del self.around[x][slot]

    def holding(self, axis: int) -> list[int]:
        """The tensors that contain `axis`."""
        return list(self.around.get(axis, ()))

    def cells(self, axes: Iterable[int]) -> int:
        return math.prod(self.sizes[x] for x in axes)

    def emit(self, left: int, right: int, out_axes: Axes) -> int:
        right_axes = self.axes[right] if right >= 0 else ()
        out = len(self.axes)
        self.axes.append(out_axes)
        self.steps.append(Step(left, right, out, self.axes[left], right_axes, out_axes))
        for slot in (left, right)[: 1 if right < 0 else 2]:
            self._leave(slot)
        self._enter(out)
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

    def merge_to(self, bucket: Iterable[int], count: int) -> list[int]:
        """Multiply the cheapest pairs until `count` tensors are left; of equals the first."""
        waiting = _Bucket(self, bucket)
        while len(waiting) > count:
            i, j = waiting.take_cheapest_pair()
            waiting.add(self.merge(i, j))
        return waiting.slots()

    def sum_out(self, slot: int, gone: set[int]) -> int:
        if not gone & set(self.axes[slot]):
            return slot
        return self.emit(slot, -1, tuple(x for x in self.axes[slot] if x not in gone))

    def eliminate(self, axis: int, *, keep: frozenset[int], jointly: bool) -> None:
        """Sum `axis` out and, if `jointly`, whatever else only the same tensors contain."""
        bucket = self.merge_to(self.holding(axis), 2)
        gone = {axis}
        if jointly:
            inside = {x for slot in bucket for x in self.axes[slot]} - keep
            gone = {x for x in inside if all(slot in bucket for slot in self.around[x])}
        if len(bucket) == 2:
            shared = set(self.axes[bucket[0]]) & set(self.axes[bucket[1]])
            left, right = (self.sum_out(slot, gone - shared) for slot in bucket)
            batch = tuple(x for x in self.axes[left] if x in shared - gone)
            rows = tuple(x for x in self.axes[left] if x not in shared)
            columns = tuple(x for x in self.axes[right] if x not in shared)
            self.emit(left, right, batch + rows + columns)
        elif bucket:
            self.sum_out(bucket[0], gone)


class _Bucket:
    """Tensors that are to be multiplied, those over the same axes together: of these there may be thousands.

    A pair is as cheap as the product has few cells, which its two sets of axes decide; of equals comes the pair whose
    later tensor is the earliest, and among these the one whose earlier tensor is.
    """

    def __init__(self, planner: _Planner, slots: Iterable[int]) -> None:
        self._planner = planner
        self._groups: dict[frozenset[int], deque[tuple[int, int]]] = {}
        self._cells: dict[tuple[frozenset[int], frozenset[int]], int] = {}
        self._entered = self._size = 0
        for slot in slots:
            self.add(slot)

    def __len__(self) -> int:
        return self._size

    def add(self, slot: int) -> None:
        """One more, after all others."""
        axes = frozenset(self._planner.axes[slot])
        self._groups.setdefault(axes, deque()).append((self._entered, slot))
        self._entered, self._size = self._entered + 1, self._size + 1

    def slots(self) -> list[int]:
        """Those that are left, in the order in which they came."""
        return [slot for _, slot in sorted(entry for group in self._groups.values() for entry in group)]

    def take_cheapest_pair(self) -> tuple[int, int]:
        """Removes a pair and returns it, the later one first."""
        _, one, other = min(self._pairs(), key=lambda pair: pair[0])
        places = (self._groups[one][0], self._groups[other][1 if one == other else 0])
        for axes in (one, other):
            self._groups[axes].popleft()
            if not self._groups[axes]:
                del self._groups[axes]
        self._size -= 2
        return max(places)[1], min(places)[1]

    def _pairs(self) -> Iterator[tuple[tuple[int, int, int], frozenset[int], frozenset[int]]]:
        """For each two sets of axes their first pair: what it is chosen by, and the sets."""
        groups = list(self._groups)
        for n, one in enumerate(groups):
            if len(self._groups[one]) > 1:
                (first, _), (second, _) = self._groups[one][0], self._groups[one][1]
                yield (self._product(one, one), second, first), one, one
            for other in groups[:n]:
                places = self._groups[one][0][0], self._groups[other][0][0]
                yield (self._product(one, other), max(places), min(places)), one, other

    def _product(self, one: frozenset[int], other: frozenset[int]) -> int:
        if (one, other) not in self._cells:
            self._cells[one, other] = self._planner.cells(one | other)
        return self._cells[one, other]


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
    planner = _Planner(tuple(sizes), list(inputs))
    buckets: dict[int, tuple[int, ...]] = {}
    kept = frozenset(keep)
    for axis in order:
        buckets[axis] = tuple(planner.holding(axis))
        planner.eliminate(axis, keep=kept, jointly=jointly)
    (output,) = planner.merge_to(planner.live, 1)
    assert set(planner.axes[output]) == kept
    return Program(tuple(sizes), tuple(planner.axes), len(inputs), tuple(planner.steps), output, buckets, planner.cost)
