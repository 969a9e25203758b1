"""Belief propagation without clique tables: sums of products as matrix products, and their derivatives.

Eliminating one attribute after another from a product of factors (Koller and Friedman, chapter 9) multiplies
the tensors that contain it and sums it out. With two tensors left, that step is a matrix product, so the
table over the whole clique never exists and costs a fraction of a nanosecond a cell. Every marginal then
comes from one reverse sweep: the derivative of the log partition function with respect to a log potential is
that factor's marginal (Darwiche, "A differential approach to inference in Bayesian networks", 2003), and the
reverse of a product is two products, so nothing is ever divided.

Numbers are kept in the probability domain, rescaled as they go. A reverse sweep certifies that what fell
below the smallest float could not matter; where it cannot, the same program runs on logarithms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numba
import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
Axes = tuple[int, ...]

# A batch of matrix products smaller than this (multiply-adds each) is faster as plain loops.
_SMALL_MATRIX_PRODUCT = 2000
# Rescale a message whose largest entry leaves this range: rare enough to be free, far from overflow.
_LARGEST, _SMALLEST = 1e20, 1e-20
# An entry that fell below 1e-308 adds at most 1e-308 times its derivative (relative to the total).
_LARGEST_DERIVATIVE = 1e200
# A tensor whose largest entry is below this kept too few digits.
_LOST = 1e-200


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
        if batch == 1 or cells >= batch * _SMALL_MATRIX_PRODUCT:
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


class _Product:
    """out = sum of a * b over the axes absent from out; the memory is allocated once and used again."""

    def __init__(self, sizes: tuple[int, ...], a: Axes, b: Axes, out: Axes) -> None:
        self.summed = tuple(x for x in a if x in b and x not in out)
        batch = tuple(x for x in out if x in a and x in b)
        rows = tuple(x for x in out if x not in b)
        columns = tuple(x for x in out if x not in a)
        shape = [tuple(sizes[x] for x in part) for part in (batch, rows, self.summed, columns)]
        n_batch, n_rows, n_summed, n_columns = (math.prod(part) for part in shape)
        self.a_order = tuple(a.index(x) for x in batch + rows + self.summed)
        self.b_order = tuple(b.index(x) for x in batch + self.summed + columns)
        self.a_shape, self.b_shape = (n_batch, n_rows, n_summed), (n_batch, n_summed, n_columns)
        self.as_matrices = n_batch == 1 or n_rows * n_summed * n_columns >= _SMALL_MATRIX_PRODUCT
        if self.summed:
            natural = batch + rows + columns
            self.buffer = np.empty((n_batch, n_rows, n_columns))
            self.out_shape = shape[0] + shape[1] + shape[3]
        else:
            natural = out
            self.out_shape = tuple(sizes[x] for x in out)
            self.buffer = np.empty(self.out_shape)
            self.a_broadcast = _broadcast(a, out, sizes)
            self.b_broadcast = _broadcast(b, out, sizes)
        self.out_order = tuple(natural.index(x) for x in out)

    def real(self, a: Table, b: Table) -> Table:
        if not self.summed:
            np.multiply(_spread(a, self.a_broadcast), _spread(b, self.b_broadcast), out=self.buffer)
            return self.buffer
        a, b = self._matrices(a, b)
        if self.as_matrices:
            np.matmul(a, b, out=self.buffer)
        else:
            _small_products(np.ascontiguousarray(a), np.ascontiguousarray(b), self.buffer)
        return self.buffer.reshape(self.out_shape).transpose(self.out_order)

    def log(self, a: Table, b: Table) -> Table:
        """The same with logarithms in and out; slower, and safe for any range."""
        if not self.summed:
            return _spread(a, self.a_broadcast) + _spread(b, self.b_broadcast)
        a, b = self._matrices(a, b)
        total = np.full(self.buffer.shape, -np.inf)
        for k in range(a.shape[2]):
            np.logaddexp(total, a[:, :, k, None] + b[:, k, None, :], out=total)
        return total.reshape(self.out_shape).transpose(self.out_order)

    def _matrices(self, a: Table, b: Table) -> tuple[Table, Table]:
        a = a.transpose(self.a_order).reshape(self.a_shape)
        b = b.transpose(self.b_order).reshape(self.b_shape)
        return a, b


@numba.njit(cache=True, nogil=True)
def _small_products(a: Table, b: Table, out: Table) -> None:  # pragma: no cover - compiled
    """out[i] = a[i] @ b[i], all C-contiguous."""
    n_batch, n_rows, n_summed = a.shape
    n_columns = b.shape[2]
    for i in range(n_batch):
        for m in range(n_rows):
            if n_columns == 1:
                total = 0.0
                for k in range(n_summed):
                    total += a[i, m, k] * b[i, k, 0]
                out[i, m, 0] = total
            else:
                for n in range(n_columns):
                    out[i, m, n] = a[i, m, 0] * b[i, 0, n]
                for k in range(1, n_summed):
                    weight = a[i, m, k]
                    for n in range(n_columns):
                        out[i, m, n] += weight * b[i, k, n]


def _broadcast(axes: Axes, out: Axes, sizes: tuple[int, ...]) -> tuple[Axes, Axes]:
    order = tuple(axes.index(x) for x in out if x in axes)
    return order, tuple(sizes[x] if x in axes else 1 for x in out)


def _spread(table: Table, how: tuple[Axes, Axes]) -> Table:
    order, shape = how
    return table.transpose(order).reshape(shape)


class _Underflow(Exception):
    """The probability domain's range was not enough."""


