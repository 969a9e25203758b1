"""Small steps of a program as compiled loops over one vector, forward and in reverse.

A step is out[b, r, c] = sum over s of left[b, r, s] * right[b, s, c]. Each of b, r, s and c stands for some axes: those
of all three tensors, those of the left one that stay, those that are summed, those of the right one that stay. The
place of a cell is a sum of one offset for each, so that tables of offsets do for any order of axes: nothing is moved.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from counterfoil.compiled import compiled
from counterfoil.graphical_model.elimination import Step
from counterfoil.graphical_model.propagation import LARGEST_DERIVATIVE, LARGEST_ENTRY, LOST_ENTRY, SMALLEST_ENTRY
from counterfoil.graphical_model.tensor_product import Axes

_ANYWHERE, _SIDE_BY_SIDE, _SPREAD = 0, 1, 2
"""Kinds of loops: the cells of c lie anywhere; side by side in `right` and `out`; `left` is spread over `right`, whose
cells are c all together and lie side by side in each r of `out`."""


class CompiledSteps:
    """Where tensors lie in one vector, and the loops over them.

    Args:
        sizes: of all axes.
        axes: of the tensors that are in the vector, by slot, in the order in which they lie there.
        steps: in the order in which they run; all their tensors are in `axes`.

    Attributes:
        values: float64, the tensors; the last cell is 1, the right side of a step that only sums.
        places: of the tensors in it, by slot.
        tables: views of them.
        derivatives: the same for the derivatives of the reverse sweep.
        log_factors: by step, the logarithm of what its tensor was multiplied with.
    """

    def __init__(self, sizes: Sequence[int], axes: Mapping[int, Axes], steps: Sequence[Step]) -> None:
        shapes = {slot: tuple(sizes[x] for x in names) for slot, names in axes.items()}
        ends = list(accumulate((math.prod(shape) for shape in shapes.values()), initial=0))
        self.places = {slot: slice(*ends[i : i + 2]) for i, slot in enumerate(shapes)}
        self.values, self._above = np.ones(ends[-1] + 1), np.zeros(ends[-1] + 1)
        self.tables = {slot: self.values[self.places[slot]].reshape(shape) for slot, shape in shapes.items()}
        self.derivatives = {slot: self._above[self.places[slot]].reshape(shape) for slot, shape in shapes.items()}
        self.log_factors = np.zeros(len(steps))
        layout = _Layout(sizes, {**self.places, -1: slice(ends[-1], ends[-1] + 1)})
        described = [layout.describe(step) for step in steps]
        self._steps = [np.array(part, dtype=np.int64) for part in zip(*described, strict=True)]
        self._offsets = layout.offsets

    def forward(self, first: int, last: int) -> bool:
        """Computes the tensors of the steps first .. last - 1; False where one of them kept too few digits."""
        return bool(_forward(self.values, self.log_factors, first, last, *self._steps, self._offsets))

    def reverse(self, first: int, last: int) -> bool:
        """The derivatives of what went into these steps, from those of what came out; False where one is too large."""
        return bool(_reverse(self.values, self._above, self.log_factors, first, last, *self._steps, self._offsets))


class _Layout:
    """Steps in numbers, as the loops read them, and the tables of offsets.

    Args:
        sizes: of all axes.
        places: of the tensors, by slot; that of the single 1 is -1.
    """

    def __init__(self, sizes: Sequence[int], places: Mapping[int, slice]) -> None:
        self._sizes, self._places = sizes, places
        self._tables = [np.zeros(0, dtype=np.int32 if places[-1].stop < 2**31 else np.int64)]
        self._end = 0

    @property
    def offsets(self) -> NDArray[np.integer]:
        """All tables, one after the other."""
        return np.concatenate(self._tables)

    def describe(self, step: Step) -> tuple[int, list[int], list[int], list[int]]:
        """The kind of loop; the sizes of b, r, s and c; where left, right and out lie; where their tables begin."""
        left, right, out = step.left_axes, step.right_axes, step.out_axes
        batch = tuple(x for x in out if x in left and x in right)
        rows = tuple(x for x in out if x not in right)
        summed = tuple(x for x in left if x not in out)
        columns = tuple(x for x in out if x not in left)
        kind, n = _ANYWHERE, len(columns)
        if right and not summed and out[len(rows) :] == right:
            kind, batch, columns = _SPREAD, (), right
        elif n and right[-n:] == columns == out[-n:]:
            kind = _SIDE_BY_SIDE
        numbers = [math.prod(self._sizes[x] for x in part) for part in (batch, rows, summed, columns)]
        places = [self._places[slot] for slot in (step.left, step.right, step.out)]
        # Cells that lie side by side, or that a tensor has one of, need no table.
        of_left, of_others = (columns if kind == _SPREAD else ()), (columns if kind == _ANYWHERE else ())
        tables = [
            *self._tabulate(step.left, left, (batch, rows, summed, of_left)),
            *self._tabulate(step.right, right, (batch, summed, of_others)),
            *self._tabulate(step.out, out, (batch, rows, of_others)),
        ]
        return kind, numbers, [end for place in places for end in (place.start, place.stop)], tables

    def _tabulate(self, slot: int, axes: Axes, parts: Sequence[Axes]) -> list[int]:
        """Where the tables of a tensor begin, one for each part; those of the first part count from the vector's start.

        An axis that the tensor lacks moves nothing.
        """
        strides = {x: math.prod(self._sizes[y] for y in axes[i + 1 :]) for i, x in enumerate(axes)}
        start, begins = self._places[slot].start, []
        for part in parts:
            table = np.full(1, start, dtype=self._tables[0].dtype)
            for x in part:
                steps = strides.get(x, 0) * np.arange(self._sizes[x])
                table = np.add.outer(table, steps.astype(table.dtype)).ravel()
            begins.append(self._end)
            self._tables.append(table)
            self._end += len(table)
            start = 0
        return begins


@compiled
def _forward(values, log_factors, first, last, kinds, sizes, places, tables, at):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The products, each rescaled where it is very large or very small."""
    for step in range(first, last):
        if kinds[step] == _SPREAD:
            _spread(values, sizes[step], tables[step], at)
        else:
            _multiply(values, sizes[step], tables[step], at, kinds[step] == _SIDE_BY_SIDE)
        out = values[places[step, 4] : places[step, 5]]
        peak = out.max()
        if not peak > LOST_ENTRY:
            return False
        log_factors[step] = 0.0
        if not SMALLEST_ENTRY < peak < LARGEST_ENTRY:
            log_factors[step] = -np.log(peak)
            out *= 1.0 / peak
    return True


