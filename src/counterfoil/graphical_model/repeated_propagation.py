"""Belief propagation for a program that runs again and again on new numbers, as a fit does.

Most steps of a program are small products, or many small ones side by side: what numpy does to begin with one, and to
move tensors to where it can, takes far longer than the product. Here the tensors of such steps lie in one vector, and
each uninterrupted run of them is one compiled loop over it (compiled_steps.py). The others stay products of matrices
(propagation.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from counterfoil.graphical_model.axis_order import axis_order, costs, most
from counterfoil.graphical_model.compiled_steps import CompiledSteps
from counterfoil.graphical_model.elimination import Program, Step
from counterfoil.graphical_model.propagation import Propagation, Underflow, exponentials
from counterfoil.graphical_model.tensor_product import Table

# Nanoseconds that numpy takes for a step, both sweeps together: once, for a batch, for a cell that is moved, and for a
# multiplication.
_NUMPY_STEP, _NUMPY_BATCH, _NUMPY_MOVED, _NUMPY_CELL = 30_000.0, 500.0, 3.0, 0.5

_NOTHING = np.empty(0)


class RepeatedPropagation:
    """A program made ready to run tens of times and more, on inputs of the same shapes.

    Args:
        program: that keeps nothing.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._large = Propagation(program)
        small, axes = _divided(program)
        self._runs, order = _schedule(program, small)
        steps = [program.steps[i] for i in order]
        slots = sorted({slot for step in steps for slot in (step.left, step.right, step.out) if slot >= 0})
        self._small = CompiledSteps(program.sizes, {slot: program.axes[slot] for slot in slots}, steps, axes)
        # Inputs come first among slots.
        self._inputs = [slot for slot in slots if slot < program.n_inputs]
        places = [self._small.places[slot] for slot in self._inputs]
        self._starts = np.array([place.start for place in places], dtype=np.int64)
        self._lengths = np.array([place.stop - place.start for place in places], dtype=np.int64)

    def marginals(self, log_inputs: Sequence[Table]) -> tuple[float, list[Table]]:
        """Log partition function and the probability table of every input's axes, as new arrays.

        Args:
            log_inputs: log potentials over the program's inputs (-inf allowed).

        Raises:
            ValueError: where every combination of values has probability zero.
        """
        try:
            # An overflow is detected, and both sweeps are repeated in logarithms.
            with np.errstate(over="ignore", invalid="ignore"):
                return self._sweeps(log_inputs)
        except Underflow:
            return self._large.marginals_by_logarithms(log_inputs)

    def _sweeps(self, log_inputs: Sequence[Table]) -> tuple[float, list[Table]]:
        tables, log_peaks = self._exponentials(log_inputs)
        log_factors = self._forward(tables)
        total = float(tables[self.program.output])
        log_partition = log_peaks + math.log(total) - math.fsum([*log_factors.values(), *self._small.log_factors])
        return log_partition, self._probabilities(tables, self._reverse(tables, 1.0 / total, log_factors))

    def _exponentials(self, log_inputs: Sequence[Table]) -> tuple[list[Table], float]:
        """All slots' tables, those of the inputs divided by their largest entries; the logarithm of what by."""
        tables = [self._small.tables.get(slot, _NOTHING) for slot in range(len(self.program.axes))]
        others = [slot for slot in range(self.program.n_inputs) if slot not in self._small.tables]
        made, log_peaks = exponentials([log_inputs[slot] for slot in others])
        for slot, table in zip(others, made, strict=True):
            tables[slot] = table
        if self._inputs:
            for slot in self._inputs:
                tables[slot][...] = log_inputs[slot]
            together = self._small.values[: self._lengths.sum()]
            peaks = np.maximum.reduceat(together, self._starts)
            if not np.isfinite(peaks).all():
                raise Underflow
            together -= np.repeat(peaks, self._lengths)
            np.exp(together, out=together)
            log_peaks += math.fsum(peaks)
        return tables, log_peaks

    def _forward(self, tables: list[Table]) -> dict[int, float]:
        """Fills in what the steps make. Returns, for large ones, the logarithm of what that was multiplied with."""
        log_factors = dict[int, float]()
        for run in self._runs:
            if isinstance(run, range):
                if not self._small.forward(run.start, run.stop):
                    raise Underflow
            else:
                table, log_factors[run] = self._large.forward(run, tables)
                _put(table, tables, self._small.tables, self.program.steps[run].out)
        return log_factors

    def _reverse(self, tables: Sequence[Table], last: float, log_factors: Mapping[int, float]) -> list[Table]:
        """The derivatives of all slots, from that of the output."""
        derivatives = [self._small.derivatives.get(slot, _NOTHING) for slot in range(len(tables))]
        _put(np.asarray(last), derivatives, self._small.derivatives, self.program.output)
        for run in reversed(self._runs):
            if isinstance(run, range):
                if not self._small.reverse(run.start, run.stop):
                    raise Underflow
            else:
                step = self.program.steps[run]
                factor, above = math.exp(log_factors[run]), derivatives[step.out]
                self._large.reverse(run, above if factor == 1.0 else above * factor, tables, derivatives)
                for slot in (step.left, step.right)[: 1 if step.right < 0 else 2]:
                    _put(derivatives[slot], derivatives, self._small.derivatives, slot)
        return derivatives

    def _probabilities(self, tables: Sequence[Table], derivatives: Sequence[Table]) -> list[Table]:
        return [tables[slot] * derivatives[slot] for slot in range(self.program.n_inputs)]


