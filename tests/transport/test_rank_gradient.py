import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.transport import rank_gradient
from counterfoil.transport.rank_gradient import (
    random_directions,
    sliced_gradient,
    squared_wasserstein,
    squared_wasserstein_gradient,
)

tied = st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0])
samples = st.lists(st.floats(-100, 100, allow_subnormal=False), min_size=1, max_size=20) | st.lists(
    tied, min_size=1, max_size=20
)
checked = settings(max_examples=100, deadline=None, derandomize=True)


def overlap(i, n, j, m):
    """R_ij, for ranks that count from 0: the length that (i/n, (i+1)/n] and (j/m, (j+1)/m] have in common."""
    return max(min(Fraction(i + 1, n), Fraction(j + 1, m)) - max(Fraction(i, n), Fraction(j, m)), Fraction(0))


def in_order(u, v, order_u, order_v):
    """The value and both gradients by the whole matrix R, exactly, with the points ranked in these orders."""
    n, m = len(u), len(v)
    value, of_u, of_v = Fraction(0), [Fraction(0)] * n, [Fraction(0)] * m
    for (rank_u, i), (rank_v, j) in itertools.product(enumerate(order_u), enumerate(order_v)):
        mass, gap = overlap(rank_u, n, rank_v, m), Fraction(u[i]) - Fraction(v[j])
        value += mass * gap**2
        of_u[i] += 2 * mass * gap
        of_v[j] -= 2 * mass * gap
    return value, of_u, of_v


def averaged_over_ties(values, derivatives):
    groups = {x: [d for y, d in zip(values, derivatives, strict=True) if y == x] for x in values}
    return [sum(groups[x]) / len(groups[x]) for x in values]


def exact(u, v):
    """By the matrix R in one order, then averaged over equal values."""
    orders = [sorted(range(len(x)), key=x.__getitem__) for x in (u, v)]
    value, of_u, of_v = in_order(u, v, *orders)
    return value, averaged_over_ties(u, of_u), averaged_over_ties(v, of_v)


def sorting_orders(values):
    """Every order of the places in which the values ascend."""
    ties = [[i for i, x in enumerate(values) if x == value] for value in sorted(set(values))]
    return [list(itertools.chain(*order)) for order in itertools.product(*map(itertools.permutations, ties))]


def loop_over_directions(points_u, points_v, directions):
    value, of_u, of_v = 0.0, np.zeros_like(points_u), np.zeros_like(points_v)
    for t in directions:
        found = squared_wasserstein_gradient(points_u @ t, points_v @ t)
        value += found.value / len(directions)
        of_u += np.outer(found.of_u, t) / len(directions)
        of_v += np.outer(found.of_v, t) / len(directions)
    return value, of_u, of_v


@checked
@given(u=samples, v=samples)
def test_equals_the_overlap_matrix_in_fractions_within_the_stated_rounding(u, v):
    found, (value, of_u, of_v) = squared_wasserstein_gradient(u, v), exact(u, v)
    largest = max(map(abs, u + v))
    for side, of in ((found.of_u, of_u), (found.of_v, of_v)):
        allowed = Fraction(12 * 2.0**-52 * largest / len(side) + 1e-305)
        assert all(abs(Fraction(float(x)) - y) <= allowed for x, y in zip(side, of, strict=True))
    assert found.value == pytest.approx(float(value), rel=8e-15, abs=1e-300)
    assert found.value == squared_wasserstein(u, v)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(u=st.lists(st.integers(-1, 1), min_size=1, max_size=4), v=st.lists(st.integers(-1, 1), min_size=1, max_size=4))
def test_ties_get_the_mean_over_all_orders(u, v):
    runs = [in_order(u, v, *orders) for orders in itertools.product(sorting_orders(u), sorting_orders(v))]
    assert len({value for value, _, _ in runs}) == 1
    found = squared_wasserstein_gradient(u, v)
    for side, of in ((1, found.of_u), (2, found.of_v)):
        mean = np.mean([[float(x) for x in run[side]] for run in runs], axis=0)
        assert of == pytest.approx(mean, abs=1e-13)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 7), (6, 1), (8, 8), (30, 45), (64, 63), (3000, 2000)])