@dataclass(frozen=True)
class Calibration:
    """What one forward and one reverse sweep know about a product of factors.

    `tables[slot]` and `derivatives[slot]` have the axes of that slot of the program: their product is the
    probability table of those axes. Both are logarithms (and their sum is) where `logarithmic`.
    `log_factors[slot]` is the logarithm of what that slot's tensor was multiplied with on the way.
    """

    log_partition: float
    tables: list[Table]
    derivatives: list[Table]
    log_factors: list[float]
    logarithmic: bool

    def probabilities(self, slot: int) -> Table:
        """The marginal of one slot's axes; sums to 1."""
        if self.logarithmic:
            return np.exp(self.tables[slot] + self.derivatives[slot])
        return self.tables[slot] * self.derivatives[slot]


class Propagation:
    """A program that keeps nothing, made ready to run again and again on new inputs of the same shapes.

    The memory of intermediate tensors is used again: a `Calibration` is valid until the next call.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        sizes = program.sizes
        self._forward = [_forward_product(sizes, step) for step in program.steps]
        self._reverse = [
            (
                _Product(sizes, s.out_axes, s.right_axes, s.left_axes),
                _Product(sizes, s.out_axes, s.left_axes, s.right_axes),
            )
            if s.right >= 0
            else None
            for s in program.steps
        ]

    def calibrate(self, log_inputs: Sequence[Table]) -> Calibration:
        """Both sweeps, from log potentials over the program's inputs (-inf allowed).

        Raises ValueError where every combination of values has probability zero.
        """
        try:
            # What overflows is noticed, and computed again in logarithms.
            with np.errstate(over="ignore", invalid="ignore"):
                return self._calibrate_real(log_inputs)
        except _Underflow:
            return self._calibrate_log(log_inputs)

    def marginals(self, log_inputs: Sequence[Table]) -> tuple[float, list[Table]]:
        """Log partition function and the probability table of every input's axes, as new arrays."""
        calibration = self.calibrate(log_inputs)
        found = [calibration.probabilities(slot) for slot in range(self.program.n_inputs)]
        return calibration.log_partition, found

    def _calibrate_real(self, log_inputs: Sequence[Table]) -> Calibration:
        tables, log_peaks = _exponentials(log_inputs)
        log_factors = [0.0] * len(tables)
        for step, product in zip(self.program.steps, self._forward, strict=True):
            right = tables[step.right] if step.right >= 0 else None
            table = _apply(step, product, tables[step.left], right, logarithmic=False)
            log_factors.append(_rescale(table))
            tables.append(table)
        total = float(tables[self.program.output])
        derivatives: list[Table] = [np.empty(0)] * len(tables)
        derivatives[self.program.output] = np.asarray(1.0 / total)
        for i in reversed(range(len(self.program.steps))):
            out = self.program.steps[i].out
            factor = math.exp(log_factors[out])
            above = derivatives[out] if factor == 1.0 else derivatives[out] * factor
            self._reverse_step(i, above, tables, derivatives, False)
        log_partition = log_peaks + math.log(total) - math.fsum(log_factors)
        return Calibration(log_partition, tables, derivatives, log_factors, logarithmic=False)

    def _calibrate_log(self, log_inputs: Sequence[Table]) -> Calibration:
        tables = [np.asarray(table, dtype=np.float64) for table in log_inputs]
        for step, product in zip(self.program.steps, self._forward, strict=True):
            right = tables[step.right] if step.right >= 0 else None
            tables.append(_apply(step, product, tables[step.left], right, logarithmic=True))
        log_total = float(tables[self.program.output])
        if not math.isfinite(log_total):
            raise ValueError("Some combination of values must have a positive probability. Found none.")
        derivatives: list[Table] = [np.empty(0)] * len(tables)
        derivatives[self.program.output] = np.asarray(-log_total)
        for i in reversed(range(len(self.program.steps))):
            self._reverse_step(i, derivatives[self.program.steps[i].out], tables, derivatives, True)
        return Calibration(log_total, tables, derivatives, [0.0] * len(tables), logarithmic=True)

    def _reverse_step(
        self, i: int, above: Table, tables: list[Table], derivatives: list[Table], logarithmic: bool
    ) -> None:
        step, pair = self.program.steps[i], self._reverse[i]
        if pair is None:
            sizes = self.program.sizes
            spread = _spread(above, _broadcast(step.out_axes, step.left_axes, sizes))
            derivatives[step.left] = np.broadcast_to(spread, tuple(sizes[x] for x in step.left_axes))
        elif logarithmic:
            derivatives[step.left] = pair[0].log(above, tables[step.right])
            derivatives[step.right] = pair[1].log(above, tables[step.left])
        else:
            derivatives[step.left] = pair[0].real(above, tables[step.right])
            derivatives[step.right] = pair[1].real(above, tables[step.left])
            for slot in (step.left, step.right):
                if not derivatives[slot].max() < _LARGEST_DERIVATIVE:
                    raise _Underflow