def _put(table: Table, all_tables: list[Table], in_vector: Mapping[int, Table], slot: int) -> None:
    """Makes it the table of a slot: in its place in the vector, where it has one."""
    if slot in in_vector:
        in_vector[slot][...] = table
        table = in_vector[slot]
    all_tables[slot] = table


def _divided(program: Program) -> tuple[list[bool], list[int]]:
    """Which steps are small, and the order of axes in which their tensors lie.

    A step is large where numpy, to which its tensors have to be moved, multiplies matrices faster than compiled loops
    do in that order. An order without the large ones is better for the others, and may leave more of them.
    """
    sizes, steps, small = program.sizes, program.steps, [True] * len(program.steps)
    by_numpy = [_numpy_cost(sizes, step) for step in steps]
    doubtful = [i for i, step in enumerate(steps) if by_numpy[i] < most(sizes, step)]
    while True:
        order = axis_order(sizes, [step for step, is_small in zip(steps, small, strict=True) if is_small])
        by_loops = costs(sizes, [steps[i] for i in doubtful], order)
        faster = [i for i, cost in zip(doubtful, by_loops.tolist(), strict=True) if by_numpy[i] < cost]
        if not faster:
            return small, order
        for i in faster:
            small[i] = False
        doubtful = [i for i in doubtful if small[i]]


def _numpy_cost(sizes: Sequence[int], step: Step) -> float:
    """Nanoseconds, roughly, of both sweeps; infinite where nothing is summed, which is no product of matrices."""
    left, right, out = ({*axes} for axes in (step.left_axes, step.right_axes, step.out_axes))
    if not (left & right) - out:
        return math.inf
    joint, *tensors = (math.prod(sizes[x] for x in axes) for axes in (left | right, left, right, out))
    batches = math.prod(sizes[x] for x in left & right & out)
    return _NUMPY_STEP + _NUMPY_BATCH * batches + _NUMPY_MOVED * sum(tensors) + _NUMPY_CELL * joint


def _schedule(program: Program, small: Sequence[bool]) -> tuple[list[range | int], list[int]]:
    """The steps in an order with long runs of small ones, each as soon as what goes into it is there.

    Args:
        program: whose steps are in one order that is possible.
        small: which of them are.

    Returns:
        the runs, each as the places of its steps among the small ones, and the large steps between; the small ones.
    """
    there = set(range(program.n_inputs))
    runs, order, waiting = list[range | int](), list[int](), list(range(len(program.steps)))

    def is_ready(i: int) -> bool:
        step = program.steps[i]
        return step.left in there and (step.right < 0 or step.right in there)

    while waiting:
        before = len(order)
        for i in waiting:
            if small[i] and is_ready(i):
                order.append(i)
                there.add(program.steps[i].out)
        if len(order) > before:
            runs.append(range(before, len(order)))
        done = set(order[before:])
        large = next((i for i in waiting if not small[i] and is_ready(i)), None)
        if large is not None:
            runs.append(large)
            there.add(program.steps[large].out)
            done.add(large)
        waiting = [i for i in waiting if i not in done]
    return runs, order