def test_equals_pot_and_the_gradient_of_its_plan(n, m):
    ot = pytest.importorskip("ot", reason="the other solver is POT")
    rng = np.random.default_rng([n, m])
    u, v = rng.normal(size=n), rng.normal(size=m) * 2 + 1
    found = squared_wasserstein_gradient(u, v)
    assert found.value == pytest.approx(ot.emd2_1d(u, v), rel=1e-12)
    assert found.value == pytest.approx(float(ot.wasserstein_1d(u, v, p=2)), rel=1e-12)
    plan = ot.emd_1d(u, v, dense=False)
    assert found.of_u == pytest.approx(2 * (u / n - plan @ v), abs=1e-12)
    assert found.of_v == pytest.approx(2 * (v / m - plan.T @ u), abs=1e-12)


@pytest.mark.parametrize(("n", "m"), [(5, 5), (7, 4), (3, 11)])
def test_equals_differences_where_nothing_is_tied(n, m):
    # Within a step of 1e-4 no two points change places: there W_2^2 is a quadratic, and central differences are exact.
    rng = np.random.default_rng([n, m])
    u, v = rng.permutation(n) + rng.uniform(0, 0.9, n), rng.permutation(m) + rng.uniform(0, 0.9, m)
    found, step = squared_wasserstein_gradient(u, v), 1e-4
    up = [(squared_wasserstein(u + step * e, v) - squared_wasserstein(u - step * e, v)) / (2 * step) for e in np.eye(n)]
    across = [
        (squared_wasserstein(u, v + step * e) - squared_wasserstein(u, v - step * e)) / (2 * step) for e in np.eye(m)
    ]
    assert found.of_u == pytest.approx(up, abs=1e-9)
    assert found.of_v == pytest.approx(across, abs=1e-9)


@pytest.mark.parametrize("repeats", [1, 3])
def test_equals_automatic_differentiation_of_the_sorted_formula(repeats):
    torch = pytest.importorskip("torch", reason="the derivatives are torch's")
    rng = np.random.default_rng(repeats)
    u, v = rng.normal(size=200), rng.normal(size=200 * repeats)
    leaves = [torch.tensor(x, requires_grad=True) for x in (u, v)]
    gaps = torch.sort(leaves[0]).values.repeat_interleave(repeats) - torch.sort(leaves[1]).values
    value = (gaps**2).mean()
    value.backward()
    found = squared_wasserstein_gradient(u, v)
    assert found.value == pytest.approx(value.item(), rel=1e-12)
    assert found.of_u == pytest.approx(leaves[0].grad.numpy(), abs=1e-14)
    assert found.of_v == pytest.approx(leaves[1].grad.numpy(), abs=1e-14)


@checked
@given(u=samples, v=samples, seed=st.integers(0, 2**32 - 1))
def test_permuting_a_sample_permutes_its_derivatives_to_the_last_bit(u, v, seed):
    rng = np.random.default_rng(seed)
    u, v = np.array(u), np.array(v)
    order, other = rng.permutation(len(u)), rng.permutation(len(v))
    found, moved = squared_wasserstein_gradient(u, v), squared_wasserstein_gradient(u[order], v[other])
    assert moved.value == found.value
    assert np.array_equal(moved.of_u, found.of_u[order])
    assert np.array_equal(moved.of_v, found.of_v[other])


@checked
@given(u=samples, v=samples)
def test_exchange_reflection_and_equal_values(u, v):
    u, v = np.array(u), np.array(v)
    found, back = squared_wasserstein_gradient(u, v), squared_wasserstein_gradient(v, u)
    assert (found.value, found.of_u.tolist()) == (back.value, back.of_v.tolist())
    mirrored = squared_wasserstein_gradient(-u, -v)
    largest = max(np.abs(u).max(), np.abs(v).max())
    assert mirrored.of_u == pytest.approx(-found.of_u, abs=1e-13 * largest + 1e-300)
    for i, j in itertools.combinations(range(len(u)), 2):
        assert u[i] != u[j] or found.of_u[i] == found.of_u[j]


def test_scaling_and_translation():
    rng = np.random.default_rng(3)
    u, v = rng.integers(-20, 20, 40) / 8, rng.integers(-20, 20, 25) / 8
    found = squared_wasserstein_gradient(u, v)
    larger, moved = squared_wasserstein_gradient(8 * u, 8 * v), squared_wasserstein_gradient(u + 64, v + 64)
    apart = squared_wasserstein_gradient(u + 64, v)
    # Eighths and powers of two: nothing is rounded on the way.
    assert larger.value == 64 * found.value
    assert np.array_equal(larger.of_u, 8 * found.of_u)
    assert moved.value == found.value
    assert np.array_equal(moved.of_v, found.of_v)
    assert apart.of_u == pytest.approx(found.of_u + 2 * 64 / 40, rel=1e-14)
    assert found.of_u.sum() == pytest.approx(2 * (u.mean() - v.mean()), abs=1e-13)


