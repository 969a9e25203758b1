import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.interactions import Interactions
from marginals.brute_force import cliques_of, domains, marginal_of


@st.composite
def cases(draw):
    domain = draw(domains())
    return Interactions(domain, draw(cliques_of(domain))), np.random.default_rng(draw(st.integers(0, 2**32)))


def random_interactions(x, rng):
    """A vector of tables whose sums along each axis vanish."""
    vector = rng.normal(size=x.starts[-1])
    for i in range(len(x.subsets)):
        table = x.table(vector, i)
        for axis in range(table.ndim):
            table -= table.mean(axis=axis, keepdims=True)
    return vector


def dense_lift(x, domain):
    """The matrix [joint cells, interactions] that spreads every interaction over the joint domain."""
    columns = []
    for i, part in enumerate(x.subsets):
        for cell in itertools.product(*map(range, x.shapes[i])):
            one = np.zeros(x.shapes[i])
            one[cell] = 1.0
            shape = [domain[a] if a in part else 1 for a in domain.attributes]
            columns.append(np.broadcast_to(one.reshape(shape), domain.sizes).ravel())
    return np.array(columns).T if columns else np.zeros((domain.size(domain.attributes), 0))


@given(cases())
@settings(max_examples=50, deadline=None)
def test_potentials_add_up_to_the_interactions(case):
    x, rng = case
    vector = random_interactions(x, rng)
    total = np.zeros(x.domain.sizes)
    for i, table in zip(x.maximal, x.potentials(vector), strict=True):
        shape = [x.domain[a] if a in x.subsets[i] else 1 for a in x.domain.attributes]
        total = total + table.reshape(shape)
    np.testing.assert_allclose(total.ravel(), dense_lift(x, x.domain) @ vector, atol=1e-12)


@given(cases())
@settings(max_examples=50, deadline=None)
def test_interactions_of_potentials_are_unique(case):
    x, rng = case
    vector = random_interactions(x, rng)
    potentials = {x.subsets[i]: table for i, table in zip(x.maximal, x.potentials(vector), strict=True)}
    np.testing.assert_allclose(x.of_potentials(potentials), vector, atol=1e-12)


@given(cases())
@settings(max_examples=50, deadline=None)
def test_interactions_of_marginals_are_centered_sums(case):
    x, rng = case
    joint = rng.dirichlet(np.ones(x.domain.size(x.domain.attributes))).reshape(x.domain.sizes)
    vector = x.from_marginals([marginal_of(x.domain, joint, x.subsets[i]) for i in x.maximal])
    sums = x.sums([marginal_of(x.domain, joint, x.subsets[i]) for i in x.maximal])
    for i, part in enumerate(x.subsets):
        expected = marginal_of(x.domain, joint, part)
        np.testing.assert_allclose(x.table(sums, i), expected, atol=1e-12)
        assert x.of_table(part, expected)[i] == pytest.approx(x.table(vector, i), abs=1e-12)
        for axis in range(len(part)):
            np.testing.assert_allclose(x.table(vector, i).sum(axis=axis), 0.0, atol=1e-12)


@given(cases())
@settings(max_examples=50, deadline=None)
def test_the_squares_of_a_table_split_over_its_interactions(case):
    x, rng = case
    for i in x.maximal:
        table = rng.normal(size=x.shapes[i])
        parts = x.of_table(x.subsets[i], table)
        squares = sum((part**2).sum() * part.size / table.size for part in parts.values())
        assert squares + table.sum() ** 2 / table.size == pytest.approx((table**2).sum())


@given(cases())
@settings(max_examples=50, deadline=None)
def test_the_preconditioner_is_symmetric_and_positive(case):
    x, rng = case
    margins = {name: rng.dirichlet(np.ones(x.domain[name])) for name in x.domain.attributes}
    joint = rng.dirichlet(np.ones(x.domain.size(x.domain.attributes))).reshape(x.domain.sizes)
    marginals = [marginal_of(x.domain, joint, x.subsets[i]) for i in x.maximal]
    precondition = x.preconditioner(margins, marginals, np.full(x.starts[-1], 0.01))
    u, v = random_interactions(x, rng), random_interactions(x, rng)
    assert u @ precondition(v) == pytest.approx(v @ precondition(u), rel=1e-9, abs=1e-9)
    assert u @ precondition(u) >= 0.0


def test_the_preconditioner_inverts_the_curvature_of_independent_attributes():
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    x = Interactions(domain, [("a", "b"), ("b", "c"), ("a", "c")])
    margins = {"a": np.array([0.2, 0.8]), "b": np.array([0.5, 0.5]), "c": np.array([0.9, 0.1])}
    joint = np.einsum("a,b,c->abc", *margins.values()).ravel()
    lift = dense_lift(x, domain)
    covariance = lift.T @ (joint[:, None] * lift) - np.outer(lift.T @ joint, joint @ lift)
    vector = random_interactions(x, np.random.default_rng(0))
    curved = np.zeros_like(vector)
    product = covariance @ vector
    for i, part in enumerate(x.subsets):
        x.table(curved, i)[...] = x.of_table(part, x.table(product, i))[i]
    marginals = [marginal_of(domain, joint.reshape(2, 2, 2), x.subsets[i]) for i in x.maximal]
    precondition = x.preconditioner(margins, marginals, np.full(vector.size, 1e-12))
    np.testing.assert_allclose(precondition(curved), vector, rtol=1e-6, atol=1e-8)
