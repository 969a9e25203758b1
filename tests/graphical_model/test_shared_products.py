import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil.domain.domain import Domain
from counterfoil.graphical_model import graphical_model, query_program, shared_orders, shared_products
from counterfoil.graphical_model.elimination import _Planner, compile_program
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.propagation import Underflow
from counterfoil.graphical_model.shared_orders import SharedOrders
from counterfoil.graphical_model.shared_products import Scaled, SharedProducts
from marginals.brute_force import all_cliques, cliques_of, domains, enumerate_joint, marginal_of

BEYOND_DOUBLE = 10**9


def mask(axes):
    return sum(1 << x for x in axes)


@st.composite
def networks(draw):
    """Sizes of the axes, tensors by number, and marginals: of which tensors, and what stays of their axes."""
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=2, max_size=6)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    axes = st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=4, unique=True)
    tensors = {}
    for number in range(draw(st.integers(1, 7))):
        chosen = tuple(draw(axes))
        tensors[7 * number] = Scaled(rng.uniform(0.1, 1.0, [sizes[x] for x in chosen]), chosen)
    asked = []
    for _ in range(draw(st.integers(1, 8))):
        numbers = draw(st.lists(st.sampled_from(sorted(tensors)), min_size=1, unique=True))
        present = sorted({x for number in numbers for x in tensors[number].axes})
        asked.append((numbers, draw(st.lists(st.sampled_from(present), max_size=2, unique=True))))
    return sizes, tensors, asked


def by_einsum(tensors, numbers, keep):
    operands = [part for number in numbers for part in (tensors[number].table, list(tensors[number].axes))]
    return np.einsum(*operands, list(keep))


def in_order(scaled, keep):
    table = scaled.table.transpose([scaled.axes.index(x) for x in keep])
    return table * np.exp(scaled.log_scale)


@pytest.mark.parametrize("room", [0, 6, BEYOND_DOUBLE])
@given(network=networks())
@settings(max_examples=60, deadline=None)
def test_every_marginal_is_that_of_its_own_tensors_whatever_is_kept_of_others(room, network):
    sizes, tensors, asked = network
    products = SharedProducts(sizes, room)
    nodes = [products.plan({n: tensors[n] for n in numbers}, mask(keep)) for numbers, keep in asked]
    for node, (numbers, keep) in zip(nodes, asked, strict=True):
        np.testing.assert_allclose(
            in_order(products.compute(node), keep), by_einsum(tensors, numbers, keep), rtol=1e-12, atol=0
        )
        assert products._room >= 0
    assert products._room == room  # whatever waited was let go


@given(network=networks())
@settings(max_examples=30, deadline=None)
def test_tensors_that_the_search_cannot_tell_apart_are_not_mixed_up(network):
    """The random names of tensors only say what a plan costs."""
    sizes, tensors, asked = network
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SharedOrders, "_name", lambda self, tensor: 1)
        products = SharedProducts(sizes, BEYOND_DOUBLE)
        nodes = [products.plan({n: tensors[n] for n in numbers}, mask(keep)) for numbers, keep in asked]
    for node, (numbers, keep) in zip(nodes, asked, strict=True):
        expected = by_einsum(tensors, numbers, keep)
        np.testing.assert_allclose(in_order(products.compute(node), keep), expected, rtol=1e-12, atol=0)


@given(network=networks())
@settings(max_examples=60, deadline=None)
def test_a_plan_costs_no_more_than_the_greedy_program(network):
    """Both are counted with elimination.py's estimates of work, but for what a step costs whatever its size."""
    sizes, tensors, asked = network
    for numbers, keep in asked:
        axes = [tensors[number].axes for number in numbers]
        joins = SharedOrders(sizes).plan(numbers, [mask(a) for a in axes], mask(keep))
        planner = _Planner(sizes, [])
        masks = [mask(a) for a in axes]
        cost = 0.0
        for join in joins:
            parts = [masks[side] for side in (join.left, join.right) if side >= 0]
            left, right = ([x for x in range(len(sizes)) if part >> x & 1] for part in (*parts, 0)[:2])
            cost += planner._work(left, right, [x for x in range(len(sizes)) if join.axes >> x & 1])
            masks.append(join.axes)
        order = query_program._greedy_order(sizes, axes, frozenset(keep))
        program = compile_program(sizes, axes, order, keep=tuple(keep))
        more = shared_orders._STEP - 5_000.0
        assert cost + more * len(joins) <= (program.cost + more * len(program.steps)) * (1 + 1e-9)
        if joins:
            assert joins[-1].axes == mask(keep)