def test_one_point_constant_samples_and_equal_samples():
    v = np.array([1.0, 4.0, -2.0])
    one = squared_wasserstein_gradient([3.0], v)
    assert (one.value, one.of_u.tolist()) == (10.0, [4.0])
    assert one.of_v == pytest.approx((v - 3) * 2 / 3)
    flat = squared_wasserstein_gradient(np.full(7, 2.0), np.full(5, -1.0))
    assert flat.value == pytest.approx(9)
    assert flat.of_u == pytest.approx(np.full(7, 6 / 7))
    assert flat.of_v == pytest.approx(np.full(5, -6 / 5))
    # Clipped, so that ties are long; repeated, so that the sizes differ though the distributions do not.
    u = np.clip(np.random.default_rng(0).normal(size=5000), -0.5, 0.5)
    same = squared_wasserstein_gradient(u, np.random.default_rng(1).permutation(np.repeat(u, 3)))
    assert same.value == 0
    assert not same.of_u.any()
    assert not same.of_v.any()


def test_signed_zeros_are_tied():
    found = squared_wasserstein_gradient([0.0, -0.0, 0.0, -0.0], [-3.0, -1.0, 1.0, 7.0])
    assert found.of_u.tolist() == [-0.5] * 4
    points = np.array([[0.0], [-0.0], [0.0], [-0.0]])
    assert sliced_gradient(points, [[-3.0], [-1.0], [1.0], [7.0]], [[1.0]]).of_u.tolist() == [[-0.5]] * 4


def test_long_ties_lose_no_digits():
    # A plain sum over the tie is off by some 1e-13 here; the stated rounding is 12 * 2^-52 M / n, 2.7e-15 in units M/n.
    n = 200_000
    v = np.random.default_rng(4).uniform(-1, 1, n)
    found = squared_wasserstein_gradient(np.full(n, 0.1), v)
    expected = -2 * math.fsum(v - 0.1) / n
    assert set(found.of_u) == {found.of_u[0]}
    assert abs(n * found.of_u[0] - expected) <= 12 * 2.0**-52


@pytest.mark.parametrize("kind", ["ends", "float32", "whole", "any", "bytes"])
def test_values_of_every_size_are_sorted(kind):
    rng = np.random.default_rng(5)
    values = {
        "ends": np.array([0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1.0, -1.0, 1.7e308, -1.7e308, 1e-30]),
        "float32": rng.normal(size=999).astype(np.float32).astype(np.float64),
        "whole": rng.integers(-40, 40, 500).astype(np.float64),
        "any": rng.integers(0, 2**63 - 2**53, 3000).view(np.float64) * rng.choice([-1, 1], 3000),
        # Neighbors that differ in one of their eight bytes alone, or in two.
        "bytes": (
            np.float64(1.0).view(np.int64)
            - (rng.integers(0, 4, 3000) << 8 * rng.integers(0, 8, 3000))
            + (rng.integers(0, 4, 3000) << 8 * rng.integers(0, 7, 3000))
        ).view(np.float64),
    }[kind]
    ascending, order = rank_gradient._ascending(values)
    assert np.array_equal(ascending, np.sort(values))
    assert np.array_equal(values[order], ascending)
    assert sorted(order) == list(range(len(values)))


@pytest.mark.parametrize(("n", "m", "d", "k"), [(1, 3, 2, 4), (9, 9, 1, 1), (12, 17, 3, 6), (40, 10, 6, 2)])
def test_sliced_equals_a_loop(n, m, d, k):
    rng = np.random.default_rng([n, m, d, k])
    points_u, points_v, directions = rng.normal(size=(n, d)), rng.normal(size=(m, d)), random_directions(rng, k, d)
    found = sliced_gradient(points_u, points_v, directions)
    value, of_u, of_v = loop_over_directions(points_u, points_v, directions)
    assert found.value == pytest.approx(value, rel=1e-13)
    assert found.of_u == pytest.approx(of_u, abs=1e-14)
    assert found.of_v == pytest.approx(of_v, abs=1e-14)


def test_sliced_on_the_line_is_the_gradient_itself():
    rng = np.random.default_rng(6)
    u, v = rng.integers(-4, 4, 50).astype(float), rng.normal(size=30)
    found, line = (
        sliced_gradient(u[:, None], v[:, None], random_directions(rng, 9, 1)),
        squared_wasserstein_gradient(u, v),
    )
    assert found.value == line.value
    assert np.array_equal(found.of_u[:, 0], line.of_u)
    assert np.array_equal(found.of_v[:, 0], line.of_v)


