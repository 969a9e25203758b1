"""Small steps of a program as compiled loops over one vector, forward and in reverse.

A step is out[...] = sum over what `out` lacks of left[...] * right[...], for all axes of left and right together. Its
tensors lie in one order of axes (axis_order.py), and the last axes, as many as are in the same ones of the three, are
one run: its cells lie side by side in each tensor that has it. What remains is a loop over runs, whose places are sums
of two offsets, read from tables: nothing is moved, and each run is a loop that the compiler turns into vectors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from counterfoil.graphical_model.compiled_loops import BOTH, DOT, MATRIX, SUM, forward, reverse
from counterfoil.graphical_model.elimination import Step
from counterfoil.graphical_model.tensor_product import Axes


class CompiledSteps:
    """Where tensors lie in one vector, and the loops over them.

    Args:
        sizes: of all axes.
        axes: of the tensors that are in the vector, by slot.
        steps: in the order in which they run; all their tensors are in `axes`.
        order: of all axes, in which the tensors lie.

    Attributes:
        values: float64, the tensors; the last cell is 1, the right side of a step that only sums.
        places: of the tensors in it, by slot.
        tables: views of them, with `axes`.
        derivatives: the same for the derivatives of the reverse sweep.
        log_factors: by step, the logarithm of what its tensor was multiplied with.
    """

    def __init__(
        self, sizes: Sequence[int], axes: Mapping[int, Axes], steps: Sequence[Step], order: Sequence[int]
    ) -> None:
        rank = {x: place for place, x in enumerate(order)}
        layout = _Layout(sizes, {slot: tuple(sorted(names, key=rank.__getitem__)) for slot, names in axes.items()})
        self.places = layout.places
        end = layout.end
        self.values, self._above = np.ones(end + 1), np.zeros(end + 1)
        self._bits, self._bits_above = self.values.view(np.int64), self._above.view(np.int64)
        self.tables = {slot: layout.view(self.values, slot, names) for slot, names in axes.items()}
        self.derivatives = {slot: layout.view(self._above, slot, names) for slot, names in axes.items()}
        self.log_factors = np.zeros(len(steps))
        described = [layout.describe(step, rank) for step in steps]
        self._steps = [np.array(part, dtype=np.int64) for part in zip(*described, strict=True)]
        self._offsets = layout.offsets

    def forward(self, first: int, last: int) -> bool:
        """Computes the tensors of the steps first .. last - 1; False where one of them kept too few digits."""
        steps = (self.log_factors, first, last, *self._steps, self._offsets)
        return bool(forward(self.values, self._bits, *steps))

    def reverse(self, first: int, last: int) -> bool:
        """The derivatives of what went into these steps, from those of what came out; False where one is too large."""
        steps = (self.log_factors, first, last, *self._steps, self._offsets)
        return bool(reverse(self.values, self._above, self._bits_above, *steps))


class _Layout:
    """Tensors in a vector, and steps in numbers, as the loops read them.

    Args:
        sizes: of all axes.
        ordered: the axes of each tensor in the order in which it lies there, by slot.
    """

    def __init__(self, sizes: Sequence[int], ordered: Mapping[int, Axes]) -> None:
        self._sizes, self._ordered = sizes, {**ordered, -1: ()}
        self._known = dict[int, dict[int, int]]()
        ends = list(accumulate((self._cells(names) for names in ordered.values()), initial=0))
        self.end = ends[-1]
        self.places = {slot: slice(*ends[i : i + 2]) for i, slot in enumerate(ordered)}
        self._single = slice(self.end, self.end + 1)
        self._tables = [np.zeros(0, dtype=np.uint32 if self.end < 2**32 - 1 else np.uint64)]
        self._tabled = 0

    @property
    def offsets(self) -> NDArray[np.unsignedinteger]:
        """All tables, one after the other."""
        return np.concatenate(self._tables)

    def view(self, vector: NDArray[np.float64], slot: int, axes: Axes) -> NDArray[np.float64]:
        """A tensor in the vector, as an array with `axes`."""
        ordered = self._ordered[slot]
        table = vector[self.places[slot]].reshape([self._sizes[x] for x in ordered])
        return table.transpose([ordered.index(x) for x in axes])

    def describe(self, step: Step, rank: Mapping[int, int]) -> tuple[list[int], list[int], list[int]]:
        """A step in numbers.

        Returns:
            the kind; how often both loops go round, and the cells of a run; whether left, right and out have all cells
            of the step; of its matrices the numbers of r and s, and how far apart they lie where they are no runs.
            Where left, right and out begin and end.
            Where their tables begin: those of the outer loop, those of the inner one.
        """
        left, right, out = (frozenset(self._ordered[slot]) for slot in (step.left, step.right, step.out))
        every = sorted(left | right, key=rank.__getitem__)
        run, slots = _last_run(every, left, right, out), [step.left, step.right, step.out]
        # A run that `right` lacks is one of the other, where the loops expect it.
        if run and run[-1] not in right:
            left, right, slots = right, left, [step.right, step.left, step.out]
        in_left, in_out = (not run or run[-1] in part for part in (left, out))
        kind = (BOTH if in_out else DOT) if in_left else (MATRIX if in_out else SUM)
        before, matrices = every[: len(every) - len(run)], [1, 1, 0, 0]
        if kind == MATRIX:
            before, matrices = self._matrices(before, slots[0], left & out - right, left & right - out)
        elif kind == DOT:
            before, matrices = self._matrices(before, slots[2], out & left - right, out & right - left)
        outer, inner = self._halves(before)
        full = [int(len(part) == len(every)) for part in (left, right, out)]
        numbers = [kind, self._cells(outer), self._cells(inner), self._cells(run), *full, *matrices]
        places = [self._single if slot < 0 else self.places[slot] for slot in slots]
        tables = [
            *(self._tabulate(slot, outer, place.start) for slot, place in zip(slots, places, strict=True)),
            *(self._tabulate(slot, inner, 0) for slot in slots),
        ]
        return numbers, [end for place in places for end in (place.start, place.stop)], tables

    def _matrices(self, axes: list[int], slot: int, *groups: Set[int]) -> tuple[list[int], list[int]]:
        """What the last of `axes` are of matrices.

        Args:
            axes: those before the run, in their order.
            slot: of the tensor without the run.
            groups: the axes that can be r, and those that can be s.

        Returns:
            what remains of `axes`; the numbers of r and s, and how far apart they lie.
        """
        counts, strides = [1, 1], [0, 0]
        for _ in groups:
            which = next((i for i, group in enumerate(groups) if axes and axes[-1] in group), None)
            if which is None:
                break
            # The first axis found is the last of its group, which moves by the least.
            strides[which] = self._strides(slot)[axes[-1]]
            while axes and axes[-1] in groups[which]:
                counts[which] *= self._sizes[axes[-1]]
                axes = axes[:-1]
        return axes, [*counts, *strides]

    def _strides(self, slot: int) -> dict[int, int]:
        """How far apart the cells of a tensor are, by axis."""
        if slot not in self._known:
            strides, cells = dict[int, int](), 1
            for x in reversed(self._ordered[slot]):
                strides[x], cells = cells, cells * self._sizes[x]
            self._known[slot] = strides
        return self._known[slot]

    def _cells(self, axes: Axes | Sequence[int]) -> int:
        return math.prod(self._sizes[x] for x in axes)

    def _halves(self, axes: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
        """The axes in two parts, so that the tables of both together are short."""
        cuts = range(len(axes) + 1)
        cut = min(cuts, key=lambda i: self._cells(axes[:i]) + self._cells(axes[i:]))
        return axes[:cut], axes[cut:]

    def _tabulate(self, slot: int, axes: Sequence[int], start: int) -> int:
        """Makes a table of where a tensor has its cells, over `axes`, and returns where it begins.

        An axis that the tensor lacks moves nothing.
        """
        strides = self._strides(slot)
        table = np.full(1, start, dtype=self._tables[0].dtype)
        for x in axes:
            steps = strides.get(x, 0) * np.arange(self._sizes[x])
            table = np.add.outer(table, steps.astype(table.dtype)).ravel()
        begin = self._tabled
        self._tables.append(table)
        self._tabled += len(table)
        return begin


def _last_run(axes: Sequence[int], left: Set[int], right: Set[int], out: Set[int]) -> list[int]:
    """The last of `axes` that are in the same ones of the three tensors."""
    run: list[int] = []
    for x in reversed(axes):
        if run and (x in left, x in right, x in out) != (run[0] in left, run[0] in right, run[0] in out):
            break
        run.insert(0, x)
    return run
