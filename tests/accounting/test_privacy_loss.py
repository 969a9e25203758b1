"""Distributions of the loss, mass by mass, against rational arithmetic and many digits."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.accounting.privacy_loss import LossAtoms, LossGrid, compose

UNIT = Fraction(1, 2**53)
masses = st.lists(st.one_of(st.just(0.0), st.floats(1e-250, 1.0)), min_size=1, max_size=12).filter(any).map(np.array)
steps = st.integers(-30, 1).map(lambda power: 2.0**power)


def delta_at(losses, weights, epsilon, infinite=0):
    """The delta of masses, with the digits in force."""
    losses = [mpmath.mpf(float(loss)) for loss in losses]
    weights = [mpmath.mpf(float(weight)) for weight in weights]
    pairs = zip(losses, weights, strict=True)
    return infinite + mpmath.fsum(w * max(mpmath.mpf(0), -mpmath.expm1(epsilon - loss)) for loss, w in pairs)


def losses_of(grid):
    return (grid.first + np.arange(len(grid.masses))) * grid.step


def raised(roundings):
    """How far masses with so many roundings can be below."""
    return (1 - mpmath.mpf(2) ** -53) ** -roundings


@pytest.mark.parametrize("epsilon", [1e-6, 0.3, 5.0, 40.0, 800.0])
@pytest.mark.parametrize("count", [1, 2, 31, 500])
def test_masses_of_randomized_response_are_within_their_roundings(epsilon, count):
    atoms = LossAtoms.randomized_response(epsilon, count)
    with mpmath.workdps(80):
        keep = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
        for j in range(count + 1):
            true = mpmath.binomial(count, j) * keep**j * (1 - keep) ** (count - j)
            assert atoms.masses[j] * raised(atoms.roundings) + mpmath.mpf(2) ** -1000 >= true
            assert atoms.masses[j] <= true * raised(atoms.roundings) + mpmath.mpf(2) ** -1000
            assert atoms.losses[j] >= (2 * j - count) * mpmath.mpf(epsilon)
            assert atoms.losses[j] <= (2 * j - count) * mpmath.mpf(epsilon) + count * epsilon * 1e-14


@pytest.mark.parametrize("mu", [1e-9, 0.01, 1.0, 8.0, 100.0])
@pytest.mark.parametrize("tail", [1e-12, 1e-40])
def test_gaussian_atoms_are_above_the_exact_curve_and_close(mu, tail):
    atoms = LossAtoms.gaussian(mu, tail)
    for z in (-4.0, -1.0, 0.0, 0.5, 3.0, 6.0):
        with mpmath.workdps(40):
            m = mpmath.mpf(mu)
            epsilon = m * (m / 2 + mpmath.mpf(z) + mpmath.mpf(1) / 300)
            true = mpmath.ncdf(-epsilon / m + m / 2) - mpmath.exp(epsilon) * mpmath.ncdf(-epsilon / m - m / 2)
            found = delta_at(atoms.losses, atoms.masses, epsilon, atoms.infinite)
            assert found * raised(atoms.roundings) >= true
            assert found <= true * (1.001 + mu / 256 + mu**2 / 98000) + 2 * tail


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-8.0, 8.0), min_size=1, max_size=8, unique=True), st.randoms(), steps)
def test_splitting_atoms_over_a_grid_covers_them(losses, random, step):
    losses = np.array(sorted(losses))
    if (losses[-1] - losses[0]) / step > 1e5:
        step = 2.0**-12
    weights = np.array([random.uniform(1e-3, 1.0) for _ in losses])
    grid = LossGrid.of(LossAtoms(losses, weights, 0.0, 0), step)
    present = np.flatnonzero(grid.masses)
    with mpmath.workdps(40):
        for epsilon in [*losses, *(losses - step / 3), *(losses_of(grid)[present] - step / 7), -10.0]:
            epsilon = mpmath.mpf(float(epsilon))
            found = delta_at(losses_of(grid)[present], grid.masses[present], epsilon)
            true = delta_at(losses, weights, epsilon)
            assert found * raised(grid.roundings) >= true
            assert found <= delta_at(losses + step, weights, epsilon) * (1 + mpmath.mpf(10) ** -9)


@settings(max_examples=60, deadline=None)
@given(masses, st.integers(-20, 20), steps)
def test_doubling_the_step_covers(weights, first, step):
    grid = LossGrid(step, first, weights, 0.0, 0)
    coarse = grid.coarsened(4 * step)
    assert coarse.step == 4 * step
    assert coarse.masses.sum() == pytest.approx(weights.sum())
    with mpmath.workdps(40):
        for index in range(first - 5, first + len(weights) + 1):
            for part in (0.0, 0.3):
                epsilon = (index + mpmath.mpf(part)) * mpmath.mpf(step)
                true = delta_at(losses_of(grid), weights, epsilon)
                found = delta_at(losses_of(coarse), coarse.masses, epsilon)
                assert found * raised(coarse.roundings) >= true
                assert found <= delta_at(losses_of(grid) + 3 * step, weights, epsilon) * (1 + mpmath.mpf(10) ** -9)


@settings(max_examples=60, deadline=None)
@given(masses, masses, st.integers(-9, 9), st.integers(0, 1000))
def test_every_mass_of_a_convolution_is_within_its_roundings(one, other, first, roundings):
    """Small masses beside large ones, too: the error is relative to each."""
    grid = LossGrid(0.5, first, one, 1e-9, roundings).convolved(LossGrid(0.5, 3, other, 1e-8, 7))
    assert (grid.first, len(grid.masses)) == (first + 3, len(one) + len(other) - 1)
    assert grid.infinite >= 1e-9
    added = grid.roundings - roundings - 7
    for index, mass in enumerate(grid.masses):
        pairs = [(i, index - i) for i in range(len(one)) if 0 <= index - i < len(other)]
        exact = sum(Fraction(float(one[i])) * Fraction(float(other[j])) for i, j in pairs)
        assert Fraction(float(mass)) >= exact * (1 - UNIT) ** added - Fraction(1, 2**1000)
        assert Fraction(float(mass)) <= exact * (1 + UNIT) ** added + Fraction(1, 2**1000)


@given(masses, st.floats(0.0, 1.0))
def test_trimming_moves_masses_up_and_no_more_than_was_said(weights, tail):
    grid = LossGrid(1.0, 5, weights, 0.0, 0).trimmed(tail)
    assert len(grid.masses) >= 1
    assert 0 <= grid.infinite <= tail
    whole = np.array([*np.zeros(grid.first - 5), *grid.masses])
    for index in range(len(weights) + 1):
        kept = math.fsum(whole[index:]) + grid.infinite
        assert kept >= math.fsum(weights[index:]) * (1 - 1e-15)
        assert kept <= math.fsum(weights[index:]) * (1 + 1e-14) + 2 * tail


@settings(max_examples=60, deadline=None)
@given(masses, st.integers(-12, 4), st.integers(-8, 1), st.floats(1e-6, 0.9))
def test_the_smallest_epsilon_is_enough_and_hardly_too_large(weights, first, power, part):
    grid = LossGrid(2.0**power, first, weights, 0.0, 0)
    delta = part * float(weights.sum())
    epsilon = grid.smallest_epsilon(delta)
    with mpmath.workdps(40):
        assert delta_at(losses_of(grid), weights, mpmath.mpf(epsilon)) <= delta
        if epsilon > 0 and grid.step < 0.1:
            assert delta_at(losses_of(grid), weights, mpmath.mpf(epsilon - 2 * grid.step**2) - 1e-9) > delta


def test_an_infinite_loss_larger_than_delta_has_no_epsilon():
    assert LossGrid(1.0, 0, np.array([1.0]), 0.1, 0).smallest_epsilon(0.09) == math.inf
    assert LossGrid(1.0, 0, np.array([1.0]), 0.1, 0).smallest_epsilon(0.11) == 0.0


def test_roundings_are_paid_for():
    """A mass that may have lost a tenth is taken for what it may have been."""
    weights = np.array([0.1])
    one, other = (LossGrid(1.0, 1, weights, 0.0, n) for n in (0, 2**53 // 20))
    assert one.smallest_epsilon(0.064) < other.smallest_epsilon(0.064)


def test_infinite_losses_add_up_when_composed():
    parts = [LossAtoms(np.array([-1.0, 1.0]), np.array([0.5, 0.4]), 0.1, 0)] * 3
    assert 1 - 0.9**3 <= compose(parts, 1e-30).infinite <= 0.3 + 1e-12
