"""Belief propagation without clique tables: sums of products as matrix products, and their derivatives.

A program of products (elimination.py) gives the partition function; the table over a whole clique never exists, and a
cell of it costs a fraction of a nanosecond. Every marginal then comes from one reverse sweep: the derivative of the log
partition function with respect to a log potential is that factor's marginal (Darwiche, "A differential approach to
inference in Bayesian networks", 2003), and the reverse of a product is two products, so nothing is ever divided.

Numbers are kept in the probability domain, rescaled as they go. A reverse sweep certifies that what fell
below the smallest float could not matter; where it cannot, the same program runs on logarithms.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.graphical_model.elimination import Program, Step
from counterfoil.graphical_model.tensor_product import Table, TensorProduct, broadcast, spread

LARGEST_ENTRY, SMALLEST_ENTRY = 1e20, 1e-20
"""A message whose largest entry leaves this range is rescaled: rare enough to be free, far from overflow."""

LARGEST_DERIVATIVE = 1e200
"""An entry that fell below 1e-308 adds at most 1e-308 times its derivative (relative to the total)."""

LOST_ENTRY = 1e-200
"""A tensor whose largest entry is below this kept too few digits."""


class Underflow(Exception):
    """The probability domain's range was not enough."""


@dataclass(frozen=True)
class Calibration:
    """The results of one forward and one reverse sweep over a product of factors.

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
        self._forward: dict[int, TensorProduct | None] = {}
        self._reverse: dict[int, tuple[TensorProduct, TensorProduct]] = {}

    def calibrate(self, log_inputs: Sequence[Table]) -> Calibration:
        """Both sweeps, from log potentials over the program's inputs (-inf allowed).

        Raises ValueError where every combination of values has probability zero.
        """
        try:
            # An overflow is detected, and both sweeps are repeated in logarithms.
            with np.errstate(over="ignore", invalid="ignore"):
                return self._calibrate_real(log_inputs)
        except Underflow:
            return self._calibrate_log(log_inputs)

    def marginals(self, log_inputs: Sequence[Table]) -> tuple[float, list[Table]]:
        """Log partition function and the probability table of every input's axes, as new arrays."""
        return self._marginals(self.calibrate(log_inputs))

    def marginals_by_logarithms(self, log_inputs: Sequence[Table]) -> tuple[float, list[Table]]:
        """The same where it is known that the range of numbers was not enough."""
        return self._marginals(self._calibrate_log(log_inputs))

    def _marginals(self, calibration: Calibration) -> tuple[float, list[Table]]:
        tables = [calibration.probabilities(slot) for slot in range(self.program.n_inputs)]
        return calibration.log_partition, tables

    def forward(self, i: int, tables: Sequence[Table]) -> tuple[Table, float]:
        """The tensor that step `i` makes, and the logarithm of what it was multiplied with to stay in range.

        Raises:
            Underflow: where it kept too few digits.
        """
        table = self._applied(i, tables, logarithmic=False)
        return table, _rescale(table)

    def _applied(self, i: int, tables: Sequence[Table], *, logarithmic: bool) -> Table:
        step = self.program.steps[i]
        if i not in self._forward:
            self._forward[i] = _forward_product(self.program.sizes, step)
        right = tables[step.right] if step.right >= 0 else None
        return _apply(step, self._forward[i], tables[step.left], right, logarithmic=logarithmic)

    def reverse(self, i: int, above: Table, tables: Sequence[Table], derivatives: list[Table]) -> None:
        """Puts the derivatives of what went into step `i` in their slots, from that of what came out.

        Raises:
            Underflow: where one of them is so large that what fell below the smallest float may matter.
        """
        self._reversed(i, above, tables, derivatives, logarithmic=False)
        step = self.program.steps[i]
        if step.right >= 0:
            for slot in (step.left, step.right):
                if not derivatives[slot].max() < LARGEST_DERIVATIVE:
                    raise Underflow

    def _reversed(
        self, i: int, above: Table, tables: Sequence[Table], derivatives: list[Table], *, logarithmic: bool
    ) -> None:
        step, sizes = self.program.steps[i], self.program.sizes
        if step.right < 0:
            above = spread(above, broadcast(step.out_axes, step.left_axes, sizes))
            derivatives[step.left] = np.broadcast_to(above, tuple(sizes[x] for x in step.left_axes))
            return
        if i not in self._reverse:
            self._reverse[i] = (
                TensorProduct(sizes, step.out_axes, step.right_axes, step.left_axes),
                TensorProduct(sizes, step.out_axes, step.left_axes, step.right_axes),
            )
        for product, mine, other in zip(
            self._reverse[i], (step.left, step.right), (step.right, step.left), strict=True
        ):
            derivatives[mine] = (product.log if logarithmic else product.real)(above, tables[other])

    def _calibrate_real(self, log_inputs: Sequence[Table]) -> Calibration:
        tables, log_peaks = exponentials(log_inputs)
        log_factors = [0.0] * len(tables)
        for i in range(len(self.program.steps)):
            table, log_factor = self.forward(i, tables)
            tables.append(table)
            log_factors.append(log_factor)
        total = float(tables[self.program.output])
        derivatives: list[Table] = [np.empty(0)] * len(tables)
        derivatives[self.program.output] = np.asarray(1.0 / total)
        for i in reversed(range(len(self.program.steps))):
            out = self.program.steps[i].out
            factor = math.exp(log_factors[out])
            self.reverse(i, derivatives[out] if factor == 1.0 else derivatives[out] * factor, tables, derivatives)
        log_partition = log_peaks + math.log(total) - math.fsum(log_factors)
        return Calibration(log_partition, tables, derivatives, log_factors, logarithmic=False)

    def _calibrate_log(self, log_inputs: Sequence[Table]) -> Calibration:
        tables = [np.asarray(table, dtype=np.float64) for table in log_inputs]
        for i in range(len(self.program.steps)):
            tables.append(self._applied(i, tables, logarithmic=True))
        log_total = float(tables[self.program.output])
        if not math.isfinite(log_total):
            raise ValueError("Some combination of values must have a positive probability. Found none.")
        derivatives: list[Table] = [np.empty(0)] * len(tables)
        derivatives[self.program.output] = np.asarray(-log_total)
        for i in reversed(range(len(self.program.steps))):
            self._reversed(i, derivatives[self.program.steps[i].out], tables, derivatives, logarithmic=True)
        return Calibration(log_total, tables, derivatives, [0.0] * len(tables), logarithmic=True)


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
        except Underflow:
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


