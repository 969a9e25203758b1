"""Kernels on a lattice: tables against decimals, sums against one record at a time, densities against formulas."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from counterfoil.geometry import lattice
from counterfoil.geometry.euclidean import Box
from counterfoil.geometry.lattice import KernelLattice

NAMES = ("a", "b", "c")


def cube(p: int) -> Box:
    return Box(NAMES[:p], (0.0,) * p, (1.0,) * p)


@st.composite
def lattices(draw: st.DrawFn) -> KernelLattice:
    steps = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple))
    sides = [(low, low + width) for low, width in zip((-3.0, 0.0, 1e6), (0.5, 1.0, 7.0), strict=True)][: len(steps)]
    box = Box(NAMES[: len(steps)], tuple(low for low, _ in sides), tuple(high for _, high in sides))
    return KernelLattice(box, steps, draw(st.sampled_from([0.11, 0.3, 1.7])), draw(st.integers(80, 200)))


def exact_kernel(lattice: KernelLattice, g: int, step: int, k: int) -> int:
    """floor(unit exp(-((x_g - l / k) / h)**2 / 2)), with 60 digits."""
    with localcontext(prec=60):
        gap = Decimal(g) / (lattice.positions - 1) - Decimal(step) / k
        return int((-((gap / Decimal(lattice.bandwidth)) ** 2) / 2).exp() * lattice.unit)


@settings(max_examples=10, deadline=None)
@given(lattices())
def test_tables_are_those_of_decimals(lattice):
    for k, table in zip(lattice.steps, lattice.tables, strict=True):
        expected = [
            [exact_kernel(lattice, g, step, k) for step in range(k + 1)] for g in range(0, lattice.positions, 7)
        ]
        assert table[::7].tolist() == expected
        assert table.max() == lattice.unit
        assert not table.flags.writeable


@settings(max_examples=30, deadline=None)
@given(lattices(), st.integers(0, 2**32 - 1), st.integers(0, 40), st.integers(1, 9))
def test_sums_are_those_of_one_point_at_a_time(lattice, seed, n, rows):
    points = lattice.box.random(n, np.random.default_rng(seed))
    expected = [0] * lattice.size
    for place in lattice.places(points):
        rows_of_tables = [table[g].tolist() for table, g in zip(lattice.tables, place, strict=True)]
        for at, entries in enumerate(product(*rows_of_tables)):
            expected[at] += math.prod(entries)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("counterfoil.geometry.lattice._MOST_ROWS", rows)
        in_parts = lattice.sums(points)
    assert in_parts.dtype == np.int64
    assert in_parts.tolist() == lattice.sums(points).tolist() == expected


@given(lattices(), st.integers(0, 2**32 - 1))
def test_positions_are_the_nearest_and_each_coordinate_has_its_own(lattice, seed):
    points = lattice.box.random(20, np.random.default_rng(seed))
    unit = (points - lattice.box.lower) / np.subtract(lattice.box.upper, lattice.box.lower)
    places = lattice.places(points)
    assert np.abs(places - unit * (lattice.positions - 1)).max() <= 0.5 + 1e-6
    corners = np.array([lattice.box.lower, lattice.box.upper])
    assert lattice.places(corners).tolist() == [[0] * len(lattice.steps), [lattice.positions - 1] * len(lattice.steps)]


@pytest.mark.parametrize("steps", [(3,), (2, 3), (1, 2, 2)])
def test_sums_of_large_numbers_are_exact(steps):
    """At a lattice point each adds unit**p; 2**16 + 1 of them are not a multiple of what float32 could hold."""
    wide = KernelLattice(cube(len(steps)), steps, 0.3)
    n = 2**16 + 1
    sums = wide.sums(np.zeros((n, len(steps))))
    assert sums[0] == n * wide.unit ** len(steps)
    assert sums[1] == n * wide.unit ** (len(steps) - 1) * int(wide.tables[-1][0, 1])


def test_a_sum_over_all_records_that_are_promised_fits_in_int64():
    for p in (1, 2, 3):
        assert 2**32 * KernelLattice(cube(p), (2,) * p, 0.3).unit ** p <= 2**62


def test_densities_are_the_usual_ones_inside_and_twice_those_at_a_face():
    fine = KernelLattice(cube(2), (10, 20), 0.05)
    points = np.random.default_rng(0).random((50, 2))
    densities = fine.densities(fine.sums(points), len(points))
    axes = [np.linspace(0, 1, k + 1) for k in fine.steps]
    kernels = [norm.pdf(points[:, j, None], axes[j], 0.05) for j in range(2)]
    usual = kernels[0].T @ kernels[1] / len(points)
    scale = usual.max()
    assert densities[3:8, 5:16] == pytest.approx(usual[3:8, 5:16], abs=2e-3 * scale)
    assert densities[0, 5:16] == pytest.approx(2 * usual[0, 5:16], abs=4e-3 * scale)
    assert densities[0, 0] == pytest.approx(4 * usual[0, 0], abs=8e-3 * scale)


@pytest.mark.parametrize("bandwidth", [0.1, 0.5, 3.0])
def test_uniform_records_have_density_one_everywhere(bandwidth):
    """One record at both ends of the positions and two at each other, which is how many uniform ones are rounded."""
    line = KernelLattice(cube(1), (7,), bandwidth, positions=101)
    once = np.linspace(0, 1, 101)
    sums = line.sums(np.concatenate([once, once[1:-1]])[:, None])
    assert line.densities(sums, 200) == pytest.approx(np.ones(8), rel=1e-12)


def test_what_a_receipt_needs_is_described():
    described = KernelLattice(cube(2), (3, 4), 0.25).describe()
    assert described["steps"] == [3, 4]
    assert described["unit"] == 2**15
    assert described["positions"] == 4097
    assert described["bandwidth"] == 0.25


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"box": Box(("a", "b", "c", "d"), (0.0,) * 4, (1.0,) * 4)}, "`box`"),
        ({"steps": (3,)}, "`steps`"),
        ({"steps": [3, 3]}, "`steps`"),
        ({"steps": (0, 3)}, "`steps`"),
        ({"steps": (3, 3.0)}, "`steps`"),
        ({"steps": (True, 3)}, "`steps`"),
        ({"steps": (1000, 1000)}, "`steps`"),
        ({"bandwidth": 0.0}, "`bandwidth`"),
        ({"bandwidth": math.nan}, "`bandwidth`"),
        ({"bandwidth": math.inf}, "`bandwidth`"),
        ({"bandwidth": 5e-324}, "`bandwidth`"),
        ({"positions": 80}, "`positions`"),
        ({"positions": 81.0}, "`positions`"),
        ({"positions": 2**24}, "`positions`"),
        ({"bandwidth": 0.05, "positions": 160}, "`positions`"),
    ],
)
def test_a_lattice_refuses_what_it_has_no_proof_for(changed, named):
    with pytest.raises(ValueError, match=named):
        KernelLattice(**{"box": cube(2), "steps": (10, 10), "bandwidth": 0.1, **changed})
    assert KernelLattice(cube(2), (10, 10), 0.1, 81).size == 121
    assert lattice.MOST_POINTS == 10**6