@compiled
def _spread(values, sizes, tables, at):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """out[r, c] = left[r, c] * right[c], where left is the same for many of the c."""
    lb, lr, _, lc, rb, _, _, ob, om, _ = tables
    n = sizes[3]
    right = values[at[rb] : at[rb] + n]
    for r in range(sizes[1]):
        left, start = at[lb] + at[lr + r], at[ob] + at[om + r]
        out = values[start : start + n]
        for c in range(n):
            out[c] = values[left + at[lc + c]] * right[c]


@compiled
def _multiply(values, sizes, tables, at, side_by_side):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """out[b, r, c] = sum over s of left[b, r, s] * right[b, s, c]."""
    n_batch, n_rows, n_summed, n_columns = sizes
    lb, lr, ls, _, rb, rs, rc, ob, om, oc = tables
    for b in range(n_batch):
        for r in range(n_rows):
            left, right, out = at[lb + b] + at[lr + r], at[rb + b], at[ob + b] + at[om + r]
            if n_columns == 1:
                total = 0.0
                for s in range(n_summed):
                    total += values[left + at[ls + s]] * values[right + at[rs + s]]
                values[out] = total
            elif side_by_side:
                row = values[out : out + n_columns]
                row[:] = 0.0
                for s in range(n_summed):
                    weight, start = values[left + at[ls + s]], right + at[rs + s]
                    other = values[start : start + n_columns]
                    for c in range(n_columns):
                        row[c] += weight * other[c]
            else:
                for s in range(n_summed):
                    weight, start = values[left + at[ls + s]], right + at[rs + s]
                    for c in range(n_columns):
                        term = weight * values[start + at[rc + c]]
                        values[out + at[oc + c]] = term if s == 0 else values[out + at[oc + c]] + term


@compiled
def _reverse(values, above, log_factors, first, last, kinds, sizes, places, tables, at):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """The derivatives of left and right, of which each goes into one step only: they are those by this step."""
    for step in range(last - 1, first - 1, -1):
        left, right = above[places[step, 0] : places[step, 1]], above[places[step, 2] : places[step, 3]]
        if log_factors[step] != 0.0:
            above[places[step, 4] : places[step, 5]] *= np.exp(log_factors[step])
        left[:] = 0.0
        right[:] = 0.0
        if kinds[step] == _SPREAD:
            _spread_back(values, above, sizes[step], tables[step], at)
        else:
            _multiply_back(values, above, sizes[step], tables[step], at, kinds[step] == _SIDE_BY_SIDE)
        for cell in range(len(left)):
            if not left[cell] < LARGEST_DERIVATIVE:
                return False
        for cell in range(len(right)):
            if not right[cell] < LARGEST_DERIVATIVE:
                return False
    return True


@compiled
def _spread_back(values, above, sizes, tables, at):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    lb, lr, _, lc, rb, _, _, ob, om, _ = tables
    n = sizes[3]
    right, right_above = values[at[rb] : at[rb] + n], above[at[rb] : at[rb] + n]
    for r in range(sizes[1]):
        left, start = at[lb] + at[lr + r], at[ob] + at[om + r]
        out_above = above[start : start + n]
        for c in range(n):
            cell = left + at[lc + c]
            right_above[c] += out_above[c] * values[cell]
            above[cell] += out_above[c] * right[c]


@compiled
def _multiply_back(values, above, sizes, tables, at, side_by_side):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    n_batch, n_rows, n_summed, n_columns = sizes
    lb, lr, ls, _, rb, rs, rc, ob, om, oc = tables
    for b in range(n_batch):
        for r in range(n_rows):
            out = at[ob + b] + at[om + r]
            for s in range(n_summed):
                cell, start = at[lb + b] + at[lr + r] + at[ls + s], at[rb + b] + at[rs + s]
                weight, total = values[cell], 0.0
                if side_by_side:
                    out_above, right_above = above[out : out + n_columns], above[start : start + n_columns]
                    right = values[start : start + n_columns]
                    for c in range(n_columns):
                        right_above[c] += out_above[c] * weight
                    for c in range(n_columns):
                        total += out_above[c] * right[c]
                else:
                    for c in range(n_columns):
                        given, place = above[out + at[oc + c]], start + at[rc + c]
                        above[place] += given * weight
                        total += given * values[place]
                above[cell] = total