def counted(monkeypatch):
    """How many products are made, from now on."""
    made, multiplied = [], shared_products.multiplied

    def counting(*args):
        made.append(args)
        return multiplied(*args)

    monkeypatch.setattr(shared_products, "multiplied", counting)
    return made


def chain(length, size=3):
    rng = np.random.default_rng(0)
    return {i: Scaled(rng.uniform(0.5, 1.0, (size, size)), (i, i + 1)) for i in range(length)}


def test_what_marginals_have_in_common_is_made_once(monkeypatch):
    """Both ends of a chain, with and without its first tensor: all but the last products are the same."""
    tensors = chain(9)
    alone = []
    for numbers in (list(tensors), list(tensors)[1:]):
        made = counted(monkeypatch)
        products = SharedProducts((3,) * 10, BEYOND_DOUBLE)
        products.compute(products.plan({n: tensors[n] for n in numbers}, mask((numbers[0], 9))))
        alone.append(len(made))
    made = counted(monkeypatch)
    products = SharedProducts((3,) * 10, BEYOND_DOUBLE)
    short = products.plan({n: tensors[n] for n in list(tensors)[1:]}, mask((1, 9)))
    long = products.plan(tensors, mask((0, 9)))
    products.compute(short)
    products.compute(long)
    assert len(made) == max(alone) < sum(alone)


def test_products_without_room_are_made_anew(monkeypatch):
    tensors = chain(6)
    counts = []
    for room in (0, BEYOND_DOUBLE):
        made = counted(monkeypatch)
        products = SharedProducts((3,) * 7, room)
        nodes = [products.plan(tensors, mask((0, 6))) for _ in range(3)]
        tables = [in_order(products.compute(node), (0, 6)) for node in nodes]
        np.testing.assert_array_equal(tables[0], tables[2])
        counts.append(len(made))
    assert counts[0] == 3 * counts[1]


def test_scales_are_carried_beyond_the_range_of_floats():
    """Six tensors of 1e-60 have a product of 1e-360; where one is zero, nothing is left."""
    tensors = {i: Scaled(one.table * 1e-60, one.axes) for i, one in chain(6).items()}
    products = SharedProducts((3,) * 7, BEYOND_DOUBLE)
    made = products.compute(products.plan(tensors, mask((0, 6))))
    expected = by_einsum(chain(6), range(6), (0, 6))
    got = made.table.transpose([made.axes.index(x) for x in (0, 6)])
    np.testing.assert_allclose(got / got.sum(), expected / expected.sum(), rtol=1e-12)
    assert np.log(got.sum()) + made.log_scale == pytest.approx(np.log(expected.sum()) - 360 * np.log(10))
    tensors[3] = Scaled(np.zeros((3, 3)), (3, 4))
    lost = SharedProducts((3,) * 7, BEYOND_DOUBLE)
    with pytest.raises(Underflow):
        lost.compute(lost.plan(tensors, mask((0, 6))))


@st.composite
def models(draw):
    domain = draw(domains())
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([1.0, 200.0, 2000.0]))
    cliques = draw(cliques_of(domain))
    return GraphicalModel(domain, {c: rng.normal(0, spread, domain.shape(c)) for c in cliques}, 50.0)


@pytest.fixture
def always_shared():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graphical_model, "_MANY", 1)
        patch.setattr(graphical_model, "_FEW_COLUMNS", 0)
        patch.setattr(graphical_model, "_FEW_CELLS", 0)
        patch.setattr(graphical_model, "_LARGE", 0)
        yield