def multiplied(sizes: tuple[int, ...], step: Step, left: Table, right: Table | None) -> tuple[Table, float]:
    """What a step makes, as (table, log scale): the product is table * exp(log scale).

    Raises Underflow where all entries fell below the smallest float.
    """
    table = _apply(step, _forward_product(sizes, step), left, right, logarithmic=False)
    return table, -_rescale(table)


def _rescale(table: Table) -> float:
    """Divide a table in place by its largest entry if that is extreme; returns the log of what it was times."""
    peak = float(table.max())
    if not peak > LOST_ENTRY:
        raise Underflow
    if SMALLEST_ENTRY < peak < LARGEST_ENTRY:
        return 0.0
    table *= 1.0 / peak
    return -math.log(peak)


def _forward_product(sizes: tuple[int, ...], step: Step) -> TensorProduct | None:
    return TensorProduct(sizes, step.left_axes, step.right_axes, step.out_axes) if step.right >= 0 else None


def _apply(step: Step, product: TensorProduct | None, left: Table, right: Table | None, *, logarithmic: bool) -> Table:
    if product is not None and right is not None:
        return product.log(left, right) if logarithmic else product.real(left, right)
    gone = tuple(i for i, x in enumerate(step.left_axes) if x not in step.out_axes)
    if not logarithmic:
        return np.asarray(left.sum(axis=gone))
    for axis in reversed(gone):
        left = np.logaddexp.reduce(left, axis=axis)
    return np.asarray(left)


def exponentials(log_inputs: Sequence[Table]) -> tuple[list[Table], float]:
    """Inputs divided by their largest entries, and the logarithm of what was divided by."""
    scale = 0.0
    tables = []
    for table in log_inputs:
        peak = float(np.max(table))
        if not math.isfinite(peak):
            raise Underflow
        tables.append(np.exp(table - peak))
        scale += peak
    return tables, scale
