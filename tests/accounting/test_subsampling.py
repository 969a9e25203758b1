"""One step on a random batch: its bound against enumeration of all batches and against integrals of Gaussians."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import norm

from counterfoil.accounting.subsampling import LARGEST_MU, gaussian_nodes, subsampled_step

probabilities = st.floats(0.01, 1.0)
widths = st.floats(0.05, 4.0)


def gaussian_profile(ratio: float, mu: float) -> float:
    x = math.log(ratio)
    return float(ndtr(mu / 2 - x / mu) - ratio * ndtr(-mu / 2 - x / mu))


def profile(a: float, mu: float, q: float) -> float:
    """The bound, from the module's first formula."""
    if a < 1:
        return 1 - a + a * profile(1 / a, mu, q)
    return q * gaussian_profile(1 + (a - 1) / q, mu)


def hockey_stick(p: np.ndarray, other: np.ndarray, a: float, cell: float) -> float:
    """By the trapezoid rule, which knows smooth parts to all digits and is off by `kinks` where the sign changes."""
    return float(np.maximum(p - a * other, 0).sum() * cell)


def kinks(a: float, cell: float) -> float:
    """Slopes are below (1 + a) / 4, a change of sign costs an eighth of a slope times cell**2, and there are few."""
    return (1 + a) * cell**2 / 8 + 1e-12


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 6),
    st.data(),
    st.lists(st.floats(0, 1), min_size=7, max_size=7),
    st.floats(0.3, 4.0),
    st.sampled_from([0.3, 0.9, 1.0, 1.2, 2.0, 5.0]),
)
def test_no_table_exceeds_the_bound(n, data, records, mu, a):
    """All batches of a table in [0, 1], beside a record that is drawn from another group."""
    drawn = data.draw(st.integers(1, n - 1))
    first, second = [*records[: n - 1], records[5]], [*records[: n - 1], records[6]]
    other_group = [0.2, 0.7]
    grid = np.linspace(-9, mu * (drawn + 1) + 9, 12_001)

    def law(table):
        batches = itertools.combinations(table, drawn)
        sums = [mu * (sum(batch) + extra) for batch in batches for extra in other_group]
        return norm.pdf(grid[:, None] - np.array(sums)).mean(axis=1)

    cell = grid[1] - grid[0]
    p, other = law(first), law(second)
    # The sensitivity to a replacement is the range of the records, 1, times mu.
    assert hockey_stick(p, other, a, cell) <= profile(a, mu, drawn / n) + kinks(a, cell)


@settings(max_examples=80, deadline=None)
@given(probabilities, widths, st.floats(-1, 1), st.floats(-1, 1), st.floats(-3.0, 4.0))
def test_no_three_points_on_a_line_exceed_it(q, mu, b, c, log_ratio):
    if abs(b - c) > 1:
        b, c = b / 2, c / 2
    x = np.linspace(-10 - mu, 10 + mu, 8001)
    p = (1 - q) * norm.pdf(x) + q * norm.pdf(x - b * mu)
    other = (1 - q) * norm.pdf(x) + q * norm.pdf(x - c * mu)
    a = math.exp(log_ratio)
    cell = x[1] - x[0]
    assert hockey_stick(p, other, a, cell) <= profile(a, mu, q) + kinks(a, cell)