@pytest.mark.usefixtures("always_shared")
@given(model=models())
@settings(max_examples=60, deadline=None)
def test_all_marginals_of_a_model_equal_enumeration(model):
    _, joint = enumerate_joint(model.domain, model.potentials)
    for clique, table in model.marginals(all_cliques(model.domain)).items():
        np.testing.assert_allclose(table, 50.0 * marginal_of(model.domain, joint, clique), rtol=1e-8, atol=1e-10)


@pytest.mark.usefixtures("always_shared")
def test_models_of_the_same_shape_share_nothing():
    names = tuple("abcde")
    domain = Domain(names, (2, 3, 2, 3, 2))
    for seed in range(5):
        rng = np.random.default_rng(seed)
        potentials = {pair: rng.normal(size=domain.shape(pair)) for pair in itertools.pairwise(names)}
        _, joint = enumerate_joint(domain, potentials)
        for clique, table in GraphicalModel(domain, potentials, 1.0).marginals(all_cliques(domain, 2)).items():
            np.testing.assert_allclose(table, marginal_of(domain, joint, clique), rtol=1e-10, atol=1e-13)


@pytest.mark.usefixtures("always_shared")
def test_what_loses_probability_is_computed_again_in_logarithms():
    names = tuple("abcdefgh")
    domain = Domain(names, (3,) * 8)
    rng = np.random.default_rng(0)
    potentials = {("a", name): rng.uniform(-600, 600, (3, 3)) for name in names[1:]}
    _, joint = enumerate_joint(domain, potentials)
    for clique, table in GraphicalModel(domain, potentials, 1.0).marginals(all_cliques(domain, 3)).items():
        np.testing.assert_allclose(table, marginal_of(domain, joint, clique), rtol=1e-8, atol=1e-12)


def wide_model(columns, size, *, around):
    """Each column depends on the `around` before it."""
    names = tuple(f"a{i:02d}" for i in range(columns))
    domain = Domain(names, (size,) * columns)
    rng = np.random.default_rng(0)
    pairs = [(names[i], names[j]) for j in range(columns) for i in range(max(0, j - around), j)]
    return GraphicalModel(domain, {pair: rng.normal(size=(size, size)) for pair in pairs}, 1.0)


def test_many_marginals_of_a_large_model_are_computed_together(monkeypatch):
    """As those of one at a time, but with a fraction of the products."""
    monkeypatch.setattr(graphical_model, "_FEW_CELLS", 0)
    model = wide_model(9, 5, around=4)
    pairs = list(itertools.combinations(model.domain.attributes, 2))
    expected = {pair: model.marginal(pair) for pair in pairs}
    queries, query = [], GraphicalModel._query
    monkeypatch.setattr(GraphicalModel, "_query", lambda *args: queries.append(args) or query(*args))
    for pair, table in model.marginals(pairs).items():
        np.testing.assert_allclose(table, expected[pair], rtol=1e-12, atol=1e-15)
    assert not queries
    few = pairs[: graphical_model._MANY - 1]
    for pair, table in model.marginals(few).items():
        np.testing.assert_array_equal(table, expected[pair])
    assert len(queries) == len(few)


def test_a_model_with_more_columns_than_a_mask_has_bits_walks_along_its_tree_for_many_pairs(monkeypatch):
    model = wide_model(70, 4, around=2)
    names = model.domain.attributes
    pairs = [(names[i], names[i + 30]) for i in range(40)]
    expected = {pair: model.marginal(pair) for pair in pairs}
    queries, query = [], GraphicalModel._query
    monkeypatch.setattr(GraphicalModel, "_query", lambda *args: queries.append(args[-1]) or query(*args))
    for pair, table in model.marginals(pairs).items():
        np.testing.assert_allclose(table, expected[pair], rtol=1e-9)
    assert not set(queries) & set(pairs)
