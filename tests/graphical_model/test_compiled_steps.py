"""Single steps of a program in compiled loops, in any order of axes, beside numpy's sums of products."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.graphical_model import axis_order as orders
from counterfoil.graphical_model.axis_order import axis_order, costs
from counterfoil.graphical_model.compiled_loops import BOTH, DOT, MATRIX, SUM
from counterfoil.graphical_model.compiled_steps import CompiledSteps
from counterfoil.graphical_model.elimination import Step
from counterfoil.graphical_model.propagation import LARGEST_DERIVATIVE

KINDS = {BOTH, MATRIX, DOT, SUM}


def random_step(rng):
    """Axes of up to 6 values, each in two tensors or in all three; one step of five sums a tensor alone."""
    sizes = tuple(rng.integers(1, 7, rng.integers(0, 6)).tolist())
    alone = rng.random() < 0.2
    # Bits: in left, in right, in out.
    having = rng.choice([1, 5] if alone else [3, 5, 6, 7], len(sizes))
    left, right, out = (tuple(rng.permutation(np.flatnonzero(having & bit)).tolist()) for bit in (1, 2, 4))
    return sizes, Step(0, -1 if alone else 1, 2, left, right, out)


def steps_in_order(sizes, step, order):
    """Compiled steps whose tensors lie in a given order of axes."""
    axes = {0: step.left_axes, 1: step.right_axes, 2: step.out_axes}
    if step.right < 0:
        del axes[1]
    return CompiledSteps(sizes, axes, [step], order)


def summed(one, axes_one, other, axes_other, axes_out):
    return np.einsum(one, list(axes_one), other, list(axes_other), list(axes_out))


@given(seed=st.integers(0, 2**32), data=st.data())
@settings(max_examples=300, deadline=None)
def test_a_step_and_its_derivatives_are_sums_of_products_in_any_order_of_axes(seed, data):
    rng = np.random.default_rng(seed)
    sizes, step = random_step(rng)
    made = steps_in_order(sizes, step, data.draw(st.permutations(range(len(sizes)))))
    for slot in (0, 1) if step.right >= 0 else (0,):
        made.tables[slot][...] = rng.random(made.tables[slot].shape) + 0.1
    left, right = made.tables[0], made.tables.get(1, np.ones(()))
    above = rng.random(made.tables[2].shape)
    for _ in range(2):  # nothing of the first run is left in the second
        assert made.forward(0, 1)
        expected = summed(left, step.left_axes, right, step.right_axes, step.out_axes)
        np.testing.assert_allclose(made.tables[2], expected, rtol=1e-12)
        made.derivatives[2][...] = above
        assert made.reverse(0, 1)
        # What is summed of one tensor alone has the same derivative everywhere.
        ones = np.ones(left.shape)
        spread = np.einsum(
            above, list(step.out_axes), right, list(step.right_axes), ones, list(step.left_axes), list(step.left_axes)
        )
        np.testing.assert_allclose(made.derivatives[0], spread, rtol=1e-12)
        if step.right >= 0:
            other = summed(above, step.out_axes, left, step.left_axes, step.right_axes)
            np.testing.assert_allclose(made.derivatives[1], other, rtol=1e-12)


def test_random_steps_are_of_every_kind_and_some_are_products_of_matrices():
    kinds, matrices = set(), set()
    for seed in range(300):
        sizes, step = random_step(np.random.default_rng(seed))
        numbers = steps_in_order(sizes, step, list(range(len(sizes))))._steps[0][0].tolist()
        kinds.add(numbers[0])
        matrices |= {numbers[0]} if min(numbers[7:9]) > 1 else set()
    assert kinds == KINDS
    assert matrices == {MATRIX, DOT}


def test_a_tensor_that_lost_its_digits_and_a_derivative_too_large_or_no_number_are_refused():
    step = Step(0, 1, 2, (0, 1), (1, 2), (0, 2))
    made = steps_in_order((5, 6, 7), step, [0, 1, 2])
    made.tables[0][...], made.tables[1][...] = 1e-150, 1e-150
    assert not made.forward(0, 1)
    for wrong in (np.inf, np.nan):
        made.tables[0][...] = made.tables[1][...] = 1.0
        made.tables[1][2, 3] = wrong
        assert not made.forward(0, 1)
    made.tables[0][...] = made.tables[1][...] = 1.0
    assert made.forward(0, 1)
    for wrong in (LARGEST_DERIVATIVE * 2, np.inf, np.nan, -np.nan):
        for cell in ((0, 0), (4, 6)):
            made.derivatives[2][...] = 1.0
            assert made.reverse(0, 1)
            made.derivatives[2][...] = 1.0
            made.derivatives[2][cell] = wrong
            assert not made.reverse(0, 1)


def test_products_far_from_one_are_rescaled_and_derivatives_with_them():
    step = Step(0, 1, 2, (0,), (0,), (0,))
    made = steps_in_order((3,), step, [0])
    made.tables[0][...], made.tables[1][...] = [1e15, 2e15, 4e15], 1e15
    assert made.forward(0, 1)
    np.testing.assert_allclose(made.tables[2], [0.25, 0.5, 1.0], rtol=1e-12)
    assert made.log_factors[0] == pytest.approx(-math.log(4e30))
    made.derivatives[2][...] = 1.0
    assert made.reverse(0, 1)
    np.testing.assert_allclose(made.derivatives[0], 1e15 / 4e30, rtol=1e-12)


def random_program(rng):
    """Sizes of five axes, and four steps of any kinds."""
    steps = []
    for _ in range(4):
        having = rng.choice([0, 3, 5, 6, 7], 5)
        steps.append(Step(0, 1, 2, *(tuple(np.flatnonzero(having & bit).tolist()) for bit in (1, 2, 4))))
    return tuple(rng.integers(2, 12, 5).tolist()), steps


def test_orders_that_are_found_are_nearly_the_best_of_all(monkeypatch):
    monkeypatch.setattr(orders, "_WORTH_A_START", 1.0)
    found, best, worst = [], [], []
    for seed in range(30):
        sizes, steps = random_program(np.random.default_rng(seed))
        order = axis_order(sizes, steps)
        assert sorted(order) == list(range(5))
        every = [costs(sizes, steps, other).sum() for other in itertools.permutations(range(5))]
        found.append(costs(sizes, steps, order).sum())
        best.append(min(every))
        worst.append(max(every))
    assert np.median(np.array(found) / best) <= 1.01
    assert np.max(np.array(found) / best) <= 1.5
    assert np.median(np.array(worst) / best) > 3.0, "orders differ"