def test_sliced_keeps_equal_points_tied_and_does_not_see_their_order():
    rng = np.random.default_rng(7)
    chosen, order = rng.integers(0, 5, 61), rng.permutation(61)
    points_u, points_v = rng.normal(size=(5, 7))[chosen], rng.normal(size=(44, 7))
    directions = random_directions(rng, 10, 7)
    found = sliced_gradient(points_u, points_v, directions)
    assert len(np.unique(found.of_u, axis=0)) == 5
    moved = sliced_gradient(points_u[order], points_v[::-1], directions)
    assert moved.value == found.value
    assert np.array_equal(moved.of_u, found.of_u[order])
    assert np.array_equal(moved.of_v, found.of_v[::-1])


def test_input_is_left_alone_and_need_not_be_contiguous():
    rng = np.random.default_rng(8)
    table = rng.normal(size=(20, 6))
    before, directions = table.copy(), random_directions(rng, 3, 2)
    table.flags.writeable = False
    strided = sliced_gradient(table[::2, ::3], table.T[:2].T, directions)
    solid = sliced_gradient(table[::2, ::3].copy(), table[:, :2].copy(), directions)
    assert np.array_equal(strided.of_u, solid.of_u)
    assert np.array_equal(strided.of_v, solid.of_v)
    line = squared_wasserstein_gradient(table[:, 0], table[0])
    assert np.array_equal(line.of_u, squared_wasserstein_gradient(table[:, 0].tolist(), table[0].tolist()).of_u)
    assert all(x.dtype == np.float64 and x.flags.c_contiguous for x in (line.of_u, line.of_v, strided.of_u))
    assert np.array_equal(table, before)


def test_directions_are_uniform_on_the_sphere():
    rng = np.random.default_rng(9)
    directions = random_directions(rng, 100_000, 2)
    assert np.linalg.norm(directions, axis=1) == pytest.approx(np.ones(100_000), abs=1e-15)
    # Hoeffding for means of numbers of range at most 2: a deviation of sqrt(2 log(2e8) / k) has probability 1e-8 each.
    # A normalized square would have fourth moments of 0.357.
    for power, moment in ((1, 0), (2, 1 / 2), (4, 3 / 8)):
        spread = 2 if power == 1 else 1
        allowed = spread * math.sqrt(math.log(2e8) / (2 * 100_000))
        assert directions[:, 0] ** power @ np.full(100_000, 1e-5) == pytest.approx(moment, abs=allowed)
    assert np.array_equal(directions, random_directions(np.random.default_rng(9), 100_000, 2))
    assert random_directions(np.random.default_rng(0), 50, 1).tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: squared_wasserstein_gradient([], [1.0]), r"`u` .* at least one entry"),
        (lambda: squared_wasserstein_gradient([1.0], [[1.0]]), r"`v` must be an array \[m\]"),
        (lambda: squared_wasserstein([1.0, np.nan], [1.0]), "`u` must be finite"),
        (lambda: squared_wasserstein([1.0], [-np.inf]), "`v` must be finite"),
        (lambda: squared_wasserstein_gradient([1e200], [-1e200]), "overflow"),
        (lambda: squared_wasserstein(np.broadcast_to(0.0, 2**31), [0.0]), r"2\*\*31 - 1 rows"),
        (lambda: sliced_gradient([[1.0, 2.0]], [[1.0]], [[1.0, 0.0]]), "Found 2, 1 and 2"),
        (lambda: sliced_gradient([[1.0, 2.0]], [[1.0, 2.0]], [[1.0]]), "Found 2, 2 and 1"),
        (lambda: sliced_gradient([[1.0, 2.0]], [[1.0, 2.0]], [[1.0, 1.0]]), "length 1"),
        (lambda: sliced_gradient([[1.0, np.inf]], [[1.0, 2.0]], [[1.0, 0.0]]), "`points_u` must be finite"),
        (lambda: sliced_gradient([[1e200, 0.0]], [[1.0, 2.0]], [[1.0, 0.0]]), "overflow"),
        (lambda: random_directions(np.random.default_rng(0), 0, 2), "at least 1"),
        (lambda: random_directions(np.random.default_rng(0), 3, 0), "at least 1"),
    ],
)
def test_bad_input_is_refused(call, says):
    with pytest.raises(ValueError, match=says):
        call()
