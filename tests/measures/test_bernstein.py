"""Bernstein densities against exact fractions, scipy's polynomials and quadrature; draws against cell probabilities.

Each test of a law fails by chance with probability 1e-6 at most; all are seeded.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import BPoly
from scipy.special import roots_legendre
from scipy.stats import chi2

from counterfoil.measures import bernstein
from counterfoil.measures.bernstein import BernsteinMeasure, bernstein_basis, iterated_coefficients

FALSE_ALARM = 1e-6


def fraction_basis(step: int, k: int, y: Fraction) -> Fraction:
    return math.comb(k, step) * y**step * (1 - y) ** (k - step)


@pytest.mark.parametrize("k", [1, 7, 60, 200])
def test_the_basis_is_that_of_fractions(k):
    places = [Fraction(0), Fraction(1, 10**6), Fraction(1, 3), Fraction(7, 8), Fraction(1)]
    found = bernstein_basis(k, np.array([float(y) for y in places]))
    for row, y in zip(found, places, strict=True):
        assert row == pytest.approx([float(fraction_basis(step, k, y)) for step in range(k + 1)], rel=1e-11, abs=1e-200)


@given(st.integers(1, 300), st.lists(st.floats(0, 1), min_size=1, max_size=5).map(np.array))
def test_the_basis_is_a_partition_of_unity_and_mirrored(k, y):
    basis = bernstein_basis(k, y)
    assert basis.min() >= 0
    assert basis.sum(axis=1) == pytest.approx(np.ones(len(y)), abs=1e-11)
    assert basis @ np.arange(k + 1) / k == pytest.approx(y, abs=1e-11)


def defined_iterate(k: int, step: int, order: int, y: Fraction) -> Fraction:
    """Definition D.2 as it is printed: sum_i C(j, i) (-1)**(i - 1) B**(i - 1)(b_l; y)."""

    @cache
    def power(i: int, y: Fraction) -> Fraction:
        if i == 0:
            return fraction_basis(step, k, y)
        return sum(power(i - 1, Fraction(m, k)) * fraction_basis(m, k, y) for m in range(k + 1))

    return sum(math.comb(order, i) * (-1) ** (i - 1) * power(i - 1, y) for i in range(1, order + 1))


@pytest.mark.parametrize(("k", "order"), [(1, 3), (3, 1), (3, 2), (4, 7), (5, 20)])
def test_iterates_are_those_of_the_definition(k, order):
    places = [Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(5, 6)]
    basis = bernstein_basis(k, np.array([float(y) for y in places]))
    for step in range(k + 1):
        found = basis @ iterated_coefficients(np.eye(k + 1)[step], order)
        assert found == pytest.approx([float(defined_iterate(k, step, order, y)) for y in places], abs=1e-12)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4)])
def test_in_more_dimensions_the_sums_are_nested(shape):
    """Definition D.3 with p nested sums over all lattice points, where it prints one sum over sides."""
    order, rng = 3, np.random.default_rng(0)
    values, place = rng.normal(size=shape), [Fraction(1, 3), Fraction(3, 4), Fraction(2, 7)][: len(shape)]
    one_side = [
        [float(defined_iterate(n - 1, step, order, y)) for step in range(n)] for n, y in zip(shape, place, strict=True)
    ]
    expected = sum(
        values[at] * math.prod(side[step] for side, step in zip(one_side, at, strict=True))
        for at in product(*map(range, shape))
    )
    found = iterated_coefficients(values, order)
    for n, y in reversed(list(zip(shape, place, strict=True))):
        found = found @ bernstein_basis(n - 1, np.array([float(y)]))[0]
    assert found == pytest.approx(expected, abs=1e-12)


def fixed_point_iterate(values: np.ndarray, order: int, digits: int = 700) -> np.ndarray:
    """The coefficients in whole multiples of 2**-digits: products are rounded down, sums are exact."""
    k, unit = len(values) - 1, 1 << digits
    operator = [
        [math.comb(k, step) * m**step * (k - m) ** (k - step) * unit // k**k for step in range(k + 1)]
        for m in range(k + 1)
    ]
    missing = [int(Fraction(float(value)) * unit) for value in values]
    total = list(missing)
    for _ in range(order - 1):
        applied = [sum(b * f for b, f in zip(row, missing, strict=True)) >> digits for row in operator]
        missing = [f - g for f, g in zip(missing, applied, strict=True)]
        total = [t + f for t, f in zip(total, missing, strict=True)]
    return np.array([float(Fraction(t, unit)) for t in total])


@pytest.mark.parametrize(("k", "order"), [(50, 60), (200, 5), (200, 20)])
def test_high_orders_and_degrees_keep_ten_digits(k, order):
    values = np.random.default_rng(1).normal(size=k + 1)
    expected = fixed_point_iterate(values, order)
    assert iterated_coefficients(values, order) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_high_orders_tend_to_interpolation(k):
    values = np.random.default_rng(2).normal(size=(k + 1, k + 1))
    lattice = bernstein_basis(k, np.linspace(0, 1, k + 1))
    assert lattice @ iterated_coefficients(values, 400) @ lattice.T == pytest.approx(values, abs=1e-9)
    assert np.abs(lattice @ values @ lattice.T - values).max() > 0.1


def test_lines_are_kept_by_all_orders():
    values = np.add.outer(np.linspace(1, 2, 7), np.linspace(0, -3, 4))
    for order in (1, 2, 9):
        assert iterated_coefficients(values, order) == pytest.approx(values, abs=1e-12)


# Densities


def random_density(p: int, spread: float, seed: int, order: int = 1) -> BernsteinMeasure:
    """Values of about 1 with noise at a lattice: all positive for small spread, many negative for large."""
    shape = ((12,), (6, 9), (4, 5, 3))[p - 1]
    values = 1 + spread * np.random.default_rng(seed).normal(size=shape)
    return BernsteinMeasure.of_lattice(values, order)


def quadrature(density: BernsteinMeasure, cells: int, nodes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """[cells, ..., cells]: the integrals of the polynomial and of its positive part over equal cells."""
    p = density.dimension
    inside, weights = roots_legendre(nodes)
    axis = ((np.arange(cells)[:, None] + (inside + 1) / 2) / cells).ravel()
    values = density.coefficients
    for side in range(p):
        values = np.moveaxis(np.tensordot(bernstein_basis(values.shape[side] - 1, axis), values, (1, side)), 0, side)
    split, weight = (cells, nodes) * p, weights / (2 * cells)
    integrals = []
    for part in (values, np.maximum(values, 0.0)):
        parts = part.reshape(split)
        for side in reversed(range(p)):
            parts = np.tensordot(parts, weight, (2 * side + 1, 0))
        integrals.append(parts)
    return integrals[0], integrals[1]


CELLS = {1: 4096, 2: 256, 3: 32}


def test_order_one_is_the_polynomial_of_scipy():
    values = np.random.default_rng(3).random(9)
    density, y = BernsteinMeasure.of_lattice(values), np.linspace(0, 1, 50)
    assert density.density(y[:, None]) == pytest.approx(BPoly(values[:, None], [0, 1])(y) / values.mean(), rel=1e-12)
    assert density.mass == pytest.approx(BPoly(values[:, None], [0, 1]).integrate(0, 1), rel=1e-12)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize(("spread", "order"), [(0.1, 1), (3.0, 1), (0.1, 3), (1.0, 3), (3.0, 10)])
def test_the_mass_lies_within_its_bounds_and_the_density_integrates_to_one(p, spread, order):
    density = random_density(p, spread, seed=p, order=order)
    whole, positive = (part.sum() for part in quadrature(density, CELLS[p]))
    least, most = density.mass_bounds
    rounding = 1e-4 * most  # of quadrature, where the polynomial changes sign
    assert density.integral == pytest.approx(whole, abs=1e-9 * np.abs(density.coefficients).max())
    assert least - rounding <= positive <= most + rounding
    assert most - least <= 0.02 * most
    if density.coefficients.min() >= 0:
        assert least == most == pytest.approx(density.integral)
    axes = [(np.arange(n) + 0.5) / n for n in (CELLS[p] // 2,) * p]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, p)
    found = density.density(points)
    assert found.min() >= 0
    assert found.mean() == pytest.approx(1, abs=0.012)


def test_the_density_is_the_positive_part_of_the_polynomial():
    density = random_density(2, 3.0, seed=4, order=4)
    points = np.random.default_rng(5).random((500, 2))
    basis = [bernstein_basis(n - 1, points[:, side]) for side, n in enumerate(density.coefficients.shape)]
    polynomial = np.einsum("na,ab,nb->n", basis[0], density.coefficients, basis[1])
    assert density.density(points) * density.mass == pytest.approx(np.maximum(polynomial, 0), abs=1e-9)
    assert (polynomial < -1).any()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(2, 5))
def test_cells_hold_the_same_polynomial(seed, p, cells):
    rng = np.random.default_rng(seed)
    density = BernsteinMeasure(rng.normal(size=tuple(rng.integers(2, 6, p))) - 2)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bernstein, "_MOST_CELLS", cells)
        local = density._local.reshape(*(cells,) * p, *density.coefficients.shape)
    integrals, _ = quadrature(density, cells)
    assert local.mean(axis=tuple(range(p, 2 * p))) / cells**p == pytest.approx(integrals, abs=1e-12)
    corners = density.coefficients[(-1,) * p], local[(-1,) * (2 * p)]
    assert corners[0] == pytest.approx(corners[1], abs=1e-12)


def law_of_draws(density: BernsteinMeasure, points: np.ndarray, cells: int) -> float:
    """The p-value of a chi-square test of `points` on equal cells, of which small ones are taken together."""
    p = density.dimension
    finest = CELLS[p]
    positive = quadrature(density, finest)[1]
    expected = positive.reshape((cells, finest // cells) * p).sum(axis=tuple(range(1, 2 * p, 2))).ravel()
    expected *= len(points) / expected.sum()
    places = tuple(np.minimum((points * cells).astype(int), cells - 1).T)
    found = np.bincount(np.ravel_multi_index(places, (cells,) * p), minlength=cells**p)
    assert found[expected == 0].sum() == 0
    few = expected < 10
    observed, wanted = (np.append(x[~few], x[few].sum()) for x in (found, expected))
    keep = wanted > 0
    return float(chi2.sf(((observed - wanted)[keep] ** 2 / wanted[keep]).sum(), keep.sum() - 1))


@pytest.mark.parametrize("most_cells", [1, 64])
@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize(("spread", "order"), [(0.1, 1), (3.0, 1), (1.0, 3), (3.0, 10)])
def test_draws_have_the_density(p, spread, order, most_cells, monkeypatch):
    monkeypatch.setattr(bernstein, "_MOST_CELLS", most_cells)
    density = random_density(p, spread, seed=10 + p, order=order)
    points = density.draw(30_000, np.random.default_rng(6))
    assert points.shape == (30_000, p)
    assert points.min() >= 0
    assert points.max() <= 1
    assert law_of_draws(density, points, {1: 64, 2: 16, 3: 8}[p]) > FALSE_ALARM


def test_draws_of_the_envelope_alone_would_be_told_apart():
    """The test above can fail: the positive parts of the coefficients are another law."""
    density = random_density(2, 3.0, seed=12, order=10)
    envelope = BernsteinMeasure(np.maximum(density.coefficients, 0))
    points = envelope.draw(30_000, np.random.default_rng(6))
    assert law_of_draws(envelope, points, 16) > FALSE_ALARM
    points = points[density.density(points) > 0]
    assert law_of_draws(density, points, 16) < 1e-30


def test_draws_repeat_and_any_number_of_them_can_be_had(monkeypatch):
    monkeypatch.setattr(bernstein, "_MOST_TRIED", 64)
    density = random_density(2, 2.0, seed=7, order=5)
    first, again = (density.draw(1000, np.random.default_rng(8)) for _ in range(2))
    assert np.array_equal(first, again)
    assert len(np.unique(first, axis=0)) == 1000
    assert density.draw(0, np.random.default_rng(8)).shape == (0, 2)


@pytest.mark.parametrize(
    ("values", "order"), [(np.zeros((3, 4)), 1), (-np.ones((3, 4)), 3), (-np.eye(3), 1), (np.zeros((3, 4)), 3)]
)
def test_without_a_positive_part_the_density_is_uniform_and_says_so(values, order):
    density = BernsteinMeasure.of_lattice(values, order)
    assert density.is_uniform
    points = density.draw(20_000, np.random.default_rng(9))
    assert density.density(points).tolist() == [1.0] * 20_000
    counts = np.histogram2d(*points.T, bins=5, range=[[0, 1], [0, 1]])[0]
    assert chi2.sf(((counts - 800) ** 2 / 800).sum(), 24) > FALSE_ALARM


def test_a_density_with_a_positive_part_is_not_uniform():
    assert not random_density(2, 3.0, seed=0, order=10).is_uniform
    lone = -np.ones((30, 30))
    lone[12, 9] = 400.0
    assert not BernsteinMeasure(lone).is_uniform


def test_what_is_no_density_is_refused():
    with pytest.raises(ValueError, match="`order` must be at least 1"):
        iterated_coefficients(np.ones(3), 0)
    for shape in ((), (1,), (3, 1)):
        with pytest.raises(ValueError, match="two lattice points along each side"):
            iterated_coefficients(np.ones(shape), 1)
        with pytest.raises(ValueError, match="at least two along each side"):
            BernsteinMeasure(np.ones(shape))
    with pytest.raises(ValueError, match="must be finite"):
        BernsteinMeasure(np.array([1.0, np.nan]))
    for k, y in ((0, 0.5), (3, -0.1), (3, 1.1), (3, math.nan)):
        with pytest.raises(ValueError, match="`y` in"):
            bernstein_basis(k, np.array([y]))
    with pytest.raises(ValueError, match="`points` must be"):
        BernsteinMeasure(np.ones((3, 3))).density(np.ones((5, 1)))
