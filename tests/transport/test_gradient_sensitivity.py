import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.transport.gradient_sensitivity import gradient_sensitivity, published_sensitivity
from counterfoil.transport.rank_gradient import random_directions, sliced_gradient, squared_wasserstein_gradient

M = 1.5
scores = st.sampled_from([-M, M, 0.0]) | st.floats(-M, M)
norms = st.sampled_from([0.0, 1.0]) | st.floats(0, 3)


def largest_change(before, after, replaced, lipschitz_u, lipschitz_v):
    """Over all gradients g, h of norms up to L1, L2 the most that the combined gradient changes.

    The triangle inequality, which numbers of the right signs attain; the replaced record's g may change its sign.
    """
    stay = np.delete(np.abs(after.of_u - before.of_u), replaced).sum()
    ends = abs(before.of_u[replaced]) + abs(after.of_u[replaced])
    return lipschitz_u * (stay + ends) + lipschitz_v * np.abs(after.of_v - before.of_v).sum()


def replacing(u, v, replaced, score, lipschitz_u, lipschitz_v):
    other = np.array(u)
    other[replaced] = score
    before, after = squared_wasserstein_gradient(u, v), squared_wasserstein_gradient(other, v)
    return largest_change(before, after, replaced, lipschitz_u, lipschitz_v)


def in_given_order(u, v, order):
    """The first sample's gradient where ties are ranked as `order` puts them, for as many points on each side."""
    of_u = np.empty(len(u))
    of_u[order] = 2 / len(u) * (u[order] - np.sort(v))
    return of_u


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    u=st.lists(scores, min_size=1, max_size=8),
    v=st.lists(scores, min_size=1, max_size=8),
    score=scores,
    lipschitz_u=norms,
    lipschitz_v=norms,
)
def test_no_replacement_changes_more(u, v, score, lipschitz_u, lipschitz_v):
    bound = gradient_sensitivity(M, lipschitz_u, lipschitz_v, len(u))
    change = replacing(u, v, 0, score, lipschitz_u, lipschitz_v)
    assert change <= bound * (1 + 1e-14) + 1e-300
    assert bound <= published_sensitivity(M, lipschitz_u, lipschitz_v, len(u)) * (1 + 1e-15)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 6), m=st.integers(1, 6), k=st.integers(1, 4))
def test_no_replacement_changes_more_with_gradients_in_the_plane(seed, n, m, k):
    """Sliced: points clipped to a ball of radius M and Jacobians [3, 2] of spectral norm L1 or L2 at most."""
    rng = np.random.default_rng(seed)
    points = rng.choice([-1.0, 0.0, 1.0], size=(n + m + 1, 2)) * 2
    points *= M / np.maximum(M, np.linalg.norm(points, axis=1))[:, None]
    jacobians = rng.normal(size=(n + m + 1, 3, 2))
    jacobians /= np.linalg.norm(jacobians, ord=2, axis=(1, 2))[:, None, None]
    jacobians[n + 1 :] *= 2
    directions = random_directions(rng, k, 2)
    sums = []
    for first in (0, n):
        chosen = [first, *range(1, n)]
        found = sliced_gradient(points[chosen], points[n + 1 :], directions)
        sums.append(
            np.einsum("ipc,ic->p", jacobians[chosen], found.of_u)
            + np.einsum("jpc,jc->p", jacobians[n + 1 :], found.of_v)
        )
    assert np.linalg.norm(sums[0] - sums[1]) <= gradient_sensitivity(M, 1.0, 2.0, n) * (1 + 1e-12)


@pytest.mark.parametrize(("lipschitz_u", "lipschitz_v"), [(1.0, 1.0), (1.0, 0.2), (0.3, 2.0), (0.0, 1.0), (1.0, 0.0)])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 2), (3, 4)])
def test_a_search_attains_the_bound(n, m, lipschitz_u, lipschitz_v):
    """All samples at the ends of [-M, M], and all replacements."""
    changes = [
        replacing(np.array(u), np.array(v), 0, score, lipschitz_u, lipschitz_v)
        for u in itertools.product([-M, M], repeat=n)
        for v in itertools.combinations_with_replacement([-M, M], m)
        for score in (-M, M)
    ]
    bound = gradient_sensitivity(M, lipschitz_u, lipschitz_v, n)
    assert 0.99 * bound <= max(changes) <= bound * (1 + 1e-14)
    # The numbers to which models with L1 = L2 are calibrated: half of what was published.
    assert gradient_sensitivity(M, 1.0, 1.0, n) == published_sensitivity(M, 1.0, 1.0, n) / 2 == 8 * M / n


def test_other_orders_of_ties_break_the_bound():
    """Two models of ties that are not averaged, with the alternating gradients of a classifier's two classes."""
    n = 1000
    v, signs = np.linspace(-M, M, n), np.where(np.arange(n) % 2, 1.0, -1.0)
    u = np.full(n, M)
    replaced = u.copy()
    replaced[0] = -M
    bound = gradient_sensitivity(M, 1.0, 0.0, n)

    # The records of one sign before those of the other where u_0 is high, after them where it is low: a sorting
    # algorithm that is not stable may order ties by anything.
    def by_anything(scores):
        return np.lexsort((signs * np.sign(scores[0]), scores))

    moved = [in_given_order(x, v, by_anything(x)) @ signs for x in (u, replaced)]
    assert abs(moved[0] - moved[1]) > 100 * bound
    # A stable sort of records that were exchanged for their like: no data set at all has been changed.
    order = np.argsort(signs, kind="stable")
    listed = in_given_order(u, v, np.argsort(u, kind="stable"))
    moved = [listed @ signs, in_given_order(u[order], v, np.argsort(u[order], kind="stable")) @ signs[order]]
    assert abs(moved[0] - moved[1]) > 100 * bound

    averaged = [squared_wasserstein_gradient(x, v).of_u @ signs for x in (u, replaced)]
    assert abs(averaged[0] - averaged[1]) <= bound
    again = squared_wasserstein_gradient(u[order], v).of_u @ signs[order]
    assert again == pytest.approx(averaged[0], abs=1e-10 * bound)


def test_a_sort_that_is_not_stable_breaks_the_bound():
    n = 1000
    v, u = np.linspace(-M, M, n), np.clip(np.random.default_rng(0).normal(size=n) * 3, -M, M)
    replaced = u.copy()
    replaced[0] = -M
    twins = [in_given_order(x, v, by_selection(x)) for x in (u, replaced)]
    bound = gradient_sensitivity(M, 1.0, 0.0, n)
    assert np.abs(twins[1] - twins[0])[1:].sum() > 5 * bound
    assert replacing(u, v, 0, -M, 1.0, 0.0) <= bound


def by_selection(scores):
    """The least of those left is exchanged with the first of them: simple, and not stable."""
    order = np.arange(len(scores))
    for place in range(len(scores)):
        least = place + np.argmin(scores[order[place:]])
        order[[place, least]] = order[[least, place]]
    return order


@pytest.mark.parametrize("function", [gradient_sensitivity, published_sensitivity])
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((-1.0, 1.0, 1.0, 5), "`bound`"),
        ((np.nan, 1.0, 1.0, 5), "`bound`"),
        ((1.0, np.inf, 1.0, 5), "`lipschitz_u`"),
        ((1.0, 1.0, -0.1, 5), "`lipschitz_v`"),
        ((1.0, 1.0, 1.0, 0), "`n`"),
    ],
)
def test_bad_bounds_are_refused(function, arguments, says):
    with pytest.raises(ValueError, match=says):
        function(*arguments)
