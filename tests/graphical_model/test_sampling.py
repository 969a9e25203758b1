import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.sampling import _groups
from marginals.brute_force import cliques_of, domains, enumerate_joint, marginal_of
from statistics_tools import chi_square_p_value

DOMAIN = Domain(("a", "b", "c", "d"), (3, 4, 5, 2))
CLIQUES = [("a", "b"), ("b", "c"), ("c", "d")]


def chain(seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    return GraphicalModel(DOMAIN, {c: rng.normal(0, spread, DOMAIN.shape(c)) for c in CLIQUES}, 1.0)


def histogram(domain, rows, clique=None):
    axes = domain.axes(domain.attributes if clique is None else clique)
    counts = np.zeros([domain.sizes[axis] for axis in axes])
    np.add.at(counts, tuple(rows[:, axis] for axis in axes), 1)
    return counts


@st.composite
def models_with_zeros(draw):
    domain = draw(domains())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    possible = tuple(rng.integers(domain.sizes))
    potentials = {}
    for clique in draw(cliques_of(domain)):
        table = np.array(rng.normal(0, draw(st.sampled_from([1.0, 2000.0])), domain.shape(clique)))
        zeros = np.array(rng.random(table.shape) < 0.4)
        zeros[tuple(possible[axis] for axis in domain.axes(clique))] = False
        table[zeros] = -np.inf
        potentials[clique] = table
    return GraphicalModel(domain, potentials, 1.0)


@given(models_with_zeros(), st.integers(0, 200), st.booleans())
@settings(max_examples=60, deadline=None)
def test_what_is_impossible_is_never_sampled(model, n, independent):
    rows = model.sample(n, np.random.default_rng(0), independent=independent)
    assert rows.shape == (n, len(model.domain.attributes))
    assert rows.dtype == np.int32
    for clique, table in model.potentials.items():
        drawn = table[tuple(rows[:, axis] for axis in model.domain.axes(clique))]
        assert np.all(drawn > -np.inf)


def test_independent_rows_follow_the_model():
    model = chain()
    rows = model.sample(40_000, np.random.default_rng(1), independent=True)
    _, joint = enumerate_joint(DOMAIN, model.potentials)
    # Chi-square on all 120 cells; false alarm 1e-6.
    assert chi_square_p_value(histogram(DOMAIN, rows).ravel(), joint.ravel()) > 1e-6


@pytest.mark.parametrize("spread", [1.0, 300.0])
def test_small_rounded_tables_follow_the_model_on_average(spread):
    """Rounded tables are unbiased: over many of them, cells add up to the model's (false alarm 1e-6)."""
    model = chain(2, spread)
    rng = np.random.default_rng(2)
    tables, n = 400, 30
    counts = np.array([histogram(DOMAIN, model.sample(n, rng)).ravel() for _ in range(tables)])
    _, joint = enumerate_joint(DOMAIN, model.potentials)
    mean, deviation = counts.mean(axis=0), counts.std(axis=0) + math.sqrt(1 / tables)
    # Each of 120 cells within 6 standard errors (normal tail 2e-9 each, 2.4e-7 together).
    assert np.all(np.abs(mean - n * joint.ravel()) < 6 * deviation / math.sqrt(tables))


@given(models_with_zeros(), st.integers(1, 3000))
@settings(max_examples=40, deadline=None)
def test_the_first_column_is_exact_within_rounding(model, n):
    rows = model.sample(n, np.random.default_rng(5))
    first = model.tree.elimination_order[-1]
    expected = n * model.marginal((first,))
    assert np.all(np.abs(histogram(model.domain, rows, (first,)) - expected) < 1 + 1e-6)


def test_each_group_is_exact_within_rounding():
    model = chain(3)
    n = 20_000
    rows = model.sample(n, np.random.default_rng(3))
    order = model.tree.elimination_order
    last, second = order[-1], order[-2]
    pair = histogram(DOMAIN, rows, (last, second))
    joint = model.marginal((last, second))
    expected = pair.sum(axis=1, keepdims=True) * joint / joint.sum(axis=1, keepdims=True)
    assert np.all(np.abs(pair - expected) < 1 + 1e-6)


def test_marginals_are_closer_than_independent_rows_would_be():
    model = chain(4)
    n = 20_000
    distance = {}
    for independent in (False, True):
        rows = model.sample(n, np.random.default_rng(4), independent=independent)
        distance[independent] = sum(
            np.abs(histogram(DOMAIN, rows, clique) - n * model.marginal(clique)).sum() for clique in CLIQUES
        )
    assert distance[False] < 0.5 * distance[True]


def test_columns_that_are_independent_given_their_neighbors_stay_so():
    """Two attributes hang on one with many rare values, so that groups are small and remainders rule.

    Drawing the remainders of both in the same order would make them equal.
    """
    groups, n = 2000, 40_000
    domain = Domain(("left", "middle", "right"), (4, groups, 4))
    rng = np.random.default_rng(6)
    table = rng.normal(0, 0.1, (4, groups))
    model = GraphicalModel(domain, {("left", "middle"): table, ("middle", "right"): table.T}, 1.0)
    rows = model.sample(n, np.random.default_rng(7))
    together = histogram(domain, rows, ("left", "right"))
    expected = n * model.marginal(("left", "right"))
    # Rounding can only lower the variance of a cell below the multinomial's; 6 deviations, false alarm 3e-8.
    assert np.all(np.abs(together - expected) < 6 * np.sqrt(expected))


def test_rows_come_in_random_order():
    rows = chain().sample(4000, np.random.default_rng(8))
    for column in rows.T:
        half = np.array([np.bincount(part, minlength=5) for part in np.split(column, 2)])
        # Means of two random halves; deviation at most 1/2 sqrt(4000) = 32 per count, 6 of them.
        assert np.all(np.abs(half[0] - half[1]) < 6 * 32)
        assert np.count_nonzero(np.diff(column)) > 1000


@pytest.mark.parametrize("where", [{"d": 1}, {"a": [0, 2], "c": 3}, {"b": {1}, "a": np.int64(2)}])
@pytest.mark.parametrize("independent", [True, False])
def test_conditional_rows_follow_the_exact_conditional_distribution(where, independent):
    model = chain(9)
    _, joint = enumerate_joint(DOMAIN, model.potentials)
    for name, codes in where.items():
        allowed = np.isin(np.arange(DOMAIN[name]), list(codes) if np.iterable(codes) else [codes])
        axis = DOMAIN.attributes.index(name)
        joint = joint * allowed.reshape([-1 if i == axis else 1 for i in range(4)])
    joint /= joint.sum()
    rows = model.sample(20_000, np.random.default_rng(10), where=where, independent=independent)
    counts = histogram(DOMAIN, rows).ravel()
    assert not counts[joint.ravel() == 0].any()
    possible = joint.ravel() > 0
    # Chi-square with false alarm 1e-6; rounded rows vary less than multinomial ones, so it holds for both.
    assert chi_square_p_value(counts[possible], joint.ravel()[possible]) > 1e-6


def test_rare_conditions_cost_no_more_than_common_ones():
    """An event of probability 1e-40 is drawn from directly: rejection would never end."""
    table = np.zeros((2, 2))
    table[0, 1] = -92.0
    model = GraphicalModel(Domain(("a", "b"), (2, 2)), {("a", "b"): table, ("a",): np.array([0.0, -92.0])}, 1.0)
    rows = model.sample(1000, np.random.default_rng(0), where={"b": 1})
    assert (rows[:, 1] == 1).all()
    expected = marginal_of(model.domain, enumerate_joint(model.domain, model.potentials)[1], ("a", "b"))[:, 1]
    assert abs(rows[:, 0].sum() - 1000 * expected[1] / expected.sum()) < 1 + 1e-6


def test_impossible_conditions_are_refused():
    table = np.array([[0.0, -np.inf], [0.0, 0.0]])
    model = GraphicalModel(Domain(("a", "b"), (2, 2)), {("a", "b"): table}, 1.0)
    with pytest.raises(ValueError, match=r"`where` must have a positive probability.*rules of a schema, exclude"):
        model.sample(5, np.random.default_rng(0), where={"a": 0, "b": 1})


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"a": 3}, "codes between 0 and 2 for 'a'"),
        ({"a": [-1, 0]}, "codes between 0 and 2 for 'a'"),
        ({"a": []}, "codes between 0 and 2 for 'a'"),
        ({"z": 0}, "Unknown: 'z'"),
    ],
)
def test_bad_conditions_are_refused(where, message):
    with pytest.raises(ValueError, match=message):
        chain().sample(5, np.random.default_rng(0), where=where)


def test_a_negative_number_of_rows_is_refused():
    with pytest.raises(ValueError, match="`n` must not be negative"):
        chain().sample(-1, np.random.default_rng(0))


def test_neighbors_beyond_64_bits_are_grouped_all_the_same():
    names = tuple(f"a{i:02d}" for i in range(66))
    domain = Domain((*names, "z"), (2,) * 66 + (3,))
    model = GraphicalModel(domain, {(name, "z"): np.array([[0.0, 1, 2], [2, 1, 0]]) for name in names}, 1.0)
    # The tree eliminates the leaves first: ask for the wide groups directly.
    rows = model.sample(200, np.random.default_rng(0))
    order, firsts = _groups(rows, tuple(range(66)), domain.sizes, np.random.default_rng(1), alone=False)
    assert sorted(order) == list(range(200))
    for first, end in itertools.pairwise(firsts):
        assert (rows[order[first:end], :66] == rows[order[first], :66]).all()
    assert len(firsts) - 1 == len(np.unique(rows[:, :66], axis=0))


def test_the_same_generator_gives_the_same_rows():
    one, two = (chain().sample(500, np.random.default_rng(11)) for _ in range(2))
    np.testing.assert_array_equal(one, two)