@pytest.mark.parametrize("q", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("mu", [0.4, 2.0])
def test_no_triangle_exceeds_it(q, mu):
    x = np.linspace(-8, 8 + mu, 500)
    cell = (x[1] - x[0]) ** 2

    def at(u, v):
        return np.outer(norm.pdf(x - u), norm.pdf(x - v))

    for angle in (math.pi / 3, 0.6, 0.2):
        b = at(mu * math.cos(angle), mu * math.sin(angle))
        p, other = (1 - q) * at(0, 0) + q * b, (1 - q) * at(0, 0) + q * at(mu, 0)
        for a in (0.2, 0.8, 1.0, 1.1, 1.5, 4.0):
            assert hockey_stick(p, other, a, cell) <= profile(a, mu, q) + 1e-8


@settings(max_examples=40, deadline=None)
@given(probabilities, widths, st.floats(1e-3, 3.0))
def test_it_is_attained_where_the_replacement_changes_nothing(q, mu, log_ratio):
    """M1' = M0, for a >= 1; and M1 = M0, for a < 1."""
    x = np.linspace(-12, 12 + mu, 40_001)
    moved, still = (1 - q) * norm.pdf(x) + q * norm.pdf(x - mu), norm.pdf(x)
    a = math.exp(log_ratio)
    cell = x[1] - x[0]
    assert hockey_stick(moved, still, a, cell) == pytest.approx(profile(a, mu, q), abs=kinks(a, cell))
    assert hockey_stick(still, moved, 1 / a, cell) == pytest.approx(profile(1 / a, mu, q), abs=kinks(a, cell))


def exact_profile(a: mpmath.mpf, mu: float, q: float) -> mpmath.mpf:
    if a < 1:
        return 1 - a + a * exact_profile(1 / a, mu, q)
    ratio = 1 + (a - 1) / mpmath.mpf(q)
    x, m = mpmath.log(ratio), mpmath.mpf(mu)
    return mpmath.mpf(q) * (mpmath.ncdf(m / 2 - x / m) - ratio * mpmath.ncdf(-m / 2 - x / m))


@settings(max_examples=20, deadline=None)
@given(
    st.floats(-6, math.log10(LARGEST_MU)).map(lambda power: 10.0**power),
    st.floats(-6, 0).map(lambda power: 10.0**power),
    st.floats(0, 1),
    st.booleans(),
)
def test_the_masses_of_a_step_cover_it_and_hardly_more(mu, q, place, above):
    """With 50 digits, at losses of either sign: never below, and above by the little that cells of 1/64 cost."""
    tail = 1e-30
    step = subsampled_step(mu, q, tail)
    loss = step.losses[int(place * (len(step.losses) - 1))] / 2 * (1 + 1e-3)
    loss = abs(loss) if above else loss
    with mpmath.workdps(50):
        a = mpmath.exp(mpmath.mpf(float(loss)))
        masses = [mpmath.mpf(float(mass)) for mass in step.masses]
        below = (mpmath.exp(-mpmath.mpf(float(one))) for one in step.losses)
        covered = mpmath.fsum(m * max(0, 1 - a * e) for m, e in zip(masses, below, strict=True)) + step.infinite
        exact = exact_profile(a, mu, q)
        assert covered * (1 + mpmath.mpf(2) ** -50) >= exact
        assert covered <= exact * (1 + 1e-2) + 4 * tail + 1e-4 * min(q * mu, q)


@pytest.mark.parametrize(("mu", "q"), [(0.3, 0.2), (3.0, 0.01), (1.0, 1.0)])
def test_the_two_laws_can_change_places(mu, q):
    """Under the second law the masses are those of the first at the opposite losses."""
    step = subsampled_step(mu, q, 1e-20)
    assert np.allclose(step.losses, -step.losses[::-1])
    assert step.masses * np.exp(-step.losses) == pytest.approx(step.masses[::-1], rel=1e-9, abs=1e-18)
    assert step.masses.sum() + step.infinite == pytest.approx(1, abs=1e-14)


@settings(max_examples=20, deadline=None)
@given(st.floats(-8, 1).map(lambda power: 10.0**power), st.integers(1, 60))
def test_nodes_keep_the_masses_of_both_laws(mu, cells):
    nodes = gaussian_nodes(mu, cells)
    with mpmath.workdps(40):
        start, end = mpmath.mpf(mu) / 2, mpmath.mpf(mu) / 2 + mpmath.mpf(cells) / 64
        one = mpmath.ncdf(end) - mpmath.ncdf(start)
        other = mpmath.ncdf(end - mu) - mpmath.ncdf(start - mu)
        weights = [mpmath.mpf(str(weight)) for weight in nodes.weights]
        growth = [mpmath.mpf(str(power)) for power in nodes.growth]
        assert abs(mpmath.fsum(weights) / one - 1) <= 1e-8
        assert mpmath.fsum(weights) >= one * (1 - mpmath.mpf(10) ** -30)
        moved = mpmath.fsum(w * g for w, g in zip(weights, growth, strict=True))
        assert abs(moved / other - 1) <= 1e-8
        assert moved >= other * (1 - mpmath.mpf(10) ** -30)
        assert mpmath.mpf(str(nodes.central)) >= mpmath.ncdf(start) - mpmath.ncdf(-start)
        assert mpmath.mpf(str(nodes.beyond)) >= mpmath.ncdf(-end)