def evaluate(program: Program, inputs: Sequence[Table]) -> tuple[Table, float]:
    """The program's output for these inputs, as (table, log scale): the product is table * exp(log scale).

    Axes are in the order of the program's output. Too small an output comes back as zeros.
    """
    tables = dict(enumerate(inputs))
    log_scale = 0.0
    for step in program.steps:
        left, right = tables.pop(step.left), tables.pop(step.right, None)
        table = _apply(step, _forward_product(program.sizes, step), left, right, logarithmic=False)
        try:
            log_scale -= _rescale(table)
        except _Underflow:
            return np.zeros([program.sizes[x] for x in program.axes[program.output]]), 0.0
        tables[step.out] = table
    return tables[program.output], log_scale


def evaluate_logarithms(program: Program, log_inputs: Sequence[Table]) -> Table:
    """Logarithm of the program's output, from logarithms of its inputs: slow, and safe for any range."""
    tables = dict(enumerate(log_inputs))
    for step in program.steps:
        left, right = tables.pop(step.left), tables.pop(step.right, None)
        product = _forward_product(program.sizes, step)
        tables[step.out] = _apply(step, product, left, right, logarithmic=True)
    return tables[program.output]


def _rescale(table: Table) -> float:
    """Divide a table in place by its largest entry if that is extreme; returns the log of what it was times."""
    peak = float(table.max())
    if not peak > _LOST:
        raise _Underflow
    if _SMALLEST < peak < _LARGEST:
        return 0.0
    table *= 1.0 / peak
    return -math.log(peak)


def _forward_product(sizes: tuple[int, ...], step: Step) -> "_Product | None":
    return _Product(sizes, step.left_axes, step.right_axes, step.out_axes) if step.right >= 0 else None


def _apply(step: Step, product: "_Product | None", left: Table, right: Table | None, *, logarithmic: bool) -> Table:
    if product is not None and right is not None:
        return product.log(left, right) if logarithmic else product.real(left, right)
    gone = tuple(i for i, x in enumerate(step.left_axes) if x not in step.out_axes)
    if not logarithmic:
        return np.asarray(left.sum(axis=gone))
    for axis in reversed(gone):
        left = np.logaddexp.reduce(left, axis=axis)
    return np.asarray(left)


def _exponentials(log_inputs: Sequence[Table]) -> tuple[list[Table], float]:
    """Inputs divided by their largest entries, and the logarithm of what was divided by."""
    scale = 0.0
    tables = []
    for table in log_inputs:
        peak = float(np.max(table))
        if not math.isfinite(peak):
            raise _Underflow
        tables.append(np.exp(table - peak))
        scale += peak
    return tables, scale
